import ScrollReveal from "scrollreveal";

ScrollReveal().reveal("#deep", { delay: 100 });
