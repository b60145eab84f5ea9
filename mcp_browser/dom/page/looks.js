/** What changes in looks alone: styles, pictures, drawings. No line contains any of it. */

/** What a changed attribute is reported as. */
const LOOKS = new Map([
  ...each("class", "class"),
  ...each("style", "style"),
  ...each("src srcset poster", "picture"),
  ...each("d points transform viewBox fill stroke x y cx cy r rx ry x1 x2 y1 y2 href xlink:href", "drawing"),
]);
const DATA_STATE = /^data-.*(?:state|select|active|check|open|current|highlight|pressed|focus|hover|range)/;
/** So many elements are kept; where more change by themselves nobody could say what an action did. */
const MOST_LOOKS = 300;
const FIRST_LOOKS = 3;
const MOST_CANVASES = 3;
const MOST_EDITORS = 3;
const LARGEST_CANVAS = 4e6;
/** Sides of the picture that a canvas is shrunk to before it is compared. */
const SHRUNK = 64;
const DRAWN = set("path rect circle ellipse line polyline polygon use image text tspan g");

/** First values of attributes that have changed since the last reading, "" standing for what has been drawn. @typedef {Map<Element, Map<string, string | null>>} Looks */
/** @type {Looks} */
let lookedSince = new Map();
/** The same since the last report. @type {Looks} */
let lookedBefore = new Map();
let lookedTooMuch = false;
/** When a style or class changed last: a script may be moving things. */
let stirredAt = -Infinity;
/** So long after such a change things may still be moving, milliseconds. */
const STIRRED = 100;
const onlooker = new MutationObserver(noteLooks);

/** @param {Element} element @param {string} name @param {string | null} value */
function noteLook(element, name, value) {
  const known = lookedSince.get(element);
  if (!known) lookedSince.set(element, new Map([[name, value]]));
  else if (!known.has(name)) known.set(name, value);
}

/** @param {MutationRecord[]} records */
function noteLooks(records) {
  for (const record of records) {
    const target = /** @type {Element} */ (record.target);
    const name = record.attributeName || "";
    if (record.type === "attributes") {
      if (!LOOKS.has(name) && !DATA_STATE.test(name)) continue;
      noteLook(target, name, record.oldValue);
      if (!isSteady(target)) stirredAt = now();
    } else if (target instanceof SVGElement) for (const node of record.addedNodes) if (isElement(node) && DRAWN.has(localName(node))) noteLook(target, "", null);
    if (lookedSince.size > MOST_LOOKS) {
      onlooker.disconnect();
      lookedSince = new Map();
      lookedTooMuch = true;
      return;
    }
  }
}

/** Whether styles or classes have changed a moment ago, save those that change frame by frame. */
function isStirred() {
  noteLooks(onlooker.takeRecords());
  return now() - stirredAt < STIRRED;
}

function watchLooks() {
  lookedTooMuch = false;
  for (const root of allRoots()) onlooker.observe(root, { subtree: true, childList: true, attributeOldValue: true });
}

/** What gives the text of editors its form, and what is selected. @typedef {{forms: Map<Element, string[]>, selected: string}} Shape */
/** As it was read last, and as it was reported last; null where that is not known. @type {[Shape | null, Shape | null]} */
let [shapeRead, shapeReported] = [null, null];
const EDITABLE = "[contenteditable]:not([contenteditable=false])";
const MOST_FORMS = 1000;
const LONGEST_FORM = 40;

/** The elements that the text of an editor stands in. @param {Element} editor */
const formsOf = (editor) =>
  Array.from(queryAll(editor, "*:not(br)")).slice(0, MOST_FORMS).map((one) => {
    const style = attribute(one, "style");
    return cut(localName(one) + (style ? `[${tidy(style)}]` : ""), LONGEST_FORM);
  });

/** What came and went of them. @param {string[]} before @param {string[]} after */
function formsChanged(before, after) {
  const gone = [...before];
  const come = after.filter((form) => !gone.includes(form) || !gone.splice(gone.indexOf(form), 1));
  return [...come.map((form) => `+${form}`), ...gone.map((form) => `-${form}`)].slice(0, FIRST_LOOKS).join(" ");
}

/** @param {boolean} afresh whether the reading before this was reported */
function turnShape(afresh) {
  if (afresh) shapeReported = shapeRead;
  const editors = editorRead ? Array.from(queryAll(document, EDITABLE)).slice(0, MOST_EDITORS) : [];
  shapeRead = { forms: new Map(editors.map((editor) => [editor, formsOf(editor)])), selected: selectionOf(deepActive()) };
}

/** What canvases looked like before the last input. @type {Map<Element, number>} */
let painted = new Map();
let paintedNow = false;

