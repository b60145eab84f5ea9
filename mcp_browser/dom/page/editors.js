/** Code editors: a field that nobody sees takes the keys, and what is typed is drawn beside it as lines of text. */

const LEAST_SURFACE = 40;
const MOST_UP_TO_SURFACE = 6;
const TINY = 4;
const GUTTER_CLASS = /(?:^|[\s_-])(?:gutters?|margin|line-?numbers?|line-?nos?)/i;
/** What no editor draws, save in its bar for searching: a grid or a board may keep a field for its keys, too. */
const UNDRAWN = "tr,[role=row],button,select,input:not([type=hidden])";
const SEARCH_BAR = "[class*=search],[class*=dialog]";
/** Whether what a field takes the keys for is an editor's text. @param {Element} surface */
function drawsText(surface) {
  const bars = Array.from(queryAll(surface, SEARCH_BAR));
  return !Array.from(queryAll(surface, UNDRAWN)).some((one) => isSeen(one) && !bars.some((bar) => _contains.call(bar, one)));
}
const GUTTER_TEXT = /^[\d\s.:•·+–-]*$/;

/** What a field that nobody sees takes the keys for: the nearest box around it that is no point; null for other fields. @param {Element} element @param {string} tag @returns {Element | null} */
function surfaceOf(element, tag) {
  const context = element instanceof HTMLElement && _editContext.call(element);
  if ((!context && !(element instanceof HTMLElement && tag === "textarea")) || attribute(element, "tabindex") === "-1" || attribute(element, "aria-hidden") === "true") return null;
  const box = rectOf(element);
  const drawn = box.width > TINY && box.height > TINY && isSeen(element) && !(context && isDrawnElsewhere(element, context));
  const around = flatParent(element);
  if (drawn && isElement(around) && !isPoint(rectOf(around))) return null;
  for (const outer of outward(around, MOST_UP_TO_SURFACE)) {
    if (outer === body()) break;
    const { left, right, width, height } = rectOf(outer);
    if (width < LEAST_SURFACE || height < TINY) continue;
    const beside = box.right < left - LEAST_SURFACE || box.left > right + LEAST_SURFACE;
    return beside || !isSeen(outer) ? null : outer;
  }
  return null;
}

/** Whether what an element holds by its context is not shown in it: it is empty, and holds some or lies behind the others. @param {Element} element @param {{ text: string }} context */
const isDrawnElsewhere = (element, context) => !firstChild(element) && localName(element) !== "canvas" && (context.text !== "" || Number(styleOf(element).zIndex) < 0);

/** @param {DOMRect} box */
const isPoint = (box) => box.width <= TINY && box.height <= TINY;

/** Whether an element of no size holds the field of a code editor. @param {Element} element */
function holdsKeyField(element) {
  const field = isPoint(rectOf(element)) && query(element, "textarea");
  return !!field && surfaceOf(field, "textarea") !== null;
}

/** Put the field of a code editor, the last line, before what the editor draws: text, and nothing that is clicked for itself. @param {Line} own @param {Element} surface */
function leadEditor(own, surface) {
  let first = walk.lines.length - 1;
  const within = (/** @type {Line | undefined} */ line) => !!line && line.node !== surface && _contains.call(surface, line.node);
  while (within(walk.lines[first - 1])) first--;
  const drawn = walk.lines.splice(first).filter((line) => line.kind === "text");
  for (const line of drawn) line.depth = own.depth;
  walk.lines.push(own, ...drawn);
}

/** Whether an element is part of what a code editor draws. @param {Element} element */
const isDrawnByEditor = (element) => walk.surface !== null && walk.surface !== element && _contains.call(walk.surface, element);

/** Whether an element of that class is the margin of a code editor, where nothing but numbers of lines stands. @param {Element} element @param {string} named */
const isGutter = (element, named) => GUTTER_CLASS.test(named) && GUTTER_TEXT.test(textContent(element)) && !isResizer(element);
