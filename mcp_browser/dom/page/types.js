/**
 * The page script: reads a document once, as lines in reading order, and answers questions about its elements.
 *
 * Its parts, the files of this folder, are put into one function in the order that `scripts.py` gives. It is
 * evaluated in a world of its own in every frame (or in the page's world where the browser offers no other), and
 * keeps there what lives as long as the document: the elements' ids and what was last reported.
 *
 * This part: the types that the others share.
 */

/** The name of the events by which the hook in the page's own world is asked; "" where there is no hook. @type {string} */
var channel;
/** What the hook had learnt in documents of this origin; "" for nothing. @type {string} */
var learnt;

/**
 * @typedef {object} Port what lines are seen through: the view, or the part of it that something takes which scrolls
 * @property {number} id of the element that scrolls, 0 for the view
 * @property {number} left
 * @property {number} top
 * @property {number} right
 * @property {number} bottom
 * @property {number} far distance from the view of all of it, as of a line
 * @property {Port | null} outer what it is seen through itself, null for the view
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
 */
