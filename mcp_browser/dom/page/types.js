/**
 * The page script: reads a document once, as lines in reading order, and answers questions about its elements.
 *
 * Its parts, in the order that `scripts.py` gives, are put into one function, which is evaluated in a world of its own in every frame
 * and keeps there what lives as long as the document. This part: the types that the others share.
 */

/** The name of the events by which the hook in the page's own world is asked; "" where there is no hook. @type {string} */
var channel;
/** What the hook had learnt in documents of this origin; "" for nothing. @type {string} */
var learnt;

/**
 * What lines are seen through: the view, or the part that something takes which scrolls; `id` of that element, 0 for the
 * view, `far` the distance from the view of all of it, `outer` what it is seen through itself.
 * @typedef {{id: number, left: number, top: number, right: number, bottom: number, far: number, outer: Port | null}} Port
 */

/**
 * @typedef {"interactive" | "text" | "heading" | "region" | "row" | "image" | "fold"} Kind
 *
 * @typedef {object} Line one line of the snapshot
 * @property {Kind} kind
 * @property {number} depth
 * @property {number} id the element's id in this document; for a text, of the element that holds its beginning
 * @property {string} role
 * @property {string} name
 * @property {string[]} states
 * @property {string[]} marks states that pass by (focused, covered): shown, but no change
 * @property {number} far distance from the view, in pixels: negative above, 0 in it
 * @property {Port} port what it is seen through
 * @property {Element | null} node only while a call is being answered
 * @property {Line[] | null} parts of a row: the controls and cells that its name refers to, shown within it
 * @property {string} [place] of a row to which others may be joined: what holds it, and where
 * @property {string} [entry] what the entry of a list says that it stands in
 * @property {(Element | null)[] | null} cells of a row, in the order of its text, none where one reaches further; only while a call is being answered
 *
 * @typedef {[Kind, number, number, string, string, string[], number, number]
 *   | [Kind, number, number, string, string, string[], number, number, Array<unknown>]} WireLine
 *   kind, depth, id, role, name, states, is new, far, and of a row with parts these, as lines
 *
 * @typedef {{problem: string, [detail: string]: unknown}} Problem
 * @typedef {WeakSet<Element>} Elements
 */
