/** Making an element ready for an action, or saying what is in the way. */

/** The control behind a label, or the element itself. @param {Element} element @returns {Element} */
const controlOf = (element) => (localName(element) === "label" && /** @type {HTMLLabelElement} */ (element).control) || element;

/** @param {Element} element */
function valueKind(element) {
  const tag = localName(element);
  if (tag === "input") {
    const type = inputType(element);
    if (TEXT_TYPES.has(type)) return "text";
    if (PICKER_TYPES.has(type)) return handleOf(element) ? "slider" : "picker";
    if (type === "checkbox" || type === "radio") return "check";
    if (type === "file") return "file";
    return "none";
  }
  if (surfaceOf(element, tag) || (element instanceof HTMLElement && _editContext.call(element))) return "keys";
  if (tag === "textarea") return "text";
  if (tag === "select") return "select";
  if ((element instanceof HTMLElement && _isContentEditable.call(element)) || isEditor(element, tag) || inDesign()) return "rich";
  return SLIDERS.has(explicitRole(element)) && attribute(element, "aria-valuenow") !== null ? "slider" : "none";
}

/** @param {Element} element */
const isCheck = (element) => valueKind(element) === "check";

/** The kinds of what takes a value from a text. */
const FILLED = set("text picker rich keys slider");
const SLIDERS = set("slider spinbutton scrollbar separator");
const MOST_UP_TO_TRACK = 4;

const MOST_UP_TO_HANDLE = 3;
/** The handle that takes the keys of a range which only keeps its value: it holds nothing else to use. @param {Element} element */
function handleOf(element) {
  if (localName(element) !== "input" || inputType(element) !== "range" || attribute(element, "tabindex") !== "-1") return null;
  const handle = Array.from(outward(flatParent(element), MOST_UP_TO_HANDLE)).find((outer) => Number(attribute(outer, "tabindex") ?? -1) >= 0);
  return handle && queryAll(handle, CONTROLS).length === 1 ? handle : null;
}

/** Where a slider stands, and on what: its track from its own middle, CSS pixels. @param {Element} element */
function slider(element) {
  ask("nodes");
  const range = /** @type {Partial<HTMLInputElement>} */ (localName(element) === "input" ? element : {});
  const [now, min, max] = [["now", range.value], ["min", range.min], ["max", range.max]].map(([name, own]) => parseFloat(own || attribute(element, `aria-value${name}`) || ""));
  const vertical = attribute(element, "aria-orientation") === "vertical";
  const own = rectOf(element);
  const sizeOf = (/** @type {DOMRect} */ box) => (vertical ? box.height : box.width);
  let track = own;
  for (const outer of outward(flatParent(element), MOST_UP_TO_TRACK)) if (sizeOf(track) < 3 * (sizeOf(own) || 1)) track = rectOf(outer);
  // A track from which the handle was to be clicked is the slider itself.
  const isTrack = sizeOf(own) > 3 * (vertical ? own.width : own.height);
  if (isTrack) track = own;
  const start = vertical ? track.bottom - (own.top + own.bottom) / 2 : track.left - (own.left + own.right) / 2;
  return { now, min, max, text: attribute(element, "aria-valuetext") || "", vertical, start, length: vertical ? -track.height : track.width, isTrack };
}

/** @param {Element} element */
function checkedState(element) {
  if (localName(element) === "input" && isCheck(element)) return /** @type {HTMLInputElement} */ (element).checked;
  const [inner, other] = queryAll(element, "input[type=checkbox],input[type=radio],[aria-checked]");
  if (inner && !other && !attribute(element, "aria-checked")) return checkedState(inner);
  const given = attribute(element, "aria-checked") || attribute(element, "aria-pressed") || attribute(element, "aria-selected") || (saysItself(element, "checked") && "true");
  return given === "true" ? true : given === "false" || given === "mixed" ? false : null;
}

/** The parts of an element's boxes that lie in the view. @param {Element} element @returns {{left: number, top: number, right: number, bottom: number}[]} */
function boxesInView(element) {
  const body = bodyOf(element);
  let rects = body === element ? Array.from(_getClientRects.call(element)) : [areaBox(element, body)];
  if (!rects.some((rect) => rect.width > 0 && rect.height > 0)) rects = Array.from(contentsOf(element).getClientRects());
  return rects.slice(0, 4).map(partInView).filter((box) => box.right - box.left >= 1 && box.bottom - box.top >= 1);
}

