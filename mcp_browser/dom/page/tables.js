/** Table rows: one line each, a cell after the other. */

const MOST_COLUMNS = 4;
const MOST_LISTED = 20;
const CELLS = set("cell gridcell columnheader rowheader");
const CELL = "td,th,[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]";
const TABLES = "table:not([role=none],[role=presentation]),[role=table],[role=grid],[role=treegrid]";
/** Of tables with more cells only those that ask for it have an index in their row's line; the others are found. */
const MOST_CELLS = 1000;
/** Of what says that a table has columns that mean something, and not only lays out. */
const HEADS = "th,thead,caption,[role=columnheader],[role=rowheader]";
const REACHING = "[rowspan],[colspan],[aria-rowspan],[aria-colspan]";
/** In further columns no cell has a place kept for it. */
const WIDEST = 100;
/** Stands where a cell of a row above reaches down to. */
const ABOVE = '"';
/** States for which an entry of a list or table is listed wherever it is. */
const KEPT_STATES = /^(?:checked|selected|pressed$|current|invalid|expanded=true|value=)/;

/** What is known of a table, before it is asked. @typedef {typeof NO_TABLE} TableFacts */
const NO_TABLE = {
  grid: false, // its cells can be chosen one by one, as its role says
  listens: false, // it listens to clicks on behalf of its cells
  few: false, // each of its cells may have an index in its row's line
  gaps: /** @type {Map<Node, string[]>} */ (new Map()), // what stands for cells that reach further, before the cell or at the end of the row
  whole: 0, // the id of what holds this group of rows and another with the rest of their cells; 0 for none
};
/** Of the tables that are being read, by what their rows stand in. @type {WeakMap<Node, TableFacts>} */
let tablesRead = new WeakMap();
/** How far out two parts of a grid may stand side by side. */
const MOST_UP_TO_WHOLE = 8;
/** Among more brothers no group of rows is a part of a grid. */
const MOST_PARTS = 12;
/** So far apart two boxes may be that end at the same place, CSS pixels. */
const NEAR = 2;

/** @param {Element} row */
function tableAround(row) {
  const group = parentNode(row);
  const beside = group && tablesRead.get(group);
  if (beside) return beside;
  const table = closest(row, TABLES);
  if (!group) return NO_TABLE;
  const facts = { ...NO_TABLE, whole: wholeOf(group) };
  tablesRead.set(group, facts);
  if (!table) return facts;
  const grid = /^(?:tree)?grid$/.test(attribute(table, "role") || "");
  // Where there are controls the clicks may be theirs.
  const listens = (listensItself(table) || (isElement(group) && listensItself(group))) && (grid || !query(table, CONTROLS));
  return Object.assign(facts, { grid, listens, few: queryAll(table, CELL).length <= MOST_CELLS, gaps: gapsIn(table, group) });
}

/** What holds a group of rows and, right beside it, another one as high: the columns that stay while the others scroll. @param {Node} group */
function wholeOf(group) {
  if (childElementCount(/** @type {Element} */ (parentNode(group) || group)) > MOST_PARTS) return 0;
  const own = rectOf(/** @type {Element} */ (group));
  const near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) <= NEAR;
  const isMate = (/** @type {Element} */ row) => {
    const other = parentNode(row);
    const box = isElement(other) && rectOf(other);
    return box && near(box.top, own.top) && near(box.height, own.height);
  };
  for (const node of outward(group, MOST_UP_TO_WHOLE)) {
    const outer = flatParent(node);
    if (!outer || childElementCount(/** @type {Element} */ (outer)) > MOST_PARTS || node === body()) break;
    const box = rectOf(node);
    const isBeside = (/** @type {DOMRect} */ other) => other.width >= NEAR && other.height >= NEAR && (near(other.left, box.right) || near(other.right, box.left));
    const beside = childrenOf(outer).filter((one) => one !== node && isBeside(rectOf(one)));
    if (beside.some((one) => Array.from(queryAll(one, "tr,[role=row]")).some(isMate))) return keep(/** @type {Element} */ (outer));
  }
  return 0;
}

