"""Settings: every option once, with its default, its limits and its documentation.

Flags, `MCP_BROWSER_*` variables and the configuration file all feed these models; the option tables in the
documentation are generated from them.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=3600)]


class Viewport(BaseModel):
    """A size in CSS pixels."""

    model_config = ConfigDict(frozen=True)

    width: int = Field(ge=100, le=10_000)
    height: int = Field(ge=100, le=10_000)


class SettingsGroup(BaseModel):
    """A group of settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BrowserSettings(SettingsGroup):
    """Which browser runs, and what the page can tell about it."""

    browser: Literal["chromium", "chrome", "msedge", "firefox", "webkit"] = Field(
        "chromium", description="Browser to drive. firefox and webkit go through Playwright's own builds, untested."
    )
    executable: Path | None = Field(None, description="Path of the browser's executable, instead of looking for one.")
    channel: str | None = Field(None, description="Release channel of an installed browser, such as chrome-beta.")
    headless: bool | None = Field(
        None, description="Run without a window. Default: headed where there is a display, else headless."
    )
    sandbox: bool | None = Field(
        None, description="Use the browser's process sandbox. Default: on, except for root on Linux."
    )
    profile: Path | None = Field(None, description="Profile folder that keeps logins between runs. Default: per user.")
    isolated: bool = Field(False, description="Start from a clean, temporary profile that is deleted at the end.")
    profile_in_use: Literal["error", "temporary"] = Field(
        "error", description="When another process holds the profile: tell how to go on, or use a temporary one."
    )
    viewport: Viewport = Field(Viewport(width=1280, height=720), description="Size of the page, WIDTHxHEIGHT.")
    device_scale: float | None = Field(None, gt=0, le=8, description="Device pixels for each CSS pixel.")
    locale: str | None = Field(None, description="Language and region of the browser, such as de-DE.")
    timezone: str | None = Field(None, description="IANA time zone of the browser, such as Europe/Berlin.")
    user_agent: str | None = Field(None, description="User-Agent header and navigator.userAgent.")
    proxy: str | None = Field(None, description="Proxy for all requests, such as http://user:secret@host:3128.")
    browser_args: tuple[str, ...] = Field((), description="Extra command-line argument for the browser; repeatable.")
    cdp_endpoint: str | None = Field(
        None, description="Drive a running Chromium at this CDP address (http:// or ws://) instead of starting one."
    )


class LimitSettings(SettingsGroup):
    """How long things may take, in seconds."""

    action_timeout: Seconds = Field(5, description="Limit for an element to become ready for an action, seconds.")
    navigation_timeout: Seconds = Field(15, description="Limit for a page to start showing, seconds.")
    settle_timeout: Seconds = Field(5, description="Longest wait for what an action has started, seconds.")
    call_timeout: Seconds = Field(60, description="Limit for a whole tool call, seconds.")


class ObservationSettings(SettingsGroup):
    """What a result shows of the page."""

    observe: Literal["changes", "full", "none"] = Field(
        "changes", description="What the result of an action shows: what changed, the whole snapshot, or nothing."
    )
    snapshot_budget: int = Field(6000, ge=200, le=200_000, description="Longest snapshot, in tokens (about 4 characters).")
    changes_budget: int = Field(1500, ge=100, le=200_000, description="Longest account of changes, in tokens.")


class ScreenshotSettings(SettingsGroup):
    """Screenshots in results."""

    screenshots: Literal["on-demand", "always", "never"] = Field(
        "on-demand", description="Attach a screenshot when asked for, with every result, or never."
    )
    screenshot_format: Literal["jpeg", "png", "webp"] = Field("jpeg", description="Image format of screenshots.")
    screenshot_quality: int = Field(75, ge=1, le=100, description="Quality of jpeg and webp screenshots, 1 to 100.")
    screenshot_max_side: int = Field(1568, ge=100, le=8000, description="Longest side of a screenshot, pixels.")


class ToolSettings(SettingsGroup):
    """Which actions are offered as tools."""

    tools: tuple[str, ...] = Field(("core",), description="Tool groups to offer, comma-separated; `all` for every group.")
    exclude_actions: tuple[str, ...] = Field((), description="Actions not to offer, comma-separated.")
    actions: tuple[Path, ...] = Field((), description="Python file with actions of your own; repeatable.")
    search_engine: str = Field(
        "duckduckgo", description="For search_web: duckduckgo, google, bing, or a URL with {query} in it."
    )


class FileSettings(SettingsGroup):
    """Files that the server writes and reads."""

    output_dir: Path | None = Field(None, description="Folder for downloads, PDFs and pictures. Default: a temporary one.")
    upload_dirs: tuple[Path, ...] = Field(
        (), description="Folder that files may be uploaded from; repeatable. Default: the working folder and output-dir."
    )
    allow_file_urls: bool = Field(False, description="Let the browser open file:// addresses.")


class Settings(SettingsGroup):
    """All settings of one server."""

    browser: BrowserSettings = BrowserSettings()
    limits: LimitSettings = LimitSettings()
    observation: ObservationSettings = ObservationSettings()
    screenshots: ScreenshotSettings = ScreenshotSettings()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
