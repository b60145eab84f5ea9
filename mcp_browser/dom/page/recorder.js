/**
 * What a person does in this document, reported as it happens, while somebody records it.
 *
 * Only what the browser itself says of mouse and keyboard counts. Of trusted events that a page can cause (`click()` on a
 * label, a text command) only those count that follow such input.
 */

/** Where reports go: nothing of the page's can call it. @type {((report: string) => void) | null} */
let reportTo = null;
/** Whether the next click is to choose what it is on instead of doing what it does, and whether that click is under way. */
let [choosing, chosen] = [false, false];
/** A button of the mouse that is down. @type {{ control: Element, x: number, y: number, drags: boolean } | null} */
let pressing = null;
/** The click before, which makes this one a double click where it is close. */
let clicked = { at: -Infinity, x: 0, y: 0, count: 0 };
/** The field that is being filled in, and what was reported of it last. @type {{ field: Element, value: string | null } | null} */
let filling = null;
/** The field that a person has worked last, and when. @type {{ field: Element | null, at: number }} */
let worked = { field: null, at: -Infinity };
/** A key that may turn out to be part of a text, and how much of it there was before. @type {{ field: Element, length: number } | null} */
let breaking = null;
/** What a click or key is about to check, if the page lets it. @type {Element | null} */
let checking = null;

/** What the mouse was moved over last, since no button was pressed, and when. @type {{ control: Element, at: number } | null} */
let moved = null;
/** By moving over what the page has shown or changed an element. @type {WeakMap<Node, Element>} */
const revealedBy = new WeakMap();
/** What was pressed last. @type {Element | null} */
let pressedLast = null;
/** Whether it has been recorded here before, so that the listeners are there. */
let hasRecorded = false;

/** How far the mouse goes in a drag at least, CSS pixels; how long after a click another one makes it a double click, milliseconds. */
const LEAST_DRAG = 8;
const DOUBLE_CLICK = 500;
/** How long after what a person does a field's input counts as theirs, milliseconds. */
const WORKED_FOR = 1000;
const LONGEST_BREAK = 100;
/** How long after the mouse has come to an element what the page changes is its effect, milliseconds. */
const HOVERED_FOR = 800;
const LONGEST_FILLED = 100_000;
const BUTTON_NAMES = ["left", "middle", "right"];
const MODIFIERS = ["Alt", "Control", "Meta", "Shift"];
/** Keys that do nothing by themselves, or that the browser takes: what it does is seen otherwise. */
const UNREPORTED = set("Alt Control Meta Shift AltGraph CapsLock NumLock ScrollLock Fn Process Unidentified Dead F5 F12 Control+r Control+Shift+r Control+l Control+t Control+w Alt+ArrowLeft Alt+ArrowRight");
const EDITING = set("Control+a Control+c Control+v Control+x Control+y Control+z Control+Shift+z Meta+a Meta+c Meta+v Meta+x Meta+z Shift+Insert");
const IN_LINE = set("Enter Tab Escape ArrowUp ArrowDown PageUp PageDown");

/** @param {string} kind @param {Record<string, unknown>} [facts] */
const report = (kind, facts = {}) => reportTo?.(encode({ kind, doc: documentKey, top: window === window.top, ...facts }));

/** What an element can be found again by now, counted among all that can be seen. @param {Element} element */
function identified(element) {
  const known = record(element);
  const lines = read(null);
  const twins = withParts(lines).filter((line) => line.node !== element && line.role === known.role && plainName(line.name) === known.name).length;
  release(lines);
  let closed = false;
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) closed ||= root.mode === "closed";
  return { ...known, id: keep(element), twins, secret: isSecret(element), closed };
}

/** The element of an event, in closed shadow trees too; and the control that it belongs to. @param {MouseEvent} event */
function struck(event) {
  typed = traced = treeNow = null;
  const hit = at(event.clientX, event.clientY) || /** @type {Element} */ (event.composedPath()[0]);
  const option = isElement(hit) && closest(hit, "select");
  return { hit, control: isElement(hit) ? option || controlAround(hit) || hit : hit };
}

