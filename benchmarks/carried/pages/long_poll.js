(async () => {
  for (;;) await fetch(`/slow?s=25&n=${Math.random()}`).catch(() => undefined);
})();
