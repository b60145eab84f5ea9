"""How to solve each task, reading only what the tools return."""

import calendar
import re
from collections.abc import Awaitable, Callable

from tests.e2e.miniwob.player import Player
from tests.support.client import Element

Policy = Callable[[Player], Awaitable[None]]

POLICIES: dict[str, Policy] = {}


def solves(*tasks: str) -> Callable[[Policy], Policy]:
    """Register a policy for some tasks."""

    def register(policy: Policy) -> Policy:
        POLICIES.update(dict.fromkeys(tasks, policy))
        return policy

    return register


@solves("click-test")
async def click_the_button(play: Player) -> None:
    await play.press_button("Click Me!")


@solves("click-test-2", "click-test-transfer")
async def click_the_right_button(play: Player) -> None:
    await play.press_button(play.goal.removeprefix("Click button ").rstrip("."))


@solves("click-button-sequence")
async def click_two_buttons(play: Player) -> None:
    await play.press_button("ONE")
    await play.press_button("TWO")


@solves("click-button", "unicode-test", "click-link")
async def click_what_is_quoted(play: Player) -> None:
    await play.press(play.one(name=play.quoted[0]))


@solves("click-dialog")
async def close_the_dialog(play: Player) -> None:
    await play.press_button("Close")


@solves("click-dialog-2")
async def click_a_button_of_the_dialog(play: Player) -> None:
    await play.press_button("Close" if play.quoted[0] == "x" else play.quoted[0])


@solves("click-widget")
async def click_a_kind_of_widget(play: Player) -> None:
    tags = {"text": "#area input[type=input]", "textarea": "#area textarea"}
    wanted = play.quoted[0]
    found = await play.select(tags[wanted]) if wanted in tags else play.all(wanted)
    await play.press(found[0])


@solves("focus-text", "focus-text-2")
async def focus_a_field(play: Player) -> None:
    await play.press(play.field(_ordinal(play.goal) - 1))


@solves("grid-coordinate")
async def click_a_point_of_the_grid(play: Player) -> None:
    found = re.search(r"\((-?\d),(-?\d)\)", play.goal)
    assert found
    x, y = int(found[1]), int(found[2])
    circles = await play.select("#area circle")
    await play.press(circles[(x + 2) * 5 + (2 - y)])


@solves("click-tab")
async def click_a_tab(play: Player) -> None:
    await play.press(play.one(name=play.goal.removeprefix("Click on ").rstrip(".")))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard", "click-collapsible-2")
async def find_a_link_behind_tabs(play: Player) -> None:
    wanted = play.quoted[-1]
    for tab in play.all("tab"):
        if play.named(wanted):
            break
        await play.press(tab)
        await play.look()
        if play.ended:
            return
    await play.press(play.one(name=wanted))


@solves("click-collapsible")
async def expand_a_section(play: Player) -> None:
    await play.press(play.all("tab")[0])
    await play.press(play.named("Submit")[-1])


@solves("navigate-tree")
async def find_an_entry_of_a_tree(play: Player) -> None:
    wanted = play.quoted[0]
    opened: set[int] = set()
    while not play.named(wanted):
        folders = [
            folder for folder in await play.select("#tree .folder:visible") if folder.index not in opened
        ]
        opened.add(folders[0].index)
        await play.press(folders[0])
        await play.look()
    await play.press(play.one(name=wanted))


@solves("choose-date", "choose-date-easy", "choose-date-medium")
async def choose_a_date(play: Player) -> None:
    found = re.search(r"(\d\d)/(\d\d)/\d{4}", play.goal)
    assert found
    await play.press(play.field())
    await play.look()
    month, day = int(found[1]), int(found[2])
    while not play.shows(calendar.month_name[month]):
        await play.press(play.one(name="Prev"))
        await play.look()
    await play.press(play.one(name=str(day)))
    await play.press_button()


@solves("use-spinner")
async def turn_a_spinner(play: Player) -> None:
    wanted = int(_last_number(play.goal))
    await play.press(play.field())
    if wanted:
        await play.keys(" ".join(["ArrowUp" if wanted > 0 else "ArrowDown"] * abs(wanted)))
    await play.press_button()


