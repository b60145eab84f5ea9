/** What an element is: its tag, its attributes, its role. */

const SKIPPED = set(
  "script style template noscript head meta link title base param source track datalist col colgroup wbr defs symbol clipPath mask linearGradient radialGradient metadata filter marker pattern desc rp noframes",
);
const INLINE = set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr output q ruby rb rt s samp small span strike strong sub sup time tt u var tspan slot",
);
const LEAVES = set("img input select textarea canvas video audio embed iframe frame hr br progress meter area");
/** Tags that HTML lets have a shadow tree; custom elements may too. */
const HOSTS = set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span");
const [SKIPPED_TAG, INLINE_TAG, LEAF_TAG, HOST_TAG] = [1, 2, 4, 8];
/** Roles that a tag gives whatever its attributes are. */
const TAG_ROLES = new Map(Object.entries({
  button: "button", textarea: "textbox", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  dialog: "dialog", nav: "navigation", aside: "complementary", form: "form", search: "search", section: "region", fieldset: "group",
  table: "table", tr: "row", td: "cell", th: "columnheader", progress: "progressbar", meter: "meter",
}));
/** Tags whose role depends on more than themselves. */
const ASKED_TAGS = set("a area input select summary img header footer video audio");

/** What is known of a tag once and for all; its role is null where that depends on more than the tag. @typedef {{tag: string, bits: number, role: string | null}} Tag */
/** @type {Map<string, Tag>} */
const tags = new Map();
const MOST_TAGS = 2000;

/** @param {Element} element @returns {Tag} */
function tagOf(element) {
  const name = localName(element);
  const known = tags.get(name);
  if (known) return known;
  // Names of properties are kept once by the engine, so that comparing them is comparing pointers.
  const tag = /** @type {string} */ (Object.keys({ [name]: 0 })[0]);
  const flow = (SKIPPED.has(tag) ? SKIPPED_TAG : 0) | (INLINE.has(tag) ? INLINE_TAG : 0);
  const bits = flow | (LEAVES.has(tag) ? LEAF_TAG : 0) | (HOSTS.has(tag) || tag.includes("-") ? HOST_TAG : 0);
  const found = { tag, bits, role: ASKED_TAGS.has(tag) ? null : TAG_ROLES.get(tag) || "" };
  if (tags.size < MOST_TAGS) tags.set(tag, found);
  return found;
}

const ROLE_KINDS = new Map([
  ...each("button link checkbox radio switch textbox searchbox combobox menuitem menuitemcheckbox menuitemradio option tab slider spinbutton treeitem scrollbar", "interactive"),
  ...each("dialog alertdialog navigation search complementary contentinfo banner menu menubar listbox tree grid treegrid tabpanel toolbar radiogroup alert status log tooltip tablist form region group table article figure feed main list listitem directory document application math note timer marquee rowgroup paragraph term definition code", "region"),
  ["row", "row"],
  ...each("cell gridcell columnheader rowheader", "cell"),
  ["heading", "heading"],
  ...each("img image", "image"),
  ...each("progressbar meter", "meter"),
  ...each("none presentation generic separator", "none"),
]);
const NO_ROLE = /^(?:none|presentation|generic)$/;
/** Regions worth a line of their own, and whether only with a name. */
const REGIONS = new Map([
  ...each("dialog alertdialog navigation search complementary contentinfo banner menu menubar listbox tree toolbar radiogroup alert status log tooltip tablist", false),
  ...each("tabpanel form region group table grid treegrid figure feed application", true),
]);
const NAMED_BY_CONTENT = set(
  "button link checkbox radio switch menuitem menuitemcheckbox menuitemradio option tab treeitem heading row cell gridcell columnheader rowheader tooltip clickable disclosure",
);
const INPUT_ROLES = new Map(/** @type {[string, string][]} */ ([
  ...each("button submit reset image file", "button"),
  ...[["range", "slider"], ["number", "spinbutton"], ["search", "searchbox"]],
  ...["checkbox", "radio", "color", "date", "time", "datetime-local", "month", "week"].map((type) => [type, type]),
]));
/** What a person types into. */
const TYPED = set("input textarea");
const TEXT_TYPES = set("text search email url tel password number");
const PICKER_TYPES = set("date time datetime-local month week color range");
const OWN_CURSOR = set("label button input select textarea option");
const HAND = set("pointer grab grabbing move cell copy alias zoom-in zoom-out col-resize row-resize ew-resize ns-resize nwse-resize nesw-resize n-resize e-resize s-resize w-resize se-resize sw-resize ne-resize nw-resize all-scroll");
const SECRET_FIELDS = /(?:^|[^a-z])(?:cvv|cvc|csc|otp|totp|passw(?:or)?d|passcode|pin-?code|one-?time-?code|card-?(?:number|num|no))(?:$|[^a-z])/i;
const SECRET_AUTOCOMPLETE = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-number|cc-csc|cc-exp(?:-month|-year)?)(?:\s|$)/i;
/** Classes of what is hidden from the eye, or is the margin of an editor. */
const MARKING_CLASS = /sr-only|hidden|reader|gutter|margin|line-?n/i;
/** Text that libraries hide from the eye by these names. */
const UNSEEN_CLASS = /(?:^|[\s_-])(?:sr-only|visually-?hidden|screen-?reader(?:-text)?|a11y-hidden|cdk-visually-hidden)(?:$|[\s_-])/i;

