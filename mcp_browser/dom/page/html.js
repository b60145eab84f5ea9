/** HTML with shadow trees and frames written out; and the PDF that a tab shows. */

const VOID = set("area base br col embed hr img input link meta source track wbr");
const escapeText = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const escapeAttribute = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
const UNREADABLE = set("script style noscript template link meta");
const READ_ATTRIBUTES = set("href src alt aria-label start colspan rowspan");
const DATA_ATTRIBUTES = set("id class role title scope datetime content name property itemprop itemscope itemtype aria-rowindex aria-colindex aria-rowcount aria-colcount aria-rowspan aria-colspan aria-checked aria-describedby");
const DATA_SCRIPT = "application/ld+json";
const META_NAMES = /^(?:(?:og|article|book|product|profile|twitter|dc|dcterms|citation)[:._]|(?:author|description|keywords|date|pubdate|publish[-_]?date|last-modified|price|availability)$)/i;
const LONGEST_DATA = 200_000;
/** How much room a table may have below or above its rows, pixels, and how much text beside them. */
const MOST_ROOM = 100;
const MOST_BESIDE = 200;
const VALUELESS = set("hidden password file image");
const LONGEST_ADDRESS = 300;

/** The attributes as they are, save what a secret field holds. @param {Element} element */
function attributesOf(element) {
  const kept = Array.from(/** @type {NamedNodeMap} */ (_attributes.call(element))).filter(({ name }) => name !== "value" || !isSecret(element));
  return kept.map(({ name, value }) => ` ${name}="${escapeAttribute(value)}"`).join("");
}

/** The attributes that a text of the page needs, addresses whole. @param {Element} element @param {boolean} detailed */
function readAttributes(element, detailed) {
  const kept = Array.from(/** @type {NamedNodeMap} */ (_attributes.call(element))).filter(({ name }) => READ_ATTRIBUTES.has(name) || (detailed && DATA_ATTRIBUTES.has(name)));
  return kept.map(({ name, value }) => (name === "href" || name === "src" ? address(element, name, value) : ` ${name}="${escapeAttribute(value)}"`)).join("");
}

/** An address of use outside the page, as an attribute. @param {Element} element @param {"href" | "src"} name @param {string} value */
function address(element, name, value) {
  const known = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (element))[name];
  const whole = typeof known === "string" ? known : value;
  if (/^(?:https?|mailto|tel|file):/i.test(whole) && whole.length <= LONGEST_ADDRESS) return ` ${name}="${escapeAttribute(whole)}"`;
  return name === "src" ? ' src="data:,"' : "";
}

/** What a field shows now, nothing of a secret one; null for what is no field. @param {Element} element @param {string} tag @returns {string | null} */
function heldText(element, tag) {
  if (!TYPED.has(tag) && tag !== "select") return null;
  const type = tag === "input" ? inputType(element) : "";
  if (type === "checkbox" || type === "radio") return /** @type {HTMLInputElement} */ (element).checked ? "[x]" : "[ ]";
  const { value, secret } = valueOf(element);
  return secret || VALUELESS.has(type) ? "" : value;
}

/**
 * How an element is seen: `quiet` where only what fields hold is read of it, for as long as nothing in it is shown
 * again (1) or for good (2); `suspect` where a style may make its text invisible; `waits` where scrolling shows it.
 * @typedef {{quiet: 0 | 1 | 2, suspect: boolean, waits: boolean}} HowSeen
 * @typedef {HowSeen & {list: Node[] | null, at: number, node: Node, end: string, shadow: boolean, read?: boolean}} Level
 */

const PLAIN = /** @type {HowSeen} */ ({ quiet: 0, suspect: false, waits: false });

/** Know what may hide elements, as for a snapshot, and have everything laid out. @returns {() => void} */
function beginSeeing() {
  addedIn = new WeakMap();
  treeNow = null;
  surveyStyles();
  const whole = rootElement();
  const leftward = !!whole && styleOf(whole).direction === "rtl";
  walk = { ...standing(), offX: scrollX, offY: scrollY, leftward };
  const letSleep = wakeLazy();
  return () => {
    walk = standing();
    letSleep();
  };
}

