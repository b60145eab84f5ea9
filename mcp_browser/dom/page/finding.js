/** Searching all lines. */

/** @typedef {{text?: string | null, pattern?: string | null, role?: string | null, name?: string | null}} Query */
/** @param {Query} wanted @param {number} limit @param {number} [within] the element to search, 0 for the page: it is then said whether what is found is covered */
function find(wanted, limit, within) {
  const top = within ? byId(within) : null;
  if (within && !top) return STALE;
  const [pattern, fault] = wanted.pattern ? patternOf(wanted.pattern) : [];
  if (fault !== undefined) return { problem: "pattern", message: fault, lasting: true };
  const [text, name, role] = /** @type {[string, string, string]} */ ([wanted.text, wanted.name, wanted.role].map((said) => tidy(said || "").toLowerCase()));
  const fits = (/** @type {string} */ shown, /** @type {string} */ as) =>
    (!text || `${shown} ${as}`.toLowerCase().includes(text)) && (!pattern || pattern.test(shown) || pattern.test(as));
  // Cells, what changes their size, and what is in an editor's text have lines in a thorough reading alone.
  const cells = CELLS.has(role) || role === "row" || (role === "text" && !!(text || name || pattern)) || GRIPS.test(`${role} ${text} ${name}`);
  const lines = read(top, cells);
  const seen = cells || top ? null : { lines, groups: groupsRead };
  const sought = role && editorRead && seen ? read(null, true) : lines;
  /** Those that say all of it, those that begin with it, the others. @type {[Found[], Found[], Found[]]} */
  const ranked = [[], [], []];
  let total = 0;
  /** @type {Line | null} */
  let row = null;
  for (const line of withParts(sought)) {
    if (line.cells) row = line;
    if (role && !isOfRole(line, role)) continue;
    const shown = saidBy(role === "row" && line.cells ? { ...line, name: withNames(line, line.parts || []) } : line);
    if (name && !shown.toLowerCase().includes(name) && !line.states.some((state) => state.toLowerCase() === `hint=${quoted(name)}`)) continue;
    if (!fits(shown, line.role ? `${line.role} "${shown}" ${line.states.join(" ")} ${(line.node && matches(line.node, ":placeholder-shown") && attribute(line.node, "placeholder")) || ""}` : "")) continue;
    total++;
    const isInRow = !!row && (row.parts?.includes(line) || (!!line.node && row.cells?.includes(line.node)));
    if (line.node) ranked[rankOf(shown.toLowerCase(), text || name)].push({ line: line.kind === "text" ? partOfRun(line, text) : line, row: isInRow ? row : null });
    const inner = text && line.node && !role ? placeIn(line.node, text) : null;
    if (inner && total++) ranked[2].push({ line: textLine(inner, line.far), row: null });
  }
  const listed = new Set(ranked.flat().map(({ line }) => line.node));
  const mayFit = (/** @type {string} */ shown, /** @type {string} */ as) => (!name || shown.toLowerCase().includes(name)) && fits(shown, as);
  for (const element of !role || role === "option" ? openOptions(top, mayFit) : partsOfRole(role, top)) {
    if (listed.has(element)) continue;
    const line = describePart(element, role || "option");
    if (!mayFit(line.name, `${line.role} "${line.name}"`)) continue;
    total++;
    ranked[rankOf(line.name.toLowerCase(), text || name)].push({ line, row: null });
  }
  const found = ranked.flat().slice(0, limit);
  const roles = role && !total ? new Set([...withParts(sought).map((line) => line.role), ...[...TAGS_OF_ROLE.keys()].filter((one) => !partsOfRole(one, top).next().done)]) : [];
  for (const one of found) {
    keep(/** @type {Element} */ (one.line.node));
    if (one.line.cells) one.line = withCells(one.line, (cell) => fits(cell, ""));
  }
  distinguish(found);
  if (within !== undefined) markCovered(found.map(({ line }) => line));
  const wired = found.map(({ line }) => wire({ ...line, depth: 0 }, false));
  if (sought !== lines || !seen) release(sought);
  searched = seen;
  return { doc: documentKey, found: wired, total, roles: [...roles].filter(Boolean), frames: framesIn(lines) };
}

/** A regular expression, by the rules of Unicode or else without them; or what is wrong with it. @param {string} pattern @returns {[RegExp | null, string?]} */
function patternOf(pattern) {
  let fault = "";
  for (const flags of ["iu", "i"]) {
    try {
      return [new RegExp(pattern, flags)];
    } catch (error) {
      fault ||= String(error instanceof Error ? error.message : error);
    }
  }
  return [null, fault];
}

const PLAIN_CELL = /^(?:grid)?cell$/;
/** Whether a line has a role; rows do not show of which kind their cells are. @param {Line} line @param {string} role */
const isOfRole = (line, role) => line.role === role || (role === "image" && line.role === "img") || (role === "text" && (line.kind === "text" || CELLS.has(line.role))) || (PLAIN_CELL.test(role) && PLAIN_CELL.test(line.role));

