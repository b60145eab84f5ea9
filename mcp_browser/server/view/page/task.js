/**
 * What is shown beside the browser: the agent's task, and what a person records.
 *
 * @typedef {{ text: string, status: string, ended: boolean, waits: boolean, doing: string, answer: string | null, obstacle: string | null,
 *   steps: { number: number, goal: string, actions: string[], failed: boolean }[], points: [boolean, string][],
 *   question: { text: string, choices: string[] } | null, evidence: string[] }} Task
 * @typedef {{ steps: string[], checking: string | null }} Recording
 */

import { deliver } from "./socket.js";

/** @template {HTMLElement} T @param {string} id @returns {T} */
export const at = (id) => /** @type {T} */ (document.getElementById(id));
/** @template {keyof HTMLElementTagNameMap} N @param {N} name @param {object} facts @param {(Node | string | false)[]} children */
export function make(name, facts = {}, ...children) {
  const element = Object.assign(document.createElement(name), facts);
  element.append(...children.filter((one) => one !== false));
  return element;
}

/** @param {string} id @param {(Node | string)[]} items */
const list = (id, items) => at(id).replaceChildren(...items.map((item) => make("li", {}, item)));

/** Keep the last of a list in sight while it grows. @param {HTMLElement} box @param {number} before */
function scrollOn(box, before) {
  if (box.children.length > before) box.scrollTop = box.scrollHeight;
}

/** @param {Task | null} task */
export function showTask(task) {
  at("task").hidden = !task;
  document.documentElement.classList.toggle("tasked", !!task);
  if (!task) return;
  at("task-text").textContent = task.text;
  at("task-status").textContent = task.status.replaceAll("_", " ");
  at("task-status").className = task.status;
  at("doing").textContent = task.doing;
  const steps = at("steps");
  const before = steps.children.length;
  list("steps", task.steps.map(({ goal, actions, failed }) => make("div", { className: failed ? "error" : "" }, make("b", { textContent: goal || actions[0] || "Looked at the page" }), ...actions.map((one) => make("small", { textContent: one })))));
  scrollOn(steps, before);
  at("question").hidden = !task.question;
  if (task.question && at("question-text").textContent !== task.question.text) {
    at("question-text").textContent = task.question.text;
    at("choices").replaceChildren(...task.question.choices.map((choice) => make("button", { type: "button", textContent: choice, className: "main", onclick: () => steer("answer", choice) })));
  } else if (!task.question) at("question-text").textContent = "";
  const { waits } = task;
  const isPaused = waits || task.status.startsWith("paus");
  at("steering").hidden = task.ended;
  at("pause").textContent = waits ? "Done, go on" : isPaused ? "Resume" : "Pause";
  at("pause").onclick = () => steer(isPaused ? "resume" : "pause");
  at("instruct-label").textContent = waits || (task.question && !task.question.choices.length) ? "Answer" : "Instruction";
  at("outcome").hidden = !task.ended && (!task.obstacle || !!task.question);
  at("task-answer").textContent = task.answer ?? "";
  at("obstacle").textContent = task.obstacle ?? "";
  list("points", task.points.map(([met, text]) => make("span", { className: met ? "ok" : "error", textContent: `${met ? "✓" : "✗"} ${text}` })));
  list("evidence", task.evidence);
  /** @type {HTMLElement} */ (at("evidence").parentElement).hidden = !task.evidence.length;
}

/** @param {string} what @param {string} [text] */
const steer = (what, text = "") => deliver({ type: "task", do: what, text });

at("stop").addEventListener("click", () => steer("stop"));
// No form: a chat's sandbox sends none.
function instruct() {
  const field = /** @type {HTMLInputElement} */ (at("instruction"));
  if (!field.value.trim()) return;
  steer(at("instruct-label").textContent === "Answer" ? "answer" : "tell", field.value);
  field.value = "";
}
at("instruct").querySelector("button")?.addEventListener("click", instruct);
at("instruction").addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && instruct());

/** @param {Recording | null} recording @param {boolean} may whether this person may record */
export function showRecording(recording, may) {
  at("record").hidden = !may || !!recording;
  at("recorder").hidden = at("recording").hidden = !recording;
  if (!recording) return;
  at("recorded").hidden = true;
  const steps = at("recorded-steps");
  const before = steps.children.length;
  list("recorded-steps", recording.steps.length ? recording.steps : ["What you do in the picture is listed here."]);
  scrollOn(steps, before);
  for (const button of document.querySelectorAll("[data-check]")) {
    button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.check === recording.checking));
  }
  at("check-hint").hidden = !recording.checking;
}

/** @param {{ name: string, text: string }[]} files */
export function showRecorded(files) {
  at("recorded").hidden = false;
  const parts = files.map(({ name, text }, number) => {
    const link = make("a", { textContent: "Save", download: name, href: URL.createObjectURL(new Blob([text])) });
    const details = make("details", { open: number === 0 }, make("summary", {}, make("b", { textContent: name })), make("pre", { textContent: text, tabIndex: 0 }));
    return make("div", {}, link, details);
  });
  at("files").replaceChildren(...parts);
}

for (const button of document.querySelectorAll("[data-record], [data-check]")) {
  const { record, check } = /** @type {HTMLElement} */ (button).dataset;
  button.addEventListener("click", () => deliver({ type: "record", do: record ?? check }));
}
at("close-recorded").addEventListener("click", () => (at("recorded").hidden = true));
