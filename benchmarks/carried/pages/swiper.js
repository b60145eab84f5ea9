import Swiper from "swiper";
import { Autoplay, Navigation } from "swiper/modules";
import "swiper/css";
import "swiper/css/navigation";

carried.innerHTML = `<div class="swiper" style="height: 150px"><div class="swiper-wrapper">${[1, 2, 3, 4, 5]
  .map(number => `<div class="swiper-slide"><h3>Slide ${number}</h3><a href="#${number}">Read ${number}</a></div>`)
  .join("")}</div><button class="swiper-button-next"></button></div>`;
new Swiper(".swiper", {
  modules: [Autoplay, Navigation],
  loop: true,
  autoplay: { delay: 800 },
  navigation: { nextEl: ".swiper-button-next" },
});
