"""Pages, what each shows, and what comes of what is done on it: the cases of cases/*.html.

A case is a comment and the page after it. The comment has a title, then steps, one a line:

    = button "Save" / Words       all lines that the page shows, indexes as [n]; "/" may begin the next line
    click_element "Save" {…} …    an action, the name (and role) of its element, more arguments; perhaps
        == ["saved"]              what `window.log` holds by then; `note(word)` makes a listener that logs
        says REGEX                what the result says to a model, or these words
        lacks REGEX               what it does not say
        fails ActionError: REGEX  the error that it raises
    says REGEX, lacks REGEX       more of what the last action said, or its error
    js b.checked == true          the value of an expression in the page; without "==" it is only run
    changes REGEX                 what has changed since the page was reported last

{"Save"} stands for the index that the last look ("=", or the first) has shown for that name. A title in
capitals names a piece of other pages. An indented line goes on with the one before. In arguments
'button "Save"' is a text, too; `fill_form` may have the values by the fields' names, and a schema be a `list`
or `record` of types by names. Cases in files whose names begin with "slow" are slow.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import mcp_browser.errors
from mcp_browser.actions import default_registry
from mcp_browser.controller import Controller
from mcp_browser.dom.models import DomChanges, DomNode
from mcp_browser.rendering import render_changes, render_result
from tests.snapshot.conftest import SETTINGS
from tests.snapshot.hand import CLIPPED, FILLER, LOG, Hand, View

CASE = re.compile(r"^<!-- (.+?)((?:\n.+?)*) -->\n(.*?)(?=^<!-- |\Z)", re.M | re.S)
STEP = re.compile(r'(\w+)(?: (?:(\w+) )?"((?:[^"\\]|\\.)*)")?(?: (\{.*?\}))?(?: (==|says|lacks|fails) (.*))?')
QUOTED = re.compile(r"'(\w+ \"[^'\"]*\")'")
INDEX = re.compile(r'\{"([^"]*)"\}')
BARRED = {"disabled", "inert", "unclickable"}


@pytest_asyncio.fixture(loop_scope="session")
async def hand(hand: Hand) -> Hand:
    """A tab, and all actions that there are."""
    return Hand(hand.session, Controller(default_registry(), SETTINGS), hand.site)


def cases() -> list[Any]:
    """Page and steps of each case."""
    found: list[Any] = []
    for path in sorted((Path(__file__).parent / "cases").glob("*.html")):
        pieces = {"CLIPPED": CLIPPED, "FILLER": FILLER}
        for title, steps, html in CASE.findall(path.read_text("utf-8")):
            page = html
            for name, piece in pieces.items():
                page = page.replace(name, piece)
            if title.isupper():
                pieces[title] = page
            else:
                lines = re.sub(r"\n(?=/ )|\n +", " ", steps).strip().splitlines()
                marks = [pytest.mark.slow] if path.stem.startswith("slow") else []
                found.append(pytest.param(page, lines, id=f"{path.stem}: {title}", marks=marks))
    return found


@pytest.mark.parametrize(("html", "steps"), cases())
async def test_a_page_shows_and_does_what_its_case_says(hand: Hand, html: str, steps: list[str]) -> None:
    view = await hand.show(LOG + html)
    acted, told = False, ""
    for line in steps:
        step = INDEX.sub(lambda named: str(view.index(named[1])), line)  # noqa: B023
        if step.startswith("= "):
            view = await hand.look() if acted else view
            said = re.sub(r'\[\d+\] (?=\S+ "|row \|)', "", view.text)
            said = re.sub(r"\[\d+\]", lambda index: index[0] if index[0] in step else "[n]", said)  # noqa: B023
            assert said.splitlines() == step[2:].split(" / ")
        elif step.startswith("js "):
            expression, *wanted = step[3:].rsplit(" == ", 1)
            value = await hand.script(expression)
            assert not wanted or value == json.loads(wanted[0])
            acted = True
        elif step.startswith("changes "):
            changes = await hand.tab.dom.changes()
            assert isinstance(changes, DomChanges)
            assert re.search(step[8:], render_changes(changes))
        elif step.startswith(("says ", "lacks ")):
            check(told, *step.split(" ", 1))
        else:
            told = await carry_out(hand, view, step)
            acted = True


def check(told: str, sign: str, wanted: str) -> None:
    assert (wanted in told or re.search(wanted, told, re.M) is not None) == (sign == "says"), told


def arguments_of(view: View, action: str, given: str) -> dict[str, Any]:
    """The arguments that a step gives, with what is short in them written out."""
    arguments: dict[str, Any] = json.loads(QUOTED.sub(lambda text: json.dumps(text[1]), given))
    if action == "fill_form" and "fields" not in arguments:
        found = [(found_in(view, field, None), field, value) for field, value in arguments.items()]
        fields = [{"index": node.index if node else field, "value": value} for node, field, value in found]
        return {"fields": fields}
    for kind in arguments.keys() & {"list", "record"}:
        properties = {key: {"type": value} for key, value in arguments.pop(kind).items()}
        schema = {"type": "object", "properties": properties}
        arguments["output_schema"] = {"type": "array", "items": schema} if kind == "list" else schema
    return arguments


async def carry_out(hand: Hand, view: View, step: str) -> str:
    """Do what a step says, and check what it says of that; what the result or the error says."""
    match = STEP.fullmatch(step)
    assert match, step
    action, role, name, given, sign, wanted = match.groups()
    arguments = arguments_of(view, action, given or "{}")
    if name is not None:
        # What has no index is named by its role and what it says.
        node = found_in(view, name, role)
        arguments["index"] = node.index if node else f'{role} "{name}"'
        assert sign == "fails" or "force" in arguments or not node or not BARRED & set(node.states)
    if sign == "fails":
        error, _, words = wanted.partition(": ")
        with pytest.raises(getattr(mcp_browser.errors, error), match=words or None) as caught:
            await hand.do(action, **arguments)
        return str(caught.value)
    result = await hand.do(action, **arguments)
    if sign == "==":
        assert await hand.log() == json.loads(wanted)
    told = render_result(result, settings=hand.controller.settings)[0]
    if sign in ("says", "lacks"):
        check(told, sign, wanted)
    return told


def found_in(view: View, name: str, role: str | None) -> DomNode | None:
    """The element of that name or hint, if the page shows one."""
    called = [node for node in view.elements if name == node.name or f'hint="{name}"' in node.states]
    found = [node for node in called if role in (None, node.role)]
    assert len(found) < 2, view.text
    return found[0] if found else None
