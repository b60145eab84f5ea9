import "@shoelace-style/shoelace/dist/shoelace.js";
import "@shoelace-style/shoelace/dist/themes/light.css";
document.getElementById("root").innerHTML = `<sl-select label=Town id=town><sl-option value=u>Ulm</sl-option><sl-option value=b>Bonn</sl-option></sl-select><sl-range label=Volume id=volume value=30></sl-range><sl-rating label=Rating id=rating></sl-rating><sl-switch id=wifi>Wifi</sl-switch><sl-input label=Name id=name></sl-input><sl-select label=Tags id=tags multiple><sl-option value=r>red</sl-option><sl-option value=g>green</sl-option></sl-select>`;
