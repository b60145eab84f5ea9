"""Recorded actions as statements of a Playwright script, each action that has an equivalent by a function."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, cast

from mcp_browser.actions.keyboard import parse_hotkey, parse_keys
from mcp_browser.agent.record.history import ActionRecord
from mcp_browser.agent.record.locators import locators, quoted
from mcp_browser.agent.secrets.store import PLACEHOLDER
from mcp_browser.dom.identities import ElementRecord

_FUNCTION = re.compile(r"\s*(?:async\b|function\b|\([^()]*\)\s*=>|\w+\s*=>)")

LONGEST_LINE = 100  # An expression that is longer is put on several lines, characters

READING = frozenset(
    (
        "get_state find_elements screenshot extract_content get_html get_options list_files read_file "
        "get_console_messages get_network_requests get_network_request export_har get_cookies get_storage "
        "list_routes save_storage_state"
    ).split()
)
"""Actions that only read: the script goes on without them."""


class NoEquivalent(Exception):
    """Nothing in a script does the same; the message says why."""


class Words:
    """One action, and the expressions for what it works on."""

    def __init__(self, action: ActionRecord, page: str, tabs: Mapping[int, str]) -> None:
        """Speak of the page that the variable `page` stands for; `tabs` are those of other tabs."""
        self.action = action
        self.given = action.call.arguments
        self.page = page
        self.tabs = tabs
        self._records = {record.argument: record for record in action.elements}

    def element(self, argument: str = "index") -> ElementRecord:
        """The element that an argument means.

        Raises:
            NoEquivalent: it has not been recorded.
        """
        record = self._records.get(argument)
        if record is None:
            raise NoEquivalent("its element was not recorded")
        return record

    def the(self, argument: str = "index") -> str:
        """The expression for that element, on a line or on several."""
        described = locators(self.element(argument), self.page)
        line = f"the({', '.join(described)})"
        if len(line) <= LONGEST_LINE:
            return line
        return "\n".join(["the(", *(f"    {one}," for one in described), ")"])

    def position(self, argument: str) -> str:
        """The place of a point within its element, as an argument of Playwright's."""
        record = self.element(argument)
        x, y = record.point or (0.5, 0.5)
        return f'{{"x": {x * record.width:.0f}, "y": {y * record.height:.0f}}}'

    def has(self, argument: str) -> bool:
        """Whether that element has been recorded."""
        return argument in self._records


Make = Callable[[Words], list[str]]


def text_of(value: Any) -> str:
    """A value as an expression, with secrets taken from the environment."""
    if not isinstance(value, str):
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(text_of, cast('list[Any]', value)))}]"
        return repr(value)
    parts = PLACEHOLDER.split(value)
    # What was split at are the names, at every other place.
    told = [f"secret({quoted(part)})" if place % 2 else quoted(part) for place, part in enumerate(parts)]
    shown = [part for part in told if part != '""']
    return " + ".join(shown) or '""'


def _options(words: Words, **names: str) -> str:
    """Arguments of ours that Playwright has under other names, where they were given."""
    given = [
        f"{theirs}={text_of(words.given[ours])}" for ours, theirs in names.items() if words.given.get(ours)
    ]
    return ", ".join(given)


def address_of(url: str) -> str:
    """An address as a browser's address field takes it."""
    known = ("http:", "https:", "file:", "data:", "about:")
    return url if url.startswith(known) or url.startswith("<secret>") else f"https://{url}"


def _click(words: Words) -> list[str]:
    double = ["click_count=2"] if words.given.get("double") else []
    rest = _options(words, button="button", modifiers="modifiers", force="force")
    return [f"{words.the()}.click({', '.join([*double, *([rest] if rest else [])])})"]


def _input_text(words: Words) -> list[str]:
    given = words.given
    field, text = words.the(), text_of(given["text"])
    if given.get("append"):
        lines = [f'{field}.press("End")', f"{field}.press_sequentially({text})"]
    elif given.get("slowly"):
        lines = [f'{field}.fill("")', f"{field}.press_sequentially({text})"]
    else:
        lines = [f"{field}.fill({text})"]
    return [*lines, f'{field}.press("Enter")'] if given.get("submit") else lines


