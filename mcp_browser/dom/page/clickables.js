/** What can be clicked without a role: it has a listener, or its cursor is a hand. */

const MOST_IN_CLICKABLE = 12;
/** The fields that may stand above the items of a list. */
const LEADING = set("textbox searchbox combobox");
const LONGEST_CLICKABLE = 140;
const MOST_UP_TO_LISTENER = 4;
/** So many elements with data of their own side by side are items, where what holds them listens. */
const LEAST_ITEMS = 6;

/** Whether the cursor over an open element is that of something to act on: its own or inherited. @param {number} at @returns {Open["hand"]} */
function handAt(at) {
  const frame = /** @type {Open} */ (walk.open[at]);
  if (frame.hand !== undefined) return frame.hand;
  const isOwn = !surveyed || walk.shadows > 0 || at === 0 || frame.pointed || frame.root;
  if (isOwn) frame.hand = hasHand(frame.element) ? "acts" : isBarred(frame.element) && "refuses";
  else frame.hand = !OWN_CURSOR.has(frame.tag) && handAt(at - 1);
  return frame.hand;
}

/** Whether the cursor over an element that is not open is that of something to act on. @param {Element} element @param {string} tag */
function handOver(element, tag) {
  if (surveyed && walk.shadows === 0 && walk.open.length && !pointing(element)) {
    return !OWN_CURSOR.has(tag) && handAt(walk.open.length - 1);
  }
  return hasHand(element) || isBarred(element);
}

/** The outermost open element under whose hand-like cursor the innermost lies, within what refuses clicks around it. @returns {number} its place in `open`, or -1 */
function underHand() {
  let at = walk.open.length;
  while (at > 0 && handAt(at - 1) && !(at < walk.open.length && handAt(at) === "acts" && handAt(at - 1) === "refuses")) at--;
  return at < walk.open.length ? at : -1;
}

/** Make a clickable thing of an element that is open already. @param {number} at its place in `open`, -1 for none */
function discover(at) {
  const frame = walk.open[at];
  if (!frame || frame.close || walk.ignoredHand === frame.element) return;
  const { element } = frame;
  if (element === body() || element === rootElement() || element === walk.start) {
    walk.ignoredHand = element;
    return;
  }
  const isBegun = walk.run !== "" && !holds(element, walk.runHolder);
  flush();
  // A text that began before it is none of its own.
  if (isBegun) for (const inner of walk.open.slice(at)) inner.start = walk.lines.length;
  const row = walk.row && walk.row.deep > at ? walk.row : null;
  openClickable(frame, frame.start, row);
  // What has been read of it is one line further on.
  if (frame.close) for (const inner of [...walk.open.slice(at + 1), ...(row ? [row] : [])]) inner.start++;
}

/** @param {Open} frame @param {number} at where its line stands @param {Row | null} inner the row that is being read, where that stands in it */
function openClickable(frame, at, inner = null) {
  const { element, tag } = frame;
  const far = farOf(element, isDrawnFlat(element), frame.within);
  const name = far === far && hasAttributes(element) ? nameOf(element, tag, "") : "";
  if (far !== far || isGripInRow(element, name)) {
    walk.ignoredHand = element;
    return;
  }
  const id = keep(element);
  const own = newLine("interactive", element, id, tag === "a" ? "link" : "clickable", cut(name, LONGEST_NAME), statesOf(element, tag, "clickable", name), far, frame.within);
  if (walk.heading) own.states.push(`h${walk.heading}`);
  for (let i = at; i < walk.lines.length; i++) /** @type {Line} */ (walk.lines[i]).depth++;
  walk.lines.splice(at, 0, own);
  const putBack = name ? repeating(name, own) : null;
  const outerRow = walk.row;
  if (!inner && walk.row) addToCell(reference(id));
  if (!inner) walk.row = null;
  walk.depth++;
  whenRead(frame, () => {
    walk.depth--;
    if (!inner) walk.row = outerRow;
    const place = walk.lines.lastIndexOf(own);
    // What changes the size of a thing that is dragged is not there to be clicked instead of it.
    const grips = place >= 0 && hasHand(element) ? walk.lines.slice(place + 1).filter(({ name, node }) => name === "" && node && isResizer(node)) : [];
    if (grips.length) walk.lines.push(...walk.lines.splice(place + 1).filter((line) => !grips.includes(line)));
    closeClickable(own, place);
    if (own.name && own.kind === "interactive") addHint(own, labelAround(element, true));
    if (grips.length && !walk.lines.includes(own)) for (const grip of grips) grip.depth--;
    walk.lines.push(...grips);
    if (putBack) putBack();
  });
}

