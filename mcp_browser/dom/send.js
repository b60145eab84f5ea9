/** In the page's own world: send an element to the page script, which waits for it under this name. */
(/** @type {Element} */ element, /** @type {string} */ name) => {
  if (element instanceof HTMLElement) {
    document.dispatchEvent(new SubmitEvent(name, { submitter: element }));
  } else if (element.getRootNode() === document) {
    const place = { startContainer: element, startOffset: 0, endContainer: element, endOffset: 0 };
    document.dispatchEvent(new InputEvent(name, { targetRanges: [new StaticRange(place)] }));
  } else {
    element.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  }
};
