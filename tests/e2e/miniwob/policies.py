"""How to solve each task, reading only what the tools return."""

import calendar
import re
from collections.abc import Awaitable, Callable

from tests.e2e.miniwob.player import Player
from tests.support.client import elements_in

Policy = Callable[[Player], Awaitable[object]]

POLICIES: dict[str, Policy] = {}


def solves(*tasks: str, submits: bool = False) -> Callable[[Policy], Policy]:
    """Register a policy for some tasks; with `submits`, their button is pressed at the end."""

    def register(policy: Policy) -> Policy:
        async def to_the_end(play: Player) -> None:
            await policy(play)
            if submits:
                await play.press_button()

        POLICIES.update(dict.fromkeys(tasks, to_the_end))
        return policy

    return register


def after(play: Player, words: str) -> str:
    """The name at the end of a goal that begins with these words."""
    return play.goal.removeprefix(words).rstrip(".")


MOVES: dict[str, Policy] = {
    "click-test": lambda play: play.press_button("Click Me!"),
    **dict.fromkeys(
        ("click-test-2", "click-test-transfer"), lambda play: play.press_button(after(play, "Click button "))
    ),
    **dict.fromkeys(
        ("click-button", "unicode-test", "click-link"), lambda play: play.press(play.one(name=play.quoted[0]))
    ),
    "click-dialog": lambda play: play.press_button("Close"),
    "click-dialog-2": lambda play: play.press_button("Close" if play.quoted[0] == "x" else play.quoted[0]),
    **dict.fromkeys(
        ("focus-text", "focus-text-2"), lambda play: play.press(play.field(_ordinal(play.goal) - 1))
    ),
    "click-tab": lambda play: play.press(play.one(name=after(play, "Click on "))),
}
"""Policies of one move."""
POLICIES.update(MOVES)


@solves("click-button-sequence")
async def click_two_buttons(play: Player) -> None:
    await play.press_button("ONE")
    await play.press_button("TWO")


@solves("click-widget")
async def click_a_kind_of_widget(play: Player) -> None:
    tags = {"text": "#area input[type=input]", "textarea": "#area textarea"}
    wanted = play.quoted[0]
    found = await play.select(tags[wanted]) if wanted in tags else play.all(wanted)
    await play.press(found[0])


@solves("grid-coordinate")
async def click_a_point_of_the_grid(play: Player) -> None:
    found = play.told(r"\((-?\d),(-?\d)\)")
    x, y = int(found[1]), int(found[2])
    circles = await play.select("#area circle")
    await play.press(circles[(x + 2) * 5 + (2 - y)])


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard", "click-collapsible-2")
async def find_a_link_behind_tabs(play: Player) -> None:
    wanted = play.quoted[-1]
    for tab in [tab for tab in play.all("tab") if "selected" not in tab.states]:
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
    found = play.told(r"(\d\d)/(\d\d)/\d{4}")
    await play.press(play.field())
    await play.look()
    month, day = int(found[1]), int(found[2])
    shown = next(nth for nth in range(1, 13) if play.shows(calendar.month_name[nth]))
    for _ in range(shown - month):
        await play.press('link "Prev"')
    await play.press(f'link "{day}"')
    await play.press('button "Submit"')


@solves("use-spinner", submits=True)
async def turn_a_spinner(play: Player) -> None:
    wanted = int(_last_number(play.goal))
    await play.press(play.field())
    if wanted:
        await play.keys(" ".join(["ArrowUp" if wanted > 0 else "ArrowDown"] * abs(wanted)))


@solves("use-slider", "use-slider-2", submits=True)
async def set_sliders(play: Player) -> None:
    handles = play.hinted("handle")
    wanted = [int(number) for number in re.findall(r"-?\d+", play.goal)][-len(handles) :]
    for handle in handles:
        await play.press(handle)
        await play.keys("Home")
    lowest = [int(shown.name) for shown in await play.select("[id^=val]")]
    for handle, low, number in zip(handles, lowest, wanted, strict=True):
        if number > low:
            await play.press(handle)
            await play.keys(" ".join(["ArrowRight"] * (number - low)))


@solves("form-sequence-3")
async def choose_from_a_styled_list(play: Player) -> None:
    chosen = play.told(r"Choose (.*) from the dropdown")[1]
    await play.press(play.one("clickable"))
    await play.press(f'clickable "{chosen}"')
    await play.press_button(play.quoted[0])


@solves(
    "click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option", submits=True
)
async def check_what_is_named(play: Player) -> None:
    found = play.told(r"Select (.*) and click Submit")
    for name in found[1].split(", ") if found[1] != "nothing" else []:
        await play.do("set_checked", index=play.one(name=name).index, checked=True)


@solves("choose-list", "click-scroll-list", submits=True)
async def choose_from_a_list(play: Player) -> None:
    (options,) = play.hinted("options")
    chosen = play.told(r"Select (.*) from the ")[1].split(", ")
    await play.do("select_option", index=options.index, options=chosen)


