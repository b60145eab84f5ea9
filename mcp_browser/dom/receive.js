/** In the page's own world: wait for an element that the page script is about to send under this name. */
(/** @type {string} */ name) => {
  /** @type {{element: EventTarget | null}} */
  const box = { element: null };
  const take = (/** @type {Event} */ event) => {
    const range = event instanceof InputEvent ? event.getTargetRanges()[0] : null;
    const submitter = event instanceof SubmitEvent ? event.submitter : null;
    box.element = submitter ?? range?.startContainer ?? event.composedPath()[0] ?? null;
    event.stopImmediatePropagation();
  };
  addEventListener(name, take, { once: true, capture: true });
  return box;
};
