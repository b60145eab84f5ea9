/** Where texts that must not be seen can be seen: for covering them on pictures of the page. */

const UNSHOWN = set("script style noscript template head title");
/** Kinds of input that show no letters of what they hold. */
const LETTERLESS = set("password hidden checkbox radio file range color image");
const FRAMES = set("iframe frame object embed");
const SHORTEST_PART = 3;

/** A text as it is compared: spaces and the case of letters do not count. @param {string} text */
const squeezed = (text) => text.replace(/\s+/g, "").toLowerCase();

/** A text node, or a field with the text that it shows; `start` is its place in all the text of its tree. @typedef {{text: string, start: number, node: Text | null, element: Element}} Piece */
/** The text that a field shows; null for what is no field. @param {Element} element @param {string} tag */
function shownBy(element, tag) {
  if (tag === "textarea" || tag === "input") {
    const field = /** @type {HTMLInputElement} */ (element);
    if (tag === "input" && LETTERLESS.has(inputType(field))) return "";
    return String(field.value || attribute(field, "placeholder") || "");
  }
  if (tag !== "select") return null;
  const select = /** @type {HTMLSelectElement} */ (element);
  const options = select.multiple || select.size > 1 ? select.options : select.selectedOptions;
  return Array.from(options, (option) => option.label || option.text).join(" ");
}

/** How far a text's shadow reaches beyond it, in pixels. @param {Element} element */
function reachOf(element) {
  const shadow = styleOf(element).textShadow;
  if (!shadow || shadow === "none") return 0;
  return (shadow.match(/-?[\d.]+px/g) || []).reduce((sum, length) => sum + Math.abs(parseFloat(length)), 0);
}

/** Whether it stays where it is when the page is scrolled. @param {Element} element */
const isPinned = (element) => Array.from(outward(element)).some((outer) => /fixed|sticky/.test(styleOf(outer).position));

/** The place in a text of its nth character that is no space. @param {string} text @param {number} nth */
function placeOf(text, nth) {
  let at = 0;
  for (const character of text) {
    // Lower case can be longer than upper case.
    nth -= squeezed(character).length;
    if (nth < 0) return at;
    at += character.length;
  }
  return at;
}

/**
 * The boxes of what shows any of these texts, wherever in the page's trees: spread over several elements or fields, in part in a field,
 * in a pseudo-element that repeats an attribute. With `fields`, also of what secret fields hold. @param {string[]} values @param {boolean} fields
 */
