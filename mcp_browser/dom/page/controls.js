/** Controls and their labels. */

/** Roles that get a hint from what the author calls the element where it has no name. */
const HINTED = set("button link menuitem tab img checkbox radio switch clickable");
const LONGEST_HINT = 40;
/** A name of so few characters may be a number or a sign, of which its tooltip says more. */
const LONGEST_SIGN = 2;
const CONTROLS = "a[href],button,input,select,textarea,summary,[role=button],[role=link],[tabindex],[onclick],[contenteditable]";

/** What is no part of the name of a field whose label holds it: a calendar that has opened there. */
const BUTTONS = "button,[role=button]";

/** States, with a hint of what a control that has no name is for. @param {Element} element @param {string} role @param {string[]} states */
function withHint(element, role, states) {
  const isField = FIELDS.has(role);
  const label = isField || states.includes("type=file") ? labelBeside(element, CHECKED.has(role)) : "";
  const hint = label || (HINTED.has(role) ? hintOf(element) : isField ? tipOf(element) || tipAround(element) || calledBy(element) : role === "group" ? calledBy(element) : "");
  return hint ? [...states, hinted(hint)] : states;
}

/** @param {string} hint */
const hinted = (hint) => `hint=${quoted(cut(hint, LONGEST_HINT))}`;

const TYPED_INTO = "input:not([type=hidden]),select,textarea,[role=textbox],[role=combobox],[contenteditable]";

/** What a transparent field is called: by its name, or by what is seen where it lies. @param {Element} field @param {string} name */
function seenBelow(field, name) {
  const outer = parentNode(field);
  if (!isElement(outer) || (name && name !== NO_FILE)) return name;
  const [own, box] = [rectOf(field), rectOf(/** @type {Element} */ (outer))];
  const text = own.width * own.height * 2 >= box.width * box.height ? tidy(String(_innerText.call(/** @type {HTMLElement} */ (outer)) ?? "")) : "";
  return text && text.length <= LONGEST_HINT ? text : name;
}

const MOST_UP_TO_LABEL = 6;
/** So far above a field, or beside it, what is written there may be its label, CSS pixels. */
const NEAR_FIELD = 40;

/** What people read as the label of a field that has none: one that stands with it alone, or the short text before it; behind it for a box to tick. @param {Element} field @param {boolean} behind */
function labelBeside(field, behind = false) {
  const tied = labelAround(field, true);
  if (tied) return tied;
  for (const outer of outward(field, MOST_UP_TO_LABEL)) {
    if (outer === body() || (outer !== field && matches(outer, "form,table,[role=dialog],dialog"))) break;
    const id = attribute(outer, "id");
    const label = (id && queryAll(rootOf(outer), `label[for="${CSS.escape(id)}"]`)[0]) || (outer === field ? null : loneLabel(outer));
    const text = label && isSeen(label) ? tidy(textContent(label)) : (behind && outer === field && writtenNear(field, field, true)) || writtenNear(outer, field, false);
    if (text !== null) return !label && matches(outer, CELL) && isData(outer, text) ? "" : text;
  }
  return "";
}

const LETTER = /\p{L}/u;
/** Whether what stands in the cell before a field's is data, and not what the field is called: a number, or behind another text in a table of data. @param {Element} cell @param {string} text */
function isData(cell, text) {
  const named = cell.previousElementSibling;
  const before = named && !matches(named, "th,[role=rowheader]") && !query(named, "label") ? named.previousElementSibling : null;
  // A form may be a table of groups, labels and fields.
  const isOfTable = () => !!query(cell, "[type=checkbox],[type=radio]") || query(closest(cell, "table,[role=grid]") || cell, "th,thead,[role=columnheader]") !== null;
  return !LETTER.test(text) || (!!before && !query(before, CONTROLS) && LETTER.test(textContent(before)) && isOfTable());
}

/** The only label in a box with one field, tied to none. @param {Element} box */
function loneLabel(box) {
  const [label, other] = /** @type {Iterable<HTMLLabelElement>} */ (queryAll(box, "label"));
  return label && !other && !label.control && !holdsFields(box) ? label : null;
}

/** Whether more than one field is seen in a box. @param {Element} box */
function holdsFields(box) {
  let fields = 0;
  for (const field of queryAll(box, TYPED_INTO)) if (isSeen(field) && ++fields > 1) return true;
  return false;
}

