"""Questions of a run to a person, and their answers for the model."""

import asyncio
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Self

from mcp_browser.agent.control import Control, Watcher
from mcp_browser.agent.secrets.store import Secret, Secrets
from mcp_browser.browser.takeover import Takeover

PERSON_ACTED = "The person has worked in the browser and handed it back. {note}"

_ASKED: dict[str, dict[str, list[str]]] = tomllib.loads(
    resources.files("mcp_browser.agent").joinpath("questions.toml").read_text(encoding="utf-8")
)


def _any_of(table: str) -> str:
    return "|".join(one for words in _ASKED[table].values() for one in words)


ASKS_FOR_SECRET = re.compile(f"(?i:{_any_of('words')})|{_any_of('capitals')}")
"""What a question is about whose answer no model may read, whether the model has thought of that or not."""

DONE_IN_BROWSER = re.compile(f"(?i:{_any_of('browser')})")
"""What a question is about that a person does in the browser, not by an answer."""

ANSWER = "answer"  # The name of a secret that the model has not given one

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
        return cls(text, choices, data.get("secret") or (ANSWER if sounds_so else None))

    @property
    def obstacle(self) -> str:
        return self.text if self.secret is None else f"{self.text} {NO_WAY_FOR_SECRETS}"

    async def put(
        self, watcher: Watcher, *, site: str | None, secrets: Secrets, control: Control, takeover: Takeover
    ) -> str | None:
        """Ask the person, who may act in the browser instead; returns the text for the model.

        A secret is kept for pages of `site` only.
        """
        async with takeover.asking("the user", self.text) as back:
            asking = asyncio.create_task(self._answer(watcher, site, secrets, control))
            try:
                await asyncio.wait({asking, back}, return_when=asyncio.FIRST_COMPLETED)
                return PERSON_ACTED.format(note=back.result()).strip() if back.done() else asking.result()
            finally:
                asking.cancel()

    async def _answer(
        self, watcher: Watcher, site: str | None, secrets: Secrets, control: Control
    ) -> str | None:
        answer = None
        if self.secret is None:
            answer = await watcher.ask_person(self.text, self.choices)
        elif not site:
            return "The person was not asked: open the page first on which the secret is to be typed."
        elif (value := await watcher.ask_secret(self.text, site)) is not None:
            secrets.add(self.secret, Secret(value=value, origins=(site,)))
            return (
                f"The person has given it. You cannot read it: type <secret>{self.secret}</secret> in its "
                f"place, on pages of {site} only."
            )
        if answer is None and control.instructions:
            answer = " ".join(control.take_instructions())
        return None if answer is None else f"The person answered: {secrets.hide(answer)}"
