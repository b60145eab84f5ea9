/** Parts of drawings: nodes, the points and lines that join them; and what lies over a canvas. */

const STROKES = "line,path,polyline";
const SHAPES = "rect,circle,ellipse,polygon,path";
/** A shape no larger than this on the edge of one twice as large is a point to join it by, CSS pixels. */
const LARGEST_POINT = 24;
/** So far beyond its end something is looked for that a line leads to, CSS pixels. */
const BEYOND = 8;
const PART_ATTRIBUTE = /(?:^|-)(?:port|type|name|id)$/;
const MOST_UP_TO_NODE = 4;

/** Whether what is drawn may have no height or no width: a straight line does, a box of that size is not drawn. @param {Element} element */
const isDrawnFlat = (element) => element instanceof SVGElement && (matches(element, STROKES) || query(element, STROKES) !== null);

/** Whether a shape of no opacity takes the mouse for one that is drawn along it, as a broad line does for a thin one. @param {Element} element @param {CSSStyleDeclaration} style */
function isHitArea(element, style) {
  const group = parentNode(element);
  if (!(element instanceof SVGGeometryElement) || style.pointerEvents === "none" || !(group instanceof SVGGElement)) return false;
  const box = rectOf(element);
  return Array.from(group.children).some((shape) => {
    if (shape === element || !(shape instanceof SVGGeometryElement) || !isSeen(shape)) return false;
    const { left, top, right, bottom } = rectOf(shape);
    return Math.abs(left + right - box.left - box.right) <= NEAR && Math.abs(top + bottom - box.top - box.bottom) <= NEAR;
  });
}

/** Whether a part of a drawing has the cursor of something to click, which what it stands in has not. @param {Element} element */
function isPointedAt(element) {
  const outer = parentNode(element);
  return element instanceof SVGGElement && isElement(outer) && styleOf(element).cursor === "pointer" && styleOf(outer).cursor !== "pointer";
}

/** What is written in the group of a drawing that a shape stands in, where it is one text. @param {Element} element */
function writtenBeside(element) {
  const group = element instanceof SVGElement ? parentNode(element) : null;
  if (!isElement(group) || localName(group) !== "g") return "";
  const [text, other] = queryAll(group, "text");
  return text && !other ? tidy(textContent(text)) : "";
}

/** The part of a drawing that an element stands in, with its text. @param {Element | null} element @returns {[Element | null, string]} */
function nodeAround(element) {
  for (const node of outward(element, MOST_UP_TO_NODE)) {
    if (localName(node) === "svg") break;
    const text = tidy(textContent(node));
    const texts = node instanceof SVGElement ? Array.from(queryAll(node, "text,foreignObject")).filter((one) => !isBlank(textContent(one))) : [];
    if (text) return texts.length > 1 || text.length > LONGEST_WORD ? [null, ""] : [node, text];
  }
  return [null, ""];
}

/** The largest shape of a node. @param {Element} node */
const bodyBox = (node) => Array.from(queryAll(node, SHAPES), rectOf).reduce((most, box) => (box.width * box.height > most.width * most.height ? box : most), new DOMRect());

/** On which side of a box the middle of a smaller one lies; "" where it lies on none. @param {DOMRect} box @param {DOMRect} outer */
function sideOf(box, outer) {
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const near = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ size) => Math.abs(a - b) <= size / 2 + NEAR;
  if (near(x, outer.left, box.width)) return "left";
  if (near(x, outer.right, box.width)) return "right";
  return near(y, outer.top, box.height) ? "top" : near(y, outer.bottom, box.height) ? "bottom" : "";
}

/** The points on the edge of a node from which lines are drawn. @param {Element} node */
function pointsOf(node) {
  if (!(node instanceof SVGGElement)) return [];
  const outer = bodyBox(node);
  return Array.from(queryAll(node, SHAPES)).filter((shape) => {
    const box = rectOf(shape);
    const size = Math.max(box.width, box.height);
    return size >= TINY && size <= LARGEST_POINT && size * 2 <= Math.min(outer.width, outer.height) && sideOf(box, outer) !== "" && styleOf(shape).pointerEvents !== "none" && isSeen(shape);
  });
}

/** Give a shape without a name that of the text drawn over it, which needs no line then. @param {Line} own the last line, the text's @param {Line | undefined} shape the line before */
function joinShape(own, shape) {
  const [node, body] = [own.node, shape?.node];
  if (!shape || !(body instanceof SVGElement) || shape.role !== "clickable" || shape.name || !node || !closest(node, "svg")) return false;
  const [inner, outer] = [rectOf(node), rectOf(body)];
  const [x, y] = [(inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2];
  if (x < outer.left || x > outer.right || y < outer.top - NEAR || y > outer.bottom + NEAR) return false;
  shape.name = own.name;
  shape.states = shape.states.filter((state) => !state.startsWith("hint="));
  walk.lines.pop();
  return true;
}

/** What a part of a drawing is that has no name: what joins what, or what its author calls it, and where. @param {Element} element */
function drawnAs(element) {
  if (!(element instanceof SVGElement) || localName(element) === "svg") return "";
  const line = element instanceof SVGGeometryElement ? element : query(element, STROKES);
  const length = line instanceof SVGGeometryElement && matches(line, STROKES) && styleOf(line).fill === "none" ? line.getTotalLength() : 0;
  const matrix = length > BEYOND && line instanceof SVGGeometryElement ? line.getScreenCTM() : null;
  if (matrix && line instanceof SVGGeometryElement) {
    const ends = [0, length].map((end) => {
      const [last, inner] = [end, Math.abs(end - BEYOND)].map((part) => line.getPointAtLength(part).matrixTransform(matrix));
      return last && inner ? nodeAround(at(2 * last.x - inner.x, 2 * last.y - inner.y))[1] : "";
    });
    if (ends[0] && ends[1]) return `line from ${ends[0]} to ${ends[1]}`;
  }
  const [node, text] = nodeAround(element);
  const side = node && text && sideOf(rectOf(element), bodyBox(node));
  const parts = Array.from(outward(element, MOST_UP_TO_NODE));
  const end = parts.findIndex((outer) => outer === node || localName(outer) === "svg");
  const given = parts.slice(0, end < 0 ? parts.length : end).flatMap((outer) => _getAttributeNames.call(outer).filter((name) => PART_ATTRIBUTE.test(name)).map((name) => attribute(outer, name) || ""));
  const called = given.find((value) => value && value.length <= LONGEST_WORD && !GENERATED.test(value)) || "";
  return [called, side ? `${side} of ${text}` : matrix ? "line" : ""].filter(Boolean).join(", ");
}

const MOST_UP_TO_LAYER = 3;
/** Whether what a mouse hits instead of a canvas lies over all of it as its own surface. @param {Element} hit @param {Element} canvas */
function isSurfaceOf(hit, canvas) {
  const around = Array.from(outward(flatParent(canvas), MOST_UP_TO_LAYER)).find((outer) => holds(outer, hit));
  const node = around && Array.from(outward(hit)).find((outer) => flatParent(outer) === around);
  if (!node || matches(hit, CONTROLS)) return false;
  const [own, box] = [rectOf(node), rectOf(canvas)];
  return own.width * own.height >= (box.width * box.height) / 2;
}
