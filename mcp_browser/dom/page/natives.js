/** What the browser offers, taken from the prototypes once: a page can override or clobber all of it later. */

/** @param {object} prototype @param {string} name @returns {any} */
function getterOf(prototype, name) {
  const property = Object.getOwnPropertyDescriptor(prototype, name);
  return (property && property.get) || (() => null);
}

const _nodeType = getterOf(Node.prototype, "nodeType");
const _firstChild = getterOf(Node.prototype, "firstChild");
const _nextSibling = getterOf(Node.prototype, "nextSibling");
const _previousSibling = getterOf(Node.prototype, "previousSibling");
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
const _clientLeft = getterOf(Element.prototype, "clientLeft");
const _clientTop = getterOf(Element.prototype, "clientTop");
const _offsetParent = getterOf(HTMLElement.prototype, "offsetParent");
const _focus = HTMLElement.prototype.focus;
const _focusDrawn = SVGElement.prototype.focus;
const _dispatchEvent = EventTarget.prototype.dispatchEvent;
const _addEventListener = EventTarget.prototype.addEventListener;
const _isContentEditable = getterOf(HTMLElement.prototype, "isContentEditable");
const _editContext = getterOf(HTMLElement.prototype, "editContext");
const _innerText = getterOf(HTMLElement.prototype, "innerText");
const _body = getterOf(Document.prototype, "body");
const _documentElement = getterOf(Document.prototype, "documentElement");
const _head = getterOf(Document.prototype, "head");
/** What keeps a field from being sent, by its tag. @type {Record<string, {call: (element: Element) => string}>} */
const MESSAGES = {
  input: getterOf(HTMLInputElement.prototype, "validationMessage"),
  select: getterOf(HTMLSelectElement.prototype, "validationMessage"),
  textarea: getterOf(HTMLTextAreaElement.prototype, "validationMessage"),
};
const _title = getterOf(Document.prototype, "title");
const _hidden = getterOf(Document.prototype, "hidden");
const _readyState = getterOf(Document.prototype, "readyState");
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
const previousSibling = (/** @type {Node} */ node) => /** @type {Node | null} */ (_previousSibling.call(node));
const parentNode = (/** @type {Node} */ node) => /** @type {Node | null} */ (_parentNode.call(node));
const textContent = (/** @type {Node} */ node) => /** @type {string} */ (_textContent.call(node) || "");
const isConnected = (/** @type {Node} */ node) => /** @type {boolean} */ (_isConnected.call(node));
const localName = (/** @type {Element} */ element) => /** @type {string} */ (_localName.call(element));
const openRoot = (/** @type {Element} */ element) => /** @type {ShadowRoot | null} */ (_shadowRoot.call(element));
const assignedSlot = (/** @type {Element} */ element) =>
  /** @type {HTMLSlotElement | null} */ (_assignedSlot.call(element));
const childElementCount = (/** @type {Element} */ element) => /** @type {number} */ (_childElementCount.call(element));
const data = (/** @type {CharacterData} */ node) => /** @type {string} */ (_data.call(node));
const attribute = (/** @type {Element} */ element, /** @type {string} */ name) => {
  const value = /** @type {string | null} */ (_getAttribute.call(element, name));
  return value === null && heardSayings ? (sayings.get(element)?.get(name) ?? null) : value;
};
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
/** @type {(node: Node | null | undefined) => node is Element} */
const isElement = (node) => !!node && nodeType(node) === 1;
const now = () => performance.now();

const SEEN = { opacityProperty: true, visibilityProperty: true };
const isSeen = (/** @type {Element} */ element) => _checkVisibility.call(element, SEEN);

/** JSON that asks no object for its toJSON. @param {unknown} value @returns {string} */
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

/** Add a value to the list of a key. @template K, V @param {Map<K, V[]>} lists @param {K} key @param {V} value */
function addTo(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Each of several words with the same value. @template T @param {string} words @param {T} value */
const each = (words, value) => words.split(" ").map((word) => /** @type {[string, T]} */ ([word, value]));
/** @param {string} words */
const set = (words) => new Set(words.split(" "));
