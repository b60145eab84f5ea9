"""The scripts that run in pages, as source text."""

import json
import re
from functools import cache
from importlib import resources

import rjsmin  # pyright: ignore[reportMissingTypeStubs]

PARTS = tuple(
    (
        "types natives text ids bridge roles names hints styles editors states walk placing hiding "
        "gathering controls drawings clickables regions tables media folding undrawn entering reading "
        "covering looks changes settling ready lists fields acting keys scrolling finding "
        "html identity secrecy vitals recorder api"
    ).split()
)
"""The files of the page script in their order: each may use what those before it have set up."""


def hook_script(channel: str) -> str:
    """The script for the page's own world, to run before its own; both scripts know the random `channel`.

    It does nothing in a document that may run no scripts, such as a frame with `sandbox`.
    """
    hooks = f"{limits_script(f'{channel}:limits')}\n{_expression('hooks.js')}({json.dumps(channel)});"
    return f'if (!matchMedia("(scripting: none)").matches) {{\n{hooks}\n}}'


def limits_script(event: str = "") -> str:
    """The script that bounds what a page or a worker may write, to run before its own.

    `event` is a name that pages do not know, by which the frames of one page share what they may.
    """
    return f"{_expression('limits.js')}({json.dumps(event)});"


def copying_script(binding: str) -> str:
    """The script for the page's own world that reports what the page copies, by the binding of this name."""
    return f"{_expression('copying.js')}({json.dumps(binding)});"


@cache
def page_script() -> str:
    """The page script: a function of the channel and of what hooks had learnt, returning the interface."""
    parts = "\n".join(_source(f"page/{part}.js") for part in PARTS)
    return f'(function install(channel, learnt) {{\n"use strict";\n{parts}\nreturn api;\n}})'


@cache
def evaluate_script_source() -> str:
    """A function for the page's own world that runs a caller's script and returns its result as JSON."""
    return _expression("evaluate.js")


def _expression(name: str) -> str:
    return _source(name).rstrip().removesuffix(";")


def minified(source: str) -> str:
    """A script as it is sent to each document: without comments, which are a third of it.

    White space in a template literal within another, and in a regular expression right after `=>`, is lost,
    too: `just scripts` finds such a place.
    """
    return str(rjsmin.jsmin(source))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _source(name: str) -> str:
    source = resources.files("mcp_browser.dom").joinpath(*name.split("/")).read_text(encoding="utf-8")
    # Chromium takes half as long for a message of ASCII alone.
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\u{ord(found[0]):04x}", minified(source))
