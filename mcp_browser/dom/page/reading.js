/** The walk: the document, or a part of it, as lines in reading order. */

/** What can be folded of what was read last. @type {Group[]} */
let groupsRead = [];

/** Read the document, or a part of it, as lines in reading order. @param {Element | null} top @param {boolean} thorough whether cells and what is in an editor's text are listed as elements */
function read(top, thorough = false) {
  ask("nodes");
  if (searched) release(searched.lines);
  searched = null;
  editorRead = false;
  labelsOfRoot = new WeakMap();
  addedIn = new WeakMap();
  const start = top || body() || rootElement();
  if (!start) return [];
  traced = null;
  hosts = [];
  tablesRead = new WeakMap();
  stateful = new WeakSet();
  survey(rootOf(start));
  treeNow = rootOf(start) === document ? document : null;
  surveyStyles();
  const whole = rootElement();
  const { before, after, through, blind } = addedTo(document);
  const port = viewport();
  walk = {
    ...standing(),
    ...{ start, tree: treeNow, thorough, active: deepActive(), port, offX: scrollX, offY: scrollY },
    through: blind || through.length > 0 || query(/** @type {Element} */ (whole), INLINE_THROUGH) !== null,
    bars: mayBar(document),
    styled: before !== null || after !== null,
    margin: (port.bottom - port.top) * 1.5,
    leftward: !!whole && styleOf(whole).direction === "rtl",
  };
  const letSleep = wakeLazy();
  try {
    walkThrough(start);
    flush();
    if (walk.echoes.size) {
      const shown = new Set(withParts(walk.lines).map(({ node }) => node));
      const bearers = walk.lines.map((line) => walk.echoes.get(line));
      for (let i = bearers.length - 1; i >= 0; i--) {
        const bearer = bearers[i];
        if (bearer instanceof Element) settleEcho(/** @type {Line} */ (walk.lines[i]), i, shown.has(bearer));
      }
    }
  } finally {
    letSleep();
  }
  treeNow = null;
  const lines = withoutHollow(walk.lines, walk.rows.values(), walk.groups);
  groupsRead = walk.groups;
  walk = standing();
  // Texts that only repeat the name of the field right before or after them are left out.
  const isEcho = (/** @type {Line} */ line, /** @type {Line | undefined} */ beside) => beside?.kind === "interactive" && beside.name === line.name && FIELDS.has(beside.role);
  return lines.filter((line, i) => line.kind !== "text" || !(isEcho(line, lines[i + 1]) || isEcho(line, lines[i - 1])));
}

/** The nodes that a slot shows instead of its children; null where it shows none, and for other elements. @param {Element} element @param {string} tag @returns {Node[] | null} */
function slottedIn(element, tag) {
  if (tag !== "slot" || !(element instanceof HTMLSlotElement)) return null;
  const nodes = element.assignedNodes();
  return nodes.length ? nodes : null;
}

/** The node to read after one: the next in the slot that shows it, or its sibling. @param {{list: Node[] | null, at: number} | null} parent @param {Node} node @returns {Node | null} */
const nextIn = (parent, node) => (parent && parent.list ? parent.list[++parent.at] || null : nextSibling(node));

/** Read an element and all that is in it. @param {Element} start */
function walkThrough(start) {
  /** @type {Node | null} */
  let node = start;
  for (;;) {
    if (node) {
      Marked.mark(node);
      const type = nodeType(node);
      const parent = walk.open.length ? /** @type {Open} */ (walk.open[walk.open.length - 1]) : null;
      if (type === 3) {
        // What a slot shows has its box where it was written.
        if (parent) takeText(parent, parent.list ? /** @type {Element} */ (parentNode(node)) : parent.element, data(/** @type {Text} */ (node)));
      } else if (type === 1) {
        const element = /** @type {Element} */ (node);
        const before = walk.lines.length;
        const { inert } = walk;
        const frame = enterElement(element, parent);
        // It ends with what is not read on.
        if (!frame) walk.inert = inert;
        if (frame) {
          const { root } = frame;
          if (!root) frame.list = slottedIn(element, frame.tag);
          const first = frame.list ? frame.list[0] || null : frame.leaf ? null : firstChild(root || element);
          // Text in a slot is styled by the slot.
          if (parent && parent.muted && frame.tag === "slot") frame.muted = parent.muted;
          walk.open.push(frame);
          if (walk.styled || walk.shadows > 0) gatherAdded(frame, "before");
          if (root) {
            walk.shadows++;
            treeNow = null;
            survey(root);
            walk.bars ||= mayBar(root);
            meet(root);
          }
          // Nothing but text: one text for all of its nodes.
          if (frame.leaf) takeText(frame, element, frame.text === null ? textContent(element) : frame.text);
          node = first;
          continue;
        }
        if (parent && walk.lines.length > before) noteEntry(parent, before, element);
      }
      if (node === start) break;
      node = nextIn(parent, node);
    } else {
      const frame = walk.open.pop();
      if (!frame) break;
      if (walk.shadows > 0 && frame.root && --walk.shadows === 0) treeNow = walk.tree;
      if (walk.styled || walk.shadows > 0) gatherAdded(frame, "after");
      if (frame.block) flush();
      else if (walk.run !== "") walk.edges.push(frame.element);
      if (frame.port !== frame.within) noteUndrawn(frame.element, frame.start);
      if (frame.close) frame.close(frame.start);
      if (frame.element === start || !walk.open.length) {
        noteGroup(frame);
        break;
      }
      const parent = /** @type {Open} */ (walk.open[walk.open.length - 1]);
      if (walk.lines.length > frame.start) {
        noteGroup(frame);
        if (frame.row) noteRow(frame.start);
        noteEntry(parent, frame.start, frame.element);
      }
      node = nextIn(parent, frame.element);
    }
  }
}

const FIELDS = set("textbox searchbox combobox listbox spinbutton slider checkbox radio switch date time datetime-local month week color");

/** A page of fewer elements is read as it is. */
const LEAST_LAZY = 2000;

/**
 * Have all parts laid out that the browser lays out only near the view (`content-visibility: auto`), for as long as a reading goes on:
 * each question about what is in them would cost a thousand times as much. @returns {() => void} puts back what was before
 */
function wakeLazy() {
  const { lazy } = addedTo(document);
  const asleep = lazy.length ? `:is(${lazy.join(",")}):not([style*="content-visibility"])` : "";
  if (!asleep || document.getElementsByTagName("*").length < LEAST_LAZY || !queryAll(document, asleep).length) return () => {};
  const kept = [..._adoptedStyleSheets.call(document)];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${asleep} { content-visibility: visible !important }`);
  const [left, top] = [scrollX, scrollY];
  // What is in the view moves where parts before it turn out higher or lower than was guessed.
  const anchor = /** @type {Element | null} */ (_elementFromPoint.call(document, innerWidth / 2, innerHeight / 2));
  const before = anchor ? rectOf(anchor).top : 0;
  document.adoptedStyleSheets = [...kept, sheet];
  walk.shift = anchor ? rectOf(anchor).top - before : 0;
  return () => {
    document.adoptedStyleSheets = kept;
    if (scrollX !== left || scrollY !== top) scrollTo({ left, top, behavior: "instant" });
  };
}
