/** What lies over what, and one line for any element. */

/** The part of a box that lies in the view; of no size or less where it does not. @param {{left: number, top: number, right: number, bottom: number}} box */
const partInView = ({ left, top, right, bottom }) => ({ left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight) });

/** A box as it is sent. @param {DOMRect} box */
const sidesOfBox = ({ left, top, width, height }) => [left, top, width, height];
/** Whether anything of a box lies in the view. @param {DOMRect} box */
const isInView = (box) => box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;

/** The innermost element drawn at a point of the view. @param {number} x @param {number} y @returns {Element | null} */
function at(x, y) {
  let element = /** @type {Element | null} */ (_elementFromPoint.call(document, x, y));
  for (let inner = element; inner; ) {
    element = inner;
    inner = shadowOf(element)?.elementFromPoint(x, y) ?? null;
    if (inner === element) break;
  }
  return element;
}

/** Whether a click that hits `hit` reaches `element`. @param {Element} element @param {Element | null} hit */
function reaches(element, hit) {
  if (!hit) return false;
  if (holds(element, hit)) return true;
  const label = Array.from(outward(hit)).find((outer) => outer instanceof HTMLLabelElement);
  if (label) return label.control !== null && holds(element, label.control);
  // A field that is not drawn lies over what is drawn in its stead.
  return localName(hit) === "input" && Number(styleOf(hit).opacity) === 0 && holds(/** @type {Node} */ (flatParent(hit)), element);
}

const MOST_COVER_TESTS = 200;
const LEAST_COVER_TESTS = 12;
/** How many lines name what covers them; of more, what covers says it, or they only say that they are covered. */
const FIRST_COVERED = 3;
/** So few lines beside what covers all others are named as not covered. */
const MOST_FREE = 4;
const LONGEST_COVER = 40;
const COVERS = "covers the rest of the view";
/** Hit tests are slow where an element has thousands of children: milliseconds after which the rest goes untested. */
const COVER_TIME = 6;
/** The same where something does cover: which lines it leaves free is asked of more of them. */
const COVERED_TIME = 40;

/** Mark what lies in the view under something else. @param {Line[]} lines @returns {Veil | null} what fills the view, if anything does */
function markCovered(lines) {
  let tests = 0;
  /** What an element that was hit belongs to. @type {Map<Element, Element>} */
  const covers = new Map();
  /** The lines under each thing that covers. @type {Map<Element, Line[]>} */
  const under = new Map();
  /** The elements that have a line: asked for only where something covers. @type {Map<Element, Line> | null} */
  let shown = null;
  /** @type {Line[]} */
  const free = [];
  /** The elements under each that was hit instead. @type {Map<Element, Element[]>} */
  const hits = new Map();
  const begun = now();
  let isCut = false;
  const inView = withParts(lines).filter((line) => line.far === 0 && line.kind === "interactive");
  // Every eighth first, so that the first of them speak for the whole view.
  const order = [...Array(8).keys()].flatMap((first) => inView.filter((_, i) => i % 8 === first));
  for (const line of order) {
    if (!line.node) continue;
    isCut = ++tests > MOST_COVER_TESTS || (tests > LEAST_COVER_TESTS && now() - begun > (shown ? COVERED_TIME : COVER_TIME));
    if (isCut) break;
    const element = line.node;
    const { left, right, top, bottom } = partInView(rectOf(element));
    if (right - left < 2 || bottom - top < 2) continue;
    const hit = at((left + right) / 2, (top + bottom) / 2);
    free.push(line);
    const isFree = (/** @type {Element | null} */ found) => reaches(element, found) || (!!found && holds(found, element));
    if (!hit || isFree(hit) || isOwnPart(hit, element)) continue;
    const [across, down] = [(right - left) / 8, (bottom - top) / 4];
    if (isFree(at(left + across, top + down)) || isFree(at(right - across, bottom - down)) || !isUnclipped(element)) continue;
    addTo(hits, hit, element);
    shown ??= new Map(withParts(lines).flatMap((owned) => (owned.node && (owned.kind === "interactive" || owned.kind === "region") ? [[owned.node, owned]] : [])));
    const cover = covers.get(hit) || coverOf(hit, element, shown);
    covers.set(hit, cover);
    free.pop();
    addTo(under, cover, line);
  }
  if (!shown) return null;
  for (const [cover, covered] of under) sayCovered(cover, covered, free, shown, isCut);
  return veilOver(hits, free);
}

