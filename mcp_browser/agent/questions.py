"""What a run asks a person, and what the model reads of the answer."""

import re
from dataclasses import dataclass
from typing import Any, Self

from mcp_browser.agent.control import Control, Watcher
from mcp_browser.agent.secrets.store import Secret, Secrets

PERSON_ANSWERED = "The person answered: {answer}"

ASKS_FOR_SECRET = re.compile(
    r"\b(?i:pass-?\s?(word|code|phrase)s?|otp|totp|cvv2?|cvc2?)\b"
    r"|\b(?i:(access|api|private|secret|recovery|security) key)\b"
    r"|\b(?i:(one-time|single-use|verification|verify|confirmation|authentication|authenticator|authorization"
    r"|auth|security|login|log-in|sign-in|access|backup|recovery|secret|unlock|2fa|mfa|two-factor|pin|sms|text"
    r"|e-?mail(ed)?|otp|(\d+|four|five|six|eight)[ -]digits?)[ -](pass)?(codes?|password))\b"
    r"|\b(?i:codes?)\b.{0,60}\b(?i:authenticator|sms|text(ed)?|sent|e-?mailed|phone)\b"
    r"|\bPIN\b|\bTANs?\b|\b(?i:(your|card|account|the) pin( number)?)(?=\W*$|\W+(for|of|to)\b)",
)
"""What a question is about whose answer no model may read, whether the model has thought of that or not."""

ANSWER = "answer"  # The name of a secret that the model has not given one

NO_WAY_FOR_SECRETS = (
    "(It is secret, and the client cannot show its person a page of this server's, which takes elicitation "
    "by URL. Type it into the browser yourself and say so with add_instructions; or name it in the file of "
    "--secrets. Do not write it into a message.)"
)


@dataclass(frozen=True)
class Question:
    """A question; `secret` is the name under which its answer is kept where no model may read it."""

    text: str
    choices: tuple[str, ...]
    secret: str | None

    @classmethod
    def of(cls, data: dict[str, Any]) -> Self:
        """The question of a `call_user`; secret also where it only sounds so."""
        text, choices = str(data.get("question", "")), tuple(data.get("choices", ()))
        sounds_so = not choices and ASKS_FOR_SECRET.search(text)
        return cls(text, choices, data.get("secret") or (ANSWER if sounds_so else None))

    @property
    def obstacle(self) -> str:
        return self.text if self.secret is None else f"{self.text} {NO_WAY_FOR_SECRETS}"

    async def put(
        self, watcher: Watcher, *, site: str | None, secrets: Secrets, control: Control
    ) -> str | None:
        """Ask the person; what the model reads. A secret is kept for the pages of `site` only."""
        told = None
        if self.secret is not None:
            told = await self._put_secretly(self.secret, watcher, site, secrets)
        elif (answer := await watcher.ask_person(self.text, self.choices)) is not None:
            told = PERSON_ANSWERED.format(answer=secrets.hide(answer))
        if told is None and control.instructions:
            told = PERSON_ANSWERED.format(answer=secrets.hide(" ".join(control.take_instructions())))
        return told

    async def _put_secretly(
        self, name: str, watcher: Watcher, site: str | None, secrets: Secrets
    ) -> str | None:
        if not site:
            return "The person was not asked: open the page first on which the secret is to be typed."
        value = await watcher.ask_secret(self.text, site)
        if value is None:
            return None
        secrets.add(name, Secret(value=value, origins=(site,)))
        return (
            f"The person has given it. You cannot read it: type <secret>{name}</secret> in its place, on "
            f"pages of {site} only."
        )
