/** What an input will act on: all that a rule about elements may be about. */

/**
 * What a rule may be about, and what a person knows it as: the control that the input is meant for.
 * @typedef {[role: string, name: string, text: string, shownRole: string, shownName: string]} Target
 */

/** @param {Element} element @param {Element} [control] the one that it is in @returns {Target} */
function targetOf(element, control = element) {
  const line = describe(element);
  const text = FIELDS.has(line.role) ? "" : tidy(contentOf(element, element, 0, false));
  const shown = control === element ? line : describe(control);
  return [line.role, line.name, cut(text, LONGEST_TEXT), shown.role, shown.name];
}

/**
 * An element, the control that it is in, and the controls around that one. What only listens counts where it is
 * the innermost: of rows and boxes that take clicks, all that is in them would be the name.
 * @param {Element | null} element @returns {Target[]}
 */
function targetsAround(element) {
  let inner = null;
  const found = new Set(element ? [element] : []);
  for (const outer of outward(element)) {
    const tag = localName(outer);
    if (tag === "html" || tag === "body") break;
    const isControl = ROLE_KINDS.get(roleOf(outer)) === "interactive" || tag === "summary" || isEditor(outer, tag);
    const labelled = controlOf(outer);
    if (labelled !== outer) found.add(labelled);
    if (!isControl && (inner || !hasHandler(outer))) continue;
    found.add(outer);
    inner ||= outer;
  }
  const control = inner || element;
  return control ? Array.from(found, (one) => targetOf(one, control)) : [];
}

/** What Enter does in a field: its form is sent by its first button, and of a list the active entry is chosen. @param {Element} field @returns {Target[]} */
function targetsOfEnter(field) {
  const active = attribute(field, "aria-activedescendant");
  const found = active ? targetsAround(_getElementById.call(document, active)) : [];
  const { form } = /** @type {HTMLInputElement} */ (field);
  if (!form || localName(field) === "textarea") return found;
  // A form counts by its own name: what is in it has names of its own.
  const name = cut(nameOf(form, "form", "form"), LONGEST_NAME);
  found.push(["form", name, "", "form", name]);
  const buttons = /** @type {HTMLInputElement[]} */ (Array.from(queryAll(rootOf(field), "button, input")));
  const first = buttons.find((button) => button.form === form && /^(?:submit|image)$/.test(button.type));
  return first ? [...found, targetOf(first)] : found;
}

/** The origins that rules and secrets are bound to, as the browser has them. An opaque one may come from its address or from any document around it. */
function whose() {
  const around = [...location.ancestorOrigins];
  const isOpaque = origin === "null";
  const creators = isOpaque ? [new URL(location.href).origin, ...around].filter((one) => one !== "null") : [];
  return { origin, page: around.at(-1) ?? origin, creators };
}

/** `frame` and `node` name the frame in which the input goes on. @param {Element | null} element @param {Target[]} targets */
function actingOn(element, targets) {
  const frame = isFrame(element);
  return { doc: documentKey, whose: whose(), targets, frame, node: element && frame ? wire(describe(element), false) : null };
}

/** @param {number} x @param {number} y */
function targetsAt(x, y) {
  const hit = at(x, y);
  return actingOn(hit, targetsAround(hit));
}

/** What has the keyboard, or is to have it. @param {Element | null} element */
function keyPlace(element) {
  // Whether the hook has been in this document from its beginning.
  if (!isHooked) ask("frames");
  return { active: element ? keep(element) : 0, password: !!element && isMasked(element), origin, watched: isHooked };
}

/** @param {Element} element */
const keyPlaceOf = (element) => ({ doc: documentKey, ...keyPlace(controlOf(element)) });

/** @param {boolean} enter whether Enter is among the keys @param {string} letter one that is pressed with Alt, or nothing */
function targetsOfKeys(enter, letter) {
  const active = deepActive();
  const targets = targetsAround(active);
  if (enter && active) targets.push(...targetsOfEnter(active));
  const isKeyOf = (/** @type {Element} */ element) => (attribute(element, "accesskey") || "").toLowerCase().split(/\s+/).includes(letter);
  if (letter) targets.push(...Array.from(queryAll(document, "[accesskey]")).filter(isKeyOf).map((element) => targetOf(element)));
  return { ...actingOn(active, targets), ...keyPlace(active) };
}

/** @param {Element} element @param {boolean} enter */
const targetsOf = (element, enter) => ({ doc: documentKey, whose: whose(), targets: [...targetsAround(element), ...(enter ? targetsOfEnter(controlOf(element)) : [])] });
