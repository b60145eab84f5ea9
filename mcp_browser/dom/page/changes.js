/** What was reported, what has changed since, and what fits the budget. */

/** The last readings by number, so that one can be compared with. @type {Map<number, Line[]>} */
const readings = new Map();
let lastReading = 0;
/** @type {Map<number, Line> | null} */
let reported = null;

function reportedById() {
  return (reported ??= linesById(readings.get(lastReading) || []));
}

/** Those that have a role. @param {Line[]} lines @returns {Map<number, Line>} */
const linesById = (lines) => new Map(withParts(lines).filter((line) => line.role).map((line) => [line.id, line]));

/** @param {Line[]} lines */
function release(lines) {
  for (const line of withParts(lines)) line.node = line.cells = null;
  groupsRead = [];
}

/** @param {Line} a @param {Line} b @returns {boolean} */
function sameLine(a, b) {
  if (a.kind !== b.kind || a.depth !== b.depth || a.role !== b.role || a.states.length !== b.states.length) return false;
  if (a.name !== b.name && (!a.name.includes("\uE000") || signature(a) !== signature(b))) return false;
  for (let i = 0; i < a.states.length; i++) if (a.states[i] !== b.states[i]) return false;
  if (!a.parts || !b.parts) return a.parts === b.parts;
  const others = b.parts;
  return a.parts.length === others.length && a.parts.every((part, i) => sameLine(part, /** @type {Line} */ (others[i])));
}

/** @param {Line} line @returns {string} */
const signature = (line) => `${line.kind}${line.depth}\n${line.role}\n${line.name.includes("\uE000") ? line.name.replace(REFERENCES, "[]") : line.name}\n${line.states.join("\n")}${line.parts ? line.parts.map(signature).join("\n") : ""}`;

/** Characters of "… more (get_state index=1234)", about. */
const FOLD_WORDS = 22;

/** @param {Line} line @returns {number} */
const costOf = (line) => {
  let cost = line.depth * 2 + line.name.length + (line.role ? line.role.length + 9 : 1) + (line.kind === "fold" ? FOLD_WORDS : 1);
  for (const state of line.states) cost += state.length + 1;
  for (const mark of line.marks) cost += mark.length + 1;
  if (line.parts) for (const part of line.parts) cost += costOf(part);
  return cost;
};

/** What lines cost together, or the limit where that is less. @param {Line[]} lines @param {number} limit */
function costUpTo(lines, limit) {
  let cost = 0;
  for (let i = 0; i < lines.length && cost < limit; i++) cost += costOf(/** @type {Line} */ (lines[i]));
  return Math.min(cost, limit);
}

/** @param {Line} line @param {boolean} isNew @param {Set<number> | null} old ids that were reported before @returns {WireLine} */
function wire(line, isNew, old = null) {
  const states = line.marks.length ? [...line.states, ...line.marks] : line.states;
  const { kind, depth, id, role, name, far, parts } = line;
  const inner = parts ? /** @type {[WireLine[]]} */ ([parts.map((part) => wire(part, !!old && !old.has(part.id)))]) : /** @type {const} */ ([]);
  return [kind, depth, id, role, name, states, isNew ? 1 : 0, far, ...inner];
}

/** @param {number[]} costs */
const sumOf = (costs) => costs.reduce((sum, own) => sum + own, 0);

/** The places of what a budget has room for: all, or those of the lowest ranks, `least` of them at least. @param {number[]} costs in characters @param {number[]} ranks @param {number} budget @param {number} least */
function choose(costs, ranks, budget, least) {
  if (sumOf(costs) <= budget) return [...costs.keys()];
  const order = Float64Array.from(ranks, (rank, i) => Math.min(Math.round(rank), 4e7) * 1e7 + i).sort();
  const chosen = [];
  let used = 0;
  for (const ranked of order) {
    const place = ranked % 1e7;
    used += /** @type {number} */ (costs[place]);
    if (used > budget && chosen.length >= least) break;
    chosen.push(place);
  }
  return chosen.sort((a, b) => a - b);
}

/** The lines that are listed where lists are folded, and the place of each among all lines. @param {Line[]} lines @param {Folding} folding */
function folded(lines, folding) {
  const folds = new Map(folding.folds.map(({ at, line }) => [at, line]));
  // One may stand behind the last line.
  const places = [...lines.keys(), lines.length].filter((i) => folds.has(i) || (lines[i] && !folding.hidden[i]));
  return { shown: places.map((i) => /** @type {Line} */ (folds.get(i) || lines[i])), places };
}

