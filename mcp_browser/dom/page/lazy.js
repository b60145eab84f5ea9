/**
 * Parts that the browser lays out only when they come near the view (`content-visibility: auto`). To ask anything of
 * what is in them makes it lay out that part for each question, a thousand times the cost; so all of them are laid
 * out once for as long as a reading goes on, which is too short for anybody to see.
 */

/** A page of fewer elements is read as it is. */
const LEAST_LAZY = 2000;

/** Have all parts laid out. @returns {() => void} puts back what was before */
function wakeLazy() {
  const { lazy } = addedTo(document);
  const asleep = lazy.length ? `:is(${lazy.join(",")}):not([style*="content-visibility"])` : "";
  if (!asleep || document.getElementsByTagName("*").length < LEAST_LAZY || !queryAll(document, asleep).length) return () => {};
  const kept = [..._adoptedStyleSheets.call(document)];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${asleep} { content-visibility: visible !important }`);
  const [left, top] = [scrollX, scrollY];
  // What is in the view moves where parts before it turn out higher or lower than was guessed.
  const anchor = /** @type {Element | null} */ (_elementFromPoint.call(document, innerWidth / 2, innerHeight / 2));
  const before = anchor ? rectOf(anchor).top : 0;
  document.adoptedStyleSheets = [...kept, sheet];
  walk.shift = anchor ? rectOf(anchor).top - before : 0;
  return () => {
    document.adoptedStyleSheets = kept;
    if (scrollX !== left || scrollY !== top) scrollTo({ left, top, behavior: "instant" });
  };
}
