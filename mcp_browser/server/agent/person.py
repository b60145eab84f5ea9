"""The person behind an MCP client, as a run asks them."""

import asyncio
import contextlib
import secrets
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import SecretStr

from mcp_browser.agent.control import Progress
from mcp_browser.agent.questions import DONE_IN_BROWSER
from mcp_browser.server.agent.running import Run
from mcp_browser.server.agent.secret_forms import FORM_SECONDS, OpenForm, SecretForm
from mcp_browser.server.ask import capabilities, is_modern, takes_forms
from mcp_browser.server.handover import ViewLink, asks_by_url, handover_of, handover_request, no_view

PERSON_SECONDS = 900.0  # How long a person may take to answer; then the run waits


class ClientWatcher:
    """The watcher of a run whose person is behind an MCP client."""

    def __init__(
        self,
        run: Run,
        request: ServerRequestContext[Any, Any],
        open_form: OpenForm | None = None,
        view_link: ViewLink = no_view,
    ) -> None:
        self._run = run
        self._request = request
        self._open_form = open_form
        self._view_link = view_link
        asking = capabilities(request).elicitation
        self._takes_forms = takes_forms(request)
        self._takes_urls = asking is not None and asking.url is not None

    async def progressed(self, progress: Progress) -> None:
        """Keep it for who asks, and wake who waits."""
        self._run.tell(progress)

    async def ask_person(self, question: str, choices: tuple[str, ...]) -> str | None:
        """The person's answer; None where nobody can be asked now.

        A form of one field; or what they are to do in the browser, and whether they could.
        """
        if not choices and DONE_IN_BROWSER.search(question):
            return await self._hand_over(question)
        if not self._takes_forms or not self._run.attended:
            return None
        answer: dict[str, Any] = {"type": "string", "title": "Answer"}
        if choices:
            answer["enum"] = list(choices)
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        params = types.ElicitRequestFormParams(message=question, requested_schema=schema)
        try:
            async with asyncio.timeout(PERSON_SECONDS):
                response = await self._run.mailbox.ask(types.ElicitRequest(params=params))
        except TimeoutError:
            return None
        if not isinstance(response, types.ElicitResult) or response.action != "accept":
            return None
        return str((response.content or {}).get("answer", ""))

    async def _hand_over(self, question: str) -> str | None:
        session = self._run.agent.session
        link = self._view_link(self._request, session)
        request = handover_request(self._request, question, session, link)
        if request is None or not self._run.attended:
            return None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PERSON_SECONDS):
                came = handover_of(await self._run.mailbox.ask(request))
                if came.outcome == "done" and asks_by_url(self._request, link):
                    # They go there; the run goes on once they hand the browser back.
                    await asyncio.Event().wait()
                return None if came.outcome == "no answer" else str(came)
        return None

    async def ask_secret(self, question: str, site: str) -> SecretStr | None:
        """The person's answer on a page of this server's, for the run only; None where none can be asked."""
        if self._open_form is None or not self._takes_urls or not self._run.attended:
            return None
        async with self._open_form(self._request, question, site, self._run.agent.task.text) as form:
            # Handshake clients know the question by an identifier, which the modern protocol has dropped.
            identifier = None if is_modern(self._request) else secrets.token_urlsafe(16)
            params = types.ElicitRequestURLParams(message=question, url=form.url, elicitation_id=identifier)
            answer = await self._filled_in(form, types.ElicitRequest(params=params))
            if answer is not None and identifier is not None:
                await self._tell_done(identifier)
            return answer

    async def _filled_in(self, form: SecretForm, request: types.ElicitRequest) -> SecretStr | None:
        """What a form was filled in with; the client says before or after whether its person agrees to."""
        asking = asyncio.create_task(self._run.mailbox.ask(request))
        try:
            async with asyncio.timeout(FORM_SECONDS):
                await asyncio.wait({asking, form.answer}, return_when=asyncio.FIRST_COMPLETED)
                if not form.answer.done():
                    response = asking.result()
                    if not isinstance(response, types.ElicitResult) or response.action != "accept":
                        return None
                return await form.answer
        except TimeoutError:
            return None
        finally:
            asking.cancel()

    async def _tell_done(self, identifier: str) -> None:
        # It is a courtesy: the answer has come, whether the client hears of it or not.
        with contextlib.suppress(
            MCPError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError
        ):
            await self._request.session.send_elicit_complete(identifier, self._request.request_id)
