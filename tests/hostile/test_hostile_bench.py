"""Each action on pages that attack in each way, in frames of each kind.

What the web server has heard, which element has got the event and what is reported are compared. No call ends
in an error of the server's own, each ends in time, and the session works afterwards.
"""

import itertools
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from tests.hostile.conftest import Make
from tests.hostile.kit import KINDS, Heard, Victim, framed, hearing, kit
from tests.hostile.test_hostile_channel import ANYTHING, COMMANDS, NODES
from tests.hostile.test_hostile_keys import DENY_PAY
from tests.support.site import Site

FAMILIES = ("arrays", "json", "reflect", "maps", "observers", "elements", "events", "strings", "globals")
LOG = ["click", "dblclick", "keydown", "input", "change", "drop", "mousedown"]
UPLOADED = "hello.txt"

MODES: dict[str, dict[str, Any]] = {
    "calm": {},
    "answers": {"answers": {"*": ANYTHING}, "commands": COMMANDS, "nodes": NODES, "about": "#go"},
    "silence": {"mute": ["*"]},
    "lies": {"spoil": dict.fromkeys(FAMILIES, "lie"), "iterators": "lie"},
    "failures": {
        "spoil": dict.fromkeys([*FAMILIES, "promises"], "throw"),
        "iterators": "throw",
        "classes": True,
    },
    "focus": {
        "mute": ["key"],
        "steal": {
            "on": ["channel", "keydown", "keypress", "beforeinput", "mousedown", "focusin"],
            "to": "#pay",
        },
    },
    "password": {"steal": {"on": ["keydown", "beforeinput", "input", "mousedown"], "to": "#pw"}},
    "moves": {"reparent": {"on": ["pointerdown", "mousemove", "keydown"], "what": "#go"}},
    "frames": {"exchange": {"on": ["pointerdown", "keydown"], "first": "#frame", "second": "#decoy"}},
    "swaps": {"swap": {"of": "#frame, #go, #word, #file, #box, #pick, #drag", "give": "#decoy, #pay"}},
    "writes": {"reopen": {"on": ["keydown", "mousedown"], "html": "<input type=password id=pw autofocus>"}},
}

REMOVING = ("moves", "frames", "writes")
DONE = {"upload_file": f"file {UPLOADED}", "set_checked": "box true", "select_option": "pick 1"}
"""What is heard of actions that are done."""

INNER = """
<button id=go>Go on</button> <button id=pay>Pay</button> <input id=word aria-label=Word>
<input type=password id=pw> <input type=checkbox id=box aria-label=Box>
<input type=file id=file aria-label=File>
<select id=pick aria-label=Pick><option>One<option>Two</select>
<div id=drag role=button tabindex=0 draggable=true>Drag</div> <div id=drop role=button tabindex=0>Drop</div>
<div id=text contenteditable role=textbox aria-label=Text>Rich</div> <a id=link href="#there">Link</a>
<x-card id=card onclick="1">Card</x-card>
<table aria-label=Table><tr><th>A<th>B<tr><td>1<td>2<tr><td>3<td>4</table>
"""
Step = tuple[str, dict[str, Any]]


