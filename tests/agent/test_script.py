"""A recorded run as a Playwright script: it is run, and comes to the same end."""

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_browser.actions.registry import Registry
from mcp_browser.agent.record.history import AgentHistory, TaskFolder
from mcp_browser.agent.record.report import SCRIPT_FILE, export_script
from mcp_browser.agent.task import AgentBrain, Task
from mcp_browser.cli import main
from mcp_browser.llm.messages import Message
from mcp_browser.llm.scripted import Speaker
from mcp_browser.settings import FileSettings
from tests.agent.conftest import Stage, click, done, fill, index_of, kept, output
from tests.support.scripts import chromium, run
from tests.support.site import Reply, Request, Site

WORD = "correct horse"

SHOP = """<h1>Shop</h1><form id=order>
<label>Name <input name=name></label><label>Word <input name=word></label>
<label>Day <select name=day><option>Friday</option><option>Sunday</option></select></label>
<label><input type=checkbox name=tea checked> Tea</label>
<label>Note <input type=file name=note></label>
<button>Order</button></form>
<p><a href="/shop/more" target=_blank>More</a> <a href="/download/list.txt?text=Books">List</a></p>
<div id=host></div><iframe title=Basket src=/shop/basket></iframe>
<script>
order.onsubmit = event => {
  event.preventDefault();
  const given = new FormData(order);
  const why = prompt("Why?");
  const keys = ["name", "word", "day", "tea"];
  const told = keys.map(key => given.get(key)).concat(given.get("note").name, why);
  fetch("/shop/order", {method: "POST", body: told.join("|")});
};
host.attachShadow({mode: "open"}).innerHTML = "<button>Sign</button>";
host.shadowRoot.querySelector("button").onclick = () => fetch("/shop/sign", {method: "POST"});
</script>"""


class Shop:
    """The shop, and what was done in it."""

    def __init__(self, site: Site) -> None:
        self.told: list[str] = []
        self.url = site.route("/shop", self._answer)

    def _answer(self, request: Request) -> Reply:
        match request.path:
            case "/shop/basket":
                body = "<button onclick=\"fetch('/shop/take', {method: 'POST'})\">Take</button>"
            case "/shop/more":
                body = "<button onclick=\"fetch('/shop/seen', {method: 'POST'})\">Seen</button>"
            case _:
                body = SHOP
        if request.method == "POST":
            self.told.append(f"{request.path.removeprefix('/shop/')} {request.body.decode()}".strip())
        return Reply(f"<!doctype html><meta charset=utf-8><title>Shop</title>{body}".encode())


def one(action: str, role: str, name: str, **arguments: Any) -> Speaker:
    """A step with one action on an element that the model sees."""
    return lambda messages: output({action: {"index": index_of(messages, role, name), **arguments}})


