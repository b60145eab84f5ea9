"""Recorded actions as statements of Playwright, each action that has an equivalent by a function."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from mcp_browser.actions.code import (
    PLACEHOLDER,
    Call,
    During,
    Element,
    Expect,
    Impossible,
    Pattern,
    Statement,
)
from mcp_browser.actions.keyboard import parse_hotkey, parse_keys
from mcp_browser.actions.recording import RecordedAction
from mcp_browser.browser.network.url_patterns import UrlPattern
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.dom.locators import ElementLocator, locators

READING = frozenset(
    (
        "get_state find_elements screenshot extract_content get_html get_options list_files read_file "
        "get_console_messages get_network_requests get_network_request export_har get_cookies get_storage "
        "list_routes save_storage_state generate_locator export_script audit_accessibility "
        "measure_performance compare_screenshots list_page_tools"
    ).split()
)
"""Actions that only read: the script goes on without them."""


_FUNCTION = re.compile(r"\s*(?:async\b|function\b|\([^()]*\)\s*=>|\w+\s*=>)")


class NoEquivalent(Exception):
    """Nothing in a script does the same; the message says why."""


class Words:
    """One action, and the expressions for what it works on."""

    def __init__(self, action: RecordedAction, page: str, tabs: Mapping[int, str]) -> None:
        """Speak of the page that the variable `page` stands for; `tabs` are those of other tabs."""
        self.action = action
        self.given = action.arguments
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

    def the(self, argument: str = "index") -> Element:
        """That element, as code finds it.

        Raises:
            NoEquivalent: it has not been recorded, or no locator finds it.
        """
        record = self.element(argument)
        if argument in self.action.lost:
            raise NoEquivalent(f"no locator of Playwright's finds {record}")
        alone = self.action.locators.get(argument)
        return Element(self.page, (alone,) if alone is not None else tuple(locators(record)))

    def position(self, argument: str) -> dict[str, int]:
        """The place of a point within its element, as an option of Playwright's."""
        record = self.element(argument)
        x, y = record.point or (0.5, 0.5)
        return {"x": round(x * record.width), "y": round(y * record.height)}

    def options(self, **names: str) -> dict[str, Any]:
        """Arguments of ours that Playwright has under other names, where they were given."""
        return {theirs: self.given[ours] for ours, theirs in names.items() if self.given.get(ours)}


Make = Callable[[Words], list[Statement]]


def address_of(url: str) -> str:
    """An address as a browser's address field takes it."""
    known = ("http:", "https:", "file:", "data:", "about:")
    return url if url.startswith(known) or url.startswith("<secret>") else f"https://{url}"


def statements_of(action: RecordedAction, page: str, tabs: Mapping[int, str]) -> list[Statement]:
    """What does the same on a page that a variable stands for."""
    make = STATEMENTS.get(action.name)
    try:
        if make is None:
            raise NoEquivalent("Playwright has nothing like it")
        return make(Words(action, page, tabs))
    except NoEquivalent as problem:
        why = str(problem)
    except (AttributeError, KeyError, TypeError, ValueError):
        # A history from elsewhere may hold anything.
        why = "its arguments are not those of the action"
    return [Impossible(f"{action.name}: {why}")]


def _click(words: Words) -> list[Statement]:
    double = {"click_count": 2} if words.given.get("double") else {}
    rest = words.options(button="button", modifiers="modifiers", force="force")
    return [Call(words.the(), "click", options=double | rest)]


def _input_text(words: Words) -> list[Statement]:
    given, field, text = words.given, words.the(), words.given["text"]
    calls: list[Statement]
    if given.get("append"):
        calls = [Call(field, "press", ("End",)), Call(field, "press_sequentially", (text,))]
    elif given.get("slowly"):
        calls = [Call(field, "fill", ("",)), Call(field, "press_sequentially", (text,))]
    else:
        calls = [Call(field, "fill", (text,))]
    return [*calls, Call(field, "press", ("Enter",))] if given.get("submit") else calls


def _select(words: Words, argument: str = "index", options: Any = None) -> list[Statement]:
    options = words.given.get("options") if options is None else options
    chosen = [options] if isinstance(options, str) else list(options)
    if words.element(argument).tag == "select":
        return [Call(words.the(argument), "select_option", (chosen,))]
    opened: list[Statement] = [Call(words.the(argument), "click")]
    return opened + [
        Call(Element(words.page, (ElementLocator("role", "option", option, nth=0),)), "click")
        for option in chosen
    ]


def _fill_form(words: Words) -> list[Statement]:
    calls: list[Statement] = []
    for number, field in enumerate(words.given["fields"]):
        argument = f"fields.{number}.index"
        record, value = words.element(argument), field["value"]
        if record.role in ("checkbox", "radio", "switch"):
            checked = value if isinstance(value, bool) else str(value).lower() in ("true", "yes", "on", "1")
            calls.append(Call(words.the(argument), "set_checked", (checked,)))
        elif record.attributes.get("type") == "file":
            calls.append(Call(words.the(argument), "set_input_files", (value,)))
        elif record.tag == "select" or isinstance(value, list):
            calls += _select(words, argument, value)
        else:
            calls.append(Call(words.the(argument), "fill", (str(value),)))
    return calls


