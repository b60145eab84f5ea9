/** What style sheets add or take away: text before and after, cursors, invisible ink. */

/** What is collected: what gets text before or after it or a cursor, may be made invisible, is drawn or gets a hand under the mouse, is shown while the mouse is over something else, is laid out late, may scroll or be fixed to the view, lets the mouse through, and refuses clicks by its cursor. */
const COLLECTED = /** @type {const} */ (["before", "after", "hand", "trap", "hover", "handed", "shown", "lazy", "scroll", "fixed", "through", "barred"]);
/** @typedef {Record<typeof COLLECTED[number], string[]>} Selectors */
/** Those of a tree, for text each joined into one or null; `blind` where some sheet could not be read. @typedef {Omit<Selectors, "before" | "after"> & {before: string | null, after: string | null, blind: boolean}} Added */
/** @type {WeakMap<Node, Added>} */
let addedIn = new WeakMap();
/** @type {WeakMap<CSSStyleSheet, { rules: number, found: Selectors }>} */
const sheets = new WeakMap();
const PSEUDO = /::?(before|after)$/;
const MOST_RULES = 20000;
const SCROLLS = /auto|scroll|overlay|var\(/;
const BARRING = /not-allowed|var\(/;

const noSelectors = () => /** @type {Selectors} */ (/** @type {unknown} */ (Object.fromEntries(COLLECTED.map((kind) => [kind, []]))));

/** @param {Selectors} to @param {Selectors} from */
function collect(to, from) {
  for (const kind of COLLECTED) to[kind].push(...from[kind]);
}

/** The selectors of a style sheet, kept until it has more or fewer rules. @param {CSSStyleSheet} sheet @returns {Selectors | null} */
function addedBy(sheet) {
  /** @type {CSSRuleList | null} */
  let rules = null;
  try {
    rules = sheet.cssRules;
  } catch {
    return null; // A sheet of another origin.
  }
  const known = sheets.get(sheet);
  if (known && known.rules === rules.length) return known.found;
  const found = noSelectors();
  let left = MOST_RULES;
  /** @param {CSSRuleList} list @param {string} outer */
  const enter = (list, outer) => {
    for (const rule of list) {
      if (left-- <= 0) return;
      if (rule instanceof CSSStyleRule) {
        const selector = rule.selectorText;
        const own = outer ? (selector.includes("&") ? selector.replaceAll("&", `:is(${outer})`) : `:is(${outer}) ${selector}`) : selector;
        const { style } = rule;
        for (const one of /:(?:before|after)/.test(selector) && saysSomething(style.content) ? splitSelectors(own) : []) {
          const match = PSEUDO.exec(one);
          if (match) found[/** @type {"before" | "after"} */ (match[1])].push(one.slice(0, match.index) || "*");
        }
        if (style.cursor) found.hand.push(own);
        if (BARRING.test(style.cursor)) found.barred.push(own);
        if (mayHide(style)) found.trap.push(own);
        if (own.includes(":hover")) {
          if (Number(style.opacity) > 0) found.hover.push(own.replaceAll(":hover", ":is(*)"));
          if (showsMore(style)) found.shown.push(...splitSelectors(own).filter((one) => one.includes(":hover") && !/:hover[^\s>+~]*$/.test(one)));
          if (style.cursor === "pointer") found.handed.push(own.replaceAll(":hover", ":is(*)"));
        }
        if (style.contentVisibility === "auto") found.lazy.push(own);
        if (SCROLLS.test(`${style.overflow} ${style.overflowX} ${style.overflowY}`)) found.scroll.push(own);
        if (style.position === "fixed") found.fixed.push(own);
        if (style.pointerEvents === "none" || style.pointerEvents.includes("var(")) found.through.push(own);
        if (rule.cssRules && rule.cssRules.length) enter(rule.cssRules, own);
      } else if (rule instanceof CSSImportRule) {
        const inner = rule.styleSheet && addedBy(rule.styleSheet);
        if (inner) collect(found, inner);
      } else if (/** @type {any} */ (rule).cssRules) enter(/** @type {any} */ (rule).cssRules, outer);
    }
  };
  enter(rules, "");
  sheets.set(sheet, { rules: rules.length, found });
  return found;
}

/** Colours that nobody sees on a page without a ground of its own. */
const WHITISH = /^(?:white|snow|ivory|ghostwhite|floralwhite|mintcream|azure|rgb\((?:25\d|249), (?:25\d|249), (?:25\d|249)\))$/;

/** Whether a rule may make what it applies to invisible, in a way that checkVisibility() does not know. @param {CSSStyleDeclaration} style */
function mayHide(style) {
  if (style.clip || style.clipPath || style.maskImage || style.textIndent || style.contentVisibility === "hidden") return true;
  if ((style.opacity && Number(style.opacity) < LEAST_OPACITY && Number(style.opacity) > 0) || style.filter.includes("opacity(")) return true;
  if (/scale\(0\b(?!\.)/.test(style.transform) || (style.color && (WHITISH.test(style.color) || style.color === style.backgroundColor))) return true;
  const tiny = /^(?:0|1px|0px|var\(.*)$/;
  if (tiny.test(style.width) || tiny.test(style.height) || tiny.test(style.maxHeight)) return true;
  const faint = /transparent|,\s*0(?:\.0\d*)?\)|\/\s*0%?\)|var\(/;
  return faint.test(style.color) || faint.test(style.getPropertyValue("-webkit-text-fill-color"));
}

/** Whether a rule may show what other rules hide. @param {CSSStyleDeclaration} style */
const showsMore = (style) => (style.display && style.display !== "none") || style.visibility === "visible" || Number(style.opacity) > 0 || style.maxHeight || style.height;

/** Whether the value of `content` may show letters or figures. @param {string} content */
const saysSomething = (content) => /attr\(|counter|var\(|quote/.test(content) || /[\p{L}\p{N}]/u.test(written(content));

/** Split at commas that stand in no bracket. @param {string} selectors */
function splitSelectors(selectors) {
  const list = [""];
  let deep = 0;
  for (const part of selectors.split(/([([\])]|,)/)) {
    if (part === "(" || part === "[") deep++;
    else if (part === ")" || part === "]") deep--;
    if (part === "," && !deep) list.push("");
    else list[list.length - 1] += part;
  }
  return list.map((one) => one.trim());
}

const CSS_ESCAPES = /\\(?:([\da-f]{1,6}) ?|(.))/gi;

/** What a computed `content` reads as: the alternative text where it gives one. @param {string} content */
function written(content) {
  const parts = content.split(/\/(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  let text = "";
  for (const [, inner] of /** @type {string} */ (parts[parts.length - 1]).matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
    text += /** @type {string} */ (inner).replace(CSS_ESCAPES, (_, code, sign) => (code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : sign));
  }
  return visible(text);
}

/** @param {Node} root @returns {CSSStyleSheet[]} */
function sheetsOf(root) {
  if (root === document) return [..._styleSheets.call(document), ..._adoptedStyleSheets.call(document)];
  return root instanceof ShadowRoot ? [...root.styleSheets, ...root.adoptedStyleSheets] : [];
}

/** @param {Node} root */
function addedTo(root) {
  const known = addedIn.get(root);
  if (known) return known;
  const all = noSelectors();
  let blind = false;
  for (const sheet of sheetsOf(root)) {
    if (sheet.disabled) continue;
    const own = addedBy(sheet);
    if (own) collect(all, own);
    else blind = true;
  }
  const added = { ...all, before: working(all.before), after: working(all.after), blind };
  addedIn.set(root, added);
  return added;
}

/** One selector for all of them that the engine understands. @param {string[]} selectors */
const working = (selectors) => (selectors.length ? `:is(${selectors.join(",")})` : null);
/** The elements of the document that a selector matches. @param {string | null} selector @returns {WeakSet<Element>} */
const matching = (selector) => new WeakSet(selector === null ? [] : queryAll(document, selector));

/** The elements of the document that get text, found at once for the reading that goes on. @type {WeakMap<Added, Record<"before" | "after", WeakSet<Element>>>} */
const marked = new WeakMap();

/** Whether some rule may give an element text. @param {Element} element @param {"before" | "after"} where */
function isAddedTo(element, where) {
  const added = addedTo(treeNow || rootOf(element));
  const selector = added[where];
  if (selector === null) return false;
  if (!treeNow) return matches(element, selector);
  let both = marked.get(added);
  if (!both) {
    both = { before: matching(added.before), after: matching(added.after) };
    marked.set(added, both);
  }
  return both[where].has(element);
}

/** @param {Element} element @param {"before" | "after"} where @returns {string} */
function addedText(element, where) {
  if (!isAddedTo(element, where)) return "";
  const { content, display, visibility, position, fontFamily } = styleOf(element, `::${where}`);
  const text = display === "none" || visibility !== "visible" ? "" : written(content);
  // A letter or word by which the font of icons draws a sign.
  const outer = /^[a-z]$/i.test(text) && ICONS_CALLED.test(attribute(element, "class") || "") && !matches(element, CONTROLS) ? flatParent(element) : null;
  if ((isElement(outer) && styleOf(outer).fontFamily !== fontFamily) || (ONE_WORD.test(text) && ICONS_CALLED.test(fontFamily))) return "";
  return text && position === "absolute" ? ` ${text} ` : text;
}

/** @param {Element} element @param {string} text */
function around(element, text) {
  const { before, after } = addedTo(treeNow || rootOf(element));
  return before === null && after === null ? text : addedText(element, "before") + text + addedText(element, "after");
}
