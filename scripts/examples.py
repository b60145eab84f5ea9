"""One call of each action with its real result, for docs/tools.md.

python scripts/examples.py          run those that are missing or whose arguments have changed
python scripts/examples.py --all    run all of them again

An action's example is one line in EXAMPLES. Each runs in a session of its own, on the page that comes with
the package, so that its indexes do not depend on the others; those of the server's own tools are in
server_examples.py. The results are kept in docs/examples.json; `just docs` writes the document from there,
and a test of the suite runs all examples and compares.
"""

import asyncio
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Route

from mcp_browser.actions import default_registry
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.controller import Controller
from mcp_browser.rendering import render_result
from mcp_browser.settings import BrowserSettings, FileSettings, Settings, ToolSettings
from scripts import server_examples

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "examples.json"
PAGE = ROOT / "mcp_browser" / "assets" / "try.html"
SITE = "http://books.example"

LONGEST = 7
"""How many lines of a result are shown."""

WIDEST = 160
"""How much of a line is shown, characters."""

_MASKS = (
    (re.compile(r"browser://[0-9a-f]+/"), "browser://SESSION/"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "12:00:00"),
    (re.compile(r"\b[\d,.]+ (bytes|ms|kB|MB)\b"), r"… \1"),
    (re.compile(r"(User-Agent: ).*"), r"\1…"),
    (re.compile(r", … ms \([^)\n]*\)"), ", … ms"),
    (re.compile(r"\b\d+ (?=\S locator)"), "… "),
)
"""What differs from run to run, and what stands for it."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A call, and the calls before it, none of which is shown.

    `/files/` in an argument is the folder with a file cover.txt and the output folder `out`. `masks` are
    patterns of what varies in the result, with what is shown instead.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    before: Sequence[tuple[str, Mapping[str, Any]]] = ()
    opens: bool = True
    masks: Sequence[tuple[str, str]] = ()


def _call(**arguments: Any) -> Example:
    return Example(arguments=arguments)


def _script(script: str) -> tuple[str, Mapping[str, Any]]:
    return "evaluate_script", {"script": script}


_TABLE = """document.querySelector('main').innerHTML = '<table><caption>Stock' +
    '<tr><th>Book<th>Left<tr><td>The Tide Tables<td>3<tr><td>Moss, Slowly<td>0</table>'"""
_ARTICLE = """document.querySelector('main').innerHTML = '<article><h1>How moss grows</h1>' + (
    '<p>Moss has no roots, and drinks what falls on its leaves; so it grows wherever rain stays a while, '
    + 'on stone, on bark, on roofs, and slowly takes the shape of what it grows on.</p>'
    ).repeat(2) + '</article>'"""

_TAKE_FILES = (
    "ondragover = event => event.preventDefault();"
    "ondrop = event => { event.preventDefault();"
    "document.querySelector('footer').textContent = 'Got ' + event.dataTransfer.files[0].name }"
)
_FETCH = "fetch('/prices').then(response => response.status)"
_DOWNLOAD = (
    "const link = document.createElement('a'); link.href = 'data:text/plain,Hello';"
    "link.download = 'hello.txt'; link.click()"
)

_OFFER = _script(
    "document.modelContext.registerTool({ name: 'find_book', description: 'Finds a book by a word',"
    "inputSchema: { type: 'object', properties: { word: { type: 'string' } } },"
    "execute: ({ word }) => ({ found: 'Moss and Memory' }) })"
)

_SECURE = "go_to_url", {"url": SITE.replace("http:", "https:")}

EXAMPLES: dict[str, Example] = {
    "go_to_url": Example(arguments={"url": f"{SITE}/"}, opens=False),
    "go_back": Example(before=[("go_to_url", {"url": f"{SITE}/second"})]),
    "go_forward": Example(before=[("go_to_url", {"url": f"{SITE}/second"}), ("go_back", {})]),
    "reload": _call(),
    "search_web": _call(query="moss"),
    "get_state": _call(index=10),
    "find_elements": _call(text="rain"),
    "screenshot": _call(index=9),
    "click_element": _call(index=11),
    "hover_element": _call(index=11),
    "drag_element": _call(index=3, target=8),
    "input_text": _call(index=8, text="moss"),
    "select_option": _call(index=15, options=["Sunday"]),
    "get_options": _call(index=15),
    "set_checked": _call(index=16, checked=False),
    "fill_form": _call(fields=[{"index": 14, "value": "Ada"}, {"index": 15, "value": "Saturday"}]),
    "do_actions": _call(
        actions=[
            {"input_text": {"index": 14, "text": "Ada"}},
            {"select_option": {"index": 15, "options": "Saturday"}},
            {"set_checked": {"index": 'checkbox "With tea"', "checked": False}},
            {"click_element": {"index": 'button "Reserve"'}},
        ]
    ),
    "upload_file": Example(
        arguments={"index": 19, "paths": ["/files/cover.txt"]},
        before=[_script("document.querySelector('footer').innerHTML = '<input type=file aria-label=Cover>'")],
    ),
    "send_keys": _call(keys="Tab Tab"),
    "scroll": Example(arguments={"direction": "down"}, before=[_script("document.body.style.zoom = 2")]),
    "scroll_to_text": _call(text="Opening hours"),
    "wait_for": _call(text="Moss and Memory"),
    "extract_content": _call(index=10),
    "get_html": _call(index=9),
    "open_tab": _call(url=f"{SITE}/second"),
    "switch_tab": Example(arguments={"tab": 1}, before=[("open_tab", {"url": f"{SITE}/second"})]),
    "close_tab": Example(arguments={"tab": 2}, before=[("open_tab", {"url": f"{SITE}/second"})]),
    "handle_dialog": Example(
        arguments={"accept": True}, before=[_script("document.title = confirm('Empty the basket?')")]
    ),
    "save_pdf": _call(name="books"),
    "drop_files": Example(
        arguments={"index": 18, "paths": ["/files/cover.txt"]}, before=[_script(_TAKE_FILES)]
    ),
    "save_page": _call(format="png", name="books"),
    "list_files": Example(before=[_script(_DOWNLOAD)]),
    "wait_for_download": Example(before=[_script(f"setTimeout(() => {{ {_DOWNLOAD} }}, 2500); return")]),
    "read_file": Example(arguments={"file": "hello.txt"}, before=[_script(_DOWNLOAD)]),
    "get_console_messages": Example(before=[_script("console.warn('Few are left')")]),
    "get_network_requests": Example(before=[_script(_FETCH)]),
    "get_network_request": Example(arguments={"id": 2}, before=[_script(_FETCH)]),
    "wait_for_response": Example(arguments={"url": "*/prices*"}, before=[_script(_FETCH)]),
    "export_har": _call(name="books"),
    "mock_route": _call(url="*/prices", body='{"tea": 2}'),
    "block_route": _call(url="*.png"),
    "list_routes": Example(before=[("block_route", {"url": "*.png"})]),
    "remove_route": Example(before=[("block_route", {"url": "*.png"})]),
    "get_cookies": Example(before=[("set_cookie", {"name": "shelf", "value": "poems"})]),
    "set_cookie": _call(name="shelf", value="poems"),
    "delete_cookies": Example(before=[("set_cookie", {"name": "shelf", "value": "poems"})]),
    "get_storage": Example(before=[("set_storage", {"items": {"theme": "dark"}})]),
    "set_storage": _call(items={"theme": "dark"}),
    "save_storage_state": _call(name="reader"),
    "load_storage_state": Example(
        arguments={"file": "/files/out/reader.json"}, before=[("save_storage_state", {"name": "reader"})]
    ),
    "clear_site_data": Example(before=[("set_storage", {"items": {"theme": "dark"}})]),
    "extract_data": Example(
        arguments={
            "output_schema": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"book": {"type": "string"}, "left": {"type": "integer"}},
                },
            }
        },
        before=[_script(_TABLE)],
    ),
    "extract_tables": Example(before=[_script(_TABLE)]),
    "extract_article": Example(before=[_script(_ARTICLE)]),
    "expect_visible": _call(index=11),
    "expect_text": _call(text="Add The Tide Tables", index=11),
    "expect_value": _call(index=16, value=True),
    "expect_url": _call(url="books.example"),
    "expect_count": _call(selector="article", count=4, timeout=0.5),
    "expect_snapshot": Example(
        arguments={"name": "books", "selector": "#new", "timeout": 0.5},
        before=[
            ("expect_snapshot", {"name": "books", "selector": "#new"}),
            _script("document.querySelector('h3').textContent = 'The Time Tables'"),
        ],
    ),
    "export_script": Example(
        arguments={"name": "books"},
        before=[("click_element", {"index": 11}), ("expect_visible", {"text": "Basket"})],
        masks=[(r"mcp-browser \S+ from", "mcp-browser 0.1.0 from")],
    ),
    "generate_locator": _call(index=11),
    "start_recording": _call(name="books"),
    "stop_recording": Example(
        before=[("start_recording", {"name": "books", "kind": "trace"}), ("click_element", {"index": 11})],
    ),
    "audit_accessibility": Example(
        arguments={"index": 10, "standard": "wcag2a"},
        before=[_script("document.querySelector('article button').textContent = ''")],
    ),
    "compare_screenshots": Example(
        arguments={"name": "shelf", "index": 10},
        before=[
            ("compare_screenshots", {"name": "shelf", "index": 10}),
            _script("document.querySelector('h3').style.color = 'red'"),
        ],
        masks=[
            (r"[\d.]+% of", "0.43% of"),
            (r"\([\d,]+ pixels\), between .*? and [\d,]+", "(614 pixels), between 20,132 and 144,150"),
        ],
    ),
    "measure_performance": Example(
        arguments={"of": "page"},
        masks=[
            (r"\((good|poor|needs improvement)\)", "(good)"),
            (r"\nLong tasks.*", ""),
            (r"CLS [\d.]+", "CLS 0"),
        ],
    ),
    "list_page_tools": Example(before=[_SECURE, _OFFER]),
    "call_page_tool": Example(
        arguments={"name": "find_book", "arguments": {"word": "moss"}}, before=[_SECURE, _OFFER]
    ),
    "mouse_click": _call(at="230,500"),
    "mouse_move": _call(at="[0.39,0.66,0.54,0.72]"),
    "mouse_drag": _call(start="153,118@1280x720", end="620,118@1280x720"),
    "mouse_wheel": _call(direction="down", at="640,360", pixels=200),
    "type_text": Example(arguments={"text": "moss\n"}, before=[("mouse_click", {"at": "500,235"})]),
    "hotkey": _call(keys="ctrl a"),
    "browser_action": _call(action="click", coordinate="230,500"),
    "emulate": _call(viewport="390x844", color_scheme="dark"),
    "evaluate_script": _call(script="[...document.querySelectorAll('h3')].map(title => title.textContent)"),
}
"""The example of each action by its name."""


async def capture(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Run the examples of these actions: for each its arguments and its result as a model reads it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "cover.txt").write_text("A cover")
        files = FileSettings(output_dir=Path(folder) / "out", upload_dirs=(Path(folder),))
        settings = Settings(
            browser=BrowserSettings(headless=True, isolated=True),
            files=files,
            tools=ToolSettings(tools=("all",)),
        )
        manager = BrowserManager(settings)
        controller = Controller(default_registry(), settings)
        try:
            return {name: await _run(name, EXAMPLES[name], manager, controller, folder) for name in names}
        finally:
            await manager.close()


async def _run(
    name: str, example: Example, manager: BrowserManager, controller: Controller, folder: str
) -> dict[str, Any]:
    session = await manager.open_session(isolated=True)
    try:
        await session.ensure_open()
        await _serve(session.context)
        if example.opens:
            await controller.execute("go_to_url", {"url": f"{SITE}/"}, session)
        for action, arguments in example.before:
            await controller.execute(action, arguments, session)
        given = json.loads(json.dumps(example.arguments).replace("/files/", f"{folder}/"))
        result = await controller.execute(name, given, session)
        text = render_result(result, settings=controller.settings)[0].replace(folder, "/files")
    finally:
        await session.close()
        # The next one may name its files alike.
        shutil.rmtree(Path(folder) / "out", ignore_errors=True)
    for pattern, instead in (*_MASKS, *((re.compile(mask), by) for mask, by in example.masks)):
        text = pattern.sub(instead, text)
    lines = [line if len(line) <= WIDEST else f"{line[:WIDEST]}…" for line in text.splitlines()]
    if len(lines) > LONGEST:
        lines = [*lines[: LONGEST - 1], f"… {len(lines) - LONGEST + 1} more lines"]
    lines += ["(and a picture)" for one in result.attachments if one.data is not None]
    return {"arguments": dict(example.arguments), "result": lines}


async def _serve(context: BrowserContext) -> None:
    """Let every address answer with the page that comes with the package; nothing goes to the network."""

    async def answer(route: Route) -> None:
        if route.request.url.startswith(f"{SITE}/second"):
            await route.fulfill(body="<!doctype html><title>Second</title><h1>Second page</h1>")
        elif route.request.url.endswith("/prices"):
            await route.fulfill(json={"tea": 3})
        elif route.request.url.startswith(SITE):
            await route.fulfill(body=PAGE.read_text("utf-8"), content_type="text/html; charset=utf-8")
        else:
            results = "<!doctype html><title>Search</title><h1>Results</h1><a href='/1'>Moss and Memory</a>"
            await route.fulfill(body=results, content_type="text/html; charset=utf-8")

    await context.route("**/*", answer)


def all_arguments() -> dict[str, dict[str, Any]]:
    """The arguments of every example, the server's own tools last."""
    actions = {name: dict(example.arguments) for name, example in EXAMPLES.items()}
    return actions | {name: dict(arguments) for name, arguments in server_examples.EXAMPLES.items()}


def kept() -> dict[str, dict[str, Any]]:
    """The results as they were captured last."""
    return json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}


def main() -> int:
    """Capture what is asked for; the exit code."""
    before = {} if "--all" in sys.argv[1:] else kept()
    arguments = all_arguments()
    stale = {name for name, given in arguments.items() if before.get(name, {}).get("arguments") != given}
    captured = asyncio.run(capture([name for name in EXAMPLES if name in stale]))
    if stale & server_examples.EXAMPLES.keys():
        captured |= asyncio.run(server_examples.capture())
    merged = {name: captured.get(name) or before[name] for name in arguments}
    KEPT.write_text(json.dumps(merged, ensure_ascii=False, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"captured: {', '.join(captured) or 'nothing'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
