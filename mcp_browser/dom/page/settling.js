/** Waiting for what the last input has started. */

const FRAME_FALLBACK = 60;
const LONGEST_RESTLESS = 250;
/** The same for a page that has just come. */
const LONGEST_RESTLESS_OPENING = 100;
/** What was moving so shortly before an input was not moved by it, milliseconds, where it had been seen to change so often. */
const MOVING = 100;
const BEATS = 3;
/** Changes so far apart begin anew, milliseconds; so often must a page begin by itself to change something, within so long. */
const BURST_GAP = 300;
const BURSTS = 2;
const LONGEST_CYCLE = 15000;
/** So long it is looked whether what has begun goes on, milliseconds: timers that animate beat at each 13. */
const SHORTEST_STIRRED = 30;
const LONGEST_ANIMATION = 700;
/** Longest wait for frames of a page that has just come, milliseconds: one in a process of its own is late. */
const LONGEST_FRAMES = 2500;
/** The same where something else, too, may keep the load event from coming. */
const LONGEST_LOAD = 300;
/** A frame that takes longer than this had to wait for a script, milliseconds. */
const LATE_FRAME = 60;
/** How many such frames are waited for after something has come over the network: it is being drawn. */
const MOST_LATE_FRAMES = 4;
const SHOWING = /^(?:opacity|visibility|display|transform|translate|scale|height|width|max-height|max-width|top|left|right|bottom|clip-path|grid-template-rows|inset|content-visibility)/;

/** The next frame that is drawn. @returns {Promise<void>} */
const frameDrawn = () => new Promise((resolve) => (_hidden.call(document) ? resolve() : requestAnimationFrame(() => resolve())));

/** Wait for the next frame, or a moment where none comes; whether one came, or none will because the page is hidden. @returns {Promise<boolean>} */
function frame() {
  if (isScriptless) return frameDrawn().then(() => true);
  return new Promise((resolve) => {
    if (_hidden.call(document)) return void setTimeout(resolve, 16, true);
    const timer = setTimeout(resolve, FRAME_FALLBACK, false);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve, 0, true);
    });
  });
}

/** @param {number} delay milliseconds */
async function pause(delay) {
  if (!isScriptless) return /** @type {Promise<void>} */ (new Promise((resolve) => setTimeout(resolve, delay)));
  const end = now() + delay;
  do await frameDrawn();
  while (now() < end && !_hidden.call(document));
}

/** When the page last changed something; without an action how often since a pause, and how often it began to; whether it did as an input came. @typedef {{ at: number, beats: number, bursts: number, input: number, moving: boolean }} Movement */
/** @type {WeakMap<Node, Movement>} */
const movements = new WeakMap();
let inputs = 0;
let lastInput = -Infinity;
/** Whether an input has come whose effects were not waited for yet: what changes now may be one of them. */
let isActing = false;
/** Batches of changes since the last frame that was waited for, save those that the page makes by itself. */
let restlessness = 0;
const mover = new MutationObserver(noteMovements);
/** Whether the last input was a text typed into a field, which the field holds already. */
let hasTyped = false;

/** Whether the page goes on changing this by itself. @param {Node | null} node */
function isSelfMoved(node) {
  const known = node && movements.get(node);
  if (!known) return false;
  if (known.input !== inputs) {
    known.input = inputs;
    known.moving = known.beats >= BEATS && lastInput - known.at < MOVING;
  }
  return known.moving || known.bursts >= BURSTS;
}

/** Whether this has changed frame by frame until now: one frame shows how it goes on. @param {Node} node */
const isSteady = (node) => (movements.get(node)?.beats || 0) > 2 * BEATS;

/** Take in that something moves, or may. @param {Node} node */
function noteMovement(node) {
  const time = now();
  let known = movements.get(node);
  if (!known || time - known.at > LONGEST_CYCLE) movements.set(node, (known = { at: -Infinity, beats: 0, bursts: 0, input: inputs, moving: false }));
  isSelfMoved(node);
  const isBurst = time - known.at > BURST_GAP;
  known.at = time;
  if (isBurst) known.beats = 0;
  if (!isActing) {
    known.beats++;
    if (isBurst) known.bursts++;
  }
  return known;
}

