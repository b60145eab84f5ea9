import { GrowthBook } from "@growthbook/growthbook";

const experiments = new GrowthBook({
  attributes: { id: "visitor" },
  trackingCallback: () => fetch("/collect", { method: "POST", keepalive: true }),
});
const shown = experiments.run({ key: "headline", variations: ["Welcome", "Hello"] });
carried.textContent = shown.value;
setInterval(() => experiments.setAttributes({ id: "visitor", time: Date.now() }), 500);
