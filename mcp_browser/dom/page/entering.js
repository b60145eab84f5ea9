/** The line that an element gets, and whether its children are read too. */

/** What is known of an element while its children are read. @typedef {ReturnType<typeof newFrame>} Open */
/** @param {Element} element */
const newFrame = (element) => ({
  element,
  tag: "",
  root: /** @type {ShadowRoot | null} */ (null),
  leaf: false, // no element is in it, light or in a shadow tree
  text: /** @type {string | null} */ (null), // all text in it, where that has been asked for
  list: /** @type {Node[] | null} */ (null), // the nodes that a slot shows, or null for ordinary children
  at: 0, // position in `list`
  start: 0, // how many lines there were before
  block: false,
  muted: false, // its own text cannot be seen
  pointed: false, // whether it may have a cursor of its own
  row: false, // whether what stands in it belongs together
  hand: /** @type {"acts" | "refuses" | false | undefined} */ (undefined), // whether the cursor is that of something to act on
  // Whether it lies in what is not drawn: form controls there are used all the same, and what is drawn while the mouse
  // is over it or once it is scrolled to.
  faint: /** @type {"" | "fields" | "hover" | "scroll"} */ (""),
  suspect: false, // whether a style may make its text invisible
  far: /** @type {number | null} */ (null), // distance of the child measured last, where all of it is far off
  run: 0, // how many children may be taken for as far off as that one
  guesses: 0, // how many of them are left
  kind: "", // what they have in common
  zone: /** @type {number | null} */ (null), // distance from the view of all that is in it, null where lines differ
  within: NO_PORT, // what it is seen through itself
  port: NO_PORT, // what its children are seen through: the same, or itself where it scrolls
  close: /** @type {((start: number) => void) | null} */ (null),
  entries: /** @type {(Line | Element)[] | null} */ (null), // by turns the first line of a child, and the child
});

/** The frame of an element, which `enterElement` fills in; siblings share one, which saves much garbage. @param {Element} element @param {Open | null} parent @returns {Open} */
function frameFor(element, parent) {
  const frame = (walk.frames[walk.open.length] ??= newFrame(element));
  frame.element = element;
  frame.text = frame.list = frame.far = frame.close = frame.entries = null;
  frame.at = frame.run = frame.guesses = 0;
  frame.start = walk.lines.length;
  frame.hand = undefined;
  frame.kind = "";
  frame.zone = parent ? parent.zone : null;
  frame.within = frame.port = parent ? parent.port : walk.port;
  return frame;
}

