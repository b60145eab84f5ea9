"""Calls that are answered at once and go on: what the tasks extension tells of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

import mcp_types as types

from mcp_browser.server.principals import Principal

Status = Literal["working", "input_required", "completed", "failed", "cancelled"]

POLL_SECONDS = 1.0  # How often a client should ask how a call stands


@dataclass(frozen=True, slots=True, kw_only=True)
class CallState:
    """How a call stands: by the five words of the extension, of which `failed` is an error of the protocol.

    `message` is a sentence for people; `questions` come with `input_required`, by keys never used again.
    """

    status: Status
    message: str | None = None
    questions: Mapping[str, types.Request[Any, Any]] = field(
        default_factory=dict[str, types.Request[Any, Any]]
    )
    result: types.CallToolResult | None = None
    error: types.ErrorData | None = None


class LongCall(Protocol):
    """A call that was answered with its handle."""

    @property
    def id(self) -> str:
        """Its identifier, which nobody can guess."""
        ...

    @property
    def created(self) -> datetime: ...

    @property
    def updated(self) -> datetime: ...

    @property
    def seconds(self) -> float:
        """For how long, from its beginning, it can be asked for at least."""
        ...

    @property
    def state(self) -> CallState: ...

    def deliver(self, responses: Mapping[str, Any]) -> None:
        """Take the client's answers, by the questions' keys; those to nothing that is asked are dropped."""

    async def cancel(self) -> None:
        """End it, if it has not ended."""

    async def changed(self) -> None:
        """Wait until something has happened."""


class LongCalls(Protocol):
    """The long calls of a server."""

    async def find(self, identifier: str, principal: Principal, /) -> LongCall | None:
        """The call of that identifier; None where this caller has none."""
        ...


class TaskHandle(types.Result):
    """The answer to a call that goes on: the extension's `CreateTaskResult`. Times in milliseconds."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: Status
    status_message: str | None = None
    created_at: str
    last_updated_at: str
    ttl_ms: int
    poll_interval_ms: int


def handle_of(call: LongCall) -> TaskHandle:
    """What a call is answered with that goes on."""
    state = call.state
    return TaskHandle(
        task_id=call.id,
        status=state.status,
        status_message=state.message,
        created_at=_wire_time(call.created),
        last_updated_at=_wire_time(call.updated),
        ttl_ms=int(call.seconds * 1000),
        poll_interval_ms=int(POLL_SECONDS * 1000),
    )


def detailed(call: LongCall) -> dict[str, Any]:
    """How a call stands, as it goes over the wire: the extension's `DetailedTask`."""
    state = call.state
    wire = _dumped(handle_of(call))
    del wire["resultType"]
    if state.status == "input_required":
        wire["inputRequests"] = {key: _dumped(asked) for key, asked in state.questions.items()}
    elif state.result is not None:
        wire["result"] = _dumped(state.result)
    elif state.error is not None:
        wire["error"] = _dumped(state.error)
    return wire


def _dumped(model: types.Result | types.Request[Any, Any] | types.ErrorData) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _wire_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
