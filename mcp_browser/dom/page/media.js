/** Pictures and their maps, whose areas have no boxes of their own; meters, frames, canvases. */

const SMALLEST_FRAME = 5;

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterImage(element, tag, role, frame) {
  if (attribute(element, "usemap")) enterMap(element);
  // What stands in a picture is seen as well.
  const read = WORDS.test(textContent(element)) && !LEAVES.has(tag) ? frame : null;
  if (walk.inside !== null) return read;
  const name = nameOf(element, tag, role);
  const at = handOver(element, tag) ? underHand() : null;
  if (at === -1) {
    const far = farOf(element, false);
    if (far === far) pushControl(element, "img", name, statesOf(element, tag, "img", name), far, false);
    return null;
  }
  if (at !== null) discover(at);
  const from = walk.lines.length;
  if (name) pushImage(element, name);
  return read && walk.lines.length > from ? enterInside(name, frame) : read;
}

/** The links of the image's map. @param {Element} image */
function enterMap(image) {
  const called = CSS.escape((attribute(image, "usemap") || "").replace(/^#/, ""));
  const map = called && queryAll(rootOf(image), `map[name="${called}"], map[id="${called}"]`)[0];
  const far = map ? farOf(image, false) : NOWHERE;
  if (!map || far !== far) return;
  flush();
  for (const area of queryAll(map, "area")) {
    const role = explicitRole(area) || nativeRole(area, "area");
    if (!role && !hasHandler(area)) continue;
    const name = nameOf(area, "area", role);
    pushControl(area, role || "clickable", name, statesOf(area, "area", role, name), far, area === walk.active);
  }
}

/** @param {Element} element @param {string} name */
function pushImage(element, name) {
  if (walk.row) return addToCell(cellText(cut(name, LONGEST_NAME)));
  flush();
  const far = farOf(element, false);
  if (far === far) walk.lines.push(newLine("image", element, idOf(element), "image", cut(name, LONGEST_NAME), [], far));
}

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterMeter(element, tag, role, frame) {
  const read = LEAVES.has(tag) ? null : frame;
  if (walk.inside !== null) return read;
  const { position, value: own } = /** @type {HTMLProgressElement} */ (element);
  const native = tag === "progress" ? (position >= 0 ? `${Math.round(position * 100)}%` : "busy") : tag === "meter" ? String(own) : null;
  const value = native ?? (attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow") || "");
  const text = tidy(`${role} ${nameOf(element, tag, role)} ${value}`);
  if (walk.row) addToCell(cellText(text));
  else flush();
  const far = walk.row ? NOWHERE : farOf(element, false);
  if (far !== far) return read;
  walk.lines.push(newLine("text", element, idOf(element), "", text, [], far));
  return read && enterInside(text, read);
}

/** @param {Element} element @param {string} tag */
function enterFrame(element, tag) {
  flush();
  const box = rectOf(element);
  if (box.width < SMALLEST_FRAME || box.height < SMALLEST_FRAME) return null;
  const far = distance(element, box, false);
  if (far !== far || isTrap(element)) return null;
  const id = keep(element);
  const source = shortened(attribute(element, "src") || "");
  walk.lines.push(newLine("region", element, id, "iframe", cut(nameOf(element, tag, "iframe"), LONGEST_NAME), source ? [`→ ${source}`] : [], far));
  return null;
}

/** @param {Element} element @param {string} tag @param {Open} frame */
function enterCanvas(element, tag, frame) {
  if (walk.inside !== null) return null;
  const box = rectOf(element);
  if (box.width < 20 || box.height < 20) return null;
  const far = distance(element, box, false);
  if (far !== far) return null;
  flush();
  frame.start = walk.lines.length;
  pushControl(element, "canvas", nameOf(element, tag, ""), [], far, element === walk.active);
  // A grid that is drawn holds its cells for screen readers.
  for (const row of queryAll(element, "tr,[role=row]")) {
    const cells = Array.from(queryAll(row, CELL), (cell) => cut(tidy(textContent(cell)), LONGEST_TEXT).replace(CELL_SIGNS, "\\$&"));
    if (cells.some((cell) => cell !== "")) walk.lines.push(newLine("text", row, idOf(row), "", cut(`| ${cells.join(" | ")} |`, LONGEST_TEXT * 2), [], far));
  }
  return null;
}

/** What is seen of an element: an area of a map is a piece of the image that uses the map. @param {Element} element @returns {Element} */
function bodyOf(element) {
  if (localName(element) !== "area") return element;
  const map = closest(element, "map");
  const name = map && (attribute(map, "name") || attribute(map, "id"));
  return (name && queryAll(rootOf(element), `img[usemap="#${CSS.escape(name)}"]`)[0]) || element;
}

/** The box of an area in the view. @param {Element} area @param {Element} image @returns {DOMRect} */
function areaBox(area, image) {
  const box = rectOf(image);
  const numbers = (attribute(area, "coords") || "").split(/[\s,;]+/).map(Number).filter((number) => number === number);
  const [x = 0, y = 0, third = 0, fourth = 0] = numbers;
  const shape = (attribute(area, "shape") || "rect").toLowerCase();
  if (shape === "default") return box;
  if (shape.startsWith("circ")) return new DOMRect(box.left + x - third, box.top + y - third, 2 * third, 2 * third);
  const points = shape.startsWith("poly") ? numbers : [x, y, third, fourth];
  const [across, down] = [0, 1].map((odd) => points.filter((_, i) => i % 2 === odd));
  const [left, top] = [Math.min(...(across ?? [])), Math.min(...(down ?? []))];
  return new DOMRect(box.left + left, box.top + top, Math.max(...(across ?? [])) - left, Math.max(...(down ?? [])) - top);
}
