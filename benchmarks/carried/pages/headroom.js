import Headroom from "headroom.js";

const header = document.getElementById("header");
header.style = "position: sticky; top: 0; background: white; transition: transform 200ms";
new Headroom(header).init();
