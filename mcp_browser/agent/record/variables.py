"""Replace the values that a recorded run entered."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import quote, quote_plus

from mcp_browser.actions.recording import place_of
from mcp_browser.agent.record.history import ActionRecord, AgentHistory, leaves
from mcp_browser.agent.secrets.store import PLACEHOLDER
from mcp_browser.dom.identities import ElementRecord
from mcp_browser.errors import InvalidArguments
from mcp_browser.text import in_texts

EXAMPLE = """\
This was done before, on the same site, with other values: do it the same way where the pages are the same.
{steps}
Values that were entered, by field; put the task's in their places:
{values}"""
"""How a model is shown a recorded run; indexes are those of its own pages."""

ADDRESS = re.compile(r"[a-z][\w+.-]*://\S+")
SHORTEST_PART = 3  # Shorter values are replaced only if they are a whole text
ENTERED = ("text", "options", "value")  # The arguments that put a value into an element


def entered_values(history: AgentHistory) -> dict[str, list[str]]:
    """The values that a run has entered, by their fields' names; a secret's is `<secret>name</secret>`."""
    found: dict[str, list[str]] = {}
    for action in history.actions():
        if action.error is not None:
            continue
        for record, value in _entries(action):
            names = (record.name, record.attributes.get("name"), record.attributes.get("id"))
            for name in dict.fromkeys(name for name in names if name):
                values = found.setdefault(name, [])
                if value not in values:
                    values.append(value)
    return found


def example_of(history: AgentHistory) -> str:
    """A recorded run as an example for another: its actions, and the values entered."""
    steps: list[str] = []
    for number, action in enumerate((one for one in history.actions() if one.error is None), 1):
        given = ", ".join(f"{name}={value!r}" for name, value in action.given.items())
        steps.append(f"{number}. {action.call.name} {' onto '.join(map(str, action.elements))} {given}")
    values = [f"{name}: {', '.join(given)}" for name, given in entered_values(history).items()]
    return EXAMPLE.format(steps="\n".join(steps), values="\n".join(values) or "none")


def _entries(action: ActionRecord) -> Iterator[tuple[ElementRecord, str]]:
    for record in action.elements:
        holder, name = place_of(action.call.arguments, record.argument)
        if name != "index":
            continue
        for entered in ENTERED:
            value = holder.get(entered)
            for text in cast("list[object]", value) if isinstance(value, list) else [value]:
                if isinstance(text, str) and text:
                    yield record, text


class Variables:
    """Replaces values in the arguments and element names of a recorded run.

    A variable is named by a field (its label, `name` or `id`) or by the value entered. Each occurrence in the
    recorded actions and elements is replaced: whole texts or, for values of three characters and more, parts
    of texts, also as written in addresses.
    """

    def __init__(self, history: AgentHistory, given: Mapping[str, str]) -> None:
        """Exchange values of `history`; raises InvalidArguments, which names those there are."""
        self._values: dict[str, str] = {}
        fields = entered_values(history)
        texts = {history.task.start_url or ""}
        for action in history.actions():
            texts |= {value for _, value in leaves(action.call.arguments) if isinstance(value, str)}
            texts.update(text for one in action.elements for text in (one.name, one.text))
        for name, new in given.items():
            olds = fields.get(name)
            if PLACEHOLDER.search(" ".join(olds or [name])):
                raise InvalidArguments(
                    f"{name!r} is filled from a secret, which is no variable.",
                    hint="Change it in the file of secrets.",
                )
            parts = (name, quote(name), quote_plus(name)) if len(name) >= SHORTEST_PART else ()
            stands = name in texts or any(part in text for part in parts for text in texts)
            if olds is None and not stands:
                known = ", ".join(f"{field} ({values[0]!r})" for field, values in fields.items())
                raise InvalidArguments(
                    f"The recorded task has no field and no value {name!r}.",
                    hint=f"Its fields: {known or 'none'}.",
                )
            for old in olds if olds is not None else [name]:
                self._values[old] = new
        parts = {old: new for old, new in self._values.items() if len(old) >= SHORTEST_PART}
        self._in_addresses = {
            write(old): (quote if write is str else write)(new)
            for write in (quote_plus, quote, str)
            for old, new in parts.items()
        }
        self._parts = self._in_addresses | parts
        longest_first = sorted(self._parts, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if self._parts else None

    def put_in(self, value: Any) -> Any:
        """A value of JSON with the new values in all its texts; keys stay."""
        return in_texts(value, self._put_in_text, keys=False)

    def _put_in_text(self, text: str) -> str:
        if text in self._values:
            return self._values[text]
        parts = self._in_addresses if ADDRESS.fullmatch(text) else self._parts
        return self._pattern.sub(lambda found: parts[found[0]], text) if self._pattern else text

    def put_in_record(self, record: ElementRecord) -> ElementRecord:
        """An element as it is searched for with the new values."""
        changed = {
            name: self.put_in(getattr(record, name)) for name in ("name", "text", "context", "attributes")
        }
        return record.model_copy(update=changed)