/** What an element says to machines alone: a meta element, or data of schema.org; empty for others. @param {Element} element @param {string} tag */
function machineText(element, tag) {
  const said = (/** @type {string} */ name) => attribute(element, name) || "";
  if (tag === "meta") return said("itemprop") || META_NAMES.test(said("property") || said("name")) ? `<meta${readAttributes(element, true)}>` : "";
  const text = tag === "script" && said("type").toLowerCase() === DATA_SCRIPT ? textContent(element) : "";
  return text && text.length <= LONGEST_DATA ? `<script type="${DATA_SCRIPT}">${text.replace(/<\//g, "<\\/")}</script>` : "";
}

/** How an element is seen by what it stands in and by its own style; null where nothing of it is read. @param {Element} element @param {HowSeen | null} around @returns {HowSeen | null} */
function sightOf(element, around) {
  let quiet = around ? around.quiet : 0;
  let waits = around !== null && around.waits;
  if (quiet < 2) {
    const style = isSeen(element) ? null : styleOf(element);
    if (style?.display === "none") return null;
    if (!style) quiet = 0;
    else if (style.visibility !== "visible") quiet = 1;
    else if (style.display !== "contents") {
      if (Number(style.opacity) === 0) waits = isUnrevealed(element);
      quiet = waits ? 0 : 2;
    }
    if (quiet === 0 && traits(element) !== 0 && ((mayBeTrap(element, null) && isTrap(element)) || (firstChild(element) && isCollapsed(element)) || (mayBeFixed(element) && isOutOfView(element)))) quiet = 2;
  }
  // A field is used all the same where what it shows is drawn by another.
  if (quiet === 2 && !matches(element, HIDDEN_FIELDS) && !query(element, HIDDEN_FIELDS)) return null;
  const suspect = (around !== null && around.suspect) || walk.shadows > 0 || !surveyed || suspicious(element);
  return quiet || suspect || waits ? { quiet, suspect, waits } : PLAIN;
}

/** Whether a person can read the text of an element. @param {Level} level @param {Element} holder */
function canBeRead(level, holder) {
  if (level.quiet) return false;
  if (level.read === undefined || holder !== level.node) {
    const bare = holdsHead(holder);
    const far = bare ? 0 : distance(holder, rectOf(holder), false);
    level.read = far === far && !(!bare && level.suspect && isInvisible(holder));
  }
  return level.read;
}

/**
 * HTML with shadow trees in place of their hosts' children and marks where frames stand.
 * @param {number | null} id
 * @param {boolean} readable for a text of the page: without scripts, styles and hidden things, frames as plain boxes, and in place of fields the text that they show
 * @param {boolean} detailed in a text of the page, also what distinguishes its parts, and what it says to machines
 */
function html(id, readable, detailed) {
  const top = id === null ? rootElement() : byId(id);
  if (!top) return STALE;
  const letSleep = readable ? beginSeeing() : () => {};
  try {
    return writtenOut(top, readable, detailed);
  } finally {
    letSleep();
  }
}

