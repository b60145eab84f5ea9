"""A small picture of a step, for people who look at it later."""

import anyio.to_thread

from mcp_browser.actions.recording import UNKNOWN
from mcp_browser.browser.pictures import make_picture
from mcp_browser.browser.session import BrowserSession
from mcp_browser.llm.messages import ImageBlock

SHOT_SIDE = 800  # Longest side of a picture for people, pixels
SHOT_QUALITY = 60


async def small_picture(session: BrowserSession) -> ImageBlock | None:
    """A small JPEG of the view; None where none can be taken now."""
    async with session.lock:
        try:
            shot = await session.current_tab.screenshot(kind="jpeg")
        except UNKNOWN:
            return None
    picture = await anyio.to_thread.run_sync(
        lambda: make_picture(shot, format="jpeg", quality=SHOT_QUALITY, max_side=SHOT_SIDE)
    )
    return ImageBlock(
        data=picture.data, mime_type=picture.mime_type, width=picture.width, height=picture.height
    )
