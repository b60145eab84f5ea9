/** Hints: what a control that has no name may be for, by its icon and by what its author calls it; never by its layout. */

const TOOLTIPS = ["title", "alt", "data-tooltip", "data-original-title", "data-bs-original-title", "data-title", "data-tip", "data-tippy-content", "aria-description"];
const ICON_ATTRIBUTES = ["data-icon", "data-lucide", "data-feather", "icon", "icon-name"];
const ICONS = "svg,use,i,img,span,[name],[data-icon],[data-lucide],[data-feather],[icon],[icon-name]";
const MOST_ICONS = 8;
/** Words before the name in the classes of icon fonts and icon sets. */
const ICON_CLASS =
  /^(?:fa|mdi|bi|lucide|icon|icons|ico|glyphicon|ti|tabler-icon|ri|pi|la|ph|bx|bxs|uil|octicon|codicon|anticon|feather|ion|(?!btn|svg|has|with)\w+-icon|k-i|ui-icon|i|heroicon|remixicon|material-symbols|iconify|typcn|oi|si|cil|ki|isax|fi|fi-rr|eva|zmdi|dashicons|wpicon|symbol|sprite)-+(?![\d-])([a-z][\w-]*)$/i;
/** What such classes say of size, style and movement. */
const ICON_STYLE = /^(?:\d?x[sl]|\d+x|s|m|l|xs|sm|md|lg|xl|fw|ul|li|spin\w*|pulse|beat|fade|flip\S*|rotate\S*|stack\S*|inverse|border|pull-\w+|solid|regular|light|thin|duotone|brands|sharp|outlined?|rounded|filled|fill|bold|base|set|icon|icons|wrapper|container|button|btn|only|left|right|size\S*|\d+)$/i;
const LIGATURES = ".material-icons,.material-icons-outlined,.material-icons-round,.material-icons-sharp,[class*=material-symbols],.md-icon,.mat-icon,.q-icon,.v-icon,.notranslate";
/** Words in a class of a control's own that say what it does. */
const DEEDS = set(
  "close delete remove trash edit add create next prev previous back forward menu hamburger search settings gear config more expand collapse toggle copy paste save download upload share like favorite play pause stop mute refresh reload undo redo zoom fullscreen minimize maximize filter pin unpin lock unlock help info user profile cart home handle drag drop resizer clear cancel send submit print calendar logout login dismiss reply archive star bookmark",
);
const LAYOUT_CLASS = /[:\d[\]/]|^(?:cursor|border|text|bg|overflow|flex|items|justify|self|content|object|align|float|clear|position|d|m[trblxy]?|p[trblxy]?|w|h|min|max|rounded|shadow|resize|select|pointer|transition|group|peer|sr|not|col|row|grid|table)(?:-|$)/;
/** What two buttons share, one for each direction. */
const BOTH_WAYS = /next[-_]?prev|prev(?:ious)?[-_]?next/i;
/** What bundlers put after a class of a module. */
const MODULE_HASH = /__(?=\w*\d)\w+$/;
const GENERATED = /^[:«_]|\d{4}|[0-9a-f]{8}|^(?:radix|headlessui|react-aria|mui|ember|ext|el-id|v|cdk|mat|ui-id|aria|reach|chakra|downshift|id|field|input|btn|button)[-_:]*\d|:r\w+:|_r_\w+_/i;
const NAMING = ["name", "data-testid", "data-test-id", "data-test", "data-cy", "data-qa", "data-action", "data-command", "data-value", "data-role", "id", "data-id"];
const PASSING = /^(?:.*--)?(?:is-|has-)?(?:active|selected|disabled|hover(?:ed)?|over|focus(?:ed)?|open|first|last|current|checked|hidden|visible|loading|button|btn|icon)$/i;
const LONGEST_WORD = 60;

/** Words out of a name as programs write it. @param {string} name */
const inWords = (name) => tidy(name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[-_./]+/g, " "));

