/**
 * Counts what the page script asks of the browser: to be run where the page script will be, before it.
 *
 * Gives a function that says how often each was asked since it was last called.
 */
() => {
  const counts = new Map();
  const count = (name) => counts.set(name, (counts.get(name) || 0) + 1);
  const owners = [Node, Element, HTMLElement, Document, DocumentFragment, CharacterData, HTMLInputElement, Range];
  for (const { prototype } of owners) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const { value, get } = property;
      if (name === "constructor" || !property.configurable) continue;
      if (typeof value === "function") {
        const counted = { [name](...args) { count(name); return Reflect.apply(value, this, args); } }[name];
        Object.defineProperty(prototype, name, { ...property, value: counted });
      } else if (get) {
        const counted = { get [name]() { count(name); return Reflect.apply(get, this, []); } };
        Object.defineProperty(prototype, name, { ...property, get: Object.getOwnPropertyDescriptor(counted, name).get });
      }
    }
  }
  const style = globalThis.getComputedStyle;
  globalThis.getComputedStyle = (...args) => {
    count("getComputedStyle");
    return style(...args);
  };
  return () => {
    const given = Object.fromEntries(counts);
    counts.clear();
    return given;
  };
}