@solves("enter-text", "enter-text-dynamic", submits=True)
async def enter_a_text(play: Player) -> None:
    await play.enter(play.field(), play.quoted[0])


@solves("read-table", submits=True)
async def read_a_table(play: Player) -> None:
    cells = dict(re.findall(r"^\| (.*) \| (.*) \|$", play.page, re.M))
    await play.enter(play.field(), cells[play.told(r"Enter the value of (.*) into the text field")[1]])


@solves("enter-date", submits=True)
async def enter_a_date(play: Player) -> None:
    found = play.told(r"(\d\d)/(\d\d)/(\d{4})")
    (field,) = play.all("date")
    await play.enter(field, f"{found[3]}-{found[1]}-{found[2]}")


@solves("enter-time", submits=True)
async def enter_a_time(play: Player) -> None:
    found = play.told(r"(\d+):(\d\d)\s?([AP])M")
    hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
    (field,) = play.all("time")
    await play.enter(field, f"{hour:02}:{found[2]}")


@solves("use-autocomplete", submits=True)
async def choose_a_suggestion(play: Player) -> None:
    start, *end = play.quoted
    await play.do("input_text", index=play.field().index, text=start, slowly=True)
    await play.do("wait_for", selector=".ui-autocomplete li")
    suggestions = await play.select(".ui-autocomplete li")
    await play.press(next(line for line in suggestions if line.name.endswith(end[0] if end else "")))


@solves("social-media-all", submits=True)
async def press_a_button_on_all_posts(play: Player) -> None:
    action, wanted = play.quoted[0].lower(), play.told(r"by (@\S+) and")[1]
    # The retweet button alone shows no name.
    place = ["reply", "retweet", "like", "share"].index(action)
    posts = re.split(r"^.* (@\S+)$", play.page.partition("\n")[2], flags=re.M)
    for author, post in zip(posts[1::2], posts[2::2], strict=True):
        if author == wanted:
            await play.press(elements_in(post)[place])


@solves("email-inbox-delete", "email-inbox-important", "email-inbox", "email-inbox-reply")
async def handle_a_message(play: Player) -> None:
    found = play.told(r"email by (\S+) and (.*)")
    name, job = found[1].rstrip("."), found[2]
    thread = play.one("clickable", name)
    if "trash icon" in job or "star icon" in job:
        icons = play.hinted("trash" if "trash" in job else "star")
        await play.press(next(icon for icon in icons if icon.index > thread.index))
        return
    await play.press(thread)
    kind = "reply" if "reply" in job else "forward"
    await play.press(f'clickable "{kind.title()}"')
    await play.look()
    text = play.quoted[0] if kind == "reply" else job.split(" to ")[-1].rstrip(".")
    await play.enter(play.field(), text)
    await play.press(play.hinted(f"send-{kind}")[0])


@solves("copy-paste", submits=True)
async def copy_a_text(play: Player) -> None:
    await play.press(play.hinted("to-copy")[0])
    await play.keys("ControlOrMeta+a")
    await play.keys("ControlOrMeta+c")
    await play.press(play.hinted("answer-input")[0])
    await play.keys("ControlOrMeta+v")


@solves("scroll-text-2", submits=True)
async def scroll_an_area(play: Player) -> None:
    area = play.field()
    direction = "down" if "bottom" in play.goal else "up"
    await play.do("scroll", index=area.index, direction=direction, pages=10)


@solves("click-menu")
async def choose_from_nested_menus(play: Player) -> None:
    *parents, last = play.goal.removeprefix("Select ").split(">")
    for parent in parents:
        await play.do("hover_element", index=f'menuitem "{parent}"')
    await play.press(f'menuitem "{last}"')


@solves("drag-box", submits=True)
async def drag_a_box_into_another(play: Player) -> None:
    await play.drag(play.one(name="s"), play.one(name="L"))


@solves("drag-items")
async def drag_an_item(play: Player) -> None:
    items = play.all("clickable")
    found = play.told(r"Drag (\S+) (.*)\.")
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


@solves("drag-sort-numbers", submits=True)
async def sort_by_dragging(play: Player) -> None:
    items = play.all("clickable")
    for place in range(len(items) - 1):
        least = min(items[place:], key=lambda item: int(item.name))
        if least is not items[place]:
            await play.drag(least, items[place])
            items.remove(least)
            items.insert(place, least)


def _ordinal(text: str) -> int:
    """The number in `3rd`, 1 where there is none."""
    found = re.search(r"(\d+)(?:st|nd|rd|th)", text)
    return int(found[1]) if found else 1


def _last_number(text: str) -> str:
    """The last number in a text, tags left out."""
    return re.findall(r"-?\d+", re.sub(r"<[^>]*>", " ", text))[-1]
