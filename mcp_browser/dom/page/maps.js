/** Image maps: their areas have no boxes of their own. */

/** @param {Element} image */
function mapOf(image) {
  const name = (attribute(image, "usemap") || "").replace(/^#/, "");
  const root = /** @type {Document | ShadowRoot} */ (rootOf(image));
  return name ? queryAll(root, `map[name="${CSS.escape(name)}"], map[id="${CSS.escape(name)}"]`)[0] || null : null;
}

/** What is seen of an element: an area of a map is a piece of the image that uses the map. @param {Element} element @returns {Element} */
function bodyOf(element) {
  if (localName(element) !== "area") return element;
  const map = closest(element, "map");
  const name = map && (attribute(map, "name") || attribute(map, "id"));
  const root = /** @type {Document | ShadowRoot} */ (rootOf(element));
  return (name && queryAll(root, `img[usemap="#${CSS.escape(name)}"]`)[0]) || element;
}

/** The box of an area in the view. @param {Element} area @param {Element} image @returns {DOMRect} */
function areaBox(area, image) {
  const box = rectOf(image);
  const numbers = (attribute(area, "coords") || "").split(/[\s,;]+/).map(Number).filter((number) => number === number);
  const [x = 0, y = 0, third = 0, fourth = 0] = numbers;
  switch ((attribute(area, "shape") || "rect").toLowerCase()) {
    case "default":
      return box;
    case "circle":
    case "circ":
      return new DOMRect(box.left + x - third, box.top + y - third, 2 * third, 2 * third);
    case "poly":
    case "polygon": {
      const across = numbers.filter((_, i) => i % 2 === 0);
      const down = numbers.filter((_, i) => i % 2 === 1);
      const left = Math.min(...across);
      const top = Math.min(...down);
      return new DOMRect(box.left + left, box.top + top, Math.max(...across) - left, Math.max(...down) - top);
    }
    default:
      return new DOMRect(box.left + Math.min(x, third), box.top + Math.min(y, fourth), Math.abs(third - x), Math.abs(fourth - y));
  }
}

/** The focused element, through shadow roots. @returns {Element | null} */
function deepActive() {
  let element = /** @type {Element | null} */ (_activeElement.call(document));
  while (element) {
    const root = shadowOf(element);
    const inner = root && root.activeElement;
    if (!inner) break;
    element = inner;
  }
  return element === body() ? null : element;
}
