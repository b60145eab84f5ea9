import { tsParticles } from "@tsparticles/engine";
import { loadSlim } from "@tsparticles/slim";

await loadSlim(tsParticles);
await tsParticles.load({
  id: "particles",
  options: { fullScreen: { zIndex: -1 }, particles: { number: { value: 60 }, move: { enable: true } } },
});