const TAGS_OF_ROLE = new Map(Object.entries({ main: "main", banner: "header", contentinfo: "footer", form: "form", navigation: "nav", article: "article", list: "ul,ol", listitem: "li" }));
/** What a header or footer in it belongs to, rather than to the page. */
const SECTIONS = "article,aside,main,nav,section";

/** @param {Element | null} top where to look, or everywhere @param {string} selector */
function* allIn(top, selector) {
  for (const root of top ? [top] : allRoots()) yield* queryAll(root, selector);
}

/** Parts of the page that are seen and have a role; they may have no line. @param {string} role @param {Element | null} top */
function* partsOfRole(role, top) {
  if (ROLE_KINDS.get(role) !== "region") return;
  const tags = TAGS_OF_ROLE.get(role);
  for (const element of allIn(top, `[role~="${role}" i]${tags ? `,:is(${tags}):not([role])` : ""}`)) {
    const isOfPage = !/header|footer/.test(localName(element)) || attribute(element, "role") !== null || !closest(element, SECTIONS);
    if (isOfPage && isSeen(element)) yield element;
  }
}

/** Options of native lists that are always open; thousands: what cannot fit by its text is not asked for its style. @param {Element | null} top @param {(shown: string, as: string) => boolean} mayFit */
function* openOptions(top, mayFit) {
  for (const option of /** @type {Iterable<HTMLOptionElement>} */ (allIn(top, ":is(select[multiple],select[size]) option"))) {
    const own = tidy(textContent(option));
    const isCalled = !!option.firstElementChild || matches(option, "[aria-label],[aria-labelledby],[title]");
    if ((isCalled || mayFit(own, `option "${own}"`) || mayFit(option.label, "")) && isInOpenList(option) && isSeen(option)) yield option;
  }
}

/** The line of a part of the page, called by its heading. @param {Element} element @param {string} role for one that has none but its tag */
function describePart(element, role) {
  const line = describe(element);
  const title = query(element, "h1,h2,h3,h4,[role=heading]");
  return line.role !== localName(element) ? line : { ...line, role, name: title ? cut(tidy(textContent(title)), LONGEST_NAME) : line.name };
}

/** @param {Element} node @param {number} far */
const textLine = (node, far) => newLine("text", node, keep(node), "", cut(tidy(textContent(node)), LONGEST_TEXT), NO_STATES, far);

/** Of a text that is spread over several elements, the first one with what is sought in it. @param {Line} line @param {string} text @returns {Line} */
function partOfRun(line, text) {
  let node = line.node;
  while (node && !tidy(textContent(node)).toLowerCase().includes(text)) node = node.nextElementSibling;
  return node && node !== line.node ? textLine(node, line.far) : line;
}

/** What in an editor holds a text and nothing else with it, so that the caret can be put there. @param {Element} editor @param {string} text */
const placeIn = (editor, text) => {
  if (valueKind(editor) !== "rich") return null;
  const holding = Array.from(queryAll(editor, "*")).filter((one) => isSeen(one) && tidy(textContent(one)).toLowerCase().includes(text));
  return holding.find((one) => !holding.some((other) => other !== one && _contains.call(one, other))) || null;
};

/** @param {string} shown @param {string} sought @returns {0 | 1 | 2} */
const rankOf = (shown, sought) => (shown === sought || !sought ? 0 : shown.startsWith(sought) ? 1 : 2);

const GRIPS = /separator|clickable|resiz|handle/;

/** @typedef {{line: Line, row: Line | null}} Found a line, and the row that it stands in */

