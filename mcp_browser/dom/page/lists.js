/** Lists that a field opens: what is in them by their semantics, or what came to be seen when the field was clicked. */

const LISTS = "[role=listbox],[role=menu],[role=tree]";
const OPTIONS = "[role=option],[role=menuitem],[role=menuitemcheckbox],[role=menuitemradio],[role=treeitem]";
/** What else a person fills in: a box around a field that holds another one is not that field's own. */
const OTHER_FIELDS = "input:not([type=hidden]),select,textarea,[role=combobox],[role=textbox],[role=spinbutton],[role=slider],[role=listbox]";
/** Opened by a click that does nothing else; other buttons may act. */
const OPENS = "[aria-haspopup]:not([aria-haspopup=false]),[aria-expanded],[aria-controls],[aria-owns],[role=combobox],[role=listbox]";
const MOST_UP_TO_BOX = 6;
const HIGHEST_BOX = 200;
const MOST_UP_TO_ROW = 4;
const MOST_ARRIVED = 500;
const LONGEST_ENTRY = 300;

/** The field opened last, what was seen before, and the entries found last. @type {{ field: Element, seen: Set<Element>, entries: Element[], list: Element | null } | null} */
let opened = null;

/** A function that says whether an element is drawn, with its answers kept. @returns {(element: Element) => boolean} */
function drawnTest() {
  /** @type {Map<Element, boolean>} */
  const traps = new Map();
  /** @param {Element} element @returns {boolean} */
  const isFree = (element) => {
    const known = traps.get(element);
    if (known !== undefined) return known;
    const around = flatParent(element);
    const free = !isTrap(element) && (!isElement(around) || isFree(around));
    traps.set(element, free);
    return free;
  };
  return (element) => {
    if (!isSeen(element)) return false;
    const box = rectOf(element);
    return box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0 && isFree(element);
  };
}

/** The elements that draw text of their own. @returns {Element[]} */
function textsDrawn() {
  const isDrawn = drawnTest();
  /** @type {Element[]} */
  const found = [];
  // It grows by the roots within that have come since the page was read.
  const roots = new Set(allRoots());
  for (const root of roots) {
    for (const element of queryAll(root, "*")) {
      const inner = shadowOf(element);
      if (inner) roots.add(inner);
      if (!isBlank(ownText(element)) && !SKIPPED.has(localName(element)) && isDrawn(element)) found.push(element);
    }
  }
  return found;
}

/** What a selector matches among the visible elements in an element, shadow roots and slots included. @param {Element} owner @param {string} selector */
function shownWithin(owner, selector) {
  /** @type {Element[]} */
  const found = [];
  /** @param {Element} element */
  const visit = (element) => {
    const slotted = element instanceof HTMLSlotElement ? element.assignedElements() : [];
    for (const child of slotted.length ? slotted : (shadowOf(element) || element).children) {
      if (matches(child, selector) && isSeen(child)) found.push(child);
      visit(child);
    }
  };
  visit(owner);
  return found;
}

/** The smallest box around a field that nothing else is filled in within: its value, label and buttons stand there. @param {Element} field */
function boxOfField(field) {
  let box = field;
  if (!TYPED.has(localName(field))) return field;
  const own = boxOf(field);
  for (const outer of outward(flatParent(field), MOST_UP_TO_BOX)) {
    if (outer === body() || outer === rootElement() || matches(outer, "form,fieldset,dialog,[role=dialog],td,tr")) break;
    const around = boxOf(outer);
    if (around.height > Math.max(HIGHEST_BOX, own.height) || around.bottom < own.top || around.top > own.bottom) break;
    if ([...queryAll(outer, OTHER_FIELDS)].some((other) => other !== field && !holds(other, field) && isSeen(other) && boxOf(other).width > 1 && !inList(other))) break;
    box = outer;
  }
  return box;
}

/** Whether an element is in the list that was opened. @param {Element} element */
const inList = (element) => !!closest(element, LISTS) || (!!opened?.list && holds(opened.list, element));

/** Whether what a mouse hits instead of a field is a part of it: its value, its placeholder, its label, its lines. @param {Element} hit @param {Element} field */
function isOwnPart(hit, field) {
  const surface = surfaceOf(field, localName(field));
  if (surface) return holds(surface, hit);
  if (localName(field) === "canvas") return isSurfaceOf(hit, field);
  if (valueKind(field) !== "text" && !matches(field, "select,[role=combobox]")) return false;
  if (closest(hit, "a,button,[role=button],[role=link],[role=option]") || inList(hit)) return false;
  return holds(boxOfField(field), hit) || holds(frameOf(field), hit);
}

