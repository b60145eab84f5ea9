import Typed from "typed.js";

carried.innerHTML = "<p><span id=typed></span></p>";
new Typed("#typed", { strings: ["We sell tea.", "We sell coffee."], typeSpeed: 40, backSpeed: 20, loop: true });
