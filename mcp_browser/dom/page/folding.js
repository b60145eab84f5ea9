/**
 * Shorten long lists, tables and menus: list the first entries, those in view and those with a state, and one line for
 * each run of the others; count what lies behind something. Changes are compared between all lines.
 */

/** The lines of an element that has many children with lines: by turns the first line of a child and the child, and the last line of all. @typedef {{element: Element, entries: (Line | Element)[], last: Line}} Group */
/** A run of lines that another one stands for; without a name they are counted by another fold. @typedef {{at: number, lines: number, line: Line}} Fold */
/** The places of the lines left out, the lines that stand for them, and how many elements lie behind something. @typedef {{folds: Fold[], hidden: Uint8Array, behind: number}} Folding */

/** Fewer entries are always listed one by one. */
const LEAST_ENTRIES = 16;
const FIRST_ENTRIES = 5;
/** Shorter runs, in entries and characters, are not worth a line that stands for them. */
const LEAST_FOLDED = 6;
const LEAST_SAVED = 240;
/** So many entries are listed because they are in view, new, or have a state. */
const MOST_KEPT = 100;
/** Entries of more lines each are parts of a document rather than of a list; boxes sooner than list items. */
const MOST_LINES = 12;
const MOST_LINES_OF_BOXES = 8;
const ENTRIES = set("li tr option a button dd");
const BOXES = set("div span article label section");
const ENTRY_ROLES = set("listitem row option menuitem menuitemcheckbox menuitemradio treeitem tab link button gridcell");
const NOUNS = new Map([...each("tr row", "rows"), ...each("a link", "links"), ["option", "options"], ["button", "buttons"]]);

/** Of handles without a name more than so many are counted after the first ones. */
const MOST_GRIPS = 8;
const FIRST_GRIPS = 2;

/** Note the lines of a child. @param {Open} parent @param {number} start @param {Element} child */
function noteEntry(parent, start, child) {
  let first = walk.lines[start];
  while (first && walk.echoes.has(first)) first = walk.lines[++start];
  if (first) (parent.entries ??= []).push(first, child);
}

/** What is the same in another row is not the same. */
const ROWS = set("li dd article");
const ROW_ROLES = set("listitem row treeitem article");

/** Note what a row says with each of its lines. @param {number} start */
function noteRow(start) {
  const lines = walk.lines.slice(start);
  const text = lines.map((line) => (line.kind === "text" || line.kind === "heading" ? line.name : "")).join("\n").slice(0, LONGEST_NAME);
  for (const line of lines) line.entry ||= text;
}

/** The name of the dialog that each line stands in. @param {Line[]} lines */
function dialogsAround(lines) {
  let dialog = /** @type {Line | null} */ (null);
  return lines.map((line) => {
    if (dialog && line.depth <= dialog.depth) dialog = null;
    if (line.role === "dialog" || line.role === "alertdialog") dialog = line;
    return dialog && dialog !== line ? dialog.name : "";
  });
}

/** Of entries that begin with the same control, put what they say before it, and the rest below. @param {(Line | Element)[]} entries */
function distinguishEntries(entries) {
  const [first, second] = [/** @type {Line} */ (entries[0]), /** @type {Line} */ (entries[2])];
  const { depth } = first;
  if (walk.row || first.kind !== "interactive" || second.role !== first.role || second.name !== first.name || second.depth !== depth) return;
  for (let i = entries.length - 2, end = walk.lines.length; i >= 0; i -= 2) {
    const at = walk.lines.lastIndexOf(/** @type {Line} */ (entries[i]), end - 1);
    if (at < 0) return;
    const own = walk.lines.slice(at, end);
    const spoken = own.findIndex((line) => line.kind === "text" || line.kind === "heading");
    if (spoken > 0 && own.every((line) => line.depth >= depth && !walk.echoes.has(line)) && own[spoken]?.depth === depth && _contains.call(entries[i + 1], own[spoken].node)) {
      const [text] = own.splice(spoken, 1);
      for (const line of own) line.depth++;
      walk.lines.splice(at, end - at, /** @type {Line} */ (text), ...own);
      entries[i] = /** @type {Line} */ (text);
    }
    end = at;
  }
}

/** Note an element that has been read and has many children with lines. @param {Open} frame */
function noteGroup(frame) {
  const { entries } = frame;
  if (entries && entries.length > 2) distinguishEntries(entries);
  if (!entries || entries.length < 2 * LEAST_ENTRIES || walk.lines.length - frame.start < LEAST_ENTRIES) return;
  walk.groups.push({ element: frame.element, entries, last: /** @type {Line} */ (walk.lines.findLast((line) => !walk.echoes.has(line))) });
}

