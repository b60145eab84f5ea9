/**
 * Hints that only the page's own world can give: closed shadow roots, elements with listeners, what custom elements say of themselves
 * by ElementInternals, timers and answers that an action or the page's beginning has started, and which answers are read piece by
 * piece. It is also the first to hear of keys, and asks the page script whether each may pass.
 *
 * It runs before the page's scripts, and keeps the built-ins that it needs. The page script introduces itself by an event of a name
 * that no page knows, which carries a node in a detached closed shadow tree: all that the two worlds say to each other are events at
 * that node. No page can reach it, and `window.event` does not show them. Elements cross in events whose fields hold nodes.
 */
(function hook(/** @type {string} */ channel) {
  "use strict";
  const CLICK_LIKE = new Set(["click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "contextmenu"]);
  const DROPS = new Set(["drop", "dragover", "dragenter"]);
  /** What comes as the mouse does and as its button goes down. */
  const POINTING = ["over", "enter", "move", "out", "leave", "down"].flatMap((what) => [`pointer${what}`, `mouse${what}`]);
  const PRESSING = new Set([...POINTING, ..."touchstart focus focusin blur focusout input change selectstart selectionchange".split(" ")]);
  const NATIVE = new Set(["button", "input", "select", "textarea", "summary", "option", "body", "html", "iframe"]);
  const INPUTS = ["pointerdown", "mousedown", "keydown", "input", "wheel", "drop", "pointerup", "click", "change"];
  const KEYS = ["keydown", "keypress", "beforeinput", "input", "keyup"];
  /** Longer timers are not waited for, milliseconds: those that follow from input, and those of a new page. */
  const [LONGEST_AFTER_INPUT, LONGEST_OF_PAGE] = [1000, 200];
  /** Longest wait for what has no time of its own and may never come, milliseconds; what is left of it at least when the page is looked at again, because something else has ended. */
  const [LONGEST_ANSWER, LAST_ANSWER] = [300, 60];
  /** The same for the answer of a socket that was written to: because something was pressed, and because of typing. */
  const [LONGEST_SOCKET, LONGEST_TYPED] = [3000, 1000];
  /** So soon comes the next of several messages that a page is made of, milliseconds. */
  const [NEXT_MESSAGE, SEVERAL_MESSAGES] = [200, 2];
  /** How many timers deep is watched; how much deeper than a request the code is that gets its answer, and than a message to itself. */
  const [DEEPEST_TIMER, ANSWER, SLICE] = [3, 1 / 4, 1 / 64];
  /** Of how many addresses it is kept how their answers are read, and of how many timers whether they had an effect. */
  const [MOST_ADDRESSES, MOST_LEARNT] = [300, 300];
  const BACKGROUND = Infinity;
  /** Timers shorter than this are waited for whether or not they ever did anything, milliseconds. */
  const SHORTEST_LEARNT = 60;
  /** So long, and once, are those waited for whose like never did anything, if not for the same caller, milliseconds. */
  const LONGEST_UNLIKELY = 350;
  /** How many lines of a stack name the hook, and how many the code that starts something without its callers. */
  const [OWN_LINES, SITE_LINES, SITE_DIGITS] = [4, 2, 8];
  /** So much of a callback's source is compared, characters. */
  const LONGEST_SOURCE = 500;
  /** So many frames after a timer its effect can be seen, and so many milliseconds: frameworks draw in a task of their own. */
  const [FRAMES_OF_EFFECT, TIME_OF_EFFECT] = [3, 60];
  /** So long after an input what happens may come from it, milliseconds. */
  const OF_INPUT = 300;
  /** Timers of about a second are those of analytics, too, milliseconds; and how many promises deep it is looked for what code shows. */
  const [ABOUT_SECOND, DEEPEST_PROMISE] = [900, 20];
  /** On so many elements a timer had no effect before none is expected on any other. */
  const ELEMENTS_LEARNT = 2;
  /** How often it is looked whether what has no time of its own has come, milliseconds. */
  const GLANCE = 10;

  const { apply, construct } = Reflect;
  const { parse, stringify } = JSON;
  const { defineProperties, defineProperty, entries, getOwnPropertyDescriptor, getOwnPropertyDescriptors, setPrototypeOf } = Object;
  const { CustomEvent, Element, HTMLElement, HTMLMediaElement, InputEvent, ShadowRoot, StaticRange, SubmitEvent } = globalThis;
  const { imul, max, min } = Math;
  const { charCodeAt, padStart, slice, split, startsWith } = String.prototype;
  const { dispatchEvent: dispatch, addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
  const { preventDefault, stopImmediatePropagation } = Event.prototype;
  /** The getter of a class's property. @param {any} owner @param {string} name @returns {(this: any) => any} */
  const getterOf = (owner, name) => getOwnPropertyDescriptor(owner?.prototype ?? {}, name)?.get ?? (() => undefined);
  const [typeOf, targetOf] = [getterOf(Event, "type"), getterOf(Event, "target")];
  const [dataOf, detailOf, submitterOf] = [getterOf(InputEvent, "data"), getterOf(CustomEvent, "detail"), getterOf(SubmitEvent, "submitter")];
  const [rootOf, sourceOf] = [Node.prototype.getRootNode, Function.prototype.toString];
  const [findIn, findInDocument] = [DocumentFragment.prototype.querySelector, Document.prototype.querySelector];
  const [now, frame] = [performance.now.bind(performance), requestAnimationFrame.bind(globalThis)];
  const microtask = queueMicrotask.bind(globalThis);
  const [Channel, Failure, Locator] = [MessageChannel, Error, URL];
  const { postMessage: post, start: open } = MessagePort.prototype;
  const then = Promise.prototype.then;
  const { observe, disconnect } = MutationObserver.prototype;
  const [eventOf, onloadOf] = ["event", "onload"].map((name) => getOwnPropertyDescriptor(globalThis, name)?.get);
  const stateOf = getterOf(Document, "readyState");

  /** A class like this one whose instances keep the methods that it has now. @template {new (...args: any[]) => any} T @param {T} native @returns {T} */
  function kept(native) {
    class Kept extends native {}
    defineProperties(Kept.prototype, getOwnPropertyDescriptors(native.prototype));
    setPrototypeOf(Kept.prototype, null);
    return Kept;
  }
  const [KeptSet, KeptMap, KeptWeakSet, KeptWeakMap, Ref] = [kept(Set), kept(Map), kept(WeakSet), kept(WeakMap), kept(WeakRef)];

  /** Where the page script is spoken to, once it has introduced itself. @type {EventTarget | null} */
  let port = null;
  /** @type {Set<WeakRef<ShadowRoot>>} */
  const shadows = new KeptSet();
  /** Those of them that were not sent yet and cannot be seen otherwise. @type {Set<WeakRef<ShadowRoot>>} */
  const closedRoots = new KeptSet();
  /** What is known, and what of it was not passed on yet. @template {object} [T=Element] @typedef {{ known: WeakSet<T>, refs: Set<WeakRef<T>> }} Noted */
  const noNotes = () => /** @type {Noted<any>} */ ({ known: new KeptWeakSet(), refs: new KeptSet() });
  /** What listens for the mouse, what takes drops, and what listens for all events, for what is in it. */
  const [listening, dropping, bases] = /** @type {[Noted, Noted, Noted]} */ ([noNotes(), noNotes(), noNotes()]);
  /** How many listeners for clicks an element has been given. @type {WeakMap<Element, number>} */
  const clicks = new KeptWeakMap();
  /** Whether a script may run as a button of the mouse goes down; true where the document had begun before. */
  let isPressHeard = !!document.documentElement;
  /** Of which element ElementInternals are. @type {WeakMap<ElementInternals, Element>} */
  const elementOf = new KeptWeakMap();
  /** Whether the page script wants to be asked of each key, and whether the listeners of the beginning are still there. */
  let [keysHeld, isFirst] = [false, false];
  /** Those by which something has been said that was not passed on yet. */
  const saying = /** @type {Noted<ElementInternals>} */ (noNotes());
  /** When each timer that the page's beginning or the last input has started falls due. @type {Map<unknown, number>} */
  const due = new KeptMap();
  /** Callbacks and answers that are waited for, whose time the browser or somebody else chooses. @type {Set<unknown>} */
  const expected = new KeptSet();
  /** How long only such were waited for since the page's beginning or the last input, milliseconds; when an answer last said that only such were left, NaN where it did not. */
  let [patience, impatient] = [0, NaN];
  let longest = LONGEST_OF_PAGE;
  /** Whether what came before has been waited for, so that nothing that is due follows from the next input. */
  let settled = false;
  /** How many timers deep the running code is, counted from the page's beginning or the input, and how long these have taken, milliseconds. */
  let [level, spent] = [0, 0];
  /** @type {MessagePort | null} */
  let bell = null;
  let ringing = false;
  /** What timers of each kind have done: the place in the code that starts them, and their delay. @type {Map<string, { idle: number, count: number, elements: WeakSet<object> }>} */
  const learnt = new KeptMap();
  /** Whether more has been learnt than was said, the page's changes are followed, and an input was waited for in this document. */
  let [learntMore, followed, acted] = [false, false, false];
  /**
   * A timer that has run or a request whose answer has come, and whose effect is looked for: its kind, the element of the input, the
   * frames that are left, since when, how much of the answer is still to come, what was shown and the effects before.
   * @typedef {{ kind: string, element: object, waited: boolean, held: number, frames: number, from: number, shown: number, before: number }} Judged
   */
  /** @type {Set<Judged>} */
  const judging = new KeptSet();
  /** How much has been done that can be seen, or may lead to it. */
  let effects = 0;
  /** How often something was shown, or a frame or a message asked for, which may show it; and how often when the running code began. */
  let [shows, showsBefore] = [0, 0];
  /** The kinds of timers that the page starts by itself: a carousel's, a clock's; and those that have shown something. @type {[Set<string>, Set<string>]} */
  const [pages, showing] = [new KeptSet(), new KeptSet()];
  /** @param {Set<string>} kinds @param {string} kind */
  function keepKind(kinds, kind) {
    if (kinds.size >= MOST_LEARNT) kinds.clear();
    kinds.add(kind);
  }
  let lastInput = 0;
  /** What the last input went to. @type {object} */
  let inputTarget = document;
  /** How the page reads the answers of each address. @type {Map<string, "pieces" | "whole" | "elsewhere" | "unread">} */
  const read = new KeptMap();

  /** The callback and all that it had left to promises have run. */
  function calm() {
    ringing = false;
    level = spent = 0;
  }

  /** Run a callback some timers deep; what it leaves to promises runs as deep. @param {number} depth @param {() => unknown} callback @param {number} [time] that the timers before have taken */
  function at(depth, callback, time = 0) {
    level = depth;
    spent = time;
    try {
      return callback();
    } finally {
      if (depth && !ringing) {
        ringing = true;
        if (!bell) {
          const { port1, port2 } = new Channel();
          apply(add, port1, ["message", calm]);
          apply(open, port1, []);
          bell = port2;
        }
        apply(post, bell, [0]);
      }
    }
  }

  /** @param {unknown} target @param {Noted} noted */
  function note(target, noted) {
    if (!(target instanceof Element) || noted.known.has(target) || NATIVE.has(target.localName)) return;
    if (noted === listening && target.localName === "a" && target.hasAttribute("href")) return;
    noted.known.add(target);
    noted.refs.add(new Ref(target));
  }

  /** @typedef {(native: Function, self: any, args: any[]) => unknown} Instead */
  /** Put a trap before a method, or before the getter or setter of a property. @param {any} owner @param {string} name @param {Instead} instead @param {"value" | "get" | "set"} kind */
  function wrap(owner, name, instead, kind = "value") {
    const own = owner && getOwnPropertyDescriptor(owner, name);
    const native = own?.[kind];
    if (typeof native !== "function") return;
    const trap = new Proxy(native, { apply: (target, self, args) => instead(target, self, args) });
    defineProperty(owner, name, { __proto__: null, ...own, [kind]: trap });
  }
  /** Do something, then what the built-in does. @param {(self: any, args: any[]) => unknown} act @returns {Instead} */
  const first = (act) => (native, self, args) => (act(self, args), apply(native, self, args));
  /** Do what the built-in does, then something. @param {(self: any, given: any) => unknown} act @returns {Instead} */
  const after = (act) => (native, self, args) => {
    const given = apply(native, self, args);
    act(self, given);
    return given;
  };
  /** The same, of what counts as an effect. @param {(self: any, given: any) => unknown} act @returns {Instead} */
  const afterEffect = (act) => (native, self, args) => (effects++, after(act)(native, self, args));
  /** Put a trap before the construction of a class, and after it. @param {string} name @param {(args: any[]) => void} before @param {(made: any, args: any[]) => void} [then] */
  function wrapClass(name, before, then = () => {}) {
    const native = /** @type {any} */ (globalThis)[name];
    if (!native) return;
    const wrapped = new Proxy(native, {
      construct(target, args, newTarget) {
        before(args);
        const made = construct(target, args, newTarget);
        then(made, args);
        return made;
      },
    });
    native.prototype.constructor = wrapped;
    /** @type {any} */ (globalThis)[name] = wrapped;
  }

  /** A listener for events of this type is added. @param {unknown} target @param {string} type */
  function noteListener(target, type) {
    if (CLICK_LIKE.has(type)) note(target, listening);
    if (DROPS.has(type)) note(target, dropping);
    if (PRESSING.has(type)) isPressHeard = true;
    if (type === "click" && target instanceof Element) clicks.set(target, (clicks.get(target) ?? 0) + 1);
    // What plays nothing and listens for this is the root of a framework, with a listener for each phase, if it has none of its own.
    if (type === "encrypted" && target instanceof Element && !(target instanceof HTMLMediaElement) && clicks.get(target) === 2) note(target, bases);
    if (type === "load" && (target === globalThis || target === undefined)) expectLoad();
  }
  for (const name of ["addEventListener", "when"]) wrap(EventTarget.prototype, name, first((self, args) => noteListener(self, args[0])));
  for (const owner of [HTMLElement.prototype, HTMLBodyElement.prototype, SVGElement.prototype, Document.prototype, globalThis]) {
    for (const type of ["click", "mouseup", "pointerup", "drop", "dragover", ...PRESSING]) {
      wrap(owner, `on${type}`, first((self, args) => args[0] && noteListener(self, type)), "set");
    }
  }

  wrap(Element.prototype, "attachShadow", after((_self, root) => {
    const ref = new Ref(root);
    shadows.add(ref);
    if (root.mode === "closed") closedRoots.add(ref);
    if (followed) apply(observe, changing, [root, CHANGED]);
  }));

  /** By which properties of ElementInternals a role or state is said, and as which attribute. @type {[string, Function][]} */
  const sayings = [];
  const labelling = "ariaLabelledByElements";
  wrap(HTMLElement.prototype, "attachInternals", after((self, internals) => elementOf.set(internals, self)));
  for (const [name, own] of entries(getOwnPropertyDescriptors(globalThis.ElementInternals?.prototype ?? {}))) {
    const { get, set } = own;
    if (!get || !set || !(name === "role" || name === labelling || (name.startsWith("aria") && !name.includes("Element")))) continue;
    sayings.push([name === "role" || name === labelling ? name : `aria-${name.slice(4).toLowerCase()}`, get]);
    wrap(ElementInternals.prototype, name, after((self) => {
      if (saying.known.has(self)) return;
      saying.known.add(self);
      saying.refs.add(new Ref(self));
    }), "set");
  }

  const DRAWN = { subtree: true, childList: true, characterData: true };
  const CHANGED = { ...DRAWN, attributes: true };
  const changing = new MutationObserver(effect);
  /** Call back when what the running code has left to promises has run. @param {() => void} callback @param {number} [left] */
  function afterwards(callback, left = DEEPEST_PROMISE) {
    microtask(left ? () => afterwards(callback, left - 1) : callback);
  }
  /** Something is shown, or soon. */
  function show() {
    if (settled) showsBefore = ++shows;
    else if (shows++ === showsBefore) afterwards(() => (showsBefore = shows));
  }
  /** Wait for what may show something. @param {unknown} key */
  function wait(key) {
    expected.add(key);
    show();
  }
  function effect() {
    effects++;
    show();
  }
  /** Follow the page's changes while they matter. */
  function followChanges() {
    const wanted = judging.size > 0 || (!settled && longest === LONGEST_AFTER_INPUT);
    if (wanted && !followed) observeAll(changing, CHANGED);
    else if (!wanted && followed) apply(disconnect, changing, []);
    followed = wanted;
  }
  /** Observe the document and its shadow roots. @param {MutationObserver} observer @param {MutationObserverInit} options */
  function observeAll(observer, options) {
    apply(observe, observer, [document, options]);
    shadows.forEach((ref) => {
      const root = ref.deref();
      if (root) apply(observe, observer, [root, options]);
      else shadows.delete(ref);
    });
  }

  /** A hash (FNV-1a, 32 bits) as so many hexadecimal digits as stand for a site. @param {string} text */
  function digest(text) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = imul(hash ^ apply(charCodeAt, text, [i]), 0x01000193);
    return apply(padStart, (hash >>> 0).toString(16), [SITE_DIGITS, "0"]);
  }
  /** Which timer this is: the code that starts it, as the stack names it, and its delay, save a short or an odd one: throttling gives another each time. @param {number} wait */
  function kindOf(wait) {
    try {
      const { stack } = new Failure();
      const delay = wait % 50 ? 250 : max(wait, 250);
      return digest(`${delay} ${apply(split, stack, ["\n", OWN_LINES + SITE_LINES])}`) + digest(`${delay} ${stack}`);
    } catch {
      // The page's own Error.prepareStackTrace failed.
      return "";
    }
  }
  /** What is drawn on a canvas is not seen here. */
  const hasCanvas = () => apply(findInDocument, document, ["canvas"]) !== null;
  /** The same whatever calls that code. @param {string} kind */
  const siteOf = (kind) => apply(slice, kind, [0, SITE_DIGITS]);
  /** How long a timer of this kind is waited for: not at all where its like has had no effect. @param {string} kind @param {number} wait */
  function likelyWait(kind, wait) {
    const known_ = kind && learnt.get(kind);
    if (known_) return known_.idle > 0 && (known_.count >= ELEMENTS_LEARNT || known_.elements.has(inputTarget)) ? NaN : wait;
    const site = kind && learnt.get(siteOf(kind));
    if (!site || site.idle <= 0 || !site.elements.has(inputTarget)) return wait;
    return site.idle++ > 1 ? NaN : min(wait, LONGEST_UNLIKELY); // It may be cancelled each time, and never run.
  }
  /** Whether the page starts timers of this kind by itself, too: without an input in the last second. @param {string} kind @param {number} wait @param {Function} callback */
  function isOfPage(kind, wait, callback) {
    // A carousel's next turn begins where its transition ends, elsewhere in the code than the first, but runs the same.
    const same = () => digest(`${wait} ${apply(slice, apply(sourceOf, callback, []), [0, LONGEST_SOURCE])}`);
    if (longest === LONGEST_AFTER_INPUT && (level || now() - lastInput <= LONGEST_AFTER_INPUT)) {
      const event = eventOf && apply(eventOf, globalThis, []);
      return pages.has(kind) || (event && apply(typeOf, event, []) === "transitionend" && pages.has(same()));
    }
    keepKind(pages, kind);
    keepKind(pages, same());
    return longest === LONGEST_AFTER_INPUT;
  }
  /** A timer runs, or an answer has come: look for what comes of it. @param {string} kind @param {boolean} waited for @param {number} [held] */
  function watchEffect(kind, waited, held = 0) {
    const judged = { kind, waited, held, element: inputTarget, frames: FRAMES_OF_EFFECT, from: now(), shown: shows, before: effects };
    judging.add(judged);
    followChanges();
    const next = () => (judged.held || --judged.frames > 0 || now() - judged.from < TIME_OF_EFFECT ? frame(next) : judge(judged));
    frame(next);
    return judged;
  }
  /** Keep whether it had an effect. @param {Judged} judged */
  function judge(judged) {
    if (!judging.delete(judged)) return;
    followChanges();
    // The next input may come early, but not before a frame has shown what the timer did.
    if (judged.held || judged.frames === FRAMES_OF_EFFECT) return;
    // What another input has done meanwhile is no effect of a timer that was not waited for.
    if (!judged.waited && now() - lastInput < OF_INPUT) return;
    const isIdle = effects === judged.before && !hasCanvas();
    if (judged.shown < shows) keepKind(showing, judged.kind);
    learn(judged.kind, isIdle, judged.element);
    learn(siteOf(judged.kind), isIdle, judged.element);
  }
  /** After an effect, two runs without one are needed. @param {string} kind @param {boolean} isIdle @param {object} element */
  function learn(kind, isIdle, element) {
    if (learnt.size >= MOST_LEARNT) learnt.clear();
    const known_ = isIdle && learnt.get(kind);
    learntMore = true;
    if (!known_) {
      learnt.set(kind, { idle: isIdle ? 1 : -1, count: isIdle ? 1 : 0, elements: new KeptWeakSet() });
    } else {
      known_.idle++;
      if (!known_.elements.has(element)) known_.count++;
    }
    if (isIdle) learnt.get(kind)?.elements.add(element);
  }
  /** Count what can be seen but changes no node. */
  for (const [owner, kind, ...names] of /** @type {[any, "value" | "set", ...string[]][]} */ ([
    [globalThis, "value", "alert", "confirm", "prompt", "print", "open", "scroll", "scrollTo", "scrollBy"],
    [Element.prototype, "value", "animate", "scroll", "scrollTo", "scrollBy", "scrollIntoView"],
    [HTMLElement.prototype, "value", "focus", "blur", "click", "showPopover", "hidePopover", "togglePopover"],
    [globalThis.History?.prototype, "value", "pushState", "replaceState", "back", "forward", "go"],
    [globalThis.HTMLFormElement?.prototype, "value", "submit", "requestSubmit", "reset"],
    [globalThis.HTMLInputElement?.prototype, "set", "value", "checked"],
    [globalThis.HTMLTextAreaElement?.prototype, "set", "value"],
    [globalThis.HTMLSelectElement?.prototype, "set", "value", "selectedIndex"],
    [globalThis.HTMLOptionElement?.prototype, "set", "selected"],
    [Element.prototype, "set", "scrollTop", "scrollLeft"],
  ])) {
    for (const name of names) wrap(owner, name, first(effect), kind);
  }

  wrap(globalThis, "setTimeout", (native, self, args) => {
    const [callback, delay] = args;
    if (typeof callback !== "function") return apply(native, self, args);
    const own = level + 1;
    const wait = Number(delay) || 0;
    const total = spent + wait;
    const watched = own <= DEEPEST_TIMER && total <= longest;
    const kind = own <= DEEPEST_TIMER && wait >= SHORTEST_LEARNT && wait <= LONGEST_AFTER_INPUT ? kindOf(wait) : "";
    const isPages = kind && isOfPage(kind, wait, callback);
    let id = /** @type {unknown} */ (undefined);
    args[0] = function (/** @type {any[]} */ ...given) {
      due.delete(id);
      if (kind && watched && !isPages) watchEffect(kind, waited);
      try {
        return at(watched && !isPages ? own : BACKGROUND, () => apply(callback, this, given), total);
      } catch (error) {
        effects++;
        throw error;
      }
    };
    id = apply(native, self, args);
    const likely = watched && !isPages ? likelyWait(kind, wait) : NaN;
    const waited = likely >= 0;
    if (waited) {
      due.set(id, now() + likely);
      if (likely < wait) apply(native, self, [() => due.delete(id), likely]);
      effects++;
      const before = showsBefore;
      // Code that shows nothing, such as analytics, may start timers of a new kind at each press: only the first waits for them.
      const look = () => {
        if (shows > before || showing.has(kind) || hasCanvas()) return;
        apply(native, self, [() => due.delete(id), acted ? 0 : lastInput + LONGEST_AFTER_INPUT - now()]);
      };
      if (total >= ABOUT_SECOND && !typing) afterwards(look);
    }
    return id;
  });
  wrap(globalThis, "clearTimeout", first((_self, args) => due.delete(args[0])));
  /** Wait for callbacks whose time the browser chooses, a step deeper than their caller. @param {any} owner @param {string} name @param {number} step @param {string} [cancel] what takes back what it gave */
  function expectCallbacks(owner, name, step, cancel) {
    wrap(owner, name, (native, self, args) => {
      const callback = args[0];
      if (typeof callback !== "function") return apply(native, self, args);
      const own = level + step;
      const watched = own <= DEEPEST_TIMER;
      let key = /** @type {unknown} */ (undefined);
      args[0] = function (/** @type {any[]} */ ...given) {
        expected.delete(key);
        return at(watched ? own : BACKGROUND, () => apply(callback, this, given));
      };
      const given = apply(native, self, args);
      key = typeof given === "number" ? name + given : given;
      if (watched) wait(key);
      return given;
    });
    if (cancel) wrap(owner, cancel, first((_self, args) => expected.delete(name + args[0])));
  }
  expectCallbacks(globalThis, "setInterval", BACKGROUND);
  expectCallbacks(globalThis, "requestAnimationFrame", 1 / 2, "cancelAnimationFrame");
  expectCallbacks(globalThis, "requestIdleCallback", 1, "cancelIdleCallback");
  expectCallbacks(Document.prototype, "startViewTransition", 1);
  expectCallbacks(/** @type {any} */ (globalThis).Scheduler?.prototype, "postTask", 1);

  /** Wait for what an observer reports at first; two frames later it has, or there was nothing. @param {string} name of the class */
  function expectFirstLook(name) {
    /** How deep its first callback is. @type {WeakMap<object, number>} */
    const depths = new KeptWeakMap();
    /** @param {object} self */
    const end = (self) => {
      const depth = depths.get(self);
      depths.delete(self);
      expected.delete(self);
      return depth;
    };
    wrapClass(name, (args) => {
      const callback = args[0];
      if (typeof callback !== "function") return;
      args[0] = function (/** @type {any[]} */ ...given) {
        return at(end(this) ?? BACKGROUND, () => apply(callback, this, given));
      };
    });
    wrap(/** @type {any} */ (globalThis)[name]?.prototype, "observe", after((self) => {
      if (level + 1 > DEEPEST_TIMER || depths.has(self)) return;
      depths.set(self, level + 1);
      expected.add(self);
      frame(() => frame(() => end(self)));
    }));
  }
  ["IntersectionObserver", "ResizeObserver"].forEach(expectFirstLook);

  /** Wait for the event that answers a call, from what `answering` gives. @param {any} owner @param {string[]} names @param {string[]} answers its types @param {(self: any, given: any) => any} answering */
  function expectAnswers(owner, names, answers, answering) {
    const expect = afterEffect((self, given) => {
      const from = answering(self, given);
      if (level + 1 > DEEPEST_TIMER || expected.has(from)) return;
      expected.add(from);
      const take = () => {
        expected.delete(from);
        for (const type of answers) apply(remove, from, [type, take]);
      };
      for (const type of answers) apply(add, from, [type, take]);
    });
    for (const name of names) wrap(owner?.prototype, name, expect);
  }
  const reads = ["get", "getKey", "getAll", "getAllKeys", "count", "openCursor", "openKeyCursor"];
  const outcomes = ["success", "error"];
  expectAnswers(globalThis.IDBFactory, ["open", "deleteDatabase"], outcomes, (_self, request) => request);
  expectAnswers(globalThis.IDBIndex, reads, outcomes, (_self, request) => request);
  expectAnswers(globalThis.IDBObjectStore, [...reads, "add", "put", "delete", "clear"], outcomes, (_self, request) => request);
  expectAnswers(globalThis.IDBDatabase, ["transaction"], ["complete", "abort"], (_self, transaction) => transaction);
  expectAnswers(globalThis.Worker, ["postMessage"], ["message", "error"], (worker) => worker);

  /** Sockets written to that have answered nothing to see yet, and whether they have answered at all. @type {Map<object, boolean>} */
  const asked = new KeptMap();
  /** Sockets that were waited for in vain after a press, and those after typing. @type {[WeakSet<object>, WeakSet<object>]} */
  const mute = [new KeptWeakSet(), new KeptWeakSet()];
  /** Whether the last input was typing or turning the wheel. */
  let typing = false;
  const muteNow = () => mute[typing ? 1 : 0];
  /** How many sockets were given up since the last press. */
  let unanswered = 0;
  function giveUp() {
    asked.forEach((_answered, socket) => {
      muteNow().add(socket);
      forget(socket);
      if (!typing) unanswered++;
    });
  }
  const heard = new KeptWeakSet();
  /** When connections were opened or last written to, and those whose messages do not stop. @type {WeakMap<object, number>} */
  const spoken = new KeptWeakMap();
  const streams = new KeptWeakSet();
  // A first answer often says only that another one is being made.
  const shown = new MutationObserver(() => {
    asked.forEach((answered, socket) => answered && forget(socket));
  });
  /** @param {object} socket */
  function forget(socket) {
    expected.delete(socket);
    asked.delete(socket);
    if (!asked.size) apply(disconnect, shown, []);
  }
  wrap(globalThis.WebSocket?.prototype, "send", afterEffect((self) => {
    if (level + 1 > DEEPEST_TIMER) return;
    spoken.set(self, now());
    if (expected.has(self)) return;
    expected.add(self);
    if (!heard.has(self)) {
      heard.add(self);
      // In front of the page's own listeners, so that what these draw counts.
      apply(add, self, ["message", () => (asked.has(self) ? asked.set(self, true) : expected.delete(self)), { capture: true }]);
      apply(add, self, ["close", () => forget(self)]);
    }
    if (longest !== LONGEST_AFTER_INPUT || muteNow().has(self)) return;
    if (!asked.size) observeAll(shown, DRAWN);
    asked.set(self, false);
  }));

  /** @param {unknown} url @param {"pieces" | "whole" | "elsewhere" | "unread"} how */
  function noteReading(url, how) {
    const address = String(url).replace(/[?#].*$/s, "");
    if (!address) return;
    if (read.size >= MOST_ADDRESSES) read.clear();
    read.set(address, how);
  }

  /** An answer has come to the page: what follows from it runs a little deeper. @param {unknown} key @param {number} depth */
  function arrived(key, depth) {
    if (expected.delete(key)) patience = 0;
    at(depth, () => undefined);
  }

  /** Where the messages of each port go that scripts have made; those of the window go to itself. @type {WeakMap<object, EventTarget>} */
  const others = new KeptWeakMap();
  /** What has received messages in this document, each with how deep the next one is. @type {WeakMap<object, number>} */
  const received = new KeptWeakMap();
  /** @param {EventTarget} port @param {EventTarget} other */
  function join(port, other) {
    others.set(other, port);
    const take = () => {
      const depth = received.get(port) || 0;
      if (depth) arrived(port, depth);
      received.set(port, 0);
    };
    apply(add, port, ["message", take, { capture: true }]);
  }
  /** By messages to themselves frameworks draw a page in slices. */
  const posted = after((self) => {
    const port = others.get(self || globalThis);
    // What never received anything may be in another document, or in a worker.
    if (!port || !received.has(port)) return;
    const watched = level + SLICE <= DEEPEST_TIMER;
    received.set(port, watched ? level + SLICE : BACKGROUND);
    if (watched) wait(port);
  });
  wrapClass("MessageChannel", () => {}, ({ port1, port2 }) => {
    join(port1, port2);
    join(port2, port1);
  });
  wrap(MessagePort.prototype, "postMessage", posted);
  join(globalThis, globalThis);
  wrap(globalThis, "postMessage", posted);

  /** URL without query and fragment. @param {unknown} url @returns {string} */
  const addressOf = (url) => {
    try {
      return new Locator(String(url), document.baseURI).href.replace(/[?#].*$/s, "");
    } catch {
      return "";
    }
  };
  /** A request that a script makes: its address and kind, whether it is waited for, and what is looked for once its answer comes. @typedef {{ address: string, kind: string, waited: boolean, judged: Judged | null }} Asked */
  /** How many requests to each address are waited for that have no answer yet. @type {Map<string, number>} */
  const awaited = new KeptMap();
  /** @param {unknown} url @param {boolean} isOneWay whether nothing reads its answer @returns {Asked} */
  function beginRequest(url, isOneWay) {
    const address = addressOf(url);
    const kind = level + ANSWER <= DEEPEST_TIMER && longest === LONGEST_AFTER_INPUT ? kindOf(NaN) : "";
    const waited = !isOneWay && !isNaN(likelyWait(kind, 0));
    if (waited) {
      // A request of the page's own interval is no effect of a timer beside it.
      if (level < BACKGROUND) effects++;
      awaited.set(address, (awaited.get(address) || 0) + 1);
      if (read.get(address) === "unread") read.delete(address);
    } else if (!awaited.get(address)) noteReading(address, "unread");
    return { address, kind, waited, judged: null };
  }
  /** The headers of an answer have come, or none will. @param {Asked} asked_ */
  function endRequest(asked_) {
    const left = (awaited.get(asked_.address) || 0) - 1;
    if (!asked_.waited) return;
    if (left > 0) awaited.set(asked_.address, left);
    else awaited.delete(asked_.address);
  }
  /** More of an answer is to come, or has come. @param {Asked | undefined} asked_ @param {number} step */
  function hold(asked_, step) {
    if (!asked_?.kind) return;
    asked_.judged ??= watchEffect(asked_.kind, asked_.waited);
    asked_.judged.held += step;
    asked_.judged.frames = FRAMES_OF_EFFECT;
    asked_.judged.from = now();
  }

  /** The promise, waited for; whether the page handles its failure is the page's business. @param {Promise<unknown>} promise @param {Asked | undefined} asked_ @param {(value?: any) => void} took */
  function expectPromise(promise, asked_, took) {
    const depth = level + ANSWER;
    if (depth <= DEEPEST_TIMER && asked_?.waited !== false) expected.add(promise);
    const end = (/** @type {unknown} */ value) => {
      took(value);
      arrived(promise, depth);
      return value;
    };
    const fail = (/** @type {unknown} */ error) => {
      end(undefined);
      throw error;
    };
    return apply(then, promise, [end, fail]);
  }
  /** Which request an answer is of. @type {WeakMap<object, Asked>} */
  const asker = new KeptWeakMap();
  const KeptRequest = globalThis.Request;
  const [keepaliveOf, modeOf, urlOfRequest] = ["keepalive", "mode", "url"].map((name) => getterOf(KeptRequest, name));
  wrap(globalThis, "fetch", (native, self, args) => {
    const [input, init] = args;
    const made = input instanceof KeptRequest ? input : null;
    const isOneWay = (init?.keepalive ?? (made && keepaliveOf && apply(keepaliveOf, made, []))) || (init?.mode ?? (made && modeOf && apply(modeOf, made, []))) === "no-cors";
    const asked_ = beginRequest(made && urlOfRequest ? apply(urlOfRequest, made, []) : input, !!isOneWay);
    return expectPromise(apply(native, self, args), asked_, (answer_) => {
      endRequest(asked_);
      hold(asked_, 0);
      if (answer_) asker.set(answer_, asked_);
    });
  });
  const answerOf = globalThis.Response;
  const urlOf = getterOf(answerOf, "url");
  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    wrap(answerOf?.prototype, name, (native, self, args) => {
      const given = apply(native, self, args);
      if (!(self instanceof answerOf)) return given;
      const asked_ = asker.get(self);
      if (asked_) hold(asked_, 1);
      else effects++;
      if (asked_?.waited !== false) noteReading(apply(urlOf, self, []), "whole");
      return expectPromise(given, asked_, () => hold(asked_, -1));
    });
  }
  wrap(answerOf?.prototype, "body", after((answer_) => {
    const url = apply(urlOf, answer_, []);
    // Many look at the body only to see that there is one, or in a copy.
    if (url && read.get(String(url).replace(/[?#].*$/s, "")) !== "whole") noteReading(url, "pieces");
  }), "get");

  const asking = globalThis.XMLHttpRequest;
  const [stateOfAsking, urlOfAsking] = [getterOf(asking, "readyState"), getterOf(asking, "responseURL")];
  const [HEADERS, LOADING, DONE] = [2, 3, 4];
  const urls = new KeptWeakMap();
  wrap(asking?.prototype, "open", first((self, args) => urls.set(self, args[1])));
  wrap(asking?.prototype, "send", (native, self, args) => {
    const asked_ = beginRequest(urls.get(self), false);
    const depth = level + ANSWER;
    const follow = () => {
      const state = apply(stateOfAsking, self, []);
      if (state === HEADERS) hold(asked_, 1);
      if (state === HEADERS && asked_.waited) noteReading(apply(urlOfAsking, self, []), "whole");
      if (state === DONE) at(depth, () => undefined);
    };
    const end = () => {
      apply(remove, self, ["readystatechange", follow]);
      apply(remove, self, ["loadend", end]);
      if (asked_.judged) hold(asked_, -1);
      endRequest(asked_);
      arrived(self, depth);
    };
    apply(add, self, ["readystatechange", follow]);
    apply(add, self, ["loadend", end]);
    if (depth <= DEEPEST_TIMER && asked_.waited) expected.add(self);
    try {
      return apply(native, self, args);
    } catch (error) {
      endRequest(asked_);
      expected.delete(self);
      throw error;
    }
  });
  for (const name of ["response", "responseText"]) {
    wrap(asking?.prototype, name, after((self) => {
      if (apply(stateOfAsking, self, []) === LOADING) noteReading(apply(urlOfAsking, self, []), "pieces");
    }), "get");
  }

  wrapClass("SharedWorker", () => {}, (_made, args) => noteReading(new URL(String(args[0]), document.baseURI), "elsewhere"));

  /** Wait for a connection, and for messages that follow each other: a page or an answer may be made of them. @param {string} name of the class */
  function expectOpening(name) {
    wrapClass(name, () => {}, (connection) => {
      if (level + 1 > DEEPEST_TIMER) return;
      const key = { of: connection };
      let [count, last, since] = [0, 0, 0];
      const end = () => expected.delete(key);
      const next = () => {
        if (now() - last >= NEXT_MESSAGE) return end();
        if (now() - since < LONGEST_AFTER_INPUT) return frame(next);
        streams.add(connection);
        end();
      };
      const take = () => {
        const spokenAt = spoken.get(connection) || 0;
        if (since !== spokenAt) count = 0;
        since = spokenAt;
        last = now();
        const enough = longest === LONGEST_AFTER_INPUT ? SEVERAL_MESSAGES : 1;
        if (++count < enough || last - since > LONGEST_AFTER_INPUT || streams.has(connection)) return;
        patience = 0;
        if (!expected.has(key)) frame(next);
        expected.add(key);
      };
      spoken.set(connection, now());
      expected.add(key);
      apply(add, connection, ["open", () => frame(() => frame(next)), { once: true }]);
      apply(add, connection, ["error", end, { once: true }]);
      apply(add, connection, ["message", take]);
    });
  }
  ["EventSource", "WebSocket"].forEach(expectOpening);

  /** The page does something once it has loaded; pictures that never come must not keep it from being shown. */
  function expectLoad() {
    if (apply(stateOf, document, []) !== "complete") expected.add("load");
  }

  /** How many callbacks are waited for, and until when at most. */
  function pending() {
    let count = due.size;
    let latest = 0;
    const time = now();
    due.forEach((until) => (latest = max(latest, until - time, 1)));
    if (onloadOf && apply(onloadOf, globalThis, [])) expectLoad();
    // Where the machine is busy all takes longer, a look too: one look counts as little as on a free one.
    patience += min(time - impatient, 2 * GLANCE) || 0;
    impatient = NaN;
    const patient = typing ? LONGEST_TYPED : LONGEST_SOCKET;
    if (patience >= patient) giveUp();
    if (!count && expected.size && patience < (asked.size ? patient : LONGEST_ANSWER)) {
      count = expected.size;
      latest = GLANCE;
      impatient = time;
    }
    return `${count} ${latest} ${unanswered + (typing ? 0 : asked.size)}`;
  }

  /** How many callbacks come with the next frame, or at once. */
  function soon() {
    let count = 0;
    const time = now();
    due.forEach((until) => (count += until <= time + 1 ? 1 : 0));
    expected.forEach((key) => (count += typeof key === "string" && key[0] === "r" ? 1 : 0));
    return `${count} 0 0`;
  }

  function begin() {
    judging.forEach(judge);
    if (settled) {
      acted = lastInput > 0;
      due.clear();
      asked.forEach((_answered, socket) => forget(socket));
      expected.clear();
    }
    lastInput = now();
    settled = typing = false;
    patience = unanswered = 0;
    longest = LONGEST_AFTER_INPUT;
    level = spent = 0;
    followChanges();
  }

  /** @param {Event} event */
  function onInput(event) {
    if (!event.isTrusted) return;
    begin();
    inputTarget = apply(targetOf, event, []) || document;
    const type = apply(typeOf, event, []);
    typing = type === "input" || type === "wheel" || (event instanceof KeyboardEvent && event.key.length === 1);
  }

  /** @type {(event: Event) => void} */
  const onLoad = ({ target }) => void ((target === document || target === globalThis) && expected.delete("load"));

  /** @param {Event} event */
  const say = (event) => port && apply(dispatch, port, [event]);
  /** @param {string} type @param {string} [detail] */
  const message = (type, detail) => new CustomEvent(type, /** @type {CustomEventInit} */ ({ __proto__: null, cancelable: true, detail }));
  /** @param {string} type @param {HTMLElement} submitter */
  const sayElement = (type, submitter) => say(new SubmitEvent(type, /** @type {SubmitEventInit} */ ({ __proto__: null, submitter })));

  /** @param {Set<WeakRef<Element>>} refs @param {"element" | "drop" | "base"} kind */
  function sayElements(refs, kind) {
    const targetRanges = /** @type {StaticRange[]} */ ([]);
    refs.forEach((ref) => {
      const element = ref.deref();
      if (!element) return;
      if (apply(rootOf, element, []) instanceof ShadowRoot) {
        if (element instanceof HTMLElement) sayElement(kind, element);
      } else {
        const place = { __proto__: null, startContainer: element, startOffset: 0, endContainer: element, endOffset: 0 };
        targetRanges[targetRanges.length] = new StaticRange(place);
      }
    });
    refs.clear();
    if (targetRanges.length) say(new InputEvent(`${kind}s`, /** @type {InputEventInit} */ ({ __proto__: null, targetRanges })));
  }

  function sayRoots() {
    closedRoots.forEach((ref) => {
      const root = ref.deref();
      const child = root && apply(findIn, root, ["*"]);
      if (root && !(child instanceof HTMLElement)) return;
      closedRoots.delete(ref);
      if (child) sayElement("root", child);
    });
  }

  /** Pass on what elements say of themselves, as the attributes that would say it. */
  function saySayings() {
    saying.refs.forEach((ref) => {
      const internals = ref.deref();
      const element = internals && elementOf.get(internals);
      if (!internals || !(element instanceof HTMLElement)) return;
      saying.known.delete(internals);
      const said = /** @type {Record<string, string>} */ ({});
      for (const [name, get] of sayings) {
        const value = apply(get, internals, []);
        if (typeof value === "string") said[name] = value;
        else if (name === labelling && value) said["aria-label"] ??= [...value].map((label) => label.textContent).join(" ");
      }
      say(message("said", stringify(said)));
      sayElement("saying", element);
    });
    saying.refs.clear();
  }

  /** The page hears of no key that the page script has not let pass; where that does not answer, of none. @param {Event} event */
  function onKey(event) {
    if (!keysHeld || !event.isTrusted) return;
    const type = apply(typeOf, event, []);
    const question = message("key", `${type}:${type === "input" && event instanceof InputEvent ? apply(dataOf, event, []) || "" : ""}`);
    // The page script prevents the default of the question, not of the key, to say yes.
    if (port && !apply(dispatch, port, [question])) return;
    apply(preventDefault, event, []);
    apply(stopImmediatePropagation, event, []);
  }

  /** @param {Event} event */
  function answer(event) {
    switch (apply(detailOf, event, [])) {
      case "input":
        begin();
        return say(message("presses", isPressHeard ? "1" : "0"));
      case "settled":
        settled = true;
        followChanges();
        // The whole wait may have ended first.
        if (patience >= LONGEST_ANSWER) giveUp();
        unanswered = 0;
        patience = min(patience, LONGEST_ANSWER - LAST_ANSWER);
        impatient = NaN;
        return;
      case "waited":
        return void (patience = max(patience, LONGEST_ANSWER - LAST_ANSWER));
      case "hold":
        keysHeld = true;
        isFirst = false;
        apply(dispatch, globalThis, [message(canary)]);
        if (!isFirst) hear(KEYS, onKey);
        return say(message("holding", isFirst ? "first" : ""));
      case "release":
        keysHeld = false;
        return;
      case "readings": {
        const known_ = /** @type {[string, string][]} */ ([]);
        read.forEach((how, url) => (known_[known_.length] = [url, how]));
        return say(message("readings", stringify(known_)));
      }
      case "learnt": {
        const idle = /** @type {[string, number, number][]} */ ([]);
        if (learntMore) learnt.forEach((one, kind) => (idle[idle.length] = [kind, one.idle, one.count]));
        learntMore = false;
        return say(message("learnt", idle.length ? stringify(idle) : ""));
      }
      case "timers":
        return say(message("timers", pending()));
      case "frames":
        return say(message("timers", soon()));
    }
    const detail = apply(detailOf, event, []);
    if (apply(startsWith, detail, ["["])) {
      for (const [kind, idle, count] of parse(detail)) if (!learnt.has(kind)) learnt.set(kind, { idle, count, elements: new KeptWeakSet() });
      return;
    }
    sayRoots();
    saySayings();
    sayElements(listening.refs, "element");
    sayElements(dropping.refs, "drop");
    sayElements(bases.refs, "base");
  }

  /** The page script introduces itself. No script of a page may run in here: it would read the name in window.event. @param {Event} event */
  function meet(event) {
    apply(stopImmediatePropagation, event, []);
    apply(preventDefault, event, []);
    port = apply(submitterOf, event, []);
    if (port) apply(add, port, ["ask", answer]);
  }

  /** Listen at the window, which a popup keeps when its blank first document gives way. @param {string[]} types @param {(event: Event) => void} listener */
  function hear(types, listener) {
    for (let at = 0; at < types.length; at++) apply(add, globalThis, [types[at], listener, { __proto__: null, capture: true, passive: listener === onInput }]);
  }
  const canary = `${channel}:first`;
  function listen() {
    hear([canary], () => (isFirst = true));
    hear([channel], meet);
    hear(["load"], onLoad);
    hear(KEYS, onKey);
    hear(INPUTS, onInput);
  }
  listen();
  // document.open() takes every listener off the document and its window, before the page can add others.
  wrap(Document.prototype, "open", after((self) => void (self === document && listen())));
})
