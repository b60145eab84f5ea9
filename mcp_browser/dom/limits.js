/**
 * What a page, a worker or a paint worklet may do only so often, because each time holds up its browser, the server and
 * all who share them: messages, errors, titles, windows. Runs before their own scripts. Frames that may look into each
 * other share what they may: they find each other by an event of this name.
 */
(function limit(/** @type {string} */ name) {
  "use strict";
  const isPage = typeof document !== "undefined";
  /** How many messages and errors at once, and each second; a page can have many frames and workers. */
  const MOST_MESSAGES = isPage && parent === self ? 500 : 100;
  const MESSAGES_A_SECOND = 50;
  /** Of how many values a message consists, and of how many characters each text, at most. */
  const MOST_VALUES = 100;
  const LONGEST_TEXT = 10_000;
  const BITS = 4096;
  /** So many values count as one more message, and so do so many milliseconds that the browser takes for it. */
  const VALUES = 4;
  const MILLISECONDS = 4;
  /** How many titles; then one each so many milliseconds, the last that was wanted. */
  const MOST_TITLES = 100;
  const TITLES_A_SECOND = 5;
  const TITLE_EACH = 1000;
  /** How many windows; to a page that wants more it is as if popups were blocked. */
  const MOST_WINDOWS = 100;
  const WINDOWS_A_SECOND = 5;
  const MESSAGES_LEFT_OUT = `Further messages of this ${isPage ? "page" : "worker"} are left out: it writes too many.`;

  const { apply } = Reflect;
  const { floor, min } = Math;
  const { getOwnPropertyDescriptor, setPrototypeOf } = Object;
  const { bind, call, toString: sourceOf } = Function.prototype;
  const { slice } = String.prototype;
  const { asIntN } = BigInt;
  const { isError } = /** @type {any} */ (Error);
  const nothing = () => undefined;
  const Asking = globalThis.CustomEvent;
  const Controller = globalThis.AbortController;
  // Worklets have neither such clocks nor events.
  const now = typeof performance === "undefined" ? Date.now : performance.now.bind(performance);
  const add = globalThis.EventTarget?.prototype.addEventListener;
  const dispatch = globalThis.EventTarget?.prototype.dispatchEvent;
  const prevent = globalThis.Event?.prototype.preventDefault;
  const abort = Controller?.prototype.abort;
  /** How a property is read that pages may not give another meaning. @param {any} owner @param {string} property */
  const reading = (owner, property) => getOwnPropertyDescriptor(owner?.prototype ?? {}, property)?.get ?? nothing;
  const detailOf = reading(Asking, "detail");
  const signalOf = reading(Controller, "signal");
  const reasonOf = reading(globalThis.AbortSignal, "reason");
  const messageOf = reading(globalThis.ErrorEvent, "message");
  const rejectionOf = reading(globalThis.PromiseRejectionEvent, "reason");
  const descriptionOf = reading(Symbol, "description");
  const patternOf = reading(RegExp, "source");
  const nameOf = reading(globalThis.Element, "localName");
  const attributeOf = globalThis.Element?.prototype.getAttribute;
  /** @this {Element} */
  function nodeOf() {
    return `${apply(nameOf, this, [])}#${apply(attributeOf, this, ["id"])}.${apply(attributeOf, this, ["class"])}`;
  }

  /**
   * Asks whether there may be one more: `most` at once, and `rate` more a second. What is said to have been done
   * already is counted even where nothing is left.
   *
   * @param {number} most @param {number} rate
   */
  function allowing(most, rate) {
    let left = most;
    let at = now();
    return (done = 0) => {
      const time = now();
      left = min(most, left + ((time - at) / 1000) * rate);
      at = time;
      if (!done && left < 1) return false;
      left -= done || 1;
      return true;
    };
  }

  /** The outermost of the frames around this one that it may look into. */
  function outermost() {
    /** @type {Window} */
    let found = globalThis.window;
    try {
      while (found.parent !== found && found.parent.document) found = found.parent;
    } catch {
      // It is another site's.
    }
    return found;
  }
  const own = allowing(MOST_MESSAGES, MESSAGES_A_SECOND);
  const root = isPage ? outermost() : globalThis;
  /** @type {(done?: number) => boolean} */
  const mayWrite = root === globalThis ? own : (done) => ask(root, done);
  const charge = (/** @type {number} */ done) => done && mayWrite(done);
  const { warn } = console;
  let leftOut = false;

  /** Whether there may be one more message; the first refusal is logged. */
  function mayComplain() {
    if (mayWrite()) return true;
    if (!leftOut) apply(warn, console, [MESSAGES_LEFT_OUT]);
    leftOut = true;
    return false;
  }

  /** A value, shortened where the browser would print something very long for it. No script of the page runs. @param {unknown} value */
  function short(value) {
    const text = textOf(value);
    if (typeof text === "string" && text.length > LONGEST_TEXT) return `${apply(slice, text, [0, LONGEST_TEXT])}…`;
    return typeof value === "bigint" && asIntN(BITS, value) !== value ? "a bigint of very many digits" : value;
  }
  /** What the browser prints for a value, where that is as long as the page likes. @param {any} value @returns {unknown} */
  function textOf(value) {
    if (typeof value === "string") return value;
    if (typeof value === "symbol") return apply(descriptionOf, value, []);
    if (typeof value === "function") return apply(sourceOf, value, []);
    if (typeof value !== "object") return;
    // Only errors have a message in reach that is not asked of the page.
    if (isError?.(value)) return getOwnPropertyDescriptor(value, "message")?.value;
    for (const read of [patternOf, nodeOf]) {
      try {
        return apply(read, value, []);
      } catch {
        // It is something else.
      }
    }
  }

  /**
   * A trap that logs a shortened message. No function of ours may be running then: the browser would print its place
   * instead of the place of the page's script. So the browser itself takes the values, as the reason of an abort, and
   * calls the abort's listener, which is made when the values are known.
   *
   * @param {Function} native
   */
  function shortening(native) {
    const controller = new Controller();
    const signal = apply(signalOf, controller, []);
    let began = 0;
    const taker = {
      get handleEvent() {
        const values = apply(reasonOf, signal, []);
        charge(floor(values.length / VALUES));
        const left = values.length - MOST_VALUES;
        if (left > 0) values.length = MOST_VALUES;
        for (let at = 0; at < values.length; at += 1) values[at] = short(values[at]);
        if (left > 0) values[MOST_VALUES - 1] = `… and ${left + 1} values more`;
        began = now();
        return apply(bind, apply, [undefined, native, console, values]);
      },
    };
    apply(add, signal, ["abort", taker]);
    apply(add, signal, ["abort", () => charge(floor((now() - began) / MILLISECONDS))]);
    return withoutFirst(withoutFirst(apply(bind, abort, [controller])));
  }
  /** Calls the same without the first argument. @param {Function} method a bound one */
  const withoutFirst = (method) => apply(bind, call, [method]);

  /** Without a prototype, by which a page could add a trap that is given the native function. @param {ProxyHandler<any>} handler */
  const bare = (handler) => setPrototypeOf(handler, null);
  /** @param {Function} native @param {(target: any, self: any, args: any[]) => unknown} instead @returns {any} */
  const trapped = (native, instead) => new Proxy(native, bare({ apply: instead }));
  /** @param {Function} native */
  const bounding = (native) =>
    bare({
      get apply() {
        return mayComplain() ? (Controller ? shortening(native) : apply) : nothing;
      },
    });
  /** @param {Record<string, any>} log */
  function bound(log) {
    const { log: plain } = log;
    for (const name of Object.keys(log)) {
      const native = log[name];
      // A task is no message.
      if (typeof native !== "function" || name === "createTask") continue;
      if (name === "context") log[name] = trapped(native, (target, self, args) => bound(apply(target, self, args)));
      // Of a table the browser prints a million values.
      else log[name] = new Proxy(native, bounding(name === "table" ? plain : native));
    }
    return log;
  }
  const { error: complain } = console;
  bound(/** @type {any} */ (console));

  /** @param {Event} event */
  function onError(event) {
    const isRejection = event instanceof PromiseRejectionEvent;
    if (!isRejection && !(event instanceof ErrorEvent)) return;
    if (!mayComplain()) {
      apply(prevent, event, []);
      return;
    }
    const what = isRejection ? apply(rejectionOf, event, []) : apply(messageOf, event, []);
    const cut = short(what);
    if (cut === what) return;
    apply(prevent, event, []);
    apply(complain, console, isRejection ? ["Uncaught (in promise)", cut] : [cut]);
  }
  function listen() {
    for (const type of ["error", "unhandledrejection"]) apply(add, globalThis, [type, onError, { capture: true }]);
    if (name && root === globalThis) apply(add, globalThis, [name, answer, { capture: true }]);
  }
  /** Ask the window in which this is decided. @param {Window | typeof globalThis} window @param {string | number} [what] */
  function ask(window, what = 0) {
    return apply(dispatch, window, [new Asking(name, { cancelable: true, detail: what })]);
  }
  /** A frame asks whether it may write, or another window gives the page a title. @param {Event} event */
  function answer(event) {
    const what = apply(detailOf, event, []);
    if (typeof what === "string") giveTitle(what);
    else if (own(what)) return;
    apply(prevent, event, []);
  }
  if (typeof EventTarget !== "undefined") listen();
  if (!isPage) return;

  // Each new title costs the browser much more than the page. There is no other title that it shows.
  const { prototype: anyDocument } = Document;
  const titled = /** @type {Required<PropertyDescriptor>} */ (getOwnPropertyDescriptor(anyDocument, "title"));
  const viewOf = reading(Document, "defaultView");
  const delay = setTimeout;
  const { replace } = String.prototype;
  const isShown = parent === self;
  const mayTitle = allowing(MOST_TITLES, TITLES_A_SECOND);
  /** The title that is to come, and the one before it. @type {string | undefined} */
  let coming;
  let before = "";
  const hasComing = () => coming !== undefined && apply(titled.get, document, []) === before;
  /** @param {string} title */
  function giveTitle(title) {
    if (coming !== undefined) coming = title;
    else if (mayTitle()) apply(titled.set, document, [title]);
    else {
      before = apply(titled.get, document, []);
      coming = title;
      delay(() => {
        if (hasComing()) apply(titled.set, document, [coming]);
        coming = undefined;
      }, TITLE_EACH);
    }
  }
  Object.defineProperty(anyDocument, "title", {
    ...titled,
    get: trapped(titled.get, (target, self, args) =>
      self === document && hasComing()
        ? apply(replace, apply(replace, coming, [/[\t\n\f\r ]+/g, " "]), [/^ | $/g, ""])
        : apply(target, self, args),
    ),
    set: trapped(titled.set, (target, self, args) => {
      const window = apply(viewOf, self, []);
      const isOwn = self === document;
      if (!window || (isOwn && !isShown)) return apply(target, self, args);
      const title = `${args[0]}`;
      if (isOwn) giveTitle(title);
      // Frames and windows that do not answer have this one's share.
      else if (ask(window, title) && mayTitle()) apply(target, self, [title]);
    }),
  });

  // document.open() takes every listener off the document and its window.
  Document.prototype.open = trapped(Document.prototype.open, (target, self, args) => {
    const result = apply(target, self, args);
    if (self === document) listen();
    return result;
  });
  const mayOpen = allowing(MOST_WINDOWS, WINDOWS_A_SECOND);
  globalThis.open = trapped(globalThis.open, (target, self, args) => (mayOpen() ? apply(target, self, args) : null));

  const painting = /** @type {any} */ (CSS).paintWorklet;
  if (!painting) return;
  const { createObjectURL } = URL;
  const Source = Blob;
  const script = `(${limit})("")`;
  /** @type {Promise<void> | undefined} */
  let limited;
  // Where the page allows no script of ours in its worklet, it gets none of its own either.
  Worklet.prototype.addModule = trapped(Worklet.prototype.addModule, async (target, self, args) => {
    if (self === painting) {
      limited ??= apply(target, self, [apply(createObjectURL, URL, [new Source([script], { type: "text/javascript" })])]);
      await limited;
    }
    return apply(target, self, args);
  });
})