/** What a component puts around its field alone, as large as that: what else lies in it is drawn over the field. @param {Element} field */
function frameOf(field) {
  const outer = flatParent(field);
  const sides = /** @type {const} */ (["left", "top", "right", "bottom"]);
  return isElement(outer) && sides.every((side) => Math.abs(rectOf(field)[side] - rectOf(outer)[side]) <= NEAR) ? outer : field;
}

/** Whether the page draws a native option, in a list that is always open. @param {Element} option */
function isInOpenList(option) {
  const list = /** @type {HTMLSelectElement | null} */ (closest(option, "select"));
  return !!list && (list.multiple || list.size > 1);
}

const PARTS = "a[href],button,[role=button],[role=link],[role=option]";
/** Whether a field has parts that a click may meet, such as what takes back what was chosen. @param {Element} element */
const hasParts = (element) => shownWithin(frameOf(controlOf(element)), PARTS).some((part) => part !== controlOf(element) && !inList(part));

/** What a field shows of what was chosen, without its list. @param {Element} element */
function fieldShows(element) {
  const field = controlOf(element);
  if (isSecret(field)) return "";
  const typed = embedded(field, localName(field), "");
  const text = textWithout(boxOfField(field), (part) => (part === field && typed !== null) || inList(part), typed || "");
  if (text || typed !== null) return text;
  // What was chosen may stand in a list of its own, beside the one to choose from.
  const entries = opened?.field === field ? opened.entries : [];
  return textWithout(field, (part) => entries.some((entry) => holds(entry, part)), "");
}

/** The text that is drawn in a box, its fields' too, save in what is left out. @param {Element} box @param {(part: Element) => boolean} isOut @param {string} text what comes before */
function textWithout(box, isOut, text) {
  const parts = [box, ...shownWithin(box, "*")].filter((part) => !isOut(part));
  return tidy([text, ...parts.filter(drawnTest()).map((part) => embedded(part, localName(part), "") ?? ownText(part))].join(" "));
}

/** How a field can be opened: as a "list" by its semantics, as a "value" that it shows, or not (""). @param {Element} element */
function opening(element) {
  const field = controlOf(element);
  return ["text", "rich"].includes(valueKind(field)) || matches(field, OPENS) ? "list" : isPlain(field) ? "value" : "";
}

/** Whether nothing says what an element does: it is no control by its role, and may still take a click. @param {Element} element */
const isPlain = (element) => ROLE_KINDS.get(roleOf(element)) !== "interactive" && localName(element) !== "button";

/** Note what is to be seen before a field is opened. @param {Element} element */
function beforeOpening(element) {
  opened = { field: controlOf(element), seen: new Set(textsDrawn()), entries: [], list: null };
}

/** What came to be seen since the field was opened, by rows; its options, where they say that they are such. @param {Element} field */
function arrived(field) {
  if (!opened || opened.field !== field) return [];
  const { seen } = opened;
  const texts = textsDrawn().filter((element) => !seen.has(element)).slice(0, MOST_ARRIVED);
  const options = new Set(texts.map((element) => closest(element, OPTIONS)).filter((option) => option !== null));
  return options.size ? [...options] : [...new Set(texts.map(rowOf))];
}

/** The outermost element close around a text that has a brother of its kind, or no more text. @param {Element} text */
function rowOf(text) {
  let row = text;
  for (const outer of outward(flatParent(text), MOST_UP_TO_ROW)) {
    const hasMore = tidy(textContent(outer)) !== tidy(textContent(row));
    if (hasMore && (matches(row, "li,tr,[role]") || !(hasTwin(outer) || matches(outer, "li,tr")))) break;
    row = outer;
  }
  return row;
}

/** What is around all entries of a list, and not around its field. @param {Element[]} entries @param {Element} field */
function boxAround(entries, field) {
  const box = Array.from(outward(entries[0] ? flatParent(entries[0]) : null)).find((outer) => entries.every((entry) => holds(outer, entry)));
  return box && !holds(box, field) ? box : null;
}

