carried.innerHTML = "<div id=ticker></div><time id=clock></time>";
let price = 100;
setInterval(() => {
  price += Math.random() - 0.5;
  document.getElementById("ticker").textContent = `TEA ${price.toFixed(2)}`;
}, 250);
setInterval(() => (document.getElementById("clock").textContent = new Date().toLocaleTimeString("en")), 1000);
