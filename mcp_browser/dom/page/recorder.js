/**
 * What a person does in this document, reported as it happens, while somebody records it.
 *
 * Only what the browser itself says of mouse and keyboard counts. Of trusted events that a page can cause (`click()` on a
 * label, a text command) only those count that follow such input.
 */

/** Where reports go: nothing of the page's can call it. @type {((report: string) => void) | null} */
let reportTo = null;
/** What the next click is to choose, instead of doing what it does. */
let choosing = false;
/** Whether the click that has chosen is still under way. */
let chosen = false;
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
  const known = identityOf(element);
  const lines = read(null);
  const twins = withParts(lines).filter((line) => line.node !== element && line.role === known.role && plainName(line.name) === known.name).length;
  release(lines);
  let closed = false;
  for (let root = rootOf(element); root instanceof ShadowRoot; root = rootOf(root.host)) closed ||= root.mode === "closed";
  const box = boxOf(element);
  return { ...known, id: keep(element), twins, url: location.href, box: [box.left, box.top, box.width, box.height], secret: isSecret(element), closed };
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
/** @param {Element} element */
const isCheck = (element) => localName(element) === "input" && valueKind(element) === "check";
/** Whether what an element holds is reported once it has changed. @param {Element} element */
const isChosenFrom = (element) => localName(element) === "select";

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

/** Whether a style shows an element because the mouse is over something else. @param {Element} element */
function isShownFromElsewhere(element) {
  const { shown } = addedTo(rootOf(element));
  return shown.length > 0 && matches(element, `:is(${shown.join(",")})`);
}

/** What the mouse was moved over so that an element is there to be pressed, the first one first. @param {Element} control */
function hoveredFor(control) {
  /** @type {Element[]} */
  const found = [];
  let isLaidOver = false;
  addedIn = new WeakMap();
  for (const outer of outward(control)) {
    const by = revealedBy.get(outer);
    if (isShownFromElsewhere(outer)) {
      const around = outer.previousElementSibling || flatParent(outer);
      if (isElement(around)) found.unshift(controlAround(around) || around);
    } else if (by && isConnected(by) && !holds(by, control) && (isLaidOver || /absolute|fixed/.test(styleOf(outer).position))) found.unshift(by);
    isLaidOver ||= /absolute|fixed/.test(styleOf(outer).position);
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

/** @param {Element} element */
const isSliderField = (element) => localName(element) === "input" && inputType(element) === "range";

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
  if (checking !== control) report("clicked", { count });
  else {
    // Unless the page forbids it, the box has changed by then.
    pause(0).then(() => checking === control && ((checking = null), report("clicked", { count })));
  }
}

/** @param {Event} event */
function onDrag(event) {
  if (event.type === "dragstart") {
    if (pressing) pressing.drags = true;
  } else if (event.type === "drop" && event instanceof DragEvent) {
    const { control } = struck(event);
    if (event.dataTransfer?.files.length) report("noted", { note: "files were dropped from outside of the browser" });
    else report("dropped", { element: identified(control), same: false, point: pointIn(control, event) });
    pressing = null;
  } else if (event.type === "dragend" || !pressing?.drags) {
    if (pressing) report("cancelled");
    pressing = null;
  }
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
  if (event.isComposing || event.key === "Process") {
    workField(field);
    return;
  }
  const kind = valueKind(field);
  if (isCheck(field) && (name === "Space" || name.startsWith("Arrow"))) {
    checking = field;
    return;
  }
  if (isChosenFrom(field) && name !== "Tab") return;
  const isLetter = event.key.length === 1 && !/Control|Alt|Meta/.test(name);
  const isText = kind === "text" || kind === "picker" || kind === "rich" || isSliderField(field) || isSecret(field);
  const isMultiline = kind === "rich" || localName(field) === "textarea";
  if (isText) {
    const stays = isMultiline ? name !== "Escape" && !/Control|Alt|Meta|^Shift\+Enter|^(?:Enter|Tab)$/.test(name) : !IN_LINE.has(name) && !/Control|Alt|Meta/.test(name);
    const isMoved = kind === "picker" || isSliderField(field) ? !/^(?:Enter|Tab|Escape)$/.test(name) : inputType(field) === "number" && /^Arrow(?:Up|Down)$/.test(name);
    if (isLetter || EDITING.has(name) || stays || isMoved) {
      workField(field);
      return;
    }
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
  const field = target instanceof Element ? deepestField(target) : null;
  if (!field) return;
  const kind = valueKind(field);
  if (kind === "check") {
    const isMeant = checking === field || (checking && inputType(field) === "radio" && attribute(checking, "name") === attribute(field, "name"));
    if (event.type !== "change" || !isMeant) return;
    checking = null;
    report("checked", { element: identified(field), checked: /** @type {HTMLInputElement} */ (field).checked });
  } else if (kind === "file") {
    if (event.type === "change") report("files", { element: identified(field), names: Array.from(/** @type {HTMLInputElement} */ (field).files ?? [], (file) => file.name) });
  } else if (field instanceof HTMLSelectElement) {
    if (event.type === "change") report("selected", { element: identified(field), options: Array.from(field.selectedOptions, (option) => tidy(option.label || option.text)), secret: isSecret(field) });
  } else if (event.type === "input" && (keysHeld?.element === field || (worked.field === field && now() - worked.at < WORKED_FOR))) {
    if (breaking?.field === field) return reportBreak();
    workField(field, true);
    reportFilled();
  }
}

/** The field of an event that comes from within it, such as from a line of an editor. @param {Element} target */
function deepestField(target) {
  if (valueKind(target) !== "rich") return target;
  const active = deepActive();
  return active && holds(active, target) ? active : target;
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

/** Report what a person does by this function of the world from now on, or nothing more. @param {string | null} binding */
function recordPerson(binding) {
  const isNew = !reportTo;
  reportTo = binding ? /** @type {any} */ (globalThis)[binding] : null;
  if (!reportTo) hoverWatch.disconnect();
  else if (isNew) {
    for (const [type, take] of hasRecorded ? [] : Object.entries(RECORDED)) {
      _addEventListener.call(window, type, (event) => void (reportTo && event.isTrusted && !(chosen && type !== "pointerdown") && take(event)), true);
    }
    for (const type of hasRecorded ? [] : ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"]) _addEventListener.call(window, type, swallow, true);
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
