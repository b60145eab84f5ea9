/** What is known while the page is being read, and how a line is made. */

/**
 * A row: the text of each cell with references to the controls in it; the cells, none where one of another place reaches to; characters
 * that there is room for; how many lines there were before, and elements are open around it; whether it can be clicked as a whole.
 * @typedef {{cells: string[], nodes: (Element | null)[], room: number, start: number, deep: number, clickable: boolean, table: TableFacts}} Row
 */

/** Of a line without marks, and of one that says nothing but its text. @type {[string[], string[]]} */
const [NO_MARKS, NO_STATES] = [[], []];
const INERT = ["inert"];
const UNCLICKABLE = ["unclickable"];
const EXACT_RECTS = 2500;
/** How many elements and texts of a page are asked whether a style keeps them from being seen. */
const TRAP_CHECKS = 8000;
const SCROLL_CHECKS = 8000;
/** @type {Port} */
const NO_PORT = { id: 0, left: 0, top: 0, right: 0, bottom: 0, far: 0, outer: null };

/** The state of a reading, before it begins. @typedef {ReturnType<typeof standing>} Walk */
const standing = () => ({
  start: /** @type {Element | null} */ (null), // where it began
  tree: /** @type {Node | null} */ (null), // the document, where it began there and not in a shadow tree
  lines: /** @type {Line[]} */ ([]), // what has been read
  open: /** @type {Open[]} */ ([]), // the elements whose children are being read
  frames: /** @type {Open[]} */ ([]), // what is kept of an element while it is open, by its depth, to be used again
  depth: 0,
  rects: EXACT_RECTS, // how many boxes may yet be measured one by one
  checks: TRAP_CHECKS, // how many elements and texts may yet be asked whether a style keeps them from being seen
  scrolls: SCROLL_CHECKS, // how many elements may yet be asked whether they scroll where style sheets do not say it
  port: NO_PORT, // the view
  run: "", // text being gathered
  runHolder: /** @type {Element | null} */ (null), // the element that holds its beginning
  runSuspect: false, // whether a style may make that beginning invisible
  runPort: NO_PORT, // what that beginning is seen through
  links: /** @type {Line[]} */ ([]), // links within the gathered text, which holds references to them
  edges: /** @type {Element[]} */ ([]), // inline elements whose edge lies between the gathered text and the next
  groups: /** @type {Group[]} */ ([]), // elements that have many children with lines, the innermost first
  inside: /** @type {string | null} */ (null), // the name that what is being read adds nothing to, where it only repeats it
  bearer: /** @type {Line | Element | null} */ (null), // the line that shows this name, or the element whose line does
  echoes: /** @type {Map<Line, Line | Element>} */ (new Map()), // texts that are left out if what shows them has a line in the end, and that
  heading: 0, // level of the heading that is being read
  rows: /** @type {Map<string, Line>} */ (new Map()), // the first parts of rows in several parts, by what holds them and their place
  joined: /** @type {Element | null} */ (null), // the row that was put to its first part last
  row: /** @type {Row | null} */ (null), // the table row that is being read
  surface: /** @type {Element | null} */ (null), // what a code editor draws, where the field that takes its keys has been read
  listed: /** @type {Set<Element>} */ (new Set()), // form controls that have a line, their own or their label's
  palettes: /** @type {WeakMap<Node, boolean>} */ (new WeakMap()), // whether what comes first in a box is painted in several colours
  parted: false, // whether it is in an item that may have an icon of its own to act on, such as a tab's to close it
  thorough: false, // whether each cell of a table and what is in an editor's text is listed as an element
  inert: false,
  ignoredHand: /** @type {Element | null} */ (null),
  active: /** @type {Element | null} */ (null), // the focused element
  through: false, // whether something in the document may let the mouse through
  bars: false, // whether something in it may refuse clicks by its cursor
  styled: false, // whether style sheets of the document add text
  shadows: 0, // how many shadow trees deep it is: each has style sheets of its own
  margin: 0, // what lies further off than this is not measured one by one
  offX: 0, // how far the page is scrolled
  offY: 0,
  shift: 0, // how much lower the view's content lies while all is laid out
  leftward: false, // whether the page is scrolled to the left
});

/** Whether the last reading has an editor's text as one value. */
let editorRead = false;
/** What was read for a search, until something else is read: an observation can use it. @type {{lines: Line[], groups: Group[]} | null} */
let searched = null;

/** The part of the frame that is seen through what it stands in, where that is not all of it: left, top, right, bottom. @type {number[] | null} */
let seenPart = null;

/** What is seen of the page. @returns {Port} */
function viewport() {
  const [left = 0, top = 0, right = innerWidth, bottom = innerHeight] = seenPart || [];
  return { ...NO_PORT, left, top, right, bottom };
}

/** Only one reading goes on at a time, and nothing of it is kept when it ends. */
let walk = standing();

/** What is seen of the page where the walk is. @returns {Port} */
const portNow = () => (walk.open.length ? /** @type {Open} */ (walk.open[walk.open.length - 1]).port : walk.port);

/** @param {Kind} kind @param {Element} node @param {number} id @param {string} role @param {string} name @param {string[]} states @param {number} far @param {Port} port @returns {Line} */
function newLine(kind, node, id, role, name, states, far, port = portNow()) {
  const marks = walk.inert ? INERT : kind === "interactive" && isOutOfMouse(node) ? UNCLICKABLE : NO_MARKS;
  return { kind, depth: walk.depth, id, role, name, states, marks, far, port, node, parts: null, cells: null, entry: "" };
}

/** A line at no place. @param {Kind} kind @param {number} id @param {string} role @param {string} name @param {string[]} states @param {Element | null} node @returns {Line} */
const bareLine = (kind, id, role, name, states, node = null) => ({ kind, depth: 0, id, role, name, states, marks: NO_MARKS, far: 0, port: NO_PORT, node, parts: null, cells: null, entry: "" });

/** Lines, and behind each row what stands in it. @param {Line[]} lines @returns {Line[]} */
const withParts = (lines) => lines.flatMap((line) => (line.parts ? [line, ...line.parts] : line));
