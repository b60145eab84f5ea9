import "toolcool-range-slider";
document.getElementById("root").innerHTML = `<h1>Depth</h1><toolcool-range-slider id=depth min=0 max=100 value=30 aria-label1=Depth></toolcool-range-slider>`;
