/** The connection of a page of the server: a WebSocket, and a new one where that is lost. */

/**
 * What the page does with what comes.
 *
 * @typedef {object} Listener
 * @property {() => void} opened The server knows nothing of this page yet.
 * @property {(message: any) => void} received
 * @property {(width: number, height: number, jpeg: Blob) => void} pictured The width and height of the view, CSS pixels.
 * @property {(text: string) => void} lost
 */

const HEAD_BYTES = 8; // Before each picture: the view's width and height
const AGAIN_MS = [250, 500, 1000, 2000, 4000];
const MOST_HELD = 200; // How many messages wait for the next connection

// So that a reload keeps what was taken over. There is no randomUUID over plain HTTP.
export const VIEWER = (sessionStorage.viewer ??= crypto.getRandomValues(new Uint32Array(4)).join("-"));

/** @type {WebSocket | null} */
let socket = null;
/** @type {object[]} */
const held = [];
let tries = 0;
let mine = false; // Whether this page has the session: what it sends must not be lost

/** @param {Listener} listener */
export function connect(listener) {
  const url = new URL("view/live", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const opened = new WebSocket(url);
  opened.binaryType = "arraybuffer";
  socket = opened;
  opened.addEventListener("open", () => {
    tries = 0;
    listener.opened();
    for (const message of held.splice(0)) deliver(message);
  });
  opened.addEventListener("message", ({ data }) => {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.type === "session") mine = !!message.session?.mine;
      listener.received(message);
    } else {
      const head = new DataView(data);
      listener.pictured(head.getUint32(0), head.getUint32(4), new Blob([new Uint8Array(data, HEAD_BYTES)]));
    }
  });
  opened.addEventListener("close", ({ code }) => lost(listener, code));
}

/** The server has gone, or lets this page in no more: find out which, and try again. @param {Listener} listener @param {number} code */
async function lost(listener, code) {
  // A server that ends says so, and its sessions end with it; there may be another one soon.
  if (!tries) listener.lost(code === 1012 ? "The session has ended." : "The connection is lost; trying again…");
  await new Promise((resolve) => setTimeout(resolve, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]));
  const answer = await fetch("view/me").catch(() => null);
  if (answer?.status === 401 || answer?.status === 403) {
    await fetch("view/sign-out", { method: "POST", redirect: "manual" }).catch(() => null);
    location.reload();
  } else {
    connect(listener);
  }
}

/** Send a message; while this page has the session, it waits for the next connection. @param {object} message */
export function deliver(message) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else if (mine && held.length < MOST_HELD) held.push(message);
}

/** The session that the address names. */
export const wanted = () => decodeURIComponent(location.hash.slice(1));

/** Another session is shown. @param {string} id */
export const shows = (id) => history.replaceState(null, "", `#${id}`);

/** The address of the picture after a call. @param {string} id @param {number} number */
export const addressOf = async (id, number) => `view/pictures/${id}/${number}`;
