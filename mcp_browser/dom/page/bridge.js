/** What the hook in the page's own world tells: closed shadow roots, listeners, roles and states that only scripts know, timers. And the flat tree. */

/** @type {WeakMap<Element, ShadowRoot>} */
const closedRoots = new WeakMap();
let closedSome = false;
/** @type {Set<WeakRef<ShadowRoot>>} */
const rootList = new Set();
/** @type {WeakSet<ShadowRoot>} */
const knownRoots = new WeakSet();
/** @type {WeakSet<Element>} */
const listening = new WeakSet();
/** What takes drops. @type {WeakSet<Element>} */
const dropping = new WeakSet();
let heardListeners = false;
/** What custom elements say of themselves by ElementInternals, as attributes: those that they have count for more. @type {WeakMap<Element, Map<string, string>>} */
const sayings = new WeakMap();
let heardSayings = false;
let said = "";
let timers = "";
let readingsHeard = "";

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
/** @param {Event} event */
function onRoot(event) {
  const inner = /** @type {SubmitEvent} */ (event).submitter;
  adopt(inner && rootOf(inner));
}
/** @param {Event} event */
function onElement(event) {
  const element = /** @type {SubmitEvent} */ (event).submitter;
  if (element) listening.add(element);
  heardListeners = true;
}
/** @param {Event} event */
function onElements(event) {
  for (const range of /** @type {InputEvent} */ (event).getTargetRanges()) {
    if (isElement(range.startContainer)) listening.add(/** @type {Element} */ (range.startContainer));
  }
  heardListeners = true;
}
/** @param {Event} event */
function onDrop(event) {
  const element = /** @type {SubmitEvent} */ (event).submitter;
  if (element) dropping.add(element);
  heardListeners = true;
}
/** @param {Event} event */
function onDrops(event) {
  for (const range of /** @type {InputEvent} */ (event).getTargetRanges()) {
    if (isElement(range.startContainer)) dropping.add(/** @type {Element} */ (range.startContainer));
  }
  heardListeners = true;
}
/** @param {Event} event */
function onSaid(event) {
  said = String(/** @type {CustomEvent} */ (event).detail);
}
/** @param {Event} event */
function onSaying(event) {
  const element = /** @type {SubmitEvent} */ (event).submitter;
  if (element) sayings.set(element, new Map(Object.entries(JSON.parse(said))));
  heardSayings = true;
}
/** @param {Event} event */
function onTimers(event) {
  timers = String(/** @type {CustomEvent} */ (event).detail);
}

/** @param {Event} event */
function onReadings(event) {
  readingsHeard = String(/** @type {CustomEvent} */ (event).detail);
}

/** Ask the hook in the page's world; it answers before this returns, or is not there. @param {string} what */
function ask(what) {
  if (!channel) return;
  // Adding a listener again does nothing, and document.open() may have taken them away.
  _addEventListener.call(document, `${channel}:root`, onRoot);
  _addEventListener.call(document, `${channel}:element`, onElement);
  _addEventListener.call(document, `${channel}:elements`, onElements);
  _addEventListener.call(document, `${channel}:drop`, onDrop);
  _addEventListener.call(document, `${channel}:drops`, onDrops);
  _addEventListener.call(document, `${channel}:said`, onSaid);
  _addEventListener.call(document, `${channel}:saying`, onSaying);
  _addEventListener.call(document, `${channel}:timers`, onTimers);
  _addEventListener.call(document, `${channel}:readings`, onReadings);
  _addEventListener.call(document, `${channel}:holding`, onHolding);
  _addEventListener.call(document, `${channel}:key`, onHookKey);
  _dispatchEvent.call(document, new CustomEvent(channel, { detail: what }));
}

/** Timers that the last input has started: how many, and until when; and how many sockets were waited for in vain. */
function pendingTimers() {
  timers = "0 0 0";
  ask("timers");
  const [count, left, unanswered] = timers.split(" ");
  return { count: Number(count), left: Number(left), unanswered: Number(unanswered) };
}

/** Whether the last input has started something that the next frame brings; true where nobody knows. */
function framesDue() {
  timers = "1 0";
  ask("frames");
  return parseInt(timers) > 0;
}

/** How the page reads the answers of which addresses. @returns {[string, "pieces" | "whole" | "elsewhere"][]} */
function answersRead() {
  readingsHeard = "[]";
  ask("readings");
  return JSON.parse(readingsHeard);
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
  if (isElement(node)) {
    const slot = assignedSlot(/** @type {Element} */ (node));
    if (slot) return slot;
  }
  const parent = parentNode(node);
  if (closedSome && isElement(parent) && isElement(node)) {
    const slot = closedSlot(/** @type {Element} */ (node), /** @type {Element} */ (parent));
    if (slot) return slot;
  }
  if (parent) return parent instanceof ShadowRoot ? parent.host : parent;
  return node instanceof ShadowRoot ? node.host : null;
}

/** @param {Node} outer @param {Node | null} inner */
function holds(outer, inner) {
  for (let node = inner; node; node = flatParent(node)) if (node === outer) return true;
  return false;
}
