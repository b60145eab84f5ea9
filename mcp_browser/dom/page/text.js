/** Text as it is shown: on one line, without what cannot be seen, cut where it is long. */

const LONGEST_NAME = 160;
const LONGEST_TEXT = 600;
const LONGEST_VALUE = 200;
const LONGEST_READ = 20000;
/** As in `mcp_browser/text.py`: what Unicode ignores, controls, tags, private use and what is no character. Outside of the basic plane by half characters, since a search by whole ones is slower. */
const UNTIDY = /[^\S ]| {2}|^ | $|[\u0000-\u001F\u007F-\u009F\uE000-\uF8FF\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFDD0-\uFDEF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\uFFFE\uFFFF\uD82F\uD834\uD83F\uD87F\uD8BF\uD8FF\uD93F\uD97F\uD9BF\uD9FF\uDA3F\uDA7F\uDABF\uDAFF\uDB3F\uDB40-\uDB43\uDB7F-\uDBFF]/;
const INVISIBLE = /[\u0000-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\uE002-\uF8FF\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFDD0-\uFDEF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\uFFFE\uFFFF]|\uD82F[\uDCA0-\uDCA3]|\uD834[\uDD73-\uDD7A]|[\uD83F\uD87F\uD8BF\uD8FF\uD93F\uD97F\uD9BF\uD9FF\uDA3F\uDA7F\uDABF\uDAFF\uDB3F\uDB7F][\uDFFE\uDFFF]|[\uDB40-\uDB43\uDB80-\uDBFF][\uDC00-\uDFFF]/g;
/** The characters that references are made of, in a text of the page. */
const OUR_SIGNS = /[\uE000\uE001]/g;

/** A text of the page without what cannot be seen. @param {string} text */
const visible = (text) => text.replace(INVISIBLE, "").replace(OUR_SIGNS, "");

/** Text on one line: white space folded, what cannot be seen taken out, cut where it is huge. @param {string} text @param {boolean} referring whether it holds references of ours */
function tidy(text, referring = false) {
  if (text.length > LONGEST_READ) text = text.slice(0, LONGEST_READ);
  if (!UNTIDY.test(text)) return text;
  text = text.replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
  return referring ? text : text.replace(OUR_SIGNS, "");
}

/** A range around all that is in an element. @param {Element} element */
function contentsOf(element) {
  const range = /** @type {Range} */ (_createRange.call(document));
  range.selectNodeContents(element);
  return range;
}

const ICONS_CALLED = /^i |icon|symbol|glyph/i;
const ONE_WORD = /^\s*[a-z][a-z\d_]{2,}\s*$/;

/** Whether a word is drawn as one sign, by the font of an icon: it is no wider than high. @param {Element} element @param {string} text */
function isLigature(element, text) {
  if (!ONE_WORD.test(text)) return false;
  const maybe = text.includes("_") || attribute(element, "translate") === "no" || ICONS_CALLED.test(`${localName(element)} ${attribute(element, "class") || ""}`);
  if (!maybe) return false;
  const outer = flatParent(element);
  const { fontFamily, fontSize } = styleOf(element);
  return contentsOf(element).getBoundingClientRect().width <= parseFloat(fontSize) * 1.3 && isElement(outer) && styleOf(outer).fontFamily !== fontFamily;
}

/** The text of an element without that of the elements in it. @param {Element} element */
function ownText(element) {
  let text = "";
  for (let node = firstChild(element); node; node = nextSibling(node)) if (nodeType(node) === 3) text += data(/** @type {Text} */ (node));
  return text;
}

/** @param {string} text @param {number} limit */
function cut(text, limit) {
  if (text.length <= limit) return text;
  let end = limit - 1;
  const code = text.charCodeAt(end - 1);
  if (code >= 0xd800 && code < 0xdc00) end--;
  return `${text.slice(0, end).trimEnd()}…`;
}

/** @param {string} text */
function isBlank(text) {
  const first = text.charCodeAt(0);
  // Most texts begin with a letter or, between tags, are nothing but white space.
  return !(first > 32 && first < 0x7f) && text.trim() === "";
}

const WORDS = /[\p{L}\p{N}]/u;
const SEPARATOR = /^[\s/|›»«‹·•,;()[\]:]{1,3}$/;
const WORDLESS = /^[^\p{L}\p{N}]{0,3}$/u;

/** Characters that stand for the index of an element until it is known. @param {number} id */
const reference = (id) => `\uE000${id}\uE001`;
const REFERENCES = /\uE000\d+\uE001/g;
const LAST_REFERENCES = /(?:\s*\uE000\d+\uE001)+[\s/|›»·•,;]*$/;

/** What separates cells in a row's line, and what looks like an index. */
const CELL_SIGNS = /\||\[(?=\d+\])/g;

/** @param {string} value */
const quoted = (value) => `"${visible(value).replace(/[\\"]/g, "\\$&").replace(/\r\n?|\n/g, "\\n").replace(/[\t\u2028\u2029\u0085\v\f]/g, " ")}"`;
