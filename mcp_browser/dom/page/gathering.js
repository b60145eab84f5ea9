/** Text: gathered from the nodes it is spread over, until something ends the line. */

/** In a longer text white space is folded before references are looked for: there may be much of it. */
const SHORT_RUN = 400;

/** Turn the gathered text into a line. */
function flush() {
  if (walk.edges.length) walk.edges = [];
  if (walk.run === "") return;
  const holder = /** @type {Element} */ (walk.runHolder);
  const { run, links } = walk;
  walk.run = "";
  walk.runHolder = null;
  if (!links.length) return flushText(withoutEnds(tidy(run)), holder);
  walk.links = [];
  // Links at the end of a text stand after it; only one within a sentence is referred to from there.
  let text = run.length < SHORT_RUN ? run.replace(LAST_REFERENCES, "") : run;
  text = text.includes("\uE000") ? withoutEnds(tidy(run, true)).replace(LAST_REFERENCES, "") : withoutEnds(tidy(text));
  if (!WORDS.test(text.replace(REFERENCES, ""))) text = "";
  const within = text.includes("\uE000");
  const from = walk.lines.length;
  flushText(text, holder);
  const deeper = walk.lines.length > from ? 1 : 0;
  for (const link of links) {
    link.depth = walk.depth + (within && text.includes(reference(link.id)) ? deeper : 0);
    walk.lines.push(link);
  }
}

/** Without the line breaks around it. @param {string} text */
const withoutEnds = (text) => (text.includes("⏎") ? text.replace(/^(?:⏎ ?)+|(?: ?⏎)+$/g, "") : text);

/** Leave out text that only repeats a name, until the returned function is called: it adds what no line has shown. @param {string} name @param {Line | Element} bearer what shows it */
function repeating(name, bearer) {
  const outer = setWalk({ inside: name.length > LONGEST_NAME ? cut(name, LONGEST_NAME).slice(0, -1) : name, bearer });
  return () => {
    outer();
    if (!walk.echoes.size || bearer instanceof Element) return;
    const at = walk.lines.lastIndexOf(bearer);
    for (let i = walk.lines.length - 1; i > at; i--) {
      const line = /** @type {Line} */ (walk.lines[i]);
      if (walk.echoes.get(line) === bearer) settleEcho(line, i, at >= 0);
    }
  };
}

/** Leave out for good what another line shows, or list it. @param {Line} line @param {number} at its place @param {boolean} shown */
function settleEcho(line, at, shown) {
  walk.echoes.delete(line);
  if (!shown && walk.bearer && walk.inside?.includes(line.name)) return void walk.echoes.set(line, walk.bearer);
  const holder = /** @type {Element} */ (line.node);
  line.far = shown ? NOWHERE : distance(holder, rectOf(holder), false, line.port);
  if (isNaN(line.far) || isInvisible(holder)) walk.lines.splice(at, 1);
}

/** @param {string} text @param {Element} holder */
function flushText(text, holder) {
  if (text === "") return;
  const repeats = walk.inside !== null && (walk.inside.includes(text) || WORDLESS.test(text));
  if (repeats && (walk.row || !walk.bearer || !WORDS.test(text))) return;
  if (walk.row) return addToCell(cellText(text));
  if (SEPARATOR.test(text)) return;
  const far = repeats ? 0 : farOf(holder, false, walk.runPort);
  if (far !== far || (!repeats && walk.runSuspect && isInvisible(holder))) return;
  const [role, states] = walk.heading ? ["heading", [`level=${walk.heading}`]] : ["", NO_STATES];
  const own = newLine(role ? "heading" : "text", holder, idOf(holder), role, cut(fromView(text, holder), LONGEST_TEXT), states, far, walk.runPort);
  walk.lines.push(own);
  if (repeats) walk.echoes.set(own, /** @type {Line | Element} */ (walk.bearer));
}

/** A long text from where it is in the view, where it fills a box of its own that is scrolled, such as a log. @param {string} text @param {Element} holder */
function fromView(text, holder) {
  if (text.length <= LONGEST_TEXT) return text;
  const box = _scrollTop.call(holder) > 0 ? holder : byId(walk.runPort.id);
  const scrolled = box ? _scrollTop.call(box) / Math.max(1, _scrollHeight.call(box)) : 0;
  if (!box || !scrolled) return text;
  const whole = textContent(box);
  const inLine = (/** @type {string} */ part) => withoutEnds(tidy(part.replace(/\r?\n/g, " ⏎ ")));
  if (!text.startsWith(inLine(whole.slice(0, SHORT_RUN)).slice(0, LONGEST_HINT))) return text;
  const from = Math.min(Math.floor(whole.length * scrolled), whole.length - LONGEST_TEXT);
  const line = whole.indexOf("\n", from);
  const start = line < 0 || line > from + LONGEST_TEXT / 2 ? from : line + 1;
  // An end of a line is written with more characters than it has.
  const part = inLine(whole.slice(start, start + LONGEST_TEXT));
  return start > 0 ? `… ${start + LONGEST_TEXT < whole.length ? part : part.slice(2 - LONGEST_TEXT)}` : text;
}

/** Text as it stands in a cell: as much as its row has room for, nothing in it that looks like an index or a cell's edge. @param {string} text */
function cellText(text) {
  const row = /** @type {Row} */ (walk.row);
  const shown = row.room > 0 ? cut(text, Math.min(LONGEST_TEXT, row.room)) : "";
  row.room -= shown.length;
  if (shown === ABOVE && row.table.gaps.size) return `\\${shown}`;
  return shown.includes("|") || shown.includes("[") ? shown.replace(CELL_SIGNS, "\\$&") : shown;
}

/** Put a text into the last cell of the row that is being read. @param {string} text */
function addToCell(text) {
  const { cells } = /** @type {Row} */ (walk.row);
  cells.push([cells.pop(), text].filter(Boolean).join(" "));
}

/** @param {Element} element the one that holds the text @param {string} text @param {Open | null} frame null where a text has begun already */
function gather(element, text, frame) {
  if (walk.run === "") {
    if (!frame || isBlank(text)) return;
    walk.runHolder = element;
    walk.runSuspect = isSuspect(frame);
    walk.runPort = frame.port;
  } else if (walk.edges.length && !/\s$/.test(walk.run) && !/^\s/.test(text) && walk.edges.some(isBlockLevel)) walk.run += " ";
  if (walk.edges.length) walk.edges = [];
  if (walk.run.length < LONGEST_READ) walk.run += text.length > LONGEST_READ ? text.slice(0, LONGEST_READ) : text;
}

/** Whether a style sheet gives an element text. @param {Element} element */
const addsText = (element) => (walk.styled || walk.shadows > 0) && around(element, "") !== "";

/** @param {Open} frame @param {"before" | "after"} where */
function gatherAdded(frame, where) {
  const text = frame.muted || walk.inside === ALL ? "" : addedText(frame.element, where);
  if (text) gather(frame.element, text, frame);
}

/** Take in a text of an open element. @param {Open} frame @param {Element} holder @param {string} text */
function takeText(frame, holder, text) {
  if (frame.muted || walk.inside === ALL) return;
  const blank = isBlank(text);
  if ((blank && walk.run === "") || (frame.leaf && isLigature(holder, text))) return;
  if (walk.inside === null && frame.hand !== false && !blank && handAt(walk.open.length - 1)) discover(underHand());
  // In preformatted text the ends of lines mean something.
  if (!blank && text.includes("\n") && closest(holder, "pre")) text = text.replace(/\r?\n/g, " ⏎ ");
  gather(holder, text.replace(OUR_SIGNS, ""), frame);
}
