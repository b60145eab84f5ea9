"""Cookies, local and session storage, and all data of sites."""

import json
import time
from typing import Literal
from urllib.parse import urlsplit

import anyio.to_thread
from playwright.async_api import Error as PlaywrightError
from pydantic import Field, model_validator

from mcp_browser.actions.files import allowed_file
from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext, ActionResult, list_part
from mcp_browser.browser.files.artifacts import IN_CLEAR
from mcp_browser.browser.session_services import Logins
from mcp_browser.browser.site_data import (
    clear_site,
    cookies_of,
    count,
    open_storage,
    origin_of,
    parse_state,
    put_state,
    read_file,
    read_state,
)
from mcp_browser.dom.driver_errors import own_refusal, plain_message
from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.privacy.redaction import MARK, Redactor, is_secret_cookie
from mcp_browser.text import cut, quoted

storage = Registry(group="storage")

SHOWN_KEY = 80  # How much of a name is repeated, characters
LONGEST = 300  # How much of a value is shown in a list, characters
KEPT = 500_000  # Longest value that is set, characters


class SetCookieParams(ActionParams):
    name: str = Field(min_length=1)
    value: str = Field(max_length=4096, repr=False)
    url: str | None = Field(None, description="default: the page")
    domain: str | None = Field(None, description="subdomains included")
    path: str | None = Field(None, description="default: /")
    expires: float | None = Field(None, description="seconds from now")
    http_only: bool = Field(False, description="hidden from scripts")
    secure: bool = Field(False, description="over HTTPS only")
    same_site: Literal["Strict", "Lax", "None"] | None = None


class LoadStorageStateParams(ActionParams):
    file: str | None = Field(None, description="path, or browser:// address of a saved one")
    profile: str | None = Field(None, description="named profile")

    @model_validator(mode="after")
    def _names_one(self) -> "LoadStorageStateParams":
        if (self.file is None) == (self.profile is None):
            raise ValueError("give either file or profile")
        return self


@storage.action(effect="read", during_dialog=True)
async def get_cookies(
    ctx: ActionContext,
    url: str | None = Field(None, description="those sent to it; default: the page"),
    name: str | None = Field(None, description="only this one"),
    all: bool = Field(False, description="of all sites"),
    part: int = Field(1, description="of a long list"),
) -> ActionResult:
    """List cookies."""
    cookies = await cookies_of(ctx.session.context, url=None if all else _site(ctx, url), name=name)
    show = ctx.settings.observation.show_secrets
    lines: list[str] = []
    data: list[dict[str, object]] = []
    for cookie in cookies:
        own, value = cookie.get("name", ""), cookie.get("value", "")
        http_only = bool(cookie.get("httpOnly"))
        hidden = is_secret_cookie(own, http_only=http_only) and not show
        expires = float(cookie.get("expires", -1))
        marks = [
            f"{cookie.get('domain', '')}{cookie.get('path', '')}",
            f"until {time.strftime('%Y-%m-%d %H:%M', time.gmtime(expires))}" if expires > 0 else "session",
            *(["HttpOnly"] if http_only else []),
            *(["Secure"] if cookie.get("secure") else []),
            *([f"SameSite={same}"] if (same := cookie.get("sameSite")) else []),
        ]
        shown = MARK if hidden else _shown(own, value, show)
        lines.append(f"{own}={shown} ({', '.join(marks)})")
        data.append({**cookie, "value": shown})
    return list_part(ctx, lines, what="cookie", data=data, part=part)


@storage.action(reach="page", during_dialog=True)
async def set_cookie(ctx: ActionContext, params: SetCookieParams) -> str:
    """Set a cookie."""
    cookie: dict[str, object] = {"name": params.name, "value": params.value}
    if params.domain:
        cookie |= {"domain": params.domain, "path": params.path or "/"}
    else:
        url = _site(ctx, params.url)
        # Playwright wants either a URL or a domain with a path.
        path = {"domain": urlsplit(origin_of(url)).hostname, "path": params.path}
        cookie |= path if params.path else {"url": f"{origin_of(url)}/"}
    if params.expires is not None:
        cookie["expires"] = time.time() + params.expires
    cookie |= {"httpOnly": params.http_only, "secure": params.secure}
    if params.same_site:
        cookie["sameSite"] = params.same_site
    try:
        await ctx.session.context.add_cookies([cookie])  # pyright: ignore[reportArgumentType] (made up above)
    except PlaywrightError as error:
        refused = InvalidArguments(f"The browser refuses this cookie: {plain_message(error)}.")
        raise own_refusal(error) or refused from error
    return f"Set the cookie {params.name}."


@storage.action(reach="page", destructive=True, during_dialog=True)
async def delete_cookies(
    ctx: ActionContext,
    name: str | None = Field(None, description="only this one"),
    url: str | None = Field(None, description="default: the page"),
) -> str:
    """Delete the cookies of a site, or one of them."""
    url = _site(ctx, url)
    cookies = await cookies_of(ctx.session.context, url=url, name=name)
    if name and not cookies:
        raise NotFound(f"{cut_address(url)} has no cookie {name!r}.", hint="List them with get_cookies.")
    for cookie in cookies:
        await ctx.session.context.clear_cookies(
            name=cookie.get("name"), domain=cookie.get("domain"), path=cookie.get("path")
        )
    names = dict.fromkeys(cookie.get("name", "") for cookie in cookies)
    deleted = ", ".join(quoted(name, SHOWN_KEY) for name in names) or "none"
    return f"Deleted cookies: {deleted}."


