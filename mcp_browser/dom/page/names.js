/** Accessible names, by the steps of the standards (accname, HTML-AAM). */

const DEEPEST_NAME = 100;
/** What the browser writes on a field for files. */
const NO_FILE = "Choose File";

/** What an element's attributes may mean, as bits. */
const [SPECIAL, STATE, LABELLED, CLASS, STYLE, OWNS, OTHER, LABEL, TITLE, HOLDER, POPOVER] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const MEANINGS = new Map([
  ...each("role tabindex onclick onmousedown onmouseup onpointerdown onpointerup ondrop contenteditable inert aria-hidden", SPECIAL),
  ...each("aria-checked aria-pressed aria-expanded aria-selected aria-current aria-valuenow aria-valuetext aria-disabled aria-readonly readonly aria-required required aria-invalid aria-haspopup aria-level disabled checked selected", STATE),
  ["aria-labelledby", LABELLED],
  ["aria-label", LABEL],
  ["title", TITLE],
  ...each("placeholder aria-placeholder data-placeholder", HOLDER),
  ["draggable", SPECIAL | STATE],
  ["class", CLASS],
  ...each("style cursor", STYLE),
  ["popover", POPOVER],
  ["aria-owns", OWNS],
]);
/** @type {Element | null} */
let traced = null;
let tracedAs = 0;

/** What the attributes of an element may mean; asked for many times in a row of the same one. @param {Element} element */
function traits(element) {
  if (traced !== element) {
    let bits = 0;
    if (hasAttributes(element)) for (const name of _getAttributeNames.call(element)) bits |= MEANINGS.get(name) || OTHER;
    const said = heardSayings ? sayings.get(element) : undefined;
    if (said) for (const name of said.keys()) bits |= MEANINGS.get(name) || OTHER;
    traced = element;
    tracedAs = bits;
  }
  return tracedAs;
}

/** Elements with a state that comes from around or inside them. @type {WeakSet<Element>} */
let stateful = new WeakSet();
/** Elements of the document that some rule may: give a cursor; give a hand while it is over them; hide, or write with invisible ink; let scroll; fix to the view. */
let [pointed, handed, suspected, scrolling, fixed] = /** @type {[Elements, Elements, Elements, Elements, Elements]} */ (Array.from({ length: 5 }, () => new WeakSet()));
/** Whether `scrolling` has all that do. */
let scrollingKnown = false;
/** Whether `pointed` and `suspected` are complete: not where a style sheet of another origin cannot be read. */
let surveyed = false;
const MOST_SURVEYED = 100;
const HIDING_STYLE = /clip|mask|indent|scale\(0\b(?!\.)|content-visibility|transparent|rgba|fill-color|opacity|(?:^|[^-])color\s*:|(?:^|[^-\w.])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|!|$)/i;

/** @param {Node} root */
function survey(root) {
  for (const element of queryAll(root, ":disabled,:user-invalid")) stateful.add(element);
}

/** Find what style sheets may point at or hide; only in the document, since shadow trees are small. */
function surveyStyles() {
  const { hand, handed: hovered, trap, scroll, fixed: stuck, blind } = addedTo(document);
  scrollingKnown = !blind && scroll.length <= MOST_SURVEYED;
  surveyed = !blind && hand.length + trap.length <= MOST_SURVEYED;
  const elements = (/** @type {boolean} */ isKnown, /** @type {string[]} */ selectors) => matching(working(isKnown ? selectors : []));
  scrolling = elements(scrollingKnown, scroll);
  pointed = elements(surveyed, [...hand, ...hovered]);
  handed = elements(surveyed, hovered);
  suspected = elements(surveyed, trap);
  fixed = elements(surveyed && stuck.length <= MOST_SURVEYED, stuck);
}

/** Whether the cursor over an element is that of something to act on. @param {Element} element */
const hasHand = (element) => HAND.has(styleOf(element).cursor) || handed.has(element);

