"""Emulation of devices, places and networks.

The overrides belong to the session: they apply to every new tab, and again after a browser crash. What
Playwright can set only for a new context (device scale, touch, user agent, locale, time zone) goes over CDP.
"""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from playwright.async_api import BrowserContext, ViewportSize
from playwright.async_api import Error as PlaywrightError

from mcp_browser.browser.session_plugins import SessionPlugin
from mcp_browser.dom.cdp import send
from mcp_browser.dom.driver_errors import plain_message
from mcp_browser.dom.models import Frozen, Size
from mcp_browser.errors import ActionError, InvalidArguments, NotActionable

if TYPE_CHECKING:
    from mcp_browser.browser.session import BrowserSession
    from mcp_browser.browser.tab import Tab

Network = Literal["offline", "slow-3g", "fast-3g", "slow-4g", "fast-4g", "full"]

KILOBIT = 1000 / 8

NETWORKS: Mapping[Network, tuple[float, float, float]] = {
    "slow-3g": (2000, 400 * KILOBIT, 400 * KILOBIT),
    "fast-3g": (560, 1_440 * KILOBIT, 675 * KILOBIT),
    "slow-4g": (150, 1_638 * KILOBIT, 750 * KILOBIT),
    "fast-4g": (60, 9_000 * KILOBIT, 1_500 * KILOBIT),
}
"""Latency in milliseconds, then bytes a second down and up: the profiles of Chromium's developer tools."""

TOUCHES = 5

_Motion = Literal["reduce", "no-preference", "null"]
_MOTION: Mapping[bool | None, _Motion] = {True: "reduce", False: "no-preference", None: "null"}


class Geolocation(Frozen):
    """A geolocation in degrees."""

    latitude: float
    longitude: float

    def __str__(self) -> str:
        return f"{self.latitude:g},{self.longitude:g}"


class Overrides(Frozen):
    """What is overridden; None is the browser's default. `cpu` is a slowdown factor."""

    device: str | None = None
    viewport: Size | None = None
    scale: float | None = None
    mobile: bool | None = None
    touch: bool | None = None
    user_agent: str | None = None
    locale: str | None = None
    timezone: str | None = None
    color_scheme: Literal["light", "dark"] | None = None
    reduced_motion: bool | None = None
    media: Literal["screen", "print"] | None = None
    geolocation: Geolocation | None = None
    permissions: tuple[str, ...] | None = None
    cpu: float | None = None
    network: Network | None = None

    def __str__(self) -> str:
        return ", ".join(
            f"{name.replace('_', ' ')} {_described(value)}" for name, value in self if value is not None
        )


