"""The tools by which a client opens, lists and closes browser sessions."""

import time
from typing import Any, Literal

import mcp_types as types
from pydantic import Field

from mcp_browser.actions.registry import ActionParams
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.server.calls import Call, Handler, ServerTool
from mcp_browser.server.principals import ANONYMOUS
from mcp_browser.server.sessions.profiles import Profiles
from mcp_browser.server.sessions.remote import RemoteSessions, connection_of
from mcp_browser.server.sessions.sessions import HeldSession, Sessions, in_words
from mcp_browser.settings.values import Viewport, known_locale, known_timezone

_HANDLE = {"x-mcp-header": "Session"}


class ContextParams(ActionParams):
    """What pages see of the browser of a session."""

    viewport: str | None = Field(default=None, description="WIDTHxHEIGHT.")
    locale: str | None = Field(default=None, description="Such as de-DE.")
    timezone: str | None = Field(default=None, description="Such as Europe/Berlin.")
    user_agent: str | None = Field(default=None, repr=False)
    color_scheme: Literal["light", "dark"] | None = None


class NewSessionParams(ContextParams):
    profile: str | None = Field(
        default=None, description="Name of a profile: start with its logins, and keep them there."
    )
    logins_of: str | None = Field(default=None, description="Start with a copy of this profile's logins.")


class NewLocalSessionParams(ContextParams):
    isolated: bool = Field(default=False, description="Start clean, without the logins of the profile.")


class ListSessionsParams(ActionParams):
    session: str | None = Field(
        default=None, description="Only the session of this handle.", json_schema_extra={**_HANDLE}
    )


class CloseSessionParams(ActionParams):
    session: str | None = Field(
        default=None,
        description="Its handle; by default this connection's own.",
        json_schema_extra={**_HANDLE},
    )


_CLOSED = "The session was closed by close_session."
_ONLY_BY_HANDLE = (
    "This server does not ask who calls, so it cannot tell which sessions are yours: give the handle of one "
    "as `session`, here or to close_session. Those that nobody names end by themselves."
)


def session_tools(sessions: RemoteSessions) -> tuple[ServerTool[Any], ...]:
    """The tools for sessions of many clients."""

    def profiles_of(call: Call) -> Profiles:
        if (profiles := sessions.profiles_of(call.principal)) is None:
            raise NotFound("This server keeps no profiles.", hint="It would with --profiles FOLDER.")
        return profiles

    async def new_session(call: Call, params: NewSessionParams) -> types.CallToolResult:
        """Start another isolated browser session; its handle goes into `session` of later calls."""
        options = context_options(params)
        if params.profile is not None and params.logins_of is not None:
            raise InvalidArguments("Give either 'profile' or 'logins_of'.")
        if params.logins_of is not None:
            options["storage_state"] = profiles_of(call).load(params.logins_of)
        profile = await profiles_of(call).acquire(params.profile) if params.profile is not None else None
        try:
            connection = connection_of(call.request)
            held = await sessions.open(
                call.principal, connection=connection, context_options=options, profile=profile
            )
        except BaseException:
            if profile is not None:
                profile.release()
            raise
        text = sessions.how_to_use(held)
        if profile is not None:
            known = "starts with the logins kept there" if profile.state else "is new"
            text += f' The profile "{profile.name}" {known}.'
        return _result(text, {"session": held.handle, "message": text})

    async def list_sessions(call: Call, params: ListSessionsParams) -> types.CallToolResult:
        """List your browser sessions, and the profiles there are."""
        connection = connection_of(call.request)
        if params.session is not None:
            held = [sessions.find(params.session, call.principal)]
        else:
            held = sessions.of(call.principal, connection)
        lines = [_line(one) for one in held] or ["You have no sessions."]
        data: dict[str, Any] = {}
        if call.principal == ANONYMOUS and connection is None and params.session is None:
            # List nothing to a caller that cannot be identified: a handle grants access to its session.
            lines, data = [_ONLY_BY_HANDLE], {"message": _ONLY_BY_HANDLE}
        profiles = sessions.profiles_of(call.principal)
        if names := profiles.names() if profiles is not None else []:
            lines.append(f"Profiles: {', '.join(names)}.")
        return _result("\n".join(lines), data | {"sessions": [_data(one) for one in held], "profiles": names})

    async def close_session(call: Call, params: CloseSessionParams) -> types.CallToolResult:
        """Close a browser session; a profile keeps its logins."""
        connection = connection_of(call.request)
        if params.session is not None:
            held = sessions.find(params.session, call.principal)
        elif connection is None:
            raise InvalidArguments("'session' is missing: the handle of the session to close.")
        elif connection not in sessions.defaults:
            raise NotFound("This connection has no session of its own now.", hint="See list_sessions.")
        else:
            held = sessions.defaults[connection]
        await held.session.takeover.let_pass()
        await sessions.end(held, _CLOSED)
        return _result("Closed the session.", None)

    return _tools(new_session, list_sessions, close_session, NewSessionParams)


