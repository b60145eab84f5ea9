"""What a person does is recorded: as a test, and as a history to do again. What a page forges is not."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import FrameLocator, Locator, Page, expect

from mcp_browser.agent.record.history import AgentHistory
from mcp_browser.agent.record.variables import example_of
from mcp_browser.agent.recorder import RESULT_SECONDS, Check, PersonRecorder
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.browser.session import BrowserSession
from mcp_browser.errors import NotActionable
from tests.actions.hand import Hand
from tests.agent.conftest import replay
from tests.browser.conftest import until
from tests.support.site import Site

pytestmark = pytest.mark.fresh

PASSWORD = "correct horse battery"
CODE = "748291"
SHOP = """<form id=order><label>Name <input name=name></label>
<label>Password <input type=password name=word></label>
<label>Code <input name=c autocomplete=one-time-code></label>
<label>Day <select name=day><option>Friday<option>Sunday</select></label>
<label><input type=checkbox name=tea> Tea</label><label>Two <input type=radio name=r></label>
<label>Volume <input type=range name=volume max=10 value=2></label>
<textarea aria-label=Notes name=notes></textarea>
<div contenteditable role=textbox aria-label=Editor></div><input type=file aria-label=Picture>
<button>Order</button>
</form><p id=out>Nothing yet</p><button ondblclick="out.textContent='twice'">Double</button>
<button onclick="out.textContent=prompt('Why?')">Ask</button><div id=host></div><div id=sealed></div>
<div id=apple draggable=true>Apple</div><div id=basket>Basket</div>
<canvas id=map width=80 height=40 style="background:#ccc"></canvas>
<script>order.onsubmit = event => { event.preventDefault(); const given = new FormData(order);
  out.textContent = [...given.values()].filter(one => typeof one === 'string').join('|') };
