/** Keys held to the element that was looked at before: what would go elsewhere goes nowhere. */

/**
 * @typedef {object} HeldKeys
 * @property {Element | null | undefined} element what they may go to; null for none that is focused, undefined for nothing here
 * @property {number} keys how many have come to it
 * @property {number} inputs how many insertions have come to it without a key
 * @property {boolean} open whether the last key may still turn out to go elsewhere
 * @property {boolean} strayed whether one was to go elsewhere; after that, none goes anywhere
 */

/** @type {HeldKeys | null} */
let keysHeld = null;
let hookHolds = false;

/** @param {string} type whether an event of a key may go on */
function mayPass(type) {
  if (!keysHeld) return true;
  if (keysHeld.strayed || deepActive() !== keysHeld.element) {
    // What came before has passed, and has moved the focus. An input itself cannot be held back any more.
    if (keysHeld.open && type !== "keydown") keysHeld.keys -= 1;
    keysHeld.open = false;
    keysHeld.strayed = true;
    return false;
  }
  if (type === "input") return true;
  if (type === "keydown") keysHeld.keys += 1;
  else if (type === "beforeinput" && !keysHeld.open) keysHeld.inputs += 1;
  keysHeld.open = type === "keydown" || (type === "keypress" && keysHeld.open);
  return true;
}

/** The hook asks, which hears of keys before the page does. @param {Event} event */
function onHookKey(event) {
  if (!mayPass(String(/** @type {CustomEvent} */ (event).detail))) event.preventDefault();
}
function onHolding() {
  hookHolds = true;
}

/** Where no hook is in the page. @param {Event} event */
function onPageKey(event) {
  if (!event.isTrusted || mayPass(event.type)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}
const KEY_EVENTS = ["keydown", "keypress", "beforeinput", "input"];

/** The elements of all frames in this document. */
const frameElements = () => allRoots().flatMap((root) => [...root.querySelectorAll("iframe, frame")].map((element) => [keep(element), 0, 0, 0]));

/**
 * Let keys go to one element only, until they are released.
 * @param {string} document_ whose element that is @param {number} id its id, 0 for where nothing is focused
 */
function holdKeys(document_, id) {
  const element = document_ !== documentKey ? undefined : id ? byId(id) || undefined : null;
  keysHeld = { element, keys: 0, inputs: 0, open: false, strayed: false };
  hookHolds = false;
  ask("hold");
  if (!hookHolds) for (const type of KEY_EVENTS) _addEventListener.call(window, type, onPageKey, { capture: true });
  return { doc: documentKey, frames: frameElements() };
}

/** Let keys go where they will; what has become of those that were held. */
function releaseKeys() {
  const was = keysHeld;
  keysHeld = null;
  if (was) {
    ask("release");
    for (const type of KEY_EVENTS) removeEventListener(type, onPageKey, { capture: true });
  }
  return { doc: documentKey, frames: frameElements(), held: !!was, keys: was ? was.keys : 0, inputs: was ? was.inputs : 0, strayed: !!was && was.strayed };
}

/**
 * Put text in at the caret of this very document, whatever has happened to the focus of the page.
 * @param {string} text
 */
async function putText(text) {
  let done = 0;
  while (done < text.length) {
    const active = deepActive();
    const tag = active ? localName(active) : "";
    if (!active || tag === "iframe" || tag === "frame") return { done, moved: true };
    // Boxes that take one character each pass the focus on as they are filled.
    const most = /** @type {HTMLInputElement} */ (active).maxLength;
    const part = most > 0 && most < text.length - done ? text.slice(done, done + 1) : text.slice(done);
    ask("input");
    if (!_execCommand.call(document, "insertText", false, part)) return { done, moved: false };
    done += part.length;
    if (done < text.length) await frame();
  }
  return { done, moved: false };
}