/** Where in an element a point is, in parts of its sides. @param {Element} element @param {MouseEvent} event */
function pointIn(element, { clientX, clientY }) {
  const box = rectOf(element);
  return [(clientX - box.left) / (box.width || 1), (clientY - box.top) / (box.height || 1)];
}

/** @param {MouseEvent | KeyboardEvent} event */
const held = (event) => MODIFIERS.filter((name) => event.getModifierState(name));
/** Whether what an element holds is reported once it has changed. @param {Element} element */
const isChosenFrom = (element) => localName(element) === "select";
/** @param {Element} element */
const isSliderField = (element) => localName(element) === "input" && inputType(element) === "range";

/** What a field holds. @param {Element} field */
const contentIn = (field) => valueOf(field).value.replace(valueKind(field) === "rich" ? /\n$/ : /^$/, "").slice(0, LONGEST_FILLED);

/** Say what a field holds by now, if that is new. */
function reportFilled() {
  if (!filling) return;
  const { field, value: before } = filling;
  const value = contentIn(field);
  if (value === before) return;
  filling.value = value;
  report("filled", { id: keep(field), value });
}

/** A person works a field: what it holds from now on is theirs. @param {Element} field @param {boolean} [changed] whether it has changed already */
function workField(field, changed = false) {
  worked = { field, at: now() };
  if (filling?.field === field) return;
  reportFilled();
  filling = { field, value: changed ? null : contentIn(field) };
  report("filling", { element: identified(field) });
}

/** @param {Event} event */
function onPointerOver(event) {
  if (!(event instanceof PointerEvent) || !event.isPrimary || event.buttons) return;
  const { control } = struck(event);
  if (isElement(control) && control !== moved?.control) moved = { control, at: now() };
  // Before anything is pressed: then there is no time.
  for (const sheet of sheetsOf(document)) addedBy(sheet);
}

const hoverWatch = new MutationObserver((records) => {
  const by = moved && now() - moved.at < HOVERED_FOR ? moved.control : null;
  for (const { type, target, addedNodes } of records) {
    for (const node of type === "childList" ? addedNodes : [target]) by ? revealedBy.set(node, by) : revealedBy.delete(node);
  }
});

/** What the mouse was moved over so that an element is there to be pressed, the first one first. @param {Element} control */
function hoveredFor(control) {
  /** @type {Element[]} */
  const found = [];
  let isLaidOver = false;
  addedIn = new WeakMap();
  for (const outer of outward(control)) {
    const by = revealedBy.get(outer);
    // What a style shows because the mouse is over something else.
    const { shown } = addedTo(rootOf(outer));
    const around = outer.previousElementSibling || flatParent(outer);
    isLaidOver ||= /absolute|fixed/.test(styleOf(outer).position);
    if (shown.length > 0 && matches(outer, `:is(${shown.join(",")})`)) {
      if (isElement(around)) found.unshift(controlAround(around) || around);
    } else if (by && isConnected(by) && !holds(by, control) && isLaidOver) found.unshift(by);
  }
  return new Set(found);
}

/** @param {Event} event */
function onPointerDown(event) {
  if (!(event instanceof PointerEvent) || !event.isPrimary) return;
  reportBreak();
  reportFilled();
  const { hit, control } = struck(event);
  if (control !== pressedLast) for (const by of hoveredFor(control)) report("hovered", { element: identified(by) });
  if (choosing) {
    choosing = false;
    chosen = true;
    const { value, secret } = valueOf(control);
    const state = isCheck(control) ? /** @type {HTMLInputElement} */ (control).checked : secret ? null : value;
    const isField = FILLED.has(valueKind(control)) || isCheck(control) || isChosenFrom(control);
    report("chosen", { element: identified(control), value: isField ? state : null, text: tidy(String((hit instanceof HTMLElement && _innerText.call(hit)) || "")) });
    return;
  }
  moved = null;
  pressedLast = control;
  filling = null;
  worked = { field: control, at: now() };
  // Where nothing around it is one thing to click, the place in it counts.
  const exact = localName(hit) === "canvas" || (control === hit && valueKind(hit) === "none" && childElementCount(hit) > 0);
  pressing = { control: exact ? hit : control, x: event.clientX, y: event.clientY, drags: false };
  checking = isCheck(control) ? control : null;
  if (isChosenFrom(control)) {
    pressing = null;
    if (event.button === 0 && isSecondClick(event) && hit !== control) report("noted", { note: `a double click on the option ${quoted(tidy(textContent(hit)))} of a list` });
  } else if (isSliderField(control)) {
    pressing = null;
    workField(control);
  } else report("down", { element: identified(pressing.control), button: BUTTON_NAMES[event.button] ?? "left", modifiers: held(event), point: pointIn(pressing.control, event), exact });
}