/** @param {Element} element @returns {DOMRect} the box of an element, or of what is in it where it has none */
function boxOf(element) {
  const body = bodyOf(element);
  if (body !== element) return areaBox(element, body);
  const box = rectOf(element);
  if (box.width > 0 && box.height > 0) return box;
  const style = styleOf(element);
  if (style.overflowX !== "visible" && style.display !== "inline" && style.display !== "contents") return box;
  const inner = contentsOf(element).getBoundingClientRect();
  return inner.width > 0 && inner.height > 0 ? inner : box;
}

const POINTS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.08, 0.5], [0.92, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]];

/**
 * A point of the view where a click reaches the element.
 * @param {Element} element @param {boolean} anything take the middle, whatever lies there
 * @returns {{x: number, y: number, hit: Element | null} | null} with `hit` the element in the way; null where no part is in the view
 */
function pointOn(element, anything) {
  const seen = pointsOnLine(element).filter(({ x, y }) => x > 0 && y > 0 && x < innerWidth && y < innerHeight);
  for (const { x, y } of seen) if (reaches(element, at(x, y))) return { x, y, hit: null };
  const boxes = boxesInView(element);
  if (!boxes.length && seen[0]) boxes.push(new DOMRect(seen[0].x, seen[0].y));
  const first = boxes[0];
  if (!first) return null;
  let blocker = /** @type {Element | null} */ (null);
  let onInner = /** @type {{x: number, y: number, hit: null} | null} */ (null);
  // A button beside the text of an element does something else, such as removing it.
  const buttons = anything || localName(element) === "label" || matches(element, BUTTONS) ? [] : Array.from(queryAll(element, `${BUTTONS},a[href],input,select,textarea`));
  const isBeside = buttons.length > 0 && besideControls(element) !== "";
  for (const { left, top, right, bottom } of boxes) {
    for (const [fx = 0, fy = 0] of POINTS) {
      const [x, y] = [left + (right - left) * fx, top + (bottom - top) * fy];
      const hit = at(x, y);
      const isReached = anything || reaches(element, hit);
      if (!isReached) blocker ||= hit;
      else if (isBeside && hit && buttons.some((button) => holds(button, hit))) onInner ||= { x, y, hit: null };
      else return { x, y, hit: null };
    }
  }
  return onInner || { x: (first.left + first.right) / 2, y: (first.top + first.bottom) / 2, hit: blocker };
}

/** Points on the line that a drawing's element draws: the middle of the box around a curve is beside it. @param {Element} element */
function pointsOnLine(element) {
  const line = element instanceof SVGGeometryElement ? element : element instanceof SVGGElement ? query(element, "path,line,polyline") : null;
  const matrix = line instanceof SVGGeometryElement ? line.getScreenCTM() : null;
  if (!(line instanceof SVGGeometryElement) || !matrix) return [];
  const length = line.getTotalLength();
  return [0.5, 0.25, 0.75, 0.4, 0.6].map((part) => line.getPointAtLength(length * part).matrixTransform(matrix));
}

/** Whether an overlay fills so much of the view that scrolling moves nothing out from under it. @param {Element} hit @param {Element} element */
const fillsView = (hit, element) => [coverOf(hit, element), hit].map((part) => partInView(rectOf(part))).some(({ left, right, top, bottom }) => (right - left) * (bottom - top) > innerWidth * innerHeight * 0.5);

const PLACING = ["transform", "translate", "left", "top", "right", "bottom", "marginLeft", "marginTop", "width", "height"];
/** The animations and transitions that move the element or something around it. @param {Element} element */
function movedBy(element) {
  const movesBox = (/** @type {KeyframeEffect} */ effect) => effect.getKeyframes().some((keyframe) => PLACING.some((property) => property in keyframe));
  return running(animations()).filter(({ effect, target, end }) => holds(target, element) && (end !== Infinity || movesBox(effect)));
}

const PATIENCE = 1000;
/** So long what shows once it is scrolled to may take to do so, milliseconds: an animation may have a delay. */
const SHOWN_WITHIN = 2000;
const WITHOUT_BOX = new Set(["upload", "read"]);
/** Within so many milliseconds a script that moves an element does so once more: timers may be rarer than frames. */
const SCRIPTED_STEP = 50;
/** So long a busy machine may take for a frame, milliseconds; nothing moves before it comes. */
const LATEST_FRAME = 500;
const WITHOUT_HIT = new Set(["upload", "read", "fill", "select"]);