/** Take a line out: what stands in it stands where it did. @param {number} at */
function takeOut(at) {
  walk.lines.splice(at, 1);
  for (const inner of walk.lines.slice(at)) inner.depth--;
}

/** Make a group of a clickable thing, around what is in it. @param {Line} own @param {string} role */
function becomeGroup(own, role = "group") {
  own.kind = "region";
  own.role = role;
  if (!own.name) own.states = withHint(/** @type {Element} */ (own.node), own.role, own.states);
}

/** Decide what a clickable thing is called, and whether it is one at all. @param {Line} own @param {number} at */
function closeClickable(own, at) {
  if (at < 0) return;
  const all = walk.lines.slice(at + 1);
  let controls = 0;
  let texts = 0;
  let length = 0;
  /** How deep the control lies that the lines stand in. */
  let within = Infinity;
  for (const inner of all) {
    const bearer = walk.echoes.get(inner);
    if (bearer && bearer !== own) continue;
    if (inner.parts) controls += inner.parts.length;
    const isWithin = inner.depth > within;
    if (!isWithin) within = inner.kind === "interactive" ? inner.depth : Infinity;
    if (inner.kind === "interactive" || inner.role === "iframe") controls++;
    else if (inner.kind !== "region") {
      if (!isWithin) texts++;
      length += inner.name.length + 1;
    }
  }
  const element = /** @type {Element} */ (own.node);
  const drop = () => {
    takeOut(at);
    walk.ignoredHand = element;
    // In a table its text and controls stand in the cell.
    for (const inner of walk.row ? walk.lines.splice(at) : []) {
      if (inner.kind === "interactive") addToCell(reference(inner.id));
      if (inner.kind === "text") addToCell(cellText(inner.name));
      else walk.lines.push(inner);
    }
  };
  if (bases.has(element) && listensForAll(element)) return drop();
  if (takesDrops(element) && rectOf(element).height > 0 && !(parentNode(element) === body() && fillsPage(element))) {
    own.states = [...own.states, "droppable"];
    if (nameItems(element, at) || nameAlike(element, at) || controls > 0 || length > LONGEST_CLICKABLE || all.some((line) => line.cells)) {
      return becomeGroup(own, explicitRole(element).replace(NO_ROLE, "") || "group");
    }
  }
  // What listens around a code editor is the editor; what another line shows leaves nothing here.
  if ((walk.surface && _contains.call(element, walk.surface)) || isDrawnByEditor(element) || (!all.length && walk.joined && _contains.call(element, walk.joined))) return drop();
  const many = controls > MOST_IN_CLICKABLE || length > 4000;
  // A listener around several controls is there for them, unless the cursor says otherwise.
  if (many || (controls > 1 && !hasHand(element))) {
    if (!own.name) return drop();
    becomeGroup(own, explicitRole(element) || "group");
    return isWithinTwin(own, at) ? drop() : undefined;
  }
  if (controls > 0 && listensForAll(element)) return drop();
  const field = controls === 1 && all.find((line) => LEADING.has(line.role) && line.name !== "");
  // What says no more than the label of the field in it is there to focus that.
  const isLabel = !!field && !own.name && !own.states.length && texts === 1 && all.every((line) => line === field || line.depth > field.depth || `${field.name} `.startsWith(`${line.name} `));
  if (controls === 1 && (texts === 0 || isLabel || !hasHandler(element))) return drop();
  if (controls > 1 && !hasHandler(element)) return drop();
  if (own.name) return undefined;
  const rows = walk.rows.size ? all.filter((line) => line.place) : [];
  // So is one around rows, to which what stands beside them is joined.
  if (rows.length > 1 && !hasHand(element)) return drop();
  const isLed = controls === 1 && LEADING.has(all[0]?.role ?? "");
  if ((controls === 0 || isLed) && texts > 1 && length <= LONGEST_CLICKABLE && nameAlike(element, at)) return becomeGroup(own);
  if (controls > 0 || length > LONGEST_CLICKABLE) {
    const inner = all.find((line) => !walk.echoes.has(line) && (line.kind === "text" || line.kind === "heading" || line.kind === "image"));
    if (inner) own.name = cut(inner.name.replace(REFERENCES, ""), LONGEST_NAME);
    if (!inner || own.name !== inner.name) return undefined;
    if (inner.kind === "heading") sayHeading(own, levelOf(inner));
    walk.lines.splice(walk.lines.indexOf(inner, at), 1);
    return undefined;
  }
  for (const inner of all) if (inner.kind === "heading") sayHeading(own, levelOf(inner));
  const name = all.reduce((said, inner) => (said && `${said} `) + inner.name, "");
  own.name = name || tidy(around(element, "")) || writtenBeside(element);
  const before = walk.lines[at - 1];
  if (!name && before && before.kind === "text" && own.name && before.name === own.name && !all.length) walk.lines.splice(--at, 1);
  // An empty box that listens all over the page is there for whatever else is on it.
  if (!own.name && !own.states.includes("droppable") && listensForAll(element)) return drop();
  walk.lines.length = at + 1;
  for (const { place } of rows) walk.rows.delete(place ?? "");
  if (own.name && joinShape(own, before)) return undefined;
  if (!own.name && coversItsControl(element, own.depth)) return drop();
  if (!own.name && before && before.role === "canvas" && isSurfaceOf(element, /** @type {Element} */ (before.node))) return drop();
  if (!own.name) own.states = withHint(element, "clickable", own.states);
  for (const point of pointsOf(element)) {
    const line = newLine("interactive", point, keep(point), "clickable", "", withHint(point, "clickable", []), own.far, own.port);
    walk.lines.push({ ...line, depth: own.depth + 1 });
  }
}

