"""The tool by which a model asks the person to act in the browser, or to answer."""

import asyncio
import contextlib
import secrets
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from pydantic import Field

from mcp_browser.actions.registry import ActionParams
from mcp_browser.actions.result import ActionResult
from mcp_browser.browser.session import BrowserSession
from mcp_browser.controller import Controller
from mcp_browser.errors import ActionError, NotActionable, NotFound
from mcp_browser.server import elicitation
from mcp_browser.server.calls import Answer, Call, ServerTool
from mcp_browser.server.tool_groups import view_tools
from mcp_browser.server.tools import call_result, progress


class AskPersonParams(ActionParams):
    """What to ask."""

    reason: str = Field(
        repr=False,
        min_length=1,
        max_length=2_000,
        description="what they are to do in the browser, or to answer",
    )


_OpenQuestion = tuple[BrowserSession, elicitation.Mailbox, asyncio.Task[str | None]]
"""A question to the person that outlives the calls of a client which answers with its next one."""


class PersonTools:
    """The tool, for callers with the same settings."""

    def __init__(self, controller: Controller, view_link: elicitation.ViewLink | None = None) -> None:
        """Ask the persons of clients whose actions `controller` executes."""
        self._controller = controller
        self._view_link = view_link
        self._questions: dict[str, _OpenQuestion] = {}

    def tool(self, ui: Mapping[str, Any] | None = None) -> ServerTool[AskPersonParams]:
        """The tool; `ui` names its app to clients that show MCP Apps."""
        return ServerTool(self.ask_person, param_model=AskPersonParams, ui=ui)

    async def ask_person(self, call: Call, params: AskPersonParams) -> Answer:
        """Ask the user to do what only they can (a captcha, a login, a payment), and wait for them."""
        if call.params.request_state is None:
            await call.session.takeover.let_pass()
            async with call.session.lock:
                await call.session.ensure_open()
            name = self._ask(call, params.reason)
        else:
            # The call of a client that comes back with the answer.
            name = call.params.request_state
            if name not in self._questions or self._questions[name][0] is not call.session:
                raise NotFound("The question is over.", hint="Look with get_state; ask again if need be.")
        _, mailbox, work = self._questions[name]
        mailbox.deliver(call.params.input_responses)
        with progress(call, call.session):
            try:
                await mailbox.attend(call.request, work.done, state=name)
            except asyncio.CancelledError:
                work.cancel()
                raise
        return await self._result(call, work.result() or "The user has not answered.")

    async def close(self) -> None:
        """Ask nobody any more."""
        for _, _, work in self._questions.values():
            work.cancel()

    def _ask(self, call: Call, reason: str) -> str:
        session = call.session
        link = self._view_link(call.request, session) if self._view_link is not None else None
        request = elicitation.handover_request(call.request, reason, session, link)
        if request is None and not (view_tools(session.settings) and elicitation.shows_apps(call.request)):
            unseen = "They cannot see this browser; ask what you need to know."
            where = elicitation.where_to_act(session, link) or unseen
            raise NotActionable(
                "This client cannot ask its user (it has no elicitation).",
                hint=f"Tell the user what they are to do, and end your turn. {where}",
            )
        name, mailbox = secrets.token_urlsafe(16), elicitation.Mailbox()
        work = asyncio.create_task(_ask(session, reason, mailbox, request))

        def ended(work: asyncio.Task[str | None]) -> None:
            self._questions.pop(name, None)
            mailbox.news.wake()
            if not work.cancelled():
                work.exception()  # Read here where no call waits for it any more

        work.add_done_callback(ended)
        self._questions[name] = session, mailbox, work
        return name

    async def _result(self, call: Call, answer: str) -> types.CallToolResult:
        """The answer, and what the person has changed in the browser."""
        controller, session = self._controller, call.session
        try:
            changed = (await controller.look(session)).observation
            result = ActionResult(extracted_content=answer, observation=changed)
        except ActionError as error:
            result = ActionResult(extracted_content=f"{answer}\n{error}")
        return call_result(result, settings=controller.settings, secrets=session.hidden)


async def _ask(
    session: BrowserSession, reason: str, mailbox: elicitation.Mailbox, request: types.ElicitRequest | None
) -> str | None:
    """Ask, and wait until the person answers, or has taken the browser over and given it back.

    Without a `request` only the live view asks.
    """
    # The question is withdrawn once the takeover has ended.
    with contextlib.suppress(TimeoutError), contextlib.ExitStack() as after:
        async with (
            asyncio.timeout(elicitation.PERSON_SECONDS),
            session.takeover.asking("the user", reason) as back,
        ):
            asking = asyncio.create_task(elicitation.hand_over(mailbox, request))
            after.callback(asking.cancel)
            await asyncio.wait({asking, back}, return_when=asyncio.FIRST_COMPLETED)
            if not back.done():
                return asking.result()
            return elicitation.noted(elicitation.IT_IS_DONE, back.result())
    return None