/** Whether an element's own style matches. @param {Element} element @param {RegExp} pattern */
const isStyled = (element, pattern) => (traits(element) & STYLE) !== 0 && pattern.test(attribute(element, "style") || "");
/** Whether an element may have a cursor of its own. @param {Element} element */
const pointing = (element) => pointed.has(element) || isStyled(element, /cursor/i) || ((traits(element) & STYLE) !== 0 && attribute(element, "cursor") !== null);
/** Whether an element may have a style that hides it or its text. @param {Element} element */
const suspicious = (element) => suspected.has(element) || isStyled(element, HIDING_STYLE);
/** Whether an element may be fixed to the view. @param {Element} element */
const mayBeFixed = (element) => (surveyed && walk.shadows === 0 ? fixed.has(element) || isStyled(element, /fixed/i) : walk.checks > 0);

/** Labels by the control they belong to, for each tree. @type {WeakMap<Node, Map<Element, Element[]>>} */
let labelsOfRoot = new WeakMap();
/** The tree that is being read, where that is the document and no shadow tree. @type {Node | null} */
let treeNow = null;

/** @param {Element} element @returns {Element[]} */
function labelsOf(element) {
  const root = treeNow || rootOf(element);
  let labels = labelsOfRoot.get(root);
  if (!labels) {
    labels = new Map();
    for (const label of queryAll(root, "label")) {
      const control = /** @type {HTMLLabelElement} */ (label).control;
      if (control) addTo(labels, control, label);
    }
    labelsOfRoot.set(root, labels);
  }
  return labels.get(element) || [];
}

const OWNING = set("aria-owns aria-controls");
/** What an id means that several have, a fault: the closest, not one within another that refers to it. @param {Element} owned @param {Element} owner @returns {Element | null} */
function ownTwin(owned, owner) {
  const id = CSS.escape(attribute(owned, "id") || "");
  const twins = [...queryAll(/** @type {Document | ShadowRoot} */ (rootOf(owner)), `[id="${id}"]`)];
  const near = (twins.length > 1 && Array.from(outward(owner)).flatMap((outer) => twins.filter((twin) => holds(outer, twin)))[0]) || owned;
  const other = closest(near, `[aria-owns~="${id}"],[aria-controls~="${id}"]`);
  return other && !holds(other, owner) ? null : near;
}

/** @param {Element} element @param {string} name @returns {Element[]} */
function referred(element, name) {
  return (attribute(element, name) || "").split(/\s+/).filter(Boolean).flatMap((id) => {
    const root = rootOf(element);
    const target = root === document ? _getElementById.call(document, id) : root instanceof ShadowRoot ? root.getElementById(id) : null;
    return (target && OWNING.has(name) ? ownTwin(target, element) : target) || [];
  });
}

/** The accessible name, by the standard's steps (accname, HTML-AAM). @param {Element} element @param {string} tag @param {string} role @returns {string} */
function nameOf(element, tag, role) {
  const means = traits(element);
  const said = (means & LABELLED && tidy(labelledBy(element))) || (means & LABEL && tidy(attribute(element, "aria-label") || "")) || nativeName(element, tag, role);
  if (said) return said;
  if (NAMED_BY_CONTENT.has(role) && tag !== "input") {
    const name = tidy(contentOf(element, element, 0, false));
    if (name) return isDoubled(name) && query(element, "[aria-labelledby]") ? name.slice(0, name.length >> 1) : name;
  }
  const title = means & TITLE && tidy(attribute(element, "title") || "");
  if (title) return title;
  if (tag === "input" && inputType(element) === "file") return NO_FILE;
  if (!(means & HOLDER)) return "";
  return tidy(attribute(element, "placeholder") || attribute(element, "aria-placeholder") || (FIELDS.has(role) && attribute(element, "data-placeholder")) || "");
}

/** Whether a name is one text twice: a control in it is called by the text beside it. @param {string} name */
const isDoubled = (name) => name.length > 2 && name.length % 2 === 1 && name.slice(0, name.length >> 1) === name.slice((name.length >> 1) + 1);

/** Buttons by the type of their input, and what the browser writes on them. */
const BUTTON_TYPES = new Map([["button", ""], ["submit", "Submit"], ["reset", "Reset"]]);
const LABELLABLE = set("select textarea button progress meter output");
const NAMING_CHILD = new Map(Object.entries({ fieldset: "legend", table: "caption", figure: "figcaption", svg: "title" }));

