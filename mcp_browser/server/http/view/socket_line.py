"""The WebSocket of one open page of the view."""

import struct
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from mcp_browser.browser.screencast import Frame
from mcp_browser.server.http.auth.middleware import STILL_ADMITTED
from mcp_browser.server.view.viewer import LineClosed


class SocketLine:
    """Messages as JSON; a frame as the width and height of the view, 4 bytes each, and a JPEG."""

    def __init__(self, socket: WebSocket) -> None:
        """Take a socket that is accepted."""
        self._socket = socket

    async def receive(self) -> str:
        """The next message; what is no text is empty."""
        with _closes():
            try:
                return await self._socket.receive_text()
            except KeyError:
                return ""

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        with _closes():
            await self._socket.send_json(message)

    async def send_frame(self, frame: Frame) -> None:
        """Send a frame."""
        with _closes():
            await self._socket.send_bytes(struct.pack(">II", frame.width, frame.height) + frame.data)

    async def close(self, code: int, reason: str) -> None:
        """Close the socket."""
        await self._socket.close(code, reason)

    async def still_admitted(self) -> bool:
        """Whether the token that has let the page in still counts."""
        check: Callable[[], Awaitable[bool]] | None = self._socket.scope.get(STILL_ADMITTED)
        return check is None or await check()


@contextmanager
def _closes() -> Generator[None]:
    try:
        yield
    except WebSocketDisconnect as gone:
        raise LineClosed from gone