def local_session_tools(sessions: Sessions) -> tuple[ServerTool[Any], ...]:
    """The tools for several sessions of the one client of a server over stdio."""

    async def new_session(call: Call, params: NewLocalSessionParams) -> types.CallToolResult:
        """Start another browser session with its own tabs; its handle goes into `session` of later calls."""
        options = context_options(params)
        held = await sessions.open(call.principal, isolated=params.isolated, context_options=options)
        state = "clean" if held.session.isolated else "with the profile's logins"
        text = f'New browser session "{held.handle}", {state}: give it as `session` with each call for it.'
        return _result(text, {"session": held.handle, "message": text})

    async def list_sessions(_call: Call, params: ListSessionsParams) -> types.CallToolResult:
        """List your browser sessions."""
        held = [await sessions.named(params.session)] if params.session is not None else sessions.all()
        text = "\n".join(map(_line, held)) or "There are no sessions yet: any call starts the default one."
        return _result(text, {"sessions": [_data(one) for one in held]})

    async def close_session(_call: Call, params: CloseSessionParams) -> types.CallToolResult:
        """Close a browser session with its tabs; the profile keeps its logins."""
        held = await sessions.named(params.session)
        await held.session.takeover.let_pass()
        await sessions.end(held, _CLOSED)
        return _result(f'Closed the session "{held.handle}".', None)

    return _tools(new_session, list_sessions, close_session, NewLocalSessionParams)


def _tools(
    new: Handler[Any], list_: Handler[Any], close: Handler[Any], new_params: type[ContextParams]
) -> tuple[ServerTool[Any], ...]:
    return (
        ServerTool(new, param_model=new_params, in_session=False, open_world=False),
        ServerTool(list_, param_model=ListSessionsParams, read_only=True, in_session=False, open_world=False),
        ServerTool(
            close, param_model=CloseSessionParams, destructive=True, in_session=False, open_world=False
        ),
    )


def context_options(params: ContextParams) -> dict[str, Any]:
    """Keyword arguments for Playwright's `new_context`. Raises InvalidArguments: one of them cannot be."""
    options: dict[str, Any] = params.model_dump(include={"user_agent", "color_scheme"}, exclude_none=True)
    try:
        if params.viewport is not None:
            size = Viewport.model_validate(params.viewport)
            options["viewport"] = options["screen"] = {"width": size.width, "height": size.height}
        if params.timezone is not None:
            options["timezone_id"] = known_timezone(params.timezone)
        if params.locale is not None:
            options["locale"] = known_locale(params.locale)
    except ValueError:
        raise InvalidArguments(
            "'viewport' must be WIDTHxHEIGHT (1280x720), 'timezone' an IANA name (Europe/Berlin), 'locale' a "
            "language and region (de-DE)."
        ) from None
    return options


def _data(held: HeldSession) -> dict[str, Any]:
    tab = held.session.tab_in_use
    return {
        "session": held.handle,
        "profile": held.profile.name if held.profile is not None else None,
        "url": held.session.addresses.redact(tab.url) if tab is not None else None,
        "tabs": len(held.session.tabs),
        "idle_seconds": 0 if held.running else round(time.monotonic() - held.used),
    }


def _line(held: HeldSession) -> str:
    data = _data(held)
    profile = f', profile "{data["profile"]}"' if data["profile"] else ""
    state = "working" if held.running else f"idle for {in_words(data['idle_seconds'])}"
    return f'"{held.handle}"{profile}: {data["url"] or "not opened yet"}, tabs: {data["tabs"]}, {state}'


def _result(text: str, data: dict[str, Any] | None) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=data)