/** Begin to read an element; whether its children are to be read. @param {Element} element @param {Open | null} parent @returns {Open | null} */
function enterElement(element, parent) {
  const { tag, bits, role: tagRole } = tagOf(element);
  if (bits & SKIPPED_TAG) return null;
  let faint = parent ? parent.faint : "";
  let muted = faint === "fields";
  let unseen = false;
  const style = isSeen(element) ? null : styleOf(element);
  if (style?.display === "none") return null;
  if (style && (style.display === "contents" || style.visibility !== "visible")) muted = style.visibility !== "visible";
  else if (style) {
    const faded = Number(style.opacity) === 0;
    if (faded && (!faint || faint === "scroll")) faint = faintness(element, style);
    if (faint !== "scroll") {
      unseen = (faded || faint !== "") && (isReplaceable(element, tag) || isFieldOnTop(element, tag) || surfaceOf(element, tag) !== null);
      if (!faint && !unseen) return null;
      muted = faint !== "hover";
    }
  }
  if (muted && (unseen || (faint && (isReplaceable(element, tag) || surfaceOf(element, tag))))) muted = false;
  const inline = (bits & INLINE_TAG) !== 0;
  if (tag === "br") {
    if (walk.run !== "" && (walk.row || walk.inside !== null)) gather(element, " ", null);
    else flush();
    return null;
  }
  const means = traits(element);
  const attributed = means !== 0;
  const marked = (means & SPECIAL) !== 0;
  const explicit = marked ? explicitRole(element) : "";
  let role = explicit && explicit !== "none" && explicit !== "presentation" && explicit !== "generic" ? explicit : "";
  if (!role && (!explicit || isNativelyFocusable(element, tag))) role = tagRole === null ? nativeRole(element, tag) : tagRole;
  if (role === "none") role = "";
  let what = role ? ROLE_KINDS.get(role) || "interactive" : "";
  let editor = false;
  if (tag === "select") what = "interactive";
  if ((marked || tag === "body") && isEditor(element, tag)) {
    editor = true;
    role = role && ROLE_KINDS.get(role) === "interactive" ? role : "textbox";
    what = "interactive";
  }

  const root = bits & HOST_TAG ? shadowOf(element) : null;
  const inner = tag === "input" ? 0 : childElementCount(element);
  const leaf = inner === 0 && !root && tag !== "slot";
  const frame = frameFor(element, parent);
  frame.tag = tag;
  frame.root = root;
  frame.leaf = leaf;
  frame.block = !inline;
  frame.faint = faint;
  frame.muted = muted || faint === "hover" || (tag === "details" && !(/** @type {HTMLDetailsElement} */ (element).open));
  frame.pointed = pointing(element);
  frame.row = ROWS.has(tag) || (marked && ROW_ROLES.has(explicit));
  frame.suspect = (parent !== null && parent.suspect) || (surveyed && walk.shadows === 0 && suspicious(element));
  if (inline) {
    if (walk.run !== "") walk.edges.push(element);
  } else {
    flush();
    frame.start = walk.lines.length;
    if (!leaf && frame.zone === null && mayScroll(element, tag, means)) frame.port = portOf(element, frame.within);
  }

  if (marked && !walk.inert && attribute(element, "inert") !== null) {
    walk.inert = true;
    frame.close = () => void (walk.inert = false);
  }
  // Of what is hidden, only what is shown within it is read.
  if (muted) return bits & LEAF_TAG || leaf ? null : frame;
  if (tag === "label" && !role) return enterLabel(element, frame);
  if (tag === "canvas" && what === "region") what = "";
  const isRegion = what === "region" && REGIONS.has(role);
  switch (what) {
    case "interactive":
      return enterControl(element, tag, role, editor, unseen, frame);
    case "region":
      if (hasPlainHandler(element, role)) return enterClickable(element, frame, role);
      if (isRegion && enterRegion(element, tag, role, frame)) return frame;
      role = "";
      break;
    case "heading":
      return enterHeading(element, tag, frame);
    case "row":
      return enterRow(element, frame);
    case "cell":
      if (walk.row) return enterCell(element, tag, role, frame);
      break;
    case "image":
      if (!hasHandler(element) && !isPointedAt(element)) return enterImage(element, tag, role, frame);
      return enterControl(element, tag, "img", false, unseen, frame);
    case "meter":
      return enterMeter(element, tag, role, frame);
    default:
  }
  if (tag === "iframe" || tag === "frame" || (tag === "object" && /** @type {HTMLObjectElement} */ (element).contentWindow)) return enterFrame(element, tag);
  if (tag === "canvas") return isDrawnByEditor(element) ? null : enterCanvas(element, tag, frame);
  if (tag === "svg") {
    if (attributed && hasHandler(element)) return enterClickable(element, frame, "");
    const name = nameOf(element, tag, "");
    if (name && walk.inside === null && (explicit === "img" || attribute(element, "aria-hidden") !== "true")) pushImage(element, name);
    if (walk.inside === null && !name && inner === 0) return null;
  }
  if (attributed) {
    const named = means & CLASS ? attribute(element, "class") || "" : "";
    const isMarked = named !== "" && MARKING_CLASS.test(named);
    if (isMarked && walk.inside === null && isGutter(element, named)) return hush(frame);
    if (marked && attribute(element, "aria-hidden") === "true" && walk.inside === null && isDecoration(element)) {
      if (!hasHandler(element) && !(heardListeners && Array.from(queryAll(element, "*")).some((inner) => listening.has(inner)))) return hush(frame);
    }
    if (mayBeTrap(element, root) && tag !== "label" && isTrap(element)) {
      if (!isWrapperOfField(element) && !holdsKeyField(element)) return null;
      frame.faint = "fields";
      frame.muted = true;
    }
    if (mayBeFixed(element) && isOutOfView(element)) {
      // What is in it can be reached by keys, unless it is hidden from readers, too.
      if (closest(element, "[aria-hidden=true]")) return null;
      frame.faint = "hover";
      frame.muted = true;
    }
    if (isMarked && UNSEEN_CLASS.test(named) && !query(element, CONTROLS)) return null;
  }
  // A link without an address in a control, named and without words, does something else.
  const isLinkInControl = tag === "a" && !role && walk.inside !== null && walk.inside !== ALL && (means & (LABEL | TITLE)) !== 0;
  if (((walk.parted && !role && attributed) || isLinkInControl) && isPartOfItem(element, tag)) {
    const name = nameOf(element, tag, "") || (CLOSER.exec(attribute(element, "class") || "")?.[0] ?? "").toLowerCase() || hintOf(element);
    pushControl(element, tag === "a" ? "link" : "clickable", name, [], farOf(element, false), element === walk.active);
    return null;
  }
  const isOne = heardListeners && (means & (SPECIAL | OTHER)) !== 0 && (walk.inside === null || tag === "a") && isItemOfListener(element);
  if (!isRegion && (isOne || ((walk.inside === null || !parent) && hasHandler(element))) && !isDrawnByEditor(element) && element !== body() && element !== rootElement()) {
    return enterClickable(element, frame, role);
  }
  if (bits & LEAF_TAG) return null;
  if (!inline && parent && frame.zone === null && (inner > 0 || what === "region")) {
    if (walk.rects <= 0) {
      if (inner > 0) learnZone(element, frame, parent);
    } else if ((attributed || what === "region") && frame.faint !== "fields" && isCollapsed(element)) {
      if (!holdsKeyField(element)) return null;
      frame.faint = "fields";
      frame.muted = true;
    }
  }
  if (leaf && walk.inside === null) {
    const text = (frame.text = textContent(element));
    if (isBlank(text) && !addsText(element)) {
      enterEmpty(element, tag, frame, parent);
      // Highlighted code has its spaces in elements of their own.
      if (inline && walk.run !== "" && text !== "") walk.run += " ";
      return null;
    }
  }
  if (bits & HOST_TAG && !root && tag.includes("-")) suspectHost(element, tag);
  return frame;
}

/** An element that shows nothing of its own: an icon, where it takes clicks. @param {Element} element @param {string} tag @param {Open} frame @param {Open | null} parent */
function enterEmpty(element, tag, frame, parent) {
  suspectHost(element, tag);
  if (!parent || !handOver(element, tag)) return;
  walk.open.push(frame);
  const isGrip = frame.pointed && isResizer(element);
  const at = isGrip ? walk.open.length - 1 : underHand();
  if (isGrip) flush();
  walk.open.pop();
  if (at !== walk.open.length) discover(at);
  else if (!isNaN(farOf(element, isDrawnFlat(element))) && walk.ignoredHand !== element) {
    frame.close = null;
    openClickable(frame, walk.lines.length);
    /** @type {any} */ (frame).close?.();
  }
}
