/** Pictures, meters, frames, canvases. */

const SMALLEST_FRAME = 5;

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterImage(element, tag, role, frame) {
  if (attribute(element, "usemap")) enterMap(element);
  // What stands in a picture is seen as well.
  const read = WORDS.test(textContent(element)) && !LEAVES.has(tag) ? frame : null;
  if (walk.inside !== null) return read;
  const name = nameOf(element, tag, role);
  if (handOver(element, tag)) {
    const at = underHand();
    if (at >= 0) discover(at);
    else {
      const far = farOf(element, false);
      if (far === far) pushControl(element, "img", name, statesOf(element, tag, "img", name), far, false);
      return null;
    }
  }
  const from = walk.lines.length;
  if (name) pushImage(element, name);
  return read && walk.lines.length > from ? enterInside(name, frame) : read;
}

/** The links of the image's map. @param {Element} image */
function enterMap(image) {
  const map = mapOf(image);
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
  if (walk.row) {
    addToCell(cellText(cut(name, LONGEST_NAME)));
    return;
  }
  flush();
  const far = farOf(element, false);
  if (far === far) walk.lines.push(newLine("image", element, idOf(element), "image", cut(name, LONGEST_NAME), [], far));
}

/** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterMeter(element, tag, role, frame) {
  const read = LEAVES.has(tag) ? null : frame;
  if (walk.inside !== null) return read;
  const name = nameOf(element, tag, role);
  let value = "";
  if (tag === "progress") {
    const progress = /** @type {HTMLProgressElement} */ (element);
    value = progress.position >= 0 ? `${Math.round(progress.position * 100)}%` : "busy";
  } else if (tag === "meter") value = String(/** @type {HTMLMeterElement} */ (element).value);
  else value = attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow") || "";
  const text = tidy(`${role} ${name} ${value}`);
  if (walk.row) {
    addToCell(cellText(text));
    return read;
  }
  flush();
  const far = farOf(element, false);
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
