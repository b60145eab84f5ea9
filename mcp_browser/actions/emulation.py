"""Emulate other devices, places and networks."""

import re
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, field_validator

from mcp_browser.actions.registry import ActionParams, Registry
from mcp_browser.actions.result import ActionContext
from mcp_browser.browser.emulation import Emulation, Geolocation, Network, Overrides
from mcp_browser.browser.process.launch import find_device
from mcp_browser.dom.models import Size
from mcp_browser.errors import InvalidArguments
from mcp_browser.settings.values import LOCALE

emulation = Registry(group="emulation")

LARGEST = 10_000
NORTH, EAST = 90, 180
_SEEN_WHILE_LOADING = ("user_agent", "locale", "touch", "mobile")


def _size(given: object) -> Size:
    found = re.fullmatch(r"\s*(\d{1,5})\s*[xX,]\s*(\d{1,5})\s*", str(given))
    if found is None or not all(1 <= int(side) <= LARGEST for side in found.groups()):
        raise ValueError(f"a size such as 390x844, each side 1 to {LARGEST}")
    return Size(width=int(found[1]), height=int(found[2]))


def _place(given: object) -> Geolocation:
    number = r"([+-]?\d{1,3}(?:\.\d+)?)"
    found = re.fullmatch(rf"\s*{number}\s*,\s*{number}\s*", str(given))
    if found is None or abs(float(found[1])) > NORTH or abs(float(found[2])) > EAST:
        raise ValueError("degrees such as 52.52,13.4: latitude -90 to 90, longitude -180 to 180")
    return Geolocation(latitude=float(found[1]), longitude=float(found[2]))


_TEXT = WithJsonSchema({"type": "string"})
WrittenSize = Annotated[Size, PlainValidator(_size), PlainSerializer(str), _TEXT]
WrittenPlace = Annotated[
    Geolocation,
    PlainValidator(_place),
    PlainSerializer(lambda place: f"{place.latitude},{place.longitude}"),
    _TEXT,
]


class EmulateParams(ActionParams):
    device: str | None = Field(None, description='of Playwright\'s list: "iPhone 15", "Pixel 7 landscape"')
    viewport: WrittenSize | None = Field(None, description="WxH")
    scale: float | None = Field(None, gt=0, le=8, description="device pixels per CSS pixel")
    color_scheme: Literal["light", "dark"] | None = None
    reduced_motion: bool | None = Field(None, description="prefers-reduced-motion")
    media: Literal["screen", "print"] | None = Field(None, description="CSS media type")
    geolocation: WrittenPlace | None = Field(None, description="latitude,longitude")
    permissions: tuple[str, ...] | None = Field(None, description="granted: clipboard-read, camera…")
    locale: str | None = Field(None, pattern=LOCALE, description="such as de-DE")
    timezone: str | None = Field(None, description="such as Europe/Berlin")
    user_agent: str | None = Field(None, repr=False)
    cpu: float | None = Field(None, ge=1, le=100, description="times slower")
    network: Network | None = Field(None, description="how fast")
    reset: bool = Field(False, description="undo all that was set before")

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, value: str | None) -> str | None:
        if value is not None and available_timezones() and value not in available_timezones():
            raise ValueError("an IANA time zone such as Europe/Berlin")
        return value


@emulation.action(reach="page")
async def emulate(ctx: ActionContext, params: EmulateParams) -> str:
    """Show pages as on another device, in another place or network; set for all tabs until reset."""
    if ctx.session.services.limits.clipboard is not None and "clipboard-read" in (params.permissions or ()):
        raise InvalidArguments(
            "'permissions': clipboard-read is not granted here, since the browser's clipboard is shared with "
            "other clients.",
            hint="Control+V pastes what this session has copied.",
        )
    plugin = await ctx.session.plugin(Emulation)
    changes: dict[str, Any] = {}
    if params.device is not None:
        found, device = find_device(params.device, await ctx.session.devices())
        changes = {
            "device": found,
            "viewport": Size(**device["viewport"]),
            "scale": float(device["device_scale_factor"]),
            "mobile": bool(device["is_mobile"]),
            "touch": bool(device["has_touch"]),
            "user_agent": device["user_agent"],
        }
    given = {name: value for name, value in params if value is not None}
    changes |= {name: value for name, value in given.items() if name not in ("device", "reset")}
    if changes.get("network") == "full":
        changes["network"] = None
    if "locale" in changes:
        changes["locale"] = changes["locale"].replace("_", "-")
    before = plugin.overrides
    now = await plugin.override(changes, reset=params.reset) if changes or params.reset else before
    message = f"Emulating: {now}." if now != Overrides() else "Nothing is emulated."
    if any(getattr(now, name) != getattr(before, name) for name in _SEEN_WHILE_LOADING):
        message += " Reload the page if it looks at such things only while it loads."
    return message