/** Whether this is the second click in a row at a place. @param {PointerEvent} event */
function isSecondClick({ clientX: x, clientY: y, timeStamp }) {
  const isNear = Math.hypot(x - clicked.x, y - clicked.y) < LEAST_DRAG && timeStamp - clicked.at < DOUBLE_CLICK;
  clicked = { at: timeStamp, x, y, count: isNear && clicked.count === 1 ? 2 : 1 };
  return clicked.count === 2;
}

/** @param {Event} event */
function onPointerUp(event) {
  if (!(event instanceof PointerEvent) || !event.isPrimary || !pressing) return;
  const { x, y, control } = pressing;
  pressing = null;
  if (Math.hypot(event.clientX - x, event.clientY - y) >= LEAST_DRAG) {
    const end = struck(event);
    if (!getSelection()?.isCollapsed && end.hit !== control) report("cancelled");
    else report("dropped", { element: identified(end.control), same: end.control === control, point: pointIn(end.control, event) });
    return;
  }
  const count = isSecondClick(event) ? 2 : 1;
  if (checking !== control) return report("clicked", { count });
  // Unless the page forbids it, the box has changed by then.
  pause(0).then(() => checking === control && ((checking = null), report("clicked", { count })));
}

/** @param {Event} event */
function onDrag(event) {
  if (event.type === "dragstart" && pressing) pressing.drags = true;
  if (event.type === "dragstart" || (event.type === "pointercancel" && pressing?.drags)) return;
  if (event.type === "drop" && event instanceof DragEvent) {
    const { control } = struck(event);
    if (event.dataTransfer?.files.length) report("noted", { note: "files were dropped from outside of the browser" });
    else report("dropped", { element: identified(control), same: false, point: pointIn(control, event) });
  } else if (pressing) report("cancelled");
  pressing = null;
}

/** @param {KeyboardEvent} event */
function nameOfKey(event) {
  const key = event.key === " " ? "Space" : event.key;
  const modifiers = held(event).filter((name) => name !== "Shift" || key.length > 1 || event.ctrlKey || event.altKey || event.metaKey);
  if (event.getModifierState("AltGraph")) return key;
  return [...modifiers, modifiers.length && key.length === 1 ? key.toLowerCase() : key].join("+");
}

/** @param {Event} event */
function onKeyDown(event) {
  if (!(event instanceof KeyboardEvent)) return;
  typed = traced = treeNow = null;
  const field = deepActive() || body();
  const name = nameOfKey(event);
  if (!field || UNREPORTED.has(name) || MODIFIERS.includes(event.key)) return;
  reportBreak();
  if (event.isComposing || event.key === "Process") return workField(field);
  const kind = valueKind(field);
  if (isCheck(field) && (name === "Space" || name.startsWith("Arrow"))) return void (checking = field);
  if (isChosenFrom(field) && name !== "Tab") return;
  const isLetter = event.key.length === 1 && !/Control|Alt|Meta/.test(name);
  const isText = kind === "text" || kind === "picker" || kind === "rich" || isSliderField(field) || isSecret(field);
  const isMultiline = kind === "rich" || localName(field) === "textarea";
  if (isText) {
    const stays = isMultiline ? name !== "Escape" && !/Control|Alt|Meta|^Shift\+Enter|^(?:Enter|Tab)$/.test(name) : !IN_LINE.has(name) && !/Control|Alt|Meta/.test(name);
    const isMoved = kind === "picker" || isSliderField(field) ? !/^(?:Enter|Tab|Escape)$/.test(name) : inputType(field) === "number" && /^Arrow(?:Up|Down)$/.test(name);
    if (isLetter || EDITING.has(name) || stays || isMoved) return workField(field);
  } else if (EDITING.has(name) && kind !== "keys") return;
  reportFilled();
  filling = null;
  report("pressed", { key: isLetter ? event.key : name, letter: isLetter, element: field === body() ? null : identified(field) });
  if (!isMultiline || !/^(?:Shift\+)?(?:Enter|Tab)$/.test(name)) return;
  breaking = { field, length: contentIn(field).length };
  pause(LONGEST_BREAK).then(reportBreak);
}

