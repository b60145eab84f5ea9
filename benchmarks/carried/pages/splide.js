import Splide from "@splidejs/splide";
import "@splidejs/splide/css";

carried.innerHTML = `<section class="splide" aria-label="News"><div class="splide__track"><ul class="splide__list">${[1, 2, 3, 4]
  .map(number => `<li class="splide__slide"><h3>Slide ${number}</h3><a href="#${number}">Read ${number}</a></li>`)
  .join("")}</ul></div></section>`;
new Splide(".splide", { type: "loop", autoplay: true, interval: 800 }).mount();
