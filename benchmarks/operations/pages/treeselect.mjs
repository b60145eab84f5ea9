import Treeselect from "treeselectjs";
import "treeselectjs/dist/treeselectjs.css";
document.getElementById("root").innerHTML = `<h1>Region</h1><div id=region></div>`;
window.tree = new Treeselect({ parentHtmlContainer: document.getElementById("region"), options: [{ name: "North", value: 1, children: [{ name: "Kiel", value: 2 }] }, { name: "South", value: 3, children: [] }] });
