import RangeSlider from "svelte-range-slider-pips";
document.getElementById("root").innerHTML = `<main style="width: 420px"><h1>Greenhouse</h1><p>Temperature</p><div id="warmth"></div></main>`;
new RangeSlider({ target: document.getElementById("warmth"), props: { values: [12, 24], min: 0, max: 40, range: true, pips: true, all: "label", pipstep: 10, ariaLabels: ["Coolest", "Warmest"] } });
