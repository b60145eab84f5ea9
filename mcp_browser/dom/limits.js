/**
 * What a page, a worker or a paint worklet may do only so often, because each time holds up its browser, the server and
 * all who share them: messages, errors, windows. Runs before their own scripts. Frames that may look into each other
 * share what they may: they find each other by an event of this name.
 */
(function limit(/** @type {string} */ name) {
  "use strict";
  const isPage = typeof document !== "undefined";
  /** How many messages and errors at once, and each second; a page can have many frames and workers. */
  const MOST_MESSAGES = isPage && parent === self ? 500 : 100;
  const MESSAGES_A_SECOND = 50;
  /** How many windows; to a page that wants more it is as if popups were blocked. */
  const MOST_WINDOWS = 100;
  const WINDOWS_A_SECOND = 5;
  const MESSAGES_LEFT_OUT = `Further messages of this ${isPage ? "page" : "worker"} are left out: it writes too many.`;

  const { apply } = Reflect;
  const { min } = Math;
  const Asking = globalThis.Event;
  // Worklets have neither such clocks nor events.
  const now = typeof performance === "undefined" ? Date.now : performance.now.bind(performance);
  const add = globalThis.EventTarget?.prototype.addEventListener;
  const dispatch = globalThis.EventTarget?.prototype.dispatchEvent;
  const prevent = globalThis.Event?.prototype.preventDefault;

  /** Asks whether there may be one more: `most` at once, and `rate` more a second. @param {number} most @param {number} rate */
  function allowing(most, rate) {
    let left = most;
    let at = now();
    return () => {
      const time = now();
      left = min(most, left + ((time - at) / 1000) * rate);
      at = time;
      if (left < 1) return false;
      left -= 1;
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
  const mayWrite = root === globalThis ? own : () => apply(dispatch, root, [new Asking(name, { cancelable: true })]);
  const { warn } = console;
  let leftOut = false;

  /** Whether there may be one more message; that there may not is told once. */
  function mayComplain() {
    if (mayWrite()) return true;
    if (!leftOut) apply(warn, console, [MESSAGES_LEFT_OUT]);
    leftOut = true;
    return false;
  }

  const nothing = () => undefined;
  const { setPrototypeOf } = Object;
  /** Without a prototype, by which a page could add a trap that is given the native function. @param {ProxyHandler<any>} handler */
  const bare = (handler) => setPrototypeOf(handler, null);
  // A function of ours would stand in the place of the script that is told with a message: only its choice is ours.
  const told = bare({
    get apply() {
      return mayComplain() ? apply : nothing;
    },
  });
  /** @param {Record<string, any>} log */
  function bound(log) {
    for (const name of Object.keys(log)) {
      const native = log[name];
      if (typeof native !== "function") continue;
      log[name] = new Proxy(
        native,
        name === "context" ? bare({ apply: (target, self, args) => bound(apply(target, self, args)) }) : told,
      );
    }
    return log;
  }
  bound(/** @type {any} */ (console));

  /** @param {Event} event */
  function onError(event) {
    const isScript = event instanceof ErrorEvent || event instanceof PromiseRejectionEvent;
    if (isScript && !mayComplain()) apply(prevent, event, []);
  }
  function listen() {
    for (const type of ["error", "unhandledrejection"]) apply(add, globalThis, [type, onError, { capture: true }]);
    if (name && root === globalThis) apply(add, globalThis, [name, answer, { capture: true }]);
  }
  /** @param {Event} event a frame asks whether it may write */
  function answer(event) {
    if (!own()) apply(prevent, event, []);
  }
  if (typeof EventTarget !== "undefined") listen();
  if (!isPage) return;

  // document.open() takes every listener off the document and its window.
  Document.prototype.open = new Proxy(Document.prototype.open, bare({
    apply(target, self, args) {
      const result = apply(target, self, args);
      if (self === document) listen();
      return result;
    },
  }));
  const mayOpen = allowing(MOST_WINDOWS, WINDOWS_A_SECOND);
  globalThis.open = new Proxy(globalThis.open, bare({
    apply: (target, self, args) => (mayOpen() ? apply(target, self, args) : null),
  }));

  const painting = /** @type {any} */ (CSS).paintWorklet;
  if (!painting) return;
  const { createObjectURL } = URL;
  const Source = Blob;
  const script = `(${limit})("")`;
  /** @type {Promise<void> | undefined} */
  let limited;
  // Where the page allows no script of ours in its worklet, it gets none of its own either.
  Worklet.prototype.addModule = new Proxy(Worklet.prototype.addModule, bare({
    async apply(target, self, args) {
      if (self === painting) {
        limited ??= apply(target, self, [apply(createObjectURL, URL, [new Source([script], { type: "text/javascript" })])]);
        await limited;
      }
      return apply(target, self, args);
    },
  }));
})
