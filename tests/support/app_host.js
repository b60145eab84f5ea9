// A client that shows MCP Apps, as its own page would do it: by the official bridge, in a sandbox.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

// What the specification gives a page that asks for nothing.
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

globalThis.showApp = async (html, tool, input, { theme = "light" } = {}) => {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.sandbox = "allow-scripts";
  frame.title = tool.name;
  frame.style = "width: 100%; border: 0";
  const hostContext = { theme, displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], toolInfo: { tool } };
  const bridge = new AppBridge(null, { name: "a chat", version: "1" }, { serverTools: {} }, { hostContext });
  bridge.oncalltool = (params) => globalThis.callTool(params);
  bridge.onsizechange = ({ height }) => (frame.style.height = `${height}px`);
  bridge.onrequestdisplaymode = async ({ mode }) => {
    Object.assign(frame.style, mode === "fullscreen" ? { position: "fixed", inset: "0", height: "100%" } : { position: "static" });
    return { mode };
  };
  const ready = new Promise((resolve) => (bridge.oninitialized = resolve));
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">${html}`;
  await ready;
  await bridge.sendToolInput({ arguments: input });
  globalThis.app = bridge;
};