/** @param {Element} top @param {boolean} readable @param {boolean} detailed */
function writtenOut(top, readable, detailed) {
  /** @type {string[]} */
  const out = [];
  const frames = [];
  /** @type {Level[]} */
  const open = [];
  /** @type {Node | null} */
  let node = top;
  while (node || open.length) {
    if (!node) {
      const level = /** @type {Level} */ (open.pop());
      if (level.shadow) walk.shadows--;
      out.push(level.end);
      if (!open.length) break;
      node = nextIn(/** @type {Level} */ (open[open.length - 1]), level.node);
      continue;
    }
    const type = nodeType(node);
    if (type === 1) {
      const element = /** @type {Element} */ (node);
      const tag = localName(element);
      const around = open.length ? /** @type {Level} */ (open[open.length - 1]) : null;
      const bare = !readable || tag === "html" || tag === "head" || holdsHead(element);
      if (detailed && UNREADABLE.has(tag)) out.push(machineText(element, tag));
      const sight = readable && UNREADABLE.has(tag) ? null : bare ? PLAIN : sightOf(element, around);
      if (sight) {
        const more = detailed && matches(element, TABLES) && drawsMore(element) ? " data-more-rows" : "";
        const begin = `<${tag}${readable ? readAttributes(element, detailed) : attributesOf(element)}${more}>`;
        const held = readable ? heldText(element, tag) : null;
        if (held !== null) out.push(` ${escapeText(held).replace(/\n/g, "<br>")} `);
        else if (tag === "iframe" || tag === "frame") {
          const frameId = keep(element);
          frames.push(frameId);
          out.push(readable ? "<div>" : begin, reference(frameId), readable ? "</div>" : `</${tag}>`);
        } else if (VOID.has(tag)) {
          if (!sight.quiet) out.push(begin);
        } else {
          out.push(begin);
          const root = shadowOf(element);
          const list = root ? null : slottedIn(element, tag);
          // A label stands apart from what follows it, which its style does and its text does not.
          if (root) walk.shadows++;
          open.push({ ...sight, list, at: 0, node: element, shadow: !!root, end: readable && tag === "label" ? "</label> " : `</${tag}>` });
          if (tag === "textarea") {
            out.push(isSecret(element) ? "" : escapeText(/** @type {HTMLTextAreaElement} */ (element).value));
            node = null;
          } else if (isEditor(element, tag) && isSecret(element)) node = null;
          else node = list ? /** @type {Node} */ (list[0]) : firstChild(root || element);
          continue;
        }
      }
    } else if (type === 3) {
      const text = data(/** @type {Text} */ (node));
      const parent = parentNode(node);
      const raw = isElement(parent) && /^(?:script|style)$/.test(localName(/** @type {Element} */ (parent)));
      const level = open[open.length - 1];
      if (!readable || !level || isBlank(text) || canBeRead(level, /** @type {Element} */ (parent))) out.push(raw ? text : escapeText(text));
    }
    if (!open.length) break;
    node = nextIn(/** @type {Level} */ (open[open.length - 1]), node);
  }
  return { doc: documentKey, html: out.join(""), frames };
}

/** Whether a table has room that only rows can fill which are not in the page yet: in what scrolls it, or in itself far more than a screen. @param {Element} table */
function drawsMore(table) {
  const all = Array.from(queryAll(table, "tr,[role=row]"));
  const characters = all.reduce((sum, row) => sum + textContent(row).length, 0);
  const rows = all.filter((row) => rectOf(row).height && !isBlank(textContent(row)));
  const middle = rows[rows.length >> 1];
  if (!middle || rows.length < 2) return false;
  const boxes = rows.map(rectOf);
  const height = boxes.reduce((low, box) => Math.max(low, box.bottom), -Infinity) - boxes.reduce((high, box) => Math.min(high, box.top), Infinity);
  const room = Math.max(MOST_ROOM, (3 * height) / rows.length);
  for (const element of outward(parentNode(middle))) {
    // Where there is more than the table, the room may be that of something else.
    if (localName(element) === "body" || textContent(element).length > characters + MOST_BESIDE) return false;
    const inside = _scrollHeight.call(element);
    const scrolls = inside > _clientHeight.call(element) + 1 && styleOf(element).overflowY !== "visible";
    if ((scrolls ? inside : rectOf(element).height - innerHeight) - height > room) return true;
  }
  return false;
}

/** @param {Element} element */
const holdsHead = (element) => !!_head.call(document) && _contains.call(_head.call(document), element);

/** The file in Base64, from the cache if it is there; null where the document is none. @param {number} most bytes @returns {Promise<{pdf?: string | null, size?: number, failed?: string}>} */
async function pdf(most) {
  if (document.contentType !== "application/pdf") return { pdf: null };
  try {
    const answer = await fetch(document.URL, { cache: "force-cache", credentials: "include" });
    if (!answer.ok) return { failed: `the server answers with ${answer.status}` };
    const file = await answer.blob();
    if (file.size > most) return { size: file.size };
    const reader = new FileReader();
    await new Promise((resolve, reject) => {
      Object.assign(reader, { onload: resolve, onerror: reject });
      reader.readAsDataURL(file);
    });
    return { pdf: String(reader.result).replace(/^[^,]*,/, "") };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