def elements(folder: Path) -> list[Step]:
    """Actions on elements; what is named in place of an index is looked up."""
    paths = [str(folder / UPLOADED)]
    on = {"index": "Go on"}
    return [
        ("click_element", on),
        ("click_element", {**on, "double": True}),
        ("click_element", {**on, "force": True}),
        ("click_element", {"index": "Pay"}),
        ("hover_element", on),
        ("drag_element", {"index": "Drag", "target": "Drop"}),
        ("input_text", {"index": "Word", "text": "new"}),
        ("input_text", {"index": "Word", "text": "er", "append": True, "slowly": True}),
        ("input_text", {"index": "Text", "text": "richer"}),
        ("select_option", {"index": "Pick", "options": ["Two"]}),
        ("get_options", {"index": "Pick"}),
        ("set_checked", {"index": "Box", "checked": True}),
        ("fill_form", {"fields": [{"index": "Word", "value": "form"}, {"index": "Box", "value": False}]}),
        ("do_actions", {"actions": [{"set_checked": {"index": "Box"}}, {"click_element": on}]}),
        ("upload_file", {"index": "File", "paths": paths}),
        ("drop_files", {"index": "Drop", "paths": paths}),
        ("send_keys", {**on, "keys": "Enter"}),
        ("send_keys", {"index": "Word", "keys": "x y"}),
        ("scroll", {**on, "direction": "down"}),
        ("get_html", on),
        ("extract_content", on),
        ("screenshot", on),
        ("generate_locator", on),
        ("expect_visible", {**on, "timeout": 0.5}),
        ("expect_text", {**on, "text": "Go on", "timeout": 0.5}),
        ("expect_value", {"index": "Word", "value": "x", "timeout": 0.1}),
        ("expect_snapshot", {**on, "name": "bench", "replace": True, "timeout": 0.5}),
        ("audit_accessibility", on),
        ("compare_screenshots", {**on, "name": "bench", "replace": True}),
    ]


READING = (
    "extract_article get_console_messages get_network_requests audit_accessibility list_page_tools"
).split()