/** Make an element ready for an action, or say why it is not. @param {number} id @param {string} purpose @param {boolean} force skip the checks that a person could not pass @returns {Promise<object>} */
async function ready(id, purpose, force) {
  const start = now();
  let scrolled = false;
  if (purpose !== "read") beforeInput();
  for (;;) {
    // What stays transparent after all is there to be clicked.
    const late = scrolled && now() - start >= SHOWN_WITHIN;
    const answer = await tryReady(id, purpose, force, late);
    const problem = /** @type {Problem} */ (answer).problem;
    // The mouse that comes now may start something before any button or key goes down.
    if (!problem && purpose !== "read") {
      const { x, y } = /** @type {{ x: number, y: number }} */ (answer);
      return { ...answer, listens: beginInput() || [at(x, y), deepActive()].some(hearsPress), learnt: learntAnew() };
    }
    if (!problem || /** @type {Problem} */ (answer).lasting || now() - start >= PATIENCE + (scrolled ? SHOWN_WITHIN : 0)) return answer;
    scrolled ||= !!(/** @type {Problem} */ (answer).scrolled);
    await pause(50);
  }
}

const PRESS_HANDLERS =
  "pointerover pointerenter pointermove pointerout pointerleave pointerdown mouseover mouseenter mousemove mouseout mouseleave mousedown " +
  "touchstart focus blur input change selectstart selectionchange";
const ON_PRESS = PRESS_HANDLERS.split(" ").map((type) => `[on${type}]`).join();
/** Whether a press on an element, or the loss of its focus, may run a script that the hook has not heard of: an attribute's, or a frame's. @param {Element | null} element */
const hearsPress = (element) => isFrame(element) || Array.from(outward(element)).some((outer) => matches(outer, ON_PRESS));

/** What is seen in the place of a range that is clipped to nothing: the nearest box around it. @param {Element} range */
function thumbOf(range) {
  const isDrawn = (/** @type {DOMRect} */ { width, height }) => width > 2 && height > 2;
  return Array.from(outward(flatParent(range), MOST_UP_TO_TRACK)).find((outer) => isDrawn(rectOf(outer)) && isSeen(outer));
}

const TICK_CLASS = /(?:^|[\s_-])check-?box(?:$|[\s_-])/i;
const LARGEST_TICK = 40;
/** The icon in an item, and in none within it, that is drawn as a box to tick and says nothing of its state. @param {Element} item */
function tickOf(item) {
  const isTick = (/** @type {Element} */ one) => TICK_CLASS.test(attribute(one, "class") || "") && isBlank(textContent(one)) && isSeen(one) && rectOf(one).width <= LARGEST_TICK && closest(one, "[role=treeitem]") === closest(item, "[role=treeitem]");
  const ticks = Array.from(queryAll(item, "[class*=check i]")).filter(isTick);
  return ticks.every((one) => holds(/** @type {Element} */ (ticks[0]), one)) ? (ticks[0] ?? null) : null;
}

