"""How a setting is declared, and the types of its value.

The message of a ValueError raised here completes the sentence "<setting> must be …".
"""

import ipaddress
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from mcp_browser.hosts import THIS_MACHINE, HostPattern

LOCALE = r"^[A-Za-z]{2,3}([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|[0-9]{3}))?$"
"""Language, script and region, as BCP 47 has them."""

OWN_BROWSERS = ("auto", "chrome", "chromium", "edge", "brave")
"""Whose running browser `connect` looks for; besides these it takes the path of a user data folder."""


class SettingsGroup(BaseModel):
    """A group of settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """In a type: what stands for the value in the help, such as FOLDER."""

    text: str


def setting(description: str, default: object = None, *, secret: bool = False, **more: Any) -> Any:
    """Declare a setting.

    Args:
        description: one sentence for `--help` and the documentation.
        default: its value where no source gives one.
        secret: its value may hold a password, and is left out of messages.
        more: limits that pydantic checks (`ge`, `le`, …), and how the setting is written where that does not
            follow from its name: `flag` and `off_flag` without dashes, `bare` for the value of a flag without
            one, `variable_only` where it has neither a flag nor a key in the configuration file.
    """
    names = ("flag", "off_flag", "bare", "variable_only")
    written: dict[str, JsonValue] = {name: more.pop(name) for name in names if name in more}
    return Field(default=default, description=description, repr=not secret, json_schema_extra=written, **more)


def _must_be(allowed: str, fits: Callable[[Any], object]) -> AfterValidator:
    """Refuse a value, or one of several, that `fits` is not true of, or raises a ValueError for."""

    def is_right(value: Any) -> bool:
        try:
            return bool(fits(value))
        except ValueError:
            return False

    def check(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not all(map(is_right, value if isinstance(value, tuple) else (value,))):
            raise ValueError(allowed)
        return value

    return AfterValidator(check)


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
    """Return the name of a time zone. Raises ValueError, whose message completes `must be …`."""
    known = available_timezones()
    if known and value not in known:
        raise ValueError("an IANA time zone, such as Europe/Berlin")
    return value


def known_locale(value: str) -> str:
    """Return the name of a language and region, with hyphens. Raises ValueError as `known_timezone` does."""
    if not re.match(LOCALE, value):
        raise ValueError("a language, or a language and region, such as de or de-DE")
    return value.replace("_", "-")


def _chromium_family(value: object) -> object:
    if value in ("firefox", "webkit"):
        raise ValueError("one of chromium, chrome, msedge (since 0.1.0 only the Chromium family is driven)")
    return value


def proxy_parts(value: str) -> SplitResult:
    """The parts of a proxy's address, whose scheme is http where it has none."""
    return urlsplit(value if "://" in value else f"http://{value}")


def _is_proxy(value: str) -> object:
    parts = proxy_parts(value)
    usable = parts.scheme in {"http", "https", "socks4", "socks5"} and parts.hostname and parts.port != 0
    # A word alone is seldom a host whose proxy listens where web servers do.
    return usable and ("://" in value or parts.port)


def _has_scheme(*schemes: str) -> Callable[[str], bool]:
    """Return what is true of an address with a host and one of these schemes."""

    def has_scheme(value: str) -> bool:
        parts = urlsplit(value)
        return parts.scheme in schemes and bool(parts.hostname)

    return has_scheme


def _is_search(value: str) -> bool:
    return value in {"duckduckgo", "google", "bing"} or ("://" in value and "{query}" in value)


def _matches(pattern: str) -> Callable[[str], object]:
    return re.compile(pattern).fullmatch


def _own_browser(value: str) -> str:
    if value in OWN_BROWSERS:
        return value
    path = Path(value).expanduser()
    if len(path.parts) < 2 and not path.is_dir():  # noqa: PLR2004 - a folder and what is in it
        raise ValueError(f"one of {', '.join(OWN_BROWSERS)}, or the path of a user data folder")
    return str(path.absolute())


def _is_header(line: str) -> bool:
    name, colon, value = line.partition(":")
    return bool(colon and re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name.strip())) and value.isprintable()


def _split_address(value: str) -> SplitResult | None:
    """The parts of an http address; None, or a ValueError, where it is none."""
    parts = urlsplit(value)
    usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    return parts if usable and not parts.username and not parts.query and not parts.fragment else None


