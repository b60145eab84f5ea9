/** What an element is: its tag, its attributes, its role. */

const SKIPPED = set(
  "script style template noscript head meta link title base param source track datalist col colgroup wbr defs symbol clipPath mask linearGradient radialGradient metadata filter marker pattern desc rp noframes",
);
const INLINE = set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr output q ruby rb rt s samp small span strike strong sub sup time tt u var tspan slot",
);
const LEAVES = set("img input select textarea canvas video audio embed iframe frame hr br progress meter area");
const ROLE_KINDS = new Map(
  /** @type {[string, string][]} */ ([
    ...[..."button link checkbox radio switch textbox searchbox combobox menuitem menuitemcheckbox menuitemradio option tab slider spinbutton treeitem scrollbar".split(" ")].map((role) => [role, "interactive"]),
    ..."dialog alertdialog navigation search complementary contentinfo banner menu menubar listbox tree grid treegrid tabpanel toolbar radiogroup alert status log tooltip tablist form region group table article figure feed main list listitem directory document application math note timer marquee rowgroup paragraph term definition code".split(" ").map((role) => [role, "region"]),
    ["row", "row"],
    ["cell", "cell"],
    ["gridcell", "cell"],
    ["columnheader", "cell"],
    ["rowheader", "cell"],
    ["heading", "heading"],
    ["img", "image"],
    ["image", "image"],
    ["progressbar", "meter"],
    ["meter", "meter"],
    ["none", "none"],
    ["presentation", "none"],
    ["generic", "none"],
    ["separator", "none"],
  ]),
);
/** Regions worth a line of their own, and whether only with a name. */
const REGIONS = new Map([
  ...set("dialog alertdialog navigation search complementary contentinfo banner menu menubar listbox tree toolbar radiogroup alert status log tooltip tablist")[Symbol.iterator]().map((role) => /** @type {[string, boolean]} */ ([role, false])),
  ...set("tabpanel form region group table grid treegrid figure feed application").values().map((role) => /** @type {[string, boolean]} */ ([role, true])),
]);
const NAMED_BY_CONTENT = set(
  "button link checkbox radio switch menuitem menuitemcheckbox menuitemradio option tab treeitem heading row cell gridcell columnheader rowheader tooltip clickable disclosure",
);
const INPUT_ROLES = new Map([
  ["button", "button"],
  ["submit", "button"],
  ["reset", "button"],
  ["image", "button"],
  ["file", "button"],
  ["checkbox", "checkbox"],
  ["radio", "radio"],
  ["range", "slider"],
  ["number", "spinbutton"],
  ["search", "searchbox"],
  ...["color", "date", "time", "datetime-local", "month", "week"].map((type) => /** @type {[string, string]} */ ([type, type])),
]);
const TEXT_TYPES = set("text search email url tel password number");
const PICKER_TYPES = set("date time datetime-local month week color range");
/** Elements to which every browser gives a cursor of their own. */
const OWN_CURSOR = set("label button input select textarea option");
const HAND = set("pointer grab grabbing move cell copy alias zoom-in zoom-out col-resize row-resize ew-resize ns-resize nwse-resize nesw-resize n-resize e-resize s-resize w-resize se-resize sw-resize ne-resize nw-resize all-scroll");
const SECRET_FIELDS = /(?:^|[^a-z])(?:cvv|cvc|csc|otp|totp|passw(?:or)?d|passcode|pin-?code|one-?time-?code|card-?(?:number|num|no))(?:$|[^a-z])/i;
const SECRET_AUTOCOMPLETE = /(?:^|\s)(?:current-password|new-password|one-time-code|cc-number|cc-csc|cc-exp(?:-month|-year)?)(?:\s|$)/i;
/** Text that libraries hide from the eye by these names. */
const UNSEEN_CLASS = /(?:^|[\s_-])(?:sr-only|visually-?hidden|screen-?reader(?:-text)?|a11y-hidden|cdk-visually-hidden)(?:$|[\s_-])/i;

const _type = getterOf(HTMLInputElement.prototype, "type");
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
    if (ROLE_KINDS.has(role)) return role;
  }
  return "";
}

/** The role that HTML gives to an element, or "". @param {Element} element @param {string} tag @returns {string} */
function nativeRole(element, tag) {
  switch (tag) {
    case "a":
    case "area":
      return attribute(element, "href") !== null || attribute(element, "xlink:href") !== null ? "link" : "";
    case "button":
      return "button";
    case "input": {
      const type = inputType(element);
      if (type === "hidden") return "";
      const role = INPUT_ROLES.get(type);
      if (role && role !== "searchbox") return role;
      if (attribute(element, "list") !== null && (role || TEXT_TYPES.has(type))) return "combobox";
      return role || "textbox";
    }
    case "select":
      return /** @type {HTMLSelectElement} */ (element).multiple || /** @type {HTMLSelectElement} */ (element).size > 1
        ? "listbox"
        : "combobox";
    case "textarea":
      return "textbox";
    case "summary": {
      const parent = parentNode(element);
      return isElement(parent) && localName(/** @type {Element} */ (parent)) === "details" ? "disclosure" : "";
    }
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return "heading";
    case "img":
      return attribute(element, "alt") === "" ? "none" : "img";
    case "dialog":
      return "dialog";
    case "nav":
      return "navigation";
    case "aside":
      return "complementary";
    case "header":
    case "footer": {
      const parent = parentNode(element);
      if (!parent || parent !== body()) return "";
      return tag === "header" ? "banner" : "contentinfo";
    }
    case "form":
      return "form";
    case "search":
      return "search";
    case "section":
      return "region";
    case "fieldset":
      return "group";
    case "table":
      return "table";
    case "tr":
      return "row";
    case "td":
      return "cell";
    case "th":
      return "columnheader";
    case "video":
    case "audio":
      return attribute(element, "controls") !== null ? tag : "";
    case "progress":
      return "progressbar";
    case "meter":
      return "meter";
    default:
      return "";
  }
}

/** @param {Element} element @param {string} tag */
function isEditor(element, tag) {
  const editable = attribute(element, "contenteditable");
  if (editable !== null && editable.toLowerCase() !== "false" && editable.toLowerCase() !== "inherit") return true;
  return tag === "body" && inDesign();
}

/** Whether a listener, attribute or tab stop makes something of an element without a role. @param {Element} element */
function hasHandler(element) {
  if (heardListeners && listening.has(element)) return true;
  if (!(traits(element) & SPECIAL)) return false;
  if (attribute(element, "onclick") !== null || attribute(element, "onmousedown") !== null) return true;
  if (attribute(element, "draggable") === "true") return true;
  const stop = attribute(element, "tabindex");
  return stop !== null && Number(stop) >= 0;
}