/** What a canvas looks like, as a number; NaN where that cannot be known. @param {HTMLCanvasElement} canvas */
function fingerprint(canvas) {
  if (canvas.width * canvas.height > LARGEST_CANVAS) return NaN;
  try {
    const small = new OffscreenCanvas(SHRUNK, SHRUNK).getContext("2d", { willReadFrequently: true });
    if (!small) return NaN;
    // With mipmaps every pixel counts.
    small.imageSmoothingQuality = "medium";
    small.drawImage(canvas, 0, 0, SHRUNK, SHRUNK);
    let print = 0;
    for (const byte of small.getImageData(0, 0, SHRUNK, SHRUNK).data) print = (Math.imul(print, 31) + byte) | 0;
    return print;
  } catch {
    return NaN; // Without size, or with pictures of another origin.
  }
}

/** Something is about to be done to the page: from here on its looks are compared. */
function beforeInput() {
  beginInput();
  if (lookedTooMuch) watchLooks();
  notePainted();
}

/** Keep what canvases look like, to compare it after an input. */
function notePainted() {
  painted = new Map();
  paintedNow = true;
  for (const canvas of queryAll(document, "canvas")) {
    const { width, height, top, bottom } = rectOf(canvas);
    if (width < 20 || height < 20 || bottom <= 0 || top >= innerHeight) continue;
    painted.set(canvas, fingerprint(/** @type {HTMLCanvasElement} */ (canvas)));
    if (painted.size >= MOST_CANVASES) break;
  }
}

/** The fields for which a form was held back, before the last reading and since. @type {[Set<Element>, Set<Element>]} */
let refused = [new Set(), new Set()];
_addEventListener.call(window, "invalid", (event) => void refused[1].add(/** @type {Element} */ (event.composedPath()[0])), true);

/** A reading begins: what was noted before the last report is forgotten. @param {boolean} afresh whether the last reading was reported */
function turnLooks(afresh) {
  noteLooks(onlooker.takeRecords());
  if (afresh) {
    lookedBefore = new Map();
    if (!paintedNow) painted = new Map();
  }
  paintedNow = false;
  for (const [element, values] of lookedSince) lookedBefore.set(element, new Map([...values, ...(lookedBefore.get(element) || [])]));
  lookedSince = new Map();
  refused = [new Set([...(afresh ? [] : refused[0]), ...refused[1]]), new Set()];
}

/** What looks different from what was reported, the first with what is different. @param {Line[]} lines @returns {{looks: [WireLine, string][], others: number} | undefined} */
function looksChanged(lines) {
  const byId = new Map(lines.filter(({ kind }) => kind === "interactive" || kind === "region" || kind === "image").map((line) => [line.id, line]));
  /** @type {Map<Element, Set<string>>} */
  const found = new Map();
  const add = (/** @type {Element} */ element, /** @type {string} */ what) => {
    const owner = ownerOf(element, byId);
    found.set(owner, (found.get(owner) || new Set()).add(what));
  };
  for (const [editor, forms] of shapeReported ? (shapeRead?.forms ?? []) : []) {
    const before = shapeReported?.forms.get(editor);
    const formed = before ? formsChanged(before, forms) : "";
    if (formed) add(editor, formed);
  }
  for (const field of refused[0]) if (isConnected(field) && isSeen(field)) add(field, `invalid${complaint(field, localName(field))}`);
  const active = deepActive() || body();
  const selected = shapeRead?.selected;
  if (active && selected && shapeReported && selected !== shapeReported.selected) add(active, `selected ${quoted(cut(tidy(selected), LONGEST_FORM))}`);
  for (const [element, values] of lookedBefore) {
    if (!isConnected(element) || !isSeen(element)) continue;
    for (const [name, before] of values) {
      const now = attribute(element, name);
      // An empty class or style is none.
      if (name === "" || (LOOKS.has(name) ? (now || "") !== (before || "") : now !== before)) add(element, LOOKS.get(name) || name || "drawing");
    }
  }
  for (const [canvas, before] of painted) {
    const after = fingerprint(/** @type {HTMLCanvasElement} */ (canvas));
    if (before === before && after === after && before !== after) add(canvas, "painted");
  }
  if (!found.size) return undefined;
  const looks = [...found].slice(0, FIRST_LOOKS).map(([element, what]) => {
    const line = byId.get(idOf(element)) || describe(element);
    return /** @type {[WireLine, string]} */ ([wire({ ...line, depth: 0, states: [], marks: [] }, false), [...what].join(", ")]);
  });
  return { looks, others: found.size - looks.length };
}

const NEAREST_OWNER = 4;

/** What an element is reported as: the next thing around it that has a line, not a region, which holds much else; or itself. @param {Element} element @param {Map<number, Line>} byId */
const ownerOf = (element, byId) => Array.from(outward(element, NEAREST_OWNER)).find((outer) => {
  const line = byId.get(idOf(outer));
  return line && (line.kind !== "region" || outer === element);
}) || element;
