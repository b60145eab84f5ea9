/**
 * What only the page's own world can see: closed shadow roots, elements with listeners, timers that an action
 * has started. Runs before the page's scripts and answers, in the same tick, to an event that only the page
 * script knows by name.
 *
 * Elements cross from this world to the other one in events whose fields hold nodes.
 */
(function hook(/** @type {string} */ channel) {
  "use strict";
  const CLICK_LIKE = new Set(["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "contextmenu"]);
  const NATIVE = new Set(["button", "input", "select", "textarea", "summary", "option", "body", "html", "iframe"]);
  const INPUTS = ["pointerdown", "mousedown", "keydown", "input", "wheel", "drop", "pointerup", "click", "change"];
  const LONGEST_TIMER = 1000;
  const DEEPEST_TIMER = 2;
  const BACKGROUND = Infinity;

  const { apply } = Reflect;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const add = EventTarget.prototype.addEventListener;
  const rootOf = Node.prototype.getRootNode;
  const now = () => performance.now();

  /** @type {Set<WeakRef<ShadowRoot>>} */
  const closedRoots = new Set();
  /** @type {Set<WeakRef<Element>>} */
  const listening = new Set();
  /** @type {WeakSet<Element>} */
  const known = new WeakSet();
  /** When each timer that the last input has started falls due. @type {Map<unknown, number>} */
  const due = new Map();
  let lastInput = -Infinity;
  /** How many timers deep the running code is, counted from the input. */
  let level = 0;

  /** @param {unknown} target */
  function note(target) {
    if (!(target instanceof Element) || known.has(target) || NATIVE.has(target.localName)) return;
    if (target.localName === "a" && target.hasAttribute("href")) return;
    known.add(target);
    listening.add(new WeakRef(target));
  }

  /**
   * @param {any} owner
   * @param {string} name
   * @param {(native: Function, self: any, args: any[]) => unknown} instead
   */
  function wrap(owner, name, instead) {
    const native = owner[name];
    if (typeof native !== "function") return;
    owner[name] = new Proxy(native, { apply: (target, self, args) => instead(target, self, args) });
  }

  wrap(EventTarget.prototype, "addEventListener", (native, self, args) => {
    if (CLICK_LIKE.has(args[0])) note(self);
    return apply(native, self, args);
  });

  for (const name of ["onclick", "onmousedown", "onpointerdown", "onmouseup", "onpointerup"]) {
    const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name);
    const set = own && own.set;
    if (!own || !set) continue;
    Object.defineProperty(HTMLElement.prototype, name, {
      ...own,
      set: new Proxy(set, {
        apply(target, self, args) {
          if (args[0]) note(self);
          return apply(target, self, args);
        },
      }),
    });
  }

  wrap(Element.prototype, "attachShadow", (native, self, args) => {
    const root = apply(native, self, args);
    if (root.mode === "closed") closedRoots.add(new WeakRef(root));
    return root;
  });

  wrap(globalThis, "setTimeout", (native, self, args) => {
    const [callback, delay] = args;
    if (typeof callback !== "function") return apply(native, self, args);
    const own = level === BACKGROUND || lastInput < 0 ? BACKGROUND : level + 1;
    const wait = Number(delay) || 0;
    const watched = own <= DEEPEST_TIMER + 1 && wait <= LONGEST_TIMER;
    /** @type {unknown} */
    let id;
    args[0] = function (/** @type {any[]} */ ...given) {
      due.delete(id);
      const before = level;
      level = watched ? own : BACKGROUND;
      try {
        return apply(callback, this, given);
      } finally {
        level = before;
      }
    };
    id = apply(native, self, args);
    if (watched) due.set(id, now() + wait);
    return id;
  });
  wrap(globalThis, "setInterval", (native, self, args) => {
    const callback = args[0];
    if (typeof callback === "function") {
      args[0] = function (/** @type {any[]} */ ...given) {
        const before = level;
        level = BACKGROUND;
        try {
          return apply(callback, this, given);
        } finally {
          level = before;
        }
      };
    }
    return apply(native, self, args);
  });
  wrap(globalThis, "clearTimeout", (native, self, args) => {
    due.delete(args[0]);
    return apply(native, self, args);
  });

  /** @param {Event} event */
  function onInput(event) {
    if (!event.isTrusted) return;
    lastInput = now();
    level = 0;
  }

  /** @param {Event} event */
  function send(event) {
    apply(dispatch, document, [event]);
  }

  /** @param {WeakRef<Element>[]} refs */
  function sendElements(refs) {
    const ranges = [];
    for (const ref of refs) {
      const element = ref.deref();
      if (!element) continue;
      if (apply(rootOf, element, []) instanceof ShadowRoot) {
        if (element instanceof HTMLElement) send(new SubmitEvent(`${channel}:element`, { submitter: element }));
      } else {
        ranges.push(new StaticRange({ startContainer: element, startOffset: 0, endContainer: element, endOffset: 0 }));
      }
    }
    if (ranges.length) send(new InputEvent(`${channel}:elements`, { targetRanges: ranges }));
  }

  function sendRoots() {
    for (const ref of closedRoots) {
      const root = ref.deref();
      if (!root) {
        closedRoots.delete(ref);
        continue;
      }
      const child = [...root.querySelectorAll("*")].find((element) => element instanceof HTMLElement);
      if (!(child instanceof HTMLElement)) continue;
      closedRoots.delete(ref);
      send(new SubmitEvent(`${channel}:root`, { submitter: child }));
    }
  }

  /** @param {Event} event */
  function answer(event) {
    const asked = event instanceof CustomEvent ? event.detail : "";
    if (asked === "input") {
      lastInput = now();
      return;
    }
    if (asked === "timers") {
      let latest = 0;
      const time = now();
      for (const at of due.values()) latest = Math.max(latest, at - time, 1);
      send(new CustomEvent(`${channel}:timers`, { detail: `${due.size} ${latest}` }));
      return;
    }
    sendRoots();
    if (listening.size) {
      const refs = [...listening];
      listening.clear();
      sendElements(refs);
    }
  }

  function listen() {
    // At the window: a popup keeps its window when its blank first document gives way, and runs no script again.
    apply(add, globalThis, [channel, answer, { capture: true }]);
    for (const name of INPUTS) apply(add, globalThis, [name, onInput, { capture: true, passive: true }]);
  }
  listen();
  // document.open() takes every listener off the document and its window.
  wrap(Document.prototype, "open", (native, self, args) => {
    const result = apply(native, self, args);
    if (self === document) listen();
    return result;
  });
})