/** What a component may hide and stand in the place of. */
const REPLACED = "select,textarea,input:not([type=file],[type=checkbox],[type=radio])";
/** The share of a component that the control takes up which shows its value. */
const MOST_OF_BOX = 0.6;
/** The labels of a reading that are tied to no field, by their boxes, or to one that is not drawn, by what is behind it. @type {WeakMap<object, Map<Node, HTMLLabelElement>>} */
const labelsAround = new WeakMap();

/** What the only label around an element says that is tied to no field, or the one tied to the field that it stands for. @param {Element} element @param {boolean} tied whether only the latter counts */
function labelAround(element, tied = false) {
  let boxes = labelsAround.get(labelsOfRoot);
  if (!boxes) {
    boxes = new Map();
    for (const label of queryAll(document, "label")) {
      const control = label instanceof HTMLLabelElement ? label.control : label;
      const box = !control ? parentNode(label) : matches(control, REPLACED) && !rectOf(control).width ? control.nextElementSibling : null;
      if (box) boxes.set(box, /** @type {HTMLLabelElement} */ (label));
    }
    labelsAround.set(labelsOfRoot, boxes);
  }
  if (!boxes.size) return "";
  for (const outer of outward(element, MOST_UP_TO_LABEL + 1)) {
    const label = boxes.get(outer);
    if (!label || (tied && !label.control)) continue;
    const isIts = label.control ? standsFor(element, outer) : outer !== element && loneLabel(outer) !== null;
    return isIts && isSeen(label) ? tidy(textOf(label, outer, 0, false)) : "";
  }
  return "";
}

/** Whether a control is what a component is there for: its only field, or most of what it shows. @param {Element} element @param {Element} box */
function standsFor(element, box) {
  if (matches(element, TYPED_INTO)) return !holdsFields(box);
  if (shortened(attribute(element, "href") || "")) return false;
  const [own, whole] = [rectOf(element), rectOf(box)];
  // What opens below it, as its entries, reaches beyond.
  return own.top + own.height / 2 <= whole.bottom && own.width * own.height >= whole.width * whole.height * MOST_OF_BOX;
}

/** The short text right before an element or behind it, close to a field; "" where something else stands there, null where nothing does. @param {Element} element @param {Element} field @param {boolean} behind @returns {string | null} */
function writtenNear(element, field, behind) {
  const next = (/** @type {Node} */ node) => (behind ? nextSibling(node) : previousSibling(node));
  for (let node = next(element); node; node = next(node)) {
    if (isElement(node) ? !isSeen(/** @type {Element} */ (node)) || localName(/** @type {Element} */ (node)) === "br" : nodeType(node) !== 3 || isBlank(data(/** @type {Text} */ (node)))) continue;
    const text = tidy(isElement(node) ? contentOf(/** @type {Element} */ (node), element, 0, true) : data(/** @type {Text} */ (node))).replace(/\s*[:*]+$/, "");
    if (!isElement(node)) return text.length <= LONGEST_HINT ? text : "";
    const [own, box] = [rectOf(/** @type {Element} */ (node)), rectOf(field)];
    if (own.width <= 1 || own.height <= 1) continue;
    // Another item of the list that the field is in, such as what was chosen before.
    if (localName(/** @type {Element} */ (node)) === "li" && localName(element) === "li") return null;
    const isLabel = localName(/** @type {Element} */ (node)) === "label";
    const isField = !isLabel && isElement(node) && (matches(node, CONTROLS) || query(node, CONTROLS) !== null || (localName(node).includes("-") && shownWithin(node, CONTROLS).length > 0));
    // Buttons with a sign alone, such as those that count a number down, stand with the field.
    const isSign = text.length === 1 && !LETTER.test(text) && matches(/** @type {Element} */ (node), BUTTONS);
    if (isSign || (text === "" && !isField)) continue;
    const isNear = Math.max(box.top - own.bottom, own.top - box.bottom, box.left - own.right, own.left - box.right) <= NEAR_FIELD;
    return isNear && !isField && WORDS.test(text) && (isLabel || text.length <= LONGEST_HINT) ? text : "";
  }
  return null;
}

