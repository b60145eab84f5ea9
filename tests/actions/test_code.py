"""Recorded actions as statements of Playwright in both languages."""

from typing import Any

from mcp_browser import ActionError, Registry
from mcp_browser.actions.catalog import default_registry
from mcp_browser.actions.code import Code, CodeLanguage, RecordedAction, Script
from mcp_browser.actions.recording import params_of
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.locators import ElementLocator, locators

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
