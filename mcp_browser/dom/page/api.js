/** The methods that can be called from outside. */

/** What has come to a name that `listenFor` was given: the number of each event and its element. @type {[number, Element][]} */
let heardEvents = [];

/** @type {Record<string, (...args: any[]) => unknown>} */
const methods = {
  observe, settle, isAwaiting, ready, pressed, framePoint: about(framePoint), vitals, pdf, html, covers, sent, whose,
  targetsAt, targetsOf: about(targetsOf), targetsOfKeys, keyPlaceOf: about(keyPlaceOf), holdKeys, holdOthers, hasCome, releaseKeys, putText, useClipboard,
  find, nearest, scrollToText, partlyDrawn, scrollRows, record: about(record), locate, placesOf, recordPerson, chooseNext, scroll: scrollBox, scrolledPart,
  async settleAndObserve(/** @type {number} */ limit, /** @type {Wish} */ wish) {
    const state = await settle(limit, wish.came);
    return { state, ...observe(wish), learnt: learntAnew() };
  },
  answersRead: () => ({ doc: documentKey, answers: answersRead(), frames: frameElements() }),
  secretValues: () => ({ doc: documentKey, values: secretFields().map((field) => field.value), frames: frameElements() }),
  /** What axe-core finds wrong with an element, or the document, 0. @param {number} id @param {string[]} tags of the rules @param {number} most elements of a rule */
  async auditAccessibility(id, tags, most) {
    const root = id ? byId(id) : document;
    if (!root) return STALE;
    const axe = /** @type {any} */ (globalThis).axe;
    const options = { runOnly: { type: "tag", values: tags }, iframes: false, elementRef: true };
    const results = await axe.run(root, { ...options, resultTypes: ["violations", "incomplete"] });
    const described = (/** @type {any} */ { id: rule, impact, help, helpUrl: url, tags, nodes }) => {
      const first = nodes.slice(0, most).map((/** @type {any} */ { element, any, all, none }) => ({
        node: element ? wire(describe(element), false) : null,
        why: [...any, ...all, ...none].map((check) => check.message),
      }));
      return { rule, impact, help, url, tags, count: nodes.length, nodes: first };
    };
    const found = { violations: results.violations.map(described), unsure: results.incomplete.map(described) };
    return { doc: documentKey, frames: id ? [] : frameElements(), ...found, passed: results.passes.length };
  },
  call: about(async (element, /** @type {string} */ name, /** @type {unknown[]} */ args) => ({ value: (await ownOf(helpers, name)(element, ...args)) ?? null })),
  describe: about((element) => ({ node: wire(describe(element), false) })),
  /** A part of the page as lines, or all of it, 0. */
  part(/** @type {number} */ id, /** @type {number} */ budget, /** @type {boolean} */ asFolded) {
    const element = id === 0 ? body() || rootElement() : byId(id);
    if (!element) return STALE;
    const lines = read(element);
    // A field that another draws shows nothing itself.
    if (!lines.length) lines.push(describe(element));
    markCovered(lines);
    const folding = asFolded ? fold(lines, groupsRead, element, null) : null;
    for (const line of [...lines, ...(folding?.folds ?? []).map(({ line }) => line)]) line.far = 0;
    release(lines);
    return { ...pageFacts(lines), number: 0, ...snapshotOf(lines, folding, null, budget) };
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
    return ownOf(methods, "stands")();
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
      if (isInView(box) && box.width > 0 && box.height > 0) boxes.push([id, ...sidesOfBox(box)]);
    }
    return { doc: documentKey, boxes };
  },
  /** Run a method about an element, if this is still its document. */
  ofDocument(/** @type {string} */ document_, /** @type {string} */ method, /** @type {unknown[]} */ args) {
    return document_ === documentKey ? ownOf(methods, method)(...args) : STALE;
  },
};

/** A function of a table, by its name. @param {Record<string, (...args: any[]) => unknown>} table @param {string} name */
function ownOf(table, name) {
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!found) throw new TypeError(`the page script has no method ${name}`);
  return found;
}

const api = {
  /** @param {string} method @param {unknown[]} args @returns {string | Promise<string>} */
  run(method, args) {
    typed = traced = treeNow = null;
    const result = ownOf(methods, method)(...args);
    return result instanceof Promise ? result.then(encode) : encode(result);
  },
  /** @param {number} id */
  element: (id) => byId(id),
  /** Take in a closed root that no hook has reported. */
  adopt,
};