/** What a control without a name may be for; "" where nothing says so. @param {Element} element @returns {string} */
function hintOf(element) {
  const tip = tipOf(element) || tipAround(element) || drawnAs(element) || iconOf(element);
  if (tip || isResizer(element)) return cut(tip || pulledAt(element), LONGEST_WORD);
  // The colour behind an icon, or of a switch, is not what it stands for.
  const isSwatch = !query(element, "svg,img,canvas") && !matches(element, "[role=switch]");
  const [first, second] = isSwatch ? [colourOf, calledBy] : [calledBy, colourOf];
  // Which of its set it says that it is, such as a star among five.
  const [at, of] = ["aria-posinset", "aria-setsize"].map((name) => attribute(element, name));
  return cut(first(element) || second(element) || (at && of ? `${at} of ${of}` : ""), LONGEST_WORD);
}

/** Whether an element is there to be pulled at for another size. @param {Element} element */
const isResizer = (element) => /resize$/.test(styleOf(element).cursor);

const GRIP_WORD = /handle|grip|resize|drag/i;
const LONGEST_PART = 14;

/** What an element that is pulled at for another size is called, and at which side of what it lies, or between what. @param {Element} grip */
function pulledAt(grip) {
  const { cursor } = styleOf(grip);
  const [across, down] = [!/^(?:row|n|s|ns)-/.test(cursor), !/^(?:col|e|w|ew)-/.test(cursor)];
  const { left, top, width, height } = rectOf(grip);
  // At the middle of a long one another may end.
  const [x, y] = [left + width * (across ? 0.5 : 0.3), top + height * (down ? 0.5 : 0.3)];
  const [dx, dy] = [across ? width / 2 + BEYOND : 0, down ? (height / 2 + BEYOND) * (/^(?:ne|sw)/.test(cursor) ? -1 : 1) : 0];
  const called = calledBy(grip);
  const hint = GRIP_WORD.test(called) ? called : "resize";
  const isIn = (/** @type {DOMRect} */ box, /** @type {number} */ sign) => x + sign * dx > box.left && x + sign * dx < box.right && y + sign * dy > box.top && y + sign * dy < box.bottom;
  // The first words of a long text may change.
  const isLong = (/** @type {Element} */ part) => !query(part, HEADINGS) && tidy(textContent(part)).length > LONGEST_HINT;
  const gist = (/** @type {Element | null | undefined} */ part) => (part ? cut(tidy(attribute(part, "aria-label") || "") || (isLong(part) ? "" : gistOf(part)), LONGEST_PART) : "");
  for (const outer of outward(flatParent(grip))) {
    const box = rectOf(outer);
    if (isIn(box, 1) === isIn(box, -1) || holds(outer, body())) continue;
    const side = `${down ? (2 * y < box.top + box.bottom ? " top" : " bottom") : ""}${across ? (2 * x < box.left + box.right ? " left" : " right") : ""}`;
    return [hint + side, gist(outer)].filter(Boolean).join(" of ");
  }
  for (const part of outward(grip)) {
    const beside = [part.previousElementSibling, part.nextElementSibling];
    const [first, second] = [-1, 1].map((sign) => gist(beside.find((one) => one && isIn(rectOf(one), sign))));
    if (first && second) return `${hint} between ${first} and ${second}`;
  }
  return hint;
}