/** Whether an element without words lies over all of the control that it is in, as what draws the ripple of a click: a click there is the control's. @param {Element} element @param {number} depth of its line */
function coversItsControl(element, depth) {
  const control = depth ? walk.lines.findLast((line) => line.depth < depth) : null;
  if (!control?.node || control.kind !== "interactive" || !holds(control.node, element) || query(element, "svg,img,i,canvas")) return false;
  if (control.role === "clickable" && !hasHand(control.node)) return false;
  const [own, box] = [rectOf(element), rectOf(control.node)];
  return own.width >= box.width - 2 && own.height >= box.height - 2;
}

/** Whether a listener is there for what is in an element rather than for the element: at an application's root. @param {Element} element */
function listensForAll(element) {
  if (attribute(element, "onclick") !== null || Number(attribute(element, "tabindex") ?? -1) >= 0) return false;
  return !hasHand(element) && (bases.has(element) || fillsPage(element));
}

/** Whether an element is most of the page, or of what is seen of it. @param {Element} element */
function fillsPage(element) {
  const [box, page] = [rectOf(element), parentNode(element) === body() ? body() : null];
  return box.width * box.height > innerWidth * innerHeight * 0.6 || (!!page && box.height >= rectOf(page).height * 0.6);
}

/** Make elements of the texts in what listens for them, where they stand in boxes that are alike: one of them is meant by a click. @param {Element} element @param {number} at its line's place */
function nameAlike(element, at) {
  const inner = walk.lines.slice(at + 1).filter((line) => !walk.echoes.has(line));
  const lines = inner.filter(({ kind }) => kind !== "interactive" && kind !== "heading");
  if (hasHand(element) || lines.some(({ kind }) => kind !== "text")) return false;
  const boxes = lines.map(({ node }) => node && Array.from(outward(node)).find((outer) => outer !== element && holds(element, outer) && hasTwin(outer)));
  if (new Set(boxes).size < 2 || boxes.some((box) => !box)) return false;
  const controls = inner.filter(({ kind }) => kind === "interactive");
  const inBoxes = controls.filter(({ node }) => node && boxes.some((box) => box && holds(box, node)));
  // Lines of a drawing lead from box to box; above the items of a list its field may stand.
  if (!controls.every((control) => inBoxes.includes(control) || control.node instanceof SVGGeometryElement || LEADING.has(control.role))) return false;
  for (const control of inBoxes) control.depth++;
  boxes.forEach((box, i) => becomeClickable(/** @type {Line} */ (lines[i]), /** @type {Element} */ (box)));
  return true;
}