def _select(words: Words, argument: str = "index", options: Any = None) -> list[str]:
    options = words.given.get("options") if options is None else options
    chosen = [options] if isinstance(options, str) else list(options)
    if words.element(argument).tag == "select":
        return [f"{words.the(argument)}.select_option({text_of(chosen)})"]
    lines = [f"{words.the(argument)}.click()"]
    for option in chosen:
        lines.append(f'{words.page}.get_by_role("option", name={text_of(option)}, exact=True).first.click()')
    return lines


def _fill_form(words: Words) -> list[str]:
    lines: list[str] = []
    for number, field in enumerate(words.given["fields"]):
        argument = f"fields.{number}.index"
        record, value = words.element(argument), field["value"]
        if record.role in ("checkbox", "radio", "switch"):
            checked = value if isinstance(value, bool) else str(value).lower() in ("true", "yes", "on", "1")
            lines.append(f"{words.the(argument)}.set_checked({checked!r})")
        elif record.attributes.get("type") == "file":
            lines.append(f"{words.the(argument)}.set_input_files({text_of(value)})")
        elif record.tag == "select" or isinstance(value, list):
            lines += _select(words, argument, value)
        else:
            lines.append(f"{words.the(argument)}.fill({text_of(str(value))})")
    return lines


def _upload(words: Words) -> list[str]:
    paths = words.given["paths"]
    files = [paths] if isinstance(paths, str) else list(paths)
    if any(file.startswith(("browser:", "data:")) for file in files):
        raise NoEquivalent("it was a file of the session: put its path here")
    if words.element().attributes.get("type") == "file":
        return [f"{words.the()}.set_input_files({text_of(files)})"]
    return [
        f"with {words.page}.expect_file_chooser() as chooser:",
        f"    {words.the()}.click()",
        f"chooser.value.set_files({text_of(files)})",
    ]


def _send_keys(words: Words) -> list[str]:
    keys = words.given["keys"]
    lines = [f"{words.the()}.focus()"] if words.given.get("index") is not None else []
    sequence = None if PLACEHOLDER.search(keys) else parse_keys(keys)
    if sequence is None:
        return [*lines, f"{words.page}.keyboard.type({text_of(keys)})"]
    return [*lines, *(f"{words.page}.keyboard.press({quoted(key)})" for key in sequence)]


def _hotkey(words: Words) -> list[str]:
    keys = parse_hotkey(words.given["keys"]) or words.given["keys"]
    return [f"{words.page}.keyboard.press({text_of(keys)})"]


def _scroll(words: Words) -> list[str]:
    direction, pages = words.given.get("direction", "down"), words.given.get("pages", 1)
    what = "element" if words.given.get("index") is not None else "document.scrollingElement"
    far = {"top": "-1e6", "bottom": "1e6"}
    if direction in far:
        by = f"top: {far[direction]}"
    else:
        side, length = ("left", "innerWidth") if direction in ("left", "right") else ("top", "innerHeight")
        by = f"{side}: {'-' if direction in ('up', 'left') else ''}{float(pages):g} * {length}"
    if what == "element":
        return [f'{words.the()}.evaluate("element => element.scrollBy({{{by}}})")']
    return [f'{words.page}.evaluate("{what}.scrollBy({{{by}}})")']


def _scroll_to_text(words: Words) -> list[str]:
    nth = words.given.get("nth", 1) - 1
    found = f"{words.page}.get_by_text({text_of(words.given['text'])}).nth({nth})"
    return [f"{found}.scroll_into_view_if_needed()"]


def _wait_for(words: Words) -> list[str]:
    given, page = words.given, words.page
    limit = f"timeout={given.get('timeout', 10) * 1000:g}"
    lines: list[str] = []
    if given.get("seconds"):
        lines.append(f"{page}.wait_for_timeout({given['seconds'] * 1000:g})")
    if given.get("text"):
        lines.append(f"{page}.get_by_text({text_of(given['text'])}).first.wait_for({limit})")
    if given.get("text_gone"):
        gone = f"{page}.get_by_text({text_of(given['text_gone'])}).first"
        lines.append(f'{gone}.wait_for(state="hidden", {limit})')
    if given.get("selector"):
        lines.append(f"{page}.locator({text_of(given['selector'])}).first.wait_for({limit})")
    if given.get("url"):
        url = given["url"] if "*" in given["url"] else f"**{given['url']}**"
        lines.append(f"{page}.wait_for_url({text_of(url)}, {limit})")
    return lines


