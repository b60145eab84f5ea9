document.addEventListener("click", () => {
  navigator.sendBeacon("/slow?s=1", "click");
  fetch("/slow?s=1&kept=1", { method: "POST", keepalive: true, body: "click" });
  new Image().src = `/slow?s=1&pixel=${Math.random()}`;
});