/** What the entries of a group are called where they are alike and few lines each; "" where they are no list. @param {Group} group @param {number} lines */
function nounOf(group, lines) {
  const { entries } = group;
  const sample = /** @type {Element} */ (entries[1 + 2 * (entries.length >> 2)]);
  const tag = localName(sample);
  const role = attribute(sample, "role") || "";
  const byRole = ENTRY_ROLES.has(role);
  const named = attribute(sample, "class");
  if (!byRole && !ENTRIES.has(tag) && !((BOXES.has(tag) || tag.includes("-")) && named)) return "";
  if (lines * 2 > (byRole || ENTRIES.has(tag) ? MOST_LINES : MOST_LINES_OF_BOXES) * entries.length) return "";
  const isLike = (/** @type {Element} */ entry) => ENTRIES.has(tag) || (byRole ? attribute(entry, "role") === role : firstWord(attribute(entry, "class")) === firstWord(named));
  const alike = entries.filter((entry, i) => i % 2 && localName(/** @type {Element} */ (entry)) === tag && isLike(/** @type {Element} */ (entry))).length;
  if (alike * 2 < entries.length * 0.8) return "";
  return NOUNS.get(role) || NOUNS.get(tag) || "entries";
}

/** @param {string | null} text */
const firstWord = (text) => (text || "").trim().split(/\s/, 1)[0];

/** Whether a line is listed wherever it is. @param {Line} line @param {Set<number> | null} old ids that were reported before @returns {boolean} */
function mustList(line, old) {
  if (line.marks.includes("focused") || line.role === "iframe" || (FIELDS.has(line.role) && line.role !== "checkbox" && line.role !== "radio")) return true;
  if (old && line.kind === "interactive" && !old.has(line.id)) return true;
  for (const state of line.states) if (KEPT_STATES.test(state)) return true;
  return !!line.parts && line.parts.some((part) => mustList(part, old));
}

/**
 * Find what can be folded. @param {Line[]} lines @param {Group[]} groups the innermost first @param {Element | null} opened what is looked into: its own entries are listed
 * @param {Set<number> | null} old ids of the lines that were reported before @param {Veil | null} veil what fills the view @returns {Folding | null}
 */
function fold(lines, groups, opened, old, veil = null) {
  const places = new Map(lines.map((line, i) => [line, i]));
  const hidden = new Uint8Array(lines.length);
  /** @type {Fold[]} */
  const folds = [];
  const behind = veil ? leaveBehind(lines, veil, hidden, folds) : 0;
  for (const group of groups.toReversed()) if (group.element !== opened) foldGroup(group, lines, places, hidden, folds, old);
  if (!opened) leaveGrips(lines, hidden, folds);
  if (!folds.length) return null;
  folds.sort((a, b) => a.at - b.at);
  return { folds, hidden, behind };
}

/** Leave out what lies behind something that fills the view, not where nothing else is left; how many elements. @param {Line[]} lines @param {Veil} veil @param {Uint8Array} hidden @param {Fold[]} folds */
function leaveBehind(lines, veil, hidden, folds) {
  const behind = lines.map((line) => isBehind(line, veil));
  const last = behind.lastIndexOf(false);
  const left = withParts(lines.filter((_, i) => behind[i])).filter((line) => line.kind === "interactive" || line.kind === "region").length;
  if (last < 0 || !left) return 0;
  for (let at = 0; at <= last; at++) {
    if (!behind[at]) continue;
    const end = behind.indexOf(false, at);
    leaveOfPage(at, end, "behind", "", hidden, folds);
    at = end;
  }
  leaveOfPage(last + 1, lines.length, "behind", String(left), hidden, folds);
  return left;
}

/** Leave out lines, for which one stands. @param {number} at @param {number} end @param {Line} line @param {Uint8Array} hidden @param {Fold[]} folds */
function leave(at, end, line, hidden, folds) {
  hidden.fill(1, at, end);
  folds.push({ at, lines: end - at, line });
}

/** Leave out lines of the page that are counted by one of their folds, which has the number for a name. @param {number} at @param {number} end @param {string} role @param {string} name @param {Uint8Array} hidden @param {Fold[]} folds */
const leaveOfPage = (at, end, role, name, hidden, folds) => leave(at, end, bareLine("fold", keep(/** @type {Element} */ (body())), role, name, [String(end - at)]), hidden, folds);

