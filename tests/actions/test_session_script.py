"""What was done as statements of Playwright; a session exported as a test, which is run and passes."""

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from mcp_browser import ActionError, Registry
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.code import Code, CodeLanguage, RecordedAction, Script
from mcp_browser.actions.recording import params_of
from mcp_browser.dom.identities import ElementLocator, ElementRecord, locators
from mcp_browser.errors import NotFound
from tests.actions.hand import Hand
from tests.support.scripts import passes_in_python, passes_in_typescript
from tests.support.site import Reply, Request, Site

PASSWORD = "correct horse battery"

SHOP = """<h1>Shop</h1><form id=order>
<label>Name <input name=name></label><label>Password <input type=password name=secret_word></label>
<label>Day <select name=day><option>Friday</option><option>Sunday</option></select></label>
<label><input type=checkbox name=tea checked> Tea</label><button>Order</button></form>
<p id=out></p><ul id=basket><li>Apple</li><li>Pear</li></ul>
<a href="/shop/more" target=_blank>More</a> <a href="/download/list.txt?text=Books">List</a>
<button onclick="out.textContent = prompt('Why?')">Ask</button><button>Twin</button><button id=t>Twin</button>
<div id=host></div>
<script>
order.onsubmit = event => {
  event.preventDefault();
  const given = new FormData(order);
  out.textContent = "Ordered";
  const told = ["name", "secret_word", "day", "tea"].map(key => given.get(key));
  fetch("/shop/order", {method: "POST", body: told.join("|")});
};
host.attachShadow({mode: "open"}).innerHTML = "<button>Sign</button>";
host.shadowRoot.querySelector("button").onclick = () => fetch("/shop/sign", {method: "POST"});
for (const twin of document.querySelectorAll("button"))
  if (twin.textContent === "Twin") twin.onclick = () => fetch("/shop/twin", {method: "POST", body: twin.id});
</script>"""


class Shop:
    """The shop, and what was done in it."""

    def __init__(self, site: Site) -> None:
        self.done: list[str] = []
        self.url = site.route("/shop", self._answer)

    def _answer(self, request: Request) -> Reply:
        if request.method == "POST":
            self.done.append(f"{request.path.removeprefix('/shop/')} {request.body.decode()}".strip())
        body = "<h1>More</h1>" if request.path == "/shop/more" else SHOP
        return Reply(f"<!doctype html><meta charset=utf-8><title>Shop</title>{body}".encode())


async def shopped(hand: Hand, site: Site) -> Shop:
    """A session in which a shop was used, with assertions."""
    shop = Shop(site)
    await hand.do("go_to_url", url=shop.url)
    fields = [
        {"index": hand.index("Name"), "value": 'Ann "A"'},
        {"index": hand.index("Day"), "value": "Sunday"},
        {"index": hand.index("Tea"), "value": False},
    ]
    await hand.do("fill_form", fields=fields)
    await hand.do("input_text", index=hand.index("Password"), text=PASSWORD)
    await hand.do("expect_value", index=hand.index("Name"), value='Ann "A"')
    await hand.do("expect_value", index=hand.index("Tea"), value=False)
    await hand.do("click_element", index=hand.index("Order"))
    await hand.do("expect_text", selector="#out", text="Ordered", exact=True)
    await hand.do("expect_visible", text="Ordered")
    await hand.do("expect_count", selector="#basket li", count=2)
    await hand.do("expect_snapshot", name="basket", selector="#basket")
    await hand.do("expect_snapshot", name="basket", selector="#basket")
    # What only reads is no part of the test.
    await hand.do("audit_accessibility")
    await hand.do("generate_locator", index=hand.index("Ask"))
    await hand.do("click_element", index=hand.index("Ask"))
    await hand.do("handle_dialog", accept=True, text="Because")
    await hand.do("expect_text", selector="#out", text="Because")
    await hand.do("click_element", index=hand.index("Sign"))
    await hand.do("find_elements", text="Twin")
    for element in hand.data["elements"]:
        await hand.do("click_element", index=element["index"])
    await hand.fails("click_element", index=99_999)
    await hand.do("click_element", index=hand.index("List"))
    await hand.do("click_element", index=hand.index("More"))
    await hand.do("expect_visible", selector="h1")
    await hand.do("expect_url", url="/shop/more")
    assert sorted(shop.done) == sorted([f'order Ann "A"|{PASSWORD}|Sunday|', "sign", "twin", "twin t"])
    return shop


