/** Where an element lies: how far from the view, or where nobody can see it. */

const NOWHERE = NaN;

/**
 * Distance of an element's box from the view; NaN where nobody can see it.
 * @param {Element} element
 * @param {boolean} small whether tiny boxes count
 */
function farOf(element, small) {
  const frame = walk.open.length ? walk.open[walk.open.length - 1] : null;
  const zone = frame ? frame.zone : null;
  if (zone !== null && zone !== undefined) return zone;
  walk.rects--;
  return distance(element, rectOf(element), small);
}

/** @param {Element} element @param {DOMRect} box @param {boolean} small */
function distance(element, box, small) {
  if (box.width <= 1 || box.height <= 1) {
    if (!small && !(box.width <= 1 && box.height <= 1 && box.width > 0)) {
      const range = /** @type {Range} */ (_createRange.call(document));
      range.selectNodeContents(element);
      box = range.getBoundingClientRect();
    }
    if (!small && (box.width <= 1 || box.height <= 1)) return NOWHERE;
  }
  if ((box.right + walk.offX <= 0 && !walk.leftward && box.width > 0) || box.bottom + walk.offY <= 0) {
    if (!scrolledAway(element)) return NOWHERE;
  }
  const bottom = box.bottom - walk.shift;
  const top = box.top - walk.shift;
  if (bottom <= 0) return Math.min(-1, Math.round(bottom));
  if (top >= walk.height) return Math.max(1, Math.round(top - walk.height));
  if (box.right <= 0) return Math.min(-1, Math.round(box.right));
  if (box.left >= walk.width) return Math.max(1, Math.round(box.left - walk.width));
  return 0;
}

/** A box of no height that hides what is in it. @param {Element} element */
function isCollapsed(element) {
  walk.rects--;
  const box = rectOf(element);
  if (box.height > 0 && box.width > 0) return false;
  const style = styleOf(element);
  return style.display !== "contents" && ((box.height === 0 && style.overflowY !== "visible") || (box.width === 0 && style.overflowX !== "visible"));
}

const MOST_GUESSES = 63;

/**
 * Learn how far off a box lies, so that what is in it is not measured one by one. Of many brothers of one kind that
 * lie far off, not each is measured.
 * @param {Element} element
 * @param {string} tag
 * @param {Open} frame
 * @param {Open} parent
 */
function learnZone(element, tag, frame, parent) {
  const kind = kindOf(element, tag);
  if (parent.guesses > 0 && parent.far !== null && parent.kind === kind) {
    parent.guesses--;
    frame.zone = parent.far;
    return;
  }
  const box = rectOf(element);
  if (box.width > 0 && box.height > 0) {
    if (box.bottom < -walk.margin) frame.zone = Math.round(box.bottom);
    else if (box.top > walk.height + walk.margin) frame.zone = Math.round(box.top - walk.height);
  }
  const alike = frame.zone !== null && parent.far !== null && frame.zone > 0 && parent.kind === kind;
  parent.run = alike ? Math.min(parent.run * 2 + 1, MOST_GUESSES) : 0;
  parent.guesses = parent.run;
  parent.far = frame.zone;
  parent.kind = kind;
}

/** @param {Element} element @param {string} tag */
const kindOf = (element, tag) => `${tag} ${attribute(element, "class") || ""}`;

/** Whether an element is out of the page only because something in between is scrolled. @param {Element} element */
function scrolledAway(element) {
  for (let node = flatParent(element); node; node = flatParent(node)) {
    if (!isElement(node)) continue;
    const outer = /** @type {Element} */ (node);
    if (outer === rootElement() || outer === body()) return false;
    if (_scrollLeft.call(outer) || _scrollTop.call(outer)) return true;
  }
  return false;
}
