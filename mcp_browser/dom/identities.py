"""Elements by what they can be found again by, on a page that may have changed: records and locators."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from playwright.async_api import Locator, Page
from pydantic import Field

from mcp_browser.dom.models import DomNode, Frozen
from mcp_browser.text import quoted

MatchLevel = Literal["exact", "attributes", "role", "text"]  # By what an element was found again
LEVELS: tuple[MatchLevel, ...] = get_args(MatchLevel)

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


class ElementRecord(Frozen):
    """An element as it was when it was acted on, by what it can be found again.

    `argument` is the place of its index or point among the action's arguments, such as `index` or
    `fields.0.index`. `attributes` are those that tend to stay (id, name, type, href, data-testid, aria-label,
    placeholder, …). `context` is the text around it, `twins` how many others had its role and name, `places`
    which it was of those that shared an attribute with it, counted from 0. `path` is a CSS path from its
    document's root, ` >> ` leading into a shadow tree; `frames` are such paths of the frames around it from
    the outermost on, `frame` the address of its frame where that is not the page. `x`, `y`, `width` and
    `height` are its box in CSS pixels of the view; `point` is a given point in it, in parts of its sides.
    """

    index: int
    argument: str = "index"
    role: str = ""
    name: str = ""
    tag: str = ""
    attributes: dict[str, str] = Field(default_factory=dict)
    text: str = ""
    context: str = ""
    twins: int = 0
    places: dict[str, int] = Field(default_factory=dict)
    path: str = ""
    frames: tuple[str, ...] = ()
    frame: str | None = None
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    point: tuple[float, float] | None = None

    def __str__(self) -> str:
        return f"{self.role or self.tag or 'element'} {quoted(self.name or self.text)}"


def element_record(index: int, answer: Mapping[str, Any], frames: tuple[str, ...]) -> ElementRecord:
    """The record of an element, as the page script describes it, in the frames with these paths."""
    box = dict(zip(("x", "y", "width", "height"), (round(size, 1) for size in answer["box"]), strict=True))
    frame = answer["url"] if frames else None
    return ElementRecord.model_validate({**answer, **box, "index": index, "frames": frames, "frame": frame})


class Located(Frozen):
    """A recorded element, found again."""

    level: MatchLevel
    node: DomNode


@dataclass(frozen=True, slots=True)
class ElementLocator:
    """A locator of Playwright's: `by` role and exact `name`, label, text or `selector`, its `value`.

    `frames` are the selectors of the frames around it, from the outermost on. Where several are found, it is
    the `nth` of them, counted from 0.
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
    """The locators of a recorded element, those first that are likeliest to mean it tomorrow."""
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


def py_quoted(value: str) -> str:
    """A text as Python writes it, in double quotes where that is as short."""
    plain = '"' not in value and "\\" not in value and value.isprintable()
    return f'"{value}"' if plain else repr(value)


def json_quoted(value: str) -> str:
    """A text as TypeScript writes it, in double quotes."""
    # Line separators end a line of JavaScript, but not of JSON.
    return json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