/** Leave out most of the handles that have no name. @param {Line[]} lines @param {Uint8Array} hidden @param {Fold[]} folds */
function leaveGrips(lines, hidden, folds) {
  /** @type {number[]} */
  const grips = [];
  lines.forEach((line, i) => {
    const isGrip = !hidden[i] && line.kind === "interactive" && line.name === "" && line.states.some((state) => state.startsWith("hint=") && GRIP_WORD.test(state));
    if (isGrip && !((lines[i + 1]?.depth ?? 0) > line.depth)) grips.push(i);
  });
  const rest = grips.length > MOST_GRIPS ? grips.slice(FIRST_GRIPS) : [];
  rest.forEach((at, i) => leaveOfPage(at, at + 1, "handles", i + 1 < rest.length ? "" : String(rest.length), hidden, folds));
}

/** @param {Group} group @param {Line[]} lines @param {Map<Line, number>} places @param {Uint8Array} hidden @param {Fold[]} folds @param {Set<number> | null} old */
function foldGroup(group, lines, places, hidden, folds, old) {
  /** Where each entry begins, and where the last one ends. @type {number[]} */
  const starts = [];
  for (let i = 0; i < group.entries.length; i += 2) {
    const at = places.get(/** @type {Line} */ (group.entries[i]));
    if (at !== undefined && at > (starts.length ? /** @type {number} */ (starts[starts.length - 1]) : -1)) starts.push(at);
  }
  const count = starts.length;
  const first = starts[0];
  const end = places.get(group.last);
  if (count < LEAST_ENTRIES || first === undefined || end === undefined || hidden.subarray(first, end + 1).includes(1)) return;
  starts.push(end + 1);
  const noun = nounOf(group, end + 1 - first);
  if (!noun) return;
  const isNew = (/** @type {number} */ start, /** @type {number} */ i) => withParts(lines.slice(start, starts[i + 1])).some(({ kind, id }) => kind === "interactive" && !old?.has(id));
  // Of a list that was drawn anew it says nothing that an entry is new.
  if (old && starts.slice(0, -1).filter(isNew).length > LEAST_ENTRIES) old = null;
  let kept = 0;
  /** Where the run of entries that can be left out begins; -1 for none. */
  let run = -1;
  for (let entry = 0; entry <= count; entry++) {
    const from = /** @type {number} */ (starts[entry]);
    const to = entry < count ? /** @type {number} */ (starts[entry + 1]) : from;
    let keeps = entry < FIRST_ENTRIES || entry === count;
    for (let i = from; i < to && !keeps; i++) {
      const line = /** @type {Line} */ (lines[i]);
      keeps = (kept < MOST_KEPT && (line.far === 0 || mustList(line, old))) || line.role === "iframe";
    }
    if (!keeps) {
      if (run < 0) run = entry;
      continue;
    }
    if (entry >= FIRST_ENTRIES) kept++;
    const at = run < 0 ? from : /** @type {number} */ (starts[run]);
    if (run >= 0 && entry - run >= LEAST_FOLDED && costUpTo(lines.slice(at, from), LEAST_SAVED) === LEAST_SAVED) {
      const { depth, far, port } = /** @type {Line} */ (lines[at]);
      leave(at, from, { ...bareLine("fold", keep(group.element), noun, String(entry - run), [String(from - at)]), depth, far, port }, hidden, folds);
    }
    run = -1;
  }
}

/** Changes with one that stands for all entries that have come and are left out, where a list was drawn anew. @param {Change[]} changes @param {Folding | null} folding @returns {Change[]} */
function foldAdded(changes, folding) {
  const added = new Set(changes.flatMap(([kind, , , , at]) => (kind === "added" ? [at] : [])));
  const within = (/** @type {Fold} */ { at, lines }) => Array.from({ length: lines }, (_, i) => at + i);
  const isNew = (/** @type {Fold} */ one) => Number(one.line.name) > LEAST_ENTRIES && within(one).every((place) => added.has(place));
  // Folds of handles and of what lies behind have no distance.
  const folds = folding && added.size > LEAST_ENTRIES ? folding.folds.filter((one) => one.line.far && isNew(one)) : [];
  if (!folds.length) return changes;
  const left = new Set(folds.flatMap(within));
  const rest = changes.filter(([kind, , , , at]) => kind !== "added" || !left.has(at));
  const come = folds.map(({ at, line }) => /** @type {Change} */ (["added", line, null, -1, at]));
  return [...rest, ...come].sort((a, b) => Math.max(a[4], -1) - Math.max(b[4], -1));
}