def pages(site: Site) -> list[Step]:
    """All other actions, on the page as a whole."""
    at, there = "20,15@1280x720", "400,300@1280x720"
    return [
        ("get_state", {"screenshot": True, "labels": True}),
        *(("find_elements", {"text": "Go"}), ("find_elements", {"selector": "button"})),
        ("find_elements", {"pattern": "G.*", "role": "button"}),
        ("screenshot", {"full_page": True}),
        ("wait_for", {"text": "Go on", "timeout": 1}),
        ("wait_for", {"selector": "#nothing", "timeout": 0.2}),
        ("wait_for", {"seconds": 0.1}),
        ("extract_content", {"links": True}),
        ("extract_tables", {"format": "json"}),
        ("extract_data", {"output_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        ("get_html", {"scripts": True}),
        *((name, {}) for name in READING),
        *(("save_pdf", {"name": "bench"}), ("save_page", {"format": "mhtml", "name": "bench"})),
        *(("list_files", {}), ("read_file", {"file": "bench.pdf"}), ("wait_for_download", {"timeout": 0.2})),
        *(("mouse_move", {"at": at}), ("mouse_click", {"at": there})),
        *(("mouse_drag", {"start": at, "end": there}), ("mouse_wheel", {"direction": "down", "at": there})),
        *(("type_text", {"text": "abc"}), ("hotkey", {"keys": "ctrl+a"})),
        *(("send_keys", {"keys": "Tab Tab Escape"}), ("send_keys", {"keys": "Control+a Control+c"})),
        *(("scroll", {"direction": "bottom"}), ("scroll_to_text", {"text": "Card"})),
        ("browser_action", {"action": "click", "coordinate": there}),
        *(
            ("browser_action", {"action": "type", "text": "abc"}),
            ("browser_action", {"action": "scroll_down"}),
        ),
        ("emulate", {"color_scheme": "dark", "viewport": "800x600"}),
        ("emulate", {"reset": True}),
        ("evaluate_script", {"script": "document.title", "timeout": 2}),
        ("evaluate_script", {"index": "Go on", "script": "element => element.id", "timeout": 2}),
        ("evaluate_script", {"script": "return [...document.querySelectorAll('*')].length", "timeout": 2}),
        ("get_network_request", {"id": 1}),
        ("wait_for_response", {"url": "*/nothing", "timeout": 0.2}),
        ("export_har", {"name": "bench", "url": "*/page/*"}),
        *(("mock_route", {"url": "*/mocked", "body": "x"}), ("block_route", {"url": "*/blocked"})),
        *(("list_routes", {}), ("remove_route", {})),
        *(
            ("set_cookie", {"name": "a", "value": "b"}),
            ("get_cookies", {}),
            ("delete_cookies", {"name": "a"}),
        ),
        *(("set_storage", {"items": {"a": "b"}}), ("get_storage", {})),
        *(("save_storage_state", {"name": "bench"}), ("load_storage_state", {"file": "bench"})),
        ("clear_site_data", {}),
        ("expect_url", {"url": "*", "timeout": 0.2}),
        ("expect_count", {"selector": "table", "count": 1, "timeout": 0.2}),
        *(("export_script", {}), ("call_page_tool", {"name": "nothing", "timeout": 1})),
        *(("start_recording", {"kind": "video"}), ("stop_recording", {})),
        *(("handle_dialog", {"accept": True}), ("measure_performance", {}), ("reload", {})),
        *(("go_to_url", {"url": site.page("<p>Elsewhere</p>")}), ("go_back", {}), ("go_forward", {})),
        ("search_web", {"query": "x"}),
        *(("open_tab", {"url": "about:blank"}), ("close_tab", {}), ("switch_tab", {"tab": 10_000})),
    ]


MAY_FAIL = frozenset(
    "handle_dialog wait_for wait_for_download wait_for_response get_network_request call_page_tool read_file"
    " switch_tab expect_value expect_count export_script load_storage_state search_web extract_data"
    " extract_article list_page_tools".split()
)
"""Actions that fail on a calm page, as they are called here or in this build of the browser."""


@dataclass
class Bench:
    """One hostile page, and what has been seen to be wrong."""

    victim: Victim
    url: str
    inner: Heard
    outer: Heard
    calm: bool = False
    removes: bool = False  # It takes away what is pressed while that is pressed
    wrong: list[str] = field(default_factory=list[str])

    async def open(self) -> None:
        """Open the page, again where an action has left it."""
        self.victim.told = ""
        async with self._judged("go_to_url", {}):
            await self.victim.open(self.url)

    @asynccontextmanager
    async def _judged(self, name: str, arguments: dict[str, Any]) -> AsyncGenerator[None]:
        """Take what a call raises as wrong with it."""
        try:
            yield
        except TimeoutError:
            self.wrong.append(f"{name} {arguments}: took too long")
        except AssertionError as error:
            self.wrong.append(f"{name} {arguments}: {' '.join(str(error).split())[:300]}")

    async def stands(self, steps: Iterable[Step], site: Site) -> None:
        """Nothing is wrong with any of these steps, and the session works afterwards."""
        await self.open()
        for step in steps:
            await self.do(step)
        await self.victim.lives(site)
        assert self.wrong == [], "\n".join(self.wrong)

    async def do(self, step: Step) -> None:
        """Carry out one action, and compare what it says with what has happened."""
        name, arguments = step
        before = [len(heard.whats) for heard in (self.inner, self.outer)]
        given = self._indexed(arguments)
        if given is None:
            await self.open()
            given = self._indexed(arguments)
        if given is None:
            if self.calm:
                self.wrong.append(f"{name} {arguments}: not on the page: {self.victim.told}")
            return
        async with self._judged(name, arguments):
            text = await self.victim.call(name, **given)
            await self._all_heard()
            new = [heard.whats[at:] for heard, at in zip((self.inner, self.outer), before, strict=True)]
            self._compare(step, text, *new)
            if " is gone" in text or "no snapshot of this tab" in text or "not allowed" in text:
                await self.open()

    def _indexed(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments with indexes in the places of names; None where a name is not on the page."""

        def of(value: Any) -> Any:
            if isinstance(value, dict):
                return {
                    key: self.victim.index(one) if key in ("index", "target") else of(one)
                    for key, one in cast("dict[str, Any]", value).items()
                }
            return [of(one) for one in cast("list[Any]", value)] if isinstance(value, list) else value

        try:
            return of(arguments)
        except AssertionError:
            return None

    async def _all_heard(self) -> None:
        # What is on its way has been asked for before this.
        with anyio.move_on_after(2):
            mark = f"end {next(_ends)}"
            await self.victim.read(f"void ({self.outer.script(repr(mark))})")
            await self.outer.until(mark)

    def _compare(self, step: Step, text: str, inner: Sequence[str], outer: Sequence[str]) -> None:
        name, arguments = step
        failed = self.victim.failed
        every = [*inner, *outer]

        def judge(holds: bool, what: str) -> None:
            if not holds:
                self.wrong.append(f"{name} {arguments}: {what}: {text[:200]!r}; heard {every}")

        if self.calm and name not in MAY_FAIL and arguments.get("index") != "Pay":
            judge(not failed, "failed on a calm page")
        judge("click trusted pay" not in every, "what the policy denies was pressed")
        judge(not [one for one in every if one.startswith("password ")], "a password field got text")
        judge("web socket" not in text, "a web socket is reported that never was")
        clicks = list(inner).count("click trusted go")
        match name:
            case "click_element" if arguments.get("index") == "Go on":
                wanted = 2 if "double" in arguments else 1
                judge(clicks <= wanted, "clicked more than once")
                judge(not (failed and clicks), "clicked, but reported as failed")
                judge(failed or self.removes or clicks == wanted, "reported as clicked, but was not")
            case "click_element":
                judge(failed, "what the policy denies is reported as done")
            case "input_text" | "send_keys" if arguments.get("index") == "Word":
                # Reports may come in another order.
                held = [one for one in inner if one.startswith("word ")]
                typed = arguments.get("text") or arguments.get("keys", "")
                is_held = any(one.endswith(typed) for one in held)
                judge(failed or "now holds" in text or is_held, "reported as typed, but is not in the field")
            case _:
                done = DONE.get(name)
                judge(failed or done is None or done in inner, f"reported as done, but {done} was not heard")


_ends = itertools.count()


def bench(victim: Victim, site: Site, mode: str, kind: str) -> Bench:
    """A page with two frames, the first of this kind, both hostile in this way."""
    inner, outer = hearing(site), hearing(site)
    body = kit(inner, **MODES[mode], log=LOG, drops=True) + INNER
    around = f"{framed(site, kind, body)}<button id=pay>Pay all</button><input type=password id=pw>"
    decoy = framed(site, "cross-site", "<button id=pay>Pay later</button>", id="decoy")
    url = site.page(kit(outer, **MODES[mode], log=LOG) + around + decoy)
    return Bench(victim, url, inner, outer, calm=mode == "calm", removes=mode in REMOVING)


@pytest.fixture
def folder(manager: BrowserManager) -> Path:
    """Where there is a file to upload."""
    (folder,) = manager.settings.files.upload_dirs
    (folder / UPLOADED).write_text("hello")
    return folder


CASES = [("calm", kind) for kind in KINDS] + [
    # Three kinds of frames for each way to attack, so that each kind meets several.
    (mode, KINDS[(3 * at + more) % len(KINDS)])
    for at, mode in enumerate(MODES)
    for more in range(3)
    if mode != "calm"
]
QUICK = {("calm", "srcdoc"), ("answers", "srcdoc"), ("focus", "same process")}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "kind"), CASES)
async def test_each_action_on_elements_of_a_hostile_frame(
    under: Make, site: Site, folder: Path, mode: str, kind: str
) -> None:
    await bench(under(DENY_PAY), site, mode, kind).stands(elements(folder), site)


@pytest.mark.parametrize(("mode", "kind"), sorted(QUICK))
async def test_some_actions_on_elements_of_a_hostile_frame(
    under: Make, site: Site, folder: Path, mode: str, kind: str
) -> None:
    steps = {name: (name, given) for name, given in reversed(elements(folder))}
    some = ("click_element", "input_text", "set_checked", "select_option", "upload_file")
    await bench(under(DENY_PAY), site, mode, kind).stands([steps[name] for name in some], site)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(MODES))
async def test_each_action_on_a_hostile_page(victim: Victim, site: Site, mode: str) -> None:
    await bench(victim, site, mode, "same process").stands(pages(site), site)


def test_the_bench_has_every_action(site: Site, tmp_path: Path) -> None:
    tried = {name for name, _ in [*elements(tmp_path), *pages(site)]}
    assert {action.name for action in default_registry()} == tried
