/**
 * Calendars by the hour: what lies below a row of days and beside a column of times is called by both. The columns are
 * regions of the snapshot; a place in one, such as "Wed 25 10:30", is no element: it has an id by its name, is found by
 * searching, and is where it is when it is acted on.
 */

/** A time as a scale has it; a bare number may count anything. */
const TIME = /^(\p{Lo}{0,4}\s?)(\d{1,2})(?:([:.h])(\d\d))?(\s?[\p{L}.]{0,8})$/u;
const TIME_WITHIN = /\d[:.h]\d\d|\d\s?\p{L}/u;
const LONGEST_TIME = 14;
const [LEAST_TICKS, MOST_TICKS] = [4, 300];
const HALF_DAY = 720;
/** A place may stand for so many minutes, and is at least so high, CSS pixels. */
const STEPS = [15, 30, 60];
const LEAST_STEP = 5;
/** So far below its time a place is clicked, CSS pixels: a shorter one may begin there. */
const INTO = 1.5;

/** @typedef {{line: Line, node: Element, parts: RegExpExecArray, minutes: number, y: number}} Tick a time on the scale, and where it is */
/** @typedef {{name: string, box: DOMRect}} Column @typedef {{ticks: Tick[], node: Element, axis: DOMRect, slope: number, columns: Column[], heads: Set<Line>, port: Port, clip: Element | null, seen: [number, number]}} Grid */
/** @typedef {{name: string, grid: Grid, x: number, y: number, width: number, height: number}} Place */

/** The grids that were read last. @type {Grid[]} */
let gridsRead = [];
/** The place that was made ready last: a page may draw its scale anew during a drag. @type {{id: number, place: Place} | null} */
let placed = null;
/** @type {Map<number, string>} */
const placeNames = new Map();
/** @type {Map<string, number>} */
const placeIds = new Map();

/** Whether so many lines are times that they may be a scale. @param {Line[]} lines */
const hasScale = (lines) => lines.filter(({ name }) => name.length <= LONGEST_TIME && TIME.test(name) && TIME_WITHIN.test(name)).length >= LEAST_TICKS;

/** The calendars by the hour among the lines of a page. @param {Line[]} lines @returns {Grid[]} */
function gridsIn(lines) {
  /** Times by what they stand in: a scale's are alike. @type {Map<string, Tick[]>} */
  const kinds = new Map();
  for (const line of lines) {
    const text = line.kind === "text" || !line.cells ? line.name : line.name.slice(0, LONGEST_TIME + 1).split(" | ", 1)[0] || "";
    const parts = text.length <= LONGEST_TIME && (line.kind === "text" || line.cells) ? TIME.exec(text) : null;
    const node = line.cells?.[0] || line.node;
    if (!node || !parts || !(parts[3] || parts[1]?.trim() || WORDS.test(parts[5] || "")) || Number(parts[2]) > 24 || Number(parts[4] || 0) > 59) continue;
    addTo(kinds, `${localName(node)} ${firstWord(attribute(node, "class"))} ${line.port.id}`, { line, node, parts, minutes: 60 * Number(parts[2]) + Number(parts[4] || 0), y: 0 });
  }
  return [...kinds.values()].flatMap((ticks) => (ticks.length < LEAST_TICKS || ticks.length > MOST_TICKS ? [] : gridBeside(ticks, lines) || []));
}