function view() {
  const page = scroller();
  const { left, top, right, bottom } = viewport();
  const [wide, high] = page ? [_scrollWidth.call(page), _scrollHeight.call(page)] : [innerWidth, innerHeight];
  return [...[scrollX + left, scrollY + top, right - left, bottom - top].map(Math.round), wide, high];
}

/**
 * @typedef {object} Wish what an observation is to contain
 * @property {number} base number of the reading that was reported last, 0 for none
 * @property {string} of key of the document that was read then
 * @property {boolean} whole a snapshot, even where changes could be compared
 * @property {number} budget characters of a snapshot
 * @property {number} changes characters of changes
 * @property {boolean} strict changes, even where the snapshot is shorter
 * @property {boolean} folded long lists are shortened
 * @property {boolean} came scripts or answers have come since the action began
 * @property {boolean} searched the page has just been searched: that reading may be used
 * @property {number[] | null} seen what is seen of this frame where that is not all of it: left, top, right, bottom
 */

/** Characters of changes where some of them are what was scrolled to. */
const SCROLLED_ROOM = 10000;
/** Ids of the lines that have been reported, of texts too. @type {Set<number>} */
const reportedIds = new Set();
/** Those of the last reading: reported once the next one is compared with it. @type {Set<number>} */
const sentIds = new Set();

/** What is in the view and was never reported: a budget left it out, and it was scrolled to. @param {Line[]} lines @param {Change[]} changes @param {Folding | null} folding @returns {Change[]} */
function unreported(lines, changes, folding) {
  const now = new Set(changes.map(([, line]) => line.id));
  const found = lines.filter((line, i) => line.far === 0 && !(folding && folding.hidden[i]) && !reportedIds.has(line.id) && !now.has(line.id));
  return found.map((line) => ["added", line, null, -1, -1]);
}

let wasVeiled = false;
/** @param {Wish} wish */
function observe(wish) {
  // Held still where a dialog came between.
  if (keysHeld) releaseKeys(false);
  seenPart = wish.seen;
  if (wish.base === lastReading) for (const id of sentIds) reportedIds.add(id);
  sentIds.clear();
  turnLooks(wish.base === lastReading);
  const kept = wish.searched ? searched : null;
  searched = null;
  const lines = kept ? kept.lines : read(null);
  if (kept) groupsRead = kept.groups;
  turnShape(wish.base === lastReading);
  const veil = markCovered(lines);
  // Each document counts its own readings: the number alone may be that of another document's.
  const before = wish.of === documentKey ? readings.get(wish.base) : undefined;
  const number = ++lastReading;
  readings.set(number, lines);
  for (const one of readings.keys()) if (one !== number && one !== wish.base) readings.delete(one);
  reported = null;
  const old = before ? new Set(withParts(before).map((line) => line.id)) : null;
  const folding = wish.folded ? fold(lines, groupsRead, null, old, veil) : null;
  const veiled = !!folding && folding.behind > 0;
  const behind = veiled && !wasVeiled && !lines.some(({ marks }) => marks.some((mark) => mark.startsWith(COVERS))) ? folding.behind : undefined;
  wasVeiled = veiled;
  const loading = _readyState.call(document) !== "complete";
  // What is still coming, or has scripts, may show something yet.
  const unshown = showsNothing(lines) ? loading || document.scripts.length > 0 : undefined;
  release(lines);
  if (!lookedTooMuch) watchLooks();
  const secret = secretMet || undefined;
  const suspects = hosts.length ? hosts.map(keep) : undefined;
  const answer = { ...pageFacts(lines), number, loading, seen: seenOfFrames(lines), secret, hosts: suspects, unshown };
  if (before && !wish.whole) {
    const changes = foldAdded(compare(before, lines), folding);
    const come = unreported(lines, changes, folding);
    const room = come.length ? Math.max(wish.changes, SCROLLED_ROOM) : wish.changes;
    const sent = chooseChanges([...changes, ...come], before, room);
    const changed = sent.cost + (sent.omitted ? room : 0);
    if (wish.strict || !changes.length || changed < costUpTo(folding ? folded(lines, folding).shown : lines, wish.budget)) {
      for (const [, line] of sent.wire) if (/** @type {WireLine} */ (line)[0] !== "fold") sentIds.add(/** @type {WireLine} */ (line)[2]);
      return { ...answer, changes: sent.wire, omitted: sent.omitted, room, behind, ...(changes.length ? undefined : looksChanged(lines)) };
    }
  }
  return { ...answer, ...snapshotOf(lines, folding, old, wish.budget) };
}