async def exported(hand: Hand, name: str, **arguments: Any) -> Path:
    """The file that the session's test was written to; a file of that name stays as it is."""
    assert PASSWORD not in await hand.do("export_script", name=name, **arguments)
    return hand.file


@pytest.mark.slow
@pytest.mark.fresh
@pytest.mark.parametrize(
    ("language", "name"),
    [("python", r"test_shop(-\d+)?\.py"), ("typescript", r".*\.spec\.ts")],
    ids=["python", "typescript"],
)
async def test_the_exported_test_passes_and_does_the_same(
    hand: Hand, site: Site, tmp_path: Path, language: str, name: str
) -> None:
    shop = await shopped(hand, site)
    before, shop.done = shop.done, []
    file = await exported(hand, "shop", language=language)
    assert re.fullmatch(name, file.name)
    copy = Path(shutil.copy(file, tmp_path))
    if language == "python":
        await passes_in_python(copy, SECRET_WORD=PASSWORD)
    else:
        await passes_in_typescript(copy, typed=True, SECRET_WORD=PASSWORD)
    assert sorted(shop.done) == sorted(before)


@pytest.mark.fresh
async def test_a_session_without_actions_has_no_test_and_what_a_page_says_is_no_code(
    hand: Hand,
) -> None:
    await hand.do("get_state")
    assert "Nothing has been done" in await hand.fails("export_script", NotFound)
    evil = '\'"""\\n\\nimport os; os.abort()\\u2028//'
    await hand.open(f"<button id=b></button><script>b.setAttribute('aria-label', `{evil}`)</script>")
    (index,) = [e["index"] for e in (await found(hand, "button"))]
    await hand.do("click_element", index=index)
    text = (await exported(hand, "evil")).read_text()
    imported = {
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {"Page"}
    assert "\n\nimport os" not in (await exported(hand, "evil", language="typescript")).read_text()


@pytest.mark.fresh
async def test_a_secret_that_the_page_shows_is_not_in_the_file(hand: Hand) -> None:
    await hand.open("<button>Use s3cret-word</button>")
    hand.session.hide({"shop": "s3cret-word"})
    await hand.do("click_element", index=hand.index("Use s3cret-word"))
    text = (await exported(hand, "hidden")).read_text()
    assert "s3cret-word" not in text
    assert "Use <shop>" in text


@pytest.mark.fresh
async def test_a_test_whose_secret_is_not_set_says_which_variable_to_set(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    await hand.open("<input type=password aria-label=Word>")
    await hand.do("input_text", index=hand.index("Word"), text="hunter22")
    test: dict[str, Any] = {}
    exec((await exported(hand, "unset")).read_text(), test)
    monkeypatch.delenv("WORD", raising=False)
    with pytest.raises(LookupError, match="set WORD to the secret"):
        test["secret"]("word")
    monkeypatch.setenv("WORD", "hunter22")
    assert test["secret"]("word") == "hunter22"


async def found(hand: Hand, role: str) -> list[dict[str, Any]]:
    await hand.do("find_elements", role=role)
    return hand.data["elements"]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", 'page.get_by_role("button", name="Go", exact=True).click()'),
        ("typescript", 'await page.getByRole("button", { name: "Go", exact: true }).click();'),
    ],
)
async def test_each_result_has_its_statement_where_that_is_wanted(
    hand: Hand, language: str, line: str
) -> None:
    masked = "<input aria-label=Pin style='-webkit-text-security: disc'>"
    await hand.open(f"<button>Go</button><input type=password aria-label=Word>{masked}")
    assert "Code:" not in await hand.do("click_element", index=hand.index("Go"))
    with hand.under(tools={"codegen": language}):
        assert f"Code:\n{line}" in await hand.do("click_element", index=hand.index("Go"))
        assert 'secret("word")' in await hand.do("input_text", index=hand.index("Word"), text="hunter22")
        assert 'secret("pin")' in await hand.do("input_text", index=hand.index("Pin"), text="hunter22")
        assert "Code:" not in await hand.do("get_state")