/** What elements that are alike have in common. @param {Element} element */
const kindOf = (element) => `${localName(element)} ${firstWord(attribute(element, "class"))}`;

/** Whether a brother of an element is of its kind. @param {Element} element */
function hasTwin(element) {
  const kind = kindOf(element);
  return (kind === "li " || !kind.endsWith(" ")) && childrenOf(/** @type {Element} */ (parentNode(element))).some((other) => other !== element && kindOf(other) === kind);
}

/** @param {Line} line @param {Element} node */
const becomeClickable = (line, node) => Object.assign(line, { kind: "interactive", node, id: keep(node), role: "clickable", name: cut(line.name, LONGEST_NAME), states: [] });

/** Make elements of the children of what takes drops: they may be dragged one by one. @param {Element} element @param {number} at its line's place */
function nameItems(element, at) {
  /** The first line of each child. @type {Map<Element, Line>} */
  const items = new Map();
  for (const line of walk.lines.slice(at + 1)) {
    const child = Array.from(outward(line.node)).find((outer) => flatParent(outer) === element);
    if (child && !items.has(child) && !walk.echoes.has(line)) items.set(child, line);
  }
  if (items.size < 2) return false;
  const kinds = Array.from(items.keys(), kindOf);
  const isLone = (/** @type {string} */ kind) => kinds.indexOf(kind) === kinds.lastIndexOf(kind);
  const forFiles = query(element, "input[type=file]") !== null;
  // What is written above items, or in a zone for files, is none.
  const named = [...items].filter(([child]) => !/^(?:h\d|p)$/.test(localName(child)) && !(forFiles && isLone(kindOf(child))));
  for (const [child, line] of named) if (line.kind === "text" || line.kind === "heading") becomeClickable(line, child);
  return named.length > 0;
}

/** @param {Element} element @param {Open} frame @param {string} role */
function enterClickable(element, frame, role) {
  flush();
  frame.start = walk.lines.length;
  openClickable(frame, frame.start);
  const own = walk.lines[frame.start];
  if (own && own.node === element && role && !/^(?:generic|form|region|group)$/.test(role)) own.role = role;
  return frame;
}

const WITHOUT_ADDRESS = "a:not([href],[name],[id])";

/** Whether an element is one of several, in what listens for them all: script focuses them, or each has other data. @param {Element} element */
function isItemOfListener(element) {
  const outer = /** @type {Element} */ (parentNode(element));
  const isFocused = attribute(element, "tabindex") !== null;
  const listening = walk.open.slice(-MOST_UP_TO_LISTENER).find((frame) => listensItself(frame.element) && (isFocused || !fillsPage(frame.element)));
  // A link without an address is there for a script.
  if (listening && matches(element, WITHOUT_ADDRESS)) return queryAll(listening.element, WITHOUT_ADDRESS).length > 1 && !isBlank(textContent(element));
  if (!listening || !isElement(outer) || childElementCount(outer) < (isFocused ? 2 : LEAST_ITEMS) || query(element, isFocused ? CONTROLS : "*")) return false;
  const first = /** @type {Element} */ (outer.firstElementChild);
  const other = /** @type {Element} */ (first === element ? element.nextElementSibling : first);
  if (isFocused) return attribute(other, "tabindex") !== null;
  const isData = (/** @type {string} */ name) => /^data-(?!test)/.test(name) && attribute(other, name) !== null && attribute(other, name) !== attribute(element, name);
  return _getAttributeNames.call(element).some(isData);
}

/** Whether something beside its role makes a region clickable: a tab stop alone is there to scroll it by keys. @param {Element} element @param {string} role */
function hasPlainHandler(element, role) {
  if (bases.has(element) && listensForAll(element)) return false;
  return /^(?:listitem|article)$/.test(role) ? hasHandler(element) : /^(?:group|figure|region)$/.test(role) && (listensItself(element) || takesDrops(element));
}
