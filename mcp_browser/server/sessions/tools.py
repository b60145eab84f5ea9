"""The tools by which a remote client opens, lists and closes browser sessions."""

import time
from typing import Any, Literal

import mcp_types as types
from pydantic import Field

from mcp_browser.actions.registry import ActionParams
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.server.calls import Call, ServerTool, server_tool
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.sessions.profiles import NamedProfile, StorageState
from mcp_browser.server.sessions.store import HeldSession, Sessions, connection_of, in_words
from mcp_browser.settings import Viewport, known_locale, known_timezone


class ContextParams(ActionParams):
    """What pages see of the browser of a session."""

    viewport: str | None = Field(default=None, description="WIDTHxHEIGHT.")
    locale: str | None = Field(default=None, description="Such as de-DE.")
    timezone: str | None = Field(default=None, description="Such as Europe/Berlin.")
    user_agent: str | None = Field(default=None, repr=False)
    color_scheme: Literal["light", "dark"] | None = None


class NewSessionParams(ContextParams):
    """How the browser of the session shall be."""

    profile: str | None = Field(
        default=None, description="Name of a profile: start with its logins, and keep them there."
    )
    logins_of: str | None = Field(default=None, description="Start with a copy of this profile's logins.")


class ListSessionsParams(ActionParams):
    """Of which to tell."""

    session: str | None = Field(
        default=None,
        description="Only the session of this handle.",
        json_schema_extra={"x-mcp-header": "Session"},
    )


class CloseSessionParams(ActionParams):
    """Which session."""

    session: str | None = Field(
        default=None,
        description="Its handle; by default this connection's own.",
        json_schema_extra={"x-mcp-header": "Session"},
    )


_ONLY_BY_HANDLE = (
    "This server does not ask who calls, so it cannot tell which sessions are yours: give the handle of one "
    "as `session`, here or to close_session. Those that nobody names end by themselves."
)


def session_tools(sessions: Sessions) -> tuple[ServerTool, ...]:
    """The tools for these sessions."""

    async def new_session(call: Call, params: NewSessionParams) -> types.CallToolResult:
        """Start another isolated browser session; its handle goes into `session` of later calls."""
        options = context_options(params)
        profile: NamedProfile | None = None
        if params.profile is not None:
            profile = await _profiles(sessions).acquire(call.principal, params.profile)
        try:
            if params.logins_of is not None:
                options["storage_state"] = _logins(sessions, call, params)
            held = await sessions.open(
                call.principal,
                connection=connection_of(call.request),
                context_options=options,
                profile=profile,
            )
        except BaseException:
            if profile is not None:
                profile.release()
            raise
        text = sessions.how_to_use(held)
        if profile is not None:
            known = "starts with the logins kept there" if profile.state else "is new"
            text += f' The profile "{profile.name}" {known}.'
        return tool_result(text, {"session": held.handle, "message": text})

    async def list_sessions(call: Call, params: ListSessionsParams) -> types.CallToolResult:
        """List your browser sessions, and the profiles there are."""
        connection = connection_of(call.request)
        if params.session is not None:
            held = [sessions.find(params.session, call.principal)]
        else:
            held = sessions.of(call.principal, connection)
        lines = [line_of(one) for one in held] or ["You have no sessions."]
        told: dict[str, Any] = {}
        if call.principal == ANONYMOUS and connection is None and params.session is None:
            # Whoever asks may be anybody, and a handle lets its holder in.
            lines, told = [_ONLY_BY_HANDLE], {"message": _ONLY_BY_HANDLE}
        names = sessions.profiles.names(call.principal) if sessions.profiles is not None else []
        if names:
            lines.append(f"Profiles: {', '.join(names)}.")
        return tool_result(
            "\n".join(lines), told | {"sessions": [data_of(one) for one in held], "profiles": names}
        )

    async def close_session(call: Call, params: CloseSessionParams) -> types.CallToolResult:
        """Close a browser session; a profile keeps its logins."""
        connection = connection_of(call.request)
        if params.session is not None:
            held = sessions.find(params.session, call.principal)
        elif connection is None:
            raise InvalidArguments("'session' is missing: the handle of the session to close.")
        elif (default := sessions.default_of(connection)) is None:
            raise NotFound("This connection has no session of its own now.", hint="See list_sessions.")
        else:
            held = default
        await held.session.takeover.let_pass()
        await sessions.end(held, "The session was closed by close_session.")
        return tool_result("Closed the session.", None)

    return (
        server_tool(new_session, param_model=NewSessionParams, in_session=False, open_world=False),
        server_tool(
            list_sessions,
            param_model=ListSessionsParams,
            in_session=False,
            read_only=True,
            open_world=False,
        ),
        server_tool(
            close_session,
            param_model=CloseSessionParams,
            in_session=False,
            destructive=True,
            open_world=False,
        ),
    )


def _profiles(sessions: Sessions) -> Any:
    if sessions.profiles is None:
        raise NotFound("This server keeps no profiles.", hint="It would with --profiles FOLDER.")
    return sessions.profiles


def _logins(sessions: Sessions, call: Call, params: NewSessionParams) -> StorageState:
    if params.profile is not None:
        raise InvalidArguments("Give either 'profile' or 'logins_of'.")
    return _profiles(sessions).state_of(call.principal, params.logins_of)


def context_options(params: ContextParams) -> dict[str, Any]:
    """Keyword arguments for Playwright's `new_context`.

    Raises:
        InvalidArguments: one of them cannot be.
    """
    options: dict[str, Any] = {}
    try:
        if params.viewport is not None:
            size = Viewport.model_validate(params.viewport)
            options["viewport"] = {"width": size.width, "height": size.height}
            options["screen"] = options["viewport"]
        if params.timezone is not None:
            options["timezone_id"] = known_timezone(params.timezone)
        if params.locale is not None:
            options["locale"] = known_locale(params.locale)
    except ValueError:
        raise InvalidArguments(
            "'viewport' must be WIDTHxHEIGHT (1280x720), 'timezone' an IANA name (Europe/Berlin), 'locale' a "
            "language and region (de-DE)."
        ) from None
    for name in ("user_agent", "color_scheme"):
        value = getattr(params, name)
        if value is not None:
            options[name] = value
    return options


def data_of(held: HeldSession) -> dict[str, Any]:
    """What is told of a session, for programs."""
    tab = held.session.tab_in_use
    return {
        "session": held.handle,
        "profile": held.profile.name if held.profile is not None else None,
        "url": held.session.addresses.redact(tab.url) if tab is not None else None,
        "tabs": len(held.session.tabs),
        "idle_seconds": 0 if held.calls else round(time.monotonic() - held.used),
    }


def line_of(held: HeldSession) -> str:
    """What is told of a session, in one line."""
    data = data_of(held)
    profile = f', profile "{data["profile"]}"' if data["profile"] else ""
    state = "working" if held.calls else f"idle for {in_words(data['idle_seconds'])}"
    return f'"{held.handle}"{profile}: {data["url"] or "not opened yet"}, tabs: {data["tabs"]}, {state}'


def tool_result(text: str, data: dict[str, Any] | None) -> types.CallToolResult:
    """A tool's result, as text and as data."""
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=data)