class Emulation(SessionPlugin):
    """The overrides of a session."""

    def __init__(self, session: "BrowserSession") -> None:
        self._session = session
        self.overrides = Overrides()

    async def opened(self, context: BrowserContext) -> None:
        """Apply what belongs to the context."""
        if self.overrides != Overrides():
            await self._set_context(context, Overrides(), self.overrides)

    async def tab_opened(self, tab: "Tab") -> None:
        """Apply the overrides to a new tab."""
        if self.overrides != Overrides():
            await self._set_tab(tab, Overrides(), self.overrides)

    async def override(self, changes: Mapping[str, Any], *, reset: bool = False) -> Overrides:
        """Change overrides in all tabs; `reset` drops earlier ones. On failure nothing changes.

        Raises NotActionable: the browser was started with such a setting; InvalidArguments: it does not know
        a locale or permission.
        """
        before = self.overrides
        wanted = Overrides(**({} if reset else dict(before)) | dict(changes))
        try:
            await self._set(before, wanted)
        except (PlaywrightError, ActionError) as error:
            with contextlib.suppress(PlaywrightError, ActionError):
                await self._set(wanted, before)
            raise _refused(error) from error
        self.overrides = wanted
        if wanted.viewport != before.viewport or wanted.mobile != before.mobile:
            self._session.shown_picture = None
            for other in self._session.tabs.values():
                other.cursor = None
        return wanted

    async def _set(self, before: Overrides, wanted: Overrides) -> None:
        await self._set_context(self._session.context, before, wanted)
        current = self._session.current_tab
        for tab in dict.fromkeys((current, *self._session.tabs.values())):
            if tab.held and tab is not current:
                self._session.notice(f"Tab {tab.id} is held by a dialog and keeps what it had.")
            else:
                await self._set_tab(tab, before, wanted)

    async def _set_context(self, context: BrowserContext, before: Overrides, wanted: Overrides) -> None:
        if wanted.permissions != before.permissions or wanted.geolocation != before.geolocation:
            await context.clear_permissions()
            granted = [*(wanted.permissions or ()), *(["geolocation"] if wanted.geolocation else [])]
            if granted:
                await context.grant_permissions(list(dict.fromkeys(granted)))
        if wanted.geolocation != before.geolocation:
            place = wanted.geolocation
            await context.set_geolocation(
                {"latitude": place.latitude, "longitude": place.longitude} if place else None
            )
        if (wanted.network == "offline") != (before.network == "offline"):
            await context.set_offline(wanted.network == "offline")

    async def _set_tab(self, tab: "Tab", before: Overrides, wanted: Overrides) -> None:
        await tab.guarded(
            tab.page.emulate_media(
                color_scheme=wanted.color_scheme or "null",
                reduced_motion=_MOTION[wanted.reduced_motion],
                media=wanted.media or "null",
            )
        )
        own = self._session.context_settings
        commands: list[tuple[str, dict[str, Any]]] = []
        if (wanted.viewport, wanted.scale, wanted.mobile) != (before.viewport, before.scale, before.mobile):
            size, mobile = wanted.viewport or Size(**own["viewport"]), bool(wanted.mobile)
            view: ViewportSize = {"width": size.width, "height": size.height}
            await tab.guarded(tab.page.set_viewport_size(view))
            tab.own_metrics = mobile or wanted.scale is not None
            angle, kind = (0, "portraitPrimary") if size.height >= size.width else (90, "landscapePrimary")
            # Playwright does not know the scale, and sets that of the context.
            metrics = {**view, "deviceScaleFactor": wanted.scale or own.get("device_scale_factor", 1)}
            turned = {"screenOrientation": {"angle": angle, "type": kind}} if mobile else {}
            commands.append(("Emulation.setDeviceMetricsOverride", {**metrics, "mobile": mobile, **turned}))
        if wanted.touch != before.touch:
            touching = {"enabled": True, "maxTouchPoints": TOUCHES} if wanted.touch else {"enabled": False}
            commands.append(("Emulation.setTouchEmulationEnabled", touching))
        if (wanted.user_agent, wanted.locale) != (before.user_agent, before.locale):
            agent = wanted.user_agent or own.get("user_agent", "")
            language = wanted.locale or own.get("locale")
            override = {"userAgent": agent, **({"acceptLanguage": language} if language else {})}
            commands.append(("Emulation.setUserAgentOverride", override))
        if wanted.locale != before.locale:
            locale = {"locale": wanted.locale} if wanted.locale else {}
            commands.append(("Emulation.setLocaleOverride", locale))
        if wanted.timezone != before.timezone:
            commands.append(("Emulation.setTimezoneOverride", {"timezoneId": wanted.timezone or ""}))
        if wanted.cpu != before.cpu:
            commands.append(("Emulation.setCPUThrottlingRate", {"rate": wanted.cpu or 1}))
        if wanted.network not in (before.network, "offline"):
            latency, down, up = NETWORKS.get(wanted.network or "full", (0, -1, -1))
            throttle = {"latency": latency, "downloadThroughput": down, "uploadThroughput": up}
            commands.append(("Network.emulateNetworkConditions", {"offline": False, **throttle}))
        for method, parameters in commands:
            await tab.guarded(send(tab.cdp, method, **parameters))


def _described(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return " ".join(map(str, cast("tuple[object, ...]", value))) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _refused(error: PlaywrightError | ActionError) -> ActionError:
    if isinstance(error, ActionError):
        return error
    why = plain_message(error)
    if "already in effect" in why:
        what = "locale" if "locale" in why else "time zone"
        return NotActionable(
            f"The {what} was set when the browser was started and cannot be changed now.",
            hint=f"Start the server without --{what.replace(' ', '')}, then emulate can set it.",
        )
    return InvalidArguments(f"The browser refused it: {why}.")
