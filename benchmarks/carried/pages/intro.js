import introJs from "intro.js";
import "intro.js/introjs.css";

const tour = introJs.tour ? introJs.tour() : introJs();
tour.setOptions({ steps: [{ element: "#add", intro: "Add one here." }, { intro: "That is all." }] });
tour.start();
