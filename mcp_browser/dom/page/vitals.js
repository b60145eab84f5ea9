/** How fast the page is for people: what the browser has measured since the document began. */

/** How many shifts, elements, tasks and requests of each kind are reported, the worst first. */
const MOST_OF_A_KIND = 5;
const LONG_TASK = 50;
/** Events shorter than this are not looked at, milliseconds; the least that the browser takes. */
const SHORTEST_EVENT = 16;

/** How long the next picture is waited for, milliseconds. */
const LONGEST_PICTURE = 500;

/** The entries of a kind that the browser has kept. @param {string} type @returns {any[]} */
function entriesOf(type) {
  if (!PerformanceObserver.supportedEntryTypes.includes(type)) return [];
  const observer = new PerformanceObserver(() => undefined);
  observer.observe(/** @type {any} */ ({ type, buffered: true, durationThreshold: SHORTEST_EVENT }));
  const entries = observer.takeRecords();
  observer.disconnect();
  return entries;
}

/** @param {Node | null | undefined} node */
function lineOf(node) {
  const element = node && !isElement(node) ? parentNode(node) : node;
  return isElement(element) && isConnected(element) ? wire(describe(element), false) : null;
}

/** The layout shifts that count, see https://web.dev/articles/cls: the worst window of at most five seconds, whose shifts follow each other within one. @param {any[]} shifts */
function worstWindow(shifts) {
  let worst = { value: 0, shifts: /** @type {any[]} */ ([]) };
  let current = /** @type {any[]} */ ([]);
  for (const shift of shifts) {
    if (shift.hadRecentInput) continue;
    const last = current[current.length - 1];
    if (last && (shift.startTime - last.startTime > 1000 || shift.startTime - current[0].startTime > 5000)) current = [];
    current.push(shift);
    const value = current.reduce((sum, one) => sum + one.value, 0);
    if (value > worst.value) worst = { value, shifts: [...current] };
  }
  return worst;
}

async function vitals() {
  // What has just happened is measured with the next picture; a page that is not shown has none.
  await new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, LONGEST_PICTURE);
  });
  const [start] = /** @type {any[]} */ (performance.getEntriesByType("navigation"));
  const [paint] = entriesOf("paint").filter((entry) => entry.name === "first-contentful-paint");
  const largest = entriesOf("largest-contentful-paint").at(-1);
  const shifts = worstWindow(entriesOf("layout-shift"));
  const worst = shifts.shifts.sort((a, b) => b.value - a.value).slice(0, MOST_OF_A_KIND);
  const events = [...entriesOf("first-input"), ...entriesOf("event")].filter((event) => event.interactionId).sort((a, b) => b.duration - a.duration);
  // An interaction is as long as its longest event.
  const longest = events.filter((event, i) => i === events.findIndex((other) => other.interactionId === event.interactionId));
  const tasks = entriesOf("longtask").sort((a, b) => b.duration - a.duration);
  const resources = /** @type {any[]} */ (performance.getEntriesByType("resource"));
  const cached = (/** @type {any} */ entry) => entry.deliveryType === "cache" || (entry.transferSize === 0 && entry.decodedBodySize > 0);
  const described = (/** @type {any} */ entry) => ({ url: entry.name, ms: entry.duration, bytes: entry.transferSize, cached: cached(entry) });
  const bySize = [...resources].sort((a, b) => b.transferSize - a.transferSize);
  const times = { ttfb: start?.responseStart ?? null, loaded: start?.loadEventEnd ?? null, fcp: paint?.startTime ?? null };
  return {
    doc: documentKey,
    ...times,
    lcp: largest ? { ms: largest.startTime, url: largest.url, node: lineOf(largest.element) } : null,
    cls: shifts.value,
    shifts: worst.map((shift) => ({ value: shift.value, nodes: shift.sources.map((/** @type {any} */ source) => lineOf(source.node)).filter(Boolean) })),
    inp: longest.length ? longest[0].duration : null,
    interactions: longest.slice(0, MOST_OF_A_KIND).map(({ name, duration, startTime, processingStart, processingEnd, target }) => {
      return { type: name, ms: duration, delay: processingStart - startTime, work: processingEnd - processingStart, node: lineOf(target) };
    }),
    blocked: tasks.reduce((sum, task) => sum + task.duration - LONG_TASK, 0),
    tasks: tasks.slice(0, MOST_OF_A_KIND).map((task) => ({ ms: task.duration, at: task.startTime })),
    requests: resources.length,
    bytes: resources.reduce((sum, entry) => sum + entry.transferSize, start?.transferSize ?? 0),
    blocking: resources.filter((entry) => entry.renderBlockingStatus === "blocking").map(described).slice(0, MOST_OF_A_KIND),
    largest: bySize.slice(0, MOST_OF_A_KIND).map(described),
  };
}
