"""A recorded element as Playwright locators, those first that are likeliest to mean it tomorrow."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import Locator, Page

from mcp_browser.dom.identities import ElementRecord

ROLES = frozenset(
    (
        "alert alertdialog article banner blockquote button caption cell checkbox columnheader combobox "
        "complementary contentinfo dialog document feed figure form grid gridcell group heading img link "
        "list listbox listitem log main menu menubar menuitem menuitemcheckbox menuitemradio meter "
        "navigation option progressbar radio radiogroup region row rowgroup rowheader scrollbar search "
        "searchbox separator slider spinbutton status switch tab table tablist tabpanel textbox timer "
        "toolbar tooltip tree treeitem"
    ).split()
)
"""The roles of ARIA by which Playwright finds elements; a snapshot has a few of its own besides."""

TEST_IDS = ("data-testid", "data-test-id", "data-test", "data-qa", "data-cy")
MARKS = ("name", "aria-label", "href", "placeholder", "title", "alt")

_PLAIN_ID = re.compile(r"[A-Za-z_][\w-]*")


Kind = Literal["role", "label", "text", "visible text", "selector"]


@dataclass(frozen=True, slots=True)
class ElementLocator:
    """One way to find an element: `by` its role and exact `name`, its label, its text or a `selector`.

    `value` is the role, the label, the text or the selector; `frames` are the selectors of the frames around
    it, from the outermost on. Where several are found, it is the `nth` of them, counted from 0.
    """

    by: Kind
    value: str
    name: str | None = None
    frames: tuple[str, ...] = ()
    nth: int | None = None

    @property
    def calls(self) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
        """The methods of Playwright's to call one after the other, from the page on, with their arguments."""
        exact = {"exact": True}
        found: dict[Kind, list[tuple[str, tuple[Any, ...], dict[str, Any]]]] = {
            "role": [("get_by_role", (self.value,), {"name": self.name or "", **exact})],
            "label": [("get_by_label", (self.value,), exact)],
            "text": [("get_by_text", (self.value,), {})],
            "visible text": [("get_by_text", (self.value,), {}), ("filter", (), {"visible": True})],
            "selector": [("locator", (self.value,), {})],
        }
        frames = [("frame_locator", (path,), dict[str, Any]()) for path in self.frames]
        return [*frames, *found[self.by], *([] if self.nth is None else [("nth", (self.nth,), {})])]

    def on(self, page: Page) -> Locator:
        """Playwright's locator on a page."""
        found: Any = page
        for method, arguments, options in self.calls:
            found = getattr(found, method)(*arguments, **options)
        return found


def locators(record: ElementRecord) -> list[ElementLocator]:
    """The locators of a recorded element, to be tried in this order."""
    found: list[ElementLocator] = []

    def add(by: Kind, value: str, name: str | None = None, *, mark: str = "") -> None:
        found.append(ElementLocator(by, value, name, record.frames, record.places.get(mark)))

    for name in TEST_IDS:
        if name in record.attributes:
            add("selector", f"[{name}={json.dumps(record.attributes[name])}]", mark=name)
    whole_name = record.name and not record.name.endswith("…")
    if record.role in ROLES and whole_name and not record.twins:
        add("role", record.role, record.name)
    if record.tag in ("input", "textarea", "select") and whole_name:
        add("label", record.name)
    if (identifier := record.attributes.get("id")) is not None:
        add(
            "selector",
            f"#{identifier}" if _PLAIN_ID.fullmatch(identifier) else f"[id={json.dumps(identifier)}]",
            mark="id",
        )
    for name in MARKS:
        if name in record.attributes:
            value = record.attributes.get("value") if name == "name" else None
            which = f"[value={json.dumps(value)}]" if value is not None else ""
            add("selector", f"{record.tag}[{name}={json.dumps(record.attributes[name])}]{which}", mark=name)
    found.sort(key=lambda one: one.nth is not None)
    if record.path:
        add("selector", record.path)
    elif record.text:
        add("text", record.text)
    return found


def quoted(value: str) -> str:
    """A text as Python writes it, in double quotes where that is as short."""
    plain = '"' not in value and "\\" not in value and value.isprintable()
    return f'"{value}"' if plain else repr(value)


def json_quoted(value: str) -> str:
    """A text as TypeScript writes it, in double quotes."""
    # Line separators end a line of JavaScript, but not of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
