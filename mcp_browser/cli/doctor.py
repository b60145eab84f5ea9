"""`mcp-browser doctor`: what was found on this machine, and which settings are in force."""

import asyncio
import os
import platform
import socket
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import httpx2
from rich.console import Console
from rich.text import Text

from mcp_browser import __version__
from mcp_browser.browser.process.divide.own_relay import allows, list_tabs
from mcp_browser.browser.process.early_driver import driver_problem
from mcp_browser.browser.process.launch import (
    browser_version,
    find_browser,
    find_own_browser,
    has_display,
    prefers_headless_shell,
    runs_headless,
    uses_sandbox,
)
from mcp_browser.browser.process.launcher import address_and_headers
from mcp_browser.browser.process.profile import chromium_holder, profile_folder, profile_holder, sharers_of
from mcp_browser.browser.site_data import check
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.install import show, start_problem
from mcp_browser.cli.sources import DEFAULT, LoadedSettings
from mcp_browser.errors import ActionError, BrowserNotFound, BrowserUnavailable, SettingsError
from mcp_browser.privacy.hiding import cut_address
from mcp_browser.server.runs.tools import RunTools, TaskFiles
from mcp_browser.server.sessions.tools import session_tools
from mcp_browser.server.tool_groups import load_actions
from mcp_browser.settings import BrowserSettings, Settings, all_options
from mcp_browser.text import quoted

_LABEL_WIDTH = 12
_WIDTH = 108
_REACH_SECONDS = 3
_MOST_TABS = 30


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `broken` where the server could not work like this."""

    label: str
    text: str
    broken: bool = False


def doctor(loaded: LoadedSettings, _asked: Arguments) -> int:
    """Print the report; the exit code, 1 where something is broken. Raises SettingsError."""
    console = Console(soft_wrap=True, highlight=False)
    findings = list(_findings(loaded.settings))
    console.print(Text(f"mcp-browser {__version__}", style="bold"))
    for finding in findings:
        mark, style = ("! ", "bold red") if finding.broken else ("  ", "cyan")
        console.print(Text(mark + finding.label.ljust(_LABEL_WIDTH), style=style) + Text(finding.text))
    console.print(Text("\nSettings", style="bold"))
    for line in _settings(loaded):
        console.print(Text(line))
    return 1 if any(finding.broken for finding in findings) else 0


def _findings(settings: Settings) -> Iterator[Finding]:
    yield Finding("Python", f"{platform.python_version()} at {sys.executable}")
    packages = ("mcp", "playwright", "pydantic")
    yield Finding("Packages", ", ".join(f"{name} {version(name)}" for name in packages))
    nothing: Any = None  # Tools are only declared here, never called
    registry = load_actions(settings.tools)
    # What is offered on a page that no action is bound to.
    tools: list[Any] = [action for action in registry if not action.is_bound_to_pages]
    tools += RunTools(settings, nothing, registry, TaskFiles(nothing)).tools()
    if settings.server.http or settings.server.sse:
        tools += session_tools(nothing)
    yield Finding("Tools", f"{len(tools)} (groups: {', '.join(settings.tools.tools)})")
    browser = settings.browser
    try:
        check(browser)
    except SettingsError as error:
        yield Finding("Files", str(error), broken=True)
    if browser.connect is not None:
        yield from _own_browser(browser.connect, browser.connect_tabs)
    elif browser.cdp_endpoint is not None:
        yield _endpoint(browser.cdp_endpoint, "running already, at")
    elif browser.selenium_grid is not None:
        yield _grid(browser.selenium_grid)
    elif browser.browser_endpoint is not None:
        yield _endpoint(browser.browser_endpoint, "those of the Playwright server at")
    else:
        yield from _installed_browser(browser)


def _installed_browser(settings: BrowserSettings) -> Iterator[Finding]:
    try:
        choice = find_browser(settings, isolated=settings.isolated)
    except BrowserNotFound as error:
        yield Finding("Browser", str(error), broken=True)
    else:
        name = browser_version(choice) or choice.label
        yield Finding("Browser", f"{name} at {choice.executable or choice.channel}")
        if problem := driver_problem():
            problem += ". mcp-browser install may mend it."
        began = time.monotonic()
        problem = problem or start_problem(choice, settings)
        started = f"failed: {problem}" if problem else f"opened a page in {time.monotonic() - began:.1f} s"
        yield Finding("Start", started, broken=problem is not None)
        shell = prefers_headless_shell(settings, isolated=True) and not choice.headless_only
        if shell and (isolated := find_browser(settings, isolated=True)) != choice:
            yield Finding("Isolated", f"{isolated}, for sessions without a profile")
    why_off = "off, as set" if settings.sandbox is False else "off, since root runs it"
    yield Finding("Sandbox", "on" if uses_sandbox(settings) else why_off)
    display = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY") or "yes"
    headless = runs_headless(settings)
    window = "runs without a window" if headless else "has a window"
    yield Finding(
        "Display",
        f"{display if has_display() else 'none'}; the browser {window}",
        broken=not (headless or has_display()),
    )
    yield _profile(settings)


def _endpoint(address: str, what: str) -> Finding:
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme in {"https", "wss"} else 80)
    place = f"{parts.hostname}:{port}"
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_REACH_SECONDS).close()
    except OSError as error:
        return Finding("Browser", f"nothing answers at {place}: {error.strerror or error}", broken=True)
    return Finding("Browser", f"{what} {place}")


def _own_browser(wanted: str, lent: Sequence[str]) -> Iterator[Finding]:
    """The browser of the user's to connect to, and its tabs: which of them would be used."""
    try:
        browser = find_own_browser(wanted)
        show(f"Connecting to {browser.within}: confirm it in the browser's window, where that asks.")
        product, tabs = asyncio.run(list_tabs(browser))
    except BrowserUnavailable as error:
        yield Finding("Browser", str(error), broken=True)
        return
    yield Finding("Browser", f"{product} of yours runs with {browser.folder}, at port {browser.port}")
    may_use = allows(lent)
    used = sum(may_use(url) for _, url in tabs)
    yield Finding("Your tabs", f"{len(tabs)}, {used} of which may be used (connect-tabs)")
    for title, url in tabs[:_MOST_TABS]:
        mark = "may be used" if may_use(url) else "not touched"
        yield Finding("", f"{mark}: {quoted(title)} {cut_address(url)}")
    if len(tabs) > _MOST_TABS:
        yield Finding("", f"and {len(tabs) - _MOST_TABS} more")