/** @type {Element | null} */
let typed = null;
let typedAs = "";
/** The type of an input; asked for many times in a row of the same one. @param {Element} element @returns {string} */
function inputType(element) {
  if (typed !== element) {
    typedAs = _type.call(element);
    typed = element;
  }
  return typedAs;
}

/** @param {Element} element @returns {string} the first role that the attribute names and that exists */
function explicitRole(element) {
  const given = attribute(element, "role");
  if (!given) return "";
  for (const word of given.toLowerCase().split(/\s+/)) {
    const role = word === "image" ? "img" : word;
    if ((role === "textbox" || role === "searchbox") && isAroundControls(element)) return "group";
    // A field stays one, whatever is to be said of it.
    if (ROLE_KINDS.has(role)) return ROLE_KINDS.get(role) !== "interactive" && TYPED.has(localName(element)) ? "" : role;
  }
  return "";
}

/** Whether an element that says it is a field holds several controls or a drawing, and can itself neither be edited nor focused. @param {Element} element */
const isAroundControls = (element) => !TYPED.has(localName(element)) && attribute(element, "tabindex") === null && !isEditor(element, localName(element)) && !closest(element, EDITABLE) && !query(element, EDITABLE) && (queryAll(element, CONTROLS).length > 1 || query(element, "canvas") !== null);

/** The role that HTML gives to an element, or "". @param {Element} element @param {string} tag @returns {string} */
function nativeRole(element, tag) {
  switch (tag) {
    case "a":
    case "area":
      return attribute(element, "href") !== null || attribute(element, "xlink:href") !== null ? "link" : "";
    case "input": {
      const type = inputType(element);
      if (type === "hidden") return "";
      const role = INPUT_ROLES.get(type);
      if (role && role !== "searchbox") return role;
      // What it names may not be there.
      if (attribute(element, "list") !== null && /** @type {HTMLInputElement} */ (element).list && (role || TEXT_TYPES.has(type))) return "combobox";
      return role || "textbox";
    }
    case "select":
      return /** @type {HTMLSelectElement} */ (element).multiple || /** @type {HTMLSelectElement} */ (element).size > 1 ? "listbox" : "combobox";
    case "summary":
      return parentNode(element) instanceof HTMLDetailsElement ? "disclosure" : "";
    case "img":
      return attribute(element, "alt") === "" ? "none" : "img";
    case "header":
    case "footer":
      return parentNode(element) !== body() ? "" : tag === "header" ? "banner" : "contentinfo";
    case "video":
    case "audio":
      return attribute(element, "controls") !== null ? tag : "";
    default:
      return TAG_ROLES.get(tag) || "";
  }
}

/** @param {Element} element */
const roleOf = (element) => explicitRole(element) || nativeRole(element, localName(element));

/** @param {Element | null} element */
const isFrame = (element) => element !== null && /^i?frame$/.test(localName(element));

/** @param {Element} element @param {string} tag */
function isEditor(element, tag) {
  const editable = attribute(element, "contenteditable");
  if (editable !== null && !/^(?:false|inherit)$/i.test(editable)) return true;
  return (element instanceof HTMLElement && _editContext.call(element)) || (tag === "body" && inDesign());
}

/** Whether it listens to clicks itself. @param {Element} element */
const listensItself = (element) => (heardListeners && listening.has(element)) || ((traits(element) & SPECIAL) !== 0 && attribute(element, "onclick") !== null);

/** Whether it takes what is dropped on it. @param {Element} element */
const takesDrops = (element) => (heardListeners && dropping.has(element)) || ((traits(element) & SPECIAL) !== 0 && attribute(element, "ondrop") !== null);

/** Whether a listener, attribute or tab stop makes something of an element without a role. @param {Element} element */
function hasHandler(element) {
  if (heardListeners && (listening.has(element) || dropping.has(element))) return true;
  if (!(traits(element) & SPECIAL)) return false;
  if (["onclick", "onmousedown", "ondrop"].some((name) => attribute(element, name) !== null) || attribute(element, "draggable") === "true") return true;
  return Number(attribute(element, "tabindex") ?? -1) >= 0;
}
