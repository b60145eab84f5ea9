"""Whose a frame is: the address by which it is to be judged."""

from playwright.async_api import Frame

UNKNOWN = "about:blank"


async def address_of(frame: Frame) -> str:
    """The frame's address; that of the frame around it where it has none of its own, but belongs to that one.

    `about:srcdoc` and `about:blank` do, unless they are sandboxed or were written by another site.
    """
    while frame.url == "" or frame.url.startswith("about:"):
        around = frame.parent_frame
        if around is None:
            return frame.url
        element = await frame.frame_element()
        if not await element.evaluate("element => element.contentDocument !== null"):
            return UNKNOWN
        frame = around
    return frame.url
