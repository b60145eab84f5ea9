"""A recorded element as Playwright locators, those first that are likeliest to mean it tomorrow."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from mcp_browser.dom.identities import ElementRecord

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Locator, Page

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

    def python(self, page: str = "page") -> str:
        """The expression in Python; `page` is the one for its page."""
        base = page + "".join(f".frame_locator({quoted(path)})" for path in self.frames)
        value = quoted(self.value)
        call = {
            "role": f"get_by_role({value}, name={quoted(self.name or '')}, exact=True)",
            "label": f"get_by_label({value}, exact=True)",
            "text": f"get_by_text({value})",
            "visible text": f"get_by_text({value}).filter(visible=True)",
            "selector": f"locator({value})",
        }[self.by]
        return f"{base}.{call}{self._nth}"

    def typescript(self, page: str = "page") -> str:
        """The expression in TypeScript; `page` is the one for its page."""
        base = page + "".join(f".frameLocator({json_quoted(path)})" for path in self.frames)
        value = json_quoted(self.value)
        call = {
            "role": f"getByRole({value}, {{ name: {json_quoted(self.name or '')}, exact: true }})",
            "label": f"getByLabel({value}, {{ exact: true }})",
            "text": f"getByText({value})",
            "visible text": f"getByText({value}).filter({{ visible: true }})",
            "selector": f"locator({value})",
        }[self.by]
        return f"{base}.{call}{self._nth}"

    @property
    def _nth(self) -> str:
        return "" if self.nth is None else f".nth({self.nth})"

    def on(self, page: "Page") -> "Locator":
        """Playwright's locator on a page."""
        base: Page | FrameLocator = page
        for path in self.frames:
            base = base.frame_locator(path)
        match self.by:
            case "role":
                found = base.get_by_role(cast("Any", self.value), name=self.name, exact=True)
            case "label":
                found = base.get_by_label(self.value, exact=True)
            case "text":
                found = base.get_by_text(self.value)
            case "visible text":
                found = base.get_by_text(self.value).filter(visible=True)
            case "selector":
                found = base.locator(self.value)
        return found if self.nth is None else found.nth(self.nth)


def locators(record: ElementRecord) -> list[ElementLocator]:
    """The locators of a recorded element, to be tried in this order."""
    found: list[ElementLocator] = []

    def add(by: Kind, value: str, name: str | None = None) -> None:
        found.append(ElementLocator(by, value, name, record.frames))

    for name in TEST_IDS:
        if name in record.attributes:
            add("selector", f"[{name}={json.dumps(record.attributes[name])}]")
    whole_name = record.name and not record.name.endswith("…")
    if record.role in ROLES and whole_name and not record.twins:
        add("role", record.role, record.name)
    if record.tag in ("input", "textarea", "select") and whole_name:
        add("label", record.name)
    if (identifier := record.attributes.get("id")) is not None:
        add(
            "selector",
            f"#{identifier}" if _PLAIN_ID.fullmatch(identifier) else f"[id={json.dumps(identifier)}]",
        )
    for name in MARKS:
        if name in record.attributes:
            value = record.attributes.get("value") if name == "name" else None
            which = f"[value={json.dumps(value)}]" if value is not None else ""
            add("selector", f"{record.tag}[{name}={json.dumps(record.attributes[name])}]{which}")
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