/** @param {number} id @param {string} purpose @param {boolean} force @param {boolean} faint whether it may be transparent @returns {Promise<object>} */
async function tryReady(id, purpose, force, faint) {
  const asked = now();
  const element = byId(id);
  if (!element) return STALE;
  const control = controlOf(element);
  const tag = localName(control);
  const kind = valueKind(control);
  const line = describe(element);
  const facts = {
    node: wire(line, false),
    tag,
    type: tag === "input" ? inputType(control) : "",
    kind,
    checked: checkedState(control),
    multiple: !!(/** @type {HTMLInputElement} */ (control).multiple),
    focused: deepActive() === control,
    secret: keyPlace(control).password,
    code: kind === "rich" && !(/** @type {HTMLElement} */ (control).spellcheck),
  };
  if (purpose === "upload") {
    const inner = tag === "input" ? [control] : queryAll(element, "input[type=file]");
    const file = /** @type {HTMLInputElement} */ (inner[0]);
    if (inner.length !== 1 || inputType(file) !== "file") return { problem: "not-file", lasting: true, ...facts };
    if (isDisabled(file)) return { problem: "disabled", ...facts };
    return { ...facts, target: keep(file), multiple: file.multiple, x: 0, y: 0, width: 0, height: 0 };
  }
  if (purpose === "read" || force) {
    const { left, top, width, height } = boxOf(element);
    if (purpose === "read") return { ...facts, x: left + width / 2, y: top + height / 2, width, height };
    if (!boxesInView(element).length) bringIntoView(element);
    const point = pointOn(element, true);
    return point ? { ...facts, x: point.x, y: point.y, width, height } : { problem: "no-size", ...facts };
  }
  if (tag === "option" && purpose === "click" && !isInOpenList(element)) return { problem: "option", lasting: true, ...facts };
  if (purpose === "fill" && !FILLED.has(kind)) return { problem: "not-editable", lasting: true, ...facts };
  if (purpose !== "hover" && (isDisabled(control) || closest(control, '[aria-disabled="true"]'))) return { problem: "disabled", ...facts };
  if (/click|check|select/.test(purpose) && isBarred(control)) return { problem: "barred", ...facts };
  const isReadonly = () => (attribute(control, "readonly") !== null && TYPED.has(tag) && kind !== "slider") || attribute(control, "aria-readonly") === "true";
  if (purpose === "fill" && isReadonly()) return { problem: "readonly", ...facts };
  const inert = Array.from(outward(element)).find((outer) => attribute(outer, "inert") !== null);
  // A button takes the clicks on its inert part, such as the text field that shows its value.
  const taker = inert && purpose !== "fill" ? closest(inert, BUTTONS) : null;
  if (inert && !taker) {
    const layer = layerOver(element);
    return layer ? { ...coveredBy(layer), ...facts } : { problem: "inert", ...facts };
  }
  const thumb = facts.type === "range" && (kind === "slider" || isClippedAway(element)) ? thumbOf(element) : null;
  const tick = purpose === "check" && (facts.checked === null || line.role === "treeitem") ? tickOf(element) : null;
  const surface = thumb || tick || surfaceOf(element, tag);
  if (!surface && !faint && !isSeen(bodyOf(element)) && styleOf(element).display !== "contents") {
    const scrolled = waitsForScroll(bodyOf(element));
    if (scrolled) bringIntoView(element);
    const how = hiddenBy(element, false);
    if (how) return { problem: "hidden", how, scrolled, ...facts };
  }
  let target = surface || taker || element;
  let box = boxOf(target);
  if ((box.width < 2 || box.height < 2) && !pointsOnLine(element).length) {
    // What is hidden from the eye has a dot where nobody clicks.
    const label = labelsOf(control).find(isSeen);
    const isNothing = !label && (box.width < 1 || box.height < 1);
    // A component's field may be as wide as its text, none.
    const field = isNothing ? boxOfField(control) : element;
    if (isNothing && (field === control || !isSeen(field))) return { problem: "no-size", ...facts };
    target = label || field;
    box = boxOf(target);
  }
  const scripted = isStirred();
  if (scripted || movedBy(target).length) {
    const begun = now();
    // An animation begins once a frame was drawn; on a busy machine that may be late.
    while (movedBy(target).some(({ pending }) => pending) && now() - begun < LATEST_FRAME) await frame();
    const before = boxOf(target);
    let drawn = false;
    do drawn = (await frame()) || drawn;
    while ((scripted && now() - begun < SCRIPTED_STEP) || (!drawn && now() - begun < LATEST_FRAME));
    box = boxOf(target);
    if (String(sidesOfBox(before)) !== String(sidesOfBox(box))) return { problem: "moving", ...facts };
  }
  const free = WITHOUT_HIT.has(purpose);
  let point = pointOn(target, free);
  if (!point) {
    bringIntoView(target);
    point = pointOn(target, free);
  } else if (point.hit && (!isUnclipped(target) || holds(point.hit, target) || !fillsView(point.hit, target))) {
    const [x, y] = [scrollX, scrollY];
    bringIntoView(target);
    point = pointOn(target, free);
    if (point && point.hit) scrollTo({ left: x, top: y, behavior: "instant" });
  }
  const label = !point && target === element && labelsOf(control).find(isSeen);
  if (label) {
    bringIntoView(label);
    point = pointOn(label, free);
  }
  if (point && broughtAt >= asked && purpose !== "read") {
    const text = textContent(target);
    await frame();
    if (!isConnected(element)) {
      // A list may draw its rows anew when it is scrolled: the one of the same text in the same place stands for it.
      const anew = Array.from(outward(at(point.x, point.y))).find((one) => localName(one) === localName(element) && textContent(one) === text);
      if (!anew || isBlank(text) || Marked.id(anew, id) !== id) return STALE;
      refer(id, anew);
      return { problem: "moving", ...facts };
    }
    // Of a row that is used for another one by now, what was meant is where it was.
    if (textContent(target) === text) point = pointOn(target, free);
  }
  box = boxOf(target);
  if (!point) return { problem: "off-screen", ...facts };
  if (point.hit && !isOwnPart(point.hit, thumb || taker || element)) {
    const labelled = (target === element ? labelsOf(control).filter(isSeen) : []).map((label) => pointOn(label, false)).find((one) => one && !one.hit);
    // No mouse reaches a box that is clipped to nothing, keys do.
    if (!labelled && kind === "check" && !fillsView(point.hit, element) && isClippedAway(element)) return { ...facts, x: point.x, y: point.y, width: box.width, height: box.height, reached: false };
    if (!labelled) {
      const through = styleOf(target).pointerEvents === "none";
      if (through && now() - broughtAt < SCROLL_REST) return { problem: "moving", ...facts };
      const over = through || !holds(point.hit, element) ? inTheWay(point.hit, element) : null;
      // A page may let the mouse through all of it while something is open.
      if (over && (!through || matches(over, LAYERS))) return { ...coveredBy(over), ...facts };
      // A component's field that lies unseen under what the component draws: a click there is meant for it.
      const under = isReplaceable(element, localName(element)) && rootOf(point.hit) === rootOf(element);
      const meant = through && holds(point.hit, element) && (under || takesItsClicks(element));
      if (through && !meant) return { problem: "no-pointer", ...facts };
      if (!under && !meant) return { problem: "clipped", ...facts };
      const how = hiddenBy(element, true);
      if (how) return { problem: "hidden", how, ...facts };
    } else point = labelled;
  }
  return { ...facts, x: point.x, y: point.y, width: box.width, height: box.height };
}

