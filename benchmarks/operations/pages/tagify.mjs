import Tagify from "@yaireo/tagify";
import "@yaireo/tagify/dist/tagify.css";
document.getElementById("root").innerHTML = `<label>Words <input id=words value=one></label><label>Fruit <input id=fruit></label>`;
window.words = new Tagify(document.getElementById("words"));
window.fruit = new Tagify(document.getElementById("fruit"), { whitelist: ["Apple", "Pear", "Plum"], enforceWhitelist: true, dropdown: { enabled: 0 } });
