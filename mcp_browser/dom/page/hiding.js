/** What styles hide in ways that checkVisibility() does not know. */

/** Whether it is worth asking whether a style clips an element to nothing. @param {Element} element @param {ShadowRoot | null} root */
const mayBeTrap = (element, root) => (surveyed && walk.shadows === 0 && !root ? suspicious(element) : walk.checks > 0);

/** Whether it is worth asking whether an element's text can be seen: its ink is its own or inherited. @param {Open} frame */
const isSuspect = (frame) => (surveyed && walk.shadows === 0 ? frame.suspect : walk.checks > 0);

/** Whether a style scales an element to nothing, as a badge without a number. @param {CSSStyleDeclaration} style */
const isShrunk = ({ transform, display }) => display !== "inline" && transform.startsWith("matrix(0, 0, 0, 0,");
/** @param {Element} element */
const isScaledAway = (element) => suspicious(element) && isShrunk(styleOf(element));

/** Whether a style clips an element to nothing. @param {Element} element */
function isTrap(element) {
  walk.checks--;
  const style = styleOf(element);
  if (isShrunk(style) || FAINT_FILTER.test(style.filter)) return true;
  if (Number(style.opacity) < LEAST_OPACITY && !isShownByHover(element) && !isUnrevealed(element, style) && !isHitArea(element, style)) return true;
  if ((style.clipPath !== "none" && leavesNothing(element, style.clipPath)) || (style.maskImage !== "none" && isMaskedAway(style))) return true;
  if ((style.overflowX !== "visible" || style.overflowY !== "visible") && isSizeless(element, rectOf(element))) return true;
  if ((style.position !== "absolute" && style.position !== "fixed") || style.clip === "auto") return false;
  const [top = 0, right = 0, bottom = 0, left = 0] = (style.clip.match(/-?[\d.]+|auto/g) || []).map(Number);
  return right - left <= 1 || bottom - top <= 1;
}

/** How many descendants are asked how they are placed. */
const MOST_ASKED = 60;

/** Whether what is in a box without a size is seen all the same: its clipping is the view's, or they are placed by what is further out. @param {Element} element @param {string} position */
function letsOut(element, position) {
  if (element === body() || element === rootElement()) return true;
  if (position !== "static") return false;
  return Array.from(queryAll(element, "*")).slice(0, MOST_ASKED).some((inner) => {
    const { position, display } = styleOf(inner);
    if (display === "none" || !(inner instanceof HTMLElement)) return false;
    const placed = position === "absolute" ? /** @type {Element | null} */ (_offsetParent.call(inner)) : null;
    return position === "fixed" || (placed && !holds(element, placed));
  });
}

const LEAST_OPACITY = 0.05;
const FAINT_FILTER = /opacity\(0(?:\.0[0-4]\d*)?\)/;

/** Parts of a computed value, those in brackets whole. @param {string} text */
const partsOf = (text) => text.match(/(?:[^\s,()]|\([^()]*\))+/g) || [];

/** A length in pixels, of one that may be a share; NaN where it is neither. @param {string | undefined} text @param {number} whole */
function pixels(text, whole) {
  const found = /^(-?[\d.]+)(px|%)$/.exec(text || "");
  return found ? Number(found[1]) * (found[2] === "%" ? whole / 100 : 1) : NaN;
}

