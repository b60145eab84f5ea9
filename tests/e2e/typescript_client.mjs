// A client made with the TypeScript SDK, driven by lines of JSON on standard input.
//
//   node typescript_client.mjs NODE_MODULES URL
//
// The first line printed has the server's name and its tools; then each line `{"name": …, "arguments": …}`
// is answered with a line that has the tool's result. With `"seconds": …` the call is broken off after so many, and
// the line tells the error. The variable TOKEN holds the bearer token.

import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, address] = process.argv.slice(2);
const sdk = (file) =>
  import(pathToFileURL(path.join(modules, "@modelcontextprotocol", "sdk", "dist", "esm", "client", file)).href);
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const { Client } = await sdk("index.js");
const { StreamableHTTPClientTransport } = await sdk("streamableHttp.js");
const { SSEClientTransport } = await sdk("sse.js");

const Transport = address.endsWith("/sse") ? SSEClientTransport : StreamableHTTPClientTransport;
const headers = process.env.TOKEN ? { Authorization: `Bearer ${process.env.TOKEN}` } : {};
const transport = new Transport(new URL(address), { requestInit: { headers } });
const client = new Client({ name: "typescript-client", version: "1" });

try {
  await client.connect(transport);
  const { tools } = await client.listTools();
  tell({ server: client.getServerVersion().name, tools: tools.map((tool) => tool.name) });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { seconds, ...call } = JSON.parse(line);
    if (seconds) {
      const broken = client.callTool(call, undefined, { signal: AbortSignal.timeout(1000 * seconds) });
      tell(await broken.catch((error) => ({ content: [{ type: "text", text: String(error) }], isError: true })));
    } else {
      tell(await client.callTool(call));
    }
  }
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
  await client.close();
} catch (error) {
  tell({ error: String(error) });
  process.exitCode = 1;
}
