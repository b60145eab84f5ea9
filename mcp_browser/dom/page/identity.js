/** What an element can be found again by, and finding it again on a page that may have changed since. */

/** Attributes that tend to stay when a page is changed, those first that are made to be found by. */
const STAYING = ["data-testid", "data-test-id", "data-test", "data-qa", "data-cy", "id", "name", "aria-label", "href", "for", "placeholder", "title", "alt", "type", "value"];
/** Those of them that alone can distinguish an element from others of its tag. */
const IDENTIFYING = STAYING.slice(0, -2);
/** Kinds of input whose `value` says which one it is, and is nothing that somebody has entered. */
const NAMED_BY_VALUE = set("radio checkbox submit button reset");
const LONGEST_ATTRIBUTE = 500;
const LONGEST_IDENTITY = 160;
const NEAREST_CONTEXTS = 8;

/** @typedef {ReturnType<typeof identityOf>} Identity */

const plainName = (/** @type {string} */ name) => tidy(name.replace(REFERENCES, ""));

/** @param {Element} element @returns {Record<string, string>} */
function stayingAttributes(element) {
  const isNamedByValue = localName(element) === "input" && NAMED_BY_VALUE.has(inputType(element));
  const names = STAYING.filter((name) => name !== "value" || isNamedByValue);
  const kept = names.map((name) => [name, attribute(element, name) ?? ""]).filter(([, value = ""]) => value !== "" && value.length <= LONGEST_ATTRIBUTE);
  return Object.fromEntries(kept);
}

/** The way to an element, tag by tag from the document's root; ` >> ` goes into a shadow tree. @param {Element} element */
function pathOf(element) {
  /** @type {string[]} */
  const trees = [];
  /** @type {string[]} */
  let steps = [];
  for (let node = element; ; ) {
    const parent = parentNode(node);
    const tag = localName(node);
    const same = parent ? childrenOf(parent).filter((child) => localName(child) === tag) : [];
    steps.unshift(same.length > 1 ? `${CSS.escape(tag)}:nth-of-type(${same.indexOf(node) + 1})` : CSS.escape(tag));
    if (parent instanceof ShadowRoot) {
      trees.unshift(steps.join(" > "));
      steps = [];
      node = parent.host;
    } else if (isElement(parent)) node = parent;
    else break;
  }
  trees.unshift(steps.join(" > "));
  return trees.join(" >> ");
}

/** The element at the end of such a way, or null. @param {string} path */
function follow(path) {
  let node = /** @type {Element | null} */ (null);
  for (const [i, tree] of path.split(" >> ").entries()) {
    const root = i ? node && shadowOf(node) : document;
    node = (root && queryAll(root, i ? `:host > ${tree}` : tree)[0]) || null;
  }
  return node;
}

/** Elements of all trees that have a value of an attribute; those of a tag, unless the attribute is made to be found by. @param {string} tag @param {string} name @param {string} value */
function having(tag, name, value) {
  const selector = `${/^(?:data-|id$)/.test(name) ? "" : CSS.escape(tag)}[${name}="${CSS.escape(value)}"]`;
  return allRoots().flatMap((root) => Array.from(queryAll(root, selector)));
}

/** The place of an element among those that share an attribute with it, counted from 0, for each that several have. @param {Element} element @param {Record<string, string>} attributes */
function placesAmong(element, attributes) {
  /** @type {Record<string, number>} */
  const places = {};
  for (const name of IDENTIFYING) {
    const value = attributes[name];
    if (value === undefined) continue;
    const alike = having(localName(element), name, value).filter((other) => name !== "name" || attributes["value"] === undefined || attribute(other, "value") === attributes["value"]);
    if (alike.length > 1) places[name] = alike.indexOf(element);
  }
  return places;
}

/** What stands around an element and distinguishes it from another of the same name: its row, entry or form. @param {Element} element */
function contextOf(element) {
  const own = tidy(textContent(element));
  for (const outer of outward(flatParent(element), NEAREST_CONTEXTS)) {
    const text = outer instanceof HTMLElement ? tidy(String(_innerText.call(outer) || "").slice(0, LONGEST_TEXT)) : "";
    if (text.length > own.length + 2) return cut(text, LONGEST_IDENTITY);
  }
  return "";
}

/** What an element is called; as in a snapshot, what a message or a menu holds is no name of it. @param {Line} line @param {Element} element */
function recordedName({ role, name }, element) {
  const isBox = REGIONS.get(role) === false && !role.endsWith("dialog");
  return plainName(isBox ? cut(nameOf(element, localName(element), role), LONGEST_NAME) : name);
}

/** @param {Element} element */
function identityOf(element) {
  const line = describe(element);
  const { role } = line;
  const name = recordedName(line, element);
  const isTwin = (/** @type {Line} */ other) => other.id !== line.id && other.role === line.role && plainName(other.name) === name;
  const twins = [...reportedById().values()].filter(isTwin).length;
  const text = valueKind(element) === "rich" || isSecret(element) ? "" : tidy(textContent(element));
  const attributes = stayingAttributes(element);
  const [places, path] = [placesAmong(element, attributes), pathOf(element)];
  return { role, name, tag: localName(element), attributes, text: cut(text, LONGEST_IDENTITY), context: contextOf(element), twins, places, path };
}

