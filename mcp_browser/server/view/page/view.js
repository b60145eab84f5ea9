/**
 * The page of the live view. One connection reports the sessions and takes what a person does.
 *
 * @typedef {{ id: string, title: string, address: string, calls: number, busy: boolean, taken: string | null }} SessionLine
 * @typedef {{ id: number, title: string, address: string, current: boolean }} TabLine
 * @typedef {{ id: string, tabs: TabLine[], dialog: { text: string, prompt: boolean, default: string } | null, holder: string | null,
 *   mine: boolean, may_take: boolean, asked: string | null, recording: import("./task.js").Recording | null }} Session
 * @typedef {{ number: number, tool: string, arguments: Record<string, unknown>, started: number, state: string,
 *   seconds: number | null, result: string, picture: boolean }} Call
 * @typedef {{ type: "sessions", sessions: SessionLine[] } | { type: "session", session: Session | null }
 *   | { type: "call", call: Call } | { type: "told", text: string } | { type: "task", task: import("./task.js").Task | null }
 *   | { type: "recorded", files: { name: string, text: string }[] }} Message
 */

import { VIEWER, addressOf, connect, deliver, shows, wanted } from "./socket.js";
import { at, make, showRecorded, showRecording, showTask } from "./task.js";

const MOST_CALLS = 200;

const state = at("state");
const picker = /** @type {HTMLSelectElement} */ (at("sessions"));
const canvas = /** @type {HTMLCanvasElement} */ (at("live"));
const past = /** @type {HTMLImageElement} */ (at("past"));
const keys = /** @type {HTMLTextAreaElement} */ (at("keys"));
const line = /** @type {HTMLInputElement} */ (at("line"));
const address = /** @type {HTMLInputElement} */ (at("address"));
const take = /** @type {HTMLButtonElement} */ (at("take"));
const note = /** @type {HTMLInputElement} */ (at("note"));
const answer = /** @type {HTMLInputElement} */ (at("answer"));

/** @type {SessionLine[]} */
let sessions = [];
let chosen = wanted();
/** @type {Session | null} */
let session = null;
let watching = "";
/** @type {Map<number, { call: Call, item: HTMLElement }>} */
const calls = new Map();
let view = { width: 1280, height: 720 };
/** @type {number | null} */
let shown = null; // The call whose picture is shown; null: live

// -- messages

/** @param {string} text @param {boolean} bad */
function say(text, bad = false) {
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("lost", bad);
}

/** @param {Message} message */
function takeIn(message) {
  if (message.type === "sessions") showSessions(message.sessions);
  else if (message.type === "session") showSession(message.session);
  else if (message.type === "call") showCall(message.call);
  else if (message.type === "task") showTask(message.task);
  else if (message.type === "recorded") showRecorded(message.files);
  else say(message.text || standing(), !!message.text);
}

// -- sessions and tabs

/** @param {SessionLine[]} lines */
function showSessions(lines) {
  sessions = lines;
  const options = lines.map((one) => {
    const what = one.title || one.address || "no page yet";
    return new Option(`${what}${one.busy ? " · working" : ""}${one.taken ? " · taken over" : ""}`, one.id);
  });
  picker.replaceChildren(...options);
  at("empty").hidden = lines.length > 0;
  /** @type {HTMLElement} */ (picker.parentElement).hidden = lines.length < 2;
  const there = lines.find((one) => one.id === chosen) ?? lines[0];
  if (there) picker.value = there.id;
  watch(there?.id ?? "");
}

/** @param {string} id */
function watch(id) {
  if (!sessions.some((one) => one.id === id) || id === watching) return;
  chosen = watching = id;
  shows(id);
  calls.clear();
  at("calls").replaceChildren();
  showPast(null);
  canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
  deliver({ type: "watch", session: id, viewer: VIEWER });
}

picker.addEventListener("change", () => watch(picker.value));

