import tippy from "tippy.js";
import "tippy.js/dist/tippy.css";
document.getElementById("root").innerHTML = `<button id=more>More</button><div id=menu><button onclick="document.title='archived'">Archive</button><button>Delete</button></div>`;
tippy("#more", { content: document.getElementById("menu"), interactive: true, trigger: "click", theme: "light" });
