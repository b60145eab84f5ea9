navigator.serviceWorker.register("/carried/sw.js");
setInterval(() => fetch("/stock"), 1000);
