"""Questions of a run to a person."""

import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Self

_ASKED: dict[str, dict[str, list[str]]] = tomllib.loads(
    resources.files("mcp_browser.agent").joinpath("questions.toml").read_text(encoding="utf-8")
)


def _any_of(table: str) -> str:
    return "|".join(one for words in _ASKED[table].values() for one in words)


ASKS_FOR_SECRET = re.compile(f"(?i:{_any_of('words')})|{_any_of('capitals')}")
"""What a question is about whose answer no model may read, whether the model has thought of that or not."""

DONE_IN_BROWSER = re.compile(f"(?i:{_any_of('browser')})")
"""What a question is about that a person does in the browser, not by an answer."""

NO_WAY_FOR_SECRETS = (
    "(It is secret, and the client cannot show its person a page of this server's, which takes elicitation "
    "by URL. Type it into the browser yourself and say so with add_instructions; or name it in the file of "
    "--secrets. Do not write it into a message.)"
)


@dataclass(frozen=True)
class Question:
    """A question; `secret` names its answer if no model may read it."""

    text: str
    choices: tuple[str, ...]
    secret: str | None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """The question of a `call_user`; it is secret also if it only sounds so."""
        text, choices = str(data.get("question", "")), tuple(data.get("choices", ()))
        sounds_so = not choices and ASKS_FOR_SECRET.search(text)
        return cls(text, choices, data.get("secret") or ("answer" if sounds_so else None))

    @property
    def obstacle(self) -> str:
        return self.text if self.secret is None else f"{self.text} {NO_WAY_FOR_SECRETS}"