/** Where cells of some rows reach over several columns or rows; where they only lay out, that says nothing. @param {Element} table @param {Node} group what the rows stand in */
function gapsIn(table, group) {
  /** @type {Map<Node, string[]>} */
  const gaps = new Map();
  if (!isElement(group) || !query(group, REACHING)) return gaps;
  if (!Array.from(queryAll(table, HEADS)).some((head) => closest(head, TABLES) === table)) return gaps;
  /** For how many rows more a cell reaches down, by column. @type {number[]} */
  let reach = [];
  for (const row of childrenOf(group)) {
    /** @type {number[]} */
    const below = [];
    let at = 0;
    /** @type {string[]} */
    let gap = [];
    const fill = (/** @type {Element} */ before) => {
      for (let rows = reach[at]; rows; rows = reach[at]) {
        below[at++] = rows - 1;
        gap.push(ABOVE);
      }
      if (gap.length) gaps.set(before, gap);
      gap = [];
    };
    for (const cell of childrenOf(row)) {
      if (!matches(cell, CELL)) continue;
      const reaches = matches(cell, REACHING);
      if (reaches && !isSeen(cell)) continue;
      fill(cell);
      const across = reaches ? Math.min(spanOf(cell, "colspan", 1), WIDEST - at) : 1;
      const down = reaches ? spanOf(cell, "rowspan", Infinity) : 1;
      for (let i = 0; i < across; i++) {
        if (i) gap.push("");
        below[at] = down - 1;
        at++;
      }
    }
    fill(row);
    reach = below;
  }
  return gaps;
}

/** @param {Node} node @returns {Element[]} */
function childrenOf(node) {
  const found = [];
  for (let child = firstChild(node); child; child = nextSibling(child)) if (isElement(child)) found.push(child);
  return found;
}

/** @param {Element} cell @param {"colspan" | "rowspan"} name @param {number} rest what 0 means */
function spanOf(cell, name, rest) {
  const said = Number.parseInt(attribute(cell, `aria-${name}`) || attribute(cell, name) || "1", 10);
  return said === 0 ? rest : said > 0 ? said : 1;
}

/** Keep the places of cells that reach further. @param {Row} row @param {Element} before */
function keepPlaces(row, before) {
  for (const sign of row.table.gaps.get(before) || []) {
    row.cells.push(sign);
    row.nodes.push(null);
  }
}

/** Whether the cursor says that a row can be clicked, rather than all that the table stands in. @param {Element} element */
function hasOwnHand(element) {
  const isKnown = surveyed && walk.shadows === 0;
  if ((isKnown && !pointing(element) && !walk.open.at(-1)?.pointed) || !hasHand(element)) return false;
  const table = closest(element, TABLES);
  const outer = table && flatParent(table);
  return !isElement(outer) || !HAND.has(styleOf(outer).cursor);
}

/** Whether a cell can be acted on for itself: it says so, or what is around it listens for it. @param {Element} element @param {string} role @param {Row} row */
function isOwnCell(element, role, row) {
  const { grid, listens, few } = row.table;
  const heads = role === "columnheader" || role === "rowheader";
  // Not that of what it stands in.
  const hasOwn = () => (!surveyed || walk.shadows > 0 || pointing(element)) && hasHand(element);
  const means = traits(element);
  // A header's name may stand beside a control of its own, such as a filter.
  const isFree = () => !query(element, CONTROLS) || (heads && besideControls(element) !== "");
  if (listensItself(element)) return isFree();
  if (heads && !(means & (LABEL | LABELLED | TITLE)) && tidy(contentOf(element, element, 0, false)) === "") return false;
  if (!few) return role === "columnheader" && hasHandler(element) && !query(element, CONTROLS);
  const isMarked = (means & SPECIAL && grid && attribute(element, "tabindex") !== null) || (means & OTHER && heads && attribute(element, "aria-sort") !== null);
  const asks = hasHandler(element) || isMarked || (!row.clickable && ((listens && !heads) || hasOwn()) && !isBlank(textContent(element)));
  return asks && isFree();
}