async def run_script(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the browser of the tests."""
    return await run([sys.executable, script], script.parent, CHROMIUM=chromium(), **environment)


@pytest.mark.slow
async def test_the_script_of_a_run_comes_to_the_same_end(
    stage: Stage, tmp_path: Path, folders: FileSettings
) -> None:
    shop = Shop(stage.site)
    note = folders.upload_dirs[0] / "note.txt"
    note.write_text("A note")

    def form(messages: Sequence[Message]) -> dict[str, Any]:
        fields = [
            {"index": index_of(messages, "textbox", "Name"), "value": 'Ann "A"'},
            {"index": index_of(messages, "combobox", "Day"), "value": "Sunday"},
            {"index": index_of(messages, "checkbox", "Tea"), "value": False},
        ]
        return output({"fill_form": {"fields": fields}})

    secrets = kept("shop-word", WORD)
    script: list[Any] = [
        form,
        fill("textbox", "Word", "<secret>shop-word</secret>"),
        one("upload_file", "button", "Note", paths=str(note)),
        click("button", "Order"),
        output({"handle_dialog": {"accept": True, "text": "Because"}}),
        click("button", "Sign"),
        click("button", "Take"),
        output({"click_element": {"index": 9999}}),
        click("link", "List"),
        click("link", "More"),
        click("button", "Seen"),
        done("All done."),
    ]
    task = Task(text='Order "all" \\ of it', start_url=shop.url, secrets=secrets.names)
    agent, outcome = await stage.run(script, task, secrets=secrets, folder=tmp_path)
    await agent.write_up()
    assert outcome.succeeded, outcome
    done_by_agent, shop.told = shop.told, []
    assert done_by_agent == [f'order Ann "A"|{WORD}|Sunday||note.txt|Because', "sign", "take", "seen"]
    text = (tmp_path / SCRIPT_FILE).read_text()
    assert WORD not in text
    assert 'get_by_role("button", name="Order", exact=True)' in text
    ran = await run_script(tmp_path / SCRIPT_FILE, SHOP_WORD=WORD)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "All done.\n"
    assert shop.told == done_by_agent
    assert (tmp_path / "list.txt").read_text() == "Books"
    refused = await run_script(tmp_path / SCRIPT_FILE)
    assert refused.returncode == 1
    assert "SHOP_WORD" in refused.stderr


def history(*actions: dict[str, Any], task: str = "Do it.", **more: Any) -> AgentHistory:
    """A history of one step."""
    step = {"number": 1, "url": "http://127.0.0.1/", "started": "2026-01-01T00:00:00Z", "actions": actions}
    return AgentHistory.model_validate({"id": "x", "task": {"text": task}, "steps": [step], **more})


def body_of(script: str) -> list[str]:
    """The statements of a script's `run`, which is Python."""
    (run,) = [node for node in ast.parse(script).body if getattr(node, "name", "") == "run"]
    assert isinstance(run, ast.FunctionDef)
    return [ast.unparse(statement) for statement in run.body[1:]]


BUTTON = {"index": 1, "role": "button", "name": "Go", "tag": "button", "path": "html > body > button"}
GO = "the(page.get_by_role('button', name='Go', exact=True), page.locator('html > body > button'))"
AT = {**BUTTON, "argument": "at", "width": 80, "height": 20, "point": [0.25, 0.5]}

TARGET = {**BUTTON, "argument": "target"}
NEW_PAGE = "page_2 = page.context.new_page()"

EQUIVALENTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("go_to_url", {"url": "example.com"}, ["page.goto('https://example.com')"]),
    ("go_back", {}, ["page.go_back()"]),
    ("click_element", {"index": 1, "double": True}, [f"{GO}.click(click_count=2)"]),
    ("hover_element", {"index": 1}, [f"{GO}.hover()"]),
    ("drag_element", {"index": 1, "target": 1}, [f"{GO}.drag_to({GO})"]),
    ("send_keys", {"keys": "Tab Enter"}, ["page.keyboard.press('Tab')", "page.keyboard.press('Enter')"]),
    ("send_keys", {"keys": "a text"}, ["page.keyboard.type('a text')"]),
    ("hotkey", {"keys": "ctrl c"}, ["page.keyboard.press('Control+c')"]),
    (
        "scroll",
        {"direction": "up", "pages": 2},
        ["page.evaluate('document.scrollingElement.scrollBy({top: -2 * innerHeight})')"],
    ),
    ("wait_for", {"seconds": 2}, ["page.wait_for_timeout(2000)"]),
    ("mouse_click", {"at": "20,10"}, [f"{GO}.click(position={{'x': 20, 'y': 10}})"]),
    ("mouse_wheel", {"direction": "left", "pixels": 50}, ["page.mouse.wheel(-50, 0)"]),
    ("save_page", {"format": "png"}, ["page.screenshot(path='page.png', full_page=True)"]),
    ("evaluate_script", {"script": "return 1 + 1"}, ["page.evaluate('() => { return 1 + 1 }')"]),
    ("evaluate_script", {"script": "document.title"}, ["page.evaluate('document.title')"]),
    ("go_to_url", {"url": "a.org/2", "new_tab": True}, [NEW_PAGE, "page_2.goto('https://a.org/2')"]),
    ("open_tab", {"url": "http://127.0.0.1/2"}, [NEW_PAGE, "page_2.goto('http://127.0.0.1/2')"]),
]