def _is_issuer(value: str) -> bool:
    parts = _split_address(value)
    # Who could change the keys on their way could sign tokens of their own.
    return parts is not None and (parts.scheme == "https" or parts.hostname in THIS_MACHINE)


def _is_origin(value: str) -> bool:
    parts = _split_address(value)
    return parts is not None and not parts.path and "*" not in value


def _each_parsed(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        HostPattern.parse(value)
    return values


def _with_slash(value: str) -> str:
    path = value.strip("/")
    if not re.fullmatch(r"[A-Za-z0-9._~/-]*", path) or "//" in path or ".." in path:
        raise ValueError("a path such as /browser")
    return f"/{path}" if path else ""


Seconds = Annotated[float, Field(gt=0, le=3600), Placeholder("SECONDS")]
LongSeconds = Annotated[float, Field(gt=0, le=30 * 86_400), Placeholder("SECONDS")]
UserPath = Annotated[Path, AfterValidator(Path.expanduser)]
Paths = Annotated[tuple[UserPath, ...], BeforeValidator(_split_paths)]
Folder = Annotated[UserPath, Placeholder("FOLDER")]
Folders = Annotated[Paths, Placeholder("FOLDER")]
CommaList = Annotated[tuple[str, ...], BeforeValidator(_split_commas)]
Words = Annotated[tuple[str, ...], BeforeValidator(_split_words)]
Name = Annotated[str, Placeholder("NAME")]
Names = Annotated[CommaList, Placeholder("NAMES")]
Address = Annotated[str, Placeholder("ADDRESS")]
ModelUrl = Annotated[
    Address,
    _must_be(
        "an http:// or https:// address, such as http://127.0.0.1:8080/v1", _has_scheme("http", "https")
    ),
]
ChromiumFamily = BeforeValidator(_chromium_family)
Locale = Annotated[str, AfterValidator(known_locale), Placeholder("LOCALE")]
Timezone = Annotated[str, AfterValidator(known_timezone), Placeholder("ZONE")]
Destinations = Annotated[CommaList, AfterValidator(_each_parsed), Placeholder("HOSTS")]
Headers = Annotated[Words, _must_be("lines such as 'X-Team: shop'", _is_header), Placeholder("HEADER")]
OwnBrowser = Annotated[str, AfterValidator(_own_browser), Placeholder("[BROWSER]")]
PathPrefix = Annotated[str, AfterValidator(_with_slash), Placeholder("PATH")]
Replica = Annotated[Name, _must_be("up to 32 letters, digits and hyphens", _matches("[A-Za-z0-9-]{1,32}"))]
ProxyAddress = Annotated[
    Address, _must_be("an address such as http://host:3128 or socks5://host:1080", _is_proxy)
]
CdpAddress = Annotated[
    Address,
    _must_be(
        "an http://, https://, ws:// or wss:// address, such as http://127.0.0.1:9222",
        _has_scheme("http", "https", "ws", "wss"),
    ),
]
BrowserEndpoint = Annotated[
    Address,
    _must_be(
        "the ws:// address of a Playwright server or the http:// address of a Selenium Grid",
        _has_scheme("http", "https", "ws", "wss"),
    ),
]
SearchEngine = Annotated[
    str, _must_be("duckduckgo, google, bing, or a URL with {query} in it", _is_search), Placeholder("ENGINE")
]
PublicUrl = Annotated[
    Address,
    _must_be("an address such as https://browser.example.com", _split_address),
    AfterValidator(lambda value: value.rstrip("/")),
]
Issuer = Annotated[
    Address,
    _must_be("an https:// address (http:// on this machine only), exactly as the tokens name it", _is_issuer),
]
HostNames = Annotated[
    Names,
    _must_be(
        "names as they stand in addresses, with a port if only that one may be used",
        _matches(r"(\[[0-9a-fA-F:.]+\]|[^\s/*:@\[\]]+)(:\d+)?"),
    ),
]
Origins = Annotated[
    CommaList,
    _must_be("origins, each named in full, such as https://app.example.com", _is_origin),
    Placeholder("ORIGINS"),
]
Networks = Annotated[
    CommaList,
    _must_be("addresses or networks, such as 10.0.0.5 or 10.0.0.0/24", ipaddress.ip_network),
    Placeholder("ADDRESSES"),
]


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
