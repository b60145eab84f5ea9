const other = location.origin.replace("127.0.0.1", "localhost");
for (let number = 1; number <= 12; number++)
  carried.append(Object.assign(document.createElement("iframe"), { src: `${other}/advert?n=${number}`, width: 120, height: 60, title: `Advert ${number}` }));
