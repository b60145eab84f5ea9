carried.innerHTML = "<p>Last message: <output id=last></output></p>";
new EventSource("/stream?every=0.5&type=text/event-stream").onmessage = event => {
  document.getElementById("last").textContent = event.data;
};
