/** Scrolling the page and what scrolls within it. */

/** @param {Element} element @param {boolean} across */
function canScroll(element, across) {
  if (roomOf(element, across) < 2) return false;
  const { overflowX, overflowY } = styleOf(element);
  return element === scroller() || /^(?:auto|scroll|overlay)$/.test(across ? overflowX : overflowY);
}

/** Scroll the nearest thing around an element that can scroll, or the page, by fractions of what is seen. @param {number | null} id @param {number} dx @param {number} dy */
function scrollBox(id, dx, dy) {
  const across = Math.abs(dx) > Math.abs(dy);
  let node = id === null ? null : byId(id);
  if (id !== null && !node) return STALE;
  const page = scroller();
  if (!node && page && !canScroll(page, across)) node = at(innerWidth / 2, innerHeight / 2);
  // What is named is often put around what scrolls.
  const inner = id !== null && node && !canScroll(node, across) ? largestScroller(across, node) : null;
  const isWrapped = node && inner && areaOf(inner) >= areaOf(node) / 2;
  let found = isWrapped ? inner : Array.from(outward(node)).find((outer) => canScroll(outer, across)) || null;
  if (id === null && page && roomOf(page, across) < LEAST_ROOM * (across ? innerWidth : innerHeight)) {
    // Some pages scroll by a little themselves, beside the part of them that holds their content.
    const main = largestScroller(across, document);
    const isMain = main && areaOf(main) >= (innerWidth * innerHeight) / 2 && roomOf(main, across) > roomOf(page, across);
    if (isMain || (!found && !canScroll(page, across))) found = main;
  }
  const target = found || page;
  if (!target) return { problem: "no-page", lasting: true };
  const [width, height] = target === page ? [innerWidth, innerHeight] : [_clientWidth.call(target), _clientHeight.call(target)];
  const position = () => /** @type {[number, number]} */ ([Math.round(_scrollLeft.call(target)), Math.round(_scrollTop.call(target))]);
  const before = position();
  beginInput();
  _scrollBy.call(target, { left: dx * width, top: dy * height, behavior: "instant" });
  const after = position();
  const moved = [after[0] - before[0], after[1] - before[1]];
  const within = target === page ? null : wire(describe(target), false);
  return { moved, position: after, size: [_scrollWidth.call(target), _scrollHeight.call(target)], seen: [width, height], doc: documentKey, within };
}

/** A page that can be scrolled by less of what is seen may have a part that is scrolled instead of it. */
const LEAST_ROOM = 0.25;

/** How far an element can be scrolled in all, CSS pixels. @param {Element} element @param {boolean} across */
const roomOf = (element, across) => (across ? _scrollWidth.call(element) - _clientWidth.call(element) : _scrollHeight.call(element) - _clientHeight.call(element));

/** What of an element can show what is in it, square pixels. @param {Element} element */
const areaOf = (element) => _clientWidth.call(element) * _clientHeight.call(element);

/** So much of the view, at least, is taken by what is scrolled instead of the page. */
const LEAST_PART = 0.25;

/** What of the page is scrolled instead of it, and how many of its screens lie before and behind what is seen; null where nothing is. */
function scrolledPart() {
  const [page, part] = [scroller(), largestScroller(false, document)];
  const isAll = !part || (page && roomOf(page, false) >= LEAST_ROOM * innerHeight) || areaOf(part) < LEAST_PART * innerWidth * innerHeight;
  if (isAll || !isSeen(part)) return { doc: documentKey, node: null };
  const [before, behind] = screensOf(keep(part));
  return { doc: documentKey, node: wire(describePart(part, localName(part)), false), before, behind };
}

/** @param {boolean} across @param {Document | Element} within @returns {Element | null} */
function largestScroller(across, within) {
  const found = Array.from(queryAll(within, "*")).filter((element) => element !== scroller() && canScroll(element, across) && areaOf(element) > 0);
  return found.sort((one, other) => areaOf(other) - areaOf(one))[0] ?? null;
}

/** @param {Element} element */
function bringIntoView(element) {
  const shown = bodyOf(element);
  const { left, top } = rectOf(shown);
  const shells = Array.from(outward(flatParent(shown))).filter(isShell).map((shell) => ({ shell, x: _scrollLeft.call(shell), y: _scrollTop.call(shell) }));
  _scrollIntoView.call(shown, { block: "center", inline: "center", behavior: "instant" });
  for (const { shell, x, y } of shells) {
    const [left, top] = [_scrollLeft.call(shell), _scrollTop.call(shell)];
    if (left === x && top === y) continue;
    scrollShell(shell, x, y);
    if (!isMiddleIn(shown, shell)) scrollShell(shell, left, top);
  }
  const after = rectOf(shown);
  if (after.left !== left || after.top !== top) broughtAt = now();
}

/** Whether scripts can scroll an element, and a person cannot: the shell of an application. @param {Element} element */
function isShell(element) {
  if (_scrollHeight.call(element) <= _clientHeight.call(element) && _scrollWidth.call(element) <= _clientWidth.call(element)) return false;
  const style = styleOf(element === scroller() ? /** @type {Element} */ (body() || element) : element);
  return style.overflowX === "hidden" && style.overflowY === "hidden";
}

/** @param {Element} shell @param {number} left @param {number} top */
const scrollShell = (shell, left, top) => _scrollBy.call(shell, { left: left - _scrollLeft.call(shell), top: top - _scrollTop.call(shell), behavior: "instant" });

/** Whether the middle of an element lies in the view, and in a box around it. @param {Element} element @param {Element} outer */
function isMiddleIn(element, outer) {
  const box = rectOf(element);
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const { left, top, right, bottom } = partInView(outer === scroller() ? viewport() : rectOf(outer));
  return x >= left && y >= top && x <= right && y <= bottom;
}

/** Scroll what is around an element until a point of it is in view. @param {Element} element @param {number | null} dx @param {number | null} dy */
function bringPointIntoView(element, dx, dy) {
  for (const outer of outward(flatParent(element))) {
    if (!canScroll(outer, false) && !canScroll(outer, true)) continue;
    const box = rectOf(element);
    const [x, y] = [box.left + (dx ?? box.width / 2), box.top + (dy ?? box.height / 2)];
    const { left, top, right, bottom } = partInView(outer === scroller() ? viewport() : rectOf(outer));
    const by = { left: x < left || x > right ? x - (left + right) / 2 : 0, top: y < top || y > bottom ? y - (top + bottom) / 2 : 0 };
    if (by.left || by.top) _scrollBy.call(outer, { ...by, behavior: "instant" });
  }
}

/** When an element was last scrolled into view, milliseconds by `now`. */
let broughtAt = -Infinity;
/** For how long a list may let the mouse through after it was scrolled, milliseconds: 150 by virtual lists' custom. */
const SCROLL_REST = 400;