const COLOUR_ATTRIBUTES = ["data-color", "data-colour", "data-value", "value"];
const COLOUR_STYLE = /background|--[^:;]*(?:colou?r[^:;]*:|:\s*(?:#|rgb|hsl))/i;
const COLOUR_WORD = /^(?:#|[a-z][a-z\s-]*$)/i;
const [LARGEST_SWATCH, MOST_PAINTED, LEAST_COLOURS] = [80, 5, 3];

/** The colour that an element is painted with, by what lies on top in it; "" where it shows something else. @param {Element} element */
function paintOf(element) {
  const parts = [element, ...queryAll(element, "*")];
  if (parts.length > MOST_PAINTED || !isBlank(textContent(element))) return "";
  for (const [part, pseudo] of parts.reverse().filter(isSeen).flatMap((part) => ["::after", "::before", ""].map((pseudo) => /** @type {[Element, string]} */ ([part, pseudo])))) {
    const { backgroundColor, content } = styleOf(part, pseudo);
    const paint = channels(backgroundColor);
    if (paint?.[3] === 0 || backgroundColor.endsWith("/ 0)") || (pseudo && content === "none")) continue;
    return paint?.[3] === 1 ? `#${paint.slice(0, 3).map((one) => one.toString(16).padStart(2, "0")).join("")}` : backgroundColor;
  }
  return "";
}

/** Whether what comes first in a box is painted in several colours. @param {Element} box */
function isPalette(box) {
  let isOne = walk.palettes.get(box);
  if (isOne === undefined) {
    const colours = childrenOf(box).slice(0, LEAST_COLOURS + 1).map(paintOf);
    isOne = new Set(colours.filter(Boolean)).size >= LEAST_COLOURS;
    walk.palettes.set(box, isOne);
  }
  return isOne;
}

/** The colour that an element stands for which shows nothing else, written on it or other than its siblings'; "" where its name says more than a sibling's. @param {Element} element @param {string} name */
function colourOf(element, name = "") {
  if (name && ![element.nextElementSibling, element.previousElementSibling].some((beside) => beside && attribute(beside, "aria-label") === name)) return "";
  const { width, height } = rectOf(element);
  const colour = Math.max(width, height) <= LARGEST_SWATCH ? paintOf(element) : "";
  if (!colour || name.toLowerCase().includes(colour)) return "";
  const isGiven = [element, ...queryAll(element, "[style]")].some((part) => COLOUR_STYLE.test(attribute(part, "style") || ""));
  if (!isGiven && !isPalette(/** @type {Element} */ (parentNode(element)))) return "";
  return COLOUR_ATTRIBUTES.map((key) => attribute(element, key) || "").find((value) => COLOUR_WORD.test(value)) || colour;
}

const TITLED = "[title],[alt]:not([alt='']),[aria-label]";

/** What a tooltip or description says, of the element or of what is in it. @param {Element} element @param {boolean} seen whether only what is seen speaks for it */
function tipOf(element, seen = false) {
  const tip = TOOLTIPS.map((name) => tidy(attribute(element, name) || "")).find(Boolean);
  if (tip) return tip;
  const described = referred(element, "aria-describedby").map((target) => tidy(textContent(target))).find(Boolean);
  if (described) return described;
  const inner = seen ? Array.from(queryAll(element, TITLED)).find(isSeen) : query(element, `${TITLED},svg > title`);
  return inner ? tidy(attribute(inner, "aria-label") || attribute(inner, "title") || attribute(inner, "alt") || textContent(inner)) : "";
}

/** So many stand in a box with a field and its outline: icons, a button. */
const MOST_OUTLINED = 6;

/** What is said of an element by what is put around it alone, or by the outline that is drawn beside it. @param {Element} element */
function tipAround(element) {
  const outer = flatParent(element);
  if (!isElement(outer) || !/^(?:span|div)$/.test(localName(outer)) || childElementCount(outer) > MOST_OUTLINED) return "";
  if (childElementCount(outer) === 1) return tidy(attribute(outer, "aria-label") || attribute(outer, "title") || "");
  const outline = query(outer, ":scope > fieldset[aria-hidden=true] > legend");
  return outline ? tidy(textContent(outline)) : "";
}

/** What the icon in an element shows, by the name that its library gives it. @param {Element} element */
function iconOf(element) {
  const icons = [element, ...Array.from(queryAll(element, ICONS)).slice(0, MOST_ICONS)];
  for (const icon of icons) {
    const value = ICON_ATTRIBUTES.map((name) => attribute(icon, name)).find(Boolean);
    if (value) return inWords(value.replace(/^[\w-]+:/, ""));
    const tag = localName(icon);
    const test = icon !== element && /^(.*)Icon$/.exec(attribute(icon, "data-testid") || "");
    const fragment = tag === "use" && /#(?:icons?-|ico-|i-|svg-|symbol-)?([\w-]+)$/i.exec(attribute(icon, "href") || attribute(icon, "xlink:href") || "");
    const named = (test && test[1]) || (icon !== element && tag.includes("-") && attribute(icon, "name")) || (fragment && fragment[1]);
    if (named) return inWords(named);
    const file = tag === "img" && fileName(attribute(icon, "src") || "");
    if (file) return file;
    const classed = (attribute(icon, "class") || "").split(/\s+/).map((token) => ICON_CLASS.exec(token)?.[1]).find((name) => name && !ICON_STYLE.test(name));
    const word = classed || (matches(icon, LIGATURES) && /^[a-z][a-z\d_]+$/.exec(tidy(textContent(icon)))?.[0]);
    if (word) return inWords(word);
  }
  for (const icon of icons.slice(0, 3)) {
    const drawn = styleOf(icon);
    const name = fileName(/url\("([^"]+)"\)/.exec(`${drawn.backgroundImage} ${drawn.maskImage}`)?.[1] || "");
    if (name) return name;
  }
  return "";
}

/** The name of a picture's file, where it is one that people give. @param {string} address */
function fileName(address) {
  const match = /([^/?#]+)\.(?:svg|png|gif|jpe?g|webp|avif|ico)(?:[?#]|$)/i.exec(address);
  const name = match && match[1] ? match[1].replace(/[.-][0-9a-f]{8,}$/i, "") : "";
  return name && !/^data:/i.test(address) && !GENERATED.test(name) ? inWords(name) : "";
}

/** What its author calls an element: by attributes that are there to find it by, or a class that says what it does. @param {Element} element */
function calledBy(element) {
  for (const name of NAMING) {
    // The name of a radio button is that of all in its group.
    const value = tidy(attribute(element, name === "name" && matches(element, "[type=radio]") ? "value" : name) || "");
    if (value && value.length <= LONGEST_WORD && !GENERATED.test(value)) return value;
  }
  const tokens = (attribute(element, "class") || "").split(/\s+/).map((token) => token.replace(MODULE_HASH, "")).filter((token) => token && !LAYOUT_CLASS.test(token));
  const words = tokens.flatMap((token) => (BOTH_WAYS.test(token) ? [] : inWords(token).toLowerCase().split(" ")));
  return words.find((word) => DEEDS.has(word)) ?? ownWord(element, tokens);
}

/** The class that none of the elements beside an element has. @param {Element} element @param {string[]} tokens */
function ownWord(element, tokens) {
  const parent = parentNode(element);
  if (!tokens.length || !parent) return "";
  const others = new Set();
  let beside = 0;
  for (let other = firstChild(parent); other && beside < MOST_BESIDE_IT; other = nextSibling(other)) {
    if (other === element || !isElement(other) || localName(other) !== localName(element)) continue;
    beside++;
    for (const token of (attribute(other, "class") || "").split(/\s+/)) others.add(token);
  }
  const own = tokens.filter((token) => !others.has(token) && !PASSING.test(token) && !GENERATED.test(token));
  return beside && tokens.length > own.length ? own[0] || "" : "";
}
const MOST_BESIDE_IT = 30;

const LONGEST_PLACE = 60;
const HEADINGS = "h1,h2,h3,h4,h5,h6,[role=heading],legend,caption";
const MOST_ALIKE = 50;

/** By the ids of look-alikes: what the largest thing says, in quotes, that holds only one of them. @param {number[][]} groups @returns {Record<string, string>} */
function placesOf(groups) {
  /** @type {Record<string, string>} */
  const places = {};
  for (const ids of groups) {
    const elements = ids.slice(0, MOST_ALIKE).flatMap((id) => byId(id) || []);
    const said = elements.map((element) => surroundings(element, elements));
    for (const [i, place] of said.entries()) {
      if (place && said.indexOf(place) === said.lastIndexOf(place)) places[idOf(/** @type {Element} */ (elements[i]))] = quoted(place);
    }
  }
  return places;
}

/** @param {Element} element @param {Element[]} others */
function surroundings(element, others) {
  const around = Array.from(outward(flatParent(element)));
  const end = around.findIndex((outer) => outer === body() || others.some((other) => other !== element && holds(outer, other)));
  const entry = around[(end < 0 ? around.length : end) - 1];
  return entry ? cut(gistOf(entry), LONGEST_PLACE) : "";
}

/** What a part of the page says first: its heading or its text. @param {Element} part */
function gistOf(part) {
  const heading = query(part, HEADINGS);
  return (heading && tidy(textContent(heading))) || tidy(String((part instanceof HTMLElement && _innerText.call(part)) || textContent(part)));
}