/** Whether a computed `clip-path` leaves nothing of an element; what is made of sums of lengths is taken for seen. @param {Element} element @param {string} clip */
function leavesNothing(element, clip) {
  const shape = /^([\w-]+)\((.*)\)/.exec(clip);
  if (!shape) return false;
  const [, kind = "", inner = ""] = shape;
  const box = rectOf(element);
  const width = Math.max(box.width, _scrollWidth.call(element));
  const height = Math.max(box.height, _scrollHeight.call(element));
  const nothing = (/** @type {number} */ left, /** @type {number} */ top, /** @type {number} */ right, /** @type {number} */ bottom) =>
    Math.min(right, width) - Math.max(left, 0) <= 1 || Math.min(bottom, height) - Math.max(top, 0) <= 1;
  if (kind === "inset") {
    const [top, right = top, bottom = top, left = right] = partsOf(inner.split(" round ")[0] || "");
    return nothing(pixels(left, box.width), pixels(top, box.height), box.width - pixels(right, box.width), box.height - pixels(bottom, box.height));
  }
  if (kind === "circle" || kind === "ellipse") {
    const [size = "", place = "50% 50%"] = inner.split(/\s*\bat /);
    const [across, down = across] = partsOf(size);
    const [x, y] = partsOf(place);
    const round = kind === "circle" ? Math.hypot(box.width, box.height) / Math.SQRT2 : 0;
    const [a, b, left, top] = [pixels(across, round || box.width), pixels(down, round || box.height), pixels(x, box.width), pixels(y, box.height)];
    return a <= 0 || b <= 0 || nothing(left - a, top - b, left + a, top + b);
  }
  if (kind === "polygon") {
    const points = inner.replace(/^(?:nonzero|evenodd), /, "").split(/,\s*/).map(partsOf);
    const [across, down] = [points.map(([x]) => pixels(x, box.width)), points.map(([, y]) => pixels(y, box.height))];
    return nothing(Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down));
  }
  if (kind === "path") return !/[1-9]/.test(inner);
  const id = /^url\("?#([^")]+)/.exec(clip);
  const path = id && queryAll(document, `clipPath[id="${CSS.escape(/** @type {string} */ (id[1]))}"]`)[0];
  return path ? childElementCount(path) === 0 : false;
}

