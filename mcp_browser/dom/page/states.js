/** States of an element that are not the default, ready to print. */

/** Fields that once were masked. @type {WeakSet<Element>} */
const secrets = new WeakSet();

let secretMet = false;

/** Whether a field shows signs in the place of what it holds, or once did. @param {Element} element */
function isMasked(element) {
  if (secrets.has(element)) return true;
  const type = localName(element) === "input" ? inputType(element) : "";
  const mayBe = !type || TEXT_TYPES.has(type);
  if (!mayBe || (type !== "password" && /^(?:none)?$/.test(styleOf(element).getPropertyValue("-webkit-text-security")))) return false;
  secrets.add(element);
  return (secretMet = true);
}

/** @param {Element} element */
function isSecret(element) {
  if (isMasked(element) || SECRET_AUTOCOMPLETE.test(attribute(element, "autocomplete") || "")) return true;
  return ["name", "id"].some((name) => SECRET_FIELDS.test(attribute(element, name) || ""));
}

const secretFields = () => /** @type {HTMLInputElement[]} */ (Array.from(allIn(null, "input, textarea, select")).filter(isSecret)).filter((field) => String(field.value));

/** @param {HTMLSelectElement} select */
const selectedText = (select) => Array.from(select.selectedOptions, (option) => tidy(option.label || option.text)).filter(Boolean).join(", ");

const FIRST_OPTIONS = 6;

/** @param {HTMLSelectElement} select */
function optionsState({ options }) {
  let text = "";
  let shown = 0;
  for (let option = options[0]; option && shown < FIRST_OPTIONS && text.length < 120; option = options[++shown]) {
    text += `${shown ? " | " : ""}${cut(tidy(option.label || option.text), 40)}`;
  }
  if (options.length > shown) text += ` | … ${options.length} in all`;
  return `options=${quoted(text)}`;
}

const LONGEST_TARGET = 84;
/** Most addresses of a page's own site need no shortening. */
const PLAIN_PATH = /^\/(?!\/)[\w/.~-]{0,80}$/;

/** What an address with a secret in it has somewhere; whether it has one is decided where it is shown. */
const MAYBE_SECRET = /@|(?:pass|pwd|token|secret|key|auth|bearer|cred|jwt|sess|[cx]srf|card|%[4-7]).*=/i;
/** Between a target that may have a secret in it, not cut yet, and the whole address. */
const WHOLE = "\uE004";
const LONGEST_WHOLE = 2000;