/** The text in a cell beside the controls in it. @param {Element} cell */
function besideControls(cell) {
  let text = "";
  for (const holder of [cell, ...queryAll(cell, "*")]) {
    const control = holder === cell ? null : closest(holder, CONTROLS);
    if (control && control !== cell && _contains.call(cell, control)) continue;
    for (let node = firstChild(holder); node; node = nextSibling(node)) if (nodeType(node) === 3 && !isScaledAway(holder)) text += `${data(/** @type {Text} */ (node))} `;
  }
  return tidy(text);
}

/** @param {Element} element @param {Open} frame */
function enterRow(element, frame) {
  if (walk.inside !== null || query(element, "table,[role=row],[role=table],[role=grid]")) return frame;
  // A table that only puts lists beside one another has no rows to be read as such.
  if (childElementCount(element) <= MOST_COLUMNS && queryAll(element, "li").length > MOST_LISTED) return frame;
  const outer = walk.row;
  const clickable = hasHandler(element) || hasOwnHand(element);
  /** @type {Row} */
  const row = { cells: [], nodes: [], room: LONGEST_TEXT * 2, clickable, table: tableAround(element), start: walk.lines.length, deep: walk.open.length };
  walk.row = row;
  walk.depth++;
  const own = farOf(element, true);
  // A row of `display: contents` stands where its cells do.
  const far = own === own ? own : farOf(element, false);
  // On a long page the controls in a row far off are not measured one by one.
  if (walk.rects < 0 && Math.abs(far) > walk.margin) frame.zone = far;
  const selected = attribute(element, "aria-selected") === "true";
  return whenRead(frame, () => {
    walk.depth--;
    walk.row = outer;
    closeRow(element, row, row.start, far, selected);
  });
}

/** Put the cells of a row into the order of their columns, where they stand in another one. @param {Row} row */
function putInOrder(row) {
  const { nodes, cells } = row;
  if (nodes.length !== cells.length || !nodes[0] || attribute(nodes[0], "aria-colindex") === null) return;
  const placed = nodes.map((node, i) => ({ node, cell: cells[i] ?? "", column: Number(node && attribute(node, "aria-colindex")) }));
  if (!placed.every(({ column }) => column > 0)) return;
  placed.sort((a, b) => a.column - b.column);
  row.cells = placed.map(({ cell }) => cell);
  row.nodes = placed.map(({ node }) => node);
}

/** Make a line of a row, and of the controls in it. @param {Element} element @param {Row} row @param {number} at @param {number} far @param {boolean} selected */
function closeRow(element, row, at, far, selected) {
  keepPlaces(row, element);
  putInOrder(row);
  const inner = walk.lines.slice(at);
  const listed = new Set(inner.map((line) => line.id));
  // What turned out to be no control after all has no line.
  const cells = row.cells.map((cell) => cell.replace(REFERENCES, (sign) => (listed.has(Number(sign.slice(1, -1))) ? sign : "")).trim());
  while (cells.length && cells[cells.length - 1] === "") cells.pop();
  const said = row.table.gaps.size ? cells.filter((cell) => cell !== ABOVE) : cells;
  const bare = said.join("").replace(REFERENCES, "").replace(/[\s|]+/g, "") === "";
  const { whole } = row.table;
  const box = whole && far === far ? rectOf(element) : null;
  const key = box && (box.height || !bare) ? `${whole} ${attribute(element, "aria-rowindex") || Math.round(box.top)}` : "";
  const first = walk.rows.get(key);
  const text = cells.join(" | ");
  // A control without lines of its own below it stands in the row.
  const parts = inner.filter((line, i) => line.kind === "interactive" && text.includes(reference(line.id)) && !((inner[i + 1]?.depth ?? 0) > line.depth));
  if (far !== far || !(row.clickable || !bare || parts.length > 1 || key)) {
    for (const line of inner) line.depth--;
    return;
  }
  const states = selected ? ["selected"] : [];
  const kind = row.clickable || selected ? "interactive" : cells.length === 1 && !inner.length ? "text" : "row";
  const own = newLine(kind, element, kind === "interactive" ? keep(element) : idOf(element), kind === "text" ? "" : "row", text, states, far);
  own.cells = row.nodes;
  if (parts.length) own.parts = parts;
  walk.lines.length = at;
  if (first) joinRows(first, own);
  else if (key) walk.rows.set((own.place = key), own);
  walk.lines.push(...(first ? [] : [own]), ...inner.filter((line) => !parts.includes(line)));
  for (const part of parts) part.depth = 0;
}

