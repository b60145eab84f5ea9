/** Regions, headings, and what adds no line of its own. */

/** What is being read adds nothing at all. */
const ALL = "\uE002";

/** A region's line, where it is worth one. @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
function enterRegion(element, tag, role, frame) {
  let name = nameOf(element, tag, role);
  const isDialog = role === "dialog" || role === "alertdialog";
  const titled = !name && isDialog && query(element, "h1,h2,h3,h4,[role=heading],[class*=title]");
  if (titled) name = tidy(textContent(titled));
  // A list that a control holds is one of its own.
  const within = walk.inside !== null && (role !== "listbox" || walk.inside === ALL);
  if ((REGIONS.get(role) && !name) || within) return null;
  if (role === "form" && tag === "form" && !matches(element, "[aria-label],[aria-labelledby]")) return null;
  flush();
  const far = farOf(element, true);
  const id = keep(element);
  const states = role === "listbox" && attribute(element, "aria-multiselectable") === "true" ? ["multiple"] : [];
  const own = newLine("region", element, id, role, cut(name, LONGEST_NAME), states, far === far ? far : 0);
  if (!name && role === "radiogroup") addHint(own, labelBeside(element));
  frame.start = walk.lines.length;
  walk.lines.push(own);
  walk.depth++;
  const outer = setWalk({ row: null });
  return whenRead(frame, () => {
    walk.depth--;
    outer();
    const at = walk.lines.lastIndexOf(own);
    if (walk.lines.length === at + 1 && !(far === far && isDialog)) walk.lines.length = at;
    else if (name) {
      const title = walk.lines.slice(at + 1, at + 4).find(({ kind, name }) => (kind === "heading" || kind === "text") && name === own.name);
      if (title) walk.lines.splice(walk.lines.indexOf(title, at), 1);
      if (isWithinTwin(own, at)) takeOut(at);
    }
  });
}

/** Whether all that a region holds is one of the same role and name: a component and what it has put into itself. @param {Line} own @param {number} at its place */
function isWithinTwin(own, at) {
  const twin = walk.lines[at + 1];
  if (!twin || twin.kind !== "region" || twin.role !== own.role || twin.name !== own.name || own.name === "") return false;
  return walk.lines.slice(at + 2).every((line) => line.depth > twin.depth);
}

/** Whether what is hidden from readers alone says nothing: an icon, or what stands beside it just so. @param {Element} element */
function isDecoration(element) {
  // What a slot or a shadow tree shows stands elsewhere.
  if (query(element, `${CONTROLS},slot`) || shadowOf(element) || isDrawnByEditor(element)) return false;
  const text = textContent(element);
  if (!WORDS.test(text) || (ONE_WORD.test(text) && (matches(element, LIGATURES) || isLigature(element, text)))) return true;
  for (let other = firstChild(parentNode(element) || element); other; other = nextSibling(other)) {
    if (other === element || !isElement(other) || textContent(other) !== text || attribute(other, "aria-hidden") === "true") continue;
    const box = rectOf(other);
    if (box.width > 1 && box.height > 1) return true;
  }
  return false;
}

/** @param {Open} frame */
function hush(frame) {
  frame.muted = true;
  return whenRead(frame, setWalk({ inside: ALL, row: null }));
}

/** @param {Element} element @param {string} tag @param {Open} frame */
function enterHeading(element, tag, frame) {
  const given = Number(attribute(element, "aria-level"));
  const level = given >= 1 && given <= 9 ? given : /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
  const isPointed = walk.open.length > 0 && handOver(element, tag) && !handAt(walk.open.length - 1);
  if ((hasHandler(element) || isPointed) && walk.inside === null) {
    const entered = enterClickable(element, frame, "");
    const own = walk.lines[frame.start];
    if (own && own.node === element) sayHeading(own, level);
    return entered;
  }
  const label = walk.inside === null && !walk.row ? attribute(element, "aria-label") : null;
  if (label && !query(element, CONTROLS) && label.replace(/\s+/g, "").includes(textContent(element).replace(/\s+/g, ""))) {
    const far = farOf(element, false);
    if (far === far) walk.lines.push(newLine("heading", element, idOf(element), "heading", cut(tidy(label), LONGEST_TEXT), [`level=${level}`], far));
    return null;
  }
  const from = walk.lines.length;
  const outer = setWalk({ heading: level });
  return whenRead(frame, () => {
    outer();
    // A heading that only repeats the name of the control around it is a state of that control.
    const around = walk.inside !== null && walk.lines.slice(from).every((line) => walk.echoes.has(line)) ? walk.lines.findLast((line) => line.depth < walk.depth) : undefined;
    if (around && around.kind === "interactive") sayHeading(around, level);
  });
}

/** @param {Line} heading */
const levelOf = (heading) => Number((heading.states[0] || "").slice(6)) || 2;

/** Say of a control that it is or holds a heading. @param {Line} own @param {number} level */
function sayHeading(own, level) {
  if (!own.states.some((state) => /^h\d$/.test(state))) own.states = [...own.states, `h${level}`];
}
