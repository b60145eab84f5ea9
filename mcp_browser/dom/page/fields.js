/** Fields: their values, options, focus and selection. */

/** A field has another value, and keeps it. @param {Element} element */
function emitChange(element) {
  _dispatchEvent.call(element, new InputEvent("input", { bubbles: true, composed: true }));
  _dispatchEvent.call(element, new Event("change", { bubbles: true }));
}

/** How long an editor may take to be ready once it has the focus, milliseconds. */
const LONGEST_FOCUS = 300;
/** What a field holds, and whether that must not be shown. @param {Element} element */
function valueOf(element) {
  const field = controlOf(element);
  const secret = isSecret(field);
  if (field instanceof HTMLSelectElement) return { value: selectedText(field), secret };
  const value = valueKind(field) === "rich" ? _innerText.call(/** @type {HTMLElement} */ (field)) : /** @type {HTMLInputElement} */ (field).value;
  return { value: String(value ?? ""), secret };
}

/** What fields held once they had lost the focus. @type {WeakMap<Element, string>} */
const leftWith = new WeakMap();

/** Helpers that Python can run on an element. @type {Record<string, (element: Element, ...args: any[]) => unknown>} */
const helpers = {
  focus(element) {
    const own = controlOf(element);
    const control = /** @type {HTMLElement} */ (handleOf(own) || own);
    if (deepActive() !== control) (control instanceof SVGElement ? _focusDrawn : _focus).call(control, { preventScroll: true });
    const active = deepActive();
    return active !== null && holds(control, active);
  },
  /** Replace the value of a native picker, in a way that frameworks notice; the key that is still to be pressed. */
  setValue(element, /** @type {string} */ value) {
    const input = /** @type {HTMLInputElement} */ (controlOf(element));
    beginInput();
    _focus.call(input, { preventScroll: true });
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, value);
    const wanted = input.value;
    // Some take only a key for the end of a move: the last step is left to one.
    if (input.type === "range") input.stepDown();
    const isBelow = input.value !== wanted;
    if (input.type === "range" && !isBelow) input.stepUp();
    const key = isBelow ? "ArrowUp" : input.value !== wanted ? "ArrowDown" : "";
    emitChange(input);
    return key;
  },
  /** Give a file input the content of files. */
  setFiles(element, /** @type {[name: string, type: string, base64: string][]} */ files) {
    const given = new DataTransfer();
    for (const [name, type, content] of files) given.items.add(new File([Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))], name, { type }));
    /** @type {HTMLInputElement} */ (element).files = given.files;
    emitChange(element);
  },
  selectText: (element) => select(element, false),
  /** Put the caret behind the last character. */
  moveToEnd: (element) => select(element, true),
  /** Paste a text into an editor that draws what it holds itself; whether it took it, which some do a moment later. */
  async paste(element, /** @type {string} */ text) {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const focused = deepActive() || element;
    const place = getSelection()?.anchorNode;
    let taken = !_dispatchEvent.call(focused, new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
    // Some let it go to a place of their own and take it from there.
    if (!taken && getSelection()?.anchorNode !== place) taken = _execCommand.call(document, "insertText", false, text);
    if (taken && valueKind(controlOf(element)) === "rich") await settle(LONGEST_FOCUS);
    return taken;
  },
  value: valueOf,
  options: allOptions,
  searchField: searchFieldOf,
  slider, opening, fieldShows, hasParts, innerField, hasLess, scrollOptions, beforeOpening,
  /** Note what a field holds once it has lost the focus, before what takes that goes on, such as a click. */
  watchLeaving(element) {
    const field = controlOf(element);
    leftWith.delete(field);
    const watch = new AbortController();
    const { signal } = watch;
    const take = () => {
      if (signal.aborted) return;
      watch.abort();
      leftWith.set(field, valueOf(field).value);
    };
    const leave = (/** @type {FocusEvent} */ { relatedTarget }) => {
      if (relatedTarget instanceof Node && holds(field, relatedTarget)) return;
      setTimeout(take);
      // A busy page may hear of the click before the timer.
      for (const type of ["pointerup", "click", "keydown"]) _addEventListener.call(window, type, take, { capture: true, signal });
    };
    _addEventListener.call(field, "focusout", /** @type {EventListener} */ (leave), { signal });
    return null;
  },
  /** What it held then, if it has lost it, and what it holds. */
  left: (element) => ({ ...valueOf(element), left: leftWith.get(controlOf(element)) ?? null }),
  isPlain: (element) => isPlain(controlOf(element)) || tickOf(element) !== null,
  /** Choose exactly these options of a native select, by their places. */
  selectOptions(element, /** @type {number[]} */ places) {
    const select = /** @type {HTMLSelectElement} */ (controlOf(element));
    beginInput();
    _focus.call(select, { preventScroll: true });
    Array.from(select.options).forEach((option, i) => {
      if (option.selected !== places.includes(i)) option.selected = places.includes(i);
    });
    emitChange(select);
    return null;
  },
  checked(element) {
    ask("nodes");
    return checkedState(controlOf(element));
  },
  attribute: (element, /** @type {string} */ name) => attribute(element, name),
  /** Scroll an element into view, or the point of it so many CSS pixels from its left and top edges. */
  scrollIntoView(element, /** @type {number | null} */ dx = null, /** @type {number | null} */ dy = null) {
    bringIntoView(element);
    if (dx !== null || dy !== null) bringPointIntoView(element, dx, dy);
  },
  /** Where the middle of an element is in the view, CSS pixels; null where it is out of it. */
  place(element) {
    const box = boxOf(element);
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return x > 0 && y > 0 && x < innerWidth && y < innerHeight ? [x, y] : null;
  },
};

/** Select all that a field holds, or put the caret behind it; an editor gets the time to notice that. @param {Element} element @param {boolean} end */
async function select(element, end) {
  const field = /** @type {HTMLElement} */ (controlOf(element));
  const isNew = deepActive() !== field;
  beginInput();
  _focus.call(field, { preventScroll: true });
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    if (!end) field.select();
    // Fields of type email or number have no caret to set.
    else if (field.selectionStart !== null) field.setSelectionRange(field.value.length, field.value.length);
    return;
  }
  // Some put their own selection in place a moment after they have got the focus.
  if (isNew) await settle(LONGEST_FOCUS);
  getSelection()?.selectAllChildren(field);
  if (end) getSelection()?.collapseToEnd();
  await frame();
}
