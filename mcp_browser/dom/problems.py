"""What the page script found in the way of an action, in words."""

from typing import Any

from mcp_browser.dom.models import DomNode
from mcp_browser.errors import NotActionable

_TAKES = {
    "fill": "be typed into",
    "select": "be chosen from",
    "check": "be checked",
    "upload": "take files",
    "drag": "be dragged",
    "hover": "be hovered over",
    "click": "be clicked",
    "read": "be read",
}

_PROBLEMS = {
    "disabled": ("is disabled.", "Something else may have to be done first to enable it."),
    "readonly": ("is read-only.", "It may be set by another control beside it."),
    "inert": ("is inert: the page has switched this part off.", "Close the dialog."),
    "no-size": ("has no size, so nothing of it can be seen or hit.", "Look with get_state what is shown."),
    "moving": ("does not stop moving.", "Wait with wait_for, then try again."),
    "no-pointer": (
        "lets the mouse through (pointer-events: none).",
        "It may be disabled; look with get_state what else there is.",
    ),
    "clipped": (
        "is cut off by the box it is in, so no point of it can be hit.",
        "Scroll inside that box with scroll and this index.",
    ),
    "off-screen": (
        "lies outside of what scrolling can reach.",
        "A menu or panel may have to be opened first.",
    ),
    "not-editable": (
        "is not a text field.",
        "For other controls there are click_element, select_option and set_checked.",
    ),
    "option": ("is an option of a native select.", "Use select_option on the select."),
    "not-file": ("is not a file input.", "Give the index of the file input or its button."),
}


def not_actionable(
    node: DomNode,
    answer: dict[str, Any],
    purpose: str,
    by: DomNode | None = None,
    close: DomNode | None = None,
) -> NotActionable:
    """The error for a problem that the page script has named.

    Args:
        node: the element.
        answer: what the page script said.
        purpose: what was to be done with the element.
        by: what covers it.
        close: the button by which that may be closed.
    """
    what = node.model_copy(update={"states": (), "is_new": False, "depth": 0})
    problem = answer["problem"]
    if problem == "covered":
        cover = by.model_copy(update={"states": (), "is_new": False, "depth": 0}) if by else "another element"
        if close is not None:
            hint = f"Close it first: click {close.model_copy(update={'states': (), 'depth': 0})}."
        elif answer.get("layer"):
            hint = 'Answer it, or close it with send_keys "Escape" or a click beside it.'
        else:
            hint = "Close or answer what covers it first."
        return NotActionable(f"{what} cannot {_TAKES[purpose]}: it is covered by {cover}.", hint=hint)
    if problem == "hidden":
        return NotActionable(
            f"{what} is hidden ({answer['how']}).",
            hint="It may show after another action; look with get_state.",
        )
    if problem == "not-editable" and node.role in ("slider", "spinbutton"):
        return NotActionable(
            f"{what} takes no text: it is no native control.",
            hint="Press keys on it: send_keys with its index and ArrowRight, ArrowLeft, Home or End. "
            "Or drag its handle with drag_element.",
        )
    said, hint = _PROBLEMS[problem]
    return NotActionable(f"{what} {said}", hint=hint)
