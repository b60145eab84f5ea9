"""The scripts that run in pages, as source text."""

import json
from functools import cache
from importlib import resources


def hook_script(channel: str) -> str:
    """The script for the page's own world, to run before the page's scripts (`add_init_script`).

    Args:
        channel: a random name that the page script is given too.
    """
    return f"{_source('hooks.js')}({json.dumps(channel)});"


@cache
def page_script() -> str:
    """The page script: an expression for a function that takes the channel and gives the script's door."""
    return _source("snapshot.js")


@cache
def receive_script() -> str:
    """A function for the page's own world that waits for an element from the page script."""
    return _source("receive.js")


@cache
def send_script() -> str:
    """A function for the page's own world that sends an element to the page script."""
    return _source("send.js")


def _source(name: str) -> str:
    text = (resources.files("mcp_browser.dom") / name).read_text(encoding="utf-8")
    return text.rstrip().removesuffix(";")