/** What a line says beside the elements in it. @param {string} name */
const plain = (name) => name.replace(REFERENCES, "").replace(CELL_ESCAPES, "$1");
/** The same with what there was no room for. @param {Line} line */
function saidBy({ name, role, states, node }) {
  const said = plain(name);
  if (!node || !(name.includes("…") || states.some((state) => state.endsWith('…"')))) return said;
  const { value, secret } = valueOf(node);
  return `${said} ${nameOf(node, localName(node), role)} ${secret ? "" : tidy(value)} ${tidy(contentOf(node, node, 0, false))}`;
}
const CELL_ESCAPES = /\\([|[])/g;
const LONGEST_ROW = 60;

/** What a row says, with the names of some elements in it. @param {Line} row @param {Line[]} parts */
function withNames(row, parts) {
  const names = new Map(parts.map((part) => [reference(part.id), part.name]));
  return row.name.replace(REFERENCES, (sign) => names.get(sign) || "");
}

/** Say of each of several look-alikes in a table what its row says. @param {Found[]} found */
function distinguish(found) {
  const called = (/** @type {Line} */ line) => `${line.role} ${line.name}`;
  for (const one of found) {
    const twins = one.row ? found.filter(({ line }) => called(line) === called(one.line)) : [];
    if (!one.row || twins.length < 2) continue;
    const cell = twins.filter(({ row }) => row === one.row).length > 1 && one.row.cells?.find((node) => node && one.line.node && _contains.call(node, one.line.node));
    let text = cell ? tidy(contentOf(cell, cell, 0, false)) : "";
    if (!text) {
      const naming = (one.row.parts || []).filter((part) => part !== one.line && (part.role === "link" || CELLS.has(part.role)));
      text = withNames(one.row, naming).split(" | ").map((cell) => tidy(plain(cell))).filter((cell) => cell && cell !== ABOVE).join(" | ");
    }
    if (text) one.line = { ...one.line, states: [...one.line.states, `in=${quoted(cut(text, LONGEST_ROW))}`] };
  }
}

/** A row with an index for each of its cells that has what is sought. @param {Line} row @param {(text: string) => boolean} sought @returns {Line} */
function withCells(row, sought) {
  const texts = row.name.split(" | ");
  const parts = [...(row.parts || [])];
  const nodes = row.cells || [];
  const from = parts.length;
  for (let i = 0; i < texts.length && texts.length <= nodes.length; i++) {
    const node = nodes[i];
    const text = /** @type {string} */ (texts[i]);
    const shown = tidy(plain(text));
    if (!node || !shown || !sought(shown) || text.startsWith(reference(idOf(node)))) continue;
    const whole = !text.includes("\uE000");
    parts.push(newLine("interactive", node, keep(node), "cell", cut(shown, LONGEST_TEXT), NO_STATES, row.far));
    texts[i] = [reference(idOf(node)), ...(whole ? [] : text.match(REFERENCES) || [])].join(" ");
  }
  return parts.length > from ? { ...row, name: texts.join(" | "), parts } : row;
}

/** What the row and the dialog say that an element stands in. @param {Element} element */
function rowAndDialog(element) {
  const row = closest(element, "li,dd,article,tr,[role=row],[role=listitem],[role=treeitem]");
  const dialog = closest(element, "dialog,[role=dialog],[role=alertdialog]");
  const title = dialog && (attribute(dialog, "aria-label") || tidy(textContent(query(dialog, "h1,h2,h3,h4,[role=heading]") || dialog)));
  return `${row ? tidy(textContent(row)) : ""}\n${title || ""}`;
}

/** @param {Line} line */
const hintIn = (line) => line.states.find((state) => state.startsWith("hint="));

/** The line of the page that is most like one that is gone, not in another row or dialog. @param {string} role @param {string} name @param {number} id @param {string} of the document that it was in */
function nearest(role, name, id, of) {
  const gone = of === documentKey ? references.get(id)?.deref() : undefined;
  const place = gone ? rowAndDialog(gone) : "\n";
  const lines = read(null);
  /** @type {Line | null} */
  let best = null;
  let bestScore = 0;
  const sought = name.toLowerCase();
  const reported = reportedById().get(id);
  const isHintedAlike = (/** @type {Line} */ line) => !reported || hintIn(reported) === hintIn(line);
  const scoreOf = (/** @type {Line} */ line, own = line.name.toLowerCase()) => {
    if (line.role !== role) return own === sought && sought ? 3 : 0;
    if (own === sought) return sought || isHintedAlike(line) ? 5 : 0;
    if (!sought || !own) return 0;
    if (own.startsWith(sought) || sought.startsWith(own)) return 2;
    return sought.length > 2 && own.length > 2 && (own.includes(sought) || sought.includes(own)) ? 1 : 0;
  };
  let same = 0;
  for (const line of withParts(lines)) {
    if (line.kind !== "interactive" && line.kind !== "region") continue;
    const score = scoreOf(line);
    if (score === 5) same++;
    if (score > bestScore && line.node && (place === "\n" || rowAndDialog(line.node) === place)) {
      bestScore = score;
      best = line;
    }
  }
  if (best && best.node) keep(best.node);
  const were = gone ? [...reportedById().values()].filter((line) => line.role === role && line.name === name).length : 0;
  const answer = { doc: documentKey, node: best && wire({ ...best, depth: 0 }, false), score: bestScore, redrawn: bestScore === 5 && same === 1 && were === 1, frames: framesIn(lines) };
  release(lines);
  return answer;
}

/** All that a line says. @param {Line} line @returns {string} */
const wordsOf = (line) => [saidBy(line), ...line.states, ...(line.parts || []).map(wordsOf)].join(" ");

/** Scroll to a text. @param {string} text @param {number} occurrence 1 for the first */
function scrollToText(text, occurrence) {
  const sought = tidy(text).toLowerCase();
  const lines = read(null);
  const found = lines.filter((line) => wordsOf(line).toLowerCase().includes(sought));
  const line = found[occurrence - 1];
  let node = null;
  const at = line && line.node ? lines.indexOf(line) : -1;
  const beside = at < 0 ? [] : lines.slice(Math.max(0, at - 2), at + 3);
  if (line && line.node) {
    bringIntoView(line.node);
    node = wire({ ...line, depth: 0 }, false);
  }
  for (const { node, kind } of beside) if (node && (kind === "interactive" || kind === "region")) keep(node);
  const context = beside.map((near) => wire(near, false));
  const answer = { doc: documentKey, node, context, matches: found.length, frames: framesIn(lines) };
  release(lines);
  return answer;
}