/** @param {MutationRecord[]} records */
function noteMovements(records) {
  const targets = new Set(records.map((record) => record.target));
  for (const target of targets) noteMovement(target);
  // What is put into a place again and again is another element each time.
  for (const target of targets) if (!isSelfMoved(target) && !isSelfMoved(parentNode(target))) restlessness++;
}

/** An input comes: what moves now was not moved by it. @returns whether the page listens for the mouse's press, or for what comes with it; true where that is not known */
function beginInput() {
  noteMovements(mover.takeRecords());
  inputs++;
  hasTyped = false;
  lastInput = now();
  for (const animation of animations()) {
    const target = animation.playState === "running" && /** @type {KeyframeEffect} */ (animation.effect)?.target;
    if (target) noteMovement(target).moving = true;
  }
  isActing = true;
  return ask("input", "1") !== "0";
}

/** @param {Document | ShadowRoot} root */
const animationsIn = (root) => (root === document ? animations() : root.getAnimations());

/** What runs of animations, save transitions that show nothing: on what, and when it ends. @param {Animation[]} all */
const running = (all) =>
  all.flatMap((animation) => {
    const effect = /** @type {KeyframeEffect | null} */ (animation.effect);
    const isShown = !(animation instanceof CSSTransition) || SHOWING.test(animation.transitionProperty);
    if (animation.playState !== "running" || !effect?.target || !isShown) return [];
    const { pending } = animation;
    return { effect, pending, target: effect.target, end: Number(effect.getComputedTiming().endTime), at: Number(animation.currentTime) || 0 };
  });

/** How long what is just being animated in or out still takes, milliseconds. @param {(Document | ShadowRoot)[]} roots */
function animating(roots) {
  if (_timeline.call(document).currentTime === null) return 0;
  const passing = roots.flatMap((root) => running(animationsIn(root))).filter(({ target, end }) => end <= LONGEST_ANIMATION && !isSelfMoved(target));
  return Math.max(0, ...passing.map(({ end, at }) => end - at));
}

/** Since when the frames that the document comes with are waited for; NaN before the first look at it. */
let framesSince = NaN;

/** Whether frames of the page may still be on their way: its load event comes after theirs, and after its pictures. */
function framesComing() {
  const root = rootElement();
  if (!root || _readyState.call(document) !== "interactive") return false;
  if (!_querySelector.call(root, "iframe:not([loading=lazy])")) return false;
  framesSince ||= now();
  const loading = [..._querySelectorAll.call(root, "img, video, audio, object, embed")].some((element) => !(element instanceof HTMLImageElement && element.complete));
  return now() - framesSince < (loading ? LONGEST_LOAD : LONGEST_FRAMES);
}

const MAIN = "main,[role=main]";

/** Whether these are all the lines of a page that shows nothing: none, or before any input the empty frame of one, or what is around an empty main part. @param {Line[]} lines */
function showsNothing(lines) {
  const root = rootElement();
  if (inputs || !lines.length || !root) return !lines.length;
  const main = query(root, MAIN);
  const isAround = (/** @type {Element | null} */ node) => !!main && !!node && isSeen(main) && !holds(main, node);
  return lines.every(({ role, name, node }) => (role === "clickable" && !name) || isAround(node));
}

const AWAITING = "[aria-busy=true], progress:not([value]), [role=progressbar]:not([aria-valuenow]), svg :is(animate, animateTransform)[repeatCount=indefinite]";

