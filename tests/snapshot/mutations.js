/**
 * Changes a page as scripts of web sites do, told by numbers, so that a property test can draw them at random.
 *
 * A step is [kind, where, what]: `where` picks an element among all there are (open and closed shadow trees and
 * same-site frames included), `what` picks the variant. The same steps on the same page always give the same page.
 */
(() => {
  const roots = [document.getElementById("stage")];
  const serials = new WeakMap();
  let serial = 0;
  let made = 0;

  /** Every element that a step may touch, in document order, those within shadow trees and frames included. */
  const all = () => {
    const found = [];
    const enter = (root) => {
      found.push(root);
      for (const element of root.querySelectorAll("*")) found.push(element);
    };
    for (let i = roots.length - 1; i > 0; i--) if (!connected(roots[i])) roots.splice(i, 1);
    roots.forEach(enter);
    return found;
  };

  const connected = (root) => {
    for (let node = root; node; ) {
      if (!node.isConnected) return false;
      const view = node.ownerDocument.defaultView;
      if (!view) return false;
      node = view === window ? null : view.frameElement;
    }
    return true;
  };

  const pick = (list, number) => list[number % list.length];

  const word = () => `${pick(["Apple", "Basket", "Cart", "Door", "Engine"], made)} ${made++}`;

  /** New content, as HTML or, where HTML cannot say it, as a function that finishes the element. */
  const kinds = [
    () => `<button>${word()}</button>`,
    () => `<a href="/to/${made}">${word()}</a>`,
    () => `<p>${word()} and <b>${word()}</b> text</p>`,
    () => `<label>${word()} <input value="${made}"></label>`,
    () => `<label><input type="checkbox"> ${word()}</label>`,
    () => `<ul><li>${word()}</li><li><a href="#">${word()}</a></li></ul>`,
    () => `<h2>${word()}</h2>`,
    () => `<select aria-label="${word()}"><option>${word()}</option><option>${word()}</option></select>`,
    () => `<table><tr><th>${word()}</th><th>${word()}</th></tr><tr><td>${word()}</td><td>${word()}</td></tr></table>`,
    () => `<details><summary>${word()}</summary><p>${word()}</p></details>`,
    () => `<section aria-label="${word()}"><p>${word()}</p><button>${word()}</button></section>`,
    () => `<div>${word()}</div>`,
    () => `<div role="tab" tabindex="0">${word()}</div>`,
    () => `<img alt="${word()}" width="20" height="20" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">`,
    () => `<span>${word()}</span>`,
    () => `<textarea aria-label="${word()}">${word()}</textarea>`,
  ];

  const texts = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) if (walker.currentNode.data.trim()) found.push(walker.currentNode);
    return found;
  };

  const write = (at, what, text) => {
    const found = texts(at);
    if (found.length) pick(found, what).data = text;
  };

  const inside = (element) => (element.closest?.("select,textarea,table,ul,svg") ?? element);

  const steps = {
    insertFirst: (at, what) => inside(at).insertAdjacentHTML(inside(at) === roots[0] ? "afterbegin" : "beforebegin", pick(kinds, what)()),
    insertLast: (at, what) => inside(at).insertAdjacentHTML(inside(at) === roots[0] ? "beforeend" : "afterend", pick(kinds, what)()),
    insertWithin: (at, what) => {
      const room = at.closest?.("div,section,p,li,td") ?? roots[0];
      room.insertAdjacentHTML(what % 2 ? "afterbegin" : "beforeend", pick(kinds, what)());
    },
    remove: (at) => at !== roots[0] && at.remove(),
    move: (at, what) => {
      const to = pick(roots[0].children, what);
      if (at !== roots[0] && to && at.ownerDocument === document && !at.contains(to)) to.before(at);
    },
    swap: (at) => at !== roots[0] && at.nextElementSibling?.after(at),
    text: (at, what) => write(at, what, word()),
    clearText: (at, what) => write(at, what, ""),
    attribute: (at, what) => {
      const names = "aria-label title placeholder disabled aria-expanded aria-expanded href role aria-checked data-nothing class";
      const values = [word(), word(), word(), "", "false", "true", `/other/${made}`, "button", "true", String(made), `c${made}`];
      const [name, value] = [pick(names.split(" "), what), pick(values, what)];
      if (at.setAttribute) at.setAttribute(name, value);
    },
    dropAttribute: (at, what) => {
      if (at.attributes?.length) at.removeAttribute(pick(at.attributes, what).name);
    },
    state: (at, what) => {
      const fields = [...(at.querySelectorAll?.("input,select,textarea,details") ?? [])];
      const field = fields.length ? pick(fields, what) : at;
      if (field.matches?.("[type=checkbox]")) field.checked = !field.checked;
      else if (field.matches?.("input,textarea")) field.value = word();
      else if (field.matches?.("select")) field.selectedIndex = what % field.options.length;
      else if (field.matches?.("details")) field.open = !field.open;
    },
    hide: (at, what) => {
      if (at === roots[0] || !at.style) return;
      const [name, value] = pick([["display", "none"], ["visibility", "hidden"], ["opacity", "0"], ["", ""]], what);
      if (name) at.style[name] = value;
      else at.hidden = true;
    },
    show: (at) => {
      for (const element of [at, ...(at.querySelectorAll?.("*") ?? [])]) {
        element.hidden = false;
        element.style?.removeProperty("display");
        element.style?.removeProperty("visibility");
        element.style?.removeProperty("opacity");
      }
    },
    rerender: (at) => {
      const element = at.closest?.("section,div,ul,p");
      if (element && element !== roots[0]) element.outerHTML = element.outerHTML;
    },
    rewrite: (at) => {
      for (const text of texts(at)) text.data = text.data;
      for (const name of at.getAttributeNames?.() ?? []) at.setAttribute(name, at.getAttribute(name));
    },
    shadow: (at, what) => {
      const host = document.createElement("div");
      const root = host.attachShadow({ mode: what % 2 ? "open" : "closed" });
      root.innerHTML = `<div>${pick(kinds, what)()}</div><slot></slot>`;
      if (what % 3) host.innerHTML = pick(kinds, what + 1)();
      pick(roots[0].children, what).before(host);
      roots.push(root.firstChild);
    },
    frame: (at, what) => {
      const frame = document.createElement("iframe");
      pick(roots[0].children, what).before(frame);
      const inner = frame.contentDocument;
      inner.body.innerHTML = `<div>${pick(kinds, what)()}</div>`;
      roots.push(inner.body.firstChild);
    },
    reloadFrame: (at, what) => {
      const frames = [...roots[0].querySelectorAll("iframe")];
      if (!frames.length) return;
      const body = pick(frames, what).contentDocument.body;
      body.innerHTML = body.innerHTML;
      if (body.firstElementChild) roots.push(body.firstElementChild);
    },
  };
  const names = Object.keys(steps);

  Object.assign(window, {
    stepNames: names,
    /** Carry out the steps, one after another. */
    mutate: (list) => {
      for (const [kind, where, what] of list) {
        const step = steps[pick(names, kind)];
        const target = pick(all(), where);
        if (target && roots[0].children.length) step(target, what);
        else roots[0].insertAdjacentHTML("beforeend", pick(kinds, what)());
      }
    },
    /** A number that stands for this very element, however often and from wherever it is asked for. */
    serialOf: (element) => {
      if (!serials.has(element)) serials.set(element, ++serial);
      return serials.get(element);
    },
  });
})();
