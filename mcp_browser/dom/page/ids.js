/** An element's id lives as long as the element; nothing here keeps an element alive. */

const documentKey = Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("");
/** @type {WeakMap<Element, number>} */
const ids = new WeakMap();
/** @type {Map<number, WeakRef<Element>>} */
const references = new Map();
const forgotten = new FinalizationRegistry((/** @type {number} */ id) => references.delete(id));
let lastId = 0;

/** @param {Element} element */
function idOf(element) {
  let id = ids.get(element);
  if (id === undefined) {
    id = ++lastId;
    ids.set(element, id);
  }
  return id;
}

/** The id of an element that can be asked for later. @param {Element} element */
function keep(element) {
  const id = idOf(element);
  if (!references.has(id)) {
    references.set(id, new WeakRef(element));
    forgotten.register(element, id);
  }
  return id;
}

/** @param {number} id @returns {Element | null} */
function byId(id) {
  const reference = references.get(id);
  const element = reference && reference.deref();
  return element && isConnected(element) ? element : null;
}