/** What is said of the document with each snapshot. @param {Line[]} lines */
const pageFacts = (lines) => ({ doc: documentKey, url: location.href, title: tidy(_title.call(document) || ""), view: view(), frames: framesIn(lines), count: lines.length });

/** The frames that can be seen: id, place among the lines, depth, distance from the view. @param {Line[]} lines */
function framesIn(lines) {
  return lines.flatMap(({ role, id, depth, far }, i) => (role === "iframe" ? [[id, i, depth, far]] : []));
}

/** Which part is seen of each frame that is in the view, but not with all of it: left, top, right, bottom in the frame's pixels, and the id of what cuts it off, 0 for the page. @param {Line[]} lines */
function seenOfFrames(lines) {
  /** @type {Record<number, number[]>} */
  const parts = {};
  for (const line of lines) {
    const element = line.role === "iframe" && line.far === 0 ? byId(line.id) : null;
    if (!element) continue;
    const { port } = line;
    const { left: x, top: y, width, height, scale, down } = contentOfFrame(element);
    const [left, top] = [Math.max(0, (port.left - x) / scale), Math.max(0, (port.top - y) / down)];
    const [right, bottom] = [Math.min(width, (port.right - x) / scale), Math.min(height, (port.bottom - y) / down)];
    if (right <= left || bottom <= top || (right - left > width - LEAST_SCROLL && bottom - top > height - LEAST_SCROLL)) continue;
    parts[line.id] = [left, top, right, bottom, port.id];
  }
  return parts;
}

/** What a budget has room for; these lines count as reported once the next reading is compared with this one. @param {Line[]} lines @param {Folding | null} folding @param {Set<number> | null} old ids reported before @param {number} budget in characters */
function snapshotOf(lines, folding, old, budget) {
  const { shown, places } = folding ? folded(lines, folding) : { shown: lines, places: null };
  const costs = shown.map(costOf);
  // What is in the view first, then what is near it.
  const chosen = choose(costs, shown.map(({ far }) => Math.max(far, far * -1.5)), budget, 1);
  const wired = [];
  for (const at of chosen) {
    const line = /** @type {Line} */ (shown[at]);
    if (line.kind !== "fold") sentIds.add(line.id);
    wired.push(wire(line, !!old && line.kind === "interactive" && !old.has(line.id), old));
  }
  const all = places ? chosen.map((at) => /** @type {number} */ (places[at])) : chosen.length === lines.length ? null : chosen;
  return { lines: wired, places: all, cost: sumOf(costs), ...sidesOf(lines) };
}

/** Where lines change sides more often, no sides are reported. */
const MOST_SIDES = 1000;

/**
 * On which side of what is seen the lines lie: for each change of side the place, the id of what scrolls (0 for the page), and -1, 0 or 1;
 * for each box that scrolls, the screens before and behind what is seen, and whether it scrolls sideways. @param {Line[]} lines
 */
function sidesOf(lines) {
  const runs = [[0, 0, 0]];
  /** @type {Record<string, [number, number, boolean]>} */
  const ports = {};
  let [id, sign] = [0, 0];
  for (const [i, { far, port, role }] of lines.entries()) {
    if (role === "iframe" && port.id && !ports[port.id]) ports[port.id] = screensOf(port.id);
    const side = Math.sign(far);
    const by = side === 0 ? 0 : hiding(port).id;
    if (by === id && side === sign) continue;
    if (runs.length >= MOST_SIDES) return { runs: [[0, 0, 0]], ports: {} };
    if (by && !ports[by]) ports[by] = screensOf(by);
    runs.push([i, (id = by), (sign = side)]);
  }
  return { runs, ports };
}

/** What has to be scrolled so that what is seen through a port comes into view. @param {Port} port */
function hiding(port) {
  while (port.far !== 0 && port.outer) port = port.outer;
  return port;
}

/** @param {number} id @returns {[number, number, boolean]} */
function screensOf(id) {
  const element = byId(id);
  if (!element) return [0, 0, false];
  const across = roomOf(element, false) < LEAST_SCROLL;
  const seen = Math.max(1, across ? _clientWidth.call(element) : _clientHeight.call(element));
  const before = across ? Math.abs(_scrollLeft.call(element)) : _scrollTop.call(element);
  return [before / seen, (roomOf(element, across) - before) / seen, across];
}

/**
 * What happened, the line, the line before, its place before and now, -1 for none. Of lines that went together the first, the last where
 * the first does not hold the others, its place, and how many there are as a negative number.
 * @typedef {["added" | "removed" | "unlisted" | "changed" | "replaced" | "moved", Line, Line | null, number, number]} Change
 */
