import { animate } from "animejs";

carried.innerHTML = "<div id=moving>New</div>";
animate("#moving", { x: 300, opacity: 0.4, duration: 900, loop: true, alternate: true });
