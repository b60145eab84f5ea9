/**
 * The texts that a person sees in a frame: each has size and ink, and is what a mouse hits at its middle once it is
 * scrolled into view. What was scrolled is put back, and what that drew anew left out.
 */
async () => {
  const MOST = 400;
  const LONGEST = 80;
  // Numbers of lines, which are left out.
  const GUTTERS = "[class*=gutter],[class*=margin],[class*=line-number],[class*=linenumber]";
  const SKIPPED = "script,style,noscript,template,textarea,option,title,iframe";
  /** @param {Node} node @returns {Node | null} */
  const above = (node) => {
    if (node instanceof Element && node.assignedSlot) return node.assignedSlot;
    return node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode;
  };
  /** @param {Node} outer @param {Node | null} node */
  const holds = (outer, node) => {
    while (node && node !== outer) node = above(node);
    return node === outer;
  };
  /** @param {number} x @param {number} y */
  const hitAt = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    for (let inner; hit?.shadowRoot && (inner = hit.shadowRoot.elementFromPoint(x, y)) && inner !== hit; ) hit = inner;
    return hit;
  };
  /** @param {Document | ShadowRoot} root @returns {Generator<Text>} */
  function* nodes(root) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node instanceof Text) yield node;
      else if (node instanceof Element && node.shadowRoot) yield* nodes(node.shadowRoot);
    }
  }
  /** @param {Text} node @returns {[number, number] | null} */
  const middle = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = [...range.getClientRects()].find(({ width, height }) => width > 1 && height > 1);
    return box ? [box.left + box.width / 2, box.top + box.height / 2] : null;
  };
  /** @param {Text} node */
  const isSeen = (node) => {
    const holder = node.parentElement;
    if (!holder || holder.closest(SKIPPED) || !/[\p{L}\p{N}]/u.test(node.data)) return false;
    if (!holder.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false;
    const style = getComputedStyle(holder);
    if (/^rgba.*, 0\)$|transparent/.test(style.webkitTextFillColor) || parseFloat(style.fontSize) < 2) return false;
    let point = middle(node);
    if (!point || (/^\s*\d+\s*$/.test(node.data) && holder.closest(GUTTERS))) return false;
    // A name that the font of an icon draws as one sign.
    if (/^\s*[a-z][a-z_\d]+\s*$/.test(node.data) && (point[0] - holder.getBoundingClientRect().left) * 2 <= parseFloat(style.fontSize) * 1.3) return false;
    if (point[0] < 0 || point[1] < 0 || point[0] >= innerWidth || point[1] >= innerHeight) {
      holder.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      point = middle(node);
    }
    const hit = point && hitAt(point[0], point[1]);
    return !!hit && (holds(holder, hit) || (style.pointerEvents === "none" && holds(hit, holder)));
  };
  const places = [...document.querySelectorAll("*")].filter((one) => one.scrollTop || one.scrollLeft || one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth).map((one) => ({ one, top: one.scrollTop, left: one.scrollLeft }));
  const texts = [];
  for (const node of [...nodes(document)]) {
    if (texts.length >= MOST) break;
    const { data } = node;
    if (isSeen(node)) texts.push({ node, data });
  }
  for (const { one, top, left } of places) one.scrollTo({ top, left, behavior: "instant" });
  await new Promise((done) => setTimeout(done, 300));
  const kept = texts.filter(({ node, data }) => node.isConnected && node.data === data);
  return [...new Set(kept.map(({ data }) => data.replace(/\s+/g, " ").trim().slice(0, LONGEST)))];
}
