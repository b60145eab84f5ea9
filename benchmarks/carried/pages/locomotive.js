import LocomotiveScroll from "locomotive-scroll";

for (const line of document.querySelectorAll("p")) line.dataset.scroll = "";
new LocomotiveScroll();