/** @param {Line[]} before @param {Line[]} after @returns {Change[]} */
function compare(before, after) {
  /** Which old line each new one was: its place, or -1. */
  const origin = new Int32Array(after.length).fill(-1);
  const used = new Uint8Array(before.length);
  const first = alike(before, after, origin, used);
  /** @type {Change[]} */
  const changes = [];
  if (first === before.length && first === after.length) return changes;
  /**
   * Match new lines that have no old one with the old ones of the same key: the places of both, for each pair.
   * @template K @param {Map<K, number[]>} places of old lines, by their keys @param {(line: Line, at: number) => K} keyOf @param {(old: Line, line: Line) => unknown} fits
   */
  const match = (places, keyOf, fits) => {
    /** @type {Map<number, number>} */
    const pairs = new Map();
    for (const [j, line] of after.entries()) {
      const olds = (origin[j] === -1 && places.get(keyOf(line, j))) || [];
      const place = olds.findIndex((at) => fits(/** @type {Line} */ (before[at]), line));
      const i = olds[place];
      if (i === undefined) continue;
      olds.splice(place, 1);
      used[i] = 1;
      origin[j] = i;
      pairs.set(j, i);
    }
    return pairs;
  };
  /** Places of the lines that are left, by the ids of their elements. @type {Map<number, number[]>} */
  const oldById = new Map();
  for (const [i, line] of before.entries()) if (!used[i]) addTo(oldById, line.id, i);
  const same = match(oldById, (line) => line.id, sameLine);
  const redrawn = Array.from(same).some(([j, i]) => after[j]?.name !== before[i]?.name);
  const isRising = () => origin.every((place, j) => place !== -1 && place >= (origin[j - 1] ?? 0));
  if (before.length === after.length && !redrawn && isRising()) return changes;
  // The same element with another line.
  const changedFrom = match(oldById, (line) => line.id, (old, line) => old.kind === line.kind || (old.role && line.role));
  // Another element with the same line, in the same row and dialog: drawn anew.
  /** @type {Map<string, number[]>} */
  const oldBySign = new Map();
  const [oldDialogs, dialogs] = [dialogsAround(before), dialogsAround(after)];
  for (const [i, old] of before.entries()) {
    // One that is hidden now is still there: what is like it is another.
    if (used[i] || (old.kind === "interactive" && byId(old.id))) continue;
    addTo(oldBySign, `${signature(old)}\n${old.entry}\n${oldDialogs[i]}`, i);
  }
  const replacedFrom = match(oldBySign, (line, j) => `${signature(line)}\n${line.entry}\n${dialogs[j]}`, () => true);
  changes.push(...goneFrom(before, used));
  for (const [j, i] of replacedFrom) if (reportedIds.has(/** @type {Line} */ (before[i]).id)) reportedIds.add(/** @type {Line} */ (after[j]).id);
  const stayed = inOrder(origin);
  for (const [j, line] of after.entries()) {
    const i = /** @type {number} */ (origin[j]);
    const old = before[i] ?? null;
    const isRedrawn = replacedFrom.has(j) && (line.kind === "interactive" || line.kind === "region" || line.name.includes("\uE000"));
    if (!old) changes.push(["added", line, null, -1, j]);
    else if (changedFrom.has(j)) changes.push(["changed", line, old, i, j]);
    else if (isRedrawn || (stayed[j] && line.name !== old.name)) changes.push(["replaced", line, old, i, j]);
    else if (!stayed[j]) changes.push(["moved", line, follower(after, stayed, j), i, j]);
  }
  return changes;
}

/** The next line beside one that has moved, of those that have not; null where it is the last in its place. @param {Line[]} lines @param {Uint8Array} stayed @param {number} at */
function follower(lines, stayed, at) {
  const { depth } = /** @type {Line} */ (lines[at]);
  for (let next = at + 1; next < lines.length; next++) {
    const line = /** @type {Line} */ (lines[next]);
    if (line.depth < depth) return null;
    if (stayed[next] && line.depth === depth) return line;
  }
  return null;
}

/** Longer runs of lines that went are reported as one change. */
const MOST_GONE = 5;
/** Fewer lines that went with the one that holds them are reported one by one. */
const LEAST_WITHIN = 2;

