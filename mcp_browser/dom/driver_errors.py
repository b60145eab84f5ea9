"""What an error of Playwright's means, known by its text: the driver gives no codes."""

import re

from mcp_browser.text import one_line

OWN_REFUSAL = "This is not done in a browser of the user's own"
_CALL_PREFIX = re.compile(r"^(?:[A-Z]\w*\.\w+: )+(?:Error: )?")
_CLOSED = re.compile(
    r"has been closed|browser has disconnected|connection closed|target closed|session closed", re.IGNORECASE
)
_CRASHED = re.compile(r"(?:page|target|renderer) (?:has )?crashed", re.IGNORECASE)
_CONTEXT_GONE = re.compile(
    r"execution context was destroyed|execution context is not available|cannot find context"
    r"|unable to find execution context|uniquecontextid not found|inspected target navigated"
    r"|frame (?:was|got|has been) detached|jshandle is disposed",
    re.IGNORECASE,
)
_FRAME_GONE = re.compile(r"no frame|frame with the given id|frame was detached", re.IGNORECASE)

LONGEST_MESSAGE = 500  # How much of an error is kept, characters


def plain_message(error: BaseException) -> str:
    """The first sentence of an error of Playwright's, without the call's name and its log."""
    text = str(error).partition("\nCall log:")[0].partition("\n=====")[0]
    first = next((line.strip() for line in text.splitlines() if line.strip()), type(error).__name__)
    return one_line(_CALL_PREFIX.sub("", first).rstrip("."), LONGEST_MESSAGE)


def is_closed(error: BaseException) -> bool:
    """Whether the page, its context or the browser is gone."""
    return _CLOSED.search(plain_message(error)) is not None


def is_crashed(error: BaseException) -> bool:
    """Whether the page's process has crashed."""
    return _CRASHED.search(plain_message(error)) is not None


def is_context_gone(error: BaseException) -> bool:
    """Whether the document went away (by a navigation) while something ran in it."""
    return _CONTEXT_GONE.search(plain_message(error)) is not None


def is_frame_gone(error: BaseException) -> bool:
    """Whether the frame is gone, or its page, or it lives in another process now."""
    return _FRAME_GONE.search(plain_message(error)) is not None or is_closed(error)
