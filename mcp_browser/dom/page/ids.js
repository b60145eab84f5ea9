/** An element's id lives as long as the element; nothing here keeps an element alive. */

const documentKey = Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("");
/** @type {Map<number, WeakRef<Element>>} */
const references = new Map();
const forgotten = new FinalizationRegistry((/** @type {number} */ id) => void (references.get(id)?.deref() || references.delete(id)));
let lastId = 0;

/** Gives the nodes to which the class below adds its field. */
class Given {
  /** @param {Node} node */
  constructor(node) {
    return node;
  }
}

/**
 * A private field of a node: its id. It is nobody else's to see and lives as long as the node.
 *
 * What the engine makes for this world to stand for a node it throws away soon, and makes anew for the next walk,
 * which costs more than the walk itself; where it has a field of its own it is kept as long as the node.
 */
class Marked extends Given {
  #id = 0;

  /** Mark a node that will be met again. @param {Node} node */
  static mark(node) {
    if (!(#id in node)) new Marked(node);
  }

  /** The id of a node, given to it now where it has none: that of one that is gone, or a new one. @param {Node} node @param {number} gone */
  static id(node, gone = 0) {
    if (!(#id in node)) new Marked(node);
    const marked = /** @type {Marked} */ (/** @type {unknown} */ (node));
    if (marked.#id === 0) marked.#id = gone || ++lastId;
    return marked.#id;
  }
}

/** @param {Element} element */
const idOf = (element) => Marked.id(element);

/** The id of an element that can be asked for later. @param {Element} element */
function keep(element) {
  const id = idOf(element);
  if (!references.has(id)) refer(id, element);
  return id;
}

/** @param {number} id @param {Element} element */
function refer(id, element) {
  references.set(id, new WeakRef(element));
  forgotten.register(element, id);
}

/** @param {number} id @returns {Element | null} */
function byId(id) {
  const element = references.get(id)?.deref();
  return element && isConnected(element) ? element : null;
}

const STALE = { problem: "stale", lasting: true };
/** A method about the element of an id. @template {any[]} A, R @param {(element: Element, ...args: A) => R} method */
const about = (method) => (/** @type {number} */ id, /** @type {A} */ ...args) => {
  const element = byId(id);
  return element ? method(element, ...args) : STALE;
};
