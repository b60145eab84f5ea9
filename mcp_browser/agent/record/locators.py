"""A recorded element as Playwright locators, those first that are likeliest to mean it tomorrow."""

import json
import re

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


def locators(record: ElementRecord, page: str) -> list[str]:
    """Playwright's expressions for the element, to be tried in this order; `page` is the one for its page."""
    base = page + "".join(f".frame_locator({quoted(path)})" for path in record.frames)
    found: list[str] = []

    def by(selector: str) -> None:
        found.append(f"{base}.locator({quoted(selector)})")

    for name in TEST_IDS:
        if name in record.attributes:
            by(f"[{name}={json.dumps(record.attributes[name])}]")
    whole_name = record.name and not record.name.endswith("…")
    if record.role in ROLES and whole_name and not record.twins:
        found.append(f"{base}.get_by_role({quoted(record.role)}, name={quoted(record.name)}, exact=True)")
    if record.tag in ("input", "textarea", "select") and whole_name:
        found.append(f"{base}.get_by_label({quoted(record.name)}, exact=True)")
    if (identifier := record.attributes.get("id")) is not None:
        by(f"#{identifier}" if _PLAIN_ID.fullmatch(identifier) else f"[id={json.dumps(identifier)}]")
    for name in MARKS:
        if name in record.attributes:
            value = record.attributes.get("value") if name == "name" else None
            which = f"[value={json.dumps(value)}]" if value is not None else ""
            by(f"{record.tag}[{name}={json.dumps(record.attributes[name])}]{which}")
    if record.path:
        by(record.path)
    elif record.text:
        found.append(f"{base}.get_by_text({quoted(record.text)})")
    return found


def quoted(value: str) -> str:
    """A text as Python writes it, in double quotes where that is as short."""
    plain = '"' not in value and "\\" not in value and value.isprintable()
    return f'"{value}"' if plain else repr(value)
