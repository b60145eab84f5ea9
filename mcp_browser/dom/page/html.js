/** HTML with shadow trees and frames written out. */

const VOID = set("area base br col embed hr img input link meta source track wbr");
const escapeText = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const escapeAttribute = (/** @type {string} */ text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
const UNREADABLE = set("script style noscript template link meta");
const LIVE = set("value checked selected");

/** What a field holds now, which its attributes do not tell. @param {Element} element @param {string} tag */
function liveAttributes(element, tag) {
  if (tag === "option") return /** @type {HTMLOptionElement} */ (element).selected ? " selected" : "";
  if (tag !== "input") return "";
  const { checked, value } = /** @type {HTMLInputElement} */ (element);
  const shown = value && !isSecret(element) ? ` value="${escapeAttribute(value)}"` : "";
  return `${shown}${checked ? " checked" : ""}`;
}

/**
 * HTML with shadow trees in place of their hosts' children and marks where frames stand.
 * @param {number | null} id
 * @param {boolean} readable leave out what people do not read: scripts, styles, hidden things
 */
function html(id, readable) {
  /** @type {Element | null} */
  const top = id === null ? rootElement() : byId(id);
  if (!top) return { problem: "stale", lasting: true };
  /** @type {string[]} */
  const out = [];
  const frames = [];
  /** @type {{list: Node[] | null, at: number, node: Node, end: string}[]} */
  const open = [];
  /** @type {Node | null} */
  let node = top;
  while (node || open.length) {
    if (!node) {
      const level = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open.pop());
      out.push(level.end);
      if (!open.length) break;
      const parent = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open[open.length - 1]);
      node = parent.list ? parent.list[++parent.at] || null : nextSibling(level.node);
      continue;
    }
    const type = nodeType(node);
    if (type === 1) {
      const element = /** @type {Element} */ (node);
      const tag = localName(element);
      const skip = readable && (UNREADABLE.has(tag) || (tag !== "head" && tag !== "title" && tag !== "html" && !holdsHead(element) && !isSeen(element) && isHidden(element)));
      if (!skip) {
        let begin = `<${tag}`;
        for (const { name, value } of Array.from(/** @type {NamedNodeMap} */ (_attributes.call(element)))) {
          if (name === "value" && (isSecret(element) || (readable && tag === "input"))) continue;
          if (readable && (name === "checked" || name === "selected")) continue;
          if (readable && LIVE.has(name)) continue;
          begin += ` ${name}="${escapeAttribute(value)}"`;
        }
        if (readable) begin += liveAttributes(element, tag);
        if (readable) begin += currentState(element, tag);
        if (tag === "iframe" || tag === "frame") {
          const frameId = keep(element);
          frames.push(frameId);
          out.push(`${begin}>`, reference(frameId), `</${tag}>`);
        } else if (VOID.has(tag)) out.push(`${begin}>`);
        else {
          out.push(`${begin}>`);
          const root = shadowOf(element);
          /** @type {Node[] | null} */
          let list = null;
          if (!root && tag === "slot" && element instanceof HTMLSlotElement) {
            list = element.assignedNodes();
            if (!list.length) list = null;
          }
          open.push({ list, at: 0, node: element, end: `</${tag}>` });
          if (tag === "textarea") {
            out.push(escapeText(/** @type {HTMLTextAreaElement} */ (element).value));
            node = null;
          } else node = list ? /** @type {Node} */ (list[0]) : firstChild(root || element);
          continue;
        }
      }
    } else if (type === 3) {
      const text = data(/** @type {Text} */ (node));
      const parent = parentNode(node);
      const raw = isElement(parent) && /^(?:script|style)$/.test(localName(/** @type {Element} */ (parent)));
      out.push(raw ? text : escapeText(text));
    }
    if (!open.length) break;
    const parent = /** @type {{list: Node[] | null, at: number, node: Node, end: string}} */ (open[open.length - 1]);
    node = parent.list ? parent.list[++parent.at] || null : nextSibling(node);
  }
  return { doc: documentKey, html: out.join(""), frames };
}

/** What a field holds now, as attributes; nothing of a secret one. @param {Element} element @param {string} tag */
function currentState(element, tag) {
  if (tag === "option") return /** @type {HTMLOptionElement} */ (element).selected ? ' selected=""' : "";
  if (tag !== "input") return "";
  const input = /** @type {HTMLInputElement} */ (element);
  const type = inputType(input);
  if (type === "checkbox" || type === "radio") {
    const value = attribute(input, "value");
    return (value === null ? "" : ` value="${escapeAttribute(value)}"`) + (input.checked ? ' checked=""' : "");
  }
  return type === "file" || !input.value || isSecret(input) ? "" : ` value="${escapeAttribute(input.value)}"`;
}

/** @param {Element} element */
function holdsHead(element) {
  const head = _head.call(document);
  return !!head && _contains.call(head, element);
}
