"""An MCP client that starts the server of a configuration file and reads a page; see fresh_machine.sh."""

import asyncio
import http.server
import json
import sys
import threading
from pathlib import Path

from mcp import Client, StdioServerParameters

PAGE = b"<!doctype html><title>Harbour</title><h1>Boats</h1><button>Set sail</button>"


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Say nothing."""


async def main(entry: dict[str, object]) -> int:
    """Read the page; the exit code."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    server = StdioServerParameters.model_validate(entry)
    async with Client(server, read_timeout_seconds=60) as client:
        url = f"http://127.0.0.1:{site.server_port}/"
        text = str((await client.call_tool("go_to_url", {"url": url})).content)
    sys.stdout.write(f"{text}\n")
    return 0 if 'button \\"Set sail\\"' in text or 'button "Set sail"' in text else 1


if __name__ == "__main__":
    servers = json.loads(Path(sys.argv[1]).read_text("utf-8"))["mcpServers"]
    sys.exit(asyncio.run(main(servers["browser"])))