/** The grid beside times, where they are evenly one below the other, and days stand above. @param {Tick[]} ticks @param {Line[]} lines @returns {Grid | null} */
function gridBeside(ticks, lines) {
  const [first, second, last] = /** @type {[Tick, Tick, Tick]} */ ([ticks[0], ticks[1], ticks[ticks.length - 1]]);
  ticks.forEach((tick, i) => {
    while (i && tick.minutes <= /** @type {Tick} */ (ticks[i - 1]).minutes) tick.minutes += HALF_DAY;
  });
  const tops = ticks.map(({ node }) => rectOf(node).top);
  const [top = 0] = tops;
  const slope = (/** @type {number} */ (tops[tops.length - 1]) - top) / (last.minutes - first.minutes);
  const since = (/** @type {Tick} */ tick) => (tick.minutes - first.minutes) * slope;
  if (slope <= 0 || ticks.some((tick, i) => Math.abs(/** @type {number} */ (tops[i]) - top - since(tick)) > NEAR + 1)) return null;
  const cell = widest(first.node, "height", since(second));
  const scale = Array.from(outward(cell)).find((outer) => holds(outer, last.node));
  if (!scale) return null;
  const [box, axis, text] = [rectOf(cell), rectOf(scale), contentsOf(first.node).getBoundingClientRect()];
  // A time stands in a box that begins with it, or across the line that it is.
  const middle = (text.top + text.bottom) / 2;
  const next = cell.nextElementSibling;
  const isTiled = next && Math.abs(rectOf(next).top - box.bottom) <= NEAR;
  let begin = !isTiled ? middle : middle > box.bottom - box.height / 4 ? box.bottom : box.top;
  const { port } = first.line;
  const clip = Array.from(outward(scale)).find((outer) => rectOf(outer).height < axis.height - NEAR) || null;
  const part = clip ? rectOf(clip) : axis;
  /** @type {[number, number]} */
  const seen = [Math.max(axis.top, part.top, port.top), Math.min(axis.bottom, part.bottom, port.bottom)];
  const { columns, heads } = columnsAbove(lines, seen[0], text.right);
  const [left, right] = [columns[0], columns[columns.length - 1]];
  const [head] = heads;
  if (!left || !right || !head) return null;
  // What lies in the first column says better where its hours begin.
  const drawn = at((left.box.left + left.box.right) / 2, (seen[0] + seen[1]) / 2);
  const day = drawn && rectOf(widest(drawn, "width", left.box.width));
  if (day && day.height > axis.height * 0.8) {
    const half = since(second) / 2;
    const beside = (/** @type {number} */ y) => y - day.top - half * Math.round((y - day.top) / half);
    for (const y of [box.top, middle, box.bottom]) if (Math.abs(beside(y)) < Math.abs(beside(begin)) - 1) begin = y;
    if (Math.abs(beside(begin)) <= NEAR + 1) begin -= beside(begin);
  }
  for (const tick of ticks) tick.y = begin + since(tick);
  let node = scale;
  const isAcross = () => rectOf(node).left <= left.box.left + NEAR && rectOf(node).right >= right.box.right - NEAR;
  for (const outer of outward(scale)) {
    if (head.node && holds(outer, head.node) && isAcross()) break;
    node = outer;
  }
  return { ticks, node, axis, slope, columns, heads, port, clip, seen };
}

/** The outermost box around an element that is not larger than this. @param {Element} element @param {"width" | "height"} side @param {number} size */
function widest(element, side, size) {
  let found = element;
  for (const outer of outward(element)) {
    if (rectOf(outer)[side] > size + NEAR) break;
    found = outer;
  }
  return found;
}

/** So far above a grid its days stand at most, and so far apart parts of one row, CSS pixels. */
const [MOST_ABOVE, SAME_ROW, MOST_UP_TO_STICKY] = [250, 8, 6];

/** What stands in a row of even distances right above: the columns' names, of several rows all of them. @param {Line[]} lines @param {number} limit @param {number} from the left edge */
function columnsAbove(lines, limit, from) {
  /** @typedef {{line: Line, node: Element, name: string, x: number, y: number}} Head */
  /** @type {Head[][]} */
  const rows = [];
  const entries = lines.flatMap((line) => (line.cells ? line.cells.map((node) => ({ line, node, name: node ? tidy(textContent(node)) : "" })) : { line, node: line.node, name: line.kind === "region" ? "" : line.name }));
  for (const { line, node, name } of entries) {
    if (!node || !name || name.length > LONGEST_HINT) continue;
    const { left, right, top, bottom } = rectOf(node);
    if (bottom > limit + MOST_ABOVE || top < limit - MOST_ABOVE || left < from - NEAR) continue;
    // What stays at the top while the grid is scrolled lies over it.
    if (bottom > limit + NEAR && !Array.from(outward(node, MOST_UP_TO_STICKY)).some((outer) => styleOf(outer).position === "sticky")) continue;
    const head = { line, node, name, x: (left + right) / 2, y: (top + bottom) / 2 };
    const row = rows.find(([one]) => one && Math.abs(one.y - head.y) <= SAME_ROW);
    if (row) row.push(head);
    else rows.push([head]);
  }
  /** @type {Column[]} */
  let columns = [];
  /** @type {Set<Line>} */
  const heads = new Set();
  for (const row of rows.sort(([a], [b]) => /** @type {Head} */ (b).y - /** @type {Head} */ (a).y)) {
    row.sort((a, b) => a.x - b.x);
    const [first, last] = /** @type {[Head, Head]} */ ([row[0], row[row.length - 1]]);
    const pitch = (last.x - first.x) / (row.length - 1);
    if (row.length < 2 || row.some(({ x }, i) => Math.abs(x - first.x - i * pitch) > pitch / 16) || first.x - from > pitch) continue;
    if (!columns.length) {
      columns = row.map(({ node, name, x }) => {
        const box = rectOf(widest(node, "width", pitch));
        return { name, box: box.width > pitch * 0.9 ? box : new DOMRect(x - pitch / 2, box.top, pitch, box.height) };
      });
    } else if (row.length === columns.length && columns.every(({ box }, i) => Math.abs((box.left + box.right) / 2 - /** @type {Head} */ (row[i]).x) < pitch / 8)) {
      for (const [i, column] of columns.entries()) column.name = `${/** @type {Head} */ (row[i]).name} ${column.name}`;
    } else continue;
    for (const { line } of row) heads.add(line);
  }
  return { columns, heads };
}

