/** Where an element lies: how far from the view, or where nobody can see it. */

const NOWHERE = NaN;

/** Distance of an element from the view; NaN where nobody can see it. @param {Element} element @param {boolean} small whether tiny boxes count @param {Port} port what it is seen through */
function farOf(element, small, port = portNow()) {
  const zone = walk.open.at(-1)?.zone ?? null;
  if (zone !== null) return zone;
  walk.rects--;
  return distance(element, rectOf(element), small, port);
}

/** @param {Element} element @param {DOMRect} box @param {boolean} small @param {Port} port what it is seen through */
function distance(element, box, small, port = portNow()) {
  if (box.width <= 1 || box.height <= 1) {
    if (!small && !(box.width <= 1 && box.height <= 1 && box.width > 0)) box = contentsOf(element).getBoundingClientRect();
    if (!small && (box.width <= 1 || box.height <= 1)) return NOWHERE;
  }
  const isOut = (box.right + walk.offX <= 0 && !walk.leftward && box.width > 0) || box.bottom + walk.offY <= 0;
  if (isOut && !scrolledAway(element)) return NOWHERE;
  const far = beyond(box, port);
  if (far === 0 || port === walk.port) return inAll(far, port);
  const whole = beyond(box, walk.port);
  return whole === 0 && escapes(element, port) ? 0 : inAll(far, port);
}

/** How far a box is from what of a port is seen, negative above or to the left of it. @param {DOMRect} box @param {Port} port */
function beyond(box, port) {
  const bottom = box.bottom - walk.shift;
  const top = box.top - walk.shift;
  if (bottom <= port.top) return Math.min(-1, Math.round(bottom - port.top));
  if (top >= port.bottom) return Math.max(1, Math.round(top - port.bottom));
  if (box.right <= port.left) return Math.min(-1, Math.round(box.right - port.left));
  if (box.left >= port.right) return Math.max(1, Math.round(box.left - port.right));
  return 0;
}

/** A distance from what a port shows as one from the view: further out than the port itself. @param {number} far @param {Port} port */
const inAll = (far, port) => (port.far === 0 ? far : port.far + Math.sign(port.far) * Math.abs(far));

/** Whether a style or tag may let an element scroll what is in it. @param {Element} element @param {string} tag @param {number} means its attributes */
function mayScroll(element, tag, means) {
  if (tag === "dialog" || means & POPOVER || isStyled(element, /overflow/i)) return true;
  if (scrollingKnown && walk.shadows === 0) return scrolling.has(element);
  return walk.scrolls > 0 && walk.scrolls-- > 0;
}

/** What is seen of what is in an element: the part of it that is in the view where it scrolls. @param {Element} element @param {Port} outer what it is seen through itself @returns {Port} */
function portOf(element, outer) {
  const down = _scrollHeight.call(element) - _clientHeight.call(element) >= LEAST_SCROLL;
  if (!down && _scrollWidth.call(element) - _clientWidth.call(element) < LEAST_SCROLL) return outer;
  if (!canScroll(element, !down) && !(down && canScroll(element, true))) return outer;
  if (element === scroller() || element === rootElement() || (element === body() && isScrolledByView())) return outer;
  if (outer !== walk.port && escapes(element, outer)) outer = walk.port;
  const box = rectOf(element);
  const far = distance(element, box, true, outer);
  const left = box.left + _clientLeft.call(element);
  const top = box.top + _clientTop.call(element) - walk.shift;
  const right = left + _clientWidth.call(element);
  const bottom = top + _clientHeight.call(element);
  const whole = { id: keep(element), left, top, right, bottom, far: far === far ? far : 0, outer };
  if (far !== 0) return whole;
  return { ...whole, left: Math.max(left, outer.left), top: Math.max(top, outer.top), right: Math.min(right, outer.right), bottom: Math.min(bottom, outer.bottom) };
}

const LEAST_SCROLL = 2;

/** Whether what the body's style says of scrolling holds for the view: not where it says that of the root as well. */
function isScrolledByView() {
  const whole = rootElement();
  return !whole || (styleOf(whole).overflowX === "visible" && styleOf(whole).overflowY === "visible");
}

/** Whether an element does not scroll with what it stands in, and is not clipped by it: fixed, or placed by something further out. @param {Element} element @param {Port} port */
function escapes(element, port) {
  const outer = byId(port.id);
  for (let node = /** @type {Node | null} */ (outer && element); outer && node && node !== outer; ) {
    const position = isElement(node) ? styleOf(node).position : "";
    const isPlaced = position === "absolute" && node instanceof HTMLElement;
    node = isPlaced ? /** @type {Element | null} */ (_offsetParent.call(node)) : flatParent(node);
    if (position === "fixed" || (isPlaced && (!node || !holds(outer, node)))) return true;
  }
  return false;
}

/** A box without a size that hides what is in it. @param {Element} element @param {DOMRect} box */
function isSizeless(element, { width, height }) {
  if (height > 1 && width > 1) return false;
  const { overflowX, overflowY, display, position } = styleOf(element);
  const clips = (height <= 1 && overflowY !== "visible") || (width <= 1 && overflowX !== "visible");
  return clips && display !== "contents" && display !== "inline" && !letsOut(element, position);
}

/** @param {Element} element */
function isCollapsed(element) {
  walk.rects--;
  return isSizeless(element, rectOf(element));
}

const MOST_GUESSES = 63;

/** Learn how far off a box lies, so that not all in it is measured, nor each of many far brothers of a kind. @param {Element} element @param {Open} frame @param {Open} parent */
function learnZone(element, frame, parent) {
  const kind = `${localName(element)} ${attribute(element, "class") || ""}`;
  if (parent.guesses > 0 && parent.far !== null && parent.kind === kind) {
    parent.guesses--;
    frame.zone = parent.far;
    return;
  }
  const box = rectOf(element);
  if (box.width > 0 && box.height > 0) {
    const { top, bottom } = frame.within;
    if (box.bottom < top - walk.margin) frame.zone = inAll(Math.round(box.bottom - top), frame.within);
    else if (box.top > bottom + walk.margin) frame.zone = inAll(Math.round(box.top - bottom), frame.within);
  }
  const alike = frame.zone !== null && parent.far !== null && frame.zone > 0 && parent.kind === kind;
  parent.run = alike ? Math.min(parent.run * 2 + 1, MOST_GUESSES) : 0;
  parent.guesses = parent.run;
  parent.far = frame.zone;
  parent.kind = kind;
}

/** Whether an element is out of the page only because something in between is scrolled. @param {Element} element */
function scrolledAway(element) {
  for (const outer of outward(flatParent(element))) {
    if (outer === rootElement() || (outer === body() && isScrolledByView())) return false;
    if (_scrollLeft.call(outer) || _scrollTop.call(outer)) return true;
  }
  return false;
}