/** Whether nothing of an element is drawn, by its own style or that of what is close around it. @param {Element} element */
const isClippedAway = (element) => Array.from(outward(element, 4)).some(isTrap);

/** What hides an element; "" where nothing does, or a control of no opacity is used all the same. @param {Element} element @param {boolean} clipping whether it may also be cut off to nothing */
function hiddenBy(element, clipping) {
  const tag = localName(element);
  const used = isReplaceable(element, tag) || isFieldOnTop(element, tag);
  for (const outer of outward(element)) {
    const style = styleOf(outer);
    if (style.display === "none") return "display: none";
    if (outer === element) {
      if (style.visibility !== "visible") return `visibility: ${style.visibility}`;
      if (used) continue;
    } else if (style.contentVisibility === "hidden") return "content-visibility: hidden";
    if (Number(style.opacity) === 0 && !faintness(outer)) return "opacity: 0";
    if (clipping && (isTrap(outer) || (outer !== element && isCollapsed(outer)))) return "cut off to nothing";
  }
  return _checkVisibility.call(element) || styleOf(element).display === "contents" ? "" : "in something that is closed";
}

/** What keeps a frame from being seen; "" where nothing does. @param {Element} element */
function frameHiddenBy(element) {
  const box = rectOf(element);
  if (box.width < SMALLEST_FRAME || box.height < SMALLEST_FRAME) return hiddenBy(element, true) || "without size";
  const leftward = styleOf(/** @type {Element} */ (rootElement())).direction === "rtl";
  const isOff = box.bottom + scrollY <= 0 || (box.right + scrollX <= 0 && !leftward);
  return isOff && !scrolledAway(element) ? "off the page" : hiddenBy(element, true);
}

/** Where the page of a frame begins in this page, its size there, and how much larger or smaller it is drawn. @param {Element} element */
function contentOfFrame(element) {
  const box = rectOf(element);
  const { offsetWidth, offsetHeight, clientLeft, clientTop } = /** @type {HTMLElement} */ (element);
  const style = styleOf(element);
  const [left = 0, top = 0, right = 0, bottom = 0] = [style.paddingLeft, style.paddingTop, style.paddingRight, style.paddingBottom].map(parseFloat);
  const [scale, down] = [offsetWidth ? box.width / offsetWidth : 1, offsetHeight ? box.height / offsetHeight : 1];
  const [width, height] = [_clientWidth.call(element) - left - right, _clientHeight.call(element) - top - bottom];
  return { left: box.left + (clientLeft + left) * scale, top: box.top + (clientTop + top) * down, width, height, scale, down };
}

/** Where a point of a frame's page lies in this page, whether the frame is shown, and whether anything covers the point. @param {Element} element @param {number} x @param {number} y @param {string} purpose */
async function framePoint(element, x, y, purpose) {
  const how = frameHiddenBy(element);
  if (how) return { problem: "hidden", how: `its frame is ${how}` };
  const place = () => {
    const { left, top, scale, down } = contentOfFrame(element);
    return { x: left + x * scale, y: top + y * down, scale };
  };
  let point = place();
  const inView = () => point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
  if (!WITHOUT_BOX.has(purpose)) {
    if (!inView()) {
      bringIntoView(element);
      point = place();
      if (!inView()) scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: "instant" });
      // The browser routes input to a frame of another process only once the frame was drawn at its place.
      await frame();
      await frame();
      point = place();
    }
    if (!WITHOUT_HIT.has(purpose)) {
      const hit = at(point.x, point.y);
      if (hit && !holds(hit, element)) return { ...coveredBy(inTheWay(hit, element) || hit), doc: documentKey };
    }
  }
  return point;
}
