/**
 * What the hook in the page's own world says: closed shadow roots, listeners, roles and states that only scripts know,
 * timers. All of it are hints, read strictly: a page that meddles with them makes its own snapshot poorer. And the flat tree.
 */

/** @type {WeakMap<Element, ShadowRoot>} */
const closedRoots = new WeakMap();
let closedSome = false;
/** @type {Set<WeakRef<ShadowRoot>>} */
const rootList = new Set();
/** @type {WeakSet<ShadowRoot>} */
const knownRoots = new WeakSet();
/** What listens for clicks, what takes drops, and roots of frameworks, which listen for what is in them. @type {[Elements, Elements, Elements]} */
const [listening, dropping, bases] = [new WeakSet(), new WeakSet(), new WeakSet()];
let heardListeners = false;
/** What custom elements say of themselves by ElementInternals, as attributes: those that they have count for more. @type {WeakMap<Element, Map<string, string>>} */
const sayings = new WeakMap();
let heardSayings = false;
/** What the hook has said last of what it was asked. */
let said = "";
const LONGEST_SAID = 100_000;
const MOST_TIMERS = 10_000;
const LONGEST_TIMER = 1000;
const READINGS = set("pieces whole elsewhere unread");

/** Elements that may have a closed root that no script has made, and that were not looked at yet. @type {Element[]} */
let hosts = [];
/** @type {WeakSet<Element>} */
const lookedAt = new WeakSet();
const MOST_HOSTS = 16;

