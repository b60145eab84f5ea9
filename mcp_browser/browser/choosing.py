"""Lists: choosing from a native select, an ARIA list, or what opens by a click on a field; virtual lists.

A virtual list draws rows only near the view: it is scrolled until the wanted row is drawn.
"""

import contextlib
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

import anyio

from mcp_browser.browser.element import OPENING_SECONDS, POLL_SECONDS, Element
from mcp_browser.browser.page import TabPage
from mcp_browser.dom.models import Frozen
from mcp_browser.errors import ActionError, NotActionable, NotFound, StaleElement
from mcp_browser.text import quoted

LISTING_SECONDS = 1.5  # How long a page at rest may take to show a list, or what was chosen of it
FILTERING_SECONDS = 1.0  # The same for what a text leaves of a list
MARKED_POLLS = 5  # How often a list may show a choice before its field does
SCROLLING_SECONDS = 8.0  # How long a list is scrolled for an option
SMALLEST_PART = 1e-4  # The part of a list's length at which bisection ends
LEAST_STEPS = 16  # How many bisection steps there are on slow machines, too
MOST_LISTED = 60  # How many options an error names
SEEKING_SECONDS = 4.0  # How long all lists of a page are scrolled for a text
OPEN_LISTS = frozenset({"listbox", "menu", "menubar", "tree"})  # Roles of lists that need no click to open

T = TypeVar("T")


class Choice(Frozen):
    """One choice of a list; `index` is set if it is an element that can be clicked.

    `selected` may be the active option only; `chosen` is the one that is taken.
    """

    label: str
    value: str = ""
    selected: bool = False
    chosen: bool = False
    disabled: bool = False
    index: int | None = None


class Chosen(Frozen):
    """A clicked option; whether the page, or only its open list (`is_pending`), shows it, and the field."""

    label: str
    is_seen: bool = True
    is_pending: bool = False
    shown: str = ""