@solves("use-slider")
async def set_a_slider(play: Player) -> None:
    (handle,) = await play.select("#slider .ui-slider-handle")
    await _slide(play, handle, int(_last_number(play.goal)), 0)
    await play.press_button()


@solves("use-slider-2")
async def set_three_sliders(play: Player) -> None:
    wanted = [int(number) for number in re.findall(r"\d+", play.goal)]
    handles = await play.select("#area .ui-slider-handle")
    for nth, (handle, number) in enumerate(zip(handles, wanted, strict=True)):
        await _slide(play, handle, number, nth)
    await play.press_button()


@solves("form-sequence-3")
async def choose_from_a_styled_list(play: Player) -> None:
    found = re.search(r"Choose (.*) from the dropdown", play.goal)
    assert found
    opener = (await play.select(".selectric"))[0]
    await play.press(opener)
    (option,) = await play.select(f'.selectric-items li:text-is("{found[1]}")')
    await play.press(option)
    await play.press_button(play.quoted[0])


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
async def check_what_is_named(play: Player) -> None:
    found = re.match(r"Select (.*) and click Submit", play.goal)
    assert found
    for name in found[1].split(", ") if found[1] != "nothing" else []:
        await play.do("set_checked", index=play.one(name=name).index, checked=True)
    await play.press_button()


@solves("choose-list", "click-scroll-list")
async def choose_from_a_list(play: Player) -> None:
    found = re.match(r"Select (.*) from the ", play.goal)
    assert found
    (options,) = await play.select("#options")
    await play.do("select_option", index=options.index, options=found[1].split(", "))
    await play.press_button()


@solves("enter-text", "enter-text-dynamic")
async def enter_a_text(play: Player) -> None:
    await play.enter(play.field(), play.quoted[0])
    await play.press_button()


@solves("read-table")
async def read_a_table(play: Player) -> None:
    found = re.match(r"Enter the value of (.*) into the text field", play.goal)
    assert found
    await play.enter(play.field(), (await _table(play))[found[1]])
    await play.press_button()


@solves("enter-date")
async def enter_a_date(play: Player) -> None:
    found = re.search(r"(\d\d)/(\d\d)/(\d{4})", play.goal)
    assert found
    (field,) = await play.select("#tt")
    await play.enter(field, f"{found[3]}-{found[1]}-{found[2]}")
    await play.press_button()


@solves("enter-time")
async def enter_a_time(play: Player) -> None:
    found = re.search(r"(\d+):(\d\d)\s?([AP])M", play.goal)
    assert found
    hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
    (field,) = await play.select("#tt")
    await play.enter(field, f"{hour:02}:{found[2]}")
    await play.press_button()


@solves("use-autocomplete")
async def choose_a_suggestion(play: Player) -> None:
    start, *end = play.quoted
    await play.do("input_text", index=play.field().index, text=start, slowly=True)
    await play.do("wait_for", selector=".ui-autocomplete li")
    suggestions = await play.select(".ui-autocomplete li")
    await play.press(next(line for line in suggestions if line.name.endswith(end[0] if end else "")))
    await play.press_button()


@solves("social-media-all")
async def press_a_button_on_all_posts(play: Player) -> None:
    action = play.quoted[0].lower()
    found = re.search(r"by (@\S+) and", play.goal)
    assert found
    for button in await play.select(f'.media:has(.username:text-is("{found[1]}")) .{action}'):
        await play.press(button)
    (submit,) = await play.select("#submitRow button")
    await play.press(submit)


