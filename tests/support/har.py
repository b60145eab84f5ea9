"""A schema of HTTP Archives (HAR 1.2), which anything but what they may have breaks."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer"}
SIZE: Schema = {"type": "integer", "minimum": -1}
TIME: Schema = {"type": "number", "minimum": 0}
DURATION: Schema = {"type": "number", "minimum": -1}
MOMENT: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"}


def an_object(required: Schema, optional: Schema | None = None, *, extends: bool = False) -> Schema:
    """An object of these; `extends`: it may have a comment, and more by names that begin with `_`."""
    more: Schema = {"patternProperties": {"^_": True, "^comment$": TEXT}} if extends else {}
    properties = {**required, **(optional or {})}
    closed: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**closed, "required": [*required], **more}


def a_list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def texts(names: str) -> Schema:
    return dict.fromkeys(names.split(), TEXT)


PROGRAM = an_object(texts("name version"))
PAIRS = a_list(an_object(texts("name value")))
COOKIE = an_object(
    texts("name value"), {**texts("path domain"), "expires": MOMENT, "httpOnly": FLAG, "secure": FLAG}
)
SIZES = {"headersSize": SIZE, "bodySize": SIZE}
MESSAGE = {**texts("httpVersion"), **SIZES, "cookies": a_list(COOKIE), "headers": PAIRS}
POSTED = an_object(texts("mimeType"), {**texts("text comment"), "params": PAIRS})
REQUEST = an_object({**texts("method url"), **MESSAGE, "queryString": PAIRS}, {"postData": POSTED})
CONTENT = an_object(
    {**texts("mimeType"), "size": {**NUMBER, "minimum": 0}},
    {**texts("text encoding comment"), "compression": NUMBER},
)
RESPONSE = {
    **an_object({**texts("statusText redirectURL"), **MESSAGE, "status": NUMBER, "content": CONTENT}),
    "patternProperties": {"^_": True},
}
TIMINGS = {**an_object(dict.fromkeys(("send", "wait", "receive"), TIME)), "additionalProperties": DURATION}
ENTRY = an_object(
    {"startedDateTime": MOMENT, "time": TIME, "request": REQUEST, "response": RESPONSE}
    | {"cache": {"type": "object"}, "timings": TIMINGS},
    texts("pageref serverIPAddress connection"),
    extends=True,
)
PAGE_TIMINGS = an_object({}, dict.fromkeys(("onContentLoad", "onLoad"), DURATION))
PAGE = an_object({"startedDateTime": MOMENT, **texts("id title"), "pageTimings": PAGE_TIMINGS}, extends=True)
LOG = an_object(
    {"version": {"const": "1.2"}, "creator": PROGRAM, "entries": a_list(ENTRY)},
    {"browser": PROGRAM, "pages": a_list(PAGE)},
    extends=True,
)
HAR = an_object({"log": LOG})