/** Whether a person would see that the page waits: its main part is empty, or a sign or endless movement is in view. Else `settle` waits no longer for answers. */
function isAwaiting() {
  const root = rootElement();
  const main = (root && query(root, MAIN)) || body();
  if (!(main instanceof HTMLElement) || !tidy(_innerText.call(main))) return true;
  const moving = (/** @type {Document | ShadowRoot} */ inner) => animationsIn(inner).filter(({ effect }) => effect?.getComputedTiming().endTime === Infinity);
  const signs = allRoots().flatMap((inner) => [...queryAll(inner, AWAITING), ...moving(inner).map(({ effect }) => /** @type {KeyframeEffect} */ (effect).target)]);
  const isShown = signs.map((sign) => sign && (closest(sign, "svg") || sign)).some((sign) => sign && isSeen(sign) && isInView(rectOf(sign)));
  if (!isShown) ask("waited");
  return isShown;
}

/** The document and the shadow roots in it that are known. @returns {(Document | ShadowRoot)[]} */
function allRoots() {
  for (const ref of rootList) if (!ref.deref()) rootList.delete(ref);
  return [document, ...Array.from(rootList, (ref) => ref.deref()).flatMap((root) => (root && isConnected(root) ? [root] : []))];
}

/** Whether this is a frame that is met for the first time, and which had loaded and got its last answer some time ago. */
function hasRested() {
  if (window === top || lastReading || inputs) return false;
  const { loadEventEnd = 0 } = /** @type {PerformanceNavigationTiming | undefined} */ (performance.getEntriesByType("navigation")[0]) || {};
  if (!loadEventEnd) return false;
  const answers = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"));
  return now() - Math.max(loadEventEnd, ...answers.map(({ responseEnd }) => responseEnd)) > LONGEST_RESTLESS_OPENING && !isStirred();
}

/** Whether the page has changed nothing since an input and has nothing to do, so that no frame has anything to show. @param {(Document | ShadowRoot)[]} roots */
async function isDone(roots) {
  await pause(0);
  return !restlessness && !framesDue() && !pendingTimers().count && !animating(roots) && !framesComing();
}

/** Wait until the page has done what the last input started. @param {number} limit milliseconds @param {boolean} [came] whether scripts or answers have come, which take a moment to be drawn */
async function settle(limit, came = false) {
  const start = now();
  const roots = allRoots();
  noteMovements(mover.takeRecords());
  isActing = true;
  for (const root of roots) mover.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
  const longestRestless = inputs ? LONGEST_RESTLESS : LONGEST_RESTLESS_OPENING;
  let state = { waited: 0, unanswered: 0 };
  try {
    if (isScriptless && _hidden.call(document)) return state;
    let restless = start;
    let stirred = came || isStirred();
    let late = came ? MOST_LATE_FRAMES : 0;
    const typed = hasTyped;
    hasTyped = false;
    if ((hasRested() || (typed && !stirred)) && (await isDone(roots))) return state;
    for (;;) {
      restlessness = 0;
      const asked = now();
      await frame();
      const isLate = now() - asked > LATE_FRAME;
      const waited = now() - start;
      const pending = pendingTimers();
      const moving = animating(roots);
      const restlessFor = now() - restless;
      state = { waited: Math.round(waited), unanswered: pending.unanswered };
      if (waited >= limit) return state;
      if (pending.count) {
        await pause(Math.min(pending.left + 1, limit - waited, 100));
        restless = now();
        continue;
      }
      if (moving > 0) {
        await pause(Math.min(moving, limit - waited));
        continue;
      }
      if (restlessness && restlessFor < longestRestless) {
        stirred = true;
        continue;
      }
      if (framesComing() || (isLate && late-- > 0)) continue;
      if (stirred) {
        // What a component has drawn in one frame it often begins to animate in the next, or at a timer's next beat.
        stirred = waited < SHORTEST_STIRRED;
        continue;
      }
      return state;
    }
  } finally {
    ask("settled");
    isActing = false;
  }
}

const MOST_PRESSED = 2;

/** Let the frames go by that the page asked for as a button went down: some listen for its release only then. @param {number} x @param {number} y where the mouse is */
async function pressed(x, y) {
  const hit = at(x, y);
  // What a frame has asked for is not known here.
  if (isFrame(hit)) await frame();
  else for (let i = 0; i < MOST_PRESSED && framesDue(); i++) await frame();
  return true;
}