/** The same lines with the columns of grids, each before what stands in it. @param {Line[]} lines */
function withColumns(lines) {
  if (walk.thorough) return lines;
  gridsRead = gridsIn(lines);
  for (const grid of gridsRead) {
    // Rows of a table say what is in them.
    const { axis, columns, node, port, ticks } = grid;
    const [first, last] = /** @type {[Tick, Tick]} */ ([ticks[0], ticks[ticks.length - 1]]);
    if (first.line.kind === "row") continue;
    const isHigh = (/** @type {DOMRect} */ box) => box.height > axis.height * 0.8;
    /** @type {Line[][]} */
    const inner = columns.map(() => []);
    /** @type {Line[]} */
    const rest = [];
    /** @type {Line | null} */
    let top = null;
    let [at, within] = [-1, -1];
    const place = (/** @type {Line} */ line) => {
      if (!line.node || line.port.id !== port.id || line.kind === "row" || grid.heads.has(line) || ticks.some((tick) => tick.line === line) || !holds(node, line.node)) return -1;
      const box = rectOf(line.node);
      if (box.bottom <= axis.top || box.top >= axis.bottom) return -1;
      return columns.findIndex((column) => Math.abs(box.left + box.right - column.box.left - column.box.right) < column.box.width && box.width <= column.box.width + 2 * NEAR);
    };
    const isRow = (/** @type {Line} */ { kind, node, name, parts }) => kind === "row" && node && parts && isHigh(rectOf(node)) && !WORDS.test(plain(name));
    for (const line of lines.flatMap((line) => (isRow(line) ? (line.parts || []).map((part) => Object.assign(part, { depth: line.depth + 1 })) : line))) {
      if (!top || line.depth <= top.depth) {
        within = place(line);
        top = within < 0 ? null : line;
        if (top && at < 0) at = rest.length;
      }
      (inner[within] || rest).push(line);
    }
    const depth = Math.min(last.line.depth, inner.find(([begun]) => begun)?.[0]?.depth ?? Infinity);
    if (at < 0) at = rest.indexOf(last.line) + 1;
    const times = `times=${quoted(first.parts[0] + " – " + last.parts[0])}`;
    const named = columns.flatMap(({ name, box }, i) => {
      const own = inner[i] || [];
      const hint = i ? [] : [`hint=${quoted("cell '" + name + " " + first.parts[0] + "'")}`];
      const begun = own[0];
      if (begun?.node && isHigh(rectOf(begun.node))) {
        Object.assign(begun, { name: cut(`${name} ${begun.name}`.trim(), LONGEST_NAME), states: [...begun.states.filter((state) => !state.startsWith("hint=")), times, ...hint] });
        return own;
      }
      const deeper = begun ? 1 + depth - begun.depth : 0;
      for (const line of own) line.depth += deeper;
      const far = beyond(new DOMRect(box.left, axis.top, box.width, axis.height), port);
      return [{ ...bareLine("region", placeId(name, node), "group", name, [times, ...hint], node), depth, far, port }, ...own];
    });
    rest.splice(at, 0, ...named);
    lines = rest;
  }
  return lines;
}