@pytest.mark.parametrize(("name", "arguments", "wanted"), EQUIVALENTS)
def test_an_action_is_a_statement(name: str, arguments: dict[str, Any], wanted: list[str]) -> None:
    elements = [one for one in (BUTTON, TARGET, AT) if one.get("argument", "index") in arguments]
    opened = [2] if name == "open_tab" or "new_tab" in arguments else []
    call = {"name": name, "arguments": arguments}
    action = {"call": call, "elements": elements, "tab": 1, "opened": opened}
    assert body_of(export_script(history(action)))[1:] == wanted


NOTHING_LIKE_IT = [
    ("emulate", {"device": "iPhone 15"}),
    ("save_page", {"format": "mhtml"}),
    ("upload_file", {"index": 1, "paths": "browser://files/x"}),
    ("click_element", {"index": 1}),
    ("mouse_drag", {"start": "1,1", "end": "2,2", "via": ["3,3"]}),
    ("switch_tab", {"tab": 9}),
    ("scroll", {"pages": "1}); import os"}),
]


@pytest.mark.parametrize(("name", "arguments"), NOTHING_LIKE_IT)
def test_an_action_without_an_equivalent_is_said_to_have_none(name: str, arguments: dict[str, Any]) -> None:
    elements = [BUTTON] if name == "upload_file" else []
    call = {"name": name, "arguments": arguments}
    (_, last) = body_of(export_script(history({"call": call, "elements": elements})))
    assert last.startswith(f"raise NotImplementedError('{name}: ")


def test_an_action_of_ones_own_stands_in_the_script_by_its_code() -> None:
    own = Registry(group="shelf")

    @own.action("Dust.", code=lambda code, params: code.call(code.page, "dust", params.times))
    def dust(times: int) -> str:  # pyright: ignore[reportUnusedFunction]
        return str(times)

    @own.action("Count.", effect="read")
    def count() -> str:  # pyright: ignore[reportUnusedFunction]
        return "3"

    calls = [{"call": {"name": "dust", "arguments": {"times": 2}}}, {"call": {"name": "count"}}]
    script = export_script(history(*calls), own)
    assert body_of(script)[-1] == "page.dust(2)"
    assert "# Left out: count()" in script


def test_the_command_line_prints_scripts_and_reports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = history({"call": {"name": "go_back", "arguments": {}}})
    TaskFolder(tmp_path).save_history(run)
    assert main(["tasks", "export", str(tmp_path)]) == 0
    script = capsys.readouterr().out
    assert body_of(script)[-1] == "page.go_back()"
    assert script.endswith("    main()\n")
    assert main(["tasks", "report", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    assert main(["tasks", "export", str(tmp_path / "none")]) == 1
    assert "There is no task" in capsys.readouterr().err


def test_nothing_in_a_history_becomes_code(tmp_path: Path) -> None:
    evil = '"""\nimport os; os.abort()\n\\"""\'\'\'#{{ 7 * 7 }}'
    attributes = {"id": evil, "data-testid": evil}
    element = {**BUTTON, "name": evil, "path": evil, "attributes": attributes, "frames": [evil]}
    call = {"name": "input_text", "arguments": {"index": 1, "text": evil}}
    actions = [{"call": call, "elements": [element]}, {"call": {"name": evil}}, {"call": call, "error": evil}]
    evils = history(*actions, task=evil, id=evil, version=evil)
    step = evils.steps[0].model_copy(update={"url": evil, "brain": AgentBrain(next_goal=evil)})
    script = export_script(evils.model_copy(update={"steps": [step]}))
    tree = ast.parse(script)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"os", "sys", "time"}, "nothing else is imported"
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "abort" not in called
