"""Settings of calls: limits, results, tools, files and recordings."""

from typing import Annotated, Literal

from mcp_browser.settings.values import (
    CommaList,
    Folder,
    Folders,
    Names,
    Paths,
    Placeholder,
    SearchEngine,
    Seconds,
    SettingsGroup,
    UserPath,
    setting,
)


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

    tools: Annotated[CommaList, Placeholder("GROUPS")] = setting(
        "Tool groups to offer, comma-separated; `all` for every group of actions; `sessions` for several "
        "browser sessions over stdio, too.",
        ("core",),
    )
    exclude_actions: Names = setting("Actions not to offer, comma-separated.", ())
    actions: Paths = setting("Python file with actions of your own; repeatable.", ())
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
    search_engine: SearchEngine = setting(
        "For search_web: duckduckgo, google, bing, or a URL with {query} in it.", "duckduckgo"
    )


class FileSettings(SettingsGroup):
    """Files that the server writes and reads."""

    output_dir: Folder | None = setting("Folder for downloads, PDFs and pictures. Default: a temporary one.")
    upload_dirs: Folders = setting(
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
