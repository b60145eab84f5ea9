/** Whether a person could see an element, by scrolling if need be. */

/**
 * @typedef {object} Sight
 * @property {string} hidden why nobody can see or use it, whatever is scrolled or hovered; "" where one can
 * @property {string} unseen the same, and why it is not seen as the page is now: no ink, clipped away
 * @property {string} html how it begins
 *
 * @this {unknown}
 * @param {...Element} elements
 * @returns {Sight[]}
 */
function sight(...elements) {
  const HIDING = new Set(["hidden", "clip"]);
  const HTML_CHARACTERS = 200;

  /** The parent as drawn: through slots and shadow roots. @param {Element} element @returns {Element | null} */
  const above = (element) => {
    if (element.assignedSlot) return element.assignedSlot;
    const parent = element.parentNode;
    return parent instanceof ShadowRoot ? parent.host : element.parentElement;
  };
  /** @param {Element} element */
  const below = (element) =>
    element instanceof HTMLSlotElement && element.assignedElements().length > 0
      ? element.assignedElements()
      : [...(element.shadowRoot ?? element).children];
  /** @param {Element} outer @param {Element} inner */
  const holds = (outer, inner) => {
    /** @type {Element | null} */
    let at = inner;
    while (at && at !== outer) at = above(at);
    return at === outer;
  };
  /** Whether it may be drawn by others. @param {Element} element */
  const takesValue = (element) =>
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement && !["hidden", "button", "submit", "reset", "image"].includes(element.type)) ||
    // An editor that draws its text itself takes what is typed in an element of its own.
    Boolean("editContext" in element && element.editContext);

  /** Its boxes with any area, those of its content where it has none itself. @param {Element} element @returns {DOMRect[]} */
  const boxes = (element) => {
    // A straight line of a drawing is as wide as its stroke, which its box does not include.
    const least = element instanceof SVGGeometryElement && getComputedStyle(element).stroke !== "none" ? -1 : 1;
    const own = [...element.getClientRects()].filter((box) => box.width > least && box.height > least && box.width + box.height > 2);
    if (own.length > 0) return own;
    const range = document.createRange();
    range.selectNodeContents(element);
    const text = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    return text.length > 0 ? text : below(element).flatMap(boxes);
  };

  /** @param {CSSStyleDeclaration} style @param {boolean} fixed */
  const contains = (style, fixed) =>
    style.transform !== "none" ||
    style.perspective !== "none" ||
    style.filter !== "none" ||
    /paint|layout|strict|content/.test(style.contain) ||
    /transform|filter|perspective/.test(style.willChange) ||
    (!fixed && style.position !== "static");

  /** Clipped by itself. @param {CSSStyleDeclaration} style */
  const clipsAll = (style) =>
    (style.clip.startsWith("rect(") && style.position !== "static" && !/[2-9]|1\d/.test(style.clip)) ||
    /inset\((50|100)%|circle\(0|polygon\(0(px|%)? 0(px|%)?, 0(px|%)? 0/.test(style.clipPath);

  /** Why nothing of its boxes can be scrolled into sight. @param {Element} element */
  const clipped = (element) => {
    const all = boxes(element);
    if (all.length === 0) return "size";
    return all.every((box) => clips(element, box)) ? "clipped" : "";
  };
  /** @param {Element} element @param {DOMRect} box */
  const clips = (element, box) => {
    let { left, top, right, bottom } = box;
    let style = getComputedStyle(element);
    if (clipsAll(style)) return true;
    let position = style.position;
    for (let at = above(element); at && at !== document.documentElement; at = above(at)) {
      style = getComputedStyle(at);
      if (style.display === "contents") continue;
      if (clipsAll(style)) return true;
      if (position === "fixed" && !contains(style, true)) continue;
      if (position === "absolute" && !contains(style, false)) continue;
      position = style.position;
      if (at === document.body) break;
      const inline = style.display === "inline";
      const frame = at.getBoundingClientRect();
      for (const axis of ["X", "Y"]) {
        const overflow = axis === "X" ? style.overflowX : style.overflowY;
        if (inline || overflow === "visible") continue;
        const [from, to] = axis === "X" ? [left, right] : [top, bottom];
        const [start, end] = axis === "X" ? [frame.left, frame.right] : [frame.top, frame.bottom];
        if (end - start < 1) return true;
        if (HIDING.has(overflow)) {
          if (Math.min(to, end) - Math.max(from, start) < 1) return true;
        } else {
          // What lies before the beginning cannot be scrolled to, save where it runs from right to left.
          const scrolled = axis === "X" ? at.scrollLeft : at.scrollTop;
          if (style.direction !== "rtl" && to + scrolled - start < 1) return true;
        }
        // Within what scrolls it can come to stand anywhere.
        const within = HIDING.has(overflow) ? [Math.max(from, start), Math.min(to, end)] : [start, end];
        if (axis === "X") [left, right] = /** @type {[number, number]} */ (within);
        else [top, bottom] = /** @type {[number, number]} */ (within);
      }
    }
    const root = document.scrollingElement ?? document.documentElement;
    const own = getComputedStyle(document.documentElement);
    const shown = own.overflowX === "visible" && own.overflowY === "visible" && document.body ? getComputedStyle(document.body) : own;
    const stuck = position === "fixed";
    const [x, y] = stuck ? [0, 0] : [root.scrollLeft, root.scrollTop];
    if (own.direction !== "rtl" && right + x < 1) return true;
    if (bottom + y < 1) return true;
    if ((stuck || HIDING.has(shown.overflowX)) && left >= innerWidth) return true;
    return (stuck || HIDING.has(shown.overflowY)) && top >= innerHeight;
  };

  const modal = [...document.querySelectorAll("dialog:modal")].at(-1);

  /** @param {Element} element */
  const hiddenBy = (element) => {
    if (!element.isConnected) return "gone";
    /** @type {Element | null} */
    let at = element;
    for (; at; at = above(at)) {
      if (at instanceof HTMLElement && at.inert) return "inert";
      const parent = above(at);
      const isSummary = parent instanceof HTMLDetailsElement && at === parent.querySelector(":scope > summary");
      if (parent instanceof HTMLDetailsElement && !parent.open && !isSummary) return "details";
    }
    if (modal && !holds(modal, element)) return "inert";
    const style = getComputedStyle(element);
    if (style.visibility !== "visible") return "visibility";
    const drawn = style.display === "contents" ? boxes(element).length > 0 : element.checkVisibility();
    if (drawn) return "";
    for (at = above(element); at; at = above(at)) if (getComputedStyle(at).contentVisibility === "hidden") return "content-visibility";
    return "display";
  };
  /** @param {Element} element */
  const isClear = (element) =>
    element.checkVisibility({ opacityProperty: true }) || getComputedStyle(element).display === "contents";

  /**
   * Whether what stands for a form control can be seen: its label, or where the keyboard comes to it the nearest box around it.
   * @param {Element} control
   */
  const hasFace = (control) => {
    const labels = [.../** @type {HTMLInputElement} */ (control).labels ?? []];
    if (labels.some((label) => hiddenBy(label) === "" && isClear(label) && clipped(label) === "")) return true;
    if (/** @type {HTMLElement} */ (control).tabIndex < 0) return false;
    let around = above(control);
    while (around) {
      const { width, height } = around.getBoundingClientRect();
      if (width > 1 && height > 1) break;
      around = above(around);
    }
    return around !== null && isClear(around) && clipped(around) === "";
  };

  return elements.map((element) => {
    const native = takesValue(element);
    const labels = native ? [.../** @type {HTMLInputElement} */ (element).labels ?? []] : [];
    let hidden = hiddenBy(element);
    if (hidden === "display" && labels.some((label) => hiddenBy(label) === "" && clipped(label) === "")) hidden = "";
    if (hidden === "" && !native && boxes(element).length === 0 && element.getClientRects().length > 0) {
      const { width, height } = element.getBoundingClientRect();
      if (width === 0 || height === 0) hidden = "size";
    }
    let unseen = hidden;
    if (unseen === "" && native) unseen = (isClear(element) && clipped(element) === "") || hasFace(element) ? "" : "clipped";
    else if (unseen === "") unseen = isClear(element) ? clipped(element) : "opacity";
    return { hidden, unseen, html: element.outerHTML.replace(/\s+/g, " ").slice(0, HTML_CHARACTERS) };
  });
}
