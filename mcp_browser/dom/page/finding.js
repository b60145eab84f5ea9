/** Searching all lines. */

/**
 * @typedef {{text?: string | null, pattern?: string | null, role?: string | null, name?: string | null}} Query
 * @param {Query} wanted
 * @param {number} limit
 */
function find(wanted, limit) {
  /** @type {RegExp | null} */
  let pattern = null;
  if (wanted.pattern) {
    try {
      pattern = new RegExp(wanted.pattern, "iu");
    } catch (error) {
      try {
        pattern = new RegExp(wanted.pattern, "i");
      } catch {
        return { problem: "pattern", message: String(error instanceof Error ? error.message : error), lasting: true };
      }
    }
  }
  const text = wanted.text ? tidy(wanted.text).toLowerCase() : "";
  const name = wanted.name ? tidy(wanted.name).toLowerCase() : "";
  const role = wanted.role ? wanted.role.trim().toLowerCase() : "";
  const lines = read(null);
  const found = [];
  let total = 0;
  for (const line of lines) {
    if (role && line.role !== role && !(role === "image" && line.role === "img")) continue;
    const shown = line.name.replace(REFERENCES, "");
    if (name && !shown.toLowerCase().includes(name)) continue;
    const whole = `${shown} ${line.states.join(" ")}`;
    if (text && !whole.toLowerCase().includes(text)) continue;
    if (pattern && !pattern.test(shown) && !(line.role && pattern.test(`${line.role} "${shown}" ${line.states.join(" ")}`))) continue;
    total++;
    if (found.length < limit && line.node) {
      keep(line.node);
      found.push(wire({ ...line, depth: 0 }, false));
    }
  }
  release(lines);
  return { doc: documentKey, found, total, frames: framesIn(lines) };
}

/** The line of the page that is most like one that is gone. @param {string} role @param {string} name */
function nearest(role, name) {
  const lines = read(null);
  /** @type {Line | null} */
  let best = null;
  let bestScore = 0;
  const sought = name.toLowerCase();
  for (const line of lines) {
    if (line.kind !== "interactive" && line.kind !== "region") continue;
    const own = line.name.toLowerCase();
    let score = 0;
    if (own === sought && (sought !== "" || line.role === role)) score = line.role === role ? 5 : 3;
    else if (line.role === role && sought && own && (own.startsWith(sought) || sought.startsWith(own))) score = 2;
    else if (line.role === role && sought.length > 2 && own.length > 2 && (own.includes(sought) || sought.includes(own))) score = 1;
    if (score > bestScore) {
      bestScore = score;
      best = line;
    }
  }
  if (best && best.node) keep(best.node);
  const answer = { doc: documentKey, node: best && wire({ ...best, depth: 0 }, false), score: bestScore, frames: framesIn(lines) };
  release(lines);
  return answer;
}

/** Scroll to a text. @param {string} text @param {number} occurrence 1 for the first */
function scrollToText(text, occurrence) {
  const sought = tidy(text).toLowerCase();
  const lines = read(null);
  let matches = 0;
  let at = -1;
  for (let i = 0; i < lines.length; i++) {
    const line = /** @type {Line} */ (lines[i]);
    if (!`${line.name.replace(REFERENCES, "")} ${line.states.join(" ")}`.toLowerCase().includes(sought)) continue;
    matches++;
    if (matches === occurrence) at = i;
  }
  const line = lines[at];
  let node = null;
  const context = [];
  if (line && line.node) {
    bringIntoView(line.node);
    node = wire({ ...line, depth: 0 }, false);
    for (const near of lines.slice(Math.max(0, at - 2), at + 3)) {
      if (near.node && (near.kind === "interactive" || near.kind === "region")) keep(near.node);
      context.push(wire(near, false));
    }
  }
  const answer = { doc: documentKey, node, context, matches, frames: framesIn(lines) };
  release(lines);
  return answer;
}