/** @param {Element} element @param {string} role @param {string} name @param {string[]} states @param {number} far @param {boolean} focused */
function pushControl(element, role, name, states, far, focused) {
  const id = keep(element);
  const own = newLine("interactive", element, id, role, cut(name, LONGEST_NAME), states, far);
  if (focused) own.marks = [...own.marks, "focused"];
  if (walk.heading) states.push(`h${walk.heading}`);
  const means = traits(element);
  const tip = tidy((name.length <= LONGEST_SIGN && attribute(element, "title")) || "");
  // What names a list may stand in it: the value that was chosen.
  const naming = role === "combobox" ? referred(element, "aria-labelledby") : [];
  if (name === "" || (name === NO_FILE && states.includes("type=file"))) own.states = withHint(element, role, states);
  // A placeholder is an example; people read what stands beside the field.
  else if (FIELDS.has(role) && means & HOLDER && tidy(attribute(element, "placeholder") || "") === name) addHint(own, labelAround(element));
  else if (naming.length > 0 && naming.every((one) => one !== element && holds(element, one))) addHint(own, labelBeside(element));
  else if (tip && tip !== name) own.states = [...states, hinted(tip)];
  else if (means & LABEL && means & STYLE) {
    const colour = colourOf(element, name);
    if (colour) own.states = [...states, `hint=${quoted(colour)}`];
  }
  if (name && (role === "link" || role === "button")) addHint(own, labelAround(element, true));
  if (walk.row) addToCell(reference(id));
  walk.lines.push(own);
  return own;
}

/** Add what a label says of a control that is called otherwise. @param {Line} own @param {string} label */
function addHint(own, label) {
  if (label && label !== own.name && !hintIn(own)) own.states = [...own.states, hinted(label)];
}

/** Set fields of the walk until the returned function is called. @param {Partial<Walk>} fields */
function setWalk(fields) {
  const outer = Object.fromEntries(Object.keys(fields).map((key) => [key, walk[/** @type {keyof Walk} */ (key)]]));
  Object.assign(walk, fields);
  return () => void Object.assign(walk, outer);
}

/** When an element's children have been read, end the text and do this, before what was to be done already. @param {Open} frame @param {(start: number) => void} close */
function whenRead(frame, close) {
  const before = frame.close;
  frame.close = (start) => {
    flush();
    close(start);
    if (before) before(start);
  };
  return frame;
}

/** Read on inside a control, where text that only repeats its name is left out. @param {string} name @param {Open} frame */
function enterInside(name, frame) {
  const putBack = repeating(name, /** @type {Line} */ (walk.lines[walk.lines.length - 1]));
  const outer = setWalk({ row: null });
  walk.depth++;
  return whenRead(frame, () => {
    walk.depth--;
    putBack();
    outer();
  });
}

/** Whether an element in a link is only a way to write words. @param {Element} element */
const isPlainText = (element) => INLINE.has(localName(element)) && childElementCount(element) === 0 && !(traits(element) & SPECIAL);
/** Whether a link holds nothing but words, so that it can stand in a sentence. @param {Element} link */
const isPlainLink = (link) => walk.shadows === 0 && childrenOf(link).every(isPlainText);

/** @param {Element} element @param {string} tag @param {string} role @param {boolean} editor @param {boolean} unseen @param {Open} frame */
function enterControl(element, tag, role, editor, unseen, frame) {
  if (tag === "a" && role === "link" && walk.run !== "" && walk.inside === null && !walk.row && !walk.heading && isPlainLink(element)) {
    const far = farOf(element, false);
    const name = far === far ? nameOf(element, tag, role) : "";
    if (name && name.length <= LONGEST_NAME && name.includes(tidy(textContent(element)))) {
      const id = keep(element);
      const own = newLine("interactive", element, id, role, cut(name, LONGEST_NAME), statesOf(element, tag, role, name), far);
      if (element === walk.active) own.marks = [...own.marks, "focused"];
      gather(element, reference(id), null);
      walk.edges.push(element);
      walk.links.push(own);
      return null;
    }
  }
  flush();
  frame.start = walk.lines.length;
  if (role === "option" && walk.inside === ALL) return null;
  const surface = tag === "textarea" || editor ? surfaceOf(element, tag) : null;
  const replaceable = unseen || isReplaceable(element, tag) || surface !== null;
  let far = farOf(element, replaceable);
  // A field that its component has put off the page stands where the component does.
  if (far !== far && unseen && role === "combobox") far = farOf(boxOfField(element), false);
  if (far !== far) return LEAVES.has(tag) ? null : frame;
  if (surface) walk.surface = drawsText(surface) ? surface : null;
  else if (isDrawnByEditor(element) && attribute(element, "aria-hidden") === "true") return null;
  else if (replaceable && (walk.listed.has(element) || !canBeReached(element, tag))) return null;
  if (replaceable) walk.listed.add(element);
  const called = nameOf(element, tag, role);
  const name = unseen && tag === "input" ? seenBelow(element, called) : called;
  if (isGripInRow(element, name)) return null;
  const states = statesOf(element, tag, role, name);
  // As the days of a calendar, which are all of their cells.
  const cell = role === "button" ? parentNode(element) : null;
  if (isElement(cell) && attribute(cell, "aria-selected") === "true" && childElementCount(cell) === 1 && !states.includes("selected")) states.push("selected");
  const own = pushControl(element, role, name, states, far, element === walk.active);
  if (surface && walk.surface && !walk.row) leadEditor(own, surface);
  if (editor) editorRead = true;
  if (editor && walk.thorough) return hush(frame);
  if (editor && role === "spinbutton") saysMore(own, frame, name);
  if (LEAVES.has(tag) || editor) return null;
  if (frame.leaf && !saysMore(own, frame, name)) return null;
  const outer = setWalk({ parted: PARTED.has(role) });
  const value = own.states.find((state) => state.startsWith('value="'));
  whenRead(frame, () => {
    outer();
    const at = walk.lines.lastIndexOf(own) + 1;
    const inner = walk.lines[at];
    if (!inner || walk.lines.length > at + 1) return;
    if (inner.kind === "interactive") joinTwin(own, inner, at);
    else sayInner(own, inner, at);
  });
  return enterInside(value ? `${name} ${value.slice(7, -1)}` : name, frame);
}