class ListField:
    """An element as something to choose from."""

    def __init__(self, element: Element) -> None:
        self._element = element
        self._tab = element.tab
        self._opened = False
        self._typed: tuple[Element, str] | None = None  # The field that was typed in, and its text before

    async def options(self) -> list[Choice]:
        """The choices of a native select, or of the list that is open."""
        return [Choice.model_validate(option) for option in await self._element.call("options")]

    async def select(self, wanted: Sequence[str]) -> list[Chosen]:
        """Choose options by label or value.

        A native select ends with exactly these options. In any other list each one is clicked, after opening
        the list if needed; several names walk down a menu. On failure, text typed as a filter is removed.
        Raises NotFound, with a list of the options; NotActionable: one is disabled, or only one is taken.
        """
        ready = await self._element.ready("select")
        if ready.tag == "select":
            return await self._select_native(wanted, multiple=ready.multiple)
        was_open = bool(await self.options()) and await self._expanded() != "false"
        try:
            chosen = [await self._choose(name) for name in wanted]
        except ActionError:
            await self._take_back()
            if not was_open:
                await self.close()
            raise
        # A choice that has to be confirmed in the list would be lost by closing it.
        is_done = not was_open and not self._tab.held and not any(one.is_pending for one in chosen)
        if is_done and await self._expanded() == "true":
            await self.close(after_choice=True)
        return chosen

    async def choose_typed(self, text: str) -> Chosen | None:
        """Type a text, and choose the option of that name from the list that opens; None: the text stays."""
        await self._element.call("beforeOpening")
        self._opened = True
        options = await self._filter(self._element, text)
        option = _find(options, text) or _nearest(options, text, at_start=True)
        return None if option is None or option.disabled else await self._take(option, text)

    async def suggests(self) -> bool:
        """Whether its attributes say that typing opens its list."""
        return await self._element.call("attribute", "aria-autocomplete") in ("list", "both", "inline")

    async def close(self, *, after_choice: bool = False) -> None:
        """Close the list if it is open; `after_choice`: do not click where that may remove the choice."""
        with contextlib.suppress(ActionError):
            has_parts = after_choice and await self._element.call("hasParts")
            keys_only = has_parts or await self._takes_text()
            # An Escape that the list ignores closes what is around it.
            ways = ["escape", "focus" if keys_only else "click"]
            for way in ways if await self._expanded() == "true" else ways[::-1]:
                if self._tab.held:
                    return
                hides = after_choice or not self._opened
                if await self._expanded() != "true" and (hides or not await self.options()):
                    return
                with contextlib.suppress(NotActionable):
                    since = self._tab.activity.watch()
                    if way == "focus":
                        await self._element.call("focus")
                    await (self._element.click() if way == "click" else self._element.input.press("Escape"))
                    # A list that closes late would take the next click for itself, or be opened by it again.
                    await self._tab.rest(since, self._element.index, limit=LISTING_SECONDS)

    async def _select_native(self, wanted: Sequence[str], *, multiple: bool) -> list[Chosen]:
        element = self._element
        if len(wanted) > 1 and not multiple:
            raise NotActionable(f"{element} takes one option, not {len(wanted)}.")
        options = await self.options()
        chosen = [
            self._usable(_find(options, name) or _nearest(options, name), name, options) for name in wanted
        ]
        # Policy rules may name the options, although no mouse reaches them.
        await element.input.check_elements(element.index, also=[("option", one.label) for one in chosen])
        element.input.did()
        await self._tab.act(element.call("selectOptions", [options.index(option) for option in chosen]))
        now: dict[str, bool] = {}
        if not self._tab.held:
            with contextlib.suppress(StaleElement):
                now = {option.label: option.selected for option in await self.options()}
        if not all(now.get(option.label, True) for option in chosen):
            raise NotActionable(
                f"The page did not keep {', '.join(quoted(one.label) for one in chosen)} in {element}.",
                hint="Another control may stand for it: look with get_state.",
            )
        return [Chosen(label=option.label) for option in chosen]

    async def _choose(self, wanted: str) -> Chosen:
        options = await self.options()
        option = _find(options, wanted)
        if option is None and await self._may_open(options):
            options = await self._open()
            option = _find(options, wanted)
        if option is None and (field := await self._filter_field()) is not None:
            options = await self._filter(field, wanted) or options
            option = _find(options, wanted) or _nearest(options, wanted, at_start=True)
            if option is None:
                await self._take_back()
                options = await self.options() or options
        if option is None:
            option = await self._scroll(wanted, found := {one.label: one for one in options})
            if option is None and (near := _nearest(options := list(found.values()), wanted)):
                option = _find(await self.options(), near.label) or await self._scroll(near.label, found)
        option = self._usable(option, wanted, options)
        return await self._take(option, wanted)

    async def _may_open(self, options: Sequence[Choice]) -> bool:
        expanded = await self._expanded()
        if options and (expanded == "true" or (self._element.role in OPEN_LISTS and expanded != "false")):
            return False
        return bool(await self._element.call("opening"))

    async def _open(self) -> list[Choice]:
        """Click the field, again if that closed an open list; the options then."""
        options: list[Choice] = []
        for _ in range(2):
            await self._element.call("beforeOpening")
            since = self._tab.activity.watch()
            await self._element.click()
            self._opened = True
            await self._tab.rest(since, self._element.index, limit=OPENING_SECONDS)
            options = await self._options_within(LISTING_SECONDS)
            if options or self._tab.held or not await self._element.call("hasLess"):
                break
        if not options and not self._tab.held and self._element.role == "combobox":
            # A click on some fields only places the caret.
            await self._element.call("focus")
            await self._element.input.press("Alt+ArrowDown")
            options = await self._options_within(LISTING_SECONDS)
        return options

    async def _options_within(self, seconds: float, wanted: str | None = None) -> list[Choice]:
        """The options, as soon as there are any or the wanted one is among them; else those at the end."""
        options: list[Choice] = []
        with anyio.move_on_after(seconds):
            while True:
                options = await self.options()
                if options and (wanted is None or _find(options, wanted)):
                    return options
                await anyio.sleep(POLL_SECONDS)
        return options

    async def _filter_field(self) -> Element | None:
        """The field that filters the list: the element itself, or one in what it has opened."""
        if await self._takes_text():
            return self._element
        found: list[dict[str, int]] = await self._element.call("searchField") if self._opened else []
        if not found:
            return None
        return Element(self._tab, self._element.input, found[0]["index"])

    async def _takes_text(self) -> bool:
        ready = await self._element.ready("read")
        return ready.kind in ("text", "rich") and "readonly" not in ready.node.states

    async def _filter(self, field: Element, wanted: str) -> list[Choice]:
        self._typed = (field, str((await field.call("value"))["value"]))
        since = self._tab.activity.watch()
        try:
            await field.fill(wanted)
        except NotActionable:
            return []
        await self._tab.rest(since, self._element.index, limit=OPENING_SECONDS)
        return await self._options_within(FILTERING_SECONDS, wanted)

    async def _take_back(self) -> None:
        if self._typed is not None and not self._tab.held:
            (field, before), self._typed = self._typed, None
            since = self._tab.activity.watch()
            with contextlib.suppress(ActionError):
                await field.fill(before)
                await self._tab.rest(since, self._element.index, limit=OPENING_SECONDS)

    async def _scroll(self, wanted: str, found: dict[str, Choice]) -> Choice | None:
        """Scroll the list from its start until it has the option; the options seen are added to `found`."""

        async def show(part: float) -> tuple[Choice | None, list[str]] | None:
            if not await self._element.call("scrollOptions", part):
                return None
            settling = self._tab.dom.settle(limit=OPENING_SECONDS / 10, index=self._element.index)
            await self._tab.ask(settling)
            options = await self.options()
            found.update({one.label: one for one in options})
            return _find(options, wanted), [one.label for one in options]

        return await scroll_for(wanted, show, seconds=SCROLLING_SECONDS, thorough=True)

    async def _take(self, option: Choice, wanted: str) -> Chosen:
        before = await self._shown()
        is_chosen = option.chosen or (option.selected and self._element.role in OPEN_LISTS)
        if is_chosen or (option.selected and tidy(option.label) in tidy(before)):
            return Chosen(label=option.label)
        if option.index is None:
            # The browser draws the suggestions of a datalist: they are chosen by their text.
            await self._element.fill(option.value or option.label)
            return Chosen(label=option.label)
        since = self._tab.activity.watch()
        await Element(self._tab, self._element.input, option.index).click()
        self._typed = None
        try:
            await self._tab.rest(since, self._element.index, limit=OPENING_SECONDS)
            if self._tab.held or await self._is_menu():
                return Chosen(label=option.label)
            return await self._taken(option, wanted, before)
        except StaleElement:
            self._element.is_gone = True
            return Chosen(label=option.label)

    async def _taken(self, option: Choice, wanted: str, before: str) -> Chosen:
        """The outcome of a click on an option, by what the field and the list show."""
        shown, marked = before, 0
        with anyio.move_on_after(LISTING_SECONDS):
            while not self._tab.held and marked < MARKED_POLLS:
                shown = await self._shown()
                if shown != before or tidy(option.label) in tidy(shown):
                    return Chosen(label=option.label, shown=shown)
                now = _find(await self.options(), option.label)
                marked += now is not None and (now.chosen or (now.selected and not option.selected))
                await anyio.sleep(POLL_SECONDS)
        is_pending = marked > 0 and self._element.role not in OPEN_LISTS
        is_seen = marked > 0 or tidy(wanted) in tidy(shown)
        return Chosen(label=option.label, is_seen=is_seen, shown=shown, is_pending=is_pending)

    async def _is_menu(self) -> bool:
        popup = await self._element.call("attribute", "aria-haspopup")
        opens_menu = popup == "menu" or (popup == "true" and self._element.role != "combobox")
        return self._element.role.startswith("menu") or opens_menu

    async def _expanded(self) -> str | None:
        return await self._element.call("attribute", "aria-expanded")

    async def _shown(self) -> str:
        return str(await self._element.call("fieldShows"))

    def _usable(self, option: Choice | None, wanted: str, options: Sequence[Choice]) -> Choice:
        element = self._element
        if option is None and not options:
            why = f'does not say that it has a list, so "{wanted}" was not looked for'
            if self._opened:
                why = f'shows no options, so "{wanted}" cannot be chosen'
            hint = "Click it, look with get_state, then click the option."
            raise NotFound(f"{element} {why}.", hint=hint)
        if option is None:
            shown = ", ".join(quoted(one.label) for one in options[:MOST_LISTED])
            more = f" and {len(options) - MOST_LISTED} more" if len(options) > MOST_LISTED else ""
            raise NotFound(f'{element} has no option "{wanted}".', hint=f"Options: {shown}{more}.")
        if option.disabled:
            raise NotActionable(f"Option {quoted(option.label)} of {element} is disabled.")
        return option