/** Say by what an element can be found again, and where it is. @param {Element} element */
const record = (element) => ({ ...identityOf(element), url: location.href, box: sidesOfBox(boxOf(element)) });

/** @typedef {{element: Element, role: string, name: string}} Candidate */
/** How much of two texts is the same, 0 to 1, by their words. @param {string} one @param {string} other */
function likeness(one, other) {
  const words = (/** @type {string} */ text) => new Set(text.toLowerCase().split(/\s+/).filter(Boolean));
  const [first, second] = [words(one), words(other)];
  if (!first.size || !second.size) return 0;
  const common = [...first].filter((word) => second.has(word)).length;
  return common / (first.size + second.size - common);
}

/** The one of several that stands in the recorded surroundings; all of them where none does so plainly. @param {Candidate[]} candidates @param {Identity} wanted */
function inContext(candidates, wanted) {
  if (candidates.length < 2 || !wanted.context) return candidates;
  const scored = candidates.map((candidate) => ({ candidate, score: likeness(contextOf(candidate.element), wanted.context) }));
  scored.sort((one, other) => other.score - one.score);
  const [first, second] = scored;
  return first && second && first.score >= 0.5 && first.score - second.score >= 0.1 ? [first.candidate] : candidates;
}

/** As few as can be distinguished from the others. @param {Candidate[]} candidates @param {Identity} wanted */
function narrowed(candidates, wanted) {
  for (const fits of [
    (/** @type {Candidate} */ one) => isSeen(one.element),
    (/** @type {Candidate} */ one) => one.role === wanted.role && one.name === wanted.name,
    (/** @type {Candidate} */ one) => localName(one.element) === wanted.tag,
  ]) {
    if (candidates.length < 2) break;
    const left = candidates.filter(fits);
    if (left.length) candidates = left;
  }
  return inContext(candidates, wanted);
}

/** @param {Element} element @returns {Candidate} */
function asCandidate(element) {
  const line = describe(element);
  return { element, role: line.role, name: recordedName(line, element) };
}

/** Whether a text is the recorded one, whatever is secret in it. @param {string | undefined} own @param {string | undefined} kept */
function isAsKept(own, kept) {
  const parts = (kept || "").split(/\[redacted\]|<secret>.*?<\/secret>/);
  return own === kept || (!!own && parts.length > 1 && new RegExp(`^${parts.map((part) => part.replace(/\W/g, "\\$&")).join("[^]*?")}$`).test(own));
}

/** Elements of the recorded tag that have one of its identifying attributes, by the first that any has. @param {Identity} wanted */
function byAttributes(wanted) {
  for (const name of IDENTIFYING) {
    const value = wanted.attributes[name];
    if (value === undefined) continue;
    const kinds = having(wanted.tag, name, value).filter((element) => {
      const own = stayingAttributes(element);
      return localName(element) === wanted.tag && own["type"] === wanted.attributes["type"] && own["value"] === wanted.attributes["value"];
    });
    if (kinds.length) return narrowed(kinds.map(asCandidate), wanted);
  }
  return [];
}

/**
 * Find a recorded element: at its path with its attributes, role and name; by an attribute; by role and name; by its text. An attribute
 * counts only where no other element has the recorded role and name, in the recorded surroundings. @param {Identity} wanted
 */
function locate(wanted) {
  const lines = read(null);
  const frames = framesIn(lines);
  const seen = withParts(lines).flatMap(({ node, kind, role, name }) => (node && role && (kind === "interactive" || kind === "region") ? { element: node, role, name: plainName(name) } : []));
  release(lines);
  const alike = seen.filter((one) => one.role === wanted.role && one.name === wanted.name);
  const answer = (/** @type {string} */ level, /** @type {Candidate[]} */ found) => {
    const [only, other] = found;
    const node = only && !other ? wire(describe(only.element), false) : null;
    return { doc: documentKey, frames, url: location.href, level: only ? level : "none", count: found.length, node };
  };
  const around = inContext(alike, wanted);
  const there = wanted.path ? follow(wanted.path) : null;
  if (there && localName(there) === wanted.tag) {
    const own = asCandidate(there);
    const attributes = stayingAttributes(there);
    const same = STAYING.every((name) => isAsKept(attributes[name], wanted.attributes[name]));
    if (same && own.role === wanted.role && isAsKept(own.name, wanted.name) && (!alike.length || around.some((one) => one.element === there))) return answer("exact", [own]);
  }
  const marked = byAttributes(wanted);
  // An attribute that is counted through, such as item-2, may have gone to another entry.
  if (marked.length === 1 && (!alike.length || around.some((one) => one.element === marked[0]?.element))) return answer("attributes", marked);
  if (alike.length && (wanted.name || alike.length === 1)) return answer("role", narrowed(alike, wanted));
  const text = (wanted.name || wanted.text).toLowerCase();
  if (!text) return answer("none", []);
  const equal = seen.filter((one) => one.name.toLowerCase() === text || (!!wanted.text && one.name.toLowerCase() === wanted.text.toLowerCase()));
  const isPartly = (/** @type {string} */ name) => name.length > 2 && text.length > 2 && (name.includes(text) || text.includes(name));
  const like = equal.length ? equal : seen.filter((one) => one.role === wanted.role && isPartly(one.name.toLowerCase()));
  return answer("text", narrowed(like, wanted));
}