const HOLLOW = /^[\s|]*$/;
/** The lines without those of rows in which nothing stands, and to which nothing was joined. @param {Line[]} lines @param {Iterable<Line>} rows that others may be joined to @param {Group[]} groups */
function withoutHollow(lines, rows, groups) {
  const hollow = new Set(Array.from(rows).filter((line) => line.kind === "row" && !line.parts && HOLLOW.test(line.name)));
  if (!hollow.size) return lines;
  for (const group of groups) {
    if (!hollow.has(group.last)) continue;
    for (let at = lines.lastIndexOf(group.last); at > 0 && hollow.has(group.last); ) group.last = /** @type {Line} */ (lines[--at]);
  }
  return lines.filter((line) => !hollow.has(line));
}

/** Put what stands in a part of a row to the line of the part that was read first, as it is seen. @param {Line} first @param {Line} own */
function joinRows(first, own) {
  const place = (/** @type {Line} */ line) => {
    const cell = line.cells?.find((one) => one);
    return Number(cell && attribute(cell, "aria-colindex")) || rectOf(/** @type {Element} */ (line.node)).left;
  };
  const order = place(own) < place(first) ? [own, first] : [first, own];
  const parts = order.flatMap((line) => line.parts || []);
  const kind = order.some((line) => line.kind === "interactive") ? "interactive" : "row";
  walk.joined = own.node;
  if (kind === "interactive") keep(/** @type {Element} */ (first.node));
  Object.assign(first, { kind, role: "row", name: order.map((line) => line.name).join(" | "), cells: order.flatMap((line) => line.cells || []), parts: parts.length ? parts : null });
  for (const state of own.states) if (!first.states.includes(state)) first.states = [...first.states, state];
}

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterCell(element, tag, role, frame) {
  const row = /** @type {Row} */ (walk.row);
  keepPlaces(row, element);
  row.cells.push("");
  row.nodes.push(element);
  const named = traits(element) & CLASS ? attribute(element, "class") || "" : "";
  if (MARKING_CLASS.test(named) && isGutter(element, named)) return hush(frame);
  const own = isOwnCell(element, role, row);
  if (own || walk.thorough) {
    const far = farOf(element, false);
    if (far === far) {
      const shownAs = role === "cell" && row.table.grid ? "gridcell" : role;
      // What it refers to is most often its header.
      const holds = own && query(element, CONTROLS) !== null;
      const name = (holds && besideControls(element)) || (traits(element) & LABELLED && tidy(contentOf(element, element, 0, false))) || nameOf(element, tag, "cell");
      const states = statesOf(element, tag, shownAs, name).filter((state) => state === "disabled" || KEPT_STATES.test(state));
      const sort = attribute(element, "aria-sort");
      if (sort && sort !== "none") states.push(`sort=${sort}`);
      if (!own) walk.row = null;
      const line = pushControl(element, shownAs, name, states, far, element === walk.active);
      walk.row = row;
      if (own && !holds) return enterInside(name, frame);
      if (own) return whenRead(frame, repeating(name, line));
    }
  }
  const place = row.cells.length - 1;
  return whenRead(frame, () => {
    // A sign alone, such as a tick, says what the cell is about.
    const sign = row.cells[place] === "" && childElementCount(element) > 0 && isBlank(textContent(element)) ? iconOf(element) : "";
    if (sign) row.cells[place] = `(${sign})`;
  });
}