@pytest.mark.fresh
async def test_what_no_locator_finds_is_said_in_place_of_a_statement_that_would_fail(hand: Hand) -> None:
    shut = "attachShadow({mode: 'closed'}).innerHTML = '<button>In shadow</button>'"
    await hand.open(f"<div id=host></div><button>Plain</button><script>host.{shut}</script>")
    await hand.do("click_element", index=hand.index("Plain"))
    await hand.do("click_element", index=hand.index("In shadow"))
    text = await hand.do("export_script")
    assert 'name="Plain", exact=True).click()' in text
    (line,) = (line for line in text.splitlines() if "In shadow" in line)
    assert "raise NotImplementedError(" in line
    assert "no locator of Playwright" in line


BUTTON = ElementRecord(index=1, role="button", name="Go", tag="button", argument="index")


def written(
    *calls: tuple[str, dict[str, Any]], language: CodeLanguage = "python", registry: Registry | None = None
) -> list[str]:
    """The lines of these actions, each of which is about the same button."""
    actions = registry or default_registry()
    script = Script(language)
    for name, arguments in calls:
        action = actions[name]
        script.add(
            RecordedAction(
                name, params=params_of(action, arguments), code=action.code, elements=(BUTTON,), tab=1
            )
        )
    return script.lines()


def test_an_element_is_found_by_its_text_in_which_no_secret_has_a_place() -> None:
    record = ElementRecord(index=1, role="text", name="", text="<secret>home</secret>", tag="b")
    script = Script("python")
    assert script.element("page", locators(record)) == 'page.get_by_text("<secret>home</secret>")'
    assert script.secrets == set()


def test_a_locator_is_written_in_both_languages() -> None:
    locator = [ElementLocator("role", "button", 'Say "hi"\u2028', frames=("#inner",))]
    assert Script("python").element("page_2", locator) == (
        'page_2.frame_locator("#inner").get_by_role("button", name=\'Say "hi"\\u2028\', exact=True)'
    )
    assert Script("typescript").element("page", locator) == (
        'page.frameLocator("#inner").getByRole("button", { name: "Say \\"hi\\"\\u2028", exact: true })'
    )


def test_a_dialog_is_answered_before_the_action_that_opens_it() -> None:
    calls = [("click_element", {"index": 1}), ("handle_dialog", {"accept": False})]
    assert written(*calls, ("handle_dialog", {"accept": True, "text": "Tea"})) == [
        'answer_dialogs(page, False, "Tea")',
        'page.get_by_role("button", name="Go", exact=True).click()',
    ]


def test_a_download_that_is_awaited_is_saved_around_the_action_before() -> None:
    lines = written(("click_element", {"index": 1}), ("wait_for_download", {}), language="typescript")
    assert lines == [
        "{",
        '  const download = page.waitForEvent("download");',
        '  await page.getByRole("button", { name: "Go", exact: true }).click();',
        "  await (await download).saveAs((await download).suggestedFilename());",
        "}",
    ]


def test_an_action_of_ones_own_has_the_code_that_it_declares() -> None:
    shelf = Registry(group="shelf")

    def code(code: Code, params: Any) -> None:
        if params.size > 9:
            raise ActionError("there is no such label")
        code.call(code.element(), "fill", f"{params.text} {params.size}", timeout=500)

    @shelf.action("Write a label.", code=code)
    def write_label(index: int, text: str, size: int = 3) -> str:  # pyright: ignore[reportUnusedFunction]
        return f"{index} {text} {size}"

    button = 'page.get_by_role("button", name="Go", exact=True)'
    assert written(("write_label", {"index": 1, "text": "Tea"}), registry=shelf) == [
        f'{button}.fill("Tea 3", timeout=500)'
    ]
    assert written(("write_label", {"index": 1, "text": "Tea", "size": 10}), registry=shelf) == [
        'raise NotImplementedError("write_label: there is no such label")'
    ]
