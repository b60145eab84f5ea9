/**
 * The connection of the view where it is an MCP App: messages to the window around it, whose client calls the
 * server's tools. https://github.com/modelcontextprotocol/ext-apps, revision 2026-01-26.
 */

/**
 * What a tool gives back, as far as it is read here.
 *
 * @typedef {{ type: string, text?: string, data?: string, mimeType?: string }} Content
 * @typedef {{ content: Content[], isError?: boolean, _meta?: Record<string, unknown> }} ToolResult
 * @typedef {{ theme?: "light" | "dark", displayMode?: string, availableDisplayModes?: string[],
 *   styles?: { variables?: Record<string, string> }, toolInfo?: { tool?: { name?: string } } }} HostContext
 * @typedef {{ jsonrpc: "2.0", id?: number, method?: string, params?: any, result?: any, error?: { message: string } }} Message
 */

const REVISION = "2026-01-26";
const SHOW = "show_browser";
const EXCHANGE = "exchange_view";
const KEY = "mcp-browser/view"; // Where a result has what lets this page in
const SESSION = "mcp-browser/session"; // Where it has the handle of a new session
const SHOWN_FOR_MS = 10_000; // How long a client may take to send what the page is shown for; not all do
const ANSWER_MS = 60_000; // How long it may take to answer a question for what is new, which waits for 5 s
const LEAVING_MS = 1500; // How long this page may take to end
const MOST_SENT = 200; // How many messages of the person one call takes
const PAUSE_MS = 100; // Between two questions for what is new
const AGAIN_MS = 2000;

export const VIEWER = crypto.getRandomValues(new Uint32Array(4)).join("-");

const root = document.documentElement;
const enlarge = /** @type {HTMLButtonElement} */ (document.getElementById("enlarge"));
/** @type {Map<number, { done: (result: any) => void, failed: (error: Error) => void, limit?: number }>} */
const questions = new Map();
let asked = 0;
/** @type {string | null} */
let key = null;
/** Names the session in calls, where there are several. @type {{ session?: unknown }} */
let named = {};
/** @type {PromiseWithResolvers<ToolResult>} */
const result = Promise.withResolvers();
/** @type {PromiseWithResolvers<void>} */
const input = Promise.withResolvers();
let begun = false;
let ended = false;
let anew = true; // Whether to ask for everything again: answers may have been lost

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {Omit<Message, "jsonrpc">} message */
const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

/** @param {string} method @param {object} params @param {number} [ms] How long to wait for the answer. @returns {Promise<any>} */
function ask(method, params, ms) {
  const id = ++asked;
  return new Promise((done, failed) => {
    const limit = ms && setTimeout(() => settle({ id, error: { message: "no answer" } }), ms);
    questions.set(id, { done, failed, limit });
    post({ id, method, params });
  });
}

/** @param {Omit<Message, "jsonrpc">} answer */
function settle({ id, result, error }) {
  const question = questions.get(Number(id));
  questions.delete(Number(id));
  clearTimeout(question?.limit);
  if (error) question?.failed(new Error(error.message));
  else question?.done(result);
}

/** @param {string} name @param {object} given @param {number} [ms] @returns {Promise<ToolResult>} */
const call = (name, given = {}, ms) => ask("tools/call", { name, arguments: { ...given, ...named } }, ms);

/** @param {object} given */
const exchange = (given) => call(EXCHANGE, { view: key, page: VIEWER, ...given }, ANSWER_MS);

addEventListener("message", async ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  const message = /** @type {Message} */ (data);
  const { id, method, params } = message;
  if (method === undefined) settle(message);
  else if (method === "ui/notifications/tool-input") {
    if (params?.arguments?.session !== undefined) named = { session: params.arguments.session };
    input.resolve();
  } else if (method === "ui/notifications/tool-result") result.resolve(params);
  else if (method === "ui/notifications/tool-cancelled") {
    result.resolve({ content: [{ type: "text", text: "The call was cancelled." }], isError: true });
  } else if (method === "ui/notifications/host-context-changed") follow(params ?? {});
  else if (method === "ui/resource-teardown") {
    ended = true;
    // Nobody comes back to this page.
    await Promise.race([deliver({ type: "hand_back", note: "" }), sleep(LEAVING_MS)]);
    post({ id, result: {} });
  } else if (method === "ping") post({ id, result: {} });
  else if (id !== undefined) post({ id, error: /** @type {any} */ ({ code: -32601, message: "Method not found" }) });
});

