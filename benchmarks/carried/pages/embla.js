import EmblaCarousel from "embla-carousel";
import Autoplay from "embla-carousel-autoplay";

carried.innerHTML = `<div id="embla" style="overflow: hidden"><div style="display: flex">${[1, 2, 3, 4]
  .map(number => `<div style="flex: 0 0 100%"><h3>Slide ${number}</h3><a href="#${number}">Read ${number}</a></div>`)
  .join("")}</div></div>`;
EmblaCarousel(document.getElementById("embla"), { loop: true }, [Autoplay({ delay: 800, stopOnInteraction: false })]);
