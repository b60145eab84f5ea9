/** Text: gathered from the nodes it is spread over, until something ends the line. */

/** Turn the gathered text into a line. */
function flush() {
  walk.edges.length = 0;
  if (walk.run === "") return;
  let text = tidy(walk.run, walk.links.length > 0).replace(/^(?:⏎ ?)+|(?: ?⏎)+$/g, "");
  const holder = /** @type {Element} */ (walk.runHolder);
  walk.run = "";
  walk.runHolder = null;
  if (walk.links.length) {
    const after = walk.links;
    walk.links = [];
    // Links at the end of a text stand after it; only one within a sentence is referred to from there.
    text = text.replace(LAST_REFERENCES, "");
    if (!WORDS.test(text.replace(REFERENCES, ""))) text = "";
    const within = text !== "";
    const from = walk.lines.length;
    flushText(text, holder);
    const deeper = within && walk.lines.length > from ? 1 : 0;
    for (const link of after) {
      link.depth = walk.depth + (text.includes(reference(link.id)) ? deeper : 0);
      walk.lines.push(link);
    }
    return;
  }
  flushText(text, holder);
}

/** @param {string} text @param {Element} holder */
function flushText(text, holder) {
  if (text === "" || (walk.inside !== null && (walk.inside.includes(text) || WORDLESS.test(text)))) return;
  if (walk.row) {
    addToCell(cut(text, LONGEST_TEXT));
    return;
  }
  if (SEPARATOR.test(text)) return;
  const far = farOf(holder, false);
  if (far !== far || (isSuspect(holder) && isInvisible(holder))) return;
  if (walk.heading) walk.lines.push(newLine("heading", holder, idOf(holder), "heading", cut(text, LONGEST_TEXT), [`level=${walk.heading}`], far));
  else walk.lines.push(newLine("text", holder, idOf(holder), "", cut(text, LONGEST_TEXT), [], far));
}

/** @param {string} text */
function addToCell(text) {
  if (!walk.row) return;
  if (!walk.row.cells.length) walk.row.cells.push("");
  const last = walk.row.cells.length - 1;
  const before = walk.row.cells[last];
  walk.row.cells[last] = before ? `${before} ${text}` : text;
}

/** @param {Element} element @param {string} text */
function gather(element, text) {
  if (walk.run === "") {
    if (isBlank(text)) return;
    walk.runHolder = element;
  } else if (walk.edges.length && !/\s$/.test(walk.run) && !/^\s/.test(text)) {
    for (const edge of walk.edges) {
      if (isBlockLevel(edge)) {
        walk.run += " ";
        break;
      }
    }
  }
  walk.edges.length = 0;
  if (walk.run.length < LONGEST_READ) walk.run += text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text;
}

/** Whether a style sheet gives an element text. @param {Element} element */
const addsText = (element) => (walk.styled || walk.shadows > 0) && around(element, "") !== "";

/** @param {Open} frame @param {"before" | "after"} where */
function gatherAdded(frame, where) {
  if (frame.muted || walk.inside === ALL) return;
  const text = addedText(frame.element, where);
  if (text) gather(frame.element, text);
}

/** Take in a text of an open element. @param {Open} frame @param {Element} holder @param {string} text */
function takeText(frame, holder, text) {
  if (frame.muted || walk.inside === ALL) return;
  if (walk.inside === null && frame.hand !== false && !isBlank(text) && handAt(walk.open.length - 1)) {
    const at = underHand();
    if (at >= 0) discover(at);
  }
  // In preformatted text the ends of lines mean something.
  if (text.includes("\n") && !isBlank(text) && closest(holder, "pre")) text = text.replace(/\r?\n/g, " ⏎ ");
  gather(holder, text.includes("\uE000") || text.includes("\uE001") ? text.replace(OUR_SIGNS, "") : text);
}
