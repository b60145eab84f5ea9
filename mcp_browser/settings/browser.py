"""Settings of the browser: which one runs, and where it may connect to."""

from typing import Annotated, Literal

from mcp_browser.settings.values import (
    BrowserEndpoint,
    CdpAddress,
    ChromiumFamily,
    Destinations,
    Folder,
    Headers,
    Locale,
    Name,
    OwnBrowser,
    Paths,
    ProxyAddress,
    SettingsGroup,
    Timezone,
    UserPath,
    Viewport,
    Words,
    setting,
)


class BrowserSettings(SettingsGroup):
    """Which browser runs, and what pages see of it."""

    browser: Annotated[Literal["chromium", "chrome", "msedge"], ChromiumFamily] = setting(
        "Browser to drive.", "chromium"
    )
    executable: UserPath | None = setting("Path of the browser's executable, instead of looking for one.")
    channel: Name | None = setting("Release channel of an installed browser, such as chrome-beta.")
    headless: bool | None = setting(
        "Run without a window. Default: headed where there is a display, else headless.", off_flag="headed"
    )
    headless_shell: bool = setting(
        "Use Chromium's headless shell, where it is installed, for isolated and remote sessions without a "
        "window: half the work for a session; no PDF viewer, no notifications.",
        False,
    )
    sandbox: bool | None = setting(
        "Use the browser's process sandbox. Default: on, except for root on Linux."
    )
    profile: Folder | None = setting("Profile folder that keeps logins between runs. Default: per user.")
    isolated: bool = setting("Start from a clean, temporary profile that is deleted at the end.", False)
    profile_in_use: Literal["share", "error", "temporary"] = setting(
        "When another server has the profile: share its browser and logins, in separate tabs; fail with an "
        "explanation; or use a temporary profile.",
        "share",
    )
    viewport: Viewport = setting("Size of the page, WIDTHxHEIGHT.", Viewport(width=1280, height=720))
    device_scale: float | None = setting("Device pixels for each CSS pixel.", gt=0, le=8)
    locale: Locale | None = setting("Language and region of the browser, such as de-DE.")
    timezone: Timezone | None = setting("IANA time zone of the browser, such as Europe/Berlin.")
    user_agent: str | None = setting("User-Agent header and navigator.userAgent.")
    proxy: ProxyAddress | None = setting(
        "Proxy for all requests, such as http://user:secret@host:3128.", secret=True
    )
    ignore_https_errors: bool = setting(
        "Open pages whose TLS certificate is not trusted, such as a self-signed one.", False
    )
    device: Name | None = setting("Show pages as on this device of Playwright's list, such as 'iPhone 15'.")
    init_scripts: Paths = setting(
        "File of JavaScript to run in every document before its own; repeatable.", (), flag="init-script"
    )
    extra_headers: Headers = setting(
        "Header to send with every request, 'NAME: VALUE', to all sites alike; repeatable.",
        (),
        flag="extra-header",
        secret=True,
    )
    cookies: UserPath | None = setting(
        "File of cookies to start with: Netscape's format, JSON, or Playwright's storage state."
    )
    storage_state: UserPath | None = setting(
        "File of Playwright's with cookies and local storage that isolated sessions start with."
    )
    browser_args: Words = setting(
        "Extra command-line argument for the browser; repeatable.", (), flag="browser-arg"
    )
    cdp_endpoint: CdpAddress | None = setting(
        "Drive the Chromium running at this CDP address, http:// or ws://; none is started.", secret=True
    )
    connect: OwnBrowser | None = setting(
        "Work in a Chrome, Edge, Brave or Chromium of yours that runs already, in tabs of its own: auto, "
        "chrome, chromium, edge, brave, or the path of a user data folder; none is started.",
        bare="auto",
    )
    connect_tabs: Destinations = setting(
        "Sites whose tabs of yours may be used, too, with connect, comma-separated: [scheme://]host[:port], "
        "such as *.example.com.",
        (),
    )
    browser_endpoint: BrowserEndpoint | None = setting(
        "Use browsers of the Playwright server at this ws:// address, or of the Selenium Grid at this "
        "http:// one; none is started here.",
        secret=True,
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

    allow_domains: Destinations = setting(
        "Only hosts that the browser may connect to, comma-separated: [scheme://]host[:port], such as "
        "*.example.com.",
        (),
    )
    block_domains: Destinations = setting(
        "Hosts that the browser may not connect to, also where they are allowed.", ()
    )
    block_private: bool | None = setting(
        "Block loopback, private, link-local and metadata addresses. Default: on over HTTP, off over "
        "standard input and output.",
    )
    allow_private: Destinations = setting(
        "Hosts that block-private does not block, such as 127.0.0.1:8080 or *.corp.", ()
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
