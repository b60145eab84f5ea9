import gsap from "gsap";
import { ScrollTrigger } from "gsap/ScrollTrigger";

gsap.registerPlugin(ScrollTrigger);
gsap.from("#deep", { opacity: 0, y: 60, duration: 0.5, scrollTrigger: { trigger: "#deep", start: "top 90%" } });