/** @param {Element} element */
function allOptions(element) {
  const control = controlOf(element);
  const isSelect = control instanceof HTMLSelectElement;
  const natives = isSelect ? control.options : control instanceof HTMLInputElement && control.list?.options;
  if (natives) {
    return Array.from(natives, (option) => {
      const group = option.parentElement instanceof HTMLOptGroupElement ? option.parentElement : null;
      const label = tidy(option.label || option.text || (isSelect ? "" : option.value));
      return { label, value: option.value, selected: isSelect && option.selected, disabled: option.disabled || !!group?.disabled, group: group ? tidy(group.label) : "" };
    });
  }
  const owners = [control, ...referred(control, "aria-controls"), ...referred(control, "aria-owns")];
  const isDrawn = drawnTest();
  // Some keep a list without size for readers beside the one that is drawn.
  let found = owners.flatMap((owner) => shownWithin(owner, OPTIONS)).filter(isDrawn);
  if (!found.length && attribute(control, "aria-expanded") === "true" && !matches(control, LISTS)) {
    // The list that is open, wherever the page has put it, and was not there before the field was clicked.
    const isNew = (/** @type {Element} */ list) => opened?.field !== control || ![...opened.seen].some((text) => holds(list, text));
    const last = allRoots().flatMap((root) => [...root.querySelectorAll(LISTS)]).findLast((list) => isSeen(list) && isNew(list));
    if (last) found = shownWithin(last, OPTIONS).filter(isDrawn);
  }
  if (!found.length || (opened?.field === control && found.every((option) => holds(control, option)))) found = [...found, ...arrived(control)];
  if (opened?.field === control && found.length) {
    opened.entries = found;
    opened.list = boxAround(found, control);
  }
  // The native list that a component keeps knows what is chosen, where ARIA may only say where the keys are.
  const native = control instanceof HTMLInputElement ? null : /** @type {HTMLSelectElement | null} */ (query(control, "select"));
  const isChosen = (/** @type {string} */ label) => !native || [...native.selectedOptions].some((one) => tidy(one.label) === label);
  return Array.from(new Set(found)).flatMap((option) => {
    const isMarked = attribute(option, "aria-checked") === "true";
    const label = tidy(nameOf(option, localName(option), "option")) || tidy(textContent(option));
    if (!label || label.length > LONGEST_ENTRY) return [];
    const isSelected = attribute(option, "aria-selected") === "true" && isChosen(label);
    const value = attribute(option, "data-value") || attribute(option, "value") || "";
    // Of a list that takes one choice this may only say where the keys are.
    const chosen = isMarked || (isSelected && closest(option, "[aria-multiselectable=true]") !== null);
    return { label, value, selected: isMarked || isSelected, chosen, disabled: isDisabled(option), group: "", id: keep(option) };
  });
}

/** The field within what was opened that has the keyboard, to search in. @param {Element} element */
function searchFieldOf(element) {
  const active = deepActive();
  const isOther = active && active !== controlOf(element) && !holds(active, element);
  return isOther && valueKind(active) === "text" && attribute(active, "readonly") === null ? [{ id: keep(active) }] : [];
}

/** The only field to type into within an element, such as an editor's below its toolbar. @param {Element} element */
function innerField(element) {
  const fields = shownWithin(element, "input,textarea,[contenteditable]").filter((field) => ["text", "rich", "keys"].includes(valueKind(field)));
  const outer = fields.filter((field) => !fields.some((other) => other !== field && holds(other, field)));
  return outer.length === 1 ? outer.map((field) => ({ id: keep(field) })) : [];
}

/** Whether something that was to be seen before the field was clicked is not any more. */
function hasLess() {
  const isDrawn = drawnTest();
  return opened !== null && [...opened.seen].some((text) => !isConnected(text) || !isDrawn(text));
}

/** Scroll the list that was found last to a part of its length, or on by a view (-1); whether it moved. @param {Element} element @param {number} part */
function scrollOptions(element, part) {
  const control = controlOf(element);
  const first = (opened?.field === control && opened.entries.find(isConnected)) || shownWithin(control, OPTIONS)[0] || null;
  const isBox = (/** @type {Element} */ outer) => roomOf(outer, false) >= 4 && styleOf(outer).overflowY !== "visible";
  const box = Array.from(outward(first)).find((outer) => outer === body() || outer === rootElement() || isBox(outer));
  return !!box && box !== body() && box !== rootElement() && scrollToPart(box, part);
}
