import gsap from "gsap";

carried.innerHTML = "<div id=moving>New</div>";
gsap.to("#moving", { x: 300, rotation: 20, duration: 1, repeat: -1, yoyo: true });