/** @param {Session | null} now */
function showSession(now) {
  const before = session;
  session = now;
  const current = now?.tabs.find((tab) => tab.current);
  const mine = !!now?.mine;
  const tabs = now && (now.tabs.length > 1 || mine) ? now.tabs : [];
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.tab;
  at("tabs").replaceChildren(
    ...tabs.map((tab) => {
      const facts = { textContent: tab.title || tab.address, title: tab.address, disabled: !mine, ariaCurrent: tab.current ? "page" : null };
      const button = make("button", { type: "button", ...facts, onclick: () => deliver({ type: "tab", id: tab.id }) });
      button.dataset.tab = String(tab.id);
      return make("li", {}, button);
    }),
  );
  if (focused) /** @type {HTMLElement | null} */ (document.querySelector(`[data-tab="${focused}"]`))?.focus();
  if (document.activeElement !== address || !mine) address.value = current?.address ?? "";
  canvas.setAttribute("aria-label", current ? `Live picture of ${current.title || current.address}` : "No picture yet");
  address.readOnly = keys.disabled = !mine;
  at("browser").classList.toggle("taken", mine);
  for (const part of document.querySelectorAll(".controls")) /** @type {HTMLElement} */ (part).hidden = !mine;
  take.hidden = !now?.may_take || mine;
  take.disabled = !!now?.holder;
  showRecording(now?.recording ?? null, !!now?.may_take && (mine || !now.holder));
  at("back").hidden = !mine;
  at("dialog").hidden = !now?.dialog;
  at("asks").textContent = now?.dialog?.text ?? "";
  answer.hidden = !now?.dialog?.prompt;
  if (mine && now.dialog?.prompt && now.dialog.text !== before?.dialog?.text) {
    answer.value = now.dialog.default;
    answer.select();
  }
  // What is typed next is for the page again.
  if (mine && before?.dialog && !now.dialog && isNowhere()) keys.focus();
  if (!current) canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
  if (before?.mine && !mine && isNowhere()) take.focus();
  if (mine && !before?.mine) {
    showPast(null);
    say(standing());
    keys.focus();
  } else if (now?.asked && !mine) say(`You are asked: ${now.asked}`);
  else if (now?.holder && !mine) say(`${now.holder}.`);
  else if (!now && before) say("The session has ended.");
  else if (!mine && before?.holder) say("The browser was handed back.");
  else if (!mine && before?.asked) say(standing());
  else if (mine && !now.tabs.length) say("The browser has ended. Open an address: that starts it again.", true);
  else if (mine && !before?.tabs.length) say(standing());
}

/** Whether what had the focus has gone, or is about to lose it since it is hidden. */
const isNowhere = () => document.activeElement === document.body || !document.activeElement?.checkVisibility();

/** How things stand. */
const standing = () => (session?.mine ? "You have the browser; the model's calls wait." : "Connected.");

// -- calls and the pictures after them

/** @param {Call} call */
function showCall(call) {
  const known = calls.get(call.number);
  const item = known?.item ?? make("li");
  const details = make("details", { open: !!item.querySelector("details")?.open }, summaryOf(call));
  details.addEventListener("toggle", () => details.open && details.append(...(details.children[1] ? [] : [detailOf(call)])));
  const focused = item.contains(document.activeElement);
  item.replaceChildren(details);
  if (focused) details.querySelector("summary")?.focus();
  if (!known) at("calls").prepend(item);
  calls.set(call.number, { call, item });
  if (calls.size > MOST_CALLS) {
    const oldest = Math.min(...calls.keys());
    calls.get(oldest)?.item.remove();
    calls.delete(oldest);
  }
  at("count").textContent = String(calls.size);
  if (call.picture || !known) showLine();
}

/** @param {Call} call */
function summaryOf(call) {
  const [mark, words] = { ok: ["✓", "succeeded"], error: ["✗", "failed"], running: ["…", "running"] }[call.state] ?? ["–", "cancelled"];
  return make(
    "summary",
    {},
    make("span", { className: call.state, textContent: mark, ariaLabel: words, role: "img" }),
    make("b", {}, call.tool),
    make("small", {}, words === "running" ? words : `${call.seconds} s`),
    make("small", {}, timeOf(call)),
  );
}