function covers(values, fields) {
  ask("nodes");
  hosts = [];
  const secret = fields ? secretFields() : [];
  const held = secret.map((field) => squeezed(field.value)).filter((text) => text.length >= SHORTEST_PART);
  const needles = [...values.map(squeezed).filter(Boolean), ...held];
  /** @type {[number, number, number, number, boolean][]} */
  const boxes = [];
  /** @type {Element[]} */
  const frames = [];
  /** @param {DOMRect} rect @param {Element} element @param {number} reach */
  const cover = (rect, element, reach) => {
    if (rect.width <= 0 || rect.height <= 0) return;
    boxes.push([rect.left - reach, rect.top - reach, rect.width + 2 * reach, rect.height + 2 * reach, isPinned(element)]);
  };
  for (const field of secret) if (shownBy(field, localName(field))) cover(rectOf(field), field, 1);
  /** @type {Node[]} */
  const trees = needles.length ? [document] : [];
  if (!needles.length) frames.push(...allRoots().flatMap((root) => [...queryAll(root, [...FRAMES].join())]));
  for (let tree = trees.pop(); tree; tree = trees.pop()) {
    /** @type {Piece[]} */
    const pieces = [];
    let whole = "";
    const add = (/** @type {string} */ text, /** @type {Text | null} */ node, /** @type {Element} */ element) => {
      pieces.push({ text, start: whole.length, node, element });
      whole += squeezed(text);
    };
    let node = firstChild(tree);
    while (node) {
      let inside = true;
      if (isElement(node)) {
        const element = node;
        const tag = localName(element);
        const shown = shownBy(element, tag);
        inside = shown === null && !UNSHOWN.has(tag);
        if (shown) {
          add(shown, null, element);
          const held = squeezed(shown);
          if (held.length >= SHORTEST_PART && needles.some((needle) => needle.includes(held))) cover(rectOf(element), element, 1);
        }
        if (FRAMES.has(tag)) frames.push(element);
        const root = shadowOf(element);
        if (root) trees.push(root);
        else if (tag.includes("-") || !firstChild(element)) suspectHost(element, tag);
        if (shown === null && repeats(element, needles)) cover(rectOf(element), element, 1 + reachOf(element));
      } else if (nodeType(node) === 3) {
        const parent = parentNode(node);
        const owner = parent instanceof ShadowRoot ? parent.host : parent;
        const text = data(/** @type {Text} */ (node));
        if (isElement(owner) && !isBlank(text)) add(text, /** @type {Text} */ (node), owner);
      }
      /** @type {Node | null} */
      let from = node;
      node = inside ? firstChild(node) : null;
      while (!node && from && from !== tree) {
        node = nextSibling(from);
        from = parentNode(from);
      }
    }
    for (const needle of needles) {
      let first = 0;
      for (let at = whole.indexOf(needle); at >= 0; at = whole.indexOf(needle, at + 1)) {
        while (/** @type {Piece} */ (pieces[first + 1])?.start <= at) first++;
        for (let i = first; i < pieces.length; i++) {
          const { start, text, node, element } = /** @type {Piece} */ (pieces[i]);
          if (start >= at + needle.length) break;
          if (!squeezed(text)) continue;
          if (!node) {
            cover(rectOf(element), element, 1);
            continue;
          }
          const range = /** @type {Range} */ (_createRange.call(document));
          range.setStart(node, placeOf(text, Math.max(0, at - start)));
          const end = placeOf(text, at + needle.length - start - 1);
          range.setEnd(node, Math.min(text.length, end + ((text.codePointAt(end) || 0) > 0xffff ? 2 : 1)));
          const reach = 2 + reachOf(element);
          for (const rect of range.getClientRects()) cover(rect, element, reach);
        }
      }
    }
  }
  const seen = window.visualViewport;
  const page = rootElement();
  const inner = body();
  const wide = Math.max(page?.scrollWidth || 0, inner?.scrollWidth || 0, page?.offsetWidth || 0, inner?.offsetWidth || 0, page?.clientWidth || 0);
  const high = Math.max(page?.scrollHeight || 0, inner?.scrollHeight || 0, page?.offsetHeight || 0, inner?.offsetHeight || 0, page?.clientHeight || 0);
  return {
    doc: documentKey,
    hosts: hosts.map(keep),
    boxes,
    frames: frames.map((frame) => [keep(frame), ...sidesOfBox(rectOf(frame)), localName(frame).endsWith("frame")]),
    scroll: [scrollX, scrollY],
    page: [wide, high],
    view: seen && seen.scale !== 1 ? [seen.offsetLeft, seen.offsetTop, seen.width, seen.height] : [0, 0, innerWidth, innerHeight],
  };
}

/** Whether an element's own style puts one of its attributes, with such a text in it, on the page. @param {Element} element @param {string[]} needles */
function repeats(element, needles) {
  if (!hasAttributes(element)) return false;
  const holdsOne = (/** @type {string} */ text, held = squeezed(text)) => needles.some((needle) => held.includes(needle));
  const holding = Array.from(/** @type {NamedNodeMap} */ (_attributes.call(element))).some(({ value }) => value.length >= SHORTEST_PART && holdsOne(value));
  return holding && (localName(element) === "img" || ["::before", "::after"].some((pseudo) => holdsOne(styleOf(element, pseudo).content)));
}

const SHORTEST_SENT = 4;
const LONGEST_SENT = 1000;

/** Resolves the promise of `sent`. @type {((answer: {pairs: string[]}) => void) | null} */
let reportSent = null;

/** Report what secret fields hold of which a form gathers the values: it may write them into an address. @param {Event} event */
function onFormData(event) {
  if (!reportSent) return;
  const ofForm = secretFields().filter(({ form, name, value }) => form === event.target && name && value.length >= SHORTEST_SENT && value.length <= LONGEST_SENT);
  if (!ofForm.length) return;
  reportSent({ pairs: ofForm.map(({ name, value }) => String(new URLSearchParams([[name, value]]))) });
  reportSent = null;
}
_addEventListener.call(window, "formdata", onFormData, true);

/** What of secret fields the next form gathers that holds any, as it stands in an address. */
const sent = () => new Promise((resolve) => (reportSent = resolve));