/** @param {Element} element @param {string} tag @param {string} role */
function nativeName(element, tag, role) {
  if (tag === "input") {
    const type = inputType(element);
    const unsaid = BUTTON_TYPES.get(type);
    if (unsaid !== undefined) {
      const value = tidy(/** @type {HTMLInputElement} */ (element).value) || labelText(element);
      return value || attribute(element, "value") !== null ? value : unsaid;
    }
    if (type === "image") return tidy(attribute(element, "alt") || "") || labelText(element) || tidy(attribute(element, "title") || "") || "Submit";
    const root = treeNow || rootOf(element);
    return labelText(element) || (root instanceof ShadowRoot && labelText(root.host)) || "";
  }
  if (LABELLABLE.has(tag) || (role && tag.includes("-"))) return labelText(element);
  if (tag === "img" || tag === "area") return tidy(attribute(element, "alt") || "");
  if (tag === "iframe" || tag === "frame") return tidy(attribute(element, "title") || attribute(element, "name") || "");
  const child = NAMING_CHILD.get(tag) || (element instanceof SVGElement ? "title" : "");
  return child && childText(element, child);
}

/** @param {Element} element @param {string} tag */
function childText(element, tag) {
  const child = childrenOf(element).find((inner) => localName(inner) === tag);
  return child ? tidy(textOf(child, element, 0, false)) : "";
}

/** @param {Element} element */
function labelText(element) {
  let name = "";
  for (const label of labelsOf(element)) {
    const whole = textOf(label, element, 0, false);
    const own = whole.length > LONGEST_HINT && query(label, BUTTONS) ? ownText(label) : "";
    name += ` ${isBlank(own) ? whole : own}`;
  }
  return name && tidy(name);
}

/** Whether what a field holds is being read: neither added text nor what stands there while it is empty. */
let valuing = false;
const BREAK = "\uE003";
const PLACEHOLDERS = "[class*=placeholder i],[data-slate-placeholder],[data-placeholder='']";

/** Whether a name is being made of what aria-labelledby refers to: from there no other reference is followed. */
let referring = false;
/** What has its own items within it is not called by their names too. */
const NESTING = set("treeitem menuitem");
const NESTED = set("group tree treeitem menu");
/** Elements whose aria-owns is being followed. @type {Set<Element>} */
const owning = new Set();

/** What those elements say that an element's aria-labelledby refers to: of what is hidden itself all, of what is shown only what is shown. @param {Element} element */
function labelledBy(element) {
  referring = true;
  const texts = referred(element, "aria-labelledby").map((target) => ` ${textOf(target, element, 0, !isSeen(target) && isHidden(target))}`);
  referring = false;
  return texts.join("");
}

/**
 * What an element adds to a name.
 * @param {Element} element @param {Element} asking the element that is being named @param {number} deep 0 for a label or what a reference names
 * @param {boolean} hidden whether hidden things count too @returns {string}
 */
function textOf(element, asking, deep, hidden) {
  const tag = localName(element);
  if (SKIPPED.has(tag) && tag !== "title") return "";
  if (deep > DEEPEST_NAME) return textContent(element);
  if (element === asking) {
    // In its own label a control adds nothing; referring to itself it adds what it would be called otherwise.
    if (deep > 0) return "";
    return attribute(element, "aria-label") || nativeName(element, tag, "") || contentOf(element, asking, deep, hidden);
  }
  const attributed = hasAttributes(element);
  if (attributed && !hidden && deep > 0 && attribute(element, "aria-hidden") === "true") return "";
  if (deep > 0 && attributed && !referring && !(valuing && tag === "input") && attribute(element, "aria-labelledby")) {
    const name = labelledBy(element);
    if (name.trim()) return name;
  }
  const role = explicitRole(element) || nativeRole(element, tag);
  if (deep > 0 || tag === "input" || tag === "select" || tag === "textarea") {
    const value = embedded(element, tag, role);
    if (value !== null) return value;
  }
  const label = attributed && attribute(element, "aria-label");
  if (label && label.trim()) return label;
  if (tag === "img" || tag === "area") return attribute(element, "alt") || attribute(element, "title") || "";
  if (tag === "svg") return childText(element, "title");
  const content = contentOf(element, asking, deep, hidden);
  return content === "" && deep > 0 && attributed ? attribute(element, "title") || "" : content;
}