/** @param {Call} call */
function detailOf(call) {
  const pairs = Object.entries(call.arguments).flatMap(([name, value]) => [
    make("dt", {}, name),
    make("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
  ]);
  return make(
    "div",
    { className: "detail" },
    pairs.length > 0 && make("dl", {}, ...pairs),
    !!call.result && make("pre", { tabIndex: 0, ariaLabel: `Result of ${call.tool}`, role: "region" }, call.result),
    call.picture && make("button", { type: "button", onclick: () => showPast(call.number) }, "Show the page after it"),
  );
}

/** @param {Call} call */
const timeOf = (call) => new Date(call.started * 1000).toLocaleTimeString();

const pictured = () => [...calls.values()].map(({ call }) => call).filter((call) => call.picture).sort((a, b) => a.number - b.number);

/** Show which pictures there are, and which one is shown. */
function showLine() {
  const there = pictured();
  const place = there.findIndex((call) => call.number === shown);
  line.disabled = !there.length;
  line.max = String(there.length);
  line.value = String(place < 0 ? there.length : place);
  const call = there[place];
  const label = call ? `After ${call.tool}, ${timeOf(call)}` : there.length ? `${there.length} picture${there.length > 1 ? "s" : ""}` : "No pictures yet";
  at("when").textContent = label;
  line.setAttribute("aria-valuetext", call ? label : "Live");
  at("now").setAttribute("aria-pressed", String(!call));
}

/** @param {number | null} number The call whose picture to show; null: the live one. */
function showPast(number) {
  shown = number;
  past.hidden = number === null;
  canvas.hidden = number !== null;
  if (number !== null) {
    addressOf(watching, number).then((found) => shown === number && (past.src = found));
    past.alt = `The page after ${calls.get(number)?.call.tool}`;
  }
  for (const [other, { item }] of calls) item.classList.toggle("shown", other === number);
  showLine();
}

line.addEventListener("input", () => showPast(pictured()[Number(line.value)]?.number ?? null));
at("now").addEventListener("click", () => showPast(null));

// -- the live picture

/** @param {number} width @param {number} height @param {Blob} jpeg */
async function draw(width, height, jpeg) {
  const bitmap = await createImageBitmap(jpeg).catch(() => null);
  if (bitmap) {
    view = { width, height };
    if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
      Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
    }
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
    bitmap.close();
    canvas.dataset.frames = String(Number(canvas.dataset.frames ?? 0) + 1);
  }
  deliver({ type: "drawn" });
}

// -- what a person does who has taken over

take.addEventListener("click", () => deliver({ type: "take" }));

/**
 * A person has pressed a button of a part of the page, or Enter in its field. There are no forms: the sandboxes of
 * clients let none be sent.
 *
 * @param {string} id @param {(button: HTMLElement | null) => void} act
 */
function whenSent(id, act) {
  const part = at(id);
  part.addEventListener("click", ({ target }) => {
    const button = /** @type {HTMLElement} */ (target).closest("button");
    if (button) act(button);
  });
  part.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    act(part.querySelector("button.main"));
  });
}

whenSent("back", () => {
  deliver({ type: "hand_back", note: note.value });
  note.value = "";
});
whenSent("go", () => {
  if (session?.mine) deliver({ type: "go", address: address.value });
  keys.focus();
});
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => deliver({ type: "go", step: /** @type {HTMLElement} */ (button).dataset.do }));
}
whenSent("dialog", (button) => {
  deliver({ type: "dialog", accept: button?.dataset.accept === "yes", text: session?.dialog?.prompt ? answer.value : null });
  answer.value = "";
});

const BUTTONS = /** @type {const} */ (["left", "middle", "right"]);

/** The point of the view under the mouse, CSS pixels. @param {MouseEvent} event */
function point(event) {
  const box = canvas.getBoundingClientRect();
  // The picture is fitted into the box.
  const scale = Math.min(box.width / view.width, box.height / view.height);
  const x = (event.clientX - box.left - (box.width - view.width * scale) / 2) / scale;
  const y = (event.clientY - box.top - (box.height - view.height * scale) / 2) / scale;
  return { x: Math.min(Math.max(x, 0), view.width - 1), y: Math.min(Math.max(y, 0), view.height - 1) };
}