/** Note an element that shows nothing of its own, yet may have something in it. @param {Element} element @param {string} tag */
function suspectHost(element, tag) {
  if (hosts.length >= MOST_HOSTS || !(tag.includes("-") || HOSTS.has(tag)) || lookedAt.has(element)) return;
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
/** Take in a closed shadow root. @param {unknown} root */
function adopt(root) {
  if (!(root instanceof ShadowRoot) || closedRoots.has(root.host)) return;
  closedRoots.set(root.host, root);
  closedSome = true;
  meet(root);
}
/** Note the elements of an event, which has one or ranges. @param {WeakSet<Element>} known @returns {(event: any) => void} */
const noting = (known) => (event) => {
  const nodes = event.submitter ? [event.submitter] : event.getTargetRanges().map((/** @type {StaticRange} */ range) => range.startContainer);
  for (const node of nodes) if (isElement(node)) known.add(node);
  heardListeners = true;
};
/** @type {Record<string, (event: any) => void>} */
const answers = {
  root: ({ submitter }) => adopt(submitter && rootOf(submitter)),
  element: noting(listening), elements: noting(listening), drop: noting(dropping), drops: noting(dropping), base: noting(bases), bases: noting(bases),
  said: onSaid, timers: onSaid, presses: onSaid, readings: onSaid, learnt: onSaid,
  saying({ submitter }) {
    const attributes = Object.entries(parsed() ?? {}).filter(([name, value]) => /^(?:role|aria-[a-z]+)$/.test(name) && typeof value === "string");
    if (submitter) sayings.set(submitter, new Map(/** @type {[string, string][]} */ (attributes)));
    heardSayings = true;
  },
  holding: ({ detail }) => void (isFirst = detail === "first"),
  // The hook hears of keys before the page does; no answer is a no.
  key(question) {
    const [type, data] = question.detail.split(/:(.*)/s);
    if (mayPass(type, data)) question.preventDefault();
  },
};

/** @param {CustomEvent} event */
function onSaid({ detail }) {
  said = typeof detail === "string" && detail.length <= LONGEST_SAID ? detail : "";
}
/** What the hook has said as JSON; undefined where it is none. @returns {any} */
function parsed() {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}

/** Where the hook is spoken to. No page can reach it: it is in a closed shadow tree that is not in the document. @type {HTMLElement | null} */
let port = null;
let isHooked = false;

/** Whether no script may run in the document, as in a frame with `sandbox`: then no timer of ours does, and no hook is there. */
const isScriptless = matchMedia("(scripting: none)").matches;

/** Ask the hook in the page's world; it answers before this returns, or is not there: what it has said, or else `none`. @param {string} what @param {string} none */
function ask(what, none = "") {
  said = none;
  if (!channel || isScriptless) return said;
  if (!port) {
    const [host, inner] = ["div", "i"].map((tag) => /** @type {HTMLElement} */ (document.createElementNS("http://www.w3.org/1999/xhtml", tag)));
    port = /** @type {HTMLElement} */ (inner);
    /** @type {HTMLElement} */ (host).attachShadow({ mode: "closed" }).append(port);
    for (const [type, take] of Object.entries(answers)) port.addEventListener(type, take);
  }
  if (!isHooked) isHooked = !_dispatchEvent.call(window, new SubmitEvent(channel, { submitter: port, cancelable: true }));
  if (isHooked && learnt) {
    const before = learnt;
    learnt = "";
    ask(before);
    said = none;
  }
  if (isHooked) port.dispatchEvent(new CustomEvent("ask", { detail: what }));
  return said;
}

/** A number of a hint, within its bounds. @param {string | undefined} text @param {number} most */
const bounded = (text, most) => Math.min(Math.max(Number(text) || 0, 0), most);

/** Timers that the last input has started: how many, and until when; and how many sockets were waited for in vain. */
function pendingTimers() {
  const [count, left, unanswered] = ask("timers").split(" ");
  const counted = (/** @type {string | undefined} */ text) => Math.ceil(bounded(text, MOST_TIMERS));
  return { count: counted(count), left: bounded(left, LONGEST_TIMER), unanswered: counted(unanswered) };
}

/** Whether the next frame runs something that the last input has started; true where that is not known. */
const framesDue = () => parseInt(ask("frames", "1")) > 0;
/** What the hook has learnt anew of which waits changed nothing, for the next document of this origin. */
function learntAnew() {
  const text = ask("learnt");
  return text ? { origin: location.origin, text } : undefined;
}

/** How the page reads the answers of which addresses. @returns {[string, string][]} */
function answersRead() {
  ask("readings");
  const read = parsed();
  const isReading = (/** @type {unknown} */ one) => Array.isArray(one) && typeof one[0] === "string" && READINGS.has(one[1]);
  return Array.isArray(read) ? read.filter(isReading).map(([url, how]) => [url, how]) : [];
}

/** @param {Element} element */
const shadowOf = (element) => openRoot(element) || (closedSome && closedRoots.get(element)) || null;

/** The slot of a closed shadow tree in which a child of its host is shown. @param {Element} child @param {Element} host */
function closedSlot(child, host) {
  const root = closedRoots.get(host);
  const name = attribute(child, "slot") || "";
  return root ? root.querySelector(name ? `slot[name="${CSS.escape(name)}"]` : 'slot:not([name]),slot[name=""]') : null;
}

/** The node that an element stands in as people see it: slot, host or parent. @param {Node} node @returns {Node | null} */
function flatParent(node) {
  const slot = isElement(node) && assignedSlot(node);
  if (slot) return slot;
  const parent = parentNode(node);
  const closed = closedSome && isElement(parent) && isElement(node) && closedSlot(node, parent);
  if (closed) return closed;
  const outer = parent || node;
  return outer instanceof ShadowRoot ? outer.host : parent;
}

/** An element and those around it as they are drawn, the innermost first. @param {Node | null} node @param {number} most @returns {Generator<Element>} */
function* outward(node, most = Infinity) {
  for (; node && most > 0; node = flatParent(node)) {
    if (!isElement(node)) continue;
    most--;
    yield node;
  }
}

/** @param {Node} outer @param {Node | null} inner */
function holds(outer, inner) {
  for (let node = inner; node; node = flatParent(node)) if (node === outer) return true;
  return false;
}

/** The focused element, through shadow roots. @returns {Element | null} */
function deepActive() {
  let element = /** @type {Element | null} */ (_activeElement.call(document));
  for (let inner = element; inner; inner = shadowOf(inner)?.activeElement ?? null) element = inner;
  return element === body() ? null : element;
}
