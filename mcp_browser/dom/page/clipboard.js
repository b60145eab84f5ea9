/** Copying and pasting by keys without the browser's clipboard, which all that work in its process share. */

/** Longest text that is copied, characters. */
const LONGEST_COPY = 1_000_000;

/** @param {Element | null} active */
function selectionOf(active) {
  if (active instanceof HTMLInputElement || active instanceof HTMLTextAreaElement) {
    // Fields of type email or number have no selection.
    const { selectionStart: start, selectionEnd: end } = active;
    return isSecret(active) || start === null || end === null ? "" : active.value.slice(start, end);
  }
  return String(getSelection() ?? "");
}

/**
 * Do in the page what a key that copies, cuts or pastes does: its events come to the page, untrusted ones.
 * @param {"copy" | "cut" | "paste"} what @param {KeyboardEventInit} key
 * @param {Record<string, string>} data what is pasted, by MIME types
 * @returns what was copied, by MIME types; null where that was nothing
 */
function useClipboard(what, key, data) {
  const active = deepActive();
  const target = active || body() || document.documentElement;
  beginInput();
  const options = { bubbles: true, cancelable: true, composed: true };
  const goesOn = _dispatchEvent.call(target, new KeyboardEvent("keydown", { ...key, ...options }));
  const copied = goesOn ? clip(what, active, target, data) : null;
  _dispatchEvent.call(target, new KeyboardEvent("keyup", { ...key, ...options }));
  return copied;
}

/** @param {"copy" | "cut" | "paste"} what @param {Element | null} active @param {Element} target @param {Record<string, string>} data */
function clip(what, active, target, data) {
  const clipboardData = new DataTransfer();
  for (const [type, text] of Object.entries(data)) clipboardData.setData(type, text);
  const event = new ClipboardEvent(what, { clipboardData, bubbles: true, cancelable: true, composed: true });
  const isLeft = _dispatchEvent.call(target, event);
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