/** The places of the grids that were read last: each column, and each time in it. @returns {Generator<Place>} */
function* placesRead() {
  for (const grid of gridsRead) {
    const { axis, columns, seen, slope, ticks } = grid;
    const unit = /** @type {Tick} */ (ticks[1]).minutes - /** @type {Tick} */ (ticks[0]).minutes;
    const step = STEPS.find((minutes) => minutes * slope >= LEAST_STEP && unit % minutes === 0) || unit;
    for (const { name, box } of columns) {
      const { left: x, width } = box;
      yield { name, grid, x, y: (seen[0] + seen[1]) / 2, width, height: 0 };
      for (const [i, tick] of ticks.entries()) {
        const end = ticks[i + 1]?.minutes ?? tick.minutes + unit;
        for (let minutes = tick.minutes - (i ? 0 : unit); minutes < end; minutes += step) {
          const [y, text] = [tick.y + (minutes - tick.minutes) * slope, timeAfter(tick, minutes - tick.minutes, ticks)];
          if (text && y >= axis.top - NEAR && y + step * slope <= axis.bottom + NEAR) yield { name: `${name} ${text}`, grid, x, y, width, height: step * slope };
        }
      }
    }
  }
}

/** So many minutes after a time, as the scale writes it; "" beyond noon where it counts by halves of the day. @param {Tick} tick @param {number} after @param {Tick[]} ticks */
function timeAfter(tick, after, ticks) {
  const [, before = "", hour = "", sign, , behind = ""] = tick.parts;
  const isHalf = WORDS.test(before + behind) && ticks.every(({ parts }) => Number(parts[2]) <= 12);
  const total = ((isHalf ? Number(hour) % 12 : Number(hour)) * 60 + Number(tick.parts[4] || 0) + after);
  if (total < 0 || total >= (isHalf ? HALF_DAY : 2 * HALF_DAY + 60)) return "";
  const [hours, rest] = [Math.floor(total / 60) || (isHalf ? 12 : 0), total % 60];
  return before + String(hours).padStart(hour.length, "0") + (sign || rest ? (sign || ":") + String(rest).padStart(2, "0") : "") + behind;
}

/** The id of a place, by its name. @param {string} name @param {Element} node */
function placeId(name, node) {
  const id = placeIds.get(name) ?? ++lastId;
  placeIds.set(name, id);
  placeNames.set(id, name);
  refer(id, node);
  return id;
}

/** @param {Place} place @param {number} id @param {string} role */
const placeLine = ({ name, grid: { node, port }, x, y, width, height }, id, role) => ({ ...bareLine("interactive", id, role, name, [], node), far: beyond(new DOMRect(x, y, width, height), port), port });

/** Make a place ready for an action: it is where the page has it now. @param {number} id @param {string} purpose @returns {Promise<object>} */
async function readyPlace(id, purpose) {
  const find = () => {
    release(read(null));
    return placesRead().find(({ name }) => name === placeNames.get(id));
  };
  let place = find();
  const { clip = null, seen = [0, 0] } = place?.grid || {};
  if (place && clip && (place.y < seen[0] || place.y + INTO >= seen[1])) {
    _scrollBy.call(clip, { top: place.y - (seen[0] + seen[1]) / 2, behavior: "instant" });
    place = find();
  }
  if (place && (place.y < 0 || place.y + INTO >= innerHeight)) {
    scrollBy({ top: place.y - innerHeight / 2, behavior: "instant" });
    place = find();
  }
  if (!place && purpose === "read" && placed?.id === id) place = placed.place;
  if (!place) return { problem: "stale", lasting: true };
  placed = { id, place };
  const { width, height } = place;
  const { node } = place.grid;
  refer(id, node);
  const facts = { node: wire(placeLine(place, id, height ? "cell" : "group"), false), tag: localName(node), secret: false };
  if (/fill|select|check|upload/.test(purpose)) return { problem: "not-editable", lasting: true, ...facts };
  const [x, y] = [place.x + width / 2, place.y + INTO];
  const hit = at(x, y);
  if (purpose !== "read" && !reaches(node, hit)) return hit ? { ...coveredBy(inTheWay(hit, node) || hit), ...facts } : { problem: "off-screen", ...facts };
  return { ...facts, x, y, width, height, into: INTO, edge: -INTO };
}

/** How far a point lies below the edge that a drag moves: an element's top, or the edge that its handle is at. @param {Element} element @param {number} y */
function belowEdge(element, y) {
  const { top, height } = rectOf(element);
  const pulled = isResizer(element) ? Array.from(outward(element), rectOf).find((box) => box.height > 2 * height) : null;
  return y - (pulled && 2 * y > pulled.top + pulled.bottom ? pulled.bottom : pulled ? pulled.top : top);
}