/** Whether an element only changes the size of a column or row: those are found by their role, and not listed with each. @param {Element} element @param {string} name */
const isGripInRow = (element, name) => walk.row !== null && !walk.thorough && name === "" && isResizer(element) && isBlank(textContent(element));

/** The text in a control is a state up to so many characters, else a line in it; and a letter that stands for a sign. */
const LONGEST_SAID_IN = 60;
const SIGN = /^[xX]$/;

/** Whether the text in a control says more than its name, and is to be read; a short one is added as a state. @param {Line} own @param {Open} frame @param {string} name */
function saysMore(own, frame, name) {
  const { element } = frame;
  const text = tidy((frame.text = textContent(element)));
  if (name.length <= LONGEST_NAME && (name.includes(text) || name.toLowerCase().includes(text.toLowerCase()))) return false;
  if (!WORDS.test(text) || SIGN.test(text) || own.states.some((state) => state.includes(text))) return false;
  if (text.length > LONGEST_SAID_IN) return true;
  const unseen = styleOf(element).fontSize === "0px" || (isSuspect(frame) && isInvisible(element));
  if (!unseen && !isLigature(element, text)) own.states = [...own.states, `text=${quoted(text)}`];
  return false;
}

/** Say in a field's line what is all that stands in it, such as what there is to do. @param {Line} own @param {Line} inner @param {number} at its place */
function sayInner(own, inner, at) {
  if (own.role !== "combobox" || inner.kind !== "text" || walk.echoes.has(inner) || inner.name.length > LONGEST_SAID_IN) return;
  own.states = [...own.states, `text=${quoted(inner.name)}`];
  walk.lines.length = at;
}

/** Items in which an icon may do something else than the item. */
const PARTED = set("tab treeitem option");
const CLOSER = /close|remove|delete|dismiss/i;
const LEAST_ICON = 4;

/** Whether an icon in an item is there to be acted on for itself. @param {Element} element @param {string} tag */
function isPartOfItem(element, tag) {
  const root = shadowOf(element);
  const slots = /** @type {Iterable<HTMLSlotElement>} */ (queryAll(element, "slot"));
  if ((root && queryAll(root, CONTROLS).length > 0) || [element, ...Array.from(slots).flatMap((slot) => slot.assignedNodes())].some((node) => WORDS.test(textContent(node)))) return false;
  const box = rectOf(element);
  if (box.width < LEAST_ICON || box.height < LEAST_ICON) return false;
  return tag === "a" || listensItself(element) || (tag !== "path" && CLOSER.test(attribute(element, "class") || "") && !query(element, CONTROLS));
}