/** @type {{ x: number, y: number } | null} */
let moved = null;
let pressed = { at: 0, x: 0, y: 0, count: 0 };

/** How many clicks in a row this one is, which pointer events do not have. @param {PointerEvent} event */
function clicksOf(event) {
  if (event.type !== "pointerdown") return pressed.count;
  const near = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 5 && event.timeStamp - pressed.at < 500;
  pressed = { at: event.timeStamp, x: event.clientX, y: event.clientY, count: near ? (pressed.count % 3) + 1 : 1 };
  return pressed.count;
}

canvas.addEventListener("pointermove", (event) => {
  if (!session?.mine) return;
  // One message for each picture of this screen, whatever the mouse sends.
  if (!moved) requestAnimationFrame(() => (deliver({ type: "mouse", event: "move", ...moved }), (moved = null)));
  moved = point(event);
});
canvas.addEventListener("pointerdown", (event) => {
  const button = BUTTONS[event.button];
  if (!session?.mine || !button) return;
  event.preventDefault();
  canvas.setPointerCapture(event.pointerId);
  keys.focus({ preventScroll: true });
  deliver({ type: "mouse", event: "down", ...point(event), button, clicks: clicksOf(event), modifiers: modifiersOf(event) });
});
canvas.addEventListener("pointerup", (event) => {
  const button = BUTTONS[event.button];
  if (!session?.mine || !button) return;
  deliver({ type: "mouse", event: "up", ...point(event), button, clicks: clicksOf(event), modifiers: modifiersOf(event) });
});
canvas.addEventListener("contextmenu", (event) => session?.mine && event.preventDefault());
canvas.addEventListener(
  "wheel",
  (event) => {
    if (!session?.mine) return;
    event.preventDefault();
    const unit = [1, 16, view.height][event.deltaMode] ?? 1;
    deliver({ type: "mouse", event: "wheel", ...point(event), dx: event.deltaX * unit, dy: event.deltaY * unit, modifiers: modifiersOf(event) });
  },
  { passive: false },
);

const isMac = navigator.platform.startsWith("Mac");
const MOVING = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Fn", "Process", "Unidentified", "Dead"]);

/** @param {MouseEvent | KeyboardEvent} event */
function modifiersOf(event) {
  if (event.getModifierState("AltGraph")) return [];
  const found = [];
  if (event.ctrlKey) found.push("Control");
  if (event.altKey) found.push("Alt");
  if (event.metaKey) found.push(isMac ? "ControlOrMeta" : "Meta");
  if (event.shiftKey) found.push("Shift");
  return found;
}

keys.addEventListener("keydown", (event) => {
  if (event.isComposing || MOVING.has(event.key)) return;
  if (event.key === "F6" && event.ctrlKey) {
    event.preventDefault();
    note.focus();
    return;
  }
  const held = modifiersOf(event);
  // What is pasted comes as text: the page has a clipboard of its own.
  if (event.key.toLowerCase() === "v" && (held.includes("Control") || held.includes("ControlOrMeta"))) return;
  event.preventDefault();
  // A letter says by itself whether Shift is held; on a Mac, so does Alt.
  const letter = event.key.length === 1 && !held.some((one) => one !== "Shift" && !(isMac && one === "Alt"));
  deliver({ type: "keys", keys: letter ? event.key : [...held, event.key].join("+") });
});
// Of input methods and of keyboards on screens, which send no keys.
keys.addEventListener("input", (event) => {
  if (/** @type {InputEvent} */ (event).isComposing) return;
  typeText(keys.value);
  keys.value = "";
});
keys.addEventListener("compositionend", () => (typeText(keys.value), (keys.value = "")));
keys.addEventListener("paste", (event) => {
  event.preventDefault();
  typeText(event.clipboardData?.getData("text/plain") ?? "");
});

/** @param {string} text */
function typeText(text) {
  if (text) deliver({ type: "text", text });
}

connect({
  opened() {
    watching = "";
    say("Connected.");
    watch(chosen);
  },
  received: takeIn,
  pictured: draw,
  lost: (text) => say(text, true),
});
