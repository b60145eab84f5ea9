"""aimock, a server from npm that speaks the protocols of OpenAI, Anthropic and Google by a script.

Its answers, as its documentation calls them, are fixtures: what a request must be like, and what is answered.
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2

from tests.support.agents import done
from tests.support.apps import free_port, running
from tests.support.packages import npm_packages

_REQUIREMENT = "@copilotkit/aimock@1.43.0"
KEY = "sk-test-0123456789abcdefghij"
"""The only key that it takes."""

OUTPUT = done("Seen.")
"""A step's output that ends a task."""


class Aimock:
    """The running server; `url` is its address without a path."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def environment(self) -> dict[str, str]:
        """Variables that send every provider's client here, with the right key."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GOOGLE_API_KEY": KEY,
        }

    def says(self, *answers: dict[str, Any], **options: Any) -> None:
        """Forget all that was, then give these answers, one a request, the last one again and again.

        They are aimock's, such as `{"content": "Hello"}`; `options` are more of each, as `latency` (ms).
        """
        last = len(answers) - 1
        fixtures = [
            {"match": {"sequenceIndex": number} if number < last else {}, "response": answer, **options}
            for number, answer in enumerate(answers)
        ]
        self._control("POST", "reset")
        self._control("POST", "fixtures", {"fixtures": fixtures})

    def requests(self) -> list[dict[str, Any]]:
        """What was asked since then: `path`, `headers`, `body` as aimock reads it, `response.status`."""
        return self._control("GET", "journal")

    def _control(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {KEY}"}
        answer = httpx2.request(method, f"{self.url}/__aimock/{path}", json=body, headers=headers)
        answer.raise_for_status()
        return answer.json()


def calls(name: str = "AgentOutput", arguments: object = OUTPUT, **more: Any) -> dict[str, Any]:
    return {"toolCalls": [{"name": name, "arguments": arguments}], **usage(1_200, 40), **more}


def usage(asked: int, answered: int) -> dict[str, Any]:
    """What a provider says it has counted, under the names of each."""
    return {
        "usage": {
            **{"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
            **{"input_tokens": asked, "output_tokens": answered},
            **{"promptTokenCount": asked, "candidatesTokenCount": answered},
        }
    }


def fails(
    status: int, message: str = "No.", *, retry_after: float | None = None, **error: str
) -> dict[str, Any]:
    """A failure; of the waits, only that of a 429 is told."""
    answer: dict[str, Any] = {"status": status, "error": {"message": message, **error}}
    return answer if retry_after is None else {**answer, "retryAfter": retry_after}


@contextmanager
def running_aimock() -> Generator[Aimock]:
    package = npm_packages("aimock", _REQUIREMENT) / "@copilotkit" / "aimock"
    with TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        nothing = folder / "nothing.json"
        nothing.write_text('{"fixtures": []}')
        llm = {"fixtures": str(nothing)}
        config = folder / "aimock.json"
        config.write_text(json.dumps({"port": port, "auth": {"apiKeys": [KEY]}, "llm": llm}))
        command = ["node", str(package / "dist" / "aimock-cli.js"), "--config", str(config)]
        url = f"http://127.0.0.1:{port}"
        with running(command, folder, ready=f"{url}/health"):
            yield Aimock(url)
