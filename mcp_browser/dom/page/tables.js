/** Table rows: one line each, a cell after the other. */

const MOST_COLUMNS = 4;
const MOST_LISTED = 20;
const GRID_CELLS = set("gridcell columnheader rowheader");
const GRIDS = "[role=grid],[role=treegrid]";
/** What a list or table tells of an entry wherever it is. */
const TELLING = /^(?:checked|selected|pressed$|current|invalid|expanded=true|value=)/;

/** Whether the cursor says that a row can be clicked, rather than all that the table stands in. @param {Element} element */
function hasOwnHand(element) {
  const around = walk.open[walk.open.length - 1];
  if (surveyed && walk.shadows === 0 && !pointing(element) && !(around && around.pointed)) return false;
  if (!HAND.has(styleOf(element).cursor)) return false;
  const table = closest(element, "table,[role=table],[role=grid],[role=treegrid]");
  const outer = table && flatParent(table);
  return !isElement(outer) || !HAND.has(styleOf(/** @type {Element} */ (outer)).cursor);
}

/** @param {Element} element @param {Open} frame */
function enterRow(element, frame) {
  if (walk.inside !== null || query(element, "table,[role=row],[role=table],[role=grid]")) return frame;
  // A table that only puts lists beside one another has no rows to be read as such.
  if (childElementCount(element) <= MOST_COLUMNS && queryAll(element, "li").length > MOST_LISTED) return frame;
  const outer = walk.row;
  /** @type {Row} */
  const own = { cells: [], id: 0 };
  walk.row = own;
  const at = walk.lines.length;
  walk.depth++;
  const clickable = hasHandler(element) || hasOwnHand(element);
  const far = farOf(element, true);
  const selected = attribute(element, "aria-selected") === "true";
  const before = frame.close;
  frame.close = (from) => {
    flush();
    walk.depth--;
    walk.row = outer;
    const cells = own.cells;
    while (cells.length && cells[cells.length - 1] === "") cells.pop();
    const text = cells.join(" | ");
    const bare = text.replace(REFERENCES, "").replace(/[\s|]+/g, "") === "";
    const only = walk.lines.length === at;
    if (far === far && (clickable || !bare)) {
      const states = selected ? ["selected"] : [];
      const own =
        clickable || selected
          ? newLine("interactive", element, keep(element), "row", cut(text, LONGEST_TEXT), states, far)
          : cells.length === 1 && only
            ? newLine("text", element, idOf(element), "", cut(text, LONGEST_TEXT), states, far)
            : newLine("row", element, idOf(element), "row", cut(text, LONGEST_TEXT * 2), states, far);
      walk.lines.splice(at, 0, own);
    } else {
      for (let i = at; i < walk.lines.length; i++) /** @type {Line} */ (walk.lines[i]).depth--;
    }
    if (before) before(from);
  };
  return frame;
}

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterCell(element, tag, role, frame) {
  const current = /** @type {Row} */ (walk.row);
  current.cells.push("");
  const inGrid = GRID_CELLS.has(role) && closest(element, GRIDS) && !query(element, CONTROLS);
  // The cells of a grid can be chosen and edited one by one, by what listens to them or around them.
  if (inGrid && (hasHandler(element) || attribute(element, "tabindex") !== null)) {
    const far = farOf(element, false);
    if (far === far) {
      const name = nameOf(element, tag, "cell");
      const states = statesOf(element, tag, role, name).filter((state) => TELLING.test(state));
      const sort = attribute(element, "aria-sort");
      if (sort && sort !== "none") states.push(`sort=${sort}`);
      addToCell(`${reference(keep(element))} ${cut(name, LONGEST_NAME)}${states.length ? ` (${states.join(" ")})` : ""}`.trim());
      return enterInside(name, frame);
    }
  }
  if (hasHandler(element) && !query(element, CONTROLS)) {
    const far = farOf(element, false);
    if (far === far) {
      const cellRole = role === "columnheader" || role === "rowheader" || role === "gridcell" ? role : "cell";
      const name = nameOf(element, tag, "cell");
      const states = statesOf(element, tag, cellRole, name);
      const sort = attribute(element, "aria-sort");
      if (sort && sort !== "none") states.push(`sort=${sort}`);
      pushControl(element, cellRole, name, states, far, element === walk.active);
      return enterInside(name, frame);
    }
  }
  const before = frame.close;
  frame.close = (at) => {
    flush();
    if (before) before(at);
  };
  return frame;
}
