/**
 * In the page's own world: run a caller's script and return its result as plain JSON of a limited length.
 *
 * `box.run()` gives what the script's text gives; a function is called with `box.element`. What JSON has no form
 * for is written in square brackets, such as "[undefined]" or "[cycle]".
 */
async (/** @type {{element: Element | null | undefined, run: () => Promise<unknown>}} */ box, /** @type {number} */ limit) => {
  const DEEPEST = 30;
  let left = limit;
  let isCut = false;
  /** @type {object[]} */
  const around = [];

  /** @param {string} text */
  const bounded = (text) => {
    const room = Math.max(0, left);
    left -= text.length;
    if (text.length <= room) return text;
    isCut = true;
    return `${text.slice(0, room)}… ${text.length - room} more characters`;
  };

  /** @param {unknown} value */
  const kindOf = (value) => Object.prototype.toString.call(value).slice(8, -1);

  /** @param {Node} node */
  const nodeText = (node) => {
    if (node.nodeType === Node.ELEMENT_NODE) {
      const tag = /** @type {Element} */ (node.cloneNode(false)).outerHTML.replace(/<\/[^<]*$/, "");
      const text = (node.textContent || "").trim().replace(/\s+/g, " ");
      return `[${tag.slice(0, 300)}${text.slice(0, 80)}${text.length > 80 ? "…" : ""}]`;
    }
    if (node.nodeType === Node.DOCUMENT_NODE) return `[document ${/** @type {Document} */ (node).URL}]`;
    return `[${node.nodeName} ${JSON.stringify((node.nodeValue || "").slice(0, 300))}]`;
  };

  /** @param {Iterable<unknown>} values @param {number} size @returns {unknown[]} */
  const list = (values, size) => {
    const items = [];
    for (const value of values) {
      if (left <= 0) {
        isCut = true;
        items.push(`… ${size - items.length} more items`);
        break;
      }
      left -= 2;
      items.push(encode(value));
    }
    return items;
  };

  /** @param {object} value @returns {unknown} */
  const record = (value) => {
    /** @type {Record<string, unknown>} */
    const fields = Object.create(null);
    let more = 0;
    for (const key in value) {
      const own = Object.prototype.hasOwnProperty.call(value, key);
      let field;
      try {
        field = /** @type {Record<string, unknown>} */ (value)[key];
      } catch (error) {
        field = `[throws ${String(error)}]`;
      }
      if (!own && typeof field === "function") continue;
      if (left <= 0) {
        more++;
        continue;
      }
      left -= 4;
      fields[bounded(key)] = encode(field);
    }
    if (more) {
      isCut = true;
      fields["…"] = `${more} more properties`;
    }
    return fields;
  };

  /** @param {object} value @returns {unknown} */
  const whole = (value) => {
    const kind = kindOf(value);
    if (value instanceof Node || /^HTML\w*Element$/.test(kind)) return bounded(nodeText(/** @type {Node} */ (value)));
    if (kind === "Window") return bounded(`[Window ${/** @type {Window} */ (value).location.href}]`);
    if (kind === "Error" || kind === "DOMException") return bounded(`[${String(value)}]`);
    if (kind === "RegExp") return bounded(String(value));
    if (kind === "Date") return bounded(isNaN(Number(value)) ? "[Invalid Date]" : /** @type {Date} */ (value).toISOString());
    if (kind === "ArrayBuffer") return bounded(`[ArrayBuffer, ${/** @type {ArrayBuffer} */ (value).byteLength} bytes]`);
    if (kind === "Blob" || kind === "File") {
      const blob = /** @type {File} */ (value);
      return bounded(`[${kind} ${blob.name || ""} ${blob.type}, ${blob.size} bytes]`);
    }
    if (["Promise", "WeakMap", "WeakSet", "WeakRef", "Generator"].includes(kind)) return bounded(`[${kind}]`);
    if (kind === "Map" || kind === "Set") {
      const values = /** @type {Map<unknown, unknown> | Set<unknown>} */ (value);
      return list(values, values.size);
    }
    if (Array.isArray(value) || ArrayBuffer.isView(value) || ["NodeList", "HTMLCollection", "Arguments", "FileList", "DOMTokenList"].includes(kind)) {
      const items = /** @type {ArrayLike<unknown> & Iterable<unknown>} */ (value);
      return kind === "DataView" ? record(value) : list(items, items.length);
    }
    const own = /** @type {{toJSON?: unknown}} */ (value).toJSON;
    return typeof own === "function" ? encode(own.call(value)) : record(value);
  };

  /** @param {unknown} value @returns {unknown} */
  const encode = (value) => {
    if (typeof value === "string") return bounded(value);
    if (typeof value === "boolean" || typeof value === "number") {
      left -= typeof value === "number" ? 6 : 5;
      return Number.isFinite(Number(value)) ? value : `[${value}]`;
    }
    if (typeof value === "bigint") return bounded(`[${value}n]`);
    if (typeof value === "function") return bounded(`[function ${value.name}]`);
    if (typeof value === "undefined" || typeof value === "symbol") return bounded(`[${String(value)}]`);
    if (value === null) return null;
    const object = /** @type {object} */ (value);
    if (around.includes(object)) return bounded("[cycle]");
    if (around.length >= DEEPEST) return bounded("[nested too deeply]");
    around.push(object);
    try {
      return whole(object);
    } catch (error) {
      return bounded(`[cannot be read: ${String(error)}]`);
    } finally {
      around.pop();
    }
  };

  try {
    const given = await box.run();
    const value = typeof given === "function" ? await given(box.element ?? undefined) : given;
    return { value: encode(value), isUndefined: value === undefined, isCut };
  } catch (error) {
    const isError = kindOf(error) === "Error" || kindOf(error) === "DOMException";
    const stack = isError ? String(/** @type {Error} */ (error).stack || "") : "";
    return { thrown: isError ? String(error).slice(0, limit) : encode(error), isError, stack: stack.slice(0, 4000) };
  }
};
