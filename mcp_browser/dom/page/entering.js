/** What an element is told as, and whether what is in it is read too. */

const MOST_GUESSES = 63;

/**
 * Begin to read an element; whether its children are to be read.
 * @param {Element} element
 * @param {Open | null} parent
 * @returns {Open | null}
 */
function enterElement(element, parent) {
  const tag = localName(element);
  if (SKIPPED.has(tag)) return null;
  let muted = false;
  let unseen = false;
  if (!isSeen(element)) {
    const style = styleOf(element);
    if (style.display === "none") return null;
    if (style.display === "contents") muted = style.visibility !== "visible";
    else if (style.visibility !== "visible") muted = true;
    else if (Number(style.opacity) === 0 && isReplaceable(element, tag)) unseen = true;
    else return null;
  }
  const inline = INLINE.has(tag);
  if (tag === "br") {
    if (walk.run !== "") {
      if (walk.row || walk.inside !== null) gather(element, " ");
      else flush();
    }
    return null;
  }
  const attributed = traits(element) !== 0;
  const marked = (traits(element) & SPECIAL) !== 0;
  const explicit = marked ? explicitRole(element) : "";
  let role = explicit && explicit !== "none" && explicit !== "presentation" && explicit !== "generic" ? explicit : "";
  if (!role && (!explicit || isNativelyFocusable(element, tag))) role = nativeRole(element, tag);
  if (role === "none") role = "";
  let what = role ? ROLE_KINDS.get(role) || "interactive" : "";
  let editor = false;
  if (tag === "select") what = "interactive";
  if (marked || tag === "body") {
    if (isEditor(element, tag)) {
      editor = true;
      role = role && ROLE_KINDS.get(role) === "interactive" ? role : "textbox";
      what = "interactive";
    }
  }
  if (what === "interactive" && muted) what = "";

  /** @type {Open} */
  const frame = {
    element,
    list: null,
    at: 0,
    start: walk.lines.length,
    block: !inline,
    muted: muted || (tag === "details" && !(/** @type {HTMLDetailsElement} */ (element).open)),
    hand: undefined,
    suspect: undefined,
    far: null,
    run: 0,
    guesses: 0,
    kind: "",
    zone: parent ? parent.zone : null,
    close: null,
    entries: null,
  };
  if (inline) {
    if (walk.run !== "") walk.edges.push(element);
  } else flush();
  frame.start = walk.lines.length;

  if (marked && !walk.inert && attribute(element, "inert") !== null) {
    walk.inert = true;
    frame.close = () => {
      walk.inert = false;
    };
  }
  if (tag === "label" && !role) return enterLabel(element, frame);
  switch (what) {
    case "interactive":
      return enterControl(element, tag, role, editor, unseen, frame);
    case "region":
      if (hasPlainHandler(element, role)) return enterClickable(element, frame, role);
      return enterRegion(element, tag, role, frame);
    case "heading":
      return enterHeading(element, tag, frame);
    case "row":
      return enterRow(element, frame);
    case "cell":
      if (walk.row) return enterCell(element, tag, role, frame);
      break;
    case "image":
      if (!hasHandler(element)) return enterImage(element, tag, role);
      return enterControl(element, tag, "img", false, unseen, frame);
    case "meter":
      enterMeter(element, tag, role);
      return null;
    default:
  }
  if (tag === "iframe" || tag === "frame") return enterFrame(element, tag);
  if (tag === "object" && /** @type {HTMLObjectElement} */ (element).contentWindow) return enterFrame(element, tag);
  if (tag === "canvas") return muted ? null : enterCanvas(element, tag, frame);
  if (tag === "svg") {
    if (attributed && hasHandler(element)) return enterClickable(element, frame, "");
    const name = nameOf(element, tag, "");
    if (name && walk.inside === null && (explicit === "img" || attribute(element, "aria-hidden") !== "true")) pushImage(element, name);
    if (walk.inside === null && !name && !childElementCount(element)) return null;
  }
  if (attributed) {
    if (marked && attribute(element, "aria-hidden") === "true" && walk.inside === null && !query(element, CONTROLS)) {
      if (!hasHandler(element) && !(heardListeners && hasListenerInside(element))) return hush(frame);
    }
    if (mayBeTrap(element) && tag !== "label" && isTrap(element)) return null;
    if (traits(element) & CLASS && UNSEEN_CLASS.test(attribute(element, "class") || "") && !query(element, CONTROLS)) return null;
  }
  if (walk.inside === null || !parent) {
    if (hasHandler(element) && !muted && element !== body() && element !== rootElement()) {
      return enterClickable(element, frame, role);
    }
  }
  if (LEAVES.has(tag)) return null;
  if (!inline && parent && frame.zone === null && childElementCount(element) > 0) {
    if (walk.rects <= 0) {
      // Of many brothers of one kind that lie far off, not each is measured.
      if (parent.guesses > 0 && parent.far !== null && parent.kind === kindOf(element, tag)) {
        parent.guesses--;
        frame.zone = parent.far;
      } else {
        const box = rectOf(element);
        if (box.width > 0 && box.height > 0) {
          if (box.bottom < -walk.margin) frame.zone = Math.round(box.bottom);
          else if (box.top > walk.height + walk.margin) frame.zone = Math.round(box.top - walk.height);
        }
        const alike = frame.zone !== null && parent.far !== null && frame.zone > 0 && parent.kind === kindOf(element, tag);
        parent.run = alike ? Math.min(parent.run * 2 + 1, MOST_GUESSES) : 0;
        parent.guesses = parent.run;
        parent.far = frame.zone;
        parent.kind = kindOf(element, tag);
      }
    } else if (attributed && isCollapsed(element)) return null;
  }
  if (!childElementCount(element) && walk.inside === null && !muted && tag !== "slot" && isBlank(textContent(element)) && !shadowOf(element) && !addsText(element)) {
    suspectHost(element, tag);
    // An empty element that shows a picture and takes clicks: an icon.
    if (parent && handOver(element)) {
      walk.open.push(frame);
      const at = underHand();
      walk.open.pop();
      if (at === walk.open.length) {
        const far = farOf(element, false);
        if (far === far && walk.ignoredHand !== element) {
          frame.close = null;
          openClickable(frame, walk.lines.length);
          /** @type {any} */ (frame).close();
        }
      } else if (at >= 0) discover(at);
    }
    // Highlighted code has its spaces in elements of their own.
    if (inline && walk.run !== "" && textContent(element) !== "") walk.run += " ";
    return null;
  }
  if (tag.includes("-") && !shadowOf(element)) suspectHost(element, tag);
  return frame;
}
