"""Settings of the server: transports, access, and the sessions of its clients."""

from typing import Annotated, Literal

from pydantic import SecretStr

from mcp_browser.settings.values import (
    Address,
    CommaList,
    Folder,
    HostNames,
    Issuer,
    LongSeconds,
    Networks,
    Origins,
    PathPrefix,
    Placeholder,
    PublicUrl,
    Replica,
    Seconds,
    SettingsGroup,
    UserPath,
    setting,
)


class ServerSettings(SettingsGroup):
    """How the server runs, and where clients reach it."""

    http: bool = setting("Serve Streamable HTTP at /mcp, instead of standard input and output.", False)
    sse: bool = setting("Serve the older HTTP transport with Server-Sent Events at /sse.", False)
    host: Address = setting("Address to listen at.", "127.0.0.1", min_length=1)
    port: int = setting("Port to listen at; 0 for any free one.", 8585, ge=0, le=65535)
    path_prefix: PathPrefix = setting("Path before /mcp and /sse, such as /browser.", "")
    tls_cert: UserPath | None = setting("Certificate chain (PEM) to serve HTTPS with; needs tls-key.")
    tls_key: UserPath | None = setting("Private key (PEM) of tls-cert.")
    shutdown_timeout: Seconds = setting("Limit for running calls to end when the server stops, seconds.", 10)
    replica: Replica | None = setting(
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
    oauth_issuer: Issuer | None = setting("Take access tokens (JWT) of this OAuth 2.1 authorization server.")
    oauth_audience: Annotated[CommaList, Placeholder("AUDIENCE")] = setting(
        "Audience that access tokens must be for; comma-separated where several.", ()
    )
    oauth_scopes: Annotated[CommaList, Placeholder("SCOPES")] = setting(
        "Scopes that an access token must have, comma-separated.", ()
    )
    insecure: bool = setting("Allow non-loopback access without authentication.", False)
    public_url: PublicUrl | None = setting(
        "Address by which clients reach this server, where a proxy changes it."
    )
    allowed_hosts: HostNames = setting(
        "Names by which clients may reach this server, besides localhost and public-url.", ()
    )
    allowed_origins: Origins = setting(
        "Origins of web pages that may use this server, such as https://app.example.com.", ()
    )
    trusted_proxies: Networks = setting(
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
    idle_timeout: LongSeconds = setting(
        "Close a session that has not been called for so long, seconds; one of `do` as well. Over stdio only "
        "the browser of --tools browser_action.",
        1800,
    )
    lifetime: LongSeconds = setting("Close a session this long after its start, seconds.", 86_400)
    max_calls: int = setting("Most calls carried out at a time; others wait their turn.", 32, ge=1, le=10_000)
    max_waiting: int = setting(
        "Most calls that may wait in one session; more are refused.", 16, ge=1, le=10_000
    )
    profiles: Folder | None = setting("Folder of named profiles that keep logins between sessions.")