/** @param {string} href */
function shortened(href) {
  if (PLAIN_PATH.test(href)) return href;
  href = href.trim();
  if (href === "" || href === "#" || /^javascript:/i.test(href)) return "";
  if (/^data:/i.test(href)) return "data:…";
  href = href.replace(/([?&])(?:utm_[a-z]+|fbclid|gclid)=[^&#]*/g, "$1").replace(/[?&]+(?=#|$)/, "").replace(/([?&])&+/g, "$1");
  const { origin } = location;
  let whole = "";
  if (MAYBE_SECRET.test(href) && URL.canParse(href, document.baseURI)) {
    const { href: all, origin: at, username, password, pathname, search, hash } = new URL(href, document.baseURI);
    const own = at === origin && origin !== "null" && !(/^[^?#]*@/.test(href) && (username || password));
    whole = all;
    href = own ? pathname + search + hash : all;
  }
  if (origin !== "null" && href.startsWith(origin) && /^(?:[/?#]|$)/.test(href.slice(origin.length))) href = href.slice(origin.length) || "/";
  const scheme = /^https?:\/\//i.exec(href);
  if (scheme && !whole) href = href.slice(scheme[0].length).replace(/\/$/, "");
  href = visible(href.replace(/\s+/g, "%20"));
  if (whole) return href.length + whole.length > LONGEST_WHOLE ? href.slice(0, LONGEST_WHOLE) : href + WHOLE + whole;
  return href.length > LONGEST_TARGET ? `${href.slice(0, LONGEST_TARGET - 30)}…${href.slice(-28)}` : href;
}

const VALIDATED = set("input select textarea");
/** Why the browser holds back a field's form, as `="Please fill out this field."`; it may repeat what was typed. @param {Element} field @param {string} tag */
function complaint(field, tag) {
  const message = !isSecret(field) && VALIDATED.has(tag) ? tidy(/** @type {HTMLInputElement} */ (field).validationMessage) : "";
  return message && `=${quoted(cut(message, LONGEST_VALUE))}`;
}

/** Add the text that a field holds, cut, and how long it is in all where it is longer. @param {string} text @param {Element} field @param {string[]} states */
function pushText(text, field, states) {
  const secret = isSecret(field);
  states.push(`value=${secret ? "•••" : quoted(cut(text, LONGEST_VALUE))}`);
  if (!secret && text.length > LONGEST_VALUE) states.push(`characters=${text.length}`);
}

/** Whether a component that has no role is checked or selected by an attribute of its own, as native controls are. @param {Element} element @param {string} state */
const saysItself = (element, state) => localName(element).includes("-") && !explicitRole(element) && (attribute(element, state) ?? "false") !== "false";

/** What a number has to be, by attributes of such names. @param {Element} element @param {string} prefix @param {string[]} names */
const bounds = (element, prefix, names) =>
  names.map((name) => [name, tidy(attribute(element, prefix + name) || "")]).flatMap(([name, given]) => (given && given !== "any" ? `${name}=${given}` : []));

/** @param {Element} element @param {string} tag @param {string} role @param {string} name @returns {string[]} */
function statesOf(element, tag, role, name) {
  /** @type {string[]} */
  const states = [];
  if (tag === "input") inputStates(/** @type {HTMLInputElement} */ (element), role, name, states);
  else if (tag === "textarea") {
    const field = /** @type {HTMLTextAreaElement} */ (element);
    // What a code editor's field holds is not its text.
    if (field.value && !surfaceOf(element, tag)) pushText(field.value, element, states);
  } else if (tag === "select") {
    const select = /** @type {HTMLSelectElement} */ (element);
    states.push(`value=${quoted(cut(selectedText(select), LONGEST_VALUE))}`, ...(select.multiple ? ["multiple"] : []), optionsState(select));
  } else if (tag === "option" && /** @type {HTMLOptionElement} */ (element).selected) states.push("selected");
  else if (tag === "summary") states.push(`expanded=${matches(element, "details[open] > summary")}`);
  else if (tag === "video" || tag === "audio") states.push(/** @type {HTMLMediaElement} */ (element).paused ? "paused" : "playing");
  if (!(traits(element) & (STATE | SPECIAL)) && !stateful.has(element)) {
    if (isBarred(element)) states.push("disabled");
    if (role === "link") linkState(element, name, states);
    return states;
  }

  const checked = tag === "input" ? null : attribute(element, "aria-checked") || (saysItself(element, "checked") && "true");
  if (checked === "true") states.push("checked");
  else if (checked === "mixed") states.push("checked=mixed");
  const pressed = attribute(element, "aria-pressed") || "";
  if (/^(?:true|mixed|false)$/.test(pressed)) states.push(pressed === "true" ? "pressed" : `pressed=${pressed}`);
  const expanded = attribute(element, "aria-expanded");
  if (tag !== "summary" && (expanded === "true" || expanded === "false")) states.push(`expanded=${expanded}`);
  if (attribute(element, "aria-selected") === "true" || saysItself(element, "selected")) states.push("selected");
  const current = attribute(element, "aria-current");
  if (current && current !== "false") states.push("current");
  if (role === "slider" || role === "spinbutton" || role === "scrollbar") {
    const value = attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow");
    if (value && tag !== "input") states.push(`value=${quoted(tidy(value))}`, ...(role === "scrollbar" ? [] : bounds(element, "aria-value", ["min", "max"])));
  } else if ((role === "textbox" || role === "searchbox" || role === "combobox") && tag !== "input" && tag !== "textarea" && tag !== "select") {
    const held = tidy(heldBy(element));
    const isLabelled = role === "combobox" && name && held.startsWith(`${name} `) && shownWithin(element, "*").some((part) => childElementCount(part) === 0 && tidy(textContent(part)) === name);
    const value = isLabelled ? held.slice(name.length + 1) : held;
    if (value && value !== name) pushText(value, element, states);
  }
  if (isDisabled(element) || isBarred(element)) states.push("disabled");
  if (attribute(element, "aria-readonly") === "true" || ((tag === "textarea" || (tag === "input" && inputType(element) !== "range")) && attribute(element, "readonly") !== null)) {
    states.push("readonly");
  }
  if (attribute(element, "aria-required") === "true" || (attribute(element, "required") !== null && tag !== "a")) states.push("required");
  const invalid = attribute(element, "aria-invalid");
  if (VALIDATED.has(tag) && matches(element, ":user-invalid")) states.push(`invalid${complaint(element, tag)}`);
  else if (invalid && invalid !== "false") states.push("invalid");
  const popup = attribute(element, "aria-haspopup");
  if (popup && popup !== "false") states.push(popup === "true" ? "haspopup" : `haspopup=${popup}`);
  const level = role === "treeitem" && attribute(element, "aria-level");
  if (level) states.push(`level=${level}`);
  if (attribute(element, "draggable") === "true") states.push("draggable");
  if (role === "link") linkState(element, name, states);
  return states;
}

/** The text that an element holds as a field, without what it only shows while it is empty. @param {Element} element */
function heldBy(element) {
  if (attribute(element, "data-placeholder") === "") return "";
  // A field that is not typed into shows all of the value; what stands beside it may be its label.
  const twin = explicitRole(element) === "combobox" ? /** @type {HTMLInputElement[]} */ (shownWithin(element, "input[readonly]"))[0] : null;
  if (twin?.value && !isSecret(twin)) return twin.value;
  valuing = true;
  try {
    const text = contentOf(element, element, 0, false);
    return isEditor(element, localName(element)) ? inLines(text, /pre|break/.test(styleOf(element).whiteSpace)) : text.replaceAll(BREAK, " ");
  } finally {
    valuing = false;
  }
}

/** A text whose lines are separated by signs. @param {string} text @param {boolean} preformatted whether its white space is shown as it is */
const inLines = (text, preformatted) => text.split(preformatted ? /[\n\uE003]/ : BREAK).map((line) => tidy(line)).filter(Boolean).join("⏎");

/** @param {Element} element @param {string} name @param {string[]} states */
function linkState(element, name, states) {
  const href = attribute(element, "href") || attribute(element, "xlink:href");
  const [target = "", whole] = shortened(href || "").split(WHOLE);
  if (target) states.push(`→ ${withoutEcho(target, name)}${whole ? WHOLE + whole : ""}`);
}

const SHORTEST_ECHO = 5;
const NO_LETTERS = /[^\p{L}\p{N}]+/gu;

/** An address without a fragment that says no more than the link's name. @param {string} target @param {string} name */
function withoutEcho(target, name) {
  const at = target.indexOf("#");
  if (at < 0 || target.length - at <= SHORTEST_ECHO) return target;
  const echo = target.slice(at + 1).replace(NO_LETTERS, "").toLowerCase();
  return echo && name.replace(NO_LETTERS, "").toLowerCase().startsWith(echo) ? `${target.slice(0, at)}#…` : target;
}

/** What is written on the label of what is checked, where its name does not say it. @param {Element} element @param {string} role @param {string} name */
function otherLabel(element, role, name) {
  const written = role !== "switch" && traits(element) & (LABEL | LABELLED) ? labelText(element) : "";
  const label = isDoubled(written) ? written.slice(0, written.length >> 1) : written;
  return ` ${name} `.toLowerCase().includes(` ${label} `.toLowerCase()) ? "" : label;
}

/** @param {HTMLInputElement} input @param {string} role @param {string} name @param {string[]} states */
function inputStates(input, role, name, states) {
  const type = inputType(input);
  if (type === "checkbox" || type === "radio") {
    if (input.indeterminate || input.checked) states.push(input.indeterminate ? "checked=mixed" : "checked");
    const label = otherLabel(input, role, name);
    if (label) states.push(`text=${quoted(cut(label, LONGEST_VALUE))}`);
    return;
  }
  if (role === "switch" && attribute(input, "aria-checked") === "true") states.push("checked");
  if (type === "file") {
    states.push("type=file");
    if (input.multiple) states.push("multiple");
    const names = Array.from(input.files ?? [], (file) => file.name).join(", ");
    if (names) states.push(`value=${quoted(cut(names, LONGEST_VALUE))}`);
    return;
  }
  if (BUTTON_TYPES.has(type) || type === "image") return;
  if (type === "password" && isSecret(input)) states.push("type=password");
  const value = input.value;
  if (value) states.push(`value=${isSecret(input) ? "•••" : quoted(cut(value, LONGEST_VALUE))}`);
  if (type === "range" || type === "number") {
    const meaning = tidy(attribute(input, "aria-valuetext") || "");
    if (meaning && meaning !== value) states.push(`text=${quoted(cut(meaning, LONGEST_VALUE))}`);
    states.push(...bounds(input, "", ["min", "max", "step"]));
  }
}

/** Whether something in a tree may refuse clicks by its cursor or class. @param {Node} root */
function mayBar(root) {
  const { barred, blind } = addedTo(root);
  return blind || barred.length > 0 || queryAll(root, '[style*="not-allowed"],[cursor="not-allowed"],.disabled').length > 0;
}

/** Whether its cursor says of an element that it takes no click, or its class and that the mouse has nothing there; native fields say so themselves, and a canvas has the cursor of where the mouse was last. @param {Element} element */
function isBarred(element) {
  if (walk.start && !walk.bars) return false;
  const tag = localName(element);
  if (TYPED.has(tag) || tag === "select" || tag === "canvas") return false;
  const { cursor } = styleOf(element);
  return cursor === "not-allowed" || (matches(element, ".disabled,.disabled>a") && ((cursor === "default" && tag === "a") || isThrough(element)));
}

const DISABLEABLE = set("button input select textarea option optgroup fieldset");

/** @param {Element} element */
function isDisabled(element) {
  const tag = localName(element);
  return attribute(element, "aria-disabled") === "true" || ((DISABLEABLE.has(tag) || tag.includes("-")) && matches(element, ":disabled"));
}