def _mouse_click(words: Words) -> list[str]:
    hold = words.given.get("hold")
    told = [f"position={words.position('at')}", _options(words, button="button", modifiers="modifiers")]
    told.append(_options(words, clicks="click_count"))
    told.append(f"delay={hold * 1000:g}" if hold else "")
    return [f"{words.the('at')}.click({', '.join(part for part in told if part)})"]


def _mouse_drag(words: Words) -> list[str]:
    if words.given.get("via"):
        raise NoEquivalent("it goes by points of a picture")
    ends = f"source_position={words.position('start')}, target_position={words.position('end')}"
    return [f"{words.the('start')}.drag_to({words.the('end')}, {ends})"]


def _mouse_wheel(words: Words) -> list[str]:
    x, y = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0)}[
        words.given.get("direction", "down")
    ]
    far = int(words.given.get("pixels") or 600)
    lines = [f"{words.the('at')}.hover(position={words.position('at')})"] if words.given.get("at") else []
    return [*lines, f"{words.page}.mouse.wheel({x * far}, {y * far})"]


def _close_tab(words: Words) -> list[str]:
    tab = words.given.get("tab")
    return [f"{words.page if tab is None else _tab(words, tab)}.close()"]


def _tab(words: Words, number: int) -> str:
    if number not in words.tabs:
        raise NoEquivalent("its tab was open before the task")
    return words.tabs[number]


def _save_page(words: Words) -> list[str]:
    kind = words.given.get("format", "pdf")
    name = f"{words.given.get('name') or 'page'}.{kind}"
    if kind == "png":
        return [f"{words.page}.screenshot(path={quoted(name)}, full_page=True)"]
    if kind == "pdf":
        return [
            f"{words.page}.pdf(path={quoted(name)}, print_background={words.given.get('background', True)!r})"
        ]
    raise NoEquivalent("Playwright writes no web archives")


def _evaluate(words: Words) -> list[str]:
    script = words.given["script"]
    if words.given.get("index") is not None:
        # Ours is given the element as `element`, and may be statements with a return.
        body = script if "return" in script else f"return {script}"
        return [f"{words.the()}.evaluate({text_of(f'element => {{ {body} }}')})"]
    return [
        f"{words.page}.evaluate({text_of(script if 'return' not in script else f'() => {{ {script} }}')})"
    ]


def _plain(method: str) -> Make:
    return lambda words: [f"{words.page}.{method}()"]


STATEMENTS: Mapping[str, Make] = MappingProxyType(
    {
        "go_to_url": lambda words: [f"{words.page}.goto({text_of(address_of(words.given['url']))})"],
        "go_back": _plain("go_back"),
        "go_forward": _plain("go_forward"),
        "reload": _plain("reload"),
        "search_web": lambda words: [f"{words.page}.goto({text_of(words.action.url)})"],
        "click_element": _click,
        "hover_element": lambda words: [f"{words.the()}.hover()"],
        "drag_element": lambda words: [f"{words.the()}.drag_to({words.the('target')})"],
        "input_text": _input_text,
        "select_option": _select,
        "set_checked": lambda words: [f"{words.the()}.set_checked({words.given.get('checked', True)!r})"],
        "fill_form": _fill_form,
        "upload_file": _upload,
        "send_keys": _send_keys,
        "type_text": lambda words: [f"{words.page}.keyboard.type({text_of(words.given['text'])})"],
        "hotkey": _hotkey,
        "scroll": _scroll,
        "scroll_to_text": _scroll_to_text,
        "wait_for": _wait_for,
        "mouse_click": _mouse_click,
        "mouse_move": lambda words: [f"{words.the('at')}.hover(position={words.position('at')})"],
        "mouse_drag": _mouse_drag,
        "mouse_wheel": _mouse_wheel,
        "switch_tab": lambda words: [f"{_tab(words, words.given['tab'])}.bring_to_front()"],
        "close_tab": _close_tab,
        "save_page": _save_page,
        "evaluate_script": _evaluate,
    }
)
