"""Whether an operation can be done at all: by plain Playwright, in steps.

`click SELECTOR`, `double SELECTOR`, `right SELECTOR`, `hover SELECTOR`, `fill SELECTOR | TEXT`, `keys TEXT`,
`press KEY * TIMES`, `drag SELECTOR | SELECTOR`, `slide SELECTOR | PIXELS`, `upload SELECTOR`, `select
SELECTOR | LABEL`, `check SELECTOR`, `eval SCRIPT`.
"""

import time
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

FILE = Path(__file__)
"""What is uploaded."""
PATIENCE = 5_000
"""Milliseconds that a step may take."""
CHECK_SECONDS = 3.0


def prove(page: Page, steps: tuple[str, ...]) -> None:
    """Take the steps.

    Raises:
        PlaywrightError: one cannot be done.
    """
    for step in steps:
        word, _, rest = step.partition(" ")
        selector, _, value = (part.strip() for part in rest.partition(" | "))
        match word:
            case "press":
                keys, _, times = rest.partition(" * ")
                for _ in range(int(times or 1)):
                    page.keyboard.press(keys)
            case "keys":
                page.keyboard.type(rest)
            case "eval":
                page.evaluate(rest)
            case _:
                _act(page, word, selector, value)


def _act(page: Page, word: str, selector: str, value: str) -> None:
    target = page.locator(selector).first
    match word:
        case "click":
            target.click(timeout=PATIENCE)
        case "double":
            target.dblclick(timeout=PATIENCE)
        case "right":
            target.click(button="right", timeout=PATIENCE)
        case "hover":
            target.hover(timeout=PATIENCE)
        case "fill":
            target.fill(value, timeout=PATIENCE)
        case "select":
            target.select_option(label=value, timeout=PATIENCE)
        case "check":
            target.set_checked(True, timeout=PATIENCE, force=True)
        case "upload":
            target.set_input_files(FILE, timeout=PATIENCE)
        case "drag" | "slide":
            box = target.bounding_box(timeout=PATIENCE)
            assert box is not None
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            if word == "slide":
                page.mouse.move(x + float(value), y, steps=8)
            else:
                page.mouse.move(x + 6, y + 6, steps=3)
                to = page.locator(value).first.bounding_box(timeout=PATIENCE)
                assert to is not None
                page.mouse.move(to["x"] + to["width"] / 2, to["y"] + to["height"] / 2, steps=12)
                page.wait_for_timeout(100)
            page.mouse.up()
        case _:
            raise ValueError(f"{word!r} is no step")


def holds(page: Page, check: str) -> bool:
    """Whether the widget's state is soon the one wanted."""
    until = time.monotonic() + CHECK_SECONDS
    while time.monotonic() < until:
        try:
            if page.evaluate(f"() => Boolean({check})"):
                return True
        except PlaywrightError:
            pass
        page.wait_for_timeout(100)
    return False