apple.ondragstart = event => event.dataTransfer.setData('text/plain', 'apple');
basket.ondragover = event => event.preventDefault();
basket.ondrop = event => { event.preventDefault(); basket.textContent = 'Full' };
host.attachShadow({mode: "open"}).innerHTML = "<button>Sign</button>";
sealed.attachShadow({mode: "closed"}).innerHTML = "<button>Seal</button>"</script>"""
FORGED = """() => {
  const name = document.querySelector('[name=name]');
  for (const type of ['pointerdown', 'pointerup', 'click'])
    order.lastElementChild.dispatchEvent(new PointerEvent(type, {bubbles: true}));
  document.querySelector('[name=tea]').click();
  document.querySelector('[name=tea]').closest('label').click();
  name.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
  name.focus();
  document.execCommand('insertText', false, 'forged');
  for (const key in window) if (/^x[0-9a-f]{24}$/.test(key)) window[key]('{"kind":"clicked"}');
}"""


class Person:
    """Who works the browser beside the tools: by mouse and keyboard."""

    def __init__(self, session: BrowserSession) -> None:
        self.session = session

    @property
    def page(self) -> Any:
        return self.session.current_tab.page

    async def click(self, what: Locator, **how: Any) -> None:
        box = await what.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        await what.page.mouse.click(x, y, **how)

    async def button(self, name: str, within: FrameLocator | None = None) -> None:
        await self.click((within or self.page).get_by_role("button", name=name))

    async def fill(self, name: str, text: str) -> None:
        await self.click(self.page.get_by_label(name))
        await self.page.keyboard.type(text)

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)


class Recorded:
    """What was recorded: the lines of the test in Python, the one in TypeScript, the history."""

    lines: tuple[str, ...] = ()
    typescript = ""
    text = ""
    history: AgentHistory

    def __init__(self, hand: Hand) -> None:
        self._hand = hand

    async def take(self) -> None:
        files = [Path(str(file.path)) for file in self._hand.result.attachments]
        assert [file.name.partition("-")[0].partition(".")[0] for file in files] == [
            "test_shop",
            "shop",
            "shop",
        ]
        python, self.typescript, history = (file.read_text() for file in files)
        self.text = python + self.typescript + history
        self.lines = tuple(line[4:] for line in python.partition("def test_")[2].splitlines()[1:])
        self.history = AgentHistory.model_validate_json(history)


@asynccontextmanager
async def recording(hand: Hand) -> AsyncGenerator[tuple[Recorded, Person, Page]]:
    recorded, person = Recorded(hand), Person(hand.session)
    await hand.do("start_recording", kind="actions", name="shop")
    yield recorded, person, person.page
    await hand.do("stop_recording")
    await recorded.take()


async def again(hand: Hand, recorded: AgentHistory, *secrets: str, **variables: str) -> Any:
    """The outcome of doing it again, without a model."""
    values = {name: Secret.model_validate({"value": PASSWORD, "domains": ["127.0.0.1"]}) for name in secrets}
    return await replay(hand.session, recorded, variables=variables, secrets=Secrets(values)).run()


async def log_in(person: Person, page: Page) -> None:
    await person.fill("Name", "Ann")
    await person.press("Tab")
    await page.keyboard.type(PASSWORD)
    await person.fill("Code", CODE)


async def test_a_recording_names_the_secrets_that_a_person_types(hand: Hand) -> None:
    await hand.open(SHOP)
    async with recording(hand) as (recorded, person, page):
        await log_in(person, page)
    assert list(recorded.lines[3:]) == [
        'page.get_by_role("textbox", name="Password", exact=True).fill(secret("word"))',
        'page.get_by_role("textbox", name="Code", exact=True).fill(secret("c"))',
    ]
    assert PASSWORD not in recorded.text
    assert CODE not in recorded.text


async def test_a_number_that_arrow_keys_step_is_filled_in_and_no_key_is_pressed(hand: Hand) -> None:
    await hand.open("<label>Number <input type=number value=3></label>")
    async with recording(hand) as (recorded, person, page):
        await person.click(page.get_by_label("Number"))
        await person.press("ArrowUp", "ArrowUp")
    assert list(recorded.lines[1:]) == ['page.get_by_role("spinbutton", name="Number", exact=True).fill("5")']


@pytest.mark.slow
async def test_a_form_is_recorded_and_done_again_and_its_secrets_have_names(
    hand: Hand, tmp_path: Path
) -> None:
    await hand.open(SHOP)
    async with recording(hand) as (recorded, person, page):
        await log_in(person, page)
        await person.press("Tab", "ArrowDown")
        await person.click(page.get_by_text("Tea"))
        await person.click(page.get_by_label("Two"))
        slider = await page.get_by_label("Volume").bounding_box()
        assert slider is not None
        await page.mouse.click(slider["x"] + slider["width"] - 2, slider["y"] + slider["height"] / 2)
        await person.fill("Notes", "a")
        await person.press("Enter", "b")
        await person.fill("Editor", "hello")
        await person.button("Order")
    assert list(recorded.lines[1:]) == [
        'page.get_by_role("textbox", name="Name", exact=True).fill("Ann")',
        'page.keyboard.press("Tab")',
        'page.get_by_role("textbox", name="Password", exact=True).fill(secret("word"))',
        'page.get_by_role("textbox", name="Code", exact=True).fill(secret("c"))',
        'page.keyboard.press("Tab")',
        'page.get_by_role("combobox", name="Day", exact=True).select_option(["Sunday"])',
        'page.get_by_role("checkbox", name="Tea", exact=True).set_checked(True)',
        'page.get_by_role("radio", name="Two", exact=True).set_checked(True)',
        'page.get_by_role("slider", name="Volume", exact=True).fill("10")',
        """page.get_by_role("textbox", name="Notes", exact=True).fill('a\\nb')""",
        'page.get_by_role("textbox", name="Editor", exact=True).fill("hello")',
        'page.get_by_role("button", name="Order", exact=True).click()',
    ]
    assert (
        'await page.getByRole("slider", { name: "Volume", exact: true }).fill("10");' in recorded.typescript
    )
    assert PASSWORD not in recorded.text
    assert CODE not in recorded.text
    example = example_of(recorded.history)
    assert "1. input_text textbox \"Name\" text='Ann'" in example
    assert "Name: Ann" in example
    said = await page.locator("#out").inner_text()
    outcome = await again(hand, recorded.history, "word", "c", Name="Bea")
    assert outcome.succeeded, outcome
    assert await page.locator("#out").inner_text() == said.replace("Ann", "Bea").replace(CODE, PASSWORD)


MENUS = {
    "by style": "<style>#list { display: none; position: absolute }"
    " #menu:hover #list { display: block }</style>",
    "by script": "<style>#list { display: none; position: absolute } #list.open { display: block }</style>"
    "<script>addEventListener('load', () => {"
    " menu.onmouseenter = () => setTimeout(() => list.className = 'open', 80);"
    " menu.onmouseleave = () => list.className = '' })</script>",
    "made anew": "<script>addEventListener('load', () => { const made = list; made.remove();"
    " made.style.position = 'absolute'; menu.onmouseenter = () => menu.append(made);"
    " menu.onmouseleave = () => made.remove() })</script>",
}
"""Menus that are there while the mouse is over what opens them."""


@pytest.mark.slow
@pytest.mark.parametrize("way", MENUS)
async def test_a_menu_that_opens_by_hovering_is_hovered_again(hand: Hand, way: str) -> None:
    await hand.open(
        f"{MENUS[way]}<p>Shop</p><div id=menu style='width: 90px'><a href='#all'>Goods</a><div id=list>"
        "<button onclick=\"out.textContent += 'tea '\">Tea</button></div></div>"
        "<p style='margin-top: 90px' id=out></p><button onmouseenter='this.className = 1'>Plain</button>"
    )
    async with recording(hand) as (recorded, person, page):
        box = await page.get_by_text("Goods").bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + 5, box["y"] + 5, steps=3)
        await page.get_by_role("button", name="Tea").wait_for()
        tea = await page.get_by_role("button", name="Tea").bounding_box()
        assert tea is not None
        await page.mouse.move(tea["x"] + 9, tea["y"] + 9, steps=5)
        await page.mouse.click(tea["x"] + 9, tea["y"] + 9)
        await asyncio.sleep(0.5)
        await person.button("Plain")
    assert list(recorded.lines[1:]) == [
        'page.get_by_role("link", name="Goods", exact=True).hover()',
        'page.get_by_role("button", name="Tea", exact=True).click()',
        'page.get_by_role("button", name="Plain", exact=True).click()',
    ]
    assert '.getByRole("link", { name: "Goods", exact: true }).hover()' in recorded.typescript
    await page.mouse.move(600, 400)
    outcome = await again(hand, recorded.history)
    assert outcome.succeeded, outcome
    assert await page.locator("#out").inner_text() == "tea"


@pytest.mark.slow
async def test_clicks_drags_frames_shadow_trees_and_dialogs(hand: Hand, site: Site) -> None:
    far = site.page("<button onclick='this.textContent+=1'>Far</button>").replace("127.0.0.1", "localhost")
    await hand.open(SHOP + f"<iframe srcdoc='<button>Near</button>'></iframe><iframe src='{far}'></iframe>")
    async with recording(hand) as (recorded, person, page):
        await person.click(page.get_by_role("button", name="Double"), click_count=2, delay=5)
        await person.button("Sign")
        await person.button("Near", page.frame_locator("iframe").first)
        await person.button("Far", page.frame_locator("iframe").last)
        await person.click(page.locator("#map"), button="right")
        await page.keyboard.down("Shift")
        await person.click(page.get_by_text("Nothing yet").or_(page.get_by_text("twice")))
        await page.keyboard.up("Shift")
        box = await page.locator("#sealed").bounding_box()
        assert box is not None
        await page.mouse.click(box["x"] + 15, box["y"] + box["height"] / 2)
        await page.get_by_text("Apple").hover()
        await page.mouse.down()
        await page.get_by_text("Basket").hover()
        await page.mouse.up()
        asking = asyncio.ensure_future(person.button("Ask"))
        await until(lambda: hand.session.current_tab.dialog is not None)
        await hand.session.current_tab.answer_dialog(True, "Because")
        await asking
    assert list(recorded.lines[1:]) == [
        'page.get_by_role("button", name="Double", exact=True).click(click_count=2)',
        'page.get_by_role("button", name="Sign", exact=True).click()',
        'page.frame_locator("html > body > iframe:nth-of-type(1)")'
        '.get_by_role("button", name="Near", exact=True).click()',
        'page.frame_locator("html > body > iframe:nth-of-type(2)")'
        '.get_by_role("button", name="Far", exact=True).click()',
        'page.locator("#map").click(position={"x": 40, "y": 20}, button="right")',
        'page.locator("#out").click(modifiers=["Shift"])',
        '# click_element: no locator of Playwright\'s finds button "Seal"',
        'page.locator("#apple").drag_to(page.locator("#basket"))',
        'answer_dialogs(page, "Because")',
        'page.get_by_role("button", name="Ask", exact=True).click()',
    ]
    outcome = await again(hand, recorded.history)
    assert outcome.succeeded, outcome


@pytest.mark.slow
async def test_navigation_tabs_popups_and_keys(hand: Hand, site: Site) -> None:
    second = site.page(
        "<h1>Second</h1><p>Order 1234</p><a href='/status/200?token=abcdef123456'>On</a>", title="Second"
    )
    first = site.page(
        f"<a href='{second}'>Next</a> <a href='{second}' target=_blank>New</a>"
        "<p id=keys></p><script>onkeydown = event => keys.textContent += event.key</script>"
    )
    await hand.do("go_to_url", url=first)
    session, tab = hand.session, hand.session.current_tab
    recorder = await session.plugin(PersonRecorder)
    async with recording(hand) as (recorded, person, _):
        await person.press("b", "b", "Control+k")
        await person.click(tab.page.get_by_text("Next"))
        await tab.page.wait_for_url(second)
        await asyncio.sleep(RESULT_SECONDS + 0.1)
        await tab.page.go_back()
        await until(lambda: "go_back" in str(recorder.steps[-1]))
        await tab.page.goto(f"{first}?again")
        await person.click(tab.page.get_by_text("New"))
        await until(lambda: len(session.tabs) == 2)
        popup = session.tabs[max(session.tabs)]
        await popup.page.wait_for_load_state()
        await until(lambda: popup.id in recorder.followed)  # Nobody clicks sooner
        await person.click(popup.page.get_by_text("On", exact=True))
        await popup.page.wait_for_url("**/status/**")
        await person.click(tab.page.get_by_text("Next"))
        await tab.page.wait_for_url(second)
    wait = 'page.wait_for_url("**/page/*", timeout=10000)'  # Numbers in an address may be others
    assert list(recorded.lines) == [
        f'page.goto("{first}")',
        'page.keyboard.type("bb")',
        'page.keyboard.press("Control+k")',
        'page.get_by_role("link", name="Next", exact=True).click()',
        wait,
        "page.go_back()",
        f'page.goto("{first}?again")',
        "with page.context.expect_page() as opened:",
        '    page.get_by_role("link", name="New", exact=True).click()',
        "page_2 = opened.value",
        'page_2.get_by_role("link", name="On", exact=True).click()',
        'page_2.wait_for_url("**/status/*?**", timeout=10000)',
        'page.get_by_role("link", name="Next", exact=True).click()',
        wait,
    ]
    assert "abcdef123456" not in recorded.text
    outcome = await again(hand, recorded.history)
    assert outcome.succeeded, outcome


@pytest.mark.slow
async def test_in_a_window_a_person_chooses_files_in_the_systems_dialog(
    hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a window the dialog is cancelled at once, which the page hears of where it is not kept away.
    monkeypatch.setattr(hand.session.takeover, "in_window", True)
    await hand.open("<input type=file aria-label=CV oncancel='out.textContent += `cancelled`'><p id=out></p>")
    (tmp_path / "cv.txt").write_text("tea")
    async with recording(hand) as (recorded, person, page):
        cdp: Any = await page.context.new_cdp_session(page)
        await person.click(page.get_by_label("CV"))
        await expect(page.locator("#out")).to_have_text("cancelled")
        field = await cdp.send("Runtime.evaluate", {"expression": "document.querySelector('input')"})
        given = {"files": [str(tmp_path / "cv.txt")], "objectId": field["result"]["objectId"]}
        await cdp.send("DOM.setFileInputFiles", given)
    assert recorded.lines[1:] == (
        f'page.get_by_role("button", name="CV", exact=True).set_input_files(["{tmp_path / "cv.txt"}"])',
    )
    await person.click(page.get_by_label("CV"))
    assert "The page asks for a file" in await hand.do("wait_for", text_gone="never", seconds=0.5)
    assert await page.locator("#out").inner_text() == "cancelled"


@pytest.mark.slow
async def test_assertions_are_added_by_the_next_click_and_fail_where_they_do_not_hold(hand: Hand) -> None:
    await hand.open(SHOP)
    recorder = await hand.session.plugin(PersonRecorder)
    async with recording(hand) as (recorded, person, page):
        await person.fill("Name", "Ann")
        wanted: dict[Check, Locator] = {
            "value": page.get_by_label("Name"),
            "text": page.locator("#out"),
            "visible": page.get_by_role("button", name="Order"),
        }
        for what, where in wanted.items():
            await recorder.check(what)
            await person.click(where)
            await until(lambda: recorder.checking is None)
        await person.button("Order")
    assert list(recorded.lines[2:]) == [
        'expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Ann", timeout=15000)',
        'expect(page.locator("#out")).to_contain_text("Nothing yet", timeout=15000)',
        'expect(page.get_by_role("button", name="Order", exact=True)).to_be_visible(timeout=15000)',
        'page.get_by_role("button", name="Order", exact=True).click()',
    ]
    assert (await again(hand, recorded.history)).succeeded
    outcome = await again(hand, recorded.history, **{"Nothing yet": "Something"})
    assert not outcome.succeeded
    assert "Something" in outcome.obstacle


async def test_a_message_that_is_checked_is_found_again_with_what_it_says(hand: Hand) -> None:
    text = "out.textContent = 'Saved'"
    await hand.open(f'<button onclick="{text}">Save</button><div role=status id=out></div>')
    recorder = await hand.session.plugin(PersonRecorder)
    async with recording(hand) as (recorded, person, page):
        await person.button("Save")
        await recorder.check("text")
        await person.click(page.locator("#out"))
        await until(lambda: recorder.checking is None)
    assert recorded.lines[-1].endswith('.to_contain_text("Saved", timeout=15000)')
    outcome = await again(hand, recorded.history)
    assert outcome.succeeded, outcome
    await hand.do("get_state")
    assert (await again(hand, recorded.history)).succeeded


async def test_a_page_forges_no_step(hand: Hand) -> None:
    await hand.open(SHOP)
    recorder = await hand.session.plugin(PersonRecorder)
    async with recording(hand) as (recorded, person, page):
        await page.evaluate(FORGED)
        # A model's own calls are no person's.
        await hand.do("click_element", index=hand.index("Sign"))
        await person.button("Double")
        await until(lambda: bool(recorder.steps))
    assert list(recorded.lines[1:]) == ['page.get_by_role("button", name="Double", exact=True).click()']
    assert "No actions" in await hand.fails("stop_recording", NotActionable, kind="actions")


async def test_of_several_alike_the_one_is_found_that_left_the_page_as_it_was_pressed(hand: Hand) -> None:
    card = "<div style='width:80px' role=button title='Python 3'><b title='Python 3'>Python 3</b></div>"
    await hand.open(
        f"<div id=launcher onpointerdown='launcher.remove()'>Notebook {card} Console {card}</div>"
    )
    async with recording(hand) as (recorded, person, page):
        await person.click(page.get_by_role("button").last)
    assert list(recorded.lines[1:]) == ["page.locator('div[title=\"Python 3\"]').nth(1).click()"]