/** What went: line by line, or all that stood in one together, and long runs together. @param {Line[]} before @param {Uint8Array} used which old lines are still there @returns {Change[]} */
function goneFrom(before, used) {
  /** @type {Change[]} */
  const changes = [];
  for (let i = 0; i < before.length; ) {
    const run = /** @type {Change[]} */ ([]);
    let next = i;
    // The lines in a frame are reported by the frame.
    while (next < before.length && !used[next] && !isLeft(/** @type {Line} */ (before[next])) && (next === i || /** @type {Line} */ (before[next - 1]).role !== "iframe")) {
      const line = /** @type {Line} */ (before[next]);
      let end = next + 1;
      if (line.kind === "interactive" || line.kind === "region") {
        while (end < before.length && !used[end] && isWithin(/** @type {Line} */ (before[end]), line)) end++;
      }
      if (end - next <= LEAST_WITHIN) end = next + 1;
      run.push(["removed", line, null, next, next - end]);
      next = end;
    }
    const [first] = run;
    const last = run[run.length - 1];
    if (first && last && run.length > MOST_GONE) changes.push(["removed", first[1], last[1], i, i - next]);
    else changes.push(...run);
    if (next === i && !used[i]) changes.push(["unlisted", /** @type {Line} */ (before[i]), null, i, -1]);
    i = Math.max(next, i + 1);
  }
  return changes;
}

/** What has a line only as long as it seems to be something to act on. */
const SEEMING = set("clickable canvas img");

/** Whether an element without a line is still there to be seen. @param {Line} line */
function isLeft(line) {
  const element = line.kind === "interactive" && SEEMING.has(line.role) ? byId(line.id) : null;
  if (!element || !isSeen(element)) return false;
  const box = rectOf(element);
  return box.width > 1 && box.height > 1 && hiddenBy(element, true) === "";
}

/** @param {Line} line @param {Line} outer */
const isWithin = (line, outer) => line.depth > outer.depth && line.role !== "iframe" && outer.role !== "iframe";

/** Match the lines that are as they were from the beginning and from the end on; how many are the same at the beginning. @param {Line[]} before @param {Line[]} after @param {Int32Array} origin old place of each new line @param {Uint8Array} used old lines matched */
function alike(before, after, origin, used) {
  const same = (/** @type {number} */ i, /** @type {number} */ j) => {
    const a = /** @type {Line} */ (before[i]);
    const b = /** @type {Line} */ (after[j]);
    return a.id === b.id && a.name === b.name && sameLine(a, b);
  };
  const shorter = Math.min(before.length, after.length);
  let first = 0;
  for (; first < shorter && same(first, first); first++) {
    origin[first] = first;
    used[first] = 1;
  }
  for (let i = before.length - 1, j = after.length - 1; i >= first && j >= first && same(i, j); i--, j--) {
    origin[j] = i;
    used[i] = 1;
  }
  return first;
}

/** Which lines have kept their order among one another: the longest rising run of old places. @param {Int32Array} origin old place of each new line, -1 for none */
function inOrder(origin) {
  const stayed = new Uint8Array(origin.length);
  const before = new Int32Array(origin.length);
  /** The new places that end the best run of each length. @type {number[]} */
  const ends = [];
  for (let j = 0; j < origin.length; j++) {
    const place = /** @type {number} */ (origin[j]);
    if (place === -1) continue;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (/** @type {number} */ (origin[/** @type {number} */ (ends[middle])]) < place) low = middle + 1;
      else high = middle;
    }
    before[j] = low > 0 ? /** @type {number} */ (ends[low - 1]) : -1;
    ends[low] = j;
  }
  for (let j = ends.length ? /** @type {number} */ (ends[ends.length - 1]) : -1; j >= 0; j = /** @type {number} */ (before[j])) stayed[j] = 1;
  return stayed;
}

/** @param {Change[]} changes @param {Line[]} old what was there before @param {number} budget */
function chooseChanges(changes, old, budget) {
  const costs = changes.map(([kind, line, before]) => (kind === "replaced" ? 14 : costOf(line) + (before ? 12 + (before.name === line.name ? 0 : before.name.length) : 0)));
  const ranks = changes.map(([kind, line, , , at]) => {
    if (kind === "added" && at === -1) return 300;
    return Math.abs(line.far) + (kind === "replaced" || kind === "moved" ? 1e6 : 0) + (kind === "removed" ? 500 : 0);
  });
  const chosen = choose(costs, ranks, budget, 0);
  const wired = chosen.map((i) => {
    const [kind, line, before, was, at] = /** @type {Change} */ (changes[i]);
    const went = kind === "removed" && at < -1 ? old.slice(was, was - at).flatMap((one) => (one.kind === "interactive" ? [one.id] : [])) : [];
    return [kind, wire(line, kind === "added" && at !== -1 && line.kind === "interactive"), before && wire(before, false), was, at, went];
  });
  return { wire: wired, omitted: changes.length - chosen.length, cost: sumOf(chosen.map((i) => Number(costs[i]))) };
}