def _upload(words: Words) -> list[Statement]:
    paths = words.given["paths"]
    files = [paths] if isinstance(paths, str) else list(paths)
    if any(file.startswith(("browser:", "data:")) for file in files):
        raise NoEquivalent("it was a file of the session: put its path here")
    if words.element().attributes.get("type") == "file":
        return [Call(words.the(), "set_input_files", (files,))]
    return [During("filechooser", words.page, (Call(words.the(), "click"),), files=files)]


def _send_keys(words: Words) -> list[Statement]:
    keys, keyboard = words.given["keys"], f"{words.page}.keyboard"
    focus: list[Statement] = [Call(words.the(), "focus")] if words.given.get("index") else []
    sequence = None if PLACEHOLDER.search(keys) else parse_keys(keys)
    if sequence is None:
        return [*focus, Call(keyboard, "type", (keys,))]
    return [*focus, *(Call(keyboard, "press", (key,)) for key in sequence)]


def _hotkey(words: Words) -> list[Statement]:
    keys = parse_hotkey(words.given["keys"]) or words.given["keys"]
    return [Call(f"{words.page}.keyboard", "press", (keys,))]


def _scroll(words: Words) -> list[Statement]:
    direction, pages = words.given.get("direction", "down"), words.given.get("pages", 1)
    far = {"top": "-1e6", "bottom": "1e6"}
    if direction in far:
        by = f"top: {far[direction]}"
    else:
        side, length = ("left", "innerWidth") if direction in ("left", "right") else ("top", "innerHeight")
        by = f"{side}: {'-' if direction in ('up', 'left') else ''}{float(pages):g} * {length}"
    if words.given.get("index"):
        return [Call(words.the(), "evaluate", (f"element => element.scrollBy({{{by}}})",))]
    return [Call(words.page, "evaluate", (f"document.scrollingElement.scrollBy({{{by}}})",))]


def _scroll_to_text(words: Words) -> list[Statement]:
    found = _by_text(words, words.given["text"], words.given.get("nth", 1) - 1)
    return [Call(found, "scroll_into_view_if_needed")]


def _wait_for(words: Words) -> list[Statement]:
    given, page = words.given, words.page
    limit = {"timeout": (given.get("seconds") or given.get("timeout", 10)) * 1000}
    calls: list[Statement] = []
    if given.get("text"):
        calls.append(Call(_by_text(words, given["text"]), "wait_for", options=limit))
    if given.get("text_gone"):
        gone = _by_text(words, given["text_gone"])
        calls.append(Call(gone, "wait_for", options={"state": "hidden", **limit}))
    if given.get("selector"):
        calls.append(Call(_by_selector(words, given["selector"], 0), "wait_for", options=limit))
    if given.get("url"):
        url = given["url"] if "*" in given["url"] else f"**{given['url']}**"
        calls.append(Call(page, "wait_for_url", (url,), limit))
    if given.get("seconds") and not calls:
        calls.append(Call(page, "wait_for_timeout", (given["seconds"] * 1000,)))
    return calls


def _by_text(words: Words, text: str, nth: int = 0) -> Element:
    return Element(words.page, (ElementLocator("text", text, nth=nth),))


def _by_selector(words: Words, selector: str, nth: int | None = None) -> Element:
    return Element(words.page, (ElementLocator("selector", selector, nth=nth),))


def _mouse_click(words: Words) -> list[Statement]:
    hold = words.given.get("hold")
    options = {"position": words.position("at"), **words.options(button="button", modifiers="modifiers")}
    options |= words.options(clicks="click_count")
    return [Call(words.the("at"), "click", options=options | ({"delay": hold * 1000} if hold else {}))]


def _mouse_drag(words: Words) -> list[Statement]:
    if words.given.get("via"):
        raise NoEquivalent("it goes by points of a picture")
    ends = {"source_position": words.position("start"), "target_position": words.position("end")}
    return [Call(words.the("start"), "drag_to", (words.the("end"),), ends)]


def _mouse_wheel(words: Words) -> list[Statement]:
    x, y = {"down": (0, 1), "up": (0, -1), "left": (-1, 0), "right": (1, 0)}[
        words.given.get("direction", "down")
    ]
    far = int(words.given.get("pixels") or 600)
    turned = Call(f"{words.page}.mouse", "wheel", (x * far, y * far))
    if not words.given.get("at"):
        return [turned]
    return [Call(words.the("at"), "hover", options={"position": words.position("at")}), turned]