/** Of a control in another that people take for one, a button in a button, keep the inner: a click there reaches both. @param {Line} own @param {Line} twin all that is in it @param {number} at its place */
function joinTwin(own, twin, at) {
  if (walk.lines[at - 1] !== own || twin.role !== own.role || (twin.name !== own.name && twin.name !== "")) return;
  const states = twin.states.filter((state) => !own.states.includes(state) && !state.startsWith("hint="));
  walk.lines.splice(at - 1, 1);
  Object.assign(twin, { depth: own.depth, name: own.name, states: [...own.states, ...states], marks: own.marks.includes("focused") ? own.marks : twin.marks });
  if (walk.row) walk.row.cells = walk.row.cells.map((cell) => cell.replace(reference(own.id), reference(twin.id)));
}

/** @param {Element} element @param {Open} frame */
function enterLabel(element, frame) {
  const control = /** @type {HTMLLabelElement} */ (element).control;
  if (!control || !isElement(control)) {
    // In a component the label's listener focuses a control that the label does not know.
    const component = hasHandler(element) && walk.inside === null && walk.shadows === 0;
    return component ? enterClickable(element, frame, "") : frame;
  }
  const controlTag = localName(control);
  const role = explicitRole(control) || nativeRole(control, controlTag);
  const name = nameOf(control, controlTag, role);
  if (!walk.listed.has(control) && ((!isSeen(control) && frame.faint !== "scroll" && !canBeReached(control, controlTag)) || isLost(control, element))) {
    if (!CHECKED.has(role) && !(controlTag === "input" && inputType(control) === "file")) return frame;
    flush();
    frame.start = walk.lines.length;
    const far = farOf(element, false);
    if (far !== far) return frame;
    walk.listed.add(control);
    pushControl(element, role, name, statesOf(control, controlTag, role, name), far, control === walk.active);
    return enterInside(withLabel(control, role, name), frame);
  }
  const isRepeated = name && walk.inside === null && !(childElementCount(element) > 1 && query(element, BUTTONS));
  return whenRead(frame, isRepeated ? repeating(withLabel(control, role, name), control) : () => {});
}

/** All that the line of a control says of what its label says. @param {Element} control @param {string} role @param {string} name */
const withLabel = (control, role, name) => (CHECKED.has(role) && name ? `${name} ${otherLabel(control, role, name)}` : name);

const CHECKED = set("checkbox radio switch");

/** Form controls that libraries hide and draw anew. @param {Element} element @param {string} tag */
function isReplaceable(element, tag) {
  if (tag === "button") return (traits(element) & SPECIAL) !== 0 && CHECKED.has(explicitRole(element)) && isBlank(textContent(element));
  if (tag !== "input") return tag === "select";
  const type = inputType(element);
  if (type === "checkbox" || type === "radio" || type === "file" || type === "range") return true;
  // A component's own field may lie unseen over or under what it draws.
  if (!(traits(element) & SPECIAL) || explicitRole(element) !== "combobox") return false;
  return attribute(element, "readonly") !== null || attribute(element, "inputmode") === "none" || Number(styleOf(element).opacity) === 0;
}

/** Whether a component hides its own control from readers; an open dialog does so with all of the page. @param {Element} element */
function isKeptFromReaders(element) {
  const hiding = closest(element, "[aria-hidden=true]");
  return !!hiding && (hiding === element || queryAll(hiding, TYPED_INTO).length < 2) && !query(hiding, "button,a[href]");
}

/** Whether a hidden or tiny control can be reached all the same: by its own box, by a label that is seen, or by keys. @param {Element} element @param {string} tag */
function canBeReached(element, tag) {
  if (!isReplaceable(element, tag)) return isFieldOnTop(element, tag);
  const style = styleOf(element);
  if (style.display === "none" || style.visibility !== "visible") return false;
  const box = rectOf(element);
  // A component's own means against a doubled control are these two.
  const keyed = attribute(element, "tabindex") !== "-1" && !isKeptFromReaders(element);
  if (handleOf(element)) return true;
  if (box.width > 4 && box.height > 4) return style.pointerEvents !== "none" || labelsOf(element).length > 0 || keyed || (style.appearance !== "none" && Number(style.opacity) > 0);
  // A click on a label opens no list.
  if (tag === "select" && !keyed) return false;
  return labelsOf(element).some(isSeen) || (box.width > 1 && box.height > 1) || (box.width > 0 && keyed);
}

/** @param {Element} element @param {string} tag */
const isNativelyFocusable = (element, tag) =>
  FOCUSABLE.has(tag) || ((tag === "a" || tag === "area") && attribute(element, "href") !== null) || Number(attribute(element, "tabindex") ?? -1) >= 0;
const FOCUSABLE = set("button input select textarea");