@solves("email-inbox-delete", "email-inbox-important", "email-inbox", "email-inbox-reply")
async def handle_a_message(play: Player) -> None:
    found = re.search(r"email by (\S+) and (.*)", play.goal)
    assert found
    name, job = found[1].rstrip("."), found[2]
    thread = f'.email-thread:has(.email-sender:text-is("{name}"))'
    if "trash icon" in job or "star icon" in job:
        icon = "trash" if "trash" in job else "star"
        await play.press((await play.select(f"{thread} .{icon}"))[0])
        return
    await play.press((await play.select(f"{thread} .email-subject"))[0])
    if "reply" in job:
        await play.press((await play.select(".email-reply"))[0])
        await play.enter((await play.select("#reply-text"))[0], play.quoted[0])
        await play.press((await play.select("#send-reply"))[0])
        return
    recipient = job.split(" to ")[-1].rstrip(".")
    await play.press((await play.select(".email-forward"))[0])
    await play.enter((await play.select("input.forward-sender"))[0], recipient)
    await play.press((await play.select("#send-forward"))[0])


@solves("copy-paste")
async def copy_a_text(play: Player) -> None:
    await _copy(play, (await play.select("#to-copy"))[0], (await play.select("#answer-input"))[0])
    await play.press_button()


@solves("scroll-text-2")
async def scroll_an_area(play: Player) -> None:
    (area,) = await play.select("#text-area")
    direction = "down" if "bottom" in play.goal else "up"
    await play.do("scroll", index=area.index, direction=direction, pages=10)
    await play.press_button()


@solves("click-menu")
async def choose_from_nested_menus(play: Player) -> None:
    *parents, last = play.goal.removeprefix("Select ").split(">")
    for parent in parents:
        await play.do("hover_element", index=play.one("menuitem", parent).index)
        await play.look()
    await play.press(play.one("menuitem", last))


@solves("drag-box")
async def drag_a_box_into_another(play: Player) -> None:
    (small,), (large,) = await play.select("#draggableSmall"), await play.select("#draggableLarge")
    await play.drag(small, large)
    await play.press_button()


@solves("drag-items")
async def drag_an_item(play: Player) -> None:
    items = await play.select("#sortable li > div")
    found = re.match(r"Drag (\S+) (.*)\.", play.goal)
    assert found
    now = next(nth for nth, item in enumerate(items) if item.name == found[1])
    places = {
        "to the top": 0,
        "to the bottom": len(items) - 1,
        "up by one position": now - 1,
        "down by one position": now + 1,
    }
    there = places[found[2]] if found[2] in places else _ordinal(found[2]) - 1
    # On its way down an item changes places only where the mouse is past the middle of the other one.
    past = there + 1 if now < there < len(items) - 1 else there
    await play.drag(items[now], items[past])


@solves("drag-sort-numbers")
async def sort_by_dragging(play: Player) -> None:
    for place in range(3):
        items = await play.select("#sortable li > div")
        numbers = [int(item.name) for item in items]
        least = numbers.index(min(numbers[place:]), place)
        if least != place:
            await play.drag(items[least], items[place])
    await play.press_button()


def _ordinal(text: str) -> int:
    """The number in `3rd`, 1 where there is none."""
    found = re.search(r"(\d+)(?:st|nd|rd|th)", text)
    return int(found[1]) if found else 1


def _last_number(text: str) -> str:
    """The last number in a text, tags left out."""
    return re.findall(r"-?\d+", re.sub(r"<[^>]*>", " ", text))[-1]


async def _slide(play: Player, handle: Element, wanted: int, nth: int) -> None:
    """Move a jQuery slider to a value with the keyboard; its value is the nth number of the page."""

    async def value(key: str) -> int:
        await play.keys(key)
        shown = await play.select("[id^=val]")
        return int(shown[nth].name)

    await play.do("click_element", index=handle.index)
    highest, lowest = await value("End"), await value("Home")
    page = (highest - lowest) // 5
    now = lowest
    while page > 1 and wanted - now >= page:
        now = await value("PageUp")
    if now < wanted:
        await play.keys(" ".join(["ArrowRight"] * (wanted - now)))


async def _table(play: Player) -> dict[str, str]:
    """The two columns of the page's table."""
    cells = [cell.name for cell in await play.select("#tab td")]
    return dict(zip(cells[::2], cells[1::2], strict=True))


async def _copy(play: Player, source: Element, target: Element) -> None:
    await play.press(source)
    await play.keys("ControlOrMeta+a")
    await play.keys("ControlOrMeta+c")
    await play.press(target)
    await play.keys("ControlOrMeta+v")