def _close_tab(words: Words) -> list[Statement]:
    tab = words.given.get("tab")
    return [Call(words.page if tab is None else _tab(words, tab), "close")]


def _tab(words: Words, number: int) -> str:
    if number not in words.tabs:
        raise NoEquivalent("its tab was open before")
    return words.tabs[number]


def _save_page(words: Words) -> list[Statement]:
    kind = words.given.get("format", "pdf")
    name = f"{words.given.get('name') or 'page'}.{kind}"
    if kind == "png":
        return [Call(words.page, "screenshot", options={"path": name, "full_page": True})]
    if kind == "pdf":
        background = words.given.get("background", True)
        return [Call(words.page, "pdf", options={"path": name, "print_background": background})]
    raise NoEquivalent("Playwright writes no web archives")


def _evaluate(words: Words) -> list[Statement]:
    script = words.given["script"]
    if words.given.get("index"):
        # Ours is given the element as `element`, and may be statements with a return.
        body = script if "return" in script else f"return {script}"
        return [Call(words.the(), "evaluate", (f"element => {{ {body} }}",))]
    wrapped = "return" in script and _FUNCTION.match(script) is None
    return [Call(words.page, "evaluate", (f"() => {{ {script} }}" if wrapped else script,))]


def _of_element(words: Words) -> Element:
    """What an assertion is about."""
    if words.given.get("index"):
        return words.the()
    return _by_selector(words, words.given.get("selector") or "body")


def _expect_visible(words: Words) -> list[Statement]:
    text = words.given.get("text")
    seen = Element(words.page, (ElementLocator("visible text", text or "", nth=0),))
    element = seen if text else _of_element(words)
    return [Expect(element, "to_be_hidden" if words.given.get("hidden") else "to_be_visible")]


def _expect_text(words: Words) -> list[Statement]:
    method = "to_have_text" if words.given.get("exact") else "to_contain_text"
    return [Expect(_of_element(words), method, (words.given["text"],))]


def _expect_value(words: Words) -> list[Statement]:
    match words.given["value"]:
        case bool(checked):
            options = {} if checked else {"checked": False}
            return [Expect(_of_element(words), "to_be_checked", options=options)]
        case str(value):
            return [Expect(_of_element(words), "to_have_value", (value,))]
        case values:
            return [Expect(_of_element(words), "to_have_values", (list(values),))]


def _expect_url(words: Words) -> list[Statement]:
    url = words.given["url"]
    wanted = url if "://" in url and "*" not in url else Pattern(UrlPattern(url).regex.pattern)
    return [Expect(words.page, "to_have_url", (wanted,))]


def _expect_count(words: Words) -> list[Statement]:
    element = _by_selector(words, words.given["selector"])
    return [Expect(element, "to_have_count", (words.given["count"],))]


def _expect_snapshot(words: Words) -> list[Statement]:
    snapshot = words.given.get("snapshot")
    if not snapshot:
        raise NoEquivalent("the region was not recorded")
    return [Expect(_of_element(words), "to_match_aria_snapshot", (snapshot,))]


def _plain(method: str) -> Make:
    return lambda words: [Call(words.page, method)]


STATEMENTS: Mapping[str, Make] = MappingProxyType(
    {
        "go_to_url": lambda words: [Call(words.page, "goto", (address_of(words.given["url"]),))],
        "go_back": _plain("go_back"),
        "go_forward": _plain("go_forward"),
        "reload": _plain("reload"),
        "search_web": lambda words: [Call(words.page, "goto", (words.action.url,))],
        "click_element": _click,
        "hover_element": lambda words: [Call(words.the(), "hover")],
        "drag_element": lambda words: [Call(words.the(), "drag_to", (words.the("target"),))],
        "input_text": _input_text,
        "select_option": _select,
        "set_checked": lambda words: [Call(words.the(), "set_checked", (words.given.get("checked", True),))],
        "fill_form": _fill_form,
        "upload_file": _upload,
        "send_keys": _send_keys,
        "type_text": lambda words: [Call(f"{words.page}.keyboard", "type", (words.given["text"],))],
        "hotkey": _hotkey,
        "scroll": _scroll,
        "scroll_to_text": _scroll_to_text,
        "wait_for": _wait_for,
        "mouse_click": _mouse_click,
        "mouse_move": lambda words: [
            Call(words.the("at"), "hover", options={"position": words.position("at")})
        ],
        "mouse_drag": _mouse_drag,
        "mouse_wheel": _mouse_wheel,
        "switch_tab": lambda words: [Call(_tab(words, words.given["tab"]), "bring_to_front")],
        "close_tab": _close_tab,
        "save_page": _save_page,
        "evaluate_script": _evaluate,
        "expect_visible": _expect_visible,
        "expect_text": _expect_text,
        "expect_value": _expect_value,
        "expect_url": _expect_url,
        "expect_count": _expect_count,
        "expect_snapshot": _expect_snapshot,
    }
)
