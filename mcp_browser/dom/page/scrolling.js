/** Scrolling the page and what scrolls within it. */

/** @param {Element} element @param {boolean} across */
function canScroll(element, across) {
  const room = across
    ? _scrollWidth.call(element) - _clientWidth.call(element)
    : _scrollHeight.call(element) - _clientHeight.call(element);
  if (room < 2) return false;
  if (element === scroller()) return true;
  const style = styleOf(element);
  const overflow = across ? style.overflowX : style.overflowY;
  return overflow === "auto" || overflow === "scroll" || overflow === "overlay";
}

/**
 * Scroll by fractions of what is seen, in the nearest thing around an element that can scroll, or in the page.
 * @param {number | null} id
 * @param {number} dx
 * @param {number} dy
 */
function scrollBox(id, dx, dy) {
  const across = Math.abs(dx) > Math.abs(dy);
  /** @type {Node | null} */
  let node = null;
  if (id !== null) {
    node = byId(id);
    if (!node) return { problem: "stale", lasting: true };
  }
  const page = scroller();
  /** @type {Element | null} */
  let found = null;
  if (!node && page && !canScroll(page, across)) node = at(innerWidth / 2, innerHeight / 2);
  found = Array.from(outward(node)).find((outer) => canScroll(outer, across)) || null;
  if (!found && id === null && page && !canScroll(page, across)) found = largestScroller(across);
  const target = found || page;
  if (!target) return { problem: "no-page", lasting: true };
  const height = target === page ? innerHeight : _clientHeight.call(target);
  const width = target === page ? innerWidth : _clientWidth.call(target);
  const position = () => [Math.round(_scrollLeft.call(target)), Math.round(_scrollTop.call(target))];
  const before = position();
  beginInput();
  _scrollBy.call(target, { left: dx * width, top: dy * height, behavior: "instant" });
  const after = position();
  return {
    moved: [/** @type {number} */ (after[0]) - /** @type {number} */ (before[0]), /** @type {number} */ (after[1]) - /** @type {number} */ (before[1])],
    position: after,
    size: [_scrollWidth.call(target), _scrollHeight.call(target)],
    seen: [width, height],
    doc: documentKey,
    within: target === page ? null : wire(describe(target), false),
  };
}

/** @param {boolean} across @returns {Element | null} */
function largestScroller(across) {
  /** @type {Element | null} */
  let best = null;
  let size = 0;
  for (const element of queryAll(document, "*")) {
    if (!canScroll(element, across)) continue;
    const area = _clientWidth.call(element) * _clientHeight.call(element);
    if (area > size) {
      size = area;
      best = element;
    }
  }
  return best;
}
