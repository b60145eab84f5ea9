/** Keys held to the element that has the focus: what would go elsewhere goes nowhere; and those that copy and paste. */

/** @type {ReturnType<typeof noKeys> | null} */
let keysHeld = null;
/** Whether no listener of the page hears of keys before ours. */
let isFirst = false;

/** Whether an event of a key may go on. @param {string} type @param {string} data what an input has put in */
function mayPass(type, data) {
  if (!keysHeld) return true;
  // The last key that came may have moved the focus, and is released there.
  if (type === "keyup") return !keysHeld.strayed;
  if (keysHeld.strayed || deepActive() !== keysHeld.element) {
    const isNew = !keysHeld.strayed;
    keysHeld.strayed = true;
    // What came before has passed, and has moved the focus.
    if (keysHeld.pending && type !== "keydown") keysHeld[keysHeld.pending] -= 1;
    keysHeld.pending = null;
    // An input is there already: it is taken back before the page hears of it.
    if (type === "input" && isNew) for (const _ of data) _execCommand.call(document, "delete");
    return false;
  }
  const isKey = type === "keydown";
  if (isKey || (type === "beforeinput" && !keysHeld.pending)) {
    keysHeld.pending = isKey ? "keys" : "inputs";
    keysHeld[keysHeld.pending] += 1;
  } else if (type === "input") keysHeld.pending = null;
  return true;
}

/** Where no hook is in the page. @param {Event} event */
function onPageKey(event) {
  if (!event.isTrusted || mayPass(event.type, event instanceof InputEvent ? event.data || "" : "")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

const KEY_EVENTS = ["keydown", "keypress", "beforeinput", "input", "keyup"];

const frameElements = () => Array.from(allIn(null, "iframe, frame"), (element) => [keep(element), 0, 0, 0]);

/** @param {number} number which hold this is @param {Element | null | undefined} element what keys may go to; null for none that is focused, undefined for nothing here */
const noKeys = (number, element) => ({
  number,
  element,
  keys: 0, // how many have come to it
  inputs: 0, // how many insertions have come to it without a key
  pending: /** @type {"keys" | "inputs" | null} */ (null), // what the last of them counts as, while it may still turn out to go elsewhere
  strayed: false, // whether one was to go elsewhere; after that, none goes anywhere
});

/** Begin to hold keys, as `noKeys` takes them. @param {number} number @param {Element | null | undefined} element */
function hold(number, element) {
  keysHeld = noKeys(number, element);
  isFirst = false;
  ask("hold");
  if (!isHooked) for (const type of KEY_EVENTS) _addEventListener.call(window, type, onPageKey, { capture: true });
}

/**
 * Let keys go only to what has the keyboard now, until they are released; what that is.
 * @param {number} number of this hold @param {boolean} ruled whether rules are to be asked: with what keys act on
 * @param {boolean} enter whether Enter is among the keys @param {string} letter one that is pressed with Alt, or nothing
 */
function holdKeys(number, ruled, enter, letter) {
  notePainted();
  const place = ruled ? targetsOfKeys(enter, letter) : { ...actingOn(deepActive(), []), ...keyPlace(deepActive()) };
  hold(number, place.frame ? undefined : deepActive());
  return { ...place, first: isFirst, frames: frameElements() };
}

/** Let no key go here, unless it is what this hold is for. @param {number} number */
function holdOthers(number) {
  if (keysHeld?.number !== number) hold(number, undefined);
  return { doc: documentKey, first: isFirst, frames: frameElements() };
}

/** Whether the first key of this hold has come to what it was meant for, which has the keyboard still. @param {number} number */
function hasCome(number) {
  return { doc: documentKey, come: keysHeld?.number === number && keysHeld.keys === 1 && !keysHeld.strayed && deepActive() === keysHeld.element };
}

/** Let keys go where they will; what has come of those that were held. @param {boolean} read with what the field holds now */
function releaseKeys(read) {
  const was = keysHeld;
  keysHeld = null;
  if (was) {
    ask("release");
    for (const type of KEY_EVENTS) removeEventListener(type, onPageKey, { capture: true });
  }
  hasTyped = read && !!was?.keys && !was.strayed;
  const field = read && was?.element && isConnected(was.element) ? valueOf(was.element) : null;
  return { doc: documentKey, held: !!was, keys: was?.keys ?? 0, inputs: was?.inputs ?? 0, strayed: !!was?.strayed, field };
}

/** Put text in at the caret of this very document. @param {string} text @param {number} id the element that it begins in, 0 for any @param {boolean} secret whether it may go into fields whose content nobody is to read */
async function putText(text, id, secret) {
  let done = 0;
  while (done < text.length) {
    const active = deepActive();
    const strayed = (!done && id && active !== byId(id)) || (!secret && keyPlace(active).password);
    if (!active || isFrame(active) || strayed) return { done, moved: true };
    // Boxes that take one character each pass the focus on as they are filled.
    const most = /** @type {HTMLInputElement} */ (active).maxLength;
    const part = most > 0 && most < text.length - done ? text.slice(done, done + 1) : text.slice(done);
    beginInput();
    if (!_execCommand.call(document, "insertText", false, part)) return { done, moved: false };
    done += part.length;
    if (done < text.length) await frame();
  }
  return { done, moved: false };
}

/** Longest text that is copied by keys without the browser's clipboard, which all that work in its process share; characters. */
const LONGEST_COPY = 1_000_000;

/** @param {Element | null} active */
function selectionOf(active) {
  if (!(active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement)) return String(getSelection() ?? "");
  // Fields of type email or number have no selection.
  const { selectionStart: start, selectionEnd: end } = active;
  return isSecret(active) || start === null || end === null ? "" : active.value.slice(start, end);
}

/**
 * Do in the page what a key that copies, cuts or pastes does, by untrusted events; what was copied, by MIME types, null for nothing.
 * @param {"copy" | "cut" | "paste"} what @param {KeyboardEventInit} key @param {Record<string, string>} data what is pasted, by MIME types
 */
function useClipboard(what, key, data) {
  const active = deepActive();
  const target = active || body() || document.documentElement;
  beginInput();
  const press = (/** @type {string} */ type) => _dispatchEvent.call(target, new KeyboardEvent(type, { ...key, bubbles: true, cancelable: true, composed: true }));
  const copied = press("keydown") ? clip(what, active, target, data) : null;
  press("keyup");
  return copied;
}

/** @param {"copy" | "cut" | "paste"} what @param {Element | null} active @param {Element} target @param {Record<string, string>} data */
function clip(what, active, target, data) {
  const clipboardData = new DataTransfer();
  for (const [type, text] of Object.entries(data)) clipboardData.setData(type, text);
  const isLeft = _dispatchEvent.call(target, new ClipboardEvent(what, { clipboardData, bubbles: true, cancelable: true, composed: true }));
  if (what === "paste") {
    const text = data["text/plain"];
    if (isLeft && text && active) _execCommand.call(document, "insertText", false, text);
    return null;
  }
  if (!isLeft) {
    const types = clipboardData.types.filter((type) => type !== "Files");
    return Object.fromEntries(types.map((type) => [type, clipboardData.getData(type).slice(0, LONGEST_COPY)]));
  }
  const text = selectionOf(active).slice(0, LONGEST_COPY);
  if (!text) return null;
  if (what === "cut" && active) _execCommand.call(document, "delete");
  return { "text/plain": text };
}
