/** The walk: the document, or a part of it, as lines in reading order. */

/** @type {string[]} */
const NO_MARKS = [];
const INERT = ["inert"];
const EXACT_RECTS = 2500;
const MOST_GUESSES = 63;
/** What is told by what its author may have called it where it has no name. */
const HINTED = set("button link menuitem tab img checkbox radio switch");
const LONGEST_HINT = 40;
/** How many elements and texts of a page are asked whether a style keeps them from being seen. */
const TRAP_CHECKS = 8000;
const MOST_IN_CLICKABLE = 12;
const LONGEST_CLICKABLE = 140;
const SMALLEST_FRAME = 5;
const NOWHERE = NaN;
const CONTROLS = "a[href],button,input,select,textarea,summary,[role=button],[role=link],[tabindex],[onclick],[contenteditable]";

/**
 * Read the document, or a part of it, as lines in reading order.
 * @param {Element | null} top
 * @returns {Line[]}
 */
function read(top) {
  ask("nodes");
  labelsOfRoot = new WeakMap();
  addedIn = new WeakMap();
  /** @type {Line[]} */
  const lines = [];
  const start = top || body() || rootElement();
  if (!start) return lines;
  traced = null;
  hosts = [];
  stateful = new WeakSet();
  survey(rootOf(start));
  treeNow = rootOf(start) === document ? document : null;
  surveyStyles();
  const width = innerWidth;
  const height = innerHeight;
  const margin = height * 1.5;
  const offX = scrollX;
  const offY = scrollY;
  const whole = rootElement();
  const leftward = !!whole && styleOf(whole).direction === "rtl";
  const active = deepActive();
  const { before: beforeSome, after: afterSome } = addedTo(document);
  const styled = beforeSome !== null || afterSome !== null;
  /** How many shadow trees deep the walk is: each has style sheets of its own. */
  let shadows = 0;

  /** @type {Open[]} */
  const open = [];
  let depth = 0;
  let rects = EXACT_RECTS;
  let checks = TRAP_CHECKS;
  /** Text being gathered. */
  let run = "";
  /** @type {Element | null} */
  let runHolder = null;
  /** Links within the gathered text, which holds references to them. @type {Line[]} */
  let links = [];
  /** Inline elements whose edge lies between the gathered text and the next. @type {Element[]} */
  let edges = [];
  /** The name that what is being read adds nothing to, where it only repeats it. @type {string | null} */
  let inside = null;
  /** Level of the heading that is being read, or 0. */
  let heading = 0;
  /** @type {{cells: string[], id: number} | null} */
  let row = null;
  let inert = false;
  /** @type {Element | null} */
  let ignoredHand = null;

  /**
   * Distance of an element's box from the view; NaN where nobody can see it.
   * @param {Element} element
   * @param {boolean} small whether tiny boxes count
   */
  function place(element, small) {
    const frame = open.length ? open[open.length - 1] : null;
    const zone = frame ? frame.zone : null;
    if (zone !== null && zone !== undefined) return zone;
    rects--;
    return distance(element, rectOf(element), small);
  }

  /** @param {Element} element @param {DOMRect} box @param {boolean} small */
  function distance(element, box, small) {
    if (box.width <= 1 || box.height <= 1) {
      if (!small && !(box.width <= 1 && box.height <= 1 && box.width > 0)) {
        const range = /** @type {Range} */ (_createRange.call(document));
        range.selectNodeContents(element);
        box = range.getBoundingClientRect();
      }
      if (!small && (box.width <= 1 || box.height <= 1)) return NOWHERE;
    }
    if ((box.right + offX <= 0 && !leftward && box.width > 0) || box.bottom + offY <= 0) {
      if (!scrolledAway(element)) return NOWHERE;
    }
    if (box.bottom <= 0) return Math.min(-1, Math.round(box.bottom));
    if (box.top >= height) return Math.max(1, Math.round(box.top - height));
    if (box.right <= 0) return Math.min(-1, Math.round(box.right));
    if (box.left >= width) return Math.max(1, Math.round(box.left - width));
    return 0;
  }

  /** @param {Kind} kind @param {Element} node @param {number} id @param {string} role @param {string} name @param {string[]} states @param {number} far @returns {Line} */
  function line(kind, node, id, role, name, states, far) {
    return { kind, depth, id, role, name, states, marks: inert ? INERT : NO_MARKS, far, node };
  }

  /** Turn the gathered text into a line. */
  function flush() {
    edges.length = 0;
    if (run === "") return;
    let text = tidy(run, links.length > 0).replace(/^(?:⏎ ?)+|(?: ?⏎)+$/g, "");
    const holder = /** @type {Element} */ (runHolder);
    run = "";
    runHolder = null;
    if (links.length) {
      const after = links;
      links = [];
      // Links at the end of a text stand after it; only one within a sentence is referred to from there.
      text = text.replace(LAST_REFERENCES, "");
      if (!WORDS.test(text.replace(REFERENCES, ""))) text = "";
      const within = text !== "";
      const from = lines.length;
      flushText(text, holder);
      const deeper = within && lines.length > from ? 1 : 0;
      for (const link of after) {
        link.depth = depth + (text.includes(reference(link.id)) ? deeper : 0);
        lines.push(link);
      }
      return;
    }
    flushText(text, holder);
  }

  /** @param {string} text @param {Element} holder */
  function flushText(text, holder) {
    if (text === "" || (inside !== null && (inside.includes(text) || WORDLESS.test(text)))) return;
    if (row) {
      addToCell(cut(text, LONGEST_TEXT));
      return;
    }
    if (SEPARATOR.test(text)) return;
    const far = place(holder, false);
    if (far !== far || (isSuspect(holder) && isInvisible(holder))) return;
    if (heading) lines.push(line("heading", holder, idOf(holder), "heading", cut(text, LONGEST_TEXT), [`level=${heading}`], far));
    else lines.push(line("text", holder, idOf(holder), "", cut(text, LONGEST_TEXT), [], far));
  }

  /** @param {string} text */
  function addToCell(text) {
    if (!row) return;
    if (!row.cells.length) row.cells.push("");
    const last = row.cells.length - 1;
    const before = row.cells[last];
    row.cells[last] = before ? `${before} ${text}` : text;
  }

  /** @param {Element} element @param {string} text */
  function gather(element, text) {
    if (run === "") {
      if (isBlank(text)) return;
      runHolder = element;
    } else if (edges.length && !/\s$/.test(run) && !/^\s/.test(text)) {
      for (const edge of edges) {
        if (isBlockLevel(edge)) {
          run += " ";
          break;
        }
      }
    }
    edges.length = 0;
    if (run.length < LONGEST_READ) run += text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text;
  }

  /** Whether the cursor over an open element is that of something to act on: its own or inherited. @param {number} at @returns {boolean} */
  function handAt(at) {
    const frame = /** @type {Open} */ (open[at]);
    if (frame.hand !== undefined) return frame.hand;
    const { element } = frame;
    if (!surveyed || shadows > 0 || at === 0 || pointing(element) || shadowOf(element)) {
      frame.hand = HAND.has(styleOf(element).cursor);
    } else if (OWN_CURSOR.has(localName(element))) frame.hand = false;
    else frame.hand = handAt(at - 1);
    return frame.hand;
  }

  /** Whether the cursor over an element that is not open is that of something to act on. @param {Element} element */
  function handOver(element) {
    if (surveyed && shadows === 0 && open.length && !pointing(element)) {
      return !OWN_CURSOR.has(localName(element)) && handAt(open.length - 1);
    }
    return HAND.has(styleOf(element).cursor);
  }

  /**
   * The outermost open element under whose hand-like cursor the innermost lies.
   * @returns {number} its place in `open`, or -1
   */
  function underHand() {
    let found = -1;
    for (let i = open.length - 1; i >= 0; i--) {
      if (!handAt(i)) break;
      found = i;
    }
    return found;
  }

  /** Make a clickable thing of an element that is open already. @param {number} at */
  function discover(at) {
    const frame = /** @type {Open} */ (open[at]);
    const { element } = frame;
    if (frame.close || ignoredHand === element) return;
    if (element === body() || element === rootElement() || element === start) {
      ignoredHand = element;
      return;
    }
    flush();
    openClickable(frame, frame.start + (lines.length > frame.start && run === "" ? 0 : 0));
  }

  /** @param {Open} frame @param {number} at where its line stands */
  function openClickable(frame, at) {
    const { element } = frame;
    const far = place(element, false);
    if (far !== far) {
      frame.close = null;
      ignoredHand = element;
      return;
    }
    const tag = localName(element);
    const id = keep(element);
    const name = hasAttributes(element) ? nameOf(element, tag, "") : "";
    const own = line("interactive", element, id, "clickable", cut(name, LONGEST_NAME), statesOf(element, tag, "clickable", name), far);
    own.depth = depth;
    if (heading) own.states.push(`h${heading}`);
    for (let i = at; i < lines.length; i++) /** @type {Line} */ (lines[i]).depth++;
    lines.splice(at, 0, own);
    const outer = inside;
    const outerRow = row;
    if (row) addToCell(reference(id));
    row = null;
    depth++;
    if (name) inside = name;
    frame.close = () => {
      flush();
      depth--;
      inside = outer;
      row = outerRow;
      closeClickable(own, lines.indexOf(own));
    };
  }

  /** Decide what a clickable thing is called, and whether it is one at all. @param {Line} own @param {number} at */
  function closeClickable(own, at) {
    if (at < 0) return;
    let controls = 0;
    let texts = 0;
    let length = 0;
    for (let i = at + 1; i < lines.length; i++) {
      const inner = /** @type {Line} */ (lines[i]);
      if (inner.kind === "interactive") controls++;
      else if (inner.kind !== "region") {
        texts++;
        length += inner.name.length + 1;
      }
    }
    const element = /** @type {Element} */ (own.node);
    const drop = () => {
      lines.splice(at, 1);
      for (let i = at; i < lines.length; i++) /** @type {Line} */ (lines[i]).depth--;
      ignoredHand = element;
    };
    const many = controls > MOST_IN_CLICKABLE || length > 4000;
    // A listener around several controls is there for them, unless the cursor says otherwise.
    if (many || (controls > 1 && !HAND.has(styleOf(element).cursor))) {
      if (!own.name) return drop();
      own.kind = "region";
      own.role = explicitRole(element) || "group";
      return undefined;
    }
    if (controls > 0 && listensForAll(element)) return drop();
    if (controls === 1 && (texts === 0 || !explainedByListener(element))) return drop();
    if (controls > 1 && !explainedByListener(element)) return drop();
    if (own.name) return undefined;
    if (controls === 0 && length <= LONGEST_CLICKABLE) {
      let name = "";
      for (let i = at + 1; i < lines.length; i++) name += `${name ? " " : ""}${/** @type {Line} */ (lines[i]).name}`;
      own.name = name || tidy(around(element, "")) || cut(hintOf(element), LONGEST_NAME);
      lines.length = at + 1;
    } else {
      for (let i = at + 1; i < lines.length; i++) {
        const inner = /** @type {Line} */ (lines[i]);
        if (inner.kind === "text" || inner.kind === "heading" || inner.kind === "image") {
          own.name = cut(inner.name.replace(REFERENCES, ""), LONGEST_NAME);
          if (controls === 0 && inner.name.length <= LONGEST_NAME) lines.splice(i, 1);
          break;
        }
      }
    }
    return undefined;
  }

  /** Whether a listener is there for what is in an element rather than for the element: at an application's root. @param {Element} element */
  function listensForAll(element) {
    if (attribute(element, "onclick") !== null || Number(attribute(element, "tabindex") ?? -1) >= 0) return false;
    if (HAND.has(styleOf(element).cursor)) return false;
    if (parentNode(element) === body()) return true;
    const box = rectOf(element);
    return box.width * box.height > width * height * 0.6;
  }

  /** @param {Element} element */
  function explainedByListener(element) {
    return hasHandler(element);
  }

  /**
   * Begin to read an element; whether its children are to be read.
   * @param {Element} element
   * @param {Open | null} parent
   * @returns {Open | null}
   */
  function enter(element, parent) {
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
      if (run !== "") {
        if (row || inside !== null) gather(element, " ");
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
      start: lines.length,
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
    };
    if (inline) {
      if (run !== "") edges.push(element);
    } else flush();
    frame.start = lines.length;

    if (marked && !inert && attribute(element, "inert") !== null) {
      inert = true;
      frame.close = () => {
        inert = false;
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
        if (row) return enterCell(element, tag, role, frame);
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
      if (name && inside === null && (explicit === "img" || attribute(element, "aria-hidden") !== "true")) pushImage(element, name);
      if (inside === null && !name && !childElementCount(element)) return null;
    }
    if (attributed) {
      if (marked && attribute(element, "aria-hidden") === "true" && inside === null && !query(element, CONTROLS)) {
        if (!hasHandler(element) && !(heardListeners && hasListenerInside(element))) return hushed(frame);
      }
      if (mayBeTrap(element) && tag !== "label" && isTrap(element)) return null;
      if (traits(element) & CLASS && UNSEEN_CLASS.test(attribute(element, "class") || "") && !query(element, CONTROLS)) return null;
    }
    if (inside === null || !parent || !isInsideControl(parent)) {
      if (hasHandler(element) && !muted && element !== body() && element !== rootElement()) {
        return enterClickable(element, frame, role);
      }
    }
    if (LEAVES.has(tag)) return null;
    if (!inline && parent && frame.zone === null && childElementCount(element) > 0) {
      if (rects <= 0) {
        // Of many brothers of one kind that lie far off, not each is measured.
        if (parent.guesses > 0 && parent.far !== null && parent.kind === kindOf(element, tag)) {
          parent.guesses--;
          frame.zone = parent.far;
        } else {
          const box = rectOf(element);
          if (box.width > 0 && box.height > 0) {
            if (box.bottom < -margin) frame.zone = Math.round(box.bottom);
            else if (box.top > height + margin) frame.zone = Math.round(box.top - height);
          }
          const alike = frame.zone !== null && parent.far !== null && frame.zone > 0 && parent.kind === kindOf(element, tag);
          parent.run = alike ? Math.min(parent.run * 2 + 1, MOST_GUESSES) : 0;
          parent.guesses = parent.run;
          parent.far = frame.zone;
          parent.kind = kindOf(element, tag);
        }
      } else if (attributed && isCollapsed(element)) return null;
    }
    if (!childElementCount(element) && inside === null && !muted && tag !== "slot" && isBlank(textContent(element)) && !shadowOf(element) && !adds(element)) {
      suspectHost(element, tag);
      // An empty element that shows a picture and takes clicks: an icon.
      if (parent && handOver(element)) {
        open.push(frame);
        const at = underHand();
        open.pop();
        if (at === open.length) {
          const far = place(element, false);
          if (far === far && ignoredHand !== element) {
            frame.close = null;
            openClickable(frame, lines.length);
            /** @type {any} */ (frame).close();
          }
        } else if (at >= 0) discover(at);
      }
      // Highlighted code has its spaces in elements of their own.
      if (inline && run !== "" && textContent(element) !== "") run += " ";
      return null;
    }
    if (tag.includes("-") && !shadowOf(element)) suspectHost(element, tag);
    return frame;
  }

  /** @param {Element} element @param {string} tag */
  const kindOf = (element, tag) => `${tag} ${attribute(element, "class") || ""}`;

  /** Whether a style sheet gives an element text. @param {Element} element */
  const adds = (element) => (styled || shadows > 0) && around(element, "") !== "";

  /** @param {Open} frame @param {"before" | "after"} where */
  function gatherAdded(frame, where) {
    if (frame.muted || inside === ALL) return;
    const text = addedText(frame.element, where);
    if (text) gather(frame.element, text);
  }

  /** Whether it is worth asking whether a style clips an element to nothing. @param {Element} element */
  const mayBeTrap = (element) => (surveyed && shadows === 0 && !shadowOf(element) ? suspicious(element) : checks > 0);

  /** Whether it is worth asking whether an element's text can be seen: its ink is its own or inherited. @param {Element} element */
  function isSuspect(element) {
    if (!surveyed || shadows > 0) return checks > 0;
    if (suspicious(element)) return true;
    for (let i = open.length - 1; i >= 0; i--) {
      const frame = /** @type {Open} */ (open[i]);
      if (frame.suspect !== undefined) return frame.suspect;
      if (suspicious(frame.element)) return (frame.suspect = true);
    }
    for (const frame of open) if (frame.suspect === undefined) frame.suspect = false;
    return false;
  }

  /** Whether a style clips an element to nothing. @param {Element} element */
  function isTrap(element) {
    checks--;
    const style = styleOf(element);
    const clip = style.clipPath;
    if (clip !== "none") {
      const inset = /^inset\(([\d.]+)%/.exec(clip);
      if ((inset && Number(inset[1]) >= 50) || /^(?:circle|ellipse)\(0(?:px|%)?\b/.test(clip)) return true;
    }
    const { position } = style;
    if (position !== "absolute" && position !== "fixed") return false;
    if (style.clip !== "auto") {
      const [top = 0, right = 0, bottom = 0, left = 0] = (style.clip.match(/-?[\d.]+|auto/g) || []).map(Number);
      if (right - left <= 1 || bottom - top <= 1) return true;
    }
    if (style.overflowX === "visible") return false;
    const box = rectOf(element);
    return box.width <= 1 && box.height <= 1 && style.display !== "contents";
  }

  /** Whether the letters of an element's text are transparent or shifted out of the page. @param {Element} element */
  function isInvisible(element) {
    checks--;
    const style = styleOf(element);
    if (parseFloat(style.textIndent) < -500 || style.contentVisibility === "hidden") return true;
    const color = style.getPropertyValue("-webkit-text-fill-color");
    if (!/^rgba\(.*,\s*0\)$/.test(color)) return false;
    // A picture or gradient that shows through the letters is seen.
    for (let node = /** @type {Node | null} */ (element); isElement(node); node = flatParent(/** @type {Element} */ (node))) {
      if (styleOf(/** @type {Element} */ (node)).backgroundClip.includes("text")) return false;
    }
    return style.textShadow === "none";
  }

  /** A box of no height that hides what is in it. @param {Element} element */
  function isCollapsed(element) {
    rects--;
    const box = rectOf(element);
    if (box.height > 0 && box.width > 0) return false;
    const style = styleOf(element);
    return style.display !== "contents" && ((box.height === 0 && style.overflowY !== "visible") || (box.width === 0 && style.overflowX !== "visible"));
  }

  /** @param {Open} frame */
  function hushed(frame) {
    const outer = inside;
    const outerRow = row;
    frame.muted = true;
    /** @type {any} */ (frame).hush = true;
    const before = frame.close;
    inside = ALL;
    row = null;
    frame.close = (at) => {
      flush();
      inside = outer;
      row = outerRow;
      if (before) before(at);
    };
    return frame;
  }

  /** @param {Element} element @param {Open} frame @param {string} role */
  function enterClickable(element, frame, role) {
    flush();
    frame.start = lines.length;
    const before = frame.close;
    openClickable(frame, lines.length);
    const close = frame.close;
    const own = lines[frame.start];
    if (own && own.node === element && role && role !== "generic" && role !== "form" && role !== "region" && role !== "group") own.role = role;
    if (close && before && close !== before) {
      frame.close = (at) => {
        close(at);
        before(at);
      };
    }
    return frame;
  }

  /** Whether something beside its role makes a region clickable. @param {Element} element @param {string} role */
  function hasPlainHandler(element, role) {
    if (role === "listitem" || role === "article") return hasHandler(element);
    if (role !== "group" && role !== "figure" && role !== "region") return false;
    // A tab stop alone is there to scroll them by keys.
    return (heardListeners && listening.has(element)) || attribute(element, "onclick") !== null;
  }

  /** @param {Element} element @param {Open} frame */
  function enterLabel(element, frame) {
    const control = /** @type {HTMLLabelElement} */ (element).control;
    if (!control || !isElement(control)) {
      // In a component the label's listener focuses a control that the label does not know.
      const component = hasHandler(element) && inside === null && shadows === 0;
      return component ? enterClickable(element, frame, "") : frame;
    }
    const controlTag = localName(control);
    const role = explicitRole(control) || nativeRole(control, controlTag);
    if ((!isSeen(control) && !canBeReached(control, controlTag)) || isLost(control, element)) {
      if (role !== "checkbox" && role !== "radio" && role !== "switch" && !(controlTag === "input" && inputType(control) === "file")) {
        return frame;
      }
      flush();
      frame.start = lines.length;
      const name = nameOf(control, controlTag, role);
      const far = place(element, false);
      if (far !== far) return null;
      pushControl(element, role, name, statesOf(control, controlTag, role, name), far, control === active);
      return enterInside(name, frame);
    }
    const name = nameOf(control, controlTag, role);
    const outer = inside;
    const before = frame.close;
    if (name && inside === null) inside = name;
    frame.close = (at) => {
      flush();
      inside = outer;
      if (before) before(at);
    };
    return frame;
  }

  /** Whether a control stands where nobody can see it, so that only its label is there to be clicked. @param {Element} control @param {Element} label */
  function isLost(control, label) {
    const tag = localName(control);
    if (!isReplaceable(control, tag) || tag === "select") return false;
    const far = distance(control, rectOf(control), true);
    if (far !== far) return true;
    let node = flatParent(control);
    for (let up = 0; up < 4 && isElement(node) && !holds(/** @type {Element} */ (node), label); up++) {
      if (isTrap(/** @type {Element} */ (node))) return true;
      node = flatParent(/** @type {Element} */ (node));
    }
    return false;
  }

  /** @param {Element} element @param {string} role @param {string} name @param {string[]} states @param {number} far @param {boolean} focused */
  function pushControl(element, role, name, states, far, focused) {
    const id = keep(element);
    const own = line("interactive", element, id, role, cut(name, LONGEST_NAME), states, far);
    if (focused) own.marks = [...own.marks, "focused"];
    if (heading) states.push(`h${heading}`);
    if (name === "" && HINTED.has(role)) {
      const hint = hintOf(element);
      if (hint) own.states = [...states, `hint=${quoted(cut(hint, LONGEST_HINT))}`];
    }
    if (row) addToCell(reference(id));
    lines.push(own);
  }

  /**
   * Read on inside a control, where text that only repeats its name is left out.
   * @param {string} name
   * @param {Open} frame
   */
  function enterInside(name, frame) {
    const outer = inside;
    const outerRow = row;
    const before = frame.close;
    inside = name;
    row = null;
    depth++;
    /** @type {any} */ (frame).control = true;
    frame.close = (at) => {
      flush();
      depth--;
      inside = outer;
      row = outerRow;
      if (before) before(at);
    };
    return frame;
  }

  /** @param {Open} parent */
  function isInsideControl(parent) {
    return inside !== null && parent !== null;
  }

  /** Whether a link holds nothing but words, so that it can stand in a sentence. @param {Element} link */
  function isPlainLink(link) {
    if (shadows > 0 || shadowOf(link)) return false;
    for (let child = firstChild(link); child; child = nextSibling(child)) {
      if (nodeType(child) !== 1) continue;
      const inner = /** @type {Element} */ (child);
      if (!INLINE.has(localName(inner)) || childElementCount(inner) > 0 || traits(inner) & SPECIAL) return false;
    }
    return true;
  }

  /** @param {Element} element @param {string} tag @param {string} role @param {boolean} editor @param {boolean} unseen @param {Open} frame */
  function enterControl(element, tag, role, editor, unseen, frame) {
    if (tag === "a" && role === "link" && run !== "" && inside === null && !row && !heading && isPlainLink(element)) {
      const far = place(element, false);
      const name = far === far ? nameOf(element, tag, role) : "";
      if (name) {
        const id = keep(element);
        const own = line("interactive", element, id, role, cut(name, LONGEST_NAME), statesOf(element, tag, role, name), far);
        if (element === active) own.marks = [...own.marks, "focused"];
        gather(element, reference(id));
        edges.push(element);
        links.push(own);
        return null;
      }
    }
    flush();
    frame.start = lines.length;
    if (role === "option" && inside === ALL) return null;
    const far = place(element, unseen || isReplaceable(element, tag));
    if (far !== far) {
      if (LEAVES.has(tag)) return null;
      return frame;
    }
    if (unseen || isReplaceable(element, tag)) {
      if (!canBeReached(element, tag)) return null;
    }
    const name = nameOf(element, tag, role);
    const states = statesOf(element, tag, role, name);
    pushControl(element, role, name, states, far, element === active);
    if (LEAVES.has(tag) || editor) return null;
    if (childElementCount(element) === 0 && !shadowOf(element)) return null;
    return enterInside(name, frame);
  }

  /** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
  function enterRegion(element, tag, role, frame) {
    const needsName = REGIONS.get(role);
    if (needsName === undefined) {
      return hasHandler(element) && inside === null ? enterClickable(element, frame, "") : plain(element, tag, frame);
    }
    let name = nameOf(element, tag, role);
    if (!name && (role === "dialog" || role === "alertdialog")) {
      const title = query(element, "h1,h2,h3,h4,[role=heading],[class*=title]");
      name = title ? tidy(textContent(title)) : "";
    }
    if ((needsName && !name) || inside !== null) return plain(element, tag, frame);
    if (role === "form" && name && tag === "form" && attribute(element, "aria-label") === null && attribute(element, "aria-labelledby") === null) {
      return plain(element, tag, frame);
    }
    flush();
    const far = place(element, true);
    const id = keep(element);
    /** @type {string[]} */
    const states = [];
    if (role === "listbox" && attribute(element, "aria-multiselectable") === "true") states.push("multiple");
    const own = line("region", element, id, role, cut(name, LONGEST_NAME), states, far === far ? far : 0);
    const at = lines.length;
    frame.start = at;
    lines.push(own);
    depth++;
    const outer = regionName;
    regionName = name;
    const outerRow = row;
    row = null;
    const before = frame.close;
    frame.close = (from) => {
      flush();
      depth--;
      regionName = outer;
      row = outerRow;
      if (lines.length === at + 1 && role !== "dialog" && role !== "alertdialog") lines.length = at;
      else if (name) {
        for (let i = at + 1; i < Math.min(lines.length, at + 4); i++) {
          const inner = /** @type {Line} */ (lines[i]);
          if ((inner.kind === "heading" || inner.kind === "text") && inner.name === own.name) {
            lines.splice(i, 1);
            break;
          }
        }
      }
      if (before) before(from);
    };
    return frame;
  }

  /** @param {Element} element @param {string} tag @param {Open} frame */
  function plain(element, tag, frame) {
    if (attribute(element, "aria-hidden") === "true" && inside === null && !query(element, CONTROLS)) return hushed(frame);
    if (!LEAVES.has(tag) && frame.zone === null && rects > 0 && isCollapsed(element)) return null;
    return LEAVES.has(tag) ? null : frame;
  }

  /** @param {Element} element @param {string} tag @param {Open} frame */
  function enterHeading(element, tag, frame) {
    const given = Number(attribute(element, "aria-level"));
    const level = given >= 1 && given <= 9 ? given : /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
    if (hasHandler(element) && inside === null) return enterClickable(element, frame, "");
    const label = inside === null && !row ? attribute(element, "aria-label") : null;
    if (label && !query(element, CONTROLS)) {
      const far = place(element, false);
      if (far === far) lines.push(line("heading", element, idOf(element), "heading", cut(tidy(label), LONGEST_TEXT), [`level=${level}`], far));
      return null;
    }
    const outer = heading;
    const before = frame.close;
    heading = level;
    frame.close = (at) => {
      flush();
      heading = outer;
      if (before) before(at);
    };
    return frame;
  }

  /** Whether the cursor says that a row can be clicked, rather than all that the table stands in. @param {Element} row */
  function hasOwnHand(row) {
    if (surveyed && shadows === 0 && !pointing(row) && !(open.length && pointing(/** @type {Open} */ (open[open.length - 1]).element))) return false;
    if (!HAND.has(styleOf(row).cursor)) return false;
    const table = closest(row, "table,[role=table],[role=grid],[role=treegrid]");
    const around = table && flatParent(table);
    return !isElement(around) || !HAND.has(styleOf(/** @type {Element} */ (around)).cursor);
  }

  /** @param {Element} element @param {Open} frame */
  function enterRow(element, frame) {
    if (inside !== null || query(element, "table,[role=row],[role=table],[role=grid]")) return frame;
    const outer = row;
    /** @type {{cells: string[], id: number}} */
    const own = { cells: [], id: 0 };
    row = own;
    const at = lines.length;
    depth++;
    const clickable = hasHandler(element) || hasOwnHand(element);
    const far = place(element, true);
    const selected = attribute(element, "aria-selected") === "true";
    const before = frame.close;
    frame.close = (from) => {
      flush();
      depth--;
      row = outer;
      const cells = own.cells;
      while (cells.length && cells[cells.length - 1] === "") cells.pop();
      const text = cells.join(" | ");
      const bare = text.replace(REFERENCES, "").replace(/[\s|]+/g, "") === "";
      const only = lines.length === at;
      if (far === far && (clickable || !bare)) {
        const states = selected ? ["selected"] : [];
        const own =
          clickable || selected
            ? line("interactive", element, keep(element), "row", cut(text, LONGEST_TEXT), states, far)
            : cells.length === 1 && only
              ? line("text", element, idOf(element), "", cut(text, LONGEST_TEXT), states, far)
              : line("row", element, idOf(element), "row", cut(text, LONGEST_TEXT * 2), states, far);
        lines.splice(at, 0, own);
      } else {
        for (let i = at; i < lines.length; i++) /** @type {Line} */ (lines[i]).depth--;
      }
      if (before) before(from);
    };
    return frame;
  }

  /** @param {Element} element @param {string} tag @param {string} role @param {Open} frame */
  function enterCell(element, tag, role, frame) {
    const current = /** @type {{cells: string[], id: number}} */ (row);
    current.cells.push("");
    if (hasHandler(element) && !query(element, CONTROLS)) {
      const far = place(element, false);
      if (far === far) {
        const cellRole = role === "columnheader" || role === "rowheader" || role === "gridcell" ? role : "cell";
        const name = nameOf(element, tag, "cell");
        const states = statesOf(element, tag, cellRole, name);
        const sort = attribute(element, "aria-sort");
        if (sort && sort !== "none") states.push(`sort=${sort}`);
        pushControl(element, cellRole, name, states, far, element === active);
        return enterInside(name, frame);
      }
    }
    // The cells of a grid can be chosen and edited one by one, by whatever listens around them.
    if (role === "gridcell" && attribute(element, "tabindex") !== null && !query(element, CONTROLS)) {
      addToCell(reference(keep(element)));
    }
    const before = frame.close;
    frame.close = (at) => {
      flush();
      if (before) before(at);
    };
    return frame;
  }

  /** @param {Element} element @param {string} tag @param {string} role */
  function enterImage(element, tag, role) {
    if (attribute(element, "usemap")) enterMap(element);
    if (inside !== null) return null;
    const name = nameOf(element, tag, role);
    const cursor = handOver(element);
    if (cursor) {
      const frame = open.length ? open[open.length - 1] : null;
      if (frame && underHand() >= 0) discover(underHand());
      else {
        const far = place(element, false);
        if (far === far) pushControl(element, "img", name || hintOf(element), statesOf(element, tag, "img", name), far, false);
        return null;
      }
    }
    if (name) pushImage(element, name);
    return null;
  }

  /** The links of the image's map. @param {Element} image */
  function enterMap(image) {
    const map = mapOf(image);
    const far = map ? place(image, false) : NOWHERE;
    if (!map || far !== far) return;
    flush();
    for (const area of queryAll(map, "area")) {
      const role = explicitRole(area) || nativeRole(area, "area");
      if (!role && !hasHandler(area)) continue;
      const name = nameOf(area, "area", role);
      pushControl(area, role || "clickable", name, statesOf(area, "area", role, name), far, area === active);
    }
  }

  /** @param {Element} element @param {string} name */
  function pushImage(element, name) {
    if (row) {
      addToCell(cut(name, LONGEST_NAME));
      return;
    }
    flush();
    const far = place(element, false);
    if (far === far) lines.push(line("image", element, idOf(element), "image", cut(name, LONGEST_NAME), [], far));
  }

  /** @param {Element} element @param {string} tag @param {string} role */
  function enterMeter(element, tag, role) {
    if (inside !== null) return;
    const name = nameOf(element, tag, role);
    let value = "";
    if (tag === "progress") {
      const progress = /** @type {HTMLProgressElement} */ (element);
      value = progress.position >= 0 ? `${Math.round(progress.position * 100)}%` : "busy";
    } else if (tag === "meter") value = String(/** @type {HTMLMeterElement} */ (element).value);
    else value = attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow") || "";
    const text = tidy(`${role} ${name} ${value}`);
    if (row) return addToCell(text);
    flush();
    const far = place(element, false);
    if (far === far) lines.push(line("text", element, idOf(element), "", text, [], far));
  }

  /** @param {Element} element @param {string} tag */
  function enterFrame(element, tag) {
    flush();
    const box = rectOf(element);
    if (box.width < SMALLEST_FRAME || box.height < SMALLEST_FRAME) return null;
    const far = distance(element, box, false);
    if (far !== far) return null;
    const id = keep(element);
    const source = shortened(attribute(element, "src") || "");
    lines.push(line("region", element, id, "iframe", cut(nameOf(element, tag, "iframe"), LONGEST_NAME), source ? [`→ ${source}`] : [], far));
    return null;
  }

  /** @param {Element} element @param {string} tag @param {Open} frame */
  function enterCanvas(element, tag, frame) {
    if (inside !== null) return null;
    const box = rectOf(element);
    if (box.width < 20 || box.height < 20) return null;
    const far = distance(element, box, false);
    if (far !== far) return null;
    flush();
    frame.start = lines.length;
    pushControl(element, "canvas", nameOf(element, tag, ""), [], far, element === active);
    return null;
  }

  let regionName = "";

  /** Take in a text of an open element. @param {Open} frame @param {Element} holder @param {string} text */
  function take(frame, holder, text) {
    if (frame.muted || inside === ALL) return;
    if (inside === null && frame.hand !== false && !isBlank(text) && handAt(open.length - 1)) {
      const at = underHand();
      if (at >= 0) discover(at);
    }
    // In preformatted text the ends of lines mean something.
    if (text.includes("\n") && !isBlank(text) && closest(holder, "pre")) text = text.replace(/\r?\n/g, " ⏎ ");
    gather(holder, text.includes("\uE000") || text.includes("\uE001") ? text.replace(OUR_SIGNS, "") : text);
  }

  // The walk itself: `open` holds the elements whose children are being read.
  /** @type {Node | null} */
  let node = start;
  for (;;) {
    if (node) {
      const type = nodeType(node);
      const parent = open.length ? /** @type {Open} */ (open[open.length - 1]) : null;
      if (type === 3) {
        // What a slot shows has its box where it was written.
        if (parent) take(parent, parent.list ? /** @type {Element} */ (parentNode(node)) : parent.element, data(/** @type {Text} */ (node)));
      } else if (type === 1) {
        const element = /** @type {Element} */ (node);
        const frame = enter(element, parent);
        if (frame) {
          const root = shadowOf(element);
          /** @type {Node | null} */
          let first = null;
          let leaf = false;
          if (root) first = firstChild(root);
          else if (localName(element) === "slot" && element instanceof HTMLSlotElement) {
            const list = element.assignedNodes();
            if (list.length) {
              frame.list = list;
              first = /** @type {Node} */ (list[0]);
              // Text in a slot is styled by the slot.
            } else first = firstChild(element);
          } else if (childElementCount(element) > 0) first = firstChild(element);
          else leaf = true;
          if (parent && parent.muted && localName(element) === "slot") frame.muted = parent.muted;
          open.push(frame);
          if (styled || shadows > 0) gatherAdded(frame, "before");
          if (root) {
            shadows++;
            treeNow = null;
            survey(root);
            meet(root);
          }
          // Nothing but text: one text for all of its nodes.
          if (leaf) take(frame, element, textContent(element));
          node = first;
          continue;
        }
      }
      if (node === start) break;
      if (parent && parent.list) {
        parent.at++;
        node = parent.list[parent.at] || null;
      } else node = nextSibling(node);
    } else {
      const frame = open.pop();
      if (!frame) break;
      if (shadows > 0 && shadowOf(frame.element) && --shadows === 0) treeNow = document;
      if (styled || shadows > 0) gatherAdded(frame, "after");
      if (frame.block) flush();
      else if (run !== "") edges.push(frame.element);
      if (frame.close) frame.close(frame.start);
      if (frame.element === start || !open.length) break;
      const parent = /** @type {Open} */ (open[open.length - 1]);
      if (parent.list) {
        parent.at++;
        node = parent.list[parent.at] || null;
      } else node = nextSibling(frame.element);
    }
  }
  flush();
  treeNow = null;
  return withoutEchoes(lines);
}

const FIELDS = set("textbox searchbox combobox listbox spinbutton slider checkbox radio switch date time datetime-local month week color");

/** Lines without the texts that only repeat the name of the field right before or after them. @param {Line[]} lines */
function withoutEchoes(lines) {
  const isEcho = (/** @type {Line} */ line, /** @type {Line | undefined} */ beside) =>
    !!beside && beside.kind === "interactive" && beside.name === line.name && FIELDS.has(beside.role);
  let found = false;
  for (let i = 0; i < lines.length && !found; i++) {
    const line = /** @type {Line} */ (lines[i]);
    found = line.kind === "text" && (isEcho(line, lines[i + 1]) || isEcho(line, lines[i - 1]));
  }
  if (!found) return lines;
  return lines.filter((line, i) => line.kind !== "text" || !(isEcho(line, lines[i + 1]) || isEcho(line, lines[i - 1])));
}

const ALL = "\uE002";

/** Form controls that libraries hide and draw anew. @param {Element} element @param {string} tag */
function isReplaceable(element, tag) {
  if (tag !== "input") return tag === "select";
  const type = inputType(element);
  if (type === "checkbox" || type === "radio" || type === "file" || type === "range") return true;
  // A component's own field may lie unseen over or under what it draws.
  return explicitRole(element) === "combobox" && attribute(element, "readonly") !== null;
}

/** Whether a hidden or tiny control can be reached all the same: by its own box or by a label that is seen. @param {Element} element @param {string} tag */
function canBeReached(element, tag) {
  if (!isReplaceable(element, tag)) return false;
  const style = styleOf(element);
  if (style.display === "none" || style.visibility !== "visible") return false;
  const box = rectOf(element);
  if (box.width > 4 && box.height > 4) return style.pointerEvents !== "none" || labelsOf(element).length > 0;
  for (const label of labelsOf(element)) if (isSeen(label)) return true;
  return box.width > 1 && box.height > 1;
}

/** @param {Element} element @param {string} tag */
function isNativelyFocusable(element, tag) {
  if (tag === "button" || tag === "input" || tag === "select" || tag === "textarea") return true;
  if ((tag === "a" || tag === "area") && attribute(element, "href") !== null) return true;
  const stop = attribute(element, "tabindex");
  return stop !== null && Number(stop) >= 0;
}

/** Whether an element is out of the page only because something in between is scrolled. @param {Element} element */
function scrolledAway(element) {
  for (let node = flatParent(element); node; node = flatParent(node)) {
    if (!isElement(node)) continue;
    const outer = /** @type {Element} */ (node);
    if (outer === rootElement() || outer === body()) return false;
    if (_scrollLeft.call(outer) || _scrollTop.call(outer)) return true;
  }
  return false;
}

/** @param {Element} element */
function hasListenerInside(element) {
  for (const inner of queryAll(element, "*")) if (listening.has(inner)) return true;
  return false;
}