@storage.action(effect="read")
async def get_storage(
    ctx: ActionContext,
    area: Literal["local", "session"] = "local",
    key: str | None = Field(None, description="whole value of this one"),
    origin: str | None = Field(None, description="default: the page's"),
    part: int = Field(1, description="of a long list"),
) -> ActionResult:
    """List local or session storage."""
    items = await (await open_storage(ctx.tab, area, origin)).items()
    show = ctx.settings.observation.show_secrets
    if key is not None:
        if key not in items:
            raise NotFound(
                f"There is no key {key!r} in {area} storage.",
                hint=f"Keys: {', '.join(quoted(one, SHOWN_KEY) for one in list(items)[:50]) or 'none'}.",
            )
        value = Redactor(show=show).value(key, items[key])
        return ActionResult(extracted_content=f"{key}:", page_content=value)
    lines = [f"{one}: {_shown(one, value, show)}" for one, value in sorted(items.items())]
    return list_part(ctx, lines, what=f"{area} storage item", part=part)


@storage.action(reach="page", destructive=True)
async def set_storage(
    ctx: ActionContext,
    items: dict[str, str | None] = Field(default_factory=dict[str, str | None], description="null removes"),
    area: Literal["local", "session"] = "local",
    origin: str | None = Field(None, description="default: the page's"),
    clear: bool = Field(False, description="remove all others"),
) -> str:
    """Set, remove or clear items of local or session storage."""
    if not items and not clear:
        raise InvalidArguments("Give 'items', or clear=true.")
    if any(len(value or "") > KEPT for value in items.values()):
        raise InvalidArguments(f"A value is longer than {KEPT:,} characters.")
    opened = await open_storage(ctx.tab, area, origin)
    try:
        if clear:
            await opened.clear()
        await opened.change(items)
    except PlaywrightError as error:
        raise NotActionable(f"The browser did not store it: {plain_message(error)}.") from error
    parts = ["cleared"] if clear else []
    if kept := [key for key, value in items.items() if value is not None]:
        parts.append(f"set {', '.join(kept)}")
    if gone := [key for key, value in items.items() if value is None]:
        parts.append(f"removed {', '.join(gone)}")
    return f"{area.title()} storage: {'; '.join(parts)}."


@storage.action(effect="read")
async def save_storage_state(
    ctx: ActionContext,
    name: str = Field("storage-state", description="file name"),
    profile: str | None = Field(None, description="named profile, instead of a file"),
) -> ActionResult:
    """Save logins (cookies, storage of all sites) as a file; it is secret."""
    state = await read_state(ctx.session.context)
    if profile is None:
        content = json.dumps(state).encode()
        file = await ctx.keep(content, name, kind="storage", suffix=".json", mime_type="application/json")
        place, attachments = f"as {file.place}", ctx.attach(file)
    else:
        place, attachments = f'in the profile "{profile}"', ()
        try:
            await _logins(ctx).save(profile, state)
        except OSError as error:
            raise NotActionable(f"The profile could not be written: {error.strerror}.") from error
    return ActionResult(
        extracted_content=f"Saved {count(state)} {place}. {IN_CLEAR}", attachments=attachments
    )


@storage.action(reach="page", destructive=True)
async def load_storage_state(ctx: ActionContext, params: LoadStorageStateParams) -> str:
    """Replace cookies and storage of all sites by saved ones."""
    if params.profile is not None:
        state = _logins(ctx).load(params.profile)
    else:
        file, session = params.file or "", ctx.session
        if session.artifacts.remote or file.startswith("browser://"):
            # A remote client reads what its sessions have saved, whatever else lies in the server's folders.
            path = (session.services.limits.find_file(file) or session.artifacts.named(file)).path
        else:
            path = allowed_file(file, (*session.upload_dirs, session.output_dir))
        state = parse_state(await anyio.to_thread.run_sync(read_file, path), name=path.name)
    await put_state(ctx.session, state)
    return f"Loaded {count(state)}. Pages show it after reload."


@storage.action(reach="page", destructive=True, during_dialog=True)
async def clear_site_data(
    ctx: ActionContext,
    origin: str | None = Field(None, description="default: the page's"),
    all: bool = Field(False, description="all sites"),
) -> str:
    """Delete all that a site has stored: cookies, storage, databases, caches, workers."""
    if all:
        await clear_site(ctx.session, None)
        return "Deleted what all sites had stored, and the cache."
    origin = origin_of(origin or _site(ctx, None))
    await clear_site(ctx.session, origin)
    return f"Deleted what {origin} had stored."


def _logins(ctx: ActionContext) -> Logins:
    """The caller's named profiles. Raises NotFound: the server keeps none."""
    logins = ctx.session.services.limits.logins
    if logins is None:
        raise NotFound("This server keeps no profiles.", hint="It would with --profiles FOLDER. Use a file.")
    return logins


def _site(ctx: ActionContext, url: str | None) -> str:
    """The address that cookies are about; raises InvalidArguments."""
    address = url or ctx.tab.url
    if url and "://" not in url:
        address = f"https://{url}"
    if not address.startswith(("http://", "https://")):
        raise InvalidArguments(
            f"{cut_address(address)} has no cookies.", hint="Give 'url', or all=true to list all."
        )
    return address


def _shown(name: str, value: str, show: bool) -> str:
    return cut(Redactor(show=show).value(name, value), LONGEST)
