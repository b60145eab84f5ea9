/**
 * The page script: reads a document once, as lines in reading order, and answers questions about its elements.
 *
 * It is evaluated in a world of its own in every frame (or in the page's world where the browser offers no
 * other), and keeps there what lives as long as the document: the elements' ids and what was last told.
 * Everything that a page can override or clobber is taken from the prototypes once, at the start.
 *
 * `run(method, args)` is the only door; it gives back JSON text.
 */
(function install(/** @type {string} */ channel) {
  "use strict";

  /**
   * @typedef {"interactive" | "text" | "heading" | "region" | "row" | "image"} Kind
   *
   * @typedef {object} Line one line of the snapshot
   * @property {Kind} kind
   * @property {number} depth
   * @property {number} id the element's id in this document; for a text, of the element that holds its beginning
   * @property {string} role
   * @property {string} name
   * @property {string[]} states
   * @property {string[]} marks states that pass by (focused, covered): shown, but no change
   * @property {number} far distance from the view, in pixels: negative above, 0 in it
   * @property {Element | null} node only while a call is being answered
   *
   * @typedef {[Kind, number, number, string, string, string[], number, number]} WireLine
   *   kind, depth, id, role, name, states, is new, far
   *
   * @typedef {object} Open an element whose children are being read
   * @property {Element} element
   * @property {Node[] | null} list the nodes that a slot shows, or null for ordinary children
   * @property {number} at position in `list`
   * @property {number} start how many lines there were before
   * @property {boolean} block
   * @property {boolean} muted its own text cannot be seen
   * @property {boolean | undefined} hand whether the cursor is that of something to act on
   * @property {boolean | undefined} suspect whether a style may make its text invisible
   * @property {number | null} far distance of the child measured last, where all of it is far off
   * @property {number} run how many children may be taken for as far off as that one
   * @property {number} guesses how many of them are left
   * @property {string} kind what they have in common
   * @property {number | null} zone distance from the view of all that is in it, null where lines differ
   * @property {((start: number) => void) | null} close
   *
   * @typedef {{problem: string, [detail: string]: unknown}} Problem
   */

  // --- natives ------------------------------------------------------------------------------------------

  /** @param {object} prototype @param {string} name @returns {any} */
  function getterOf(prototype, name) {
    const property = Object.getOwnPropertyDescriptor(prototype, name);
    return (property && property.get) || (() => null);
  }

  const _nodeType = getterOf(Node.prototype, "nodeType");
  const _firstChild = getterOf(Node.prototype, "firstChild");
  const _nextSibling = getterOf(Node.prototype, "nextSibling");
  const _parentNode = getterOf(Node.prototype, "parentNode");
  const _textContent = getterOf(Node.prototype, "textContent");
  const _isConnected = getterOf(Node.prototype, "isConnected");
  const _localName = getterOf(Element.prototype, "localName");
  const _shadowRoot = getterOf(Element.prototype, "shadowRoot");
  const _assignedSlot = getterOf(Element.prototype, "assignedSlot");
  const _childElementCount = getterOf(Element.prototype, "childElementCount");
  const _data = getterOf(CharacterData.prototype, "data");
  const _getAttribute = Element.prototype.getAttribute;
  const _hasAttributes = Element.prototype.hasAttributes;
  const _checkVisibility = Element.prototype.checkVisibility;
  const _getBoundingClientRect = Element.prototype.getBoundingClientRect;
  const _getClientRects = Element.prototype.getClientRects;
  const _matches = Element.prototype.matches;
  const _closest = Element.prototype.closest;
  const _querySelector = Element.prototype.querySelector;
  const _getRootNode = Node.prototype.getRootNode;
  const _contains = Node.prototype.contains;
  const _querySelectorAll = Element.prototype.querySelectorAll;
  const _queryDocument = Document.prototype.querySelectorAll;
  const _queryFragment = DocumentFragment.prototype.querySelectorAll;
  const _attributes = getterOf(Element.prototype, "attributes");
  const _scrollIntoView = Element.prototype.scrollIntoView;
  const _scrollBy = /** @type {(options: ScrollToOptions) => void} */ (Element.prototype.scrollBy);
  const _scrollLeft = getterOf(Element.prototype, "scrollLeft");
  const _scrollTop = getterOf(Element.prototype, "scrollTop");
  const _scrollWidth = getterOf(Element.prototype, "scrollWidth");
  const _scrollHeight = getterOf(Element.prototype, "scrollHeight");
  const _clientWidth = getterOf(Element.prototype, "clientWidth");
  const _clientHeight = getterOf(Element.prototype, "clientHeight");
  const _focus = HTMLElement.prototype.focus;
  const _dispatchEvent = EventTarget.prototype.dispatchEvent;
  const _addEventListener = EventTarget.prototype.addEventListener;
  const _isContentEditable = getterOf(HTMLElement.prototype, "isContentEditable");
  const _innerText = getterOf(HTMLElement.prototype, "innerText");
  const _body = getterOf(Document.prototype, "body");
  const _documentElement = getterOf(Document.prototype, "documentElement");
  const _head = getterOf(Document.prototype, "head");
  const _title = getterOf(Document.prototype, "title");
  const _hidden = getterOf(Document.prototype, "hidden");
  const _activeElement = getterOf(Document.prototype, "activeElement");
  const _activeWithin = getterOf(ShadowRoot.prototype, "activeElement");
  const _scrollingElement = getterOf(Document.prototype, "scrollingElement");
  const _designMode = getterOf(Document.prototype, "designMode");
  const _timeline = getterOf(Document.prototype, "timeline");
  const _elementFromPoint = Document.prototype.elementFromPoint;
  const _getAnimations = Document.prototype.getAnimations;
  const _createRange = Document.prototype.createRange;
  const _execCommand = Document.prototype.execCommand;
  const _styleSheets = getterOf(Document.prototype, "styleSheets");
  const _adoptedStyleSheets = getterOf(Document.prototype, "adoptedStyleSheets");
  const _getElementById = Document.prototype.getElementById;
  const _stringify = JSON.stringify;

  const body = () => /** @type {HTMLElement | null} */ (_body.call(document));
  const rootElement = () => /** @type {HTMLElement | null} */ (_documentElement.call(document));
  const scroller = () => /** @type {Element | null} */ (_scrollingElement.call(document)) || rootElement();
  const inDesign = () => _designMode.call(document) === "on";
  const animations = () => /** @type {Animation[]} */ (_getAnimations.call(document));
  /** Everything within a tree that matches. @param {Node} root @param {string} selector @returns {NodeListOf<Element>} */
  const queryAll = (root, selector) =>
    (nodeType(root) === 1 ? _querySelectorAll : nodeType(root) === 9 ? _queryDocument : _queryFragment).call(root, selector);

  // Each is a function of its own, so that the engine can make each of them fast.
  const nodeType = (/** @type {Node} */ node) => /** @type {number} */ (_nodeType.call(node));
  const firstChild = (/** @type {Node} */ node) => /** @type {Node | null} */ (_firstChild.call(node));
  const nextSibling = (/** @type {Node} */ node) => /** @type {Node | null} */ (_nextSibling.call(node));
  const parentNode = (/** @type {Node} */ node) => /** @type {Node | null} */ (_parentNode.call(node));
  const textContent = (/** @type {Node} */ node) => /** @type {string} */ (_textContent.call(node) || "");
  const isConnected = (/** @type {Node} */ node) => /** @type {boolean} */ (_isConnected.call(node));
  const localName = (/** @type {Element} */ element) => /** @type {string} */ (_localName.call(element));
  const openRoot = (/** @type {Element} */ element) => /** @type {ShadowRoot | null} */ (_shadowRoot.call(element));
  const assignedSlot = (/** @type {Element} */ element) =>
    /** @type {HTMLSlotElement | null} */ (_assignedSlot.call(element));
  const childElementCount = (/** @type {Element} */ element) => /** @type {number} */ (_childElementCount.call(element));
  const data = (/** @type {CharacterData} */ node) => /** @type {string} */ (_data.call(node));
  const attribute = (/** @type {Element} */ element, /** @type {string} */ name) =>
    /** @type {string | null} */ (_getAttribute.call(element, name));
  const hasAttributes = (/** @type {Element} */ element) => _hasAttributes.call(element);
  const rectOf = (/** @type {Element} */ element) => _getBoundingClientRect.call(element);
  const matches = (/** @type {Element} */ element, /** @type {string} */ selector) => _matches.call(element, selector);
  const closest = (/** @type {Element} */ element, /** @type {string} */ selector) =>
    /** @type {Element | null} */ (_closest.call(element, selector));
  const query = (/** @type {Element} */ element, /** @type {string} */ selector) =>
    /** @type {Element | null} */ (_querySelector.call(element, selector));
  const rootOf = (/** @type {Node} */ node) => /** @type {Node} */ (_getRootNode.call(node));
  const styleOf = (/** @type {Element} */ element, /** @type {string | undefined} */ pseudo = undefined) =>
    getComputedStyle(element, pseudo);
  const isElement = (/** @type {Node | null | undefined} */ node) => !!node && nodeType(node) === 1;
  const now = () => performance.now();

  const SEEN = { opacityProperty: true, visibilityProperty: true };
  const isSeen = (/** @type {Element} */ element) => _checkVisibility.call(element, SEEN);

  /**
   * JSON that asks no object for its toJSON.
   * @param {unknown} value
   * @returns {string}
   */
  function encode(value) {
    if (value === null || value === undefined) return "null";
    if (typeof value === "string") return _stringify(wellFormed(value));
    if (typeof value === "number") return value - value === 0 ? `${value}` : "null";
    if (typeof value === "boolean") return value ? "true" : "false";
    let text = "";
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) text += (i ? "," : "") + encode(value[i]);
      return `[${text}]`;
    }
    for (const key of Object.keys(/** @type {object} */ (value))) {
      const item = /** @type {Record<string, unknown>} */ (value)[key];
      if (item !== undefined) text += `${text ? "," : ""}${_stringify(key)}:${encode(item)}`;
    }
    return `{${text}}`;
  }

  const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;
  const wellFormed = (/** @type {string} */ text) => text.replace(LONE, "\uFFFD");

  /** @param {string} words */
  const set = (words) => new Set(words.split(" "));

  // --- text ---------------------------------------------------------------------------------------------

  const LONGEST_NAME = 160;
  const LONGEST_TEXT = 600;
  const LONGEST_VALUE = 200;
  const LONGEST_READ = 20000;
  const UNTIDY = /[^\S ]| {2}|^ | $|[\u0000-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uE000-\uF8FF\uFEFF]/;
  const INVISIBLE = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uE002-\uF8FF\uFEFF]/g;
  /** The characters that references are made of, in a text of the page. */
  const OUR_SIGNS = /[\uE000\uE001]/g;

  /**
   * One line of text: white space folded, what cannot be seen taken out, cut where it is huge.
   * @param {string} text
   * @param {boolean} referring whether it holds references of ours
   */
  function tidy(text, referring = false) {
    if (text.length > LONGEST_READ) text = text.slice(0, LONGEST_READ);
    if (!UNTIDY.test(text)) return text;
    text = text.replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
    return referring ? text : text.replace(OUR_SIGNS, "");
  }

  /** @param {string} text @param {number} limit */
  function cut(text, limit) {
    if (text.length <= limit) return text;
    let end = limit - 1;
    const code = text.charCodeAt(end - 1);
    if (code >= 0xd800 && code < 0xdc00) end--;
    return `${text.slice(0, end).trimEnd()}…`;
  }

  /** @param {string} text */
  function isBlank(text) {
    const first = text.charCodeAt(0);
    // Most texts begin with a letter or, between tags, are nothing but white space.
    if (first > 32 && first < 0x7f) return false;
    return text.trim() === "";
  }

  const WORDS = /[\p{L}\p{N}]/u;
  /** What only stands between other things. */
  const SEPARATOR = /^[\s/|›»«‹·•,;()[\]:]{1,3}$/;
  const WORDLESS = /^[^\p{L}\p{N}]{0,3}$/u;

  /** Characters that stand for the index of an element until it is known. @param {number} id */
  const reference = (id) => `\uE000${id}\uE001`;
  const REFERENCES = /\uE000\d+\uE001/g;
  const LAST_REFERENCES = /(?:\s*\uE000\d+\uE001)+[\s/|›»·•,;]*$/;

  /** @param {string} value */
  const quoted = (value) => `"${value.replace(/[\\"]/g, "\\$&").replace(/\r\n?|\n/g, "\\n").replace(INVISIBLE, "").replace(/[\t\u2028\u2029\u0085\v\f]/g, " ")}"`;

  // --- ids ----------------------------------------------------------------------------------------------

  const documentKey = Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("");
  /** @type {WeakMap<Element, number>} */
  const ids = new WeakMap();
  /** @type {Map<number, WeakRef<Element>>} */
  const references = new Map();
  const forgotten = new FinalizationRegistry((/** @type {number} */ id) => references.delete(id));
  let lastId = 0;

  /** @param {Element} element */
  function idOf(element) {
    let id = ids.get(element);
    if (id === undefined) {
      id = ++lastId;
      ids.set(element, id);
    }
    return id;
  }

  /** The id of an element that can be asked for later. @param {Element} element */
  function keep(element) {
    const id = idOf(element);
    if (!references.has(id)) {
      references.set(id, new WeakRef(element));
      forgotten.register(element, id);
    }
    return id;
  }

  /** @param {number} id @returns {Element | null} */
  function byId(id) {
    const reference = references.get(id);
    const element = reference && reference.deref();
    return element && isConnected(element) ? element : null;
  }

  // --- the other world ------------------------------------------------------------------------------------

  /** @type {WeakMap<Element, ShadowRoot>} */
  const closedRoots = new WeakMap();
  /** @type {Set<WeakRef<ShadowRoot>>} */
  const rootList = new Set();
  /** @type {WeakSet<ShadowRoot>} */
  const knownRoots = new WeakSet();
  /** @type {WeakSet<Element>} */
  const listening = new WeakSet();
  let heardListeners = false;
  let timers = "";

  /** Elements that may have a closed root that no script has made, and that were not looked at yet. @type {Element[]} */
  let hosts = [];
  /** @type {WeakSet<Element>} */
  const lookedAt = new WeakSet();
  const HOSTS = set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span");
  const MOST_HOSTS = 16;

  /** Note an element that shows nothing of its own, yet may have something in it. @param {Element} element @param {string} tag */
  function suspectHost(element, tag) {
    if (hosts.length >= MOST_HOSTS || lookedAt.has(element) || !(tag.includes("-") || HOSTS.has(tag))) return;
    const box = rectOf(element);
    if (box.width < 8 || box.height < 8) return;
    lookedAt.add(element);
    hosts.push(element);
  }

  /** Remember a shadow root: what moves or changes in it is seen from nowhere else. @param {ShadowRoot} root */
  function meet(root) {
    if (knownRoots.has(root)) return;
    knownRoots.add(root);
    rootList.add(new WeakRef(root));
  }
  /** @param {Event} event */
  function onRoot(event) {
    const inner = /** @type {SubmitEvent} */ (event).submitter;
    const root = inner && rootOf(inner);
    if (root instanceof ShadowRoot && !closedRoots.has(root.host)) {
      closedRoots.set(root.host, root);
      meet(root);
    }
  }
  /** @param {Event} event */
  function onElement(event) {
    const element = /** @type {SubmitEvent} */ (event).submitter;
    if (element) listening.add(element);
    heardListeners = true;
  }
  /** @param {Event} event */
  function onElements(event) {
    for (const range of /** @type {InputEvent} */ (event).getTargetRanges()) {
      if (isElement(range.startContainer)) listening.add(/** @type {Element} */ (range.startContainer));
    }
    heardListeners = true;
  }
  /** @param {Event} event */
  function onTimers(event) {
    timers = String(/** @type {CustomEvent} */ (event).detail);
  }

  /** Ask the hook in the page's world; it answers before this returns, or is not there. @param {string} what */
  function ask(what) {
    if (!channel) return;
    // Adding a listener again does nothing, and document.open() may have taken them away.
    _addEventListener.call(document, `${channel}:root`, onRoot);
    _addEventListener.call(document, `${channel}:element`, onElement);
    _addEventListener.call(document, `${channel}:elements`, onElements);
    _addEventListener.call(document, `${channel}:timers`, onTimers);
    _dispatchEvent.call(document, new CustomEvent(channel, { detail: what }));
  }

  /** Timers that the last input has started: how many, and until when. */
  function pendingTimers() {
    timers = "0 0";
    ask("timers");
    const [count, left] = timers.split(" ");
    return { count: Number(count), left: Number(left) };
  }

  /** @param {Element} element */
  const shadowOf = (element) => openRoot(element) || closedRoots.get(element) || null;

  /** The node that an element stands in as people see it: slot, host or parent. @param {Node} node @returns {Node | null} */
  function flatParent(node) {
    if (isElement(node)) {
      const slot = assignedSlot(/** @type {Element} */ (node));
      if (slot) return slot;
    }
    const parent = parentNode(node);
    if (parent) return parent instanceof ShadowRoot ? parent.host : parent;
    return node instanceof ShadowRoot ? node.host : null;
  }

  /** @param {Node} outer @param {Node | null} inner */
  function holds(outer, inner) {
    for (let node = inner; node; node = flatParent(node)) if (node === outer) return true;
    return false;
  }

  // --- tags and roles -----------------------------------------------------------------------------------

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

  // --- names --------------------------------------------------------------------------------------------

  const DEEPEST_NAME = 100;

  /** What an element's attributes may mean, as bits. */
  const SPECIAL = 1;
  const STATE = 2;
  const NAMING = 4;
  const CLASS = 8;
  const STYLE = 16;
  const OWNS = 32;
  const OTHER = 64;
  const MEANINGS = new Map([
    ...set("role tabindex onclick onmousedown onmouseup onpointerdown onpointerup contenteditable inert aria-hidden").values().map((name) => /** @type {[string, number]} */ ([name, SPECIAL])),
    ...set(
      "aria-checked aria-pressed aria-expanded aria-selected aria-current aria-valuenow aria-valuetext aria-disabled aria-readonly readonly aria-required required aria-invalid aria-haspopup aria-level disabled",
    )
      .values()
      .map((name) => /** @type {[string, number]} */ ([name, STATE])),
    ...set("aria-label aria-labelledby title placeholder aria-placeholder").values().map((name) => /** @type {[string, number]} */ ([name, NAMING])),
    ["draggable", SPECIAL | STATE],
    ["class", CLASS],
    ["style", STYLE],
    ["aria-owns", OWNS],
  ]);
  const _getAttributeNames = Element.prototype.getAttributeNames;
  /** @type {Element | null} */
  let traced = null;
  let tracedAs = 0;

  /** What the attributes of an element may mean; asked for many times in a row of the same one. @param {Element} element */
  function traits(element) {
    if (traced !== element) {
      let bits = 0;
      if (hasAttributes(element)) for (const name of _getAttributeNames.call(element)) bits |= MEANINGS.get(name) || OTHER;
      traced = element;
      tracedAs = bits;
    }
    return tracedAs;
  }

  /** Elements with a state that comes from around or inside them. @type {WeakSet<Element>} */
  let stateful = new WeakSet();
  /** Elements of the document to which some rule gives a cursor. @type {WeakSet<Element>} */
  let pointed = new WeakSet();
  /** Elements of the document that some rule may clip to nothing or write with invisible ink. @type {WeakSet<Element>} */
  let suspected = new WeakSet();
  /** Whether the two above tell all there is: not where a style sheet of another origin cannot be read. */
  let surveyed = false;
  const MOST_SURVEYED = 100;
  const HIDING_STYLE = /clip|indent|content-visibility|transparent|rgba|fill-color|(?:^|[^-\w.])(?:max-)?(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|!|$)/i;

  /** @param {Node} root */
  function survey(root) {
    for (const element of queryAll(root, ":disabled,:user-invalid")) stateful.add(element);
  }

  /** Find what style sheets may point at or hide; only in the document, since shadow trees are small. */
  function surveyStyles() {
    pointed = new WeakSet();
    suspected = new WeakSet();
    const { hand, trap, blind } = addedTo(document);
    surveyed = !blind && hand.length + trap.length <= MOST_SURVEYED;
    if (!surveyed) return;
    if (hand.length) for (const element of queryAll(document, `:is(${hand.join(",")})`)) pointed.add(element);
    if (trap.length) for (const element of queryAll(document, `:is(${trap.join(",")})`)) suspected.add(element);
  }

  /** Whether an element may have a cursor of its own. @param {Element} element */
  const pointing = (element) => pointed.has(element) || ((traits(element) & STYLE) !== 0 && /cursor/i.test(attribute(element, "style") || ""));

  /** Whether an element may have a style that hides it or its text. @param {Element} element */
  const suspicious = (element) => suspected.has(element) || ((traits(element) & STYLE) !== 0 && HIDING_STYLE.test(attribute(element, "style") || ""));

  /** Labels by the control they belong to, for each tree. @type {WeakMap<Node, Map<Element, Element[]>>} */
  let labelsOfRoot = new WeakMap();
  /** The tree that is being read, where that is the document and no shadow tree. @type {Node | null} */
  let treeNow = null;

  /** @param {Element} element @returns {Element[]} */
  function labelsOf(element) {
    const root = treeNow || rootOf(element);
    let labels = labelsOfRoot.get(root);
    if (!labels) {
      labels = new Map();
      for (const label of queryAll(root, "label")) {
        const control = /** @type {HTMLLabelElement} */ (label).control;
        if (!control) continue;
        const list = labels.get(control);
        if (list) list.push(label);
        else labels.set(control, [label]);
      }
      labelsOfRoot.set(root, labels);
    }
    return labels.get(element) || [];
  }

  /** @param {Element} element @param {string} name */
  function referred(element, name) {
    const value = attribute(element, name);
    if (!value) return [];
    const root = rootOf(element);
    const found = [];
    for (const id of value.split(/\s+/)) {
      if (!id) continue;
      const target =
        root === document
          ? /** @type {Element | null} */ (_getElementById.call(document, id))
          : root instanceof ShadowRoot
            ? root.getElementById(id)
            : null;
      if (target) found.push(target);
    }
    return found;
  }

  /**
   * The accessible name, by the standard's steps (accname, HTML-AAM).
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   * @returns {string}
   */
  function nameOf(element, tag, role) {
    const attributed = (traits(element) & NAMING) !== 0;
    if (attributed) {
      const by = referred(element, "aria-labelledby");
      if (by.length) {
        let name = "";
        referring = true;
        // Of what is hidden itself all counts, of what is shown only what is shown.
        for (const target of by) name += ` ${textOf(target, element, 0, !isSeen(target) && isHidden(target))}`;
        referring = false;
        name = tidy(name);
        if (name) return name;
      }
      const label = attribute(element, "aria-label");
      if (label) {
        const name = tidy(label);
        if (name) return name;
      }
    }
    const native = nativeName(element, tag, role);
    if (native) return native;
    if (NAMED_BY_CONTENT.has(role) && tag !== "input") {
      const name = tidy(contentOf(element, element, 0, false));
      if (name) return name;
    }
    const title = attributed ? attribute(element, "title") : null;
    if (title) {
      const name = tidy(title);
      if (name) return name;
    }
    if (tag === "input" && inputType(element) === "file") return "Choose File";
    return attributed ? tidy(attribute(element, "placeholder") || attribute(element, "aria-placeholder") || "") : "";
  }

  /** @param {Element} element @param {string} tag @param {string} role */
  function nativeName(element, tag, role) {
    switch (tag) {
      case "input": {
        const type = inputType(element);
        if (type === "button" || type === "submit" || type === "reset") {
          const value = tidy(/** @type {HTMLInputElement} */ (element).value);
          if (value) return value;
          const labelled = labelText(element);
          if (labelled || type === "button" || attribute(element, "value") !== null) return labelled;
          return type === "submit" ? "Submit" : "Reset";
        }
        if (type === "image") {
          return tidy(attribute(element, "alt") || "") || labelText(element) || tidy(attribute(element, "title") || "") || "Submit";
        }
        return labelText(element);
      }
      case "select":
      case "textarea":
      case "button":
      case "progress":
      case "meter":
      case "output":
        return labelText(element);
      case "img":
      case "area":
        return tidy(attribute(element, "alt") || "");
      case "fieldset":
        return childText(element, "legend");
      case "table":
        return childText(element, "caption");
      case "figure":
        return childText(element, "figcaption");
      case "iframe":
      case "frame":
        return tidy(attribute(element, "title") || attribute(element, "name") || "");
      case "svg":
        return childText(element, "title");
      case "dialog":
        return "";
      default:
        if (role && tag.includes("-")) return labelText(element);
        return element instanceof SVGElement ? childText(element, "title") : "";
    }
  }

  /** @param {Element} element @param {string} tag */
  function childText(element, tag) {
    for (let child = firstChild(element); child; child = nextSibling(child)) {
      if (isElement(child) && localName(/** @type {Element} */ (child)) === tag) {
        return tidy(textOf(/** @type {Element} */ (child), element, 0, false));
      }
    }
    return "";
  }

  /** @param {Element} element */
  function labelText(element) {
    let name = "";
    for (const label of labelsOf(element)) name += ` ${textOf(label, element, 0, false)}`;
    return name && tidy(name);
  }

  /** Whether a name is being made of what aria-labelledby refers to: from there no other reference is followed. */
  let referring = false;
  /** What has its own items within it is not called by their names too. */
  const NESTING = set("treeitem menuitem");
  const NESTED = set("group tree treeitem menu");
  /** Elements whose aria-owns is being followed. @type {Set<Element>} */
  const owning = new Set();

  /**
   * What an element adds to a name.
   * @param {Element} element
   * @param {Element} asking the element that is being named
   * @param {number} deep 0 for a label or what a reference names
   * @param {boolean} hidden whether hidden things count too
   * @returns {string}
   */
  function textOf(element, asking, deep, hidden) {
    const tag = localName(element);
    if (SKIPPED.has(tag) && tag !== "title") return "";
    if (deep > DEEPEST_NAME) return textContent(element);
    if (element === asking) {
      // In its own label a control adds nothing; referring to itself it adds what it would be called otherwise.
      if (deep > 0) return "";
      return attribute(element, "aria-label") || nativeName(element, tag, "") || contentOf(element, asking, deep, hidden);
    }
    const attributed = hasAttributes(element);
    if (attributed && !hidden && deep > 0 && attribute(element, "aria-hidden") === "true") return "";
    if (deep > 0 && attributed && !referring && attribute(element, "aria-labelledby")) {
      let name = "";
      referring = true;
      for (const target of referred(element, "aria-labelledby")) name += ` ${textOf(target, element, 0, !isSeen(target) && isHidden(target))}`;
      referring = false;
      if (name.trim()) return name;
    }
    const role = explicitRole(element) || nativeRole(element, tag);
    if (deep > 0 || tag === "input" || tag === "select" || tag === "textarea") {
      const value = embedded(element, tag, role);
      if (value !== null) return value;
    }
    if (attributed) {
      const label = attribute(element, "aria-label");
      if (label && label.trim()) return label;
    }
    if (tag === "img" || tag === "area") return attribute(element, "alt") || attribute(element, "title") || "";
    if (tag === "svg") return childText(element, "title");
    const content = contentOf(element, asking, deep, hidden);
    return content === "" && deep > 0 && attributed ? attribute(element, "title") || "" : content;
  }

  /**
   * What the value of a control within another's label adds to its name; null for what has no value.
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   * @returns {string | null}
   */
  function embedded(element, tag, role) {
    if (tag === "input") {
      const type = inputType(element);
      if (type === "button" || type === "submit" || type === "reset") return nativeName(element, tag, "button");
      if (type === "checkbox" || type === "radio" || type === "file" || type === "image" || type === "hidden") return null;
      return isSecret(element) ? "" : /** @type {HTMLInputElement} */ (element).value;
    }
    if (tag === "textarea") return isSecret(element) ? "" : /** @type {HTMLTextAreaElement} */ (element).value;
    if (tag === "select") return selectedText(/** @type {HTMLSelectElement} */ (element));
    if (role === "slider" || role === "spinbutton") {
      return attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow") || null;
    }
    if (role === "textbox" || role === "searchbox") return textContent(element);
    if (role === "listbox" || role === "combobox") {
      const chosen = query(element, '[aria-selected="true"]');
      return chosen ? textContent(chosen) : "";
    }
    return null;
  }

  /**
   * The text of an element's children as people see them.
   * @param {Element} element
   * @param {Element} asking
   * @param {number} deep
   * @param {boolean} hidden
   * @returns {string}
   */
  function contentOf(element, asking, deep, hidden) {
    const root = shadowOf(element);
    const owns = (traits(element) & OWNS) !== 0;
    if (!root && !owns && childElementCount(element) === 0 && localName(element) !== "slot") {
      const text = textContent(element);
      return around(element, text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text);
    }
    let text = "";
    const tag = localName(element);
    /** @type {Node[] | null} */
    let slotted = null;
    if (!root && tag === "slot") {
      slotted = /** @type {HTMLSlotElement} */ (element).assignedNodes();
      if (!slotted.length) slotted = null;
    }
    const add = (/** @type {Element} */ inner) => {
      if (!hidden && !isSeen(inner) && isHidden(inner)) return;
      if (NESTED.has(attribute(inner, "role") || "") && NESTING.has(explicitRole(asking))) return;
      const added = textOf(inner, asking, deep + 1, hidden);
      if (!added) {
        if (localName(inner) === "br") text += " ";
        return;
      }
      if (INLINE.has(localName(inner)) && !isBlockLevel(inner)) text += added;
      else text += ` ${added} `;
    };
    let child = slotted ? slotted[0] : firstChild(root || element);
    for (let i = 0; child && text.length < LONGEST_READ; child = slotted ? slotted[++i] || null : nextSibling(child)) {
      const type = nodeType(child);
      if (type === 3) text += data(/** @type {Text} */ (child));
      else if (type === 1) add(/** @type {Element} */ (child));
    }
    if (owns && !owning.has(element)) {
      owning.add(element);
      for (const owned of referred(element, "aria-owns")) if (!holds(element, owned) && !holds(owned, element)) add(owned);
      owning.delete(element);
    }
    return around(element, text);
  }

  /** Whether an element that is not seen hides all that is in it from names too. @param {Element} element */
  function isHidden(element) {
    const style = styleOf(element);
    if (style.display === "contents") return false;
    return style.display === "none" || style.visibility !== "visible";
  }

  /** @param {Element} element */
  function isBlockLevel(element) {
    const display = styleOf(element).display;
    return display !== "inline" && display !== "contents" && !display.startsWith("ruby");
  }

  // --- text that style sheets add ---------------------------------------------------------------------------

  /** Selectors of what gets text before or after it, of each tree, null where there are none; of what gets a cursor, and of what may be made invisible; whether some sheet could not be read. @typedef {{before: string | null, after: string | null, hand: string[], trap: string[], blind: boolean}} Added */
  /** @type {WeakMap<Node, Added>} */
  let addedIn = new WeakMap();
  /** @typedef {{rules: number, before: string[], after: string[], hand: string[], trap: string[]}} Rules */
  /** @type {WeakMap<CSSStyleSheet, Rules>} */
  const sheets = new WeakMap();
  const PSEUDO = /::?(before|after)$/;
  const MOST_RULES = 20000;

  /**
   * Selectors in a style sheet whose elements get text, kept until the sheet has more or fewer rules.
   * @param {CSSStyleSheet} sheet
   */
  function addedBy(sheet) {
    /** @type {CSSRuleList | null} */
    let rules = null;
    try {
      rules = sheet.cssRules;
    } catch {
      return null; // A sheet of another origin.
    }
    const known = sheets.get(sheet);
    if (known && known.rules === rules.length) return known;
    /** @type {Rules} */
    const found = { rules: rules.length, before: [], after: [], hand: [], trap: [] };
    let left = MOST_RULES;
    /** @param {CSSRuleList} list @param {string} outer */
    const enter = (list, outer) => {
      for (const rule of list) {
        if (left-- <= 0) return;
        if (rule instanceof CSSStyleRule) {
          const selector = rule.selectorText;
          const own = outer ? (selector.includes("&") ? selector.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${selector}`) : selector;
          if (/:(?:before|after)/.test(selector) && saysSomething(rule.style.content)) {
            for (const one of splitSelectors(own)) {
              const match = PSEUDO.exec(one);
              if (match) found[/** @type {"before" | "after"} */ (match[1])].push(one.slice(0, match.index) || "*");
            }
          }
          const { style } = rule;
          if (style.cursor) found.hand.push(own);
          if (mayHide(style)) found.trap.push(own);
          if (rule.cssRules && rule.cssRules.length) enter(rule.cssRules, own);
        } else if (rule instanceof CSSImportRule) {
          const inner = rule.styleSheet && addedBy(rule.styleSheet);
          if (inner) {
            found.before.push(...inner.before);
            found.after.push(...inner.after);
            found.hand.push(...inner.hand);
            found.trap.push(...inner.trap);
          }
        } else if (/** @type {any} */ (rule).cssRules) enter(/** @type {any} */ (rule).cssRules, outer);
      }
    };
    enter(rules, "");
    sheets.set(sheet, found);
    return found;
  }

  /** Whether a rule may make what it applies to invisible, in a way that checkVisibility() does not know. @param {CSSStyleDeclaration} style */
  function mayHide(style) {
    if (style.clip || style.clipPath || style.textIndent || style.contentVisibility === "hidden") return true;
    const tiny = /^(?:0|1px|0px|var\(.*)$/;
    if (tiny.test(style.width) || tiny.test(style.height) || tiny.test(style.maxHeight)) return true;
    const faint = /transparent|,\s*0\)|\/\s*0%?\)|var\(/;
    return faint.test(style.color) || faint.test(style.getPropertyValue("-webkit-text-fill-color"));
  }

  /** Whether the value of `content` may show letters or figures. @param {string} content */
  const saysSomething = (content) => /attr\(|counter|var\(|quote/.test(content) || /[\p{L}\p{N}]/u.test(written(content));

  /** Split at commas that stand in no bracket. @param {string} selectors */
  function splitSelectors(selectors) {
    const list = [];
    let deep = 0;
    let start = 0;
    for (let i = 0; i < selectors.length; i++) {
      const sign = selectors[i];
      if (sign === "(" || sign === "[") deep++;
      else if (sign === ")" || sign === "]") deep--;
      else if (sign === "," && !deep) {
        list.push(selectors.slice(start, i).trim());
        start = i + 1;
      }
    }
    list.push(selectors.slice(start).trim());
    return list;
  }

  /** What a computed `content` reads as: the alternative text where it gives one. @param {string} content */
  function written(content) {
    const parts = content.split(/\/(?=(?:[^"]*"[^"]*")*[^"]*$)/);
    let text = "";
    for (const [, inner] of /** @type {string} */ (parts[parts.length - 1]).matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      text += /** @type {string} */ (inner).replace(/\\(.)/g, "$1");
    }
    return text.replace(INVISIBLE, "");
  }

  /** @param {Node} root @returns {CSSStyleSheet[]} */
  function sheetsOf(root) {
    if (root === document) return [..._styleSheets.call(document), ..._adoptedStyleSheets.call(document)];
    return root instanceof ShadowRoot ? [...root.styleSheets, ...root.adoptedStyleSheets] : [];
  }

  /** @param {Node} root */
  function addedTo(root) {
    let added = addedIn.get(root);
    if (added) return added;
    /** @type {string[]} */
    const before = [];
    /** @type {string[]} */
    const after = [];
    /** @type {string[]} */
    const hand = [];
    /** @type {string[]} */
    const trap = [];
    let blind = false;
    for (const sheet of sheetsOf(root)) {
      if (sheet.disabled) continue;
      const own = addedBy(sheet);
      if (!own) {
        blind = true;
        continue;
      }
      before.push(...own.before);
      after.push(...own.after);
      hand.push(...own.hand);
      trap.push(...own.trap);
    }
    added = { before: working(before), after: working(after), hand, trap, blind };
    addedIn.set(root, added);
    return added;
  }

  /** One selector for all of them that the engine understands. @param {string[]} selectors */
  const working = (selectors) => (selectors.length ? `:is(${selectors.join(",")})` : null);

  /** @param {Element} element @param {"before" | "after"} where @returns {string} */
  function addedText(element, where) {
    const selector = addedTo(rootOf(element))[where];
    return selector !== null && matches(element, selector) ? written(styleOf(element, `::${where}`).content) : "";
  }

  /** @param {Element} element @param {string} text */
  function around(element, text) {
    const { before, after } = addedTo(treeNow || rootOf(element));
    return before === null && after === null ? text : addedText(element, "before") + text + addedText(element, "after");
  }

  // --- states -------------------------------------------------------------------------------------------

  /** Fields that once were of type password. @type {WeakSet<Element>} */
  const secrets = new WeakSet();

  /** @param {Element} element */
  function isSecret(element) {
    if (localName(element) === "input" && inputType(element) === "password") {
      secrets.add(element);
      return true;
    }
    if (secrets.has(element)) return true;
    const complete = attribute(element, "autocomplete");
    if (complete && SECRET_AUTOCOMPLETE.test(complete)) return true;
    const name = attribute(element, "name");
    const id = attribute(element, "id");
    return (!!name && SECRET_FIELDS.test(name)) || (!!id && SECRET_FIELDS.test(id));
  }

  /** @param {HTMLSelectElement} select */
  function selectedText(select) {
    let text = "";
    for (const option of select.selectedOptions) text += `${text ? ", " : ""}${tidy(option.label || option.text)}`;
    return text;
  }

  const FIRST_OPTIONS = 6;

  /** @param {HTMLSelectElement} select */
  function optionsState(select) {
    const options = select.options;
    let text = "";
    let shown = 0;
    for (let i = 0; i < options.length && shown < FIRST_OPTIONS && text.length < 120; i++, shown++) {
      const option = /** @type {HTMLOptionElement} */ (options[i]);
      text += `${shown ? " | " : ""}${cut(tidy(option.label || option.text), 40)}`;
    }
    if (options.length > shown) text += ` | … ${options.length} in all`;
    return `options=${quoted(text)}`;
  }

  /** Most addresses of a page's own site need no shortening. */
  const PLAIN_PATH = /^\/(?!\/)[\w/.~-]{0,100}$/;

  /** @param {string} href */
  function shortened(href) {
    if (PLAIN_PATH.test(href)) return href;
    href = href.trim();
    if (href === "" || href === "#" || /^javascript:/i.test(href)) return "";
    if (/^data:/i.test(href)) return "data:…";
    const { origin } = location;
    if (origin !== "null" && href.startsWith(origin)) href = href.slice(origin.length) || "/";
    const scheme = /^https?:\/\//i.exec(href);
    if (scheme) href = href.slice(scheme[0].length).replace(/\/$/, "");
    href = href.replace(/([?&])(?:utm_[a-z]+|fbclid|gclid)=[^&#]*/g, "$1").replace(/[?&]+(?=#|$)/, "").replace(/([?&])&+/g, "$1");
    href = href.replace(/\s+/g, "%20").replace(INVISIBLE, "");
    return href.length > 110 ? `${href.slice(0, 70)}…${href.slice(-36)}` : href;
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} role
   * @param {string} name
   * @returns {string[]}
   */
  function statesOf(element, tag, role, name) {
    /** @type {string[]} */
    const states = [];
    if (tag === "input") inputStates(/** @type {HTMLInputElement} */ (element), role, states);
    else if (tag === "textarea") {
      const field = /** @type {HTMLTextAreaElement} */ (element);
      if (field.value) states.push(`value=${isSecret(element) ? "•••" : quoted(cut(field.value, LONGEST_VALUE))}`);
    } else if (tag === "select") {
      const select = /** @type {HTMLSelectElement} */ (element);
      const value = selectedText(select);
      states.push(`value=${quoted(cut(value, LONGEST_VALUE))}`);
      if (select.multiple) states.push("multiple");
      states.push(optionsState(select));
    } else if (tag === "summary") {
      const details = parentNode(element);
      states.push(`expanded=${details instanceof HTMLDetailsElement && details.open}`);
    } else if (tag === "video" || tag === "audio") {
      states.push(/** @type {HTMLMediaElement} */ (element).paused ? "paused" : "playing");
    }
    if (!(traits(element) & (STATE | SPECIAL)) && !stateful.has(element)) {
      if (role === "link") linkState(element, states);
      return states;
    }

    if (tag !== "input") {
      const checked = attribute(element, "aria-checked");
      if (checked === "true") states.push("checked");
      else if (checked === "mixed") states.push("checked=mixed");
    }
    const pressed = attribute(element, "aria-pressed");
    if (pressed === "true") states.push("pressed");
    else if (pressed === "mixed") states.push("pressed=mixed");
    else if (pressed === "false") states.push("pressed=false");
    const expanded = attribute(element, "aria-expanded");
    if (tag !== "summary" && (expanded === "true" || expanded === "false")) states.push(`expanded=${expanded}`);
    if (attribute(element, "aria-selected") === "true") states.push("selected");
    const current = attribute(element, "aria-current");
    if (current && current !== "false") states.push("current");
    if (role === "slider" || role === "spinbutton" || role === "scrollbar") {
      const value = attribute(element, "aria-valuetext") || attribute(element, "aria-valuenow");
      if (value && tag !== "input") states.push(`value=${quoted(tidy(value))}`);
    } else if ((role === "textbox" || role === "searchbox" || role === "combobox") && tag !== "input" && tag !== "textarea" && tag !== "select") {
      const value = tidy(contentOf(element, element, 0, false));
      if (value && value !== name) states.push(`value=${isSecret(element) ? "•••" : quoted(cut(value, LONGEST_VALUE))}`);
    }
    if (isDisabled(element)) states.push("disabled");
    if (attribute(element, "aria-readonly") === "true" || ((tag === "input" || tag === "textarea") && attribute(element, "readonly") !== null)) {
      states.push("readonly");
    }
    if (attribute(element, "aria-required") === "true" || (attribute(element, "required") !== null && tag !== "a")) states.push("required");
    const invalid = attribute(element, "aria-invalid");
    if ((invalid && invalid !== "false") || ((tag === "input" || tag === "textarea" || tag === "select") && matches(element, ":user-invalid"))) {
      states.push("invalid");
    }
    const popup = attribute(element, "aria-haspopup");
    if (popup && popup !== "false") states.push(popup === "true" ? "haspopup" : `haspopup=${popup}`);
    if (role === "treeitem") {
      const level = attribute(element, "aria-level");
      if (level) states.push(`level=${level}`);
    }
    if (attribute(element, "draggable") === "true") states.push("draggable");
    if (role === "link") linkState(element, states);
    return states;
  }

  /** @param {Element} element @param {string[]} states */
  function linkState(element, states) {
    const href = attribute(element, "href") || attribute(element, "xlink:href");
    const target = href && shortened(href);
    if (target) states.push(`→ ${target}`);
  }

  /** @param {HTMLInputElement} input @param {string} role @param {string[]} states */
  function inputStates(input, role, states) {
    const type = input.type;
    if (type === "checkbox" || type === "radio") {
      if (input.indeterminate) states.push("checked=mixed");
      else if (input.checked) states.push("checked");
      return;
    }
    if (role === "switch" && attribute(input, "aria-checked") === "true") states.push("checked");
    if (type === "file") {
      states.push("type=file");
      const files = input.files;
      if (input.multiple) states.push("multiple");
      if (files && files.length) {
        states.push(`value=${quoted(cut(Array.from(files, (file) => file.name).join(", "), LONGEST_VALUE))}`);
      }
      return;
    }
    if (type === "button" || type === "submit" || type === "reset" || type === "image") return;
    if (type === "password") states.push("type=password");
    const value = input.value;
    if (value) states.push(`value=${isSecret(input) ? "•••" : quoted(cut(value, LONGEST_VALUE))}`);
    if (type === "range" || type === "number") {
      for (const bound of ["min", "max", "step"]) {
        const given = attribute(input, bound);
        if (given && given !== "any") states.push(`${bound}=${tidy(given)}`);
      }
    }
  }

  const DISABLEABLE = set("button input select textarea option optgroup fieldset");

  /** @param {Element} element */
  function isDisabled(element) {
    if (attribute(element, "aria-disabled") === "true") return true;
    const tag = localName(element);
    if (DISABLEABLE.has(tag) || tag.includes("-")) return matches(element, ":disabled");
    return false;
  }

  // --- reading ------------------------------------------------------------------------------------------

  /** @type {string[]} */
  const NO_MARKS = [];
  const INERT = ["inert"];
  const EXACT_RECTS = 2500;
  const MOST_GUESSES = 63;
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
      let text = tidy(run, links.length > 0);
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

  // --- image maps -----------------------------------------------------------------------------------------

  /** @param {Element} image */
  function mapOf(image) {
    const name = (attribute(image, "usemap") || "").replace(/^#/, "");
    const root = /** @type {Document | ShadowRoot} */ (rootOf(image));
    return name ? queryAll(root, `map[name="${CSS.escape(name)}"], map[id="${CSS.escape(name)}"]`)[0] || null : null;
  }

  /** What is seen of an element: an area of a map is a piece of the image that uses the map. @param {Element} element @returns {Element} */
  function bodyOf(element) {
    if (localName(element) !== "area") return element;
    const map = closest(element, "map");
    const name = map && (attribute(map, "name") || attribute(map, "id"));
    const root = /** @type {Document | ShadowRoot} */ (rootOf(element));
    return (name && queryAll(root, `img[usemap="#${CSS.escape(name)}"]`)[0]) || element;
  }

  /** The box of an area in the view. @param {Element} area @param {Element} image @returns {DOMRect} */
  function areaBox(area, image) {
    const box = rectOf(image);
    const numbers = (attribute(area, "coords") || "").split(/[\s,;]+/).map(Number).filter((number) => number === number);
    const [x = 0, y = 0, third = 0, fourth = 0] = numbers;
    switch ((attribute(area, "shape") || "rect").toLowerCase()) {
      case "default":
        return box;
      case "circle":
      case "circ":
        return new DOMRect(box.left + x - third, box.top + y - third, 2 * third, 2 * third);
      case "poly":
      case "polygon": {
        const across = numbers.filter((_, i) => i % 2 === 0);
        const down = numbers.filter((_, i) => i % 2 === 1);
        const left = Math.min(...across);
        const top = Math.min(...down);
        return new DOMRect(box.left + left, box.top + top, Math.max(...across) - left, Math.max(...down) - top);
      }
      default:
        return new DOMRect(box.left + Math.min(x, third), box.top + Math.min(y, fourth), Math.abs(third - x), Math.abs(fourth - y));
    }
  }

  /** What the author may have called an element that shows no text. @param {Element} element */
  function hintOf(element) {
    const title = attribute(element, "title") || attribute(element, "alt");
    if (title) return tidy(title);
    const inner = query(element, "[title],[alt],[aria-label],svg > title");
    if (inner) {
      const text = attribute(inner, "aria-label") || attribute(inner, "title") || attribute(inner, "alt") || textContent(inner);
      if (text) return tidy(text);
    }
    const value = attribute(element, "data-value") || attribute(element, "data-id") || attribute(element, "data-action") || attribute(element, "name") || attribute(element, "id") || attribute(element, "class") || "";
    return tidy(value).slice(0, 60);
  }

  /** The focused element, through shadow roots. @returns {Element | null} */
  function deepActive() {
    let element = /** @type {Element | null} */ (_activeElement.call(document));
    while (element) {
      const root = shadowOf(element);
      const inner = root && /** @type {Element | null} */ (_activeWithin.call(root));
      if (!inner) break;
      element = inner;
    }
    return element === body() ? null : element;
  }

  // --- what covers what -----------------------------------------------------------------------------------

  /** The innermost element drawn at a point of the view. @param {number} x @param {number} y @returns {Element | null} */
  function at(x, y) {
    let element = /** @type {Element | null} */ (_elementFromPoint.call(document, x, y));
    while (element) {
      const root = shadowOf(element);
      const inner = root && root.elementFromPoint(x, y);
      if (!inner || inner === element) break;
      element = inner;
    }
    return element;
  }

  /** Whether a click that hits `hit` reaches `element`. @param {Element} element @param {Element | null} hit */
  function reaches(element, hit) {
    if (!hit) return false;
    if (holds(element, hit)) return true;
    for (let node = /** @type {Node | null} */ (hit); node; node = flatParent(node)) {
      if (node instanceof HTMLLabelElement) {
        const control = node.control;
        return !!control && (control === element || holds(element, control));
      }
    }
    return false;
  }

  const MOST_COVER_TESTS = 200;
  /** How many lines name what covers them; the others only say that they are covered. */
  const FIRST_COVERED = 3;
  /** Hit tests are slow where an element has thousands of children: milliseconds after which the rest goes untested. */
  const COVER_TIME = 6;

  /** Mark what lies in the view under something else. @param {Line[]} lines */
  function markCovered(lines) {
    let tests = 0;
    /** @type {Map<Element, Element>} */
    const covers = new Map();
    /** How many lines say what covers them. @type {Map<Element, number>} */
    const told = new Map();
    /** @type {Set<Element>} */
    const shown = new Set();
    for (const line of lines) if (line.node && (line.kind === "interactive" || line.kind === "region")) shown.add(line.node);
    const until = now() + COVER_TIME;
    for (const line of spread(lines.filter((line) => line.kind === "interactive" && line.far === 0))) {
      if (!line.node) continue;
      if (++tests > MOST_COVER_TESTS || now() > until) break;
      const element = line.node;
      const box = rectOf(element);
      const left = Math.max(box.left, 0);
      const right = Math.min(box.right, innerWidth);
      const top = Math.max(box.top, 0);
      const bottom = Math.min(box.bottom, innerHeight);
      if (right - left < 2 || bottom - top < 2) continue;
      const y = (top + bottom) / 2;
      let hit = at((left + right) / 2, y);
      if (!hit || reaches(element, hit) || holds(hit, element)) continue;
      const second = at(left + (right - left) / 8, top + (bottom - top) / 4);
      if (reaches(element, second) || (second && holds(second, element))) continue;
      const third = at(right - (right - left) / 8, bottom - (bottom - top) / 4);
      if (reaches(element, third) || (third && holds(third, element))) continue;
      if (!isOver(hit, element)) continue;
      let cover = covers.get(hit);
      if (cover === undefined) {
        cover = coverOf(hit, element, shown);
        covers.set(hit, cover);
      }
      const times = (told.get(cover) || 0) + 1;
      told.set(cover, times);
      line.marks = [...line.marks, times > FIRST_COVERED ? "covered" : `covered by ${reference(keep(cover))}`];
    }
  }

  /** The same lines, every eighth first, so that the first of them speak for the whole view. @param {Line[]} lines */
  function spread(lines) {
    const order = [];
    for (let first = 0; first < 8; first++) for (let i = first; i < lines.length; i += 8) order.push(/** @type {Line} */ (lines[i]));
    return order;
  }

  /** Whether `hit` is drawn over `element`, rather than beside it where it is clipped. @param {Element} hit @param {Element} element */
  function isOver(hit, element) {
    const box = rectOf(element);
    const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2;
    const y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
    const [inner, whole] = [body(), rootElement()];
    for (let node = flatParent(element); node && node !== inner; node = flatParent(node)) {
      if (!isElement(node)) continue;
      const outer = /** @type {Element} */ (node);
      if (outer === whole) break;
      const style = styleOf(outer);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const clip = rectOf(outer);
      if (x < clip.left || x > clip.right || y < clip.top || y > clip.bottom) return false;
    }
    return true;
  }

  /**
   * The thing a covering element belongs to: a dialog, something that has a line, a control, or the outermost box
   * that does not hold `element`.
   * @param {Element} hit
   * @param {Element} element
   * @param {Set<Element> | null} shown the elements that have a line
   * @returns {Element}
   */
  function coverOf(hit, element, shown = null) {
    let best = hit;
    /** @type {Element | null} */
    let control = null;
    /** @type {Element | null} */
    let known = null;
    for (let node = /** @type {Node | null} */ (hit); node; node = flatParent(node)) {
      if (!isElement(node)) continue;
      const outer = /** @type {Element} */ (node);
      if (holds(outer, element)) break;
      const role = explicitRole(outer) || nativeRole(outer, localName(outer));
      if (role === "dialog" || role === "alertdialog") return outer;
      if (!known && shown && shown.has(outer)) known = outer;
      const what = ROLE_KINDS.get(role);
      if (!control && (what === "interactive" || (what === "region" && REGIONS.has(role)))) control = outer;
      best = outer;
    }
    if (known || control) return known || control || best;
    // A backdrop stands beside the dialog it belongs to.
    const dialog = query(best, "dialog,[role=dialog],[role=alertdialog]") || beside(best);
    return dialog && isSeen(dialog) ? dialog : best;
  }

  /** A dialog right after a backdrop. @param {Element} backdrop */
  function beside(backdrop) {
    for (let node = nextSibling(backdrop); node; node = nextSibling(node)) {
      if (!isElement(node)) continue;
      const element = /** @type {Element} */ (node);
      return matches(element, "dialog,[role=dialog],[role=alertdialog]") ? element : query(element, "[role=dialog],[role=alertdialog]");
    }
    return null;
  }

  /** A line for any one element, known or not. @param {Element} element @returns {Line} */
  function describe(element) {
    const tag = localName(element);
    const role = (explicitRole(element) || nativeRole(element, tag)).replace(/^(none|presentation|generic)$/, "");
    const what = ROLE_KINDS.get(role);
    const known = toldById().get(idOf(element));
    const id = keep(element);
    // What these are called depends on what is in them, as it was read.
    if (known && (known.kind !== "interactive" || known.role === "clickable" || known.role === "row")) {
      return { ...known, depth: 0, marks: [], node: element };
    }
    if (tag === "label" && !role) {
      const control = /** @type {HTMLLabelElement} */ (element).control;
      if (control) {
        const controlTag = localName(control);
        const controlRole = explicitRole(control) || nativeRole(control, controlTag);
        const name = nameOf(control, controlTag, controlRole);
        return { kind: "interactive", depth: 0, id, role: controlRole, name: cut(name, LONGEST_NAME), states: statesOf(control, controlTag, controlRole, name), marks: [], far: 0, node: element };
      }
    }
    labelsOfRoot = new WeakMap();
    const shown = role || (isEditor(element, tag) ? "textbox" : hasHandler(element) ? "clickable" : tag);
    let name = nameOf(element, tag, shown) || tidy(contentOf(element, element, 0, false));
    if (!name || (!what && name.length > 80)) name = hintOf(element) || name;
    if (what === "region") {
      const title = nameOf(element, tag, role) || tidy(textContent(query(element, "h1,h2,h3,h4,[role=heading],[class*=title]") || element));
      name = cut(title, 80);
    }
    return {
      kind: what === "region" ? "region" : "interactive",
      depth: 0,
      id,
      role: shown,
      name: cut(name, LONGEST_NAME),
      states: what === "region" ? [] : statesOf(element, tag, shown, name),
      marks: [],
      far: 0,
      node: element,
    };
  }

  // --- what was told, and what has changed since ------------------------------------------------------------

  /** The last readings by number, so that one can be compared with. @type {Map<number, Line[]>} */
  const readings = new Map();
  let lastReading = 0;
  /** @type {Map<number, Line> | null} */
  let told = null;

  function toldById() {
    if (!told) {
      told = new Map();
      for (const line of readings.get(lastReading) || []) if (line.role) told.set(line.id, line);
    }
    return told;
  }

  /** @param {Line[]} lines @param {number} base */
  function remember(lines, base) {
    lastReading++;
    readings.set(lastReading, lines);
    for (const number of readings.keys()) if (number !== lastReading && number !== base) readings.delete(number);
    told = null;
    return lastReading;
  }

  /** @param {Line[]} lines */
  function release(lines) {
    for (const line of lines) line.node = null;
  }

  /** @param {Line} a @param {Line} b */
  function sameLine(a, b) {
    if (a.kind !== b.kind || a.depth !== b.depth || a.role !== b.role || a.states.length !== b.states.length) return false;
    if (a.name !== b.name && (!a.name.includes("\uE000") || signature(a) !== signature(b))) return false;
    for (let i = 0; i < a.states.length; i++) if (a.states[i] !== b.states[i]) return false;
    return true;
  }

  /** @param {Line} line */
  const signature = (line) => `${line.kind}${line.depth}\n${line.role}\n${line.name.includes("\uE000") ? line.name.replace(REFERENCES, "[]") : line.name}\n${line.states.join("\n")}`;

  /** @param {Line} line */
  const costOf = (line) => {
    let cost = line.depth * 2 + line.name.length + (line.role ? line.role.length + 9 : 1) + 1;
    for (const state of line.states) cost += state.length + 1;
    for (const mark of line.marks) cost += mark.length + 1;
    return cost;
  };

  /** @param {Line} line @param {boolean} isNew @returns {WireLine} */
  function wire(line, isNew) {
    const states = line.marks.length ? [...line.states, ...line.marks] : line.states;
    return [line.kind, line.depth, line.id, line.role, line.name, states, isNew ? 1 : 0, line.far];
  }

  /**
   * Choose the lines that a budget has room for: what is in the view first, then what is near it.
   * @param {Line[]} lines
   * @param {number} budget in characters
   * @returns {{chosen: number[], cost: number}} places in `lines`, in reading order, and what all lines cost
   */
  function choose(lines, budget) {
    const count = lines.length;
    const costs = new Int32Array(count);
    let total = 0;
    for (let i = 0; i < count; i++) total += costs[i] = costOf(/** @type {Line} */ (lines[i]));
    const chosen = [];
    if (total <= budget) {
      for (let i = 0; i < count; i++) chosen.push(i);
      return { chosen, cost: total };
    }
    const order = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const far = /** @type {Line} */ (lines[i]).far;
      order[i] = Math.min(far < 0 ? Math.round(-far * 1.5) : far, 4e7) * 1e7 + i;
    }
    order.sort();
    let used = 0;
    for (let i = 0; i < count; i++) {
      const place = /** @type {number} */ (order[i]) % 1e7;
      used += /** @type {number} */ (costs[place]);
      if (used > budget && i > 0) break;
      chosen.push(place);
    }
    chosen.sort((a, b) => a - b);
    return { chosen, cost: total };
  }

  function view() {
    const page = scroller();
    return [
      Math.round(scrollX),
      Math.round(scrollY),
      innerWidth,
      innerHeight,
      page ? _scrollWidth.call(page) : innerWidth,
      page ? _scrollHeight.call(page) : innerHeight,
    ];
  }

  /**
   * @typedef {object} Wish what an observation is to tell
   * @property {number} base number of the reading that was told last, 0 for none
   * @property {string} of key of the document that was read then
   * @property {boolean} whole a snapshot, even where changes could be told
   * @property {number} budget characters of a snapshot
   * @property {number} changes characters of changes
   * @property {boolean} strict changes, even where the snapshot is shorter
   */

  /** Characters of a snapshot that is told because of what was scrolled to. */
  const SCROLLED_BUDGET = 10000;
  /** Ids of the lines that have been told, of texts too. @type {Set<number>} */
  const toldOnce = new Set();

  /**
   * Whether something in the view has never been told: it was left out by a budget, and was scrolled to.
   * @param {Line[]} lines
   * @param {Change[]} changes
   */
  function showsUntold(lines, changes) {
    const now = new Set();
    for (const [kind, line] of changes) if (kind === "added") now.add(line.id);
    for (const line of lines) if (line.far === 0 && !toldOnce.has(line.id) && !now.has(line.id)) return true;
    return false;
  }

  /** @param {Wish} wish */
  function observe(wish) {
    const lines = read(null);
    markCovered(lines);
    // Readings are counted in each document: what was told of the one before has a number that may stand here too.
    const before = wish.of === documentKey ? readings.get(wish.base) : undefined;
    const number = remember(lines, wish.base);
    release(lines);
    const answer = { doc: documentKey, number, url: location.href, title: tidy(_title.call(document) || ""), view: view(), frames: framesIn(lines), count: lines.length, hosts: hosts.length ? hosts.map(keep) : undefined };
    if (before && !wish.whole) {
      const changes = compare(before, lines);
      if (!wish.strict && showsUntold(lines, changes)) {
        return { ...answer, ...snapshotOf(lines, before, Math.max(wish.changes, Math.min(wish.budget, SCROLLED_BUDGET))) };
      }
      const told = chooseChanges(changes, wish.changes);
      let size = 0;
      for (const line of lines) size += costOf(line);
      const changed = told.cost + (told.omitted ? wish.changes : 0);
      if (wish.strict || changed < Math.min(size, wish.budget) || !changes.length) {
        return { ...answer, changes: told.wire, omitted: told.omitted };
      }
    }
    return { ...answer, ...snapshotOf(lines, before, wish.budget) };
  }

  /** The frames that can be seen: id, place among the lines, depth, distance from the view. @param {Line[]} lines */
  function framesIn(lines) {
    const frames = [];
    for (let i = 0; i < lines.length; i++) {
      const line = /** @type {Line} */ (lines[i]);
      if (line.role === "iframe") frames.push([line.id, i, line.depth, line.far]);
    }
    return frames;
  }

  /** @param {Line[]} lines @param {Line[] | undefined} before @param {number} budget */
  function snapshotOf(lines, before, budget) {
    const { chosen, cost } = choose(lines, budget);
    /** @type {Set<number> | null} */
    let old = null;
    if (before) {
      old = new Set();
      for (const line of before) old.add(line.id);
    }
    const wired = [];
    for (const place of chosen) {
      const line = /** @type {Line} */ (lines[place]);
      toldOnce.add(line.id);
      wired.push(wire(line, !!old && line.kind === "interactive" && !old.has(line.id)));
    }
    return { lines: wired, places: chosen.length === lines.length ? null : chosen, cost };
  }

  /**
   * @typedef {["added" | "removed" | "changed" | "replaced" | "moved", Line, Line | null, number, number]} Change
   *   what happened, the line, the line before, its place before and now, -1 for none
   * @param {Line[]} before
   * @param {Line[]} after
   * @returns {Change[]}
   */
  function compare(before, after) {
    /** @type {Map<number, number[]>} */
    const oldById = new Map();
    for (let i = 0; i < before.length; i++) {
      const line = /** @type {Line} */ (before[i]);
      const places = oldById.get(line.id);
      if (places) places.push(i);
      else oldById.set(line.id, [i]);
    }
    /** Which old line each new one was: its place, or -1. */
    const origin = new Int32Array(after.length).fill(-1);
    const used = new Uint8Array(before.length);
    let open = 0;
    for (let j = 0; j < after.length; j++) {
      const line = /** @type {Line} */ (after[j]);
      const places = oldById.get(line.id);
      if (places) {
        for (const i of places) {
          if (!used[i] && sameLine(/** @type {Line} */ (before[i]), line)) {
            used[i] = 1;
            origin[j] = i;
            break;
          }
        }
      }
      if (origin[j] === -1) open++;
    }
    /** @type {Change[]} */
    const changes = [];
    if (open === 0 && before.length === after.length && isRising(origin)) return changes;
    // The same element, told differently.
    /** @type {Map<number, number>} */
    const changedFrom = new Map();
    for (let j = 0; j < after.length; j++) {
      if (origin[j] !== -1) continue;
      const line = /** @type {Line} */ (after[j]);
      const places = oldById.get(line.id);
      if (!places) continue;
      for (const i of places) {
        const old = /** @type {Line} */ (before[i]);
        if (!used[i] && (old.kind === line.kind || (old.role && line.role))) {
          used[i] = 1;
          changedFrom.set(j, i);
          break;
        }
      }
    }
    // Another element, told just the same: drawn anew.
    /** @type {Map<string, number[]>} */
    const oldBySign = new Map();
    for (let i = 0; i < before.length; i++) {
      if (used[i]) continue;
      const sign = signature(/** @type {Line} */ (before[i]));
      const places = oldBySign.get(sign);
      if (places) places.push(i);
      else oldBySign.set(sign, [i]);
    }
    /** @type {Map<number, number>} */
    const replacedFrom = new Map();
    for (let j = 0; j < after.length; j++) {
      if (origin[j] !== -1 || changedFrom.has(j)) continue;
      const places = oldBySign.get(signature(/** @type {Line} */ (after[j])));
      const i = places && places.shift();
      if (i !== undefined) {
        used[i] = 1;
        replacedFrom.set(j, i);
      }
    }
    for (let i = 0; i < before.length; i++) {
      if (!used[i]) changes.push(["removed", /** @type {Line} */ (before[i]), null, i, -1]);
    }
    for (const [j, i] of changedFrom) origin[j] = i;
    for (const [j, i] of replacedFrom) {
      origin[j] = i;
      if (toldOnce.has(/** @type {Line} */ (before[i]).id)) toldOnce.add(/** @type {Line} */ (after[j]).id);
    }
    const stayed = inOrder(origin);
    for (let j = 0; j < after.length; j++) {
      const line = /** @type {Line} */ (after[j]);
      const i = /** @type {number} */ (origin[j]);
      if (i === -1) changes.push(["added", line, null, -1, j]);
      else if (changedFrom.has(j)) changes.push(["changed", line, /** @type {Line} */ (before[i]), i, j]);
      else if (replacedFrom.has(j) && (line.kind === "interactive" || line.kind === "region" || line.name.includes("\uE000"))) {
        changes.push(["replaced", line, /** @type {Line} */ (before[i]), i, j]);
      } else if (!stayed[j]) changes.push(["moved", line, /** @type {Line} */ (before[i]), i, j]);
      else if (line.name !== /** @type {Line} */ (before[i]).name) {
        changes.push(["replaced", line, /** @type {Line} */ (before[i]), i, j]);
      }
    }
    return changes;
  }

  /** @param {Int32Array} origin */
  function isRising(origin) {
    for (let j = 1; j < origin.length; j++) if (/** @type {number} */ (origin[j]) < /** @type {number} */ (origin[j - 1])) return false;
    return true;
  }

  /**
   * Which lines have kept their order among one another: the longest rising run of old places.
   * @param {Int32Array} origin old place of each new line, -1 for none
   */
  function inOrder(origin) {
    const stayed = new Uint8Array(origin.length);
    const before = new Int32Array(origin.length);
    /** The new places that end the best run of each length. @type {number[]} */
    const ends = [];
    for (let j = 0; j < origin.length; j++) {
      const place = /** @type {number} */ (origin[j]);
      if (place === -1) continue;
      let low = 0;
      let high = ends.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (/** @type {number} */ (origin[/** @type {number} */ (ends[middle])]) < place) low = middle + 1;
        else high = middle;
      }
      before[j] = low > 0 ? /** @type {number} */ (ends[low - 1]) : -1;
      ends[low] = j;
    }
    for (let j = ends.length ? /** @type {number} */ (ends[ends.length - 1]) : -1; j >= 0; j = /** @type {number} */ (before[j])) stayed[j] = 1;
    return stayed;
  }

  /** @param {Change[]} changes @param {number} budget */
  function chooseChanges(changes, budget) {
    const costs = changes.map(([kind, line, before]) => (kind === "replaced" ? 14 : costOf(line) + (before ? 12 + (before.name === line.name ? 0 : before.name.length) : 0)));
    const order = changes.map((_, i) => i);
    let total = 0;
    for (const cost of costs) total += cost;
    let cost = 0;
    if (total > budget) {
      const rank = (/** @type {number} */ i) => {
        const [kind, line] = /** @type {Change} */ (changes[i]);
        return Math.abs(line.far) + (kind === "replaced" || kind === "moved" ? 1e6 : 0) + (kind === "removed" ? 500 : 0);
      };
      order.sort((a, b) => rank(a) - rank(b) || a - b);
    }
    const chosen = [];
    for (const i of order) {
      const own = /** @type {number} */ (costs[i]);
      if (cost + own > budget) break;
      cost += own;
      chosen.push(i);
    }
    chosen.sort((a, b) => a - b);
    const wired = [];
    for (const i of chosen) {
      const [kind, line, before, was, at] = /** @type {Change} */ (changes[i]);
      toldOnce.add(line.id);
      wired.push([kind, wire(line, kind === "added" && line.kind === "interactive"), before && wire(before, false), was, at]);
    }
    return { wire: wired, omitted: changes.length - chosen.length, cost };
  }

  // --- settling -------------------------------------------------------------------------------------------

  const FRAME_FALLBACK = 60;
  const LONGEST_RESTLESS = 300;
  const LONGEST_ANIMATION = 700;
  const SHOWING = /^(?:opacity|visibility|display|transform|translate|scale|height|width|max-height|max-width|top|left|right|bottom|clip-path|grid-template-rows|inset|content-visibility)/;

  /** The next frame, or a moment where none comes because the page is not drawn. @returns {Promise<void>} */
  function frame() {
    return new Promise((resolve) => {
      if (_hidden.call(document)) {
        setTimeout(resolve, 16);
        return;
      }
      const timer = setTimeout(resolve, FRAME_FALLBACK);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        setTimeout(resolve, 0);
      });
    });
  }

  /** @param {number} delay @returns {Promise<void>} */
  const pause = (delay) => new Promise((resolve) => setTimeout(resolve, delay));

  /** How long what is just being animated in or out still takes, milliseconds. @param {(Document | ShadowRoot)[]} roots */
  function animating(roots) {
    let left = 0;
    const time = _timeline.call(document).currentTime;
    if (time === null) return left;
    for (const root of roots) {
      for (const animation of root.getAnimations()) {
        if (animation.playState !== "running") continue;
        const effect = animation.effect;
        const timing = effect && effect.getComputedTiming();
        const end = timing ? Number(timing.endTime) : Infinity;
        if (!(end <= LONGEST_ANIMATION)) continue;
        if (animation instanceof CSSTransition && !SHOWING.test(animation.transitionProperty)) continue;
        left = Math.max(left, end - (Number(animation.currentTime) || 0));
      }
    }
    return left;
  }

  /** The document and the shadow roots in it that are known. */
  function allRoots() {
    /** @type {(Document | ShadowRoot)[]} */
    const roots = [document];
    for (const ref of rootList) {
      const root = ref.deref();
      if (!root) rootList.delete(ref);
      else if (isConnected(root)) roots.push(root);
    }
    return roots;
  }

  /**
   * Wait until the page has done what the last input started.
   * @param {number} limit milliseconds
   */
  async function settle(limit) {
    const start = now();
    let mutations = 0;
    const observer = new MutationObserver((records) => {
      mutations += records.length;
    });
    const roots = allRoots();
    for (const root of roots) observer.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
    let state = { quiet: true, timers: 0, animations: false, mutations: false, waited: 0 };
    try {
      let restless = start;
      for (;;) {
        mutations = 0;
        await frame();
        const waited = now() - start;
        const pending = pendingTimers();
        const moving = animating(roots);
        const restlessFor = now() - restless;
        state = { quiet: false, timers: pending.count, animations: moving > 0, mutations: mutations > 0, waited: Math.round(waited) };
        if (waited >= limit) return state;
        if (pending.count) {
          await pause(Math.min(pending.left + 1, limit - waited, 100));
          restless = now();
          continue;
        }
        if (moving > 0) {
          await pause(Math.min(moving, limit - waited));
          continue;
        }
        if (mutations && restlessFor < LONGEST_RESTLESS) continue;
        state.quiet = !mutations;
        return state;
      }
    } finally {
      observer.disconnect();
    }
  }

  // --- acting -----------------------------------------------------------------------------------------------

  /** @param {Element} element the control behind a label, or the element itself */
  function controlOf(element) {
    if (localName(element) === "label") {
      const control = /** @type {HTMLLabelElement} */ (element).control;
      if (control) return control;
    }
    return element;
  }

  /** @param {Element} element */
  function valueKind(element) {
    const tag = localName(element);
    if (tag === "input") {
      const type = inputType(element);
      if (TEXT_TYPES.has(type)) return "text";
      if (PICKER_TYPES.has(type)) return "picker";
      if (type === "checkbox" || type === "radio") return "check";
      if (type === "file") return "file";
      return "none";
    }
    if (tag === "textarea") return "text";
    if (tag === "select") return "select";
    if ((element instanceof HTMLElement && _isContentEditable.call(element)) || isEditor(element, tag) || inDesign()) return "rich";
    return "none";
  }

  /** @param {Element} element */
  function checkedState(element) {
    if (localName(element) === "input") {
      const type = inputType(element);
      if (type === "checkbox" || type === "radio") return /** @type {HTMLInputElement} */ (element).checked;
    }
    const given = attribute(element, "aria-checked") || attribute(element, "aria-pressed") || attribute(element, "aria-selected");
    return given === "true" ? true : given === "false" || given === "mixed" ? false : null;
  }

  /** The parts of an element's boxes that lie in the view. @param {Element} element @returns {{left: number, top: number, right: number, bottom: number}[]} */
  function boxesInView(element) {
    const boxes = [];
    const body = bodyOf(element);
    let rects = body === element ? Array.from(_getClientRects.call(element)) : [areaBox(element, body)];
    if (!rects.some((rect) => rect.width > 0 && rect.height > 0)) {
      const range = /** @type {Range} */ (_createRange.call(document));
      range.selectNodeContents(element);
      rects = Array.from(range.getClientRects());
    }
    for (const rect of rects.slice(0, 4)) {
      const left = Math.max(rect.left, 0);
      const top = Math.max(rect.top, 0);
      const right = Math.min(rect.right, innerWidth);
      const bottom = Math.min(rect.bottom, innerHeight);
      if (right - left >= 1 && bottom - top >= 1) boxes.push({ left, top, right, bottom });
    }
    return boxes;
  }

  /** @param {Element} element @returns {DOMRect} the box of an element, or of what is in it where it has none */
  function boxOf(element) {
    const body = bodyOf(element);
    if (body !== element) return areaBox(element, body);
    const box = rectOf(element);
    if (box.width > 0 && box.height > 0) return box;
    const style = styleOf(element);
    if (style.overflowX !== "visible" && style.display !== "inline" && style.display !== "contents") return box;
    const range = /** @type {Range} */ (_createRange.call(document));
    range.selectNodeContents(element);
    const inner = range.getBoundingClientRect();
    return inner.width > 0 && inner.height > 0 ? inner : box;
  }

  const POINTS = [
    [0.5, 0.5],
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
    [0.08, 0.5],
    [0.92, 0.5],
    [0.1, 0.1],
    [0.9, 0.1],
    [0.1, 0.9],
    [0.9, 0.9],
  ];

  /**
   * A point of the view where a click reaches the element.
   * @param {Element} element
   * @param {boolean} anything take the middle, whatever lies there
   * @returns {{x: number, y: number, hit: Element | null} | null} with `hit` the element in the way; null where no part is in the view
   */
  function pointOn(element, anything) {
    const boxes = boxesInView(element);
    const first = boxes[0];
    if (!first) return null;
    /** @type {Element | null} */
    let blocker = null;
    for (const box of boxes) {
      for (const [fx, fy] of POINTS) {
        const x = box.left + (box.right - box.left) * /** @type {number} */ (fx);
        const y = box.top + (box.bottom - box.top) * /** @type {number} */ (fy);
        const hit = at(x, y);
        if (anything || reaches(element, hit)) return { x, y, hit: null };
        if (!blocker) blocker = hit;
      }
    }
    return { x: (first.left + first.right) / 2, y: (first.top + first.bottom) / 2, hit: blocker };
  }

  /** @param {Element} element */
  function bringIntoView(element) {
    _scrollIntoView.call(bodyOf(element), { block: "center", inline: "center", behavior: "instant" });
  }

  /** Whether an overlay fills so much of the view that scrolling moves nothing out from under it. @param {Element} hit @param {Element} element */
  function fillsView(hit, element) {
    const cover = coverOf(hit, element);
    for (const part of [cover, hit]) {
      const box = rectOf(part);
      const wide = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
      const high = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
      if (wide * high > innerWidth * innerHeight * 0.5) return true;
    }
    return false;
  }

  /** Whether an animation or transition moves the element or something around it. @param {Element} element */
  function isMoving(element) {
    for (const animation of animations()) {
      if (animation.playState !== "running") continue;
      const effect = animation.effect;
      const target = effect instanceof KeyframeEffect ? effect.target : null;
      if (!target || !holds(target, element)) continue;
      if (animation instanceof CSSTransition && !SHOWING.test(animation.transitionProperty)) continue;
      const timing = effect && effect.getComputedTiming();
      if (timing && Number(timing.endTime) === Infinity && !movesBox(/** @type {KeyframeEffect} */ (effect))) continue;
      return true;
    }
    return false;
  }

  /** @param {KeyframeEffect} effect */
  function movesBox(effect) {
    for (const keyframe of effect.getKeyframes()) {
      for (const property of ["transform", "translate", "left", "top", "right", "bottom", "marginLeft", "marginTop", "width", "height"]) {
        if (property in keyframe) return true;
      }
    }
    return false;
  }

  const PATIENCE = 1000;
  const WITHOUT_BOX = new Set(["upload", "read"]);
  const WITHOUT_HIT = new Set(["upload", "read", "fill", "select"]);

  /**
   * Make an element ready for an action, or say why it is not.
   * @param {number} id
   * @param {string} purpose
   * @param {boolean} force skip the checks that a person could not pass
   * @returns {Promise<object>}
   */
  async function ready(id, purpose, force) {
    const start = now();
    for (;;) {
      const answer = await tryReady(id, purpose, force);
      const problem = /** @type {Problem} */ (answer).problem;
      // The mouse that comes now may start something before any button or key goes down.
      if (!problem && purpose !== "read") ask("input");
      if (!problem || /** @type {Problem} */ (answer).lasting || now() - start >= PATIENCE) return answer;
      await pause(50);
    }
  }

  /** @param {number} id @param {string} purpose @param {boolean} force @returns {Promise<object>} */
  async function tryReady(id, purpose, force) {
    const element = byId(id);
    if (!element) return { problem: "stale", lasting: true };
    const control = controlOf(element);
    const tag = localName(control);
    const kind = valueKind(control);
    const line = describe(element);
    const facts = {
      node: wire(line, false),
      tag,
      type: tag === "input" ? inputType(control) : "",
      kind,
      checked: checkedState(control),
      multiple: !!(/** @type {HTMLInputElement} */ (control).multiple),
      focused: deepActive() === control,
    };
    if (purpose === "upload") {
      const file = tag === "input" ? control : query(element, "input[type=file]");
      if (!file || localName(file) !== "input" || inputType(file) !== "file") return { problem: "not-file", lasting: true, ...facts };
      return { ...facts, target: keep(file), x: 0, y: 0, width: 0, height: 0 };
    }
    if (purpose === "read" || force) {
      const box = boxOf(element);
      if (force && purpose !== "read") {
        if (!boxesInView(element).length) bringIntoView(element);
        const point = pointOn(element, true);
        if (!point) return { problem: "no-size", ...facts };
        return { ...facts, x: point.x, y: point.y, width: box.width, height: box.height };
      }
      return { ...facts, x: box.left + box.width / 2, y: box.top + box.height / 2, width: box.width, height: box.height };
    }
    if (tag === "option" && purpose === "click") return { problem: "option", lasting: true, ...facts };
    if (purpose === "fill" && kind !== "text" && kind !== "picker" && kind !== "rich") {
      return { problem: "not-editable", lasting: true, ...facts };
    }
    if (purpose !== "hover") {
      if (isDisabled(control) || closest(control, '[aria-disabled="true"]')) return { problem: "disabled", ...facts };
    }
    if (purpose === "fill") {
      if (attribute(control, "readonly") !== null && (tag === "input" || tag === "textarea")) return { problem: "readonly", ...facts };
      if (attribute(control, "aria-readonly") === "true") return { problem: "readonly", ...facts };
    }
    if (inertAround(element)) return { problem: "inert", ...facts };
    if (!isSeen(bodyOf(element))) {
      const style = styleOf(element);
      const away = style.display !== "contents" && !(isReplaceable(element, tag) && style.display !== "none" && style.visibility === "visible");
      if (away) return { problem: "hidden", how: hiddenHow(element), ...facts };
    }
    let box = boxOf(element);
    /** @type {Element} */
    let target = element;
    if (box.width < 1 || box.height < 1) {
      const label = labelsOf(control).find((candidate) => isSeen(candidate));
      if (!label) return { problem: "no-size", ...facts };
      target = label;
      box = boxOf(label);
    }
    if (isMoving(target)) {
      const before = boxOf(target);
      await frame();
      const after = boxOf(target);
      if (before.left !== after.left || before.top !== after.top || before.width !== after.width || before.height !== after.height) {
        return { problem: "moving", ...facts };
      }
      box = after;
    }
    const free = WITHOUT_HIT.has(purpose);
    let point = pointOn(target, free);
    if (!point) {
      bringIntoView(target);
      point = pointOn(target, free);
    } else if (point.hit && (!isOver(point.hit, target) || holds(point.hit, target) || !fillsView(point.hit, target))) {
      const [x, y] = [scrollX, scrollY];
      bringIntoView(target);
      point = pointOn(target, free);
      if (point && point.hit) scrollTo({ left: x, top: y, behavior: /** @type {ScrollBehavior} */ ("instant") });
    }
    if (!point && target === element) {
      const label = labelsOf(control).find((candidate) => isSeen(candidate));
      if (label) {
        bringIntoView(label);
        point = pointOn(label, free);
      }
    }
    box = boxOf(target);
    if (!point) return { problem: "off-screen", ...facts };
    if (point.hit) {
      const labelled = target === element ? labelPoint(control) : null;
      if (!labelled) {
        if (styleOf(target).pointerEvents === "none") return { problem: "no-pointer", ...facts };
        if (!holds(point.hit, element)) {
          return { problem: "covered", by: wire(describe(coverOf(point.hit, element)), false), ...facts };
        }
        // A component's field that lies unseen under what the component draws: a click there is meant for it.
        const under = isReplaceable(element, localName(element)) && rootOf(point.hit) === rootOf(element);
        if (!under) return { problem: "clipped", ...facts };
      } else point = labelled;
    }
    return { ...facts, x: point.x, y: point.y, width: box.width, height: box.height };
  }

  /** @param {Element} control a point of a label that is seen @returns {{x: number, y: number, hit: Element | null} | null} */
  function labelPoint(control) {
    for (const label of labelsOf(control)) {
      if (!isSeen(label)) continue;
      const point = pointOn(label, false);
      if (point && !point.hit) return point;
    }
    return null;
  }

  /** @param {Element} element */
  function inertAround(element) {
    for (let node = /** @type {Node | null} */ (element); node; node = flatParent(node)) {
      if (isElement(node) && attribute(/** @type {Element} */ (node), "inert") !== null) return true;
    }
    return false;
  }

  /** @param {Element} element */
  function hiddenHow(element) {
    for (let node = /** @type {Node | null} */ (element); node; node = flatParent(node)) {
      if (!isElement(node)) continue;
      const style = styleOf(/** @type {Element} */ (node));
      if (style.display === "none") return "display: none";
      if (node === element && style.visibility !== "visible") return `visibility: ${style.visibility}`;
      if (Number(style.opacity) === 0) return "opacity: 0";
    }
    return "not shown";
  }

  /** Where a point of a frame's page lies in this page, and whether anything covers it. @param {number} id @param {number} x @param {number} y @param {string} purpose */
  async function framePoint(id, x, y, purpose) {
    const element = byId(id);
    if (!element) return { problem: "stale", lasting: true };
    const place = () => {
      const box = rectOf(element);
      const owner = /** @type {HTMLElement} */ (element);
      const style = styleOf(element);
      const scaleX = owner.offsetWidth ? box.width / owner.offsetWidth : 1;
      const scaleY = owner.offsetHeight ? box.height / owner.offsetHeight : 1;
      return {
        x: box.left + (owner.clientLeft + parseFloat(style.paddingLeft) + x) * scaleX,
        y: box.top + (owner.clientTop + parseFloat(style.paddingTop) + y) * scaleY,
        scale: scaleX,
      };
    };
    let point = place();
    const inView = () => point.x >= 0 && point.y >= 0 && point.x < innerWidth && point.y < innerHeight;
    if (!WITHOUT_BOX.has(purpose)) {
      if (!inView()) {
        bringIntoView(element);
        point = place();
        if (!inView()) {
          scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: /** @type {ScrollBehavior} */ ("instant") });
        }
        // Where a frame of another process lies, input is told only when it has been drawn there.
        await frame();
        await frame();
        point = place();
      }
      if (!WITHOUT_HIT.has(purpose)) {
        const hit = at(point.x, point.y);
        if (hit && hit !== element && !holds(hit, element)) {
          return { problem: "covered", doc: documentKey, by: wire(describe(coverOf(hit, element)), false) };
        }
      }
    }
    return point;
  }

  /** @param {Element} element @param {string} type */
  function emit(element, type) {
    _dispatchEvent.call(
      element,
      type === "input" ? new InputEvent("input", { bubbles: true, composed: true }) : new Event(type, { bubbles: true }),
    );
  }

  /** @param {Element} field @param {string} value */
  function setNative(field, value) {
    const prototype = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement.prototype : HTMLInputElement.prototype;
    const property = Object.getOwnPropertyDescriptor(prototype, "value");
    if (property && property.set) property.set.call(field, value);
  }

  const LISTS = "[role=listbox],[role=menu],[role=tree]";
  const OPTIONS = "[role=option],[role=menuitem],[role=menuitemcheckbox],[role=menuitemradio],[role=treeitem]";

  /**
   * What a selector matches among the visible elements in an element, shadow roots and slots included.
   * @param {Element} owner @param {string} selector
   */
  function shownWithin(owner, selector) {
    /** @type {Element[]} */
    const found = [];
    /** @param {Element} element */
    const visit = (element) => {
      const slotted = element instanceof HTMLSlotElement ? element.assignedElements() : [];
      for (const child of slotted.length ? slotted : (shadowOf(element) || element).children) {
        if (matches(child, selector) && isSeen(child)) found.push(child);
        visit(child);
      }
    };
    visit(owner);
    return found;
  }

  /** @param {Element} element */
  function allOptions(element) {
    const options = [];
    const control = controlOf(element);
    if (control instanceof HTMLSelectElement) {
      for (const option of control.options) {
        const group = option.parentElement instanceof HTMLOptGroupElement ? tidy(option.parentElement.label) : "";
        options.push({
          label: tidy(option.label || option.text),
          value: option.value,
          selected: option.selected,
          disabled: option.disabled || (option.parentElement instanceof HTMLOptGroupElement && option.parentElement.disabled),
          group,
        });
      }
      return options;
    }
    if (control instanceof HTMLInputElement && control.list) {
      for (const option of control.list.options) options.push({ label: tidy(option.label || option.text || option.value), value: option.value, selected: false, disabled: option.disabled, group: "" });
      return options;
    }
    const owners = [control, ...referred(control, "aria-controls"), ...referred(control, "aria-owns")];
    let found = new Set(owners.flatMap((owner) => shownWithin(owner, OPTIONS)));
    if (!found.size && attribute(control, "aria-expanded") === "true" && !matches(control, LISTS)) {
      // The list that is open, wherever the page has put it.
      const open = allRoots().flatMap((root) => [...root.querySelectorAll(LISTS)].filter(isSeen));
      const last = open[open.length - 1];
      if (last) found = new Set(shownWithin(last, OPTIONS));
    }
    for (const option of found) {
      options.push({
        label: tidy(nameOf(option, localName(option), "option")),
        value: attribute(option, "data-value") || attribute(option, "value") || "",
        selected: attribute(option, "aria-selected") === "true" || attribute(option, "aria-checked") === "true",
        disabled: isDisabled(option),
        group: "",
        id: keep(option),
      });
    }
    return options;
  }

  /** Helpers that Python can run on an element. @type {Record<string, (element: Element, ...args: any[]) => unknown>} */
  const helpers = {
    focus(element) {
      const control = /** @type {HTMLElement} */ (controlOf(element));
      if (deepActive() !== control) _focus.call(control, { preventScroll: true });
      return deepActive() === control;
    },
    blur(element) {
      /** @type {HTMLElement} */ (controlOf(element)).blur();
    },
    /** Replace the text of a field as typing would, in a way that frameworks notice. */
    setValue(element, /** @type {string} */ value) {
      const field = controlOf(element);
      ask("input");
      _focus.call(/** @type {HTMLElement} */ (field), { preventScroll: true });
      const kind = valueKind(field);
      if (kind === "rich") {
        selectAll(field);
        // The only way to edit that rich text editors take for typing.
        const done = value === "" ? _execCommand.call(document, "delete") : _execCommand.call(document, "insertText", false, value);
        if (!done) {
          field.textContent = value;
          emit(field, "input");
        }
        return textContent(field);
      }
      if (kind !== "text" && kind !== "picker") return { problem: "not-editable" };
      const input = /** @type {HTMLInputElement} */ (field);
      const longest = input.maxLength;
      if (kind === "text" && longest >= 0 && value.length > longest) value = value.slice(0, longest);
      setNative(field, value);
      emit(field, "input");
      emit(field, "change");
      return input.value;
    },
    selectText(element) {
      const field = controlOf(element);
      _focus.call(/** @type {HTMLElement} */ (field), { preventScroll: true });
      selectAll(field);
    },
    /** Put the caret behind the last character. */
    moveToEnd(element) {
      const field = controlOf(element);
      _focus.call(/** @type {HTMLElement} */ (field), { preventScroll: true });
      if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
        try {
          field.setSelectionRange(field.value.length, field.value.length);
        } catch {
          // Fields of type email or number have no caret to set.
        }
        return;
      }
      const selection = getSelection();
      if (selection) {
        selection.selectAllChildren(field);
        selection.collapseToEnd();
      }
    },
    /** What a field holds, and whether that must not be shown. */
    value(element) {
      const field = controlOf(element);
      const secret = isSecret(field);
      if (valueKind(field) === "rich") return { value: String(_innerText.call(/** @type {HTMLElement} */ (field)) ?? ""), secret };
      if (field instanceof HTMLSelectElement) return { value: selectedText(field), secret };
      return { value: String(/** @type {HTMLInputElement} */ (field).value ?? ""), secret };
    },
    options: (element) => allOptions(element),
    /** Choose exactly these options of a native select, by their places. */
    selectOptions(element, /** @type {number[]} */ places) {
      const select = controlOf(element);
      if (!(select instanceof HTMLSelectElement)) throw new TypeError("not a select");
      ask("input");
      _focus.call(select, { preventScroll: true });
      for (let i = 0; i < select.options.length; i++) {
        const option = /** @type {HTMLOptionElement} */ (select.options[i]);
        const selected = places.includes(i);
        if (option.selected !== selected) option.selected = selected;
      }
      emit(select, "input");
      emit(select, "change");
      return null;
    },
    text: (element) => (element instanceof HTMLElement ? _innerText.call(element) : textContent(element)),
    checked: (element) => checkedState(controlOf(element)),
    attribute: (element, /** @type {string} */ name) => attribute(element, name),
    href: (element) => /** @type {HTMLAnchorElement} */ (closest(element, "a[href],area[href]") || element).href || null,
    box(element) {
      const box = boxOf(element);
      return { x: box.left, y: box.top, width: box.width, height: box.height };
    },
    scrollIntoView(element) {
      bringIntoView(element);
    },
    /** Click without a mouse, for what no point reaches. */
    press(element) {
      ask("input");
      /** @type {HTMLElement} */ (element).click();
    },
  };

  /** @param {Element} field */
  function selectAll(field) {
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      field.select();
      return;
    }
    const selection = getSelection();
    if (selection) selection.selectAllChildren(field);
  }

  // --- scrolling --------------------------------------------------------------------------------------------

  /** @param {Element} element @param {boolean} across */
  function canScroll(element, across) {
    const room = across
      ? _scrollWidth.call(element) - _clientWidth.call(element)
      : _scrollHeight.call(element) - _clientHeight.call(element);
    if (room < 2) return false;
    if (element === scroller()) return true;
    const style = styleOf(element);
    const overflow = across ? style.overflowX : style.overflowY;
    return overflow === "auto" || overflow === "scroll" || overflow === "overlay";
  }

  /**
   * Scroll by fractions of what is seen, in the nearest thing around an element that can scroll, or in the page.
   * @param {number | null} id
   * @param {number} dx
   * @param {number} dy
   */
  function scroll(id, dx, dy) {
    const across = Math.abs(dx) > Math.abs(dy);
    /** @type {Node | null} */
    let node = null;
    if (id !== null) {
      node = byId(id);
      if (!node) return { problem: "stale", lasting: true };
    }
    const page = scroller();
    /** @type {Element | null} */
    let found = null;
    if (!node && page && !canScroll(page, across)) node = at(innerWidth / 2, innerHeight / 2);
    for (; node && !found; node = flatParent(node)) {
      if (isElement(node) && canScroll(/** @type {Element} */ (node), across)) found = /** @type {Element} */ (node);
    }
    if (!found && id === null && page && !canScroll(page, across)) found = largestScroller(across);
    const target = found || page;
    if (!target) return { problem: "no-page", lasting: true };
    const height = target === page ? innerHeight : _clientHeight.call(target);
    const width = target === page ? innerWidth : _clientWidth.call(target);
    const position = () => [Math.round(_scrollLeft.call(target)), Math.round(_scrollTop.call(target))];
    const before = position();
    ask("input");
    _scrollBy.call(target, { left: dx * width, top: dy * height, behavior: "instant" });
    const after = position();
    return {
      moved: [/** @type {number} */ (after[0]) - /** @type {number} */ (before[0]), /** @type {number} */ (after[1]) - /** @type {number} */ (before[1])],
      position: after,
      size: [_scrollWidth.call(target), _scrollHeight.call(target)],
      seen: [width, height],
      doc: documentKey,
      within: target === page ? null : wire(describe(target), false),
    };
  }

  /** @param {boolean} across @returns {Element | null} */
  function largestScroller(across) {
    /** @type {Element | null} */
    let best = null;
    let size = 0;
    for (const element of queryAll(document, "*")) {
      if (!canScroll(element, across)) continue;
      const area = _clientWidth.call(element) * _clientHeight.call(element);
      if (area > size) {
        size = area;
        best = element;
      }
    }
    return best;
  }

  // --- finding ----------------------------------------------------------------------------------------------

  /**
   * @typedef {{text?: string | null, pattern?: string | null, role?: string | null, name?: string | null}} Query
   * @param {Query} wanted
   * @param {number} limit
   */
  function find(wanted, limit) {
    /** @type {RegExp | null} */
    let pattern = null;
    if (wanted.pattern) {
      try {
        pattern = new RegExp(wanted.pattern, "iu");
      } catch (error) {
        try {
          pattern = new RegExp(wanted.pattern, "i");
        } catch {
          return { problem: "pattern", message: String(error instanceof Error ? error.message : error), lasting: true };
        }
      }
    }
    const text = wanted.text ? tidy(wanted.text).toLowerCase() : "";
    const name = wanted.name ? tidy(wanted.name).toLowerCase() : "";
    const role = wanted.role ? wanted.role.trim().toLowerCase() : "";
    const lines = read(null);
    const found = [];
    let total = 0;
    for (const line of lines) {
      if (role && line.role !== role && !(role === "image" && line.role === "img")) continue;
      const shown = line.name.replace(REFERENCES, "");
      if (name && !shown.toLowerCase().includes(name)) continue;
      const whole = `${shown} ${line.states.join(" ")}`;
      if (text && !whole.toLowerCase().includes(text)) continue;
      if (pattern && !pattern.test(shown) && !(line.role && pattern.test(`${line.role} "${shown}" ${line.states.join(" ")}`))) continue;
      total++;
      if (found.length < limit && line.node) {
        keep(line.node);
        found.push(wire({ ...line, depth: 0 }, false));
      }
    }
    release(lines);
    return { doc: documentKey, found, total, frames: framesIn(lines) };
  }

  /** The line of the page that is most like one that is gone. @param {string} role @param {string} name */
  function nearest(role, name) {
    const lines = read(null);
    /** @type {Line | null} */
    let best = null;
    let bestScore = 0;
    const sought = name.toLowerCase();
    for (const line of lines) {
      if (line.kind !== "interactive" && line.kind !== "region") continue;
      const own = line.name.toLowerCase();
      let score = 0;
      if (own === sought && (sought !== "" || line.role === role)) score = line.role === role ? 5 : 3;
      else if (line.role === role && sought && own && (own.startsWith(sought) || sought.startsWith(own))) score = 2;
      else if (line.role === role && sought.length > 2 && own.length > 2 && (own.includes(sought) || sought.includes(own))) score = 1;
      if (score > bestScore) {
        bestScore = score;
        best = line;
      }
    }
    if (best && best.node) keep(best.node);
    const answer = { doc: documentKey, node: best && wire({ ...best, depth: 0 }, false), score: bestScore, frames: framesIn(lines) };
    release(lines);
    return answer;
  }

  /** Scroll to a text. @param {string} text @param {number} occurrence 1 for the first */
  function scrollToText(text, occurrence) {
    const sought = tidy(text).toLowerCase();
    const lines = read(null);
    let matches = 0;
    let at = -1;
    for (let i = 0; i < lines.length; i++) {
      const line = /** @type {Line} */ (lines[i]);
      if (!`${line.name.replace(REFERENCES, "")} ${line.states.join(" ")}`.toLowerCase().includes(sought)) continue;
      matches++;
      if (matches === occurrence) at = i;
    }
    const line = lines[at];
    let node = null;
    const context = [];
    if (line && line.node) {
      bringIntoView(line.node);
      node = wire({ ...line, depth: 0 }, false);
      for (const near of lines.slice(Math.max(0, at - 2), at + 3)) {
        if (near.node && (near.kind === "interactive" || near.kind === "region")) keep(near.node);
        context.push(wire(near, false));
      }
    }
    const answer = { doc: documentKey, node, context, matches, frames: framesIn(lines) };
    release(lines);
    return answer;
  }

  // --- HTML -------------------------------------------------------------------------------------------------

  const VOID = set("area base br col embed hr img input link meta source track wbr");
  const escapeText = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const escapeAttribute = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const UNREADABLE = set("script style noscript template link meta");
  const LIVE = set("value checked selected");

  /** What a field holds now, which its attributes do not tell. @param {Element} element @param {string} tag */
  function liveAttributes(element, tag) {
    if (tag === "option") return /** @type {HTMLOptionElement} */ (element).selected ? " selected" : "";
    if (tag !== "input") return "";
    const { checked, value } = /** @type {HTMLInputElement} */ (element);
    const shown = value && !isSecret(element) ? ` value="${escapeAttribute(value)}"` : "";
    return `${shown}${checked ? " checked" : ""}`;
  }

  /**
   * HTML with shadow trees in place of their hosts' children and marks where frames stand.
   * @param {number | null} id
   * @param {boolean} readable leave out what people do not read: scripts, styles, hidden things
   */
  function html(id, readable) {
    /** @type {Element | null} */
    const top = id === null ? rootElement() : byId(id);
    if (!top) return { problem: "stale", lasting: true };
    /** @type {string[]} */
    const out = [];
    const frames = [];
    /** @type {{list: Node[] | null, at: number, node: Node, end: string}[]} */
    const open = [];
    /** @type {Node | null} */
    let node = top;
    while (node || open.length) {
      if (!node) {
        const level = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open.pop());
        out.push(level.end);
        if (!open.length) break;
        const parent = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open[open.length - 1]);
        node = parent.list ? parent.list[++parent.at] || null : nextSibling(level.node);
        continue;
      }
      const type = nodeType(node);
      if (type === 1) {
        const element = /** @type {Element} */ (node);
        const tag = localName(element);
        const skip = readable && (UNREADABLE.has(tag) || (tag !== "head" && tag !== "title" && tag !== "html" && !holdsHead(element) && !isSeen(element) && isHidden(element)));
        if (!skip) {
          let begin = `<${tag}`;
          for (const { name, value } of Array.from(/** @type {NamedNodeMap} */ (_attributes.call(element)))) {
            if (name === "value" && (isSecret(element) || (readable && tag === "input"))) continue;
            if (readable && (name === "checked" || name === "selected")) continue;
            if (readable && LIVE.has(name)) continue;
            begin += ` ${name}="${escapeAttribute(value)}"`;
          }
          if (readable) begin += liveAttributes(element, tag);
          if (readable) begin += currentState(element, tag);
          if (tag === "iframe" || tag === "frame") {
            const frameId = keep(element);
            frames.push(frameId);
            out.push(`${begin}>`, reference(frameId), `</${tag}>`);
          } else if (VOID.has(tag)) out.push(`${begin}>`);
          else {
            out.push(`${begin}>`);
            const root = shadowOf(element);
            /** @type {Node[] | null} */
            let list = null;
            if (!root && tag === "slot" && element instanceof HTMLSlotElement) {
              list = element.assignedNodes();
              if (!list.length) list = null;
            }
            open.push({ list, at: 0, node: element, end: `</${tag}>` });
            if (tag === "textarea") {
              out.push(escapeText(/** @type {HTMLTextAreaElement} */ (element).value));
              node = null;
            } else node = list ? /** @type {Node} */ (list[0]) : firstChild(root || element);
            continue;
          }
        }
      } else if (type === 3) {
        const text = data(/** @type {Text} */ (node));
        const parent = parentNode(node);
        const raw = isElement(parent) && /^(?:script|style)$/.test(localName(/** @type {Element} */ (parent)));
        out.push(raw ? text : escapeText(text));
      }
      if (!open.length) break;
      const parent = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open[open.length - 1]);
      node = parent.list ? parent.list[++parent.at] || null : nextSibling(node);
    }
    return { doc: documentKey, html: out.join(""), frames };
  }

  /** What a field holds now, as attributes; nothing of a secret one. @param {Element} element @param {string} tag */
  function currentState(element, tag) {
    if (tag === "option") return /** @type {HTMLOptionElement} */ (element).selected ? ' selected=""' : "";
    if (tag !== "input") return "";
    const input = /** @type {HTMLInputElement} */ (element);
    const type = inputType(input);
    if (type === "checkbox" || type === "radio") {
      const value = attribute(input, "value");
      return (value === null ? "" : ` value="${escapeAttribute(value)}"`) + (input.checked ? ' checked=""' : "");
    }
    return type === "file" || !input.value || isSecret(input) ? "" : ` value="${escapeAttribute(input.value)}"`;
  }

  /** @param {Element} element */
  function holdsHead(element) {
    const head = _head.call(document);
    return !!head && _contains.call(head, element);
  }

  // --- the door ---------------------------------------------------------------------------------------------

  /** @type {Element | null} */
  let caught = null;

  /** @type {Record<string, (...args: any[]) => unknown>} */
  const methods = {
    observe,
    settle,
    async settleAndObserve(/** @type {number} */ limit, /** @type {Wish} */ wish) {
      const state = await settle(limit);
      return { state, ...observe(wish) };
    },
    ready,
    framePoint,
    find,
    nearest,
    scroll,
    scrollToText,
    html,
    call(/** @type {number} */ id, /** @type {string} */ name, /** @type {unknown[]} */ args) {
      const element = byId(id);
      if (!element) return { problem: "stale", lasting: true };
      const helper = Object.hasOwn(helpers, name) ? helpers[name] : undefined;
      if (!helper) throw new TypeError(`the page script has no helper ${name}`);
      return { value: helper(element, ...args) ?? null };
    },
    describe(/** @type {number} */ id) {
      const element = byId(id);
      return element ? { node: wire(describe(element), false) } : { problem: "stale", lasting: true };
    },
    /** A part of the page as lines. */
    part(/** @type {number} */ id, /** @type {number} */ budget) {
      const element = byId(id);
      if (!element) return { problem: "stale", lasting: true };
      const lines = read(element);
      markCovered(lines);
      for (const line of lines) line.far = 0;
      release(lines);
      return { doc: documentKey, number: 0, url: location.href, title: tidy(_title.call(document) || ""), view: view(), frames: framesIn(lines), count: lines.length, ...snapshotOf(lines, undefined, budget) };
    },
    /** The element at a point of the view, as a line; the frame's id where a frame is there. */
    atPoint(/** @type {number} */ x, /** @type {number} */ y) {
      let element = at(x, y);
      if (!element) return { doc: documentKey, node: null };
      const known = toldById();
      for (let node = /** @type {Node | null} */ (element); node; node = flatParent(node)) {
        if (!isElement(node)) continue;
        const own = known.get(idOf(/** @type {Element} */ (node)));
        if (own && own.kind === "interactive") {
          element = /** @type {Element} */ (node);
          break;
        }
      }
      const tag = localName(element);
      return { doc: documentKey, node: wire(describe(element), false), frame: tag === "iframe" || tag === "frame" };
    },
    /** Catch the element that the page's world is about to send under a name. */
    expect(/** @type {string} */ name) {
      caught = null;
      const take = (/** @type {Event} */ event) => {
        const submitter = event instanceof SubmitEvent ? event.submitter : null;
        const range = event instanceof InputEvent ? event.getTargetRanges()[0] : null;
        const path = event.composedPath();
        const target = submitter || (range && range.startContainer) || (path.length ? path[0] : event.target);
        if (target instanceof Element) caught = target;
        event.stopImmediatePropagation();
      };
      addEventListener(name, take, { once: true, capture: true });
      return true;
    },
    caught() {
      if (!caught) return { problem: "stale", lasting: true };
      const element = caught;
      caught = null;
      return { doc: documentKey, node: wire(describe(element), false) };
    },
    /** Send an element to the page's world, where a listener waits for the name. */
    send(/** @type {number} */ id, /** @type {string} */ name) {
      const element = byId(id);
      if (!element) return { problem: "stale", lasting: true };
      if (element instanceof HTMLElement) _dispatchEvent.call(document, new SubmitEvent(name, { submitter: element }));
      else if (rootOf(element) === document) {
        _dispatchEvent.call(document, new InputEvent(name, { targetRanges: [new StaticRange({ startContainer: element, startOffset: 0, endContainer: element, endOffset: 0 })] }));
      } else _dispatchEvent.call(element, new Event(name, { bubbles: true, composed: true }));
      return true;
    },
    doc: () => documentKey,
    stands() {
      const lines = read(null);
      const frames = framesIn(lines);
      release(lines);
      return { doc: documentKey, frames };
    },
    /** The boxes of what is in the view and can be acted on: id, left, top, width, height. */
    boxes() {
      const boxes = [];
      for (const [id, line] of toldById()) {
        const element = line.kind === "interactive" ? byId(id) : null;
        if (!element) continue;
        const box = boxOf(element);
        if (box.bottom <= 0 || box.right <= 0 || box.top >= innerHeight || box.left >= innerWidth) continue;
        if (box.width > 0 && box.height > 0) boxes.push([id, box.left, box.top, box.width, box.height]);
      }
      return { doc: documentKey, boxes };
    },
    /** Run a method about an element, if this is still its document. */
    ofDocument(/** @type {string} */ document_, /** @type {string} */ method, /** @type {unknown[]} */ args) {
      if (document_ !== documentKey) return { problem: "stale", lasting: true };
      const function_ = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!function_) throw new TypeError(`the page script has no method ${method}`);
      return function_(...args);
    },
  };

  return {
    doc: documentKey,
    /**
     * @param {string} method
     * @param {unknown[]} args
     * @returns {string | Promise<string>}
     */
    run(method, args) {
      const function_ = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (!function_) throw new TypeError(`the page script has no method ${method}`);
      typed = traced = treeNow = null;
      const result = function_(...args);
      return result instanceof Promise ? result.then(encode) : encode(result);
    },
    /** @param {Element} element */
    idOf: (element) => keep(element),
    /** @param {number} id */
    element: (id) => byId(id),
    /** Take in a closed root that nothing in the page tells of. @param {unknown} root */
    adopt(root) {
      if (!(root instanceof ShadowRoot) || closedRoots.has(root.host)) return;
      closedRoots.set(root.host, root);
      meet(root);
    },
    /** @param {Element} element */
    describe: (element) => encode({ doc: documentKey, node: wire(describe(element), false) }),
  };
})