def _find(options: Iterable[Choice], wanted: str) -> Choice | None:
    """The option of that label or value; an exact match comes before one without case and extra spaces."""
    options = list(options)
    exact = (option for option in options if wanted in (option.label, option.value))
    loose = (option for option in options if tidy(wanted) in (tidy(option.label), tidy(option.value)))
    return next(exact, None) or next(loose, None)


def _nearest(options: Iterable[Choice], wanted: str, *, at_start: bool = False) -> Choice | None:
    """The only option with a word (`at_start`: a label) that begins with this text."""
    pattern = re.compile(("^" if at_start else r"(?<!\w)") + re.escape(tidy(wanted)))
    near = [option for option in options if tidy(wanted) and pattern.search(tidy(option.label))]
    return near[0] if len({option.label for option in near}) == 1 else None


async def scroll_for(
    wanted: str,
    show: Callable[[float], Awaitable[tuple[T | None, Sequence[str]] | None]],
    *,
    seconds: float,
    thorough: bool = False,
) -> T | None:
    """Scroll a list from its start until the `wanted` row is found; bisect a sorted list.

    `show` scrolls to a part of the list's length (0 to 1), or on by a view (-1); it returns what was found
    there and the texts of the rows, None if nothing moved. `seconds` is the time limit; a sorted list is
    bisected for `LEAST_STEPS` in any case. `thorough`: also scroll through all of a list that seems sorted.
    """
    low, high, at = 0.0, 1.0, 0.0  # Bounds of the row in a sorted list
    by_views = False
    ends, steps = time.monotonic() + seconds, 0
    while time.monotonic() < ends or (not by_views and steps < LEAST_STEPS):
        if (shown := await show(at)) is None:
            break
        steps += 1
        found, labels = shown
        if found is not None:
            return found
        rows = [_in_order(label) for label in labels]
        if by_views or not rows[1:] or rows != sorted(rows):
            by_views, at = True, -1.0
        elif rows[0] <= _in_order(wanted) <= rows[-1]:
            at = -1.0
        elif high - low > SMALLEST_PART:
            low, high = (at, high) if _in_order(wanted) > rows[-1] else (low, at)
            at = (low + high) / 2
        elif thorough:
            by_views, at = True, 0.0
        else:
            return None
    return None


async def seek(tab: TabPage, text: str) -> bool:
    """Scroll the page's virtual lists until one has this text; otherwise restore their positions."""
    wanted = tidy(text)
    if not wanted:
        return False
    ends = time.monotonic() + SEEKING_SECONDS
    for world, box, place in await tab.ask(tab.dom.partly_drawn()):
        if time.monotonic() >= ends:
            break

        async def show(part: float) -> tuple[bool | None, list[str]] | None:
            rows: list[str] | None = (await tab.ask(world.run("scrollRows", box, part)))["rows"]  # noqa: B023
            return None if rows is None else (any(wanted in tidy(row) for row in rows) or None, rows)

        if await scroll_for(text, show, seconds=ends - time.monotonic()):
            return True
        await show(place)
    return False


def tidy(text: str) -> str:
    """A text for comparisons: casefolded, with single spaces."""
    return " ".join(text.split()).casefold()


def _in_order(label: str) -> list[tuple[str, int]]:
    """A sort key for a label, with its numbers as numbers."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D+)(\d*)", f" {tidy(label)}")]