/** Look as the window around wants it. @param {HostContext} context */
function follow(context) {
  if (context.theme) root.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {})) root.style.setProperty(name, value ?? "");
  if (context.availableDisplayModes) enlarge.hidden = !context.availableDisplayModes.includes("fullscreen");
  if (context.displayMode) {
    root.classList.toggle("whole", context.displayMode === "fullscreen");
    enlarge.setAttribute("aria-pressed", String(context.displayMode === "fullscreen"));
  }
}

enlarge.addEventListener("click", async () => {
  const mode = root.classList.contains("whole") ? "inline" : "fullscreen";
  follow({ displayMode: (await ask("ui/request-display-mode", { mode }).catch(() => null))?.mode });
});

/** Report the height of this page to the window around it. */
function reportSize() {
  if (!begun || root.classList.contains("whole")) return;
  // Without a width: the page fills what it gets, and a window that grows would keep the width.
  const { height } = document.body.getBoundingClientRect();
  post({ method: "ui/notifications/size-changed", params: { height: Math.ceil(height) } });
}

new ResizeObserver(reportSize).observe(document.body);

/** What lets this page in: from the result that it is shown for, or of a call of its own. */
async function findKey(/** @type {HostContext} */ context) {
  const tool = context.toolInfo?.tool?.name;
  // The call of another tool may go on as long as the view is needed. A call of the page's own that comes too early,
  // without the session's handle, shows another session.
  const shownFor = await Promise.race([tool === undefined || tool === SHOW ? result.promise : input.promise, sleep(SHOWN_FOR_MS)]);
  const shown = !shownFor?.isError && shownFor?._meta?.[KEY] === undefined ? await call(SHOW) : shownFor;
  if (shown.isError) throw new Error(shown.content[0]?.text);
  if (shown._meta?.[KEY] === undefined) throw new Error("This client does not hand on what lets the view in.");
  if (shown._meta[SESSION] !== undefined) named = { session: shown._meta[SESSION] };
  return String(shown._meta[KEY]);
}

/** @param {import("./socket.js").Listener} listener */
export async function connect(listener) {
  try {
    const { hostContext = {} } = await ask("ui/initialize", {
      protocolVersion: REVISION,
      appInfo: { name: "mcp-browser", version: root.dataset.version ?? "" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    follow(hostContext);
    post({ method: "ui/notifications/initialized", params: {} });
    begun = true;
    reportSize();
    key = await findKey(hostContext);
  } catch (error) {
    listener.lost(/** @type {Error} */ (error).message);
    return;
  }
  while (!ended) {
    while (document.hidden) await new Promise((resolve) => addEventListener("visibilitychange", resolve, { once: true }));
    try {
      const asking = exchange({ wait: true, anew });
      anew = false;
      const news = await asking;
      if (news.isError) {
        listener.lost(news.content[0]?.text ?? "The view is over.");
        return;
      }
      for (const message of JSON.parse(news.content[0]?.text ?? "[]")) {
        if (message.type === "opened") listener.opened();
        else if (message.type === "frame") {
          const jpeg = Uint8Array.from(atob(news.content[1]?.data ?? ""), (one) => one.charCodeAt(0));
          listener.pictured(message.width, message.height, new Blob([jpeg]));
        } else listener.received(message);
      }
      await sleep(PAUSE_MS);
    } catch (error) {
      anew = true;
      listener.lost(`The connection is lost; trying again… (${/** @type {Error} */ (error).message})`);
      await sleep(AGAIN_MS);
    }
  }
}

/** @type {any[]} */
const waiting = [];
let delivering = false;

/** Send a message, after those before it. @param {any} message */
export async function deliver(message) {
  // The next question for what is new implies that the page has drawn.
  if (message.type === "drawn" || key === null) return;
  const last = waiting.at(-1);
  if (last?.event === "move" && message.event === "move") waiting.pop();
  waiting.push(message);
  if (delivering) return;
  delivering = true;
  try {
    while (waiting.length) await exchange({ messages: waiting.splice(0, MOST_SENT) });
  } catch {
    // Nothing of it is done later, when another page may be there.
    waiting.length = 0;
    anew = true;
  } finally {
    delivering = false;
  }
}

/** There is one session, and the server names it. */
export const wanted = () => "";

export const shows = () => {};

/** The address of the picture after a call. @param {string} _id @param {number} number */
export async function addressOf(_id, number) {
  const { content } = await exchange({ picture: number }).catch(() => ({ content: /** @type {Content[]} */ ([]) }));
  const picture = content.find((one) => one.type === "image");
  return picture ? `data:${picture.mimeType};base64,${picture.data}` : "";
}