/** In a text a line end or an indent is part of it, unless the page has made something else of the key. */
function reportBreak() {
  if (!breaking) return;
  const { field, length } = breaking;
  breaking = null;
  if (!isConnected(field) || contentIn(field).length <= length) return;
  report("unpressed");
  workField(field, true);
  reportFilled();
}

/** @param {Event} event */
function onInput(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return;
  const active = deepActive();
  // An event may come from within a field, such as from a line of an editor.
  const field = valueKind(target) === "rich" && active && holds(active, target) ? active : target;
  const kind = valueKind(field);
  const isChange = event.type === "change";
  const input = /** @type {HTMLInputElement} */ (field);
  if (kind === "check") {
    const isMeant = checking === field || (checking && inputType(field) === "radio" && attribute(checking, "name") === attribute(field, "name"));
    if (!isChange || !isMeant) return;
    checking = null;
    report("checked", { element: identified(field), checked: input.checked });
  } else if (kind === "file") {
    if (isChange) report("files", { element: identified(field), names: Array.from(input.files ?? [], (file) => file.name) });
  } else if (field instanceof HTMLSelectElement) {
    const options = Array.from(field.selectedOptions, (option) => tidy(option.label || option.text));
    if (isChange) report("selected", { element: identified(field), options, secret: isSecret(field) });
  } else if (event.type === "input" && (keysHeld?.element === field || (worked.field === field && now() - worked.at < WORKED_FOR))) {
    if (breaking?.field === field) return reportBreak();
    workField(field, true);
    reportFilled();
  }
}

/** What a person enters by no key. */
function onEntering() {
  const field = deepActive();
  if (field && FILLED.has(valueKind(field))) workField(field);
}

/** A click that has chosen something does nothing else. @param {Event} event */
function swallow(event) {
  if (!chosen || !event.isTrusted) return;
  if (event.type === "click" || event.type === "auxclick") pause(0).then(() => (chosen = false));
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @type {Record<string, (event: Event) => void>} */
const RECORDED = {
  pointerover: onPointerOver, pointerdown: onPointerDown, pointerup: onPointerUp,
  pointercancel: onDrag, dragstart: onDrag, drop: onDrag, dragend: onDrag,
  keydown: onKeyDown, input: onInput, change: onInput, paste: onEntering, compositionstart: onEntering,
  focusout: reportFilled, pagehide: reportFilled,
};

const SWALLOWED = "pointerdown mousedown pointerup mouseup click auxclick dblclick contextmenu";

/** Report what a person does by this function of the world from now on, or nothing more. @param {string | null} binding */
function recordPerson(binding) {
  const isNew = !reportTo;
  reportTo = binding ? /** @type {any} */ (globalThis)[binding] : null;
  if (!reportTo) hoverWatch.disconnect();
  else if (isNew) {
    const listeners = Object.entries(RECORDED).map(([type, take]) => /** @type {[string, (event: Event) => void]} */ ([type, (event) => void (reportTo && event.isTrusted && !(chosen && type !== "pointerdown") && take(event))]));
    for (const [type, listener] of hasRecorded ? [] : [...listeners, ...each(SWALLOWED, swallow)]) _addEventListener.call(window, type, listener, true);
    hasRecorded = true;
    hoverWatch.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "style", "hidden", "open", "aria-hidden", "data-state"] });
    report("began");
  }
  return { doc: documentKey, frames: frameElements() };
}

/** Let the next click choose what it is on, or do what it does. @param {boolean} wanted */
function chooseNext(wanted) {
  choosing = wanted;
  return { doc: documentKey, frames: frameElements() };
}
