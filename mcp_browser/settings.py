"""Settings: every option once, with its default, its limits and its documentation.

Flags, `MCP_BROWSER_*` variables and the configuration file all feed these models; the option tables in the
documentation are generated from them.
"""

import difflib
import fnmatch
import ipaddress
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import SplitResult, urlsplit
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    ValidationError,
    model_validator,
)

from mcp_browser.errors import SettingsError
from mcp_browser.hosts import THIS_MACHINE, HostPattern

LOCALE = r"^[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?$"
"""Language, script and region, as BCP 47 has them."""

# The message of a ValueError raised in this module completes the sentence "<setting> must be …".


def _split_commas(value: Any) -> Any:
    if isinstance(value, str):
        value = [value]
    return [part.strip() for item in value for part in item.split(",") if part.strip()]


def _split_words(value: Any) -> Any:
    try:
        return shlex.split(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("words as a shell takes them, each quote closed") from None


def _split_paths(value: Any) -> Any:
    return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value


def known_timezone(value: str) -> str:
    """The name of a time zone, if it is one.

    Raises:
        ValueError: it is none; the message completes `must be …`.
    """
    known = available_timezones()
    if known and value not in known:
        raise ValueError("an IANA time zone, such as Europe/Berlin")
    return value


def known_locale(value: str) -> str:
    """The name of a language and region, with hyphens, if it is written as one.

    Raises:
        ValueError: it is not; the message completes `must be …`.
    """
    if not re.match(LOCALE, value):
        raise ValueError("a language, or a language and region, such as de or de-DE")
    return value.replace("_", "-")


def _chromium_family(value: object) -> object:
    if value in ("firefox", "webkit"):
        raise ValueError("one of chromium, chrome, msedge (since 0.1.0 only the Chromium family is driven)")
    return value


def _proxy_address(value: str) -> str:
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        usable = parts.scheme in {"http", "https", "socks4", "socks5"} and parts.hostname and parts.port != 0
        # A word alone is seldom a host whose proxy listens where web servers do.
        usable = usable and ("://" in value or parts.port)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("an address such as http://host:3128 or socks5://host:1080")
    return value


def _cdp_address(value: str) -> str:
    if urlsplit(value).scheme not in {"http", "https", "ws", "wss"}:
        raise ValueError("an http://, https://, ws:// or wss:// address, such as http://127.0.0.1:9222")
    return value


OWN_BROWSERS = ("auto", "chrome", "chromium", "edge", "brave")
"""Whose running browser `connect` looks for; besides these it takes the path of a user data folder."""


def _own_browser(value: str) -> str:
    if value in OWN_BROWSERS:
        return value
    path = Path(value).expanduser()
    if len(path.parts) < 2 and not path.is_dir():  # noqa: PLR2004 - a folder and what is in it
        raise ValueError(f"one of {', '.join(OWN_BROWSERS)}, or the path of a user data folder")
    return str(path.absolute())


def _headers(lines: tuple[str, ...]) -> tuple[str, ...]:
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name.strip()) or not value.isprintable():
            # The value may be a key: it is not repeated.
            raise ValueError("lines such as 'X-Team: shop'")
    return lines


def _search_engine(value: str) -> str:
    if value not in {"duckduckgo", "google", "bing"} and not ("://" in value and "{query}" in value):
        raise ValueError("duckduckgo, google, bing, or a URL with {query} in it")
    return value


def _split_address(value: str) -> SplitResult | None:
    """The parts of an http address; None where it is none."""
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable and not parts.username and not parts.query and not parts.fragment else None


def _public_url(value: str) -> str:
    if _split_address(value) is None:
        raise ValueError("an address such as https://browser.example.com")
    return value.rstrip("/")


def _issuer(value: str) -> str:
    parts = _split_address(value)
    # Who could change the keys on their way could sign tokens of their own.
    if parts is None or (parts.scheme == "http" and parts.hostname not in THIS_MACHINE):
        raise ValueError("an https:// address (http:// on this machine only), exactly as the tokens name it")
    return value


