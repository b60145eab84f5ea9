/**
 * In the page's own world, before its scripts: report what the page itself puts on the clipboard, by the binding of
 * this name, for the session's own clipboard. A page that gets around it keeps its own copy from being pasted, no more.
 */
(function reportCopies(/** @type {string} */ name) {
  "use strict";
  const own = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (globalThis));
  const report = /** @type {undefined | ((data: Record<string, string>) => Promise<void>)} */ (own[name]);
  delete own[name];
  if (typeof report !== "function") return;

  const note = (/** @type {Record<string, string>} */ data) => {
    report(data).catch(() => {});
  };

  /** @param {Event} event */
  function onCopy(event) {
    if (!event.isTrusted || !(event instanceof ClipboardEvent)) return;
    const { clipboardData, defaultPrevented } = event;
    const text = defaultPrevented ? (clipboardData?.getData("text/plain") ?? "") : String(getSelection() ?? "");
    const html = defaultPrevented ? (clipboardData?.getData("text/html") ?? "") : "";
    note({ "text/plain": text, ...(html && { "text/html": html }) });
  }
  for (const type of ["copy", "cut"]) addEventListener(type, onCopy);

  // There is none where the page did not come by a safe way.
  if (typeof Clipboard === "undefined") return;
  const { writeText, write } = Clipboard.prototype;
  Clipboard.prototype.writeText = {
    writeText(/** @type {string} */ text) {
      note({ "text/plain": String(text) });
      return writeText.call(this, text);
    },
  }.writeText;
  Clipboard.prototype.write = {
    write(/** @type {ClipboardItems} */ items) {
      (async () => {
        /** @type {Record<string, string>} */
        const data = {};
        for (const item of items) {
          for (const type of item.types) if (type.startsWith("text/")) data[type] = await (await item.getType(type)).text();
        }
        note(data);
      })().catch(() => {});
      return write.call(this, items);
    },
  }.write;
})
