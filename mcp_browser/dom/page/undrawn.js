/** Lists that draw only the rows which are seen: what else they have comes when they are scrolled. */

/** What is drawn in a box, of more elements than this it is taken for all. */
const MOST_DRAWN = 2000;
const PICTURED = "input,button,img,svg,canvas";
const LONGEST_ROW_TEXT = 200;
/** How long rows may take to be drawn after a scroll, milliseconds. */
const LONGEST_DRAWING = 150;

/** Whether a box leaves more than a view of its length without anything drawn there. @param {Element} box */
function isPartlyDrawn(box) {
  const height = _clientHeight.call(box);
  const inner = queryAll(box, "*");
  if (height < 1 || _scrollHeight.call(box) < 2 * height || inner.length > MOST_DRAWN) return false;
  const start = (box === scroller() ? 0 : rectOf(box).top) - _scrollTop.call(box);
  let [first, last] = [Infinity, -Infinity];
  for (const element of inner) {
    const own = childElementCount(element) ? ownText(element) : textContent(element);
    const { top, bottom, height: size } = rectOf(element);
    if (size < 1 || (isBlank(own) && !matches(element, PICTURED))) continue;
    first = Math.min(first, top);
    last = Math.max(last, bottom);
  }
  return last > first && (first - start > height || start + _scrollHeight.call(box) - last > height);
}

/** Those lists, each with the part of its length that it is scrolled to. */
function partlyDrawn() {
  ask("nodes");
  const boxes = allRoots().flatMap((root) => [...queryAll(root, "*")]).filter((box) => isSeen(box) && canScroll(box, false) && isPartlyDrawn(box));
  const partOf = (/** @type {Element} */ box) => _scrollTop.call(box) / Math.max(1, _scrollHeight.call(box) - _clientHeight.call(box));
  return { doc: documentKey, frames: frameElements(), lists: boxes.map((box) => [keep(box), partOf(box)]) };
}

/** Scroll a box to a part of its length, or on by a view (-1); whether it moved, or stands at its start. @param {Element} box @param {number} part */
function scrollToPart(box, part) {
  const before = _scrollTop.call(box);
  box.scrollTop = part < 0 ? before + _clientHeight.call(box) * 0.9 : (_scrollHeight.call(box) - _clientHeight.call(box)) * part;
  return _scrollTop.call(box) !== before || part === 0;
}

/** Scroll such a list, and wait for its rows; what they say, null where it did not move. @param {number} id @param {number} part as for `scrollToPart` */
async function scrollRows(id, part) {
  const box = byId(id);
  if (!box || !scrollToPart(box, part)) return { rows: null };
  // The page learns of it with the next frame, which may be late.
  await frame();
  await settle(LONGEST_DRAWING);
  const groups = [box, ...queryAll(box, "*")].map((element) => childrenOf(element).filter((child) => !isBlank(textContent(child))));
  const rows = groups.reduce((most, group) => (group.length > most.length ? group : most));
  return { rows: rows.map((row) => tidy(textContent(row)).slice(0, LONGEST_ROW_TEXT)) };
}

/** Say of a box that has been read that there is more than what is drawn of it. @param {Element} box @param {number} from where its lines begin */
function noteUndrawn(box, from) {
  const [first, last] = [walk.lines[from]?.node, walk.lines[walk.lines.length - 1]?.node];
  const height = _clientHeight.call(box);
  if (walk.row || walk.inside !== null || !first || !last || _scrollHeight.call(box) < 2 * height) return;
  const start = rectOf(box).top - _scrollTop.call(box);
  // Most have their first and last lines at their ends: the others are looked at more closely.
  if (rectOf(first).top - start <= height && start + _scrollHeight.call(box) - rectOf(last).bottom <= height) return;
  if (isPartlyDrawn(box)) walk.lines.push(newLine("text", box, idOf(box), "", MORE_ROWS, NO_STATES, distance(box, rectOf(box), false)));
}
const MORE_ROWS = "(more rows are drawn when this is scrolled)";