/** What fills the view: the elements around what it covers, and the outermost of those that it does not cover. @typedef {{around: Set<Element>, above: Set<Element>}} Veil */

/** @param {Map<Element, Element[]>} hits what lies over others, and over which @param {Line[]} free @returns {Veil | null} */
function veilOver(hits, free) {
  /** @type {Set<Element>} */
  const around = new Set();
  for (const [hit, covered] of hits) {
    const own = new Set(covered.flatMap((element) => [...outward(element)]));
    // What lies over a part of the view, as a message in its corner, may lie over a dialog.
    if (branchOf(hit, own).some(fillsAll)) for (const outer of own) around.add(outer);
  }
  if (!around.size) return null;
  const above = new Set();
  for (const element of [...hits.keys(), ...free.map(({ node }) => node)]) if (element) above.add(branchOf(element, around).pop());
  return { around, above };
}

/** Whether an element lies over all of the view. @param {Element} part */
function fillsAll(part) {
  if (matches(part, ":modal")) return true;
  const { left, top, right, bottom } = partInView(rectOf(part));
  if (right - left < innerWidth * 0.95 || bottom - top < innerHeight * 0.95 || isThrough(part)) return false;
  const [{ position }, page] = [styleOf(part), scroller()];
  // Where the page cannot be scrolled, what is placed on it stays in the view, too.
  return position === "fixed" || (position === "absolute" && !!page && roomOf(page, false) < LEAST_SCROLL && roomOf(page, true) < LEAST_SCROLL);
}

/** An element and those around it, the innermost first, up to those that hold what is covered. @param {Element} element @param {Set<Element>} around */
function branchOf(element, around) {
  const branch = [...outward(element)];
  const end = branch.findIndex((outer) => around.has(outer));
  return end < 0 ? branch : branch.slice(0, end);
}

