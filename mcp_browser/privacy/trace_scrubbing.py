"""A trace of Playwright's without the secrets in it."""

import base64
import binascii
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

from mcp_browser.privacy.hiding import hide, in_base64
from mcp_browser.privacy.redaction import MARK, Redactor, is_secret_name

EVENTS = (".trace", ".network")
VALUE = "__playwright_value_"  # The attribute by which a snapshot keeps what a field holds
SHORTEST = 3  # What is shorter is taken out only of its own field, characters
SECRET_AUTOCOMPLETE = ("current-password", "new-password", "one-time-code", "cc-number", "cc-csc", "cc-exp")
SECRET_FIELDS = re.compile(
    r"(?:^|[^a-z])(?:csc|totp|pin-?code|one-?time-?code|card-?(?:num|no))(?:$|[^a-z])", re.IGNORECASE
)
"""Names of secret fields that are no names of secrets elsewhere, as dom/page/roles.js has them."""
FRAMES = ".jsonl"  # What a WebSocket has carried, a line each; what is no text in base64
BINARY = 2  # The opcode of such a frame
ENCODED_MARK = base64.b64encode(MARK.encode()).decode()
TYPED = {
    **dict.fromkeys(("keyboardType", "keyboardInsertText"), "text"),
    **dict.fromkeys(("keyboardPress", "keyboardDown", "keyboardUp"), "key"),
}

Json = dict[str, Any]

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{7,}={0,2}")


def scrub_trace(raw: Path, target: Path, *, redactor: Redactor, hidden: Iterable[str], largest: int) -> None:
    """Write a trace anew without hidden values, without what password fields held, and without tokens.

    What was typed is left out of the list of actions, and so is what the server's own code is like. Bodies
    that do not fit into `largest` bytes are left out, the largest ones first.
    """
    scrubber = _Scrubber(redactor, hidden)
    with zipfile.ZipFile(raw) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        entries = [entry for entry in source.infolist() if not entry.filename.endswith(".stacks")]
        events = [entry for entry in entries if entry.filename.endswith(EVENTS)]
        bodies = sorted((entry for entry in entries if entry not in events), key=lambda one: one.file_size)
        # A secret may stand in an earlier part than the one that gives it away.
        for entry in events:
            for line in _lines(source, entry):
                scrubber.learn(line)
                scrubber.scrub(line)
        kinds = scrubber.kinds
        for entry in bodies:
            scrubber.body(source.read(entry), kinds.get(entry.filename, ""), entry.filename)
        for entry in events:
            with copy.open(entry.filename, "w") as out:
                for line in _lines(source, entry):
                    out.write(json.dumps(scrubber.scrub(line), ensure_ascii=False).encode() + b"\n")
        room = largest - sum(entry.compress_size for entry in events)
        for entry in bodies:
            room -= entry.compress_size
            if room < 0:
                break
            kind = kinds.get(entry.filename, "")
            copy.writestr(entry.filename, scrubber.body(source.read(entry), kind, entry.filename))


