"""The groups of settings; a field is a setting, with its flag, its placeholder and its help."""

from typing import Annotated, Literal

from pydantic import SecretStr

from mcp_browser.settings import values
from mcp_browser.settings.values import Folder, Name, Placeholder, Seconds, SettingsGroup, UserPath, setting


class BrowserSettings(SettingsGroup):
    """Which browser runs, and what pages see of it."""

    browser: Annotated[Literal["chromium", "chrome", "msedge"], values.ChromiumFamily] = setting(
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
    viewport: values.Viewport = setting(
        "Size of the page, WIDTHxHEIGHT.", values.Viewport(width=1280, height=720)
    )
    device_scale: float | None = setting("Device pixels for each CSS pixel.", gt=0, le=8)
    locale: values.Locale | None = setting("Language and region of the browser, such as de-DE.")
    timezone: values.Timezone | None = setting("IANA time zone of the browser, such as Europe/Berlin.")
    user_agent: str | None = setting("User-Agent header and navigator.userAgent.")
    proxy: values.ProxyAddress | None = setting(
        "Proxy for all requests, such as http://user:secret@host:3128.", secret=True
    )
    ignore_https_errors: bool = setting(
        "Open pages whose TLS certificate is not trusted, such as a self-signed one.", False
    )
    device: Name | None = setting("Show pages as on this device of Playwright's list, such as 'iPhone 15'.")
    init_scripts: values.Paths = setting(
        "File of JavaScript to run in every document before its own; repeatable.", (), flag="init-script"
    )
    extra_headers: values.Headers = setting(
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
    browser_args: values.Words = setting(
        "Extra command-line argument for the browser; repeatable.", (), flag="browser-arg"
    )
    cdp_endpoint: values.CdpAddress | None = setting(
        "Drive the Chromium running at this CDP address, http:// or ws://; none is started.", secret=True
    )
    connect: values.OwnBrowser | None = setting(
        "Work in a Chrome, Edge, Brave or Chromium of yours that runs already, in tabs of its own: auto, "
        "chrome, chromium, edge, brave, or the path of a user data folder; none is started.",
        bare="auto",
    )
    connect_tabs: values.Destinations = setting(
        "Sites whose tabs of yours may be used, too, with connect, comma-separated: [scheme://]host[:port], "
        "such as *.example.com.",
        (),
    )
    browser_endpoint: values.BrowserEndpoint | None = setting(
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
    def selenium_grid(self) -> str | None:
        """The browser endpoint where it is that of a Selenium Grid."""
        endpoint = self.browser_endpoint
        return endpoint if endpoint is not None and endpoint.startswith("http") else None


class EgressSettings(SettingsGroup):
    """Where the browser may connect to."""

    allow_domains: values.Destinations = setting(
        "Only hosts that the browser may connect to, comma-separated: [scheme://]host[:port], such as "
        "*.example.com.",
        (),
    )
    block_domains: values.Destinations = setting(
        "Hosts that the browser may not connect to, also where they are allowed.", ()
    )
    block_private: bool | None = setting(
        "Block loopback, private, link-local and metadata addresses. Default: on over HTTP, off over "
        "standard input and output.",
    )
    allow_private: values.Destinations = setting(
        "Hosts that block-private does not block, such as 127.0.0.1:8080 or *.corp.", ()
    )

    def blocks_private(self, *, remote: bool) -> bool:
        """Whether private addresses are blocked; `remote`: for clients on other machines."""
        return remote if self.block_private is None else self.block_private

    def restricts(self, *, remote: bool) -> bool:
        """Whether there is anything that the browser may not connect to."""
        return bool(self.allow_domains or self.block_domains) or self.blocks_private(remote=remote)


class ServerSettings(SettingsGroup):
    """How the server runs, and where clients reach it."""

    http: bool = setting("Serve Streamable HTTP at /mcp, instead of standard input and output.", False)
    sse: bool = setting("Serve the older HTTP transport with Server-Sent Events at /sse.", False)
    host: values.Address = setting("Address to listen at.", "127.0.0.1", min_length=1)
    port: int = setting("Port to listen at; 0 for any free one.", 8585, ge=0, le=65535)
    path_prefix: values.PathPrefix = setting("Path before /mcp and /sse, such as /browser.", "")
    tls_cert: UserPath | None = setting("Certificate chain (PEM) to serve HTTPS with; needs tls-key.")
    tls_key: UserPath | None = setting("Private key (PEM) of tls-cert.")
    shutdown_timeout: Seconds = setting("Limit for running calls to end when the server stops, seconds.", 10)
    replica: values.Replica | None = setting(
        "Name that session handles start with, for a proxy before several servers."
    )
    view: bool = setting(
        "Serve a live view of the sessions at /view, to watch them and take them over; over stdio at a free "
        "port of the loopback. Its address is written to standard error.",
        False,
    )
    audit_log: UserPath | None = setting("File to log each call and action to, without secrets: JSON lines.")
    audit_log_size: int = setting(
        "Size at which a new audit log is started, MB; 5 are kept.", 10, ge=1, le=10_000
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "How much is logged, to standard error.", "warning"
    )


class AccessSettings(SettingsGroup):
    """Authentication and limits over HTTP."""

    tokens: UserPath | None = setting(
        "File of bearer tokens, a line `name: token` for each; read again when it changes."
    )
    token: SecretStr | None = setting(
        "A bearer token, or several as name:token, comma-separated.", variable_only=True, secret=True
    )
    oauth_issuer: values.Issuer | None = setting(
        "Take access tokens (JWT) of this OAuth 2.1 authorization server."
    )
    oauth_audience: Annotated[values.CommaList, Placeholder("AUDIENCE")] = setting(
        "Audience that access tokens must be for; comma-separated where several.", ()
    )
    oauth_scopes: Annotated[values.CommaList, Placeholder("SCOPES")] = setting(
        "Scopes that an access token must have, comma-separated.", ()
    )
    insecure: bool = setting("Allow non-loopback access without authentication.", False)
    public_url: values.PublicUrl | None = setting(
        "Address by which clients reach this server, where a proxy changes it."
    )
    allowed_hosts: values.HostNames = setting(
        "Names by which clients may reach this server, besides localhost and public-url.", ()
    )
    allowed_origins: values.Origins = setting(
        "Origins of web pages that may use this server, such as https://app.example.com.", ()
    )
    trusted_proxies: values.Networks = setting(
        "Addresses or networks of proxies whose X-Forwarded-* headers count.", ()
    )
    open_metrics: bool = setting("Show /metrics to everybody.", False)
    rate_limit: float = setting(
        "Requests a second for each caller, ten seconds' worth at once; 0 for no limit.",
        100,
        ge=0,
        le=1_000_000,
    )
    max_body: int = setting("Longest body of a request, MiB.", 16, ge=1, le=1024)
    max_connections: int = setting(
        "Most connections at a time; idle ones make room.", 1000, ge=1, le=1_000_000
    )
    max_connections_per_client: int | None = setting(
        "Most requests and streams of one client at a time, of one address without authentication. Default: "
        "half of max-connections.",
        ge=1,
        le=1_000_000,
    )
    client_timeout: Seconds = setting(
        "Limit for a client to send a request, or to take an answer, seconds.", 30
    )


class SessionSettings(SettingsGroup):
    """Browser sessions of the clients that come over HTTP."""

    max_sessions: int = setting("Most browser sessions at a time.", 64, ge=1, le=10_000)
    max_sessions_per_client: int | None = setting(
        "Most sessions of one authenticated client. Default: half of max-sessions.", ge=1, le=10_000
    )
    sessions_per_browser: int = setting("Most sessions that share one browser process.", 16, ge=1, le=1000)
    max_tabs: int = setting("Most tabs of one session.", 20, ge=1, le=1000)
    max_tabs_per_client: int | None = setting(
        "Most tabs of one authenticated client. Default: half of max-tabs-total.", ge=1, le=10_000
    )
    max_tabs_total: int = setting("Most tabs of all sessions.", 200, ge=1, le=10_000)
    max_disk_per_client: int | None = setting(
        "Most that the files of one client may take together, MB. Default: four times max-files-size.",
        ge=1,
        le=10_000_000,
    )
    idle_timeout: values.LongSeconds = setting(
        "Close a session that has not been called for so long, seconds; one of `do` as well. Over stdio only "
        "the browser of --tools browser_action.",
        1800,
    )
    lifetime: values.LongSeconds = setting("Close a session this long after its start, seconds.", 86_400)
    max_calls: int = setting("Most calls carried out at a time; others wait their turn.", 32, ge=1, le=10_000)
    max_waiting: int = setting(
        "Most calls that may wait in one session; more are refused.", 16, ge=1, le=10_000
    )
    profiles: Folder | None = setting("Folder of named profiles that keep logins between sessions.")


class AgentSettings(SettingsGroup):
    """The agent behind run_task."""

    model: str | None = setting(
        "Model for run_task, provider:name, such as anthropic:claude-sonnet-4-5. Default: the client's own, "
        "by sampling.",
    )
    allowed_models: values.Names = setting(
        "Models that a call may name instead, comma-separated globs such as anthropic:*. Default: any.", ()
    )
    model_url: values.ModelUrl | None = setting(
        "Address for the model: one that speaks OpenAI's protocol, or of its provider's."
    )
    model_output: Literal["tool", "json"] = setting(
        "How the model is asked for its actions: by a tool, or by a JSON schema.", "tool"
    )
    model_window: int | None = setting(
        "Tokens that the model takes. Default: what is known of it, else 128,000.", ge=1_000
    )
    model_temperature: float | None = setting("How freely the model answers. Default: its own.", ge=0, le=2)
    fallback_model: str | None = setting("Model to go on with when the first one fails.")
    judge: bool = setting("Let a model check what a task claims; without, no task succeeds.", True)
    judge_model: str | None = setting("Model that checks claims, provider:name. Default: that of the task.")
    gui_scale: Literal["pixels", "thousandths", "unit"] | None = setting(
        "A vision model's coordinates: pixels of the picture, thousandths or parts of its sides. Default: as "
        "the model's name says, else pixels.",
    )
    max_steps: int = setting("Most steps of a task.", 100, ge=1, le=1000)
    max_actions: int = setting("Most actions of one step.", 5, ge=1, le=50)
    max_failures: int = setting("Failed steps in a row that end a task.", 5, ge=1, le=100)
    model_timeout: Seconds = setting("Limit for one answer of the model, seconds.", 60)
    step_timeout: Seconds = setting("Limit for one step of a task, seconds.", 180)
    tasks_dir: Folder | None = setting("Folder for the histories of tasks. Default: per user.")
    tasks_days: float = setting("Days after which the folder of a task that has ended is deleted.", 90, gt=0)
    tasks_mb: float = setting("Megabytes of such folders; beyond, the oldest are deleted.", 2000, gt=0)
    step_pictures: bool = setting("Keep a small picture of each step of a task, for its report.", True)
    secrets: UserPath | None = setting("TOML file with secrets that tasks may use by name.")


class LimitSettings(SettingsGroup):
    """How long things may take, in seconds."""

    action_timeout: Seconds = setting("Limit for an element to become ready for an action, seconds.", 5)
    navigation_timeout: Seconds = setting("Limit for a page to start showing, seconds.", 15)
    settle_timeout: Seconds = setting("Longest wait for what an action has started, seconds.", 5)
    call_timeout: Seconds = setting("Limit for a whole tool call, seconds.", 60)
    takeover_wait: Seconds = setting(
        "How long a call waits for a person who has taken over the browser, seconds.", 45
    )


class ObservationSettings(SettingsGroup):
    """What a result shows of the page."""

    observe: Literal["changes", "full", "none"] = setting(
        "What the result of an action shows: what changed, the whole snapshot, or nothing.", "changes"
    )
    snapshot_budget: int = setting(
        "Longest snapshot, in tokens (about 4 characters).", 6000, ge=200, le=200_000
    )
    changes_budget: int = setting("Longest account of changes, in tokens.", 1500, ge=100, le=200_000)
    console: Literal["errors", "all", "none"] | None = setting(
        "Console messages in results: new errors, all new ones, or none. Default: errors; all "
        "where the mouse group is offered.",
    )
    show_secrets: bool = setting(
        "Show cookies, tokens and passwords in addresses, network, console and storage.", False
    )


class ScreenshotSettings(SettingsGroup):
    """Screenshots in results."""

    screenshots: Literal["on-demand", "always", "never"] = setting(
        "Attach a screenshot when asked for, with every result, or never.", "on-demand"
    )
    screenshot_format: Literal["jpeg", "png", "webp"] = setting("Image format of screenshots.", "jpeg")
    screenshot_quality: int = setting("Quality of jpeg and webp screenshots, 1 to 100.", 75, ge=1, le=100)
    screenshot_max_side: int = setting("Longest side of a screenshot, pixels.", 1568, ge=100, le=8000)


class ToolSettings(SettingsGroup):
    """Which actions are offered as tools."""

    tools: Annotated[values.CommaList, Placeholder("GROUPS")] = setting(
        "Tool groups to offer, comma-separated; `all` for every group of actions; `sessions` for several "
        "browser sessions over stdio, too.",
        ("core",),
    )
    exclude_actions: values.Names = setting("Actions not to offer, comma-separated.", ())
    actions: values.Paths = setting("Python file with actions of your own; repeatable.", ())
    plugins: bool = setting("Offer the actions of installed packages (entry points), too.", True)
    read_only: bool = setting(
        "Offer only what changes nothing on pages: reading, and opening addresses.", False
    )
    do_actions_all: bool = setting(
        "Let lists of actions (do_actions) run code, give away files and do what is destructive, too.", False
    )
    codegen: Literal["none", "python", "typescript"] = setting(
        "Add to each result its action as a statement of Playwright's.", "none"
    )
    policy: UserPath | None = setting(
        "TOML file that says which actions need a person's yes: docs/policy.md."
    )
    search_engine: values.SearchEngine = setting(
        "For search_web: duckduckgo, google, bing, or a URL with {query} in it.", "duckduckgo"
    )


class FileSettings(SettingsGroup):
    """Files that the server writes and reads."""

    output_dir: Folder | None = setting("Folder for downloads, PDFs and pictures. Default: a temporary one.")
    upload_dirs: values.Folders = setting(
        "Folder to allow uploads from; repeatable. Default: output-dir, and the working folder unless the "
        "home folder is in it.",
        (),
        flag="upload-dir",
    )
    max_files: int = setting("Most files a session keeps; the oldest ones go.", 100, ge=1, le=10_000)
    max_files_size: int = setting(
        "Most that a session's files may take together, MB.", 1000, ge=1, le=1_000_000
    )
    max_download_size: int | None = setting(
        "Largest download, MB; it is stopped there. Default: max-files-size.", ge=1, le=1_000_000
    )
    allow_file_urls: bool = setting("Let the browser open file:// addresses.", False)


class RecordingSettings(SettingsGroup):
    """Recordings of sessions."""

    record: Literal["none", "video", "trace"] = setting(
        "Record each session from its start to its end into output-dir: a video (WebM) or a trace of "
        "Playwright's.",
        "none",
    )
    record_minutes: float = setting("Longest recording, minutes; it is ended there.", 60, gt=0, le=1440)
    record_size: int = setting("Largest recording, MB; it is ended or cut there.", 200, ge=1, le=100_000)
