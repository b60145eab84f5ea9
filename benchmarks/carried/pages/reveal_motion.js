import { motion } from "motion/react";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const deep = document.getElementById("deep");
const offer = document.getElementById("offer");
createRoot(deep).render(
  createElement(motion.div, { initial: { opacity: 0, y: 40 }, whileInView: { opacity: 1, y: 0 } },
    createElement("h2", null, "At the end"),
    createElement("button", { onClick: offer.onclick }, "Take the offer"),
  ),
);