def _lines(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[Json]:
    with source.open(entry) as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


class _Scrubber:
    def __init__(self, redactor: Redactor, hidden: Iterable[str]) -> None:
        self._redactor = redactor
        self._secrets: dict[str, str] = {}
        self._encoded: set[str] = set()
        self.kinds: dict[str, str] = {}
        """The MIME types of bodies, by the names of their entries."""
        for value in hidden:
            self._keep(value)

    def _keep(self, value: str) -> None:
        if len(value) >= SHORTEST:
            self._secrets[value] = value
        self._encoded |= set(in_base64(value))

    def learn(self, event: Json) -> None:
        """Take note of what secret fields hold, and of what bodies are."""
        if event.get("type") == "frame-snapshot":
            for tag in _fields(event["snapshot"].get("html")):
                self._keep(tag[VALUE])
        elif event.get("type") == "resource-snapshot":
            entry = event["snapshot"]
            for part in (entry["request"].get("postData"), entry["response"].get("content")):
                if part and (name := part.get("_file") or part.get("_sha1")):
                    name = name if "/" in name else f"resources/{name}"
                    self.kinds[name] = str(part.get("mimeType") or "")

    def scrub(self, event: Json) -> Json:
        """An event without what nobody is to see."""
        kind = event.get("type")
        if kind == "before":
            event.pop("stack", None)
            params = event.get("params")
            argument = TYPED.get(str(event.get("method")))
            if params and argument and _is_typed(argument, str(params.get(argument))):
                params[argument] = "•••"
                event.pop("title", None)
        elif kind == "frame-snapshot":
            for tag in _fields(event["snapshot"].get("html")):
                tag[VALUE] = "•" * len(tag[VALUE])
        elif kind == "resource-snapshot":
            self._request(event["snapshot"])
        return cast("Json", self._clean(event))

    def _request(self, entry: Json) -> None:
        for part in (entry["request"], entry["response"]):
            part["cookies"] = []
            pairs = [(str(one["name"]), str(one["value"])) for one in part.get("headers", ())]
            part["headers"] = [
                {"name": name, "value": value} for name, value in self._redactor.headers(pairs)
            ]
        request = entry["request"]
        for one in request.get("queryString", ()):
            one["value"] = self._redactor.value(str(one["name"]), str(one["value"]))
        if (sent := request.get("postData")) and sent.get("text"):
            sent["text"] = self._redactor.body(sent["text"], str(sent.get("mimeType") or ""))
            sent["params"] = []
        received = entry["response"].get("content", {})
        if received.get("text") and received.get("encoding") != "base64":
            received["text"] = self._redactor.body(received["text"], str(received.get("mimeType") or ""))

    def body(self, data: bytes, kind: str, name: str) -> bytes:
        """A body; nothing of one that is no text and has a secret in it."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return b"" if self._is_telling(data) else data
        if name.endswith(FRAMES):
            text = "\n".join(self._frame(line) for line in text.split("\n"))
        else:
            text = self._redactor.body(text, kind)
        return self._hide(text).encode()

    def _frame(self, line: str) -> str:
        """What a WebSocket has carried at once."""
        try:
            frame = json.loads(line)
            if frame["opcode"] != BINARY:
                frame["data"] = self._redactor.body(frame["data"])
            elif self._is_telling(base64.b64decode(frame["data"])):
                frame["data"] = ENCODED_MARK
        except (ValueError, KeyError, TypeError, binascii.Error):
            return self._redactor.body(line)
        return json.dumps(frame, ensure_ascii=False)

    def _is_telling(self, data: bytes) -> bool:
        text = data.decode(errors="replace")
        return hide(text, {**self._secrets, **{known: known for known in self._redactor.known}}) != text

    def _clean(self, value: Any) -> Any:
        match value:
            case str():
                told = self._redactor.url(value) if "://" in value[:12] else value
                return self._hide(self._redactor.text(told, code=True))
            case list():
                return [self._clean(one) for one in cast("list[Any]", value)]
            case dict():
                return {name: self._clean(one) for name, one in cast("Json", value).items()}
            case _:
                return value

    def _hide(self, text: str) -> str:
        # First, so that what is encoded can still be decoded.
        if any(part in text for part in self._encoded):
            text = _BASE64.sub(self._run, text)
        return hide(text, self._secrets, mark=MARK)

    def _run(self, found: re.Match[str]) -> str:
        return ENCODED_MARK if any(part in found[0] for part in self._encoded) else found[0]


def _is_typed(argument: str, value: str) -> bool:
    """Whether it is text, not the name of a key such as `Enter`."""
    return argument == "text" or len(value) == 1


def _fields(node: Any) -> Iterator[dict[str, str]]:
    """The attributes of a snapshot's secret fields that hold something; a node is [tag, attributes, …]."""
    if not isinstance(node, list):
        return
    tag, *rest = cast("list[Any]", node) or [None]
    if not isinstance(tag, str):
        return
    attributes: Any = rest[0] if rest else None
    if (
        isinstance(attributes, dict)
        and cast("Json", attributes).get(VALUE)
        and _is_secret(cast("Json", attributes))
    ):
        yield cast("dict[str, str]", attributes)
    for child in rest[1:]:
        yield from _fields(child)


def _is_secret(attributes: Json) -> bool:
    lower = {name.lower(): str(value) for name, value in attributes.items()}
    if lower.get("type", "").lower() == "password" or "-webkit-text-security" in lower.get("style", ""):
        return True
    if any(word in lower.get("autocomplete", "") for word in SECRET_AUTOCOMPLETE):
        return True
    names = [lower.get(name, "") for name in ("name", "id")]
    return any(is_secret_name(name) or SECRET_FIELDS.search(name) for name in names)