def _grid(endpoint: str) -> Finding:
    reached = _endpoint(endpoint, "those of the Selenium Grid at")
    if reached.broken:
        return reached
    try:
        address, headers = address_and_headers(endpoint)
        answer = httpx2.get(f"{address}/status", headers=headers, timeout=_REACH_SECONDS)
        status = answer.json()["value"]
        ready = bool(status["ready"])
        message = str(status.get("message", "")).strip() or ("ready" if ready else "not ready")
    except ActionError as error:
        return Finding("Browser", str(error), broken=True)
    except (httpx2.HTTPError, ValueError, TypeError, LookupError, AttributeError):
        return Finding("Browser", f"{reached.text}: its /status cannot be read", broken=True)
    return Finding("Browser", f"{reached.text}: {message}", broken=not ready)


def _profile(settings: BrowserSettings) -> Finding:
    if settings.isolated:
        return Finding("Profile", "a temporary one each time (isolated)")
    folder = profile_folder(settings)
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not os.access(existing, os.W_OK):
        return Finding("Profile", f"{folder}: {existing} cannot be written", broken=True)
    holder = profile_holder(folder)
    if holder is not None and holder.shared:
        return Finding("Profile", f"{folder}, its browser is shared by {len(sharers_of(folder))} sessions")
    if holder is not None:
        return Finding("Profile", f"{folder}, in use by {holder}")
    if not folder.exists():
        return Finding("Profile", f"{folder}, made when first used")
    stale = " (a dead browser left its lock, which will be cleared)" if chromium_holder(folder) else ""
    return Finding("Profile", f"{folder}, free{stale}")


def _settings(loaded: LoadedSettings) -> Iterator[str]:
    others: list[str] = []
    for name, option in all_options().items():
        value = option.written(getattr(getattr(loaded.settings, option.group), name))
        if loaded.origins[name] != DEFAULT:
            yield f"  {option.key} = {value}   from {loaded.origins[name]}"
        else:
            others.append(f"{option.key}={value}")
    text = f"default: {' '.join(others)}"
    yield from textwrap.wrap(
        text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )
