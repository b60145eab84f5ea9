/** The methods that can be called from outside. */

/** What has come to a name that `listenFor` was given: the number of each event and its element. @type {[number, Element][]} */
let heardEvents = [];

/** @type {Record<string, (...args: any[]) => unknown>} */
const methods = {
  observe, settle, isAwaiting, ready, pressed, framePoint, vitals, pdf, html, covers, sent, whose,
  targetsAt, targetsOf, targetsOfKeys, keyPlaceOf, holdKeys, holdOthers, hasCome, releaseKeys, putText, useClipboard,
  find, nearest, scrollToText, partlyDrawn, scrollRows, record, locate, placesOf, recordPerson, chooseNext, scroll: scrollBox, scrolledPart,
  async settleAndObserve(/** @type {number} */ limit, /** @type {Wish} */ wish) {
    const state = await settle(limit, wish.came);
    return { state, ...observe(wish), learnt: learntAnew() };
  },
  /** How the answers of which addresses are read. */
  answersRead() {
    return { doc: documentKey, answers: answersRead(), frames: frameElements() };
  },
  /** What the fields hold whose values nobody is to see. */
  secretValues() {
    return { doc: documentKey, values: secretFields().map((field) => field.value), frames: frameElements() };
  },
  /**
   * What axe-core, which stands beside this script, finds wrong with a part of the document, or with all of it.
   * @param {number} id the element, 0 for the document @param {string[]} tags of the rules @param {number} most elements of a rule
   */
  async auditAccessibility(id, tags, most) {
    const root = id ? byId(id) : document;
    if (!root) return { problem: "stale", lasting: true };
    const axe = /** @type {any} */ (globalThis).axe;
    const options = { runOnly: { type: "tag", values: tags }, iframes: false, elementRef: true };
    const results = await axe.run(root, { ...options, resultTypes: ["violations", "incomplete"] });
    const described = (/** @type {any} */ rule) => ({
      rule: rule.id,
      impact: rule.impact,
      help: rule.help,
      url: rule.helpUrl,
      tags: rule.tags,
      count: rule.nodes.length,
      nodes: rule.nodes.slice(0, most).map((/** @type {any} */ node) => ({
        node: node.element ? wire(describe(node.element), false) : null,
        why: [...node.any, ...node.all, ...node.none].map((check) => check.message),
      })),
    });
    const found = { violations: results.violations.map(described), unsure: results.incomplete.map(described) };
    return { doc: documentKey, frames: id ? [] : frameElements(), ...found, passed: results.passes.length };
  },
  async call(/** @type {number} */ id, /** @type {string} */ name, /** @type {unknown[]} */ args) {
    const element = byId(id);
    if (!element) return { problem: "stale", lasting: true };
    const helper = Object.hasOwn(helpers, name) ? helpers[name] : undefined;
    if (!helper) throw new TypeError(`the page script has no helper ${name}`);
    return { value: (await helper(element, ...args)) ?? null };
  },
  describe(/** @type {number} */ id) {
    const element = byId(id);
    return element ? { node: wire(describe(element), false) } : { problem: "stale", lasting: true };
  },
  /** A part of the page as lines, or all of it, 0. */
  part(/** @type {number} */ id, /** @type {number} */ budget, /** @type {boolean} */ asFolded) {
    const element = id === 0 ? body() || rootElement() : byId(id);
    if (!element) return { problem: "stale", lasting: true };
    const lines = read(element);
    // A field that another draws shows nothing itself.
    if (!lines.length) lines.push(describe(element));
    markCovered(lines);
    const folding = asFolded ? fold(lines, groupsRead, element, null) : null;
    for (const line of lines) line.far = 0;
    if (folding) for (const { line } of folding.folds) line.far = 0;
    release(lines);
    return { doc: documentKey, number: 0, url: location.href, title: tidy(_title.call(document) || ""), view: view(), frames: framesIn(lines), count: lines.length, ...snapshotOf(lines, folding, null, budget) };
  },
  /** What is at a point of the view: the control there, or else the innermost element; whether it is a frame. */
  atPoint(/** @type {number} */ x, /** @type {number} */ y) {
    const hit = at(x, y);
    beforeInput();
    if (!hit) return { doc: documentKey, node: null };
    const frame = isFrame(hit);
    const control = frame ? null : controlAround(hit);
    return { doc: documentKey, node: wire(describe(control || hit), false), frame, actable: !!control };
  },
  /** The element that has the keyboard; whether it is a frame. */
  focused() {
    const element = deepActive();
    return { doc: documentKey, node: element && wire(describe(element), false), frame: isFrame(element) };
  },
  window: () => ({ width: innerWidth, height: innerHeight, scale: devicePixelRatio, visible: !_hidden.call(document) }),
  /** Note which elements events of this name come to, each with a number of its own. */
  listenFor(/** @type {string} */ name, /** @type {number} */ count) {
    heardEvents = [];
    for (let number = 0; number < count; number++) {
      const take = (/** @type {Event} */ event) => {
        heardEvents.push([number, /** @type {Element} */ (event.composedPath()[0])]);
        event.stopImmediatePropagation();
      };
      _addEventListener.call(window, name + number, take, { once: true, capture: true });
    }
    // Only in frames that are shown.
    return methodOf("stands")();
  },
  heard() {
    const found = heardEvents.map(([number, element]) => [number, wire(describe(element), false)]);
    heardEvents = [];
    return { doc: documentKey, found };
  },
  doc: () => documentKey,
  framesShown: () => ({ doc: documentKey, shown: frameElements().map(([id = 0]) => id).filter((id) => boxOf(/** @type {Element} */ (byId(id))).width > 1) }),
  stands() {
    const lines = read(null);
    const frames = framesIn(lines);
    release(lines);
    return { doc: documentKey, frames };
  },
  /** The boxes of what is in the view and can be acted on: id, left, top, width, height. */
  boxes() {
    const boxes = [];
    for (const [id, line] of reportedById()) {
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
    return document_ === documentKey ? methodOf(method)(...args) : { problem: "stale", lasting: true };
  },
};

/** @param {string} name */
function methodOf(name) {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) throw new TypeError(`the page script has no method ${name}`);
  return method;
}

const api = {
  /** @param {string} method @param {unknown[]} args @returns {string | Promise<string>} */
  run(method, args) {
    typed = traced = treeNow = null;
    const result = methodOf(method)(...args);
    return result instanceof Promise ? result.then(encode) : encode(result);
  },
  /** @param {number} id */
  element: (id) => byId(id),
  /** Take in a closed root that no hook has reported. */
  adopt,
};