def _host_names(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^\s/*:@\[\]]+)(:\d+)?", value):
            raise ValueError("names as they stand in addresses, with a port if only that one may be used")
    return values


def _origins(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        parts = _split_address(value)
        if parts is None or parts.path or "*" in value:
            raise ValueError("origins, each named in full, such as https://app.example.com")
    return values


def _destinations(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        HostPattern.parse(value)
    return values


def _networks(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        try:
            ipaddress.ip_network(value)
        except ValueError:
            raise ValueError("addresses or networks, such as 10.0.0.5 or 10.0.0.0/24") from None
    return values


def _browser_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"ws", "wss", "http", "https"} or not parts.hostname:
        raise ValueError("the ws:// address of a Playwright server or the http:// address of a Selenium Grid")
    return value


def _path_prefix(value: str) -> str:
    path = value.strip("/")
    if not re.fullmatch(r"[A-Za-z0-9._~/-]*", path) or "//" in path or ".." in path:
        raise ValueError("a path such as /browser")
    return f"/{path}" if path else ""


def _replica(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9-]{1,32}", value):
        raise ValueError("up to 32 letters, digits and hyphens")
    return value


Seconds = Annotated[float, Field(gt=0, le=3600)]
LongSeconds = Annotated[float, Field(gt=0, le=30 * 86_400)]
UserPath = Annotated[Path, AfterValidator(Path.expanduser)]
Paths = Annotated[tuple[UserPath, ...], BeforeValidator(_split_paths)]
CommaList = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
Destinations = Annotated[CommaList, AfterValidator(_destinations)]
Words = Annotated[tuple[str, ...], BeforeValidator(_split_words)]
Headers = Annotated[Words, AfterValidator(_headers)]

BARE = "bare"
"""Key in `json_schema_extra` for what the flag stands for where it has no value."""

VARIABLE_ONLY: dict[str, JsonValue] = {"variable_only": True}
"""Marks a setting that has neither a flag nor a key in the configuration file."""


class Viewport(BaseModel):
    """A size in CSS pixels; text such as `1280x720` is taken too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: int = Field(ge=100, le=10_000)
    height: int = Field(ge=100, le=10_000)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = re.fullmatch(r"(\d+)\s*[x,]\s*(\d+)", value.strip())
        if match is None:
            raise ValueError("WIDTHxHEIGHT, such as 1280x720")
        return {"width": int(match[1]), "height": int(match[2])}

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


class SettingsGroup(BaseModel):
    """A group of settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BrowserSettings(SettingsGroup):
    """Which browser runs, and what the page can tell about it."""

    browser: Annotated[Literal["chromium", "chrome", "msedge"], BeforeValidator(_chromium_family)] = Field(
        default="chromium", description="Browser to drive."
    )
    executable: UserPath | None = Field(
        default=None, description="Path of the browser's executable, instead of looking for one."
    )
    channel: str | None = Field(
        default=None, description="Release channel of an installed browser, such as chrome-beta."
    )
    headless: bool | None = Field(
        default=None,
        description="Run without a window. Default: headed where there is a display, else headless.",
    )
    headless_shell: bool = Field(
        default=False,
        description="Use Chromium's headless shell, where it is installed, for isolated and remote sessions "
        "without a window: half the work for a session; no PDF viewer, no notifications.",
    )
    sandbox: bool | None = Field(
        default=None, description="Use the browser's process sandbox. Default: on, except for root on Linux."
    )
    profile: UserPath | None = Field(
        default=None, description="Profile folder that keeps logins between runs. Default: per user."
    )
    isolated: bool = Field(
        default=False, description="Start from a clean, temporary profile that is deleted at the end."
    )
    profile_in_use: Literal["share", "error", "temporary"] = Field(
        default="share",
        description="When another server has the profile: share its browser and logins, with tabs of one's "
        "own; tell how to go on; or use a temporary profile.",
    )
    viewport: Viewport = Field(
        default=Viewport(width=1280, height=720), description="Size of the page, WIDTHxHEIGHT."
    )
    device_scale: float | None = Field(
        default=None, gt=0, le=8, description="Device pixels for each CSS pixel."
    )
    locale: Annotated[str, AfterValidator(known_locale)] | None = Field(
        default=None, description="Language and region of the browser, such as de-DE."
    )
    timezone: Annotated[str, AfterValidator(known_timezone)] | None = Field(
        default=None, description="IANA time zone of the browser, such as Europe/Berlin."
    )
    user_agent: str | None = Field(default=None, description="User-Agent header and navigator.userAgent.")
    proxy: Annotated[str, AfterValidator(_proxy_address)] | None = Field(
        default=None, repr=False, description="Proxy for all requests, such as http://user:secret@host:3128."
    )
    ignore_https_errors: bool = Field(
        default=False,
        description="Open pages whose TLS certificate is not trusted, such as a self-signed one.",
    )
    device: str | None = Field(
        default=None, description="Show pages as on this device of Playwright's list, such as 'iPhone 15'."
    )
    init_scripts: Paths = Field(
        default=(), description="File of JavaScript to run in every document before its own; repeatable."
    )
    extra_headers: Headers = Field(
        default=(),
        repr=False,
        description="Header to send with every request, 'NAME: VALUE', to all sites alike; repeatable.",
    )
    cookies: UserPath | None = Field(
        default=None,
        description="File of cookies to start with: Netscape's format, JSON, or Playwright's storage state.",
    )
    storage_state: UserPath | None = Field(
        default=None,
        description="File of Playwright's with cookies and local storage that isolated sessions start with.",
    )
    browser_args: Words = Field(
        default=(), description="Extra command-line argument for the browser; repeatable."
    )
    cdp_endpoint: Annotated[str, AfterValidator(_cdp_address)] | None = Field(
        default=None,
        repr=False,
        description="Drive the Chromium running at this CDP address, http:// or ws://; none is started.",
    )
    connect: Annotated[str, AfterValidator(_own_browser)] | None = Field(
        default=None,
        json_schema_extra={BARE: "auto"},
        description="Work in a Chrome, Edge, Brave or Chromium of yours that runs already, in tabs of its "
        "own: auto, chrome, chromium, edge, brave, or the path of a user data folder; none is started.",
    )
    connect_tabs: Destinations = Field(
        default=(),
        description="Sites whose tabs of yours may be used, too, with connect, comma-separated: "
        "[scheme://]host[:port], such as *.example.com.",
    )
    browser_endpoint: Annotated[str, AfterValidator(_browser_address)] | None = Field(
        default=None,
        repr=False,
        description="Use browsers of the Playwright server at this ws:// address, or of the Selenium Grid at "
        "this http:// one; none is started here.",
    )

    @property
    def prepares_pages(self) -> bool:
        """Whether contexts get scripts, headers or cookies when they are made."""
        return bool(self.init_scripts or self.extra_headers or self.cookies)

    @property
    def starts_browser(self) -> bool:
        """Whether the browser is started here."""
        return self.browser_endpoint is None and not self.runs_already

    @property
    def runs_already(self) -> bool:
        """Whether the browser is one that somebody else has started, with what it has of its own."""
        return self.cdp_endpoint is not None or self.connect is not None

    @property
    def not_for_connect(self) -> tuple[str, ...]:
        """The settings that are given and say what only a browser can be that is started here."""
        fit = {"connect", "connect_tabs", "init_scripts", "extra_headers"}
        given = self.model_fields_set - fit if self.connect is not None else ()
        return tuple(name for name in type(self).model_fields if name in given)

    @property
    def selenium_grid(self) -> str | None:
        """The browser endpoint where it is that of a Selenium Grid."""
        endpoint = self.browser_endpoint
        return endpoint if endpoint is not None and endpoint.startswith("http") else None


class EgressSettings(SettingsGroup):
    """Where the browser may connect to."""

    allow_domains: Destinations = Field(
        default=(),
        description="Only hosts that the browser may connect to, comma-separated: [scheme://]host[:port], "
        "such as *.example.com.",
    )
    block_domains: Destinations = Field(
        default=(), description="Hosts that the browser may not connect to, also where they are allowed."
    )
    block_private: bool | None = Field(
        default=None,
        description="Block loopback, private, link-local and metadata addresses. Default: on over HTTP, off "
        "over standard input and output.",
    )
    allow_private: Destinations = Field(
        default=(), description="Hosts that block-private does not block, such as 127.0.0.1:8080 or *.corp."
    )

    def blocks_private(self, *, remote: bool) -> bool:
        """Whether private addresses are blocked; `remote`: for clients on other machines."""
        return remote if self.block_private is None else self.block_private

    def restricts(self, *, remote: bool) -> bool:
        """Whether there is anything that the browser may not connect to."""
        return bool(self.allow_domains or self.block_domains) or self.blocks_private(remote=remote)

    @property
    def named(self) -> tuple[str, ...]:
        """The settings that restrict where the browser may connect to, those by default left out."""
        return tuple(
            name for name in ("allow_domains", "block_domains", "block_private") if getattr(self, name)
        )


class LimitSettings(SettingsGroup):
    """How long things may take, in seconds."""

    action_timeout: Seconds = Field(
        default=5, description="Limit for an element to become ready for an action, seconds."
    )
    navigation_timeout: Seconds = Field(default=15, description="Limit for a page to start showing, seconds.")
    settle_timeout: Seconds = Field(
        default=5, description="Longest wait for what an action has started, seconds."
    )
    call_timeout: Seconds = Field(default=60, description="Limit for a whole tool call, seconds.")
    takeover_wait: Seconds = Field(
        default=45,
        description="How long a call waits for a person who has taken over the browser, seconds.",
    )


class ObservationSettings(SettingsGroup):
    """What a result shows of the page."""

    observe: Literal["changes", "full", "none"] = Field(
        default="changes",
        description="What the result of an action shows: what changed, the whole snapshot, or nothing.",
    )
    snapshot_budget: int = Field(
        default=6000, ge=200, le=200_000, description="Longest snapshot, in tokens (about 4 characters)."
    )
    changes_budget: int = Field(
        default=1500, ge=100, le=200_000, description="Longest account of changes, in tokens."
    )
    console: Literal["errors", "all", "none"] | None = Field(
        default=None,
        description="What results tell of the console: new errors, all new messages, or nothing. "
        "Default: errors; all where the mouse group is offered.",
    )
    show_secrets: bool = Field(
        default=False,
        description="Show cookies, tokens and passwords in addresses, network, console and storage.",
    )


class ScreenshotSettings(SettingsGroup):
    """Screenshots in results."""

    screenshots: Literal["on-demand", "always", "never"] = Field(
        default="on-demand", description="Attach a screenshot when asked for, with every result, or never."
    )
    screenshot_format: Literal["jpeg", "png", "webp"] = Field(
        default="jpeg", description="Image format of screenshots."
    )
    screenshot_quality: int = Field(
        default=75, ge=1, le=100, description="Quality of jpeg and webp screenshots, 1 to 100."
    )
    screenshot_max_side: int = Field(
        default=1568, ge=100, le=8000, description="Longest side of a screenshot, pixels."
    )


class ToolSettings(SettingsGroup):
    """Which actions are offered as tools."""

    tools: CommaList = Field(
        default=("core",),
        description="Tool groups to offer, comma-separated; `all` for every group of actions; `sessions` for "
        "several browser sessions over stdio, too.",
    )
    exclude_actions: CommaList = Field(default=(), description="Actions not to offer, comma-separated.")
    actions: Paths = Field(default=(), description="Python file with actions of your own; repeatable.")
    plugins: bool = Field(
        default=True, description="Offer the actions of installed packages (entry points), too."
    )
    read_only: bool = Field(
        default=False, description="Offer only what changes nothing on pages: reading, and opening addresses."
    )
    codegen: Literal["none", "python", "typescript"] = Field(
        default="none", description="Add to each result its action as a statement of Playwright's."
    )
    policy: UserPath | None = Field(
        default=None, description="TOML file that says which actions need a person's yes: docs/policy.md."
    )
    search_engine: Annotated[str, AfterValidator(_search_engine)] = Field(
        default="duckduckgo",
        description="For search_web: duckduckgo, google, bing, or a URL with {query} in it.",
    )


class FileSettings(SettingsGroup):
    """Files that the server writes and reads."""

    output_dir: UserPath | None = Field(
        default=None, description="Folder for downloads, PDFs and pictures. Default: a temporary one."
    )
    upload_dirs: Paths = Field(
        default=(),
        description="Folder to allow uploads from; repeatable. Default: output-dir, and the working folder "
        "unless the home folder is in it.",
    )
    max_files: int = Field(
        default=100, ge=1, le=10_000, description="Most files a session keeps; the oldest ones go."
    )
    max_files_size: int = Field(
        default=1000, ge=1, le=1_000_000, description="Most that a session's files may take together, MB."
    )
    max_download_size: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Largest download, MB; it is stopped there. Default: max-files-size.",
    )
    allow_file_urls: bool = Field(default=False, description="Let the browser open file:// addresses.")


class RecordingSettings(SettingsGroup):
    """Recordings of sessions."""

    record: Literal["none", "video", "trace"] = Field(
        default="none",
        description="Record each session from its start to its end into output-dir: a video (WebM) or "
        "a trace of Playwright's.",
    )
    record_minutes: float = Field(
        default=60, gt=0, le=1440, description="Longest recording, minutes; it is ended there."
    )
    record_size: int = Field(
        default=200, ge=1, le=100_000, description="Largest recording, MB; it is ended or cut there."
    )


class AgentSettings(SettingsGroup):
    """The agent behind run_task."""

    model: str | None = Field(
        default=None,
        description="Model for run_task, provider:name, such as anthropic:claude-sonnet-4-5. "
        "Default: the client's own, by sampling.",
    )
    allowed_models: CommaList = Field(
        default=(),
        description="Models that a call may name instead, comma-separated globs such as anthropic:*. "
        "Default: any.",
    )
    model_url: str | None = Field(
        default=None, description="Address that speaks OpenAI's protocol, for a model of your own."
    )
    model_output: Literal["tool", "json"] = Field(
        default="tool", description="How the model is asked for its actions: by a tool, or by a JSON schema."
    )
    model_window: int | None = Field(
        default=None,
        ge=1_000,
        description="Tokens that the model takes. Default: what is known of it, else 128,000.",
    )
    model_temperature: float | None = Field(
        default=None, ge=0, le=2, description="How freely the model answers. Default: its own."
    )
    fallback_model: str | None = Field(
        default=None, description="Model to go on with when the first one fails."
    )
    judge: bool = Field(
        default=True,
        description="Let a model check what a task claims, where it can; rules always do.",
    )
    judge_model: str | None = Field(
        default=None,
        description="Model that checks claims, provider:name. Default: that of the task.",
    )
    gui_scale: Literal["pixels", "thousandths", "unit"] | None = Field(
        default=None,
        description="A vision model's coordinates: pixels of the picture, thousandths or parts of its sides. "
        "Default: as the model's name says, else pixels.",
    )
    max_steps: int = Field(default=100, ge=1, le=1000, description="Most steps of a task.")
    max_actions: int = Field(default=5, ge=1, le=50, description="Most actions of one step.")
    max_failures: int = Field(default=5, ge=1, le=100, description="Failed steps in a row that end a task.")
    model_timeout: Seconds = Field(default=60, description="Limit for one answer of the model, seconds.")
    step_timeout: Seconds = Field(default=180, description="Limit for one step of a task, seconds.")
    tasks_dir: UserPath | None = Field(
        default=None, description="Folder for the histories of tasks. Default: per user."
    )
    tasks_days: float = Field(
        default=90, gt=0, description="Days after which the folder of a task that has ended is deleted."
    )
    tasks_mb: float = Field(
        default=2_000, gt=0, description="Megabytes of such folders; beyond, the oldest are deleted."
    )
    step_pictures: bool = Field(
        default=True, description="Keep a small picture of each step of a task, for its report."
    )
    secrets: UserPath | None = Field(
        default=None, description="TOML file with secrets that tasks may use by name."
    )


class ServerSettings(SettingsGroup):
    """How the server runs, and where clients reach it."""

    http: bool = Field(
        default=False, description="Serve Streamable HTTP at /mcp, instead of standard input and output."
    )
    sse: bool = Field(
        default=False, description="Serve the older HTTP transport with Server-Sent Events at /sse."
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen at.")
    port: int = Field(default=8585, ge=0, le=65535, description="Port to listen at; 0 for any free one.")
    path_prefix: Annotated[str, AfterValidator(_path_prefix)] = Field(
        default="", description="Path before /mcp and /sse, such as /browser."
    )
    tls_cert: UserPath | None = Field(
        default=None, description="Certificate chain (PEM) to serve HTTPS with; needs tls-key."
    )
    tls_key: UserPath | None = Field(default=None, description="Private key (PEM) of tls-cert.")
    shutdown_timeout: Seconds = Field(
        default=10, description="Limit for running calls to end when the server is told to stop, seconds."
    )
    replica: Annotated[str, AfterValidator(_replica)] | None = Field(
        default=None,
        description="Name that session handles start with, for a proxy before several servers.",
    )
    view: bool = Field(
        default=False,
        description="Serve a live view of the sessions at /view, to watch them and take them over; over "
        "stdio at a free port of the loopback. Its address is told on standard error.",
    )
    audit_log: UserPath | None = Field(
        default=None, description="File that tells of each call and action, without secrets: JSON lines."
    )
    audit_log_size: int = Field(
        default=10, ge=1, le=10_000, description="Size at which the audit log is begun anew, MB; 5 are kept."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning", description="How much is logged, to standard error."
    )


class AccessSettings(SettingsGroup):
    """Who may come in over HTTP, and how much at a time."""

    tokens: UserPath | None = Field(
        default=None,
        description="File of bearer tokens, a line `name: token` for each; read again when it changes.",
    )
    token: SecretStr | None = Field(
        default=None,
        repr=False,
        json_schema_extra=VARIABLE_ONLY,
        description="A bearer token, or several as name:token, comma-separated.",
    )
    oauth_issuer: Annotated[str, AfterValidator(_issuer)] | None = Field(
        default=None, description="Take access tokens (JWT) of this OAuth 2.1 authorization server."
    )
    oauth_audience: CommaList = Field(
        default=(), description="Audience that access tokens must be for; comma-separated where several."
    )
    oauth_scopes: CommaList = Field(
        default=(), description="Scopes that an access token must have, comma-separated."
    )
    insecure: bool = Field(
        default=False, description="Serve beyond this machine although nobody has to say who they are."
    )
    public_url: Annotated[str, AfterValidator(_public_url)] | None = Field(
        default=None, description="Address by which clients reach this server, where a proxy changes it."
    )
    allowed_hosts: Annotated[CommaList, AfterValidator(_host_names)] = Field(
        default=(),
        description="Names by which clients may reach this server, besides localhost and public-url.",
    )
    allowed_origins: Annotated[CommaList, AfterValidator(_origins)] = Field(
        default=(),
        description="Origins of web pages that may use this server, such as https://app.example.com.",
    )
    trusted_proxies: Annotated[CommaList, AfterValidator(_networks)] = Field(
        default=(), description="Addresses or networks of proxies whose X-Forwarded-* headers count."
    )
    open_metrics: bool = Field(default=False, description="Show /metrics to everybody.")
    rate_limit: float = Field(
        default=100,
        ge=0,
        le=1_000_000,
        description="Requests a second for each caller, ten seconds' worth at once; 0 for no limit.",
    )
    max_body: int = Field(default=16, ge=1, le=1024, description="Longest body of a request, MiB.")
    max_connections: int = Field(
        default=1000, ge=1, le=1_000_000, description="Most connections at a time; idle ones make room."
    )
    max_connections_per_client: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Most requests and streams of one client at a time, of one address where nobody is "
        "asked. Default: half of max-connections.",
    )
    client_timeout: Seconds = Field(
        default=30, description="Limit for a client to send a request, or to take an answer, seconds."
    )


class SessionSettings(SettingsGroup):
    """Browser sessions of the clients that come over HTTP."""

    max_sessions: int = Field(default=64, ge=1, le=10_000, description="Most browser sessions at a time.")
    max_sessions_per_client: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Most sessions of one authenticated client. Default: half of max-sessions.",
    )
    sessions_per_browser: int = Field(
        default=16, ge=1, le=1000, description="Most sessions that share one browser process."
    )
    max_tabs: int = Field(default=20, ge=1, le=1000, description="Most tabs of one session.")
    max_tabs_per_client: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Most tabs of one authenticated client. Default: half of max-tabs-total.",
    )
    max_tabs_total: int = Field(default=200, ge=1, le=10_000, description="Most tabs of all sessions.")
    max_disk_per_client: int | None = Field(
        default=None,
        ge=1,
        le=10_000_000,
        description="Most that the files of one client may take together, MB. "
        "Default: four times max-files-size.",
    )
    idle_timeout: LongSeconds = Field(
        default=1800,
        description="Close a session that has not been called for so long, seconds. Over stdio only the "
        "browser of --tools browser_action.",
    )
    lifetime: LongSeconds = Field(
        default=86_400, description="Close a session this long after its start, seconds."
    )
    max_calls: int = Field(
        default=32, ge=1, le=10_000, description="Most calls carried out at a time; others wait their turn."
    )
    max_waiting: int = Field(
        default=16, ge=1, le=10_000, description="Most calls that may wait in one session; more are refused."
    )
    profiles: UserPath | None = Field(
        default=None, description="Folder of named profiles that keep logins between sessions."
    )


PER_PRINCIPAL = frozenset(
    (
        "tools exclude_actions read_only policy show_secrets "
        "allow_domains block_domains block_private allow_private "
        "max_files max_files_size max_download_size output_dir upload_dirs "
        "model allowed_models model_url model_output model_window model_temperature fallback_model gui_scale "
        "max_steps max_actions max_failures model_timeout step_timeout step_pictures secrets "
        "action_timeout navigation_timeout settle_timeout call_timeout takeover_wait "
        "max_sessions_per_client max_tabs max_tabs_per_client max_disk_per_client max_waiting idle_timeout "
        "lifetime max_connections_per_client rate_limit view audit_log"
    ).split()
)
"""The settings, by their fields' names, that may be given for some principals only."""


class PrincipalSettings(SettingsGroup):
    """What is different for principals whose name fits a glob.

    `values` are fields of groups of settings, by the group's name, as the groups hold them.
    """

    pattern: str
    values: Mapping[str, Mapping[str, Any]]


class Settings(SettingsGroup):
    """All settings of one server."""

    browser: BrowserSettings = BrowserSettings()
    egress: EgressSettings = EgressSettings()
    limits: LimitSettings = LimitSettings()
    observation: ObservationSettings = ObservationSettings()
    screenshots: ScreenshotSettings = ScreenshotSettings()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
    recording: RecordingSettings = RecordingSettings()
    agent: AgentSettings = AgentSettings()
    server: ServerSettings = ServerSettings()
    sessions: SessionSettings = SessionSettings()
    access: AccessSettings = AccessSettings()
    principals: tuple[PrincipalSettings, ...] = ()

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Settings by the names that docs/settings.md has, `_` for `-`: `Settings.of(headless=False)`.

        Raises:
            SettingsError: there is no such setting, or it cannot have that value.
        """
        groups: dict[str, dict[str, Any]] = {}
        homes = {
            name: group
            for group, field in cls.model_fields.items()
            if isinstance(field.default, SettingsGroup)
            for name in type(field.default).model_fields
        }
        for name, value in values.items():
            if name not in homes:
                near = difflib.get_close_matches(name, homes, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise SettingsError(f"there is no setting {name!r}.{hint}")
            groups.setdefault(homes[name], {})[name] = value
        try:
            return cls.model_validate(groups)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            wrong = problem.get("ctx", {}).get("error")
            said = f" must be {wrong}" if isinstance(wrong, ValueError) else f": {problem['msg']}"
            raise SettingsError(f"{problem['loc'][1]}{said}.") from None

    def of_principal(self, name: str) -> "Settings":
        """The settings that hold for a principal; of several that fit its name, a later one wins."""
        return self._with(self.fitting(name))

    @property
    def variants(self) -> tuple["Settings", ...]:
        """These, and those that each table for principals makes of them."""
        return (self, *(self._with((own,)) for own in self.principals))

    def _with(self, tables: tuple[PrincipalSettings, ...]) -> "Settings":
        changed: dict[str, Any] = {}
        for own in tables:
            for group, values in own.values.items():
                changed[group] = changed.get(group, getattr(self, group)).model_copy(update=dict(values))
        return self.model_copy(update=changed)

    def fitting(self, name: str) -> tuple[PrincipalSettings, ...]:
        """What is different for a principal of this name."""
        return tuple(own for own in self.principals if fnmatch.fnmatchcase(name, own.pattern))

    @property
    def console_told(self) -> Literal["errors", "all", "none"]:
        """What results tell of the console."""
        sees = not {"mouse", "browser_action", "all"}.isdisjoint(self.tools.tools)
        return self.observation.console or ("all" if sees else "errors")