/** Whether a mask lets nothing through: one of colours that are all transparent, or without a size. @param {CSSStyleDeclaration} style */
function isMaskedAway(style) {
  if (style.maskSize.split(", ").every((size) => size.split(" ").some((side) => parseFloat(side) === 0))) return true;
  if (!/^[\w-]*gradient\(/.test(style.maskImage) || style.maskImage.includes("url(")) return false;
  const colors = style.maskImage.match(/(?:rgba?|color|oklch|oklab|lab|lch|hsla?)\([^()]*\)/g) || [];
  return colors.length > 0 && colors.every((color) => (channels(color)?.[3] ?? 1) < LEAST_OPACITY);
}

/** Whether an element of no opacity may be drawn once it is scrolled to: it has a place of its own above or below what is seen; not what lies over others, as a closed menu. @param {Element} element */
function isUnrevealed(element, style = styleOf(element)) {
  const { position, pointerEvents, visibility } = style;
  if (position === "absolute" || position === "fixed" || pointerEvents === "none" || visibility !== "visible") return false;
  const box = rectOf(element);
  const port = walk.start ? portNow() : viewport();
  if (box.width <= 1 || box.height <= 1 || box.right <= port.left || box.left >= port.right) return false;
  if (box.bottom <= port.top || box.top >= port.bottom) return true;
  // At the lower end what comes into view may not be drawn yet.
  const edge = (port.bottom - port.top) * 0.2;
  const scrolls = box.top >= port.bottom - edge ? (port.id ? byId(port.id) : scroller()) : null;
  return !!scrolls && _scrollHeight.call(scrolls) - _clientHeight.call(scrolls) - _scrollTop.call(scrolls) >= edge;
}

/** Whether an element is not drawn until it is scrolled to, by its own style or that of what it stands in. @param {Element} element */
function waitsForScroll(element) {
  const faded = Array.from(outward(element)).find((outer) => Number(styleOf(outer).opacity) === 0);
  return !!faded && isUnrevealed(faded);
}

/** Whether an element that is fixed to the view lies beside it, with all that is in it: nobody can scroll there. @param {Element} element */
function isOutOfView(element) {
  walk.checks--;
  if (styleOf(element).position !== "fixed" || !(element instanceof HTMLElement) || _offsetParent.call(element)) return false;
  const isBare = (/** @type {DOMRect} */ box) => box.width === 0 || box.height === 0;
  const own = rectOf(element);
  if (isInView(own) && !isBare(own)) return false;
  const inner = Array.from(queryAll(element, "*")).slice(0, MOST_ASKED).map(rectOf);
  return (!isInView(own) || inner.length > 0) && inner.every((box) => !isInView(box) || isBare(box));
}

/** Red, green, blue and opacity of a computed colour, null where it is of another kind. @param {string} color */
function channels(color) {
  const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(color);
  return found && found.slice(1).map((part) => (part === undefined ? 1 : Number(part)));
}

/** How much two colours may differ, of 255 in each channel, so that nobody can distinguish them. */
const ALIKE = 6;
/** What is positioned over or under a text may be its ground; with more siblings than this it is taken for seen. */
const MOST_BROTHERS = 40;
const MOST_LAYERS = 24;
const WHITE = [255, 255, 255];

/** Whether letters certainly have the colour of their ground: nothing around them is a picture, positioned or laid over another. @param {Element} element @param {string} color */
function isLikeGround(element, color) {
  const ink = channels(color);
  if (!ink) return false;
  const own = styleOf(element);
  const alike = (/** @type {number[]} */ ground) => ground.slice(0, 3).every((part, i) => Math.abs(part - /** @type {number} */ (ink[i])) <= ALIKE);
  // What is around is looked at for white letters only: to look for all costs too much.
  const outer = /** @type {Element | null} */ (flatParent(element));
  if (!alike(WHITE) && own.backgroundColor !== color && !(isElement(outer) && styleOf(outer).backgroundColor === color)) return false;
  if (own.textShadow !== "none" || parseFloat(own.getPropertyValue("-webkit-text-stroke-width")) > 0) return false;
  let layers = MOST_LAYERS;
  for (const layer of outward(element)) {
    if (layers-- <= 0) return false;
    const style = styleOf(layer);
    const ground = channels(style.backgroundColor);
    if (!ground || style.backgroundImage !== "none" || style.filter !== "none" || style.mixBlendMode !== "normal") return false;
    if (ground[3] === 1) return alike(ground);
    if (ground[3] !== 0 || style.position !== "static" || style.display.includes("grid")) return false;
    if (layer === rootElement()) break;
    for (const pseudo of ["::before", "::after"]) if (styleOf(layer, pseudo).content !== "none") return false;
    const brothers = Array.from(/** @type {Element} */ (parentNode(layer) || layer).children);
    if (brothers.length > MOST_BROTHERS || brothers.some((brother) => styleOf(brother).position !== "static")) return false;
  }
  return !styleOf(/** @type {Element} */ (rootElement())).colorScheme.includes("dark") && alike(WHITE);
}

/** Whether a text lies over a canvas: the letters laid over a drawn page, to be selected, are those of the drawing. @param {Element} element */
function isOverPicture(element) {
  const box = rectOf(element);
  const canvas = Array.from(outward(flatParent(element), 4), (outer) => query(outer, "canvas")).find(Boolean);
  const drawn = canvas && rectOf(canvas);
  return !!drawn && drawn.left <= box.left + 2 && drawn.top <= box.top + 2 && drawn.right >= box.right - 2 && drawn.bottom >= box.bottom - 2;
}

/** Whether the letters of an element's text are transparent or shifted out of the page. @param {Element} element */
function isInvisible(element) {
  walk.checks--;
  const style = styleOf(element);
  if (parseFloat(style.textIndent) < -500 || style.contentVisibility === "hidden") return true;
  const color = style.getPropertyValue("-webkit-text-fill-color");
  if (!/^rgba\(.*,\s*0(?:\.0[0-4]\d*)?\)$/.test(color)) return isLikeGround(element, color);
  // A picture or gradient that shows through the letters is seen.
  for (const outer of outward(element)) if (styleOf(outer).backgroundClip.includes("text")) return false;
  return style.textShadow === "none" && !isOverPicture(element);
}

/** Form controls that are used all the same where they are not drawn. */
const HIDDEN_FIELDS = "input[type=range],input[type=checkbox],input[type=radio],input[type=file],input[role=combobox][readonly],input[role=combobox][inputmode=none],select";

/** What there is to act on in an element of no opacity. @param {Element} element @returns {"" | "fields" | "hover" | "scroll"} */
const faintness = (element, style = styleOf(element)) => (isShownByHover(element) || isHitArea(element, style) ? "hover" : isWrapperOfField(element) ? "fields" : isUnrevealed(element, style) ? "scroll" : "");

/** Whether an element that is not drawn has been put around one form control only, rather than being a part of the page that is hidden. @param {Element} element */
function isWrapperOfField(element) {
  const field = query(element, HIDDEN_FIELDS);
  const slotted = Array.from(queryAll(element, "slot")).flatMap((slot) => /** @type {HTMLSlotElement} */ (slot).assignedElements({ flatten: true }));
  const typed = slotted.flatMap((one) => [one, ...queryAll(one, TYPED_INTO)]).filter((one) => isFieldOnTop(one, localName(one)));
  if (typed.length === 1) return true;
  return !!field && queryAll(element, CONTROLS).length === 1 && (localName(field) === "select" || isBlank(textContent(element)));
}

/** Whether a style draws an element while the mouse is over it or what it stands in. @param {Element} element */
function isShownByHover(element) {
  const { hover } = addedTo(treeNow || rootOf(element));
  return hover.length > 0 && matches(element, `:is(${hover.join(",")})`);
}

/** Whether a field of no opacity lies over what is drawn in its stead, so that a click there is its. @param {Element} element @param {string} tag */
function isFieldOnTop(element, tag) {
  if ((tag !== "input" && tag !== "textarea") || attribute(element, "tabindex") === "-1" || isKeptFromReaders(element)) return false;
  if (tag === "input" && !TEXT_TYPES.has(inputType(element)) && !PICKER_TYPES.has(inputType(element))) return false;
  const box = rectOf(element);
  if (box.width < 4 || box.height < 4 || styleOf(element).pointerEvents === "none") return false;
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  return x < 0 || y < 0 || x >= innerWidth || y >= innerHeight || at(x, y) === element;
}

/** Whether a control stands where nobody can see it, so that only its label is there to be clicked. @param {Element} control @param {Element} label */
function isLost(control, label) {
  const tag = localName(control);
  if (!isReplaceable(control, tag) || tag === "select") return false;
  if (isNaN(distance(control, rectOf(control), true))) return true;
  for (const outer of outward(flatParent(control), 4)) {
    if (holds(outer, label)) break;
    if (isTrap(outer)) return true;
  }
  return false;
}

const INLINE_THROUGH = '[style*="pointer-events"],[pointer-events=none]';
const MOST_TAKERS = 4;
const CLICKED = "a[href],button,summary,label,[role=button],[role=link]";

/** Whether the mouse goes through an element. @param {Element} element */
const isThrough = (element) => styleOf(element).pointerEvents === "none";

/** Whether a control is one that only the mouse works and that lets it through, so that nothing takes its clicks. @param {Element} element */
function isOutOfMouse(element) {
  if (!(walk.through || walk.shadows > 0) || !isThrough(element)) return false;
  const tag = localName(element);
  const kind = valueKind(controlOf(element));
  if ((kind !== "none" && kind !== "check") || isReplaceable(element, tag) || shadowOf(element)) return false;
  // While something is open, a page may let the mouse through all else: then it is what is open that counts.
  if (isThrough(/** @type {Element} */ (body() || element))) return false;
  return Array.from(queryAll(element, "*")).every(isThrough) && !labelsOf(element).some(isSeen) && !takesItsClicks(element);
}

/** Whether an element lets the mouse through and one of the first of its kind beside it does not: of items that are listened for by what they stand in, it is left out. @param {Element} element */
function isLeftOut(element) {
  let other = element.parentElement?.firstElementChild;
  for (let left = MOST_TAKERS; other && left > 0; left--, other = other.nextElementSibling) {
    if (localName(other) === localName(element) && !isThrough(other)) return true;
  }
  return false;
}

/** Whether what an element stands in takes the clicks that go through it. @param {Element} element */
function takesItsClicks(element) {
  let left = MOST_TAKERS;
  for (const outer of outward(flatParent(element))) {
    if (left <= 0 || outer === body() || outer === rootElement()) return false;
    if (isThrough(outer)) continue;
    left--;
    const box = rectOf(outer);
    // What listens all over the page does so for whatever else is on it.
    if (box.width * box.height > innerWidth * innerHeight * 0.6) return false;
    if (HAND.has(styleOf(outer).cursor) || (listensItself(outer) && !isLeftOut(element)) || matches(outer, CLICKED)) return true;
  }
  return false;
}
