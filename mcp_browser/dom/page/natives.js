/** What the browser offers, taken from the prototypes once: a page can override or clobber all of it later. */

/** The getters of a prototype by these names. @param {object} prototype @param {string} names @returns {any[]} */
const gettersOf = (prototype, names) => names.split(" ").map((name) => Object.getOwnPropertyDescriptor(prototype, name)?.get || (() => null));

const [_nodeType, _firstChild, _nextSibling, _previousSibling] = gettersOf(Node.prototype, "nodeType firstChild nextSibling previousSibling");
const [_parentNode, _textContent, _isConnected] = gettersOf(Node.prototype, "parentNode textContent isConnected");
const [_localName, _shadowRoot, _assignedSlot, _childElementCount, _attributes] = gettersOf(Element.prototype, "localName shadowRoot assignedSlot childElementCount attributes");
const [_scrollLeft, _scrollTop, _scrollWidth, _scrollHeight] = gettersOf(Element.prototype, "scrollLeft scrollTop scrollWidth scrollHeight");
const [_clientLeft, _clientTop, _clientWidth, _clientHeight] = gettersOf(Element.prototype, "clientLeft clientTop clientWidth clientHeight");
const [_offsetParent, _isContentEditable, _editContext, _innerText] = gettersOf(HTMLElement.prototype, "offsetParent isContentEditable editContext innerText");
const [_data] = gettersOf(CharacterData.prototype, "data");
const [_type] = gettersOf(HTMLInputElement.prototype, "type");
const [_body, _documentElement, _head, _title, _hidden, _readyState] = gettersOf(Document.prototype, "body documentElement head title hidden readyState");
const [_activeElement, _scrollingElement, _designMode, _timeline] = gettersOf(Document.prototype, "activeElement scrollingElement designMode timeline");
const [_styleSheets, _adoptedStyleSheets] = gettersOf(Document.prototype, "styleSheets adoptedStyleSheets");
const { getAttribute: _getAttribute, hasAttributes: _hasAttributes, getAttributeNames: _getAttributeNames } = Element.prototype;
const { checkVisibility: _checkVisibility, getBoundingClientRect: _getBoundingClientRect, getClientRects: _getClientRects } = Element.prototype;
const { matches: _matches, closest: _closest, querySelector: _querySelector, querySelectorAll: _querySelectorAll, scrollIntoView: _scrollIntoView } = Element.prototype;
const _scrollBy = /** @type {(options: ScrollToOptions) => void} */ (Element.prototype.scrollBy);
const { getRootNode: _getRootNode, contains: _contains } = Node.prototype;
const { dispatchEvent: _dispatchEvent, addEventListener: _addEventListener } = EventTarget.prototype;
const { elementFromPoint: _elementFromPoint, getAnimations: _getAnimations, createRange: _createRange } = Document.prototype;
const { execCommand: _execCommand, getElementById: _getElementById, querySelectorAll: _queryDocument } = Document.prototype;
const _queryFragment = DocumentFragment.prototype.querySelectorAll;
const _focus = HTMLElement.prototype.focus;
const _focusDrawn = SVGElement.prototype.focus;

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
const assignedSlot = (/** @type {Element} */ element) => /** @type {HTMLSlotElement | null} */ (_assignedSlot.call(element));
const childElementCount = (/** @type {Element} */ element) => /** @type {number} */ (_childElementCount.call(element));
const data = (/** @type {CharacterData} */ node) => /** @type {string} */ (_data.call(node));
const attribute = (/** @type {Element} */ element, /** @type {string} */ name) => {
  const value = /** @type {string | null} */ (_getAttribute.call(element, name));
  return value === null && heardSayings ? (sayings.get(element)?.get(name) ?? null) : value;
};
const hasAttributes = (/** @type {Element} */ element) => _hasAttributes.call(element);
const rectOf = (/** @type {Element} */ element) => _getBoundingClientRect.call(element);
const matches = (/** @type {Element} */ element, /** @type {string} */ selector) => _matches.call(element, selector);
const closest = (/** @type {Element} */ element, /** @type {string} */ selector) => _closest.call(element, selector);
const query = (/** @type {Element} */ element, /** @type {string} */ selector) => _querySelector.call(element, selector);
const rootOf = (/** @type {Node} */ node) => /** @type {Node} */ (_getRootNode.call(node));
const styleOf = (/** @type {Element} */ element, /** @type {string | undefined} */ pseudo = undefined) => getComputedStyle(element, pseudo);
/** @type {(node: Node | null | undefined) => node is Element} */
const isElement = (node) => !!node && nodeType(node) === 1;
const now = () => performance.now();

const SEEN = { opacityProperty: true, visibilityProperty: true };
const isSeen = (/** @type {Element} */ element) => _checkVisibility.call(element, SEEN);

const LONE = /\\ud[89a-f]/;
/** JSON, in which half characters are replaced: nobody could send them on. @param {unknown} value @returns {string} */
function encode(value) {
  const text = JSON.stringify(value) ?? "null";
  return LONE.test(text) ? JSON.stringify(value, (_, inner) => (typeof inner === "string" ? inner.toWellFormed() : inner)) : text;
}

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
