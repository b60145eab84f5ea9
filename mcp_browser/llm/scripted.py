"""A model that follows a script: for tests, demonstrations and dry runs."""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from mcp_browser.errors import ModelError, SettingsError
from mcp_browser.llm.messages import (
    Message,
    ModelInfo,
    OutputCall,
    OutputForm,
    Reply,
    assistant,
    estimated_usage,
)

Line = dict[str, Any] | str | Reply | ModelError
"""One answer: a filled-in form, a text, a whole reply, or the failure to answer."""

Speaker = Callable[[Sequence[Message]], Line | Awaitable[Line]]  # Makes an answer from the conversation


class ScriptedModel:
    """Answers with the lines of a script, one per request, then repeats the last one."""

    def __init__(
        self,
        lines: Iterable[Line | Speaker],
        *,
        name: str = "scripted",
        context_window: int | None = None,
        sees: bool = True,
        judges: bool = False,
    ) -> None:
        """Take the lines; each is an answer, or a function that makes one from the conversation.

        It judges claims only with `judges`. Raises ValueError if there are no lines.
        """
        self._lines = list(lines)
        if not self._lines:
            raise ValueError("a script needs at least one line")
        self.info = ModelInfo(name=name, context_window=context_window, sees=sees, judges=judges)
        self.requests: list[tuple[Message, ...]] = []
        self.forms: list[OutputForm | None] = []

    async def ask(self, messages: Sequence[Message], *, form: OutputForm | None, seconds: float) -> Reply:
        """The next line of the script; raises it if it is a ModelError."""
        del seconds
        line = self._lines[min(len(self.requests), len(self._lines) - 1)]
        self.requests.append(tuple(messages))
        self.forms.append(form)
        if callable(line):
            made = line(messages)
            line = await made if inspect.isawaitable(made) else made
        match line:
            case ModelError():
                raise line
            case Reply():
                return line
            case str():
                said = assistant(line)
                call = None
            case _:
                name = form.name if form is not None else "output"
                call = OutputCall(id=f"call-{len(self.requests)}", name=name, arguments=line)
                said = assistant(call=call)
        usage = estimated_usage(messages, said, form)
        return Reply(text=said.text, call=call, usage=usage, model=self.info.name)


def load_script(path: Path) -> ScriptedModel:
    """A scripted model from a JSON file: a list of forms (objects) and texts; raises SettingsError."""
    try:
        content: object = json.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(f"cannot read the script {path}: {reason}.") from None
    lines = cast("list[object]", content) if isinstance(content, list) else []
    if not lines or not all(isinstance(line, dict | str) for line in lines):
        raise SettingsError(
            f"the script {path} must hold a list of answers, each a text or an object such as "
            '{"current_state": {"next_goal": "…"}, "action": [{"click_element": {"index": 3}}]}.'
        )
    return ScriptedModel(cast("list[Line | Speaker]", lines), name=f"scripted:{path.name}")
