carried.innerHTML = "<p>Now <output id=now></output></p>";
const now = document.getElementById("now");
requestAnimationFrame(function show(time) {
  now.textContent = time.toFixed(1);
  requestAnimationFrame(show);
});