/** What the value of a control in another's label adds to its name; null for what has none. @param {Element} element @param {string} tag @param {string} role @returns {string | null} */
function embedded(element, tag, role) {
  if (tag === "input") {
    const type = inputType(element);
    if (BUTTON_TYPES.has(type)) return nativeName(element, tag, "button");
    if (type === "checkbox" || type === "radio" || type === "file" || type === "image" || type === "hidden") return null;
  }
  if (TYPED.has(tag)) return isSecret(element) ? "" : /** @type {HTMLInputElement} */ (element).value;
  if (tag === "select") return selectedText(/** @type {HTMLSelectElement} */ (element));
  if (role === "slider" || role === "spinbutton") return attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow") || null;
  if (role === "textbox" || role === "searchbox") return isSecret(element) ? "" : textContent(element);
  if (role === "listbox" || role === "combobox") {
    const chosen = query(element, '[aria-selected="true"]');
    return chosen ? contentOf(chosen, chosen, 1, false) : "";
  }
  return null;
}

/** The text of an element's children as people see them. @param {Element} element @param {Element} asking @param {number} deep @param {boolean} hidden @returns {string} */
function contentOf(element, asking, deep, hidden) {
  const { tag, bits } = tagOf(element);
  const root = bits & HOST_TAG ? shadowOf(element) : null;
  const owns = (traits(element) & OWNS) !== 0;
  if (!root && !owns && childElementCount(element) === 0 && tag !== "slot") {
    const text = textContent(element);
    if (deep > 0 && isLigature(element, text)) return "";
    const read = text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text;
    return valuing ? read : around(element, read);
  }
  let text = "";
  const slotted = root ? null : slottedIn(element, tag);
  const add = (/** @type {Element} */ inner) => {
    if (!hidden && ((!isSeen(inner) && isHidden(inner)) || isScaledAway(inner))) return;
    // The native list that a component draws anew says the same once more; a label says what the field in it is for.
    if (valuing && (matches(inner, PLACEHOLDERS) || localName(inner) === "select" || (localName(inner) === "label" && /** @type {HTMLLabelElement} */ (inner).control) || (matches(inner, BUTTONS) && attribute(asking, "contenteditable") === null))) return;
    if (NESTED.has(attribute(inner, "role") || "") && NESTING.has(explicitRole(asking))) return;
    const added = textOf(inner, asking, deep + 1, hidden);
    if (!added && localName(inner) === "br") text += valuing ? BREAK : " ";
    else if (!added || (INLINE.has(localName(inner)) && !isBlockLevel(inner))) text += added;
    else text += valuing ? BREAK + added + BREAK : ` ${added} `;
  };
  let child = slotted ? slotted[0] : firstChild(root || element);
  for (let i = 0; child && text.length < LONGEST_READ; child = slotted ? slotted[++i] || null : nextSibling(child)) {
    const type = nodeType(child);
    if (type === 3) text += data(/** @type {Text} */ (child));
    else if (type === 1) add(/** @type {Element} */ (child));
  }
  if (owns && !valuing && !owning.has(element)) {
    owning.add(element);
    for (const owned of referred(element, "aria-owns")) if (!holds(element, owned) && !holds(owned, element)) add(owned);
    owning.delete(element);
  }
  return valuing ? text : around(element, text);
}

/** Whether an element that is not seen hides all that is in it from names too. @param {Element} element */
function isHidden(element) {
  const { display, visibility } = styleOf(element);
  return display !== "contents" && (display === "none" || visibility !== "visible");
}

/** @param {Element} element */
function isBlockLevel(element) {
  const display = styleOf(element).display;
  return display !== "inline" && display !== "contents" && !display.startsWith("ruby");
}
