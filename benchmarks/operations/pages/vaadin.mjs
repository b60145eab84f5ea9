import "@vaadin/combo-box";
document.getElementById("root").innerHTML = `<vaadin-combo-box label=Part id=part></vaadin-combo-box>`;
document.getElementById("part").items = Array.from({ length: 3000 }, (_, n) => `Part ${n}`);