/** Whether a line lies behind what fills the view. @param {Line} line @param {Veil} veil */
function isBehind({ node, kind, far }, { around, above }) {
  if (!node) return false;
  const branch = branchOf(node, around);
  if (branch.some((part) => above.has(part))) return false;
  if (far !== 0 || kind === "interactive" || !branch.length) return true;
  const box = rectOf(node);
  const hit = at((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return !hit || !holds(node, hit);
}

/** Say that lines are covered: once, where all that is in the view is. @param {Element} cover @param {Line[]} covered @param {Line[]} free @param {Map<Element, Line>} shown @param {boolean} isCut whether there may be more that is free */
function sayCovered(cover, covered, free, shown, isCut) {
  const own = shown.get(cover);
  const by = own ? reference(keep(cover)) : coverName(cover, shown);
  const beside = covered.length > FIRST_COVERED ? free.filter((line) => !line.node || !holds(cover, line.node)) : free;
  if (covered.length > Math.max(FIRST_COVERED, 2 * beside.length) && beside.length <= MOST_FREE) {
    const save = isCut ? " but a part" : beside.length ? ` but ${beside.map((line) => reference(line.id)).join(" ")}` : "";
    const first = own || /** @type {Line} */ (covered[0]);
    first.marks = [...first.marks, own ? `${COVERS}${save}` : `covered by ${by}, like the rest of the view${save}`];
    return;
  }
  covered.forEach((line, i) => {
    line.marks = [...line.marks, i < FIRST_COVERED ? `covered by ${by}` : "covered"];
  });
}

/** What something that has no line is called: what it is, and its name or the first thing in it that has one. @param {Element} cover @param {Map<Element, Line>} shown */
function coverName(cover, shown) {
  const { role, name } = describe(cover);
  const text = cut(plainName(name), LONGEST_COVER);
  if (text) return `${role} ${quoted(text)}`;
  for (const element of shown.keys()) if (holds(cover, element)) return `${role} around ${reference(keep(element))}`;
  return role;
}

/** Whether nothing around an element clips it where its middle is: what is hit there lies over it, rather than beside it. @param {Element} element */
function isUnclipped(element) {
  const box = partInView(rectOf(element));
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const [inner, whole] = [body(), rootElement()];
  for (const outer of outward(flatParent(element))) {
    if (outer === inner || outer === whole) break;
    const style = styleOf(outer);
    if (style.overflowX === "visible" && style.overflowY === "visible") continue;
    const clip = rectOf(outer);
    if (x < clip.left || x > clip.right || y < clip.top || y > clip.bottom) return false;
  }
  return true;
}

/** What a covering element belongs to: a dialog, a line, a control, or the outermost box without `element`. @param {Element} hit @param {Element} element @param {Map<Element, Line> | null} shown the elements that have a line @returns {Element} */
function coverOf(hit, element, shown = null) {
  let best = hit;
  let [known, control] = /** @type {(Element | undefined)[]} */ ([]);
  for (const outer of outward(hit)) {
    if (holds(outer, element)) break;
    const role = roleOf(outer);
    if (role === "dialog" || role === "alertdialog") return outer;
    if (shown?.has(outer)) known ??= outer;
    if (ROLE_KINDS.get(role) === "interactive" || (ROLE_KINDS.get(role) === "region" && REGIONS.has(role))) control ??= outer;
    best = outer;
  }
  const own = known || control;
  if (own) return own;
  // A backdrop stands beside the dialog it belongs to.
  const dialog = query(best, "dialog,[role=dialog],[role=alertdialog]") || beside(best);
  return dialog && isSeen(dialog) && !holds(dialog, element) ? dialog : best;
}

/** What opens over a page and is closed again. */
const LAYERS = "dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true],[popover],[role=menu],[role=listbox]";
const CLOSING = /^(?:close|cancel|dismiss|no,? thanks|not now|got it|schlie(?:ß|ss)en|abbrechen|fermer|annuler|cerrar|cancelar|[×✕✖✗xX])(?:$|[\s,.:!])/i;
const CLOSERS = "[data-dismiss],[data-bs-dismiss],.close,.btn-close,[class*=close-button],[class*=close-btn],[class*=CloseButton]";
const MOST_BUTTONS = 60;

/** Whether a menu or list is a part of the page, and not open on top of it. @param {Element} layer */
const standsInPage = (layer) =>
  (localName(layer) === "details" && !(/** @type {HTMLDetailsElement} */ (layer).open)) ||
  (matches(layer, "[role=menu],[role=listbox]") && !matches(layer, "[popover],[aria-modal=true]") && Array.from(outward(layer, 4)).every((outer) => /static|relative/.test(styleOf(outer).position)));

/** What is open on top of the page, beside an element and not around it; null where nothing is. @param {Element} element @returns {Element | null} */
function layerOver(element) {
  let found = /** @type {Element | null} */ (null);
  for (const layer of allIn(null, LAYERS)) {
    if (holds(layer, element) || (found && holds(found, layer)) || !isSeen(layer) || standsInPage(layer)) continue;
    const { left, top, width, height } = rectOf(layer);
    const hit = width < 2 || height < 2 ? null : at(left + width / 2, top + Math.min(height / 2, 40));
    if (hit && holds(layer, hit)) found = layer;
  }
  return found;
}

/** What is in the way of an element: the thing that was hit, or what is open on top of the page and has put it there. @param {Element} hit @param {Element} element */
function inTheWay(hit, element) {
  if (holds(hit, element)) return layerOver(element);
  const cover = coverOf(hit, element);
  return matches(cover, LAYERS) || tidy(textContent(cover)) ? cover : layerOver(element) || cover;
}

/** By which of its buttons something that is open may be closed. @param {Element} layer @returns {Element | null} */
function closerOf(layer) {
  const buttons = Array.from(queryAll(layer, "button,[role=button],a[href],input[type=button],input[type=submit]")).slice(0, MOST_BUTTONS);
  const seen = buttons.filter(isSeen);
  return seen.find((button) => CLOSING.test(plainName(describe(button).name))) || seen.find((button) => matches(button, CLOSERS)) || null;
}

/** A refusal that names what is in the way, and by what it may be closed. @param {Element} by @returns {Problem} */
function coveredBy(by) {
  const closer = closerOf(by);
  return { problem: "covered", by: wire(describe(by), false), close: closer && wire(describe(closer), false), layer: matches(by, LAYERS) };
}

/** A dialog right after a backdrop. @param {Element} backdrop */
function beside(backdrop) {
  let next = nextSibling(backdrop);
  while (next && !isElement(next)) next = nextSibling(next);
  return next && (matches(next, "dialog,[role=dialog],[role=alertdialog]") ? next : query(next, "[role=dialog],[role=alertdialog]"));
}

/** The control that a click on an element reaches: itself or what is around it. @param {Element} hit */
function controlAround(hit) {
  const among = (/** @type {Map<number, Line>} */ lines) => {
    for (const outer of outward(hit)) for (const one of [outer, controlOf(outer)]) if (lines.get(idOf(one))?.kind === "interactive") return one;
    return null;
  };
  const reported = among(reportedById());
  if (reported) return reported;
  // It may have come since the page was reported last.
  const lines = read(null);
  const found = among(linesById(lines));
  release(lines);
  return found;
}

/** A line for any one element, known or not. @param {Element} element @returns {Line} */
function describe(element) {
  const tag = localName(element);
  const role = roleOf(element).replace(NO_ROLE, "");
  // A native list is a field, whose content is its value.
  const what = tag === "select" ? "interactive" : ROLE_KINDS.get(role);
  const known = reportedById().get(idOf(element));
  const id = keep(element);
  // What these are called depends on what is in them, as it was read.
  if (known && (known.kind !== "interactive" || known.role === "clickable" || known.role === "row" || CELLS.has(known.role))) {
    return { ...known, depth: 0, marks: [], node: element };
  }
  const control = role ? element : controlOf(element);
  if (control !== element) {
    const controlTag = localName(control);
    const controlRole = roleOf(control);
    const name = nameOf(control, controlTag, controlRole);
    return bareLine("interactive", id, controlRole, cut(name, LONGEST_NAME), statesOf(control, controlTag, controlRole, name), element);
  }
  labelsOfRoot = new WeakMap();
  const shown = role || (isEditor(element, tag) ? "textbox" : known ? known.role : hasHandler(element) ? (tag === "a" ? "link" : "clickable") : tag);
  const whole = element === rootElement() || element === body();
  let name = nameOf(element, tag, shown) || (whole ? tidy(String(_title.call(document))) : "");
  if (tag === "input" && !isSeen(element)) name = seenBelow(element, name);
  if (!name && !whole && !FIELDS.has(shown) && tag !== "select") name = tidy(contentOf(element, element, 0, false));
  // Of a box that holds much the first thing that has a title speaks.
  if (!what && !whole && shown === tag && name.length > 80) name = cut(tipOf(element, true) || name, 80);
  if (what === "region") {
    const title = query(element, "h1,h2,h3,h4,[role=heading],[class*=title]") || element;
    name = nameOf(element, tag, role) || cut(tidy(textContent(title)), 80);
    return bareLine("region", id, shown, cut(name, LONGEST_NAME), [], element);
  }
  const states = statesOf(element, tag, shown, name);
  const hinted = name ? states : withHint(element, HINTED.has(shown) || FIELDS.has(shown) ? shown : "clickable", states);
  return bareLine("interactive", id, shown, cut(name, LONGEST_NAME), hinted, element);
}
