"""`mcp-browser try`: what a client would see of a page, without a client."""

import asyncio
import shlex
import tempfile
from importlib import resources
from pathlib import Path

from rich.console import Console

from mcp_browser.browser.manager import BrowserManager
from mcp_browser.browser.pictures import encode_whole
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.install import installing, show
from mcp_browser.cli.sources import DEFAULT, LoadedSettings
from mcp_browser.errors import BlockedUrl, BrowserNotFound, NotFound
from mcp_browser.rendering import render_snapshot
from mcp_browser.settings import Settings


def try_page(loaded: LoadedSettings, asked: Arguments) -> int:
    """Open a page, print its snapshot and save a screenshot; the exit code. Raises ActionError."""
    settings = loaded.settings
    url = _address(asked.given["url"], settings) if "url" in asked.given else None
    with installing(with_deps="with_deps" in asked.given) as (installer, progress):
        if settings.browser.starts_browser:
            try:
                find_browser(settings.browser)
            except BrowserNotFound:
                progress.report("There is no browser here yet: getting one.")
                installer.install_browser(settings.browser)
    if loaded.origins["profile"] == DEFAULT and settings.browser.connect is None:
        # A look at one page leaves no trace in the profile, and need not wait for a server that holds it.
        browser = settings.browser.model_copy(update={"isolated": True})
        settings = settings.model_copy(update={"browser": browser})
    with resources.as_file(resources.files("mcp_browser") / "assets" / "try.html") as shipped:
        if url is None:
            url = shipped.as_uri()
            files = settings.files.model_copy(update={"allow_file_urls": True})
            settings = settings.model_copy(update={"files": files})
        snapshot, picture = asyncio.run(_look(settings, url))
    path = _save(picture, settings.files.output_dir)
    # A terminal shows it in colours; a file gets plain text.
    Console(soft_wrap=True, markup=False, emoji=False).print(snapshot)
    show(f"\nScreenshot: {path}")
    return 0


def _address(url: str, settings: Settings) -> str:
    """The address to open; that of a file where it is a file's path. Raises BlockedUrl."""
    path = Path(url).expanduser()
    if "://" in url or not (path.is_file() or url.startswith((".", "/", "~"))):
        return url
    if not path.is_file():
        raise NotFound(f"There is no file {url}.", hint="Give the path of a file, or a whole address.")
    if not settings.files.allow_file_urls:
        raise BlockedUrl(
            f"{url} is not opened: files of this machine are blocked.",
            hint=f"Open it with: mcp-browser try --allow-file-urls {shlex.quote(url)}",
        )
    return path.absolute().as_uri()


async def _look(settings: Settings, url: str) -> tuple[str, bytes]:
    manager = BrowserManager(settings)
    try:
        session = await manager.default_session()
        async with session.lock:
            await session.ensure_open()
            await session.current_tab.goto(url)
            observation = await session.full_observation()
            picture = encode_whole(await session.current_tab.screenshot())
    finally:
        await manager.close()
    if observation.snapshot is None:
        return "\n".join(observation.notices), picture
    return render_snapshot(observation.snapshot), picture


def _save(picture: bytes, folder: Path | None) -> Path:
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="mcp-browser-try-"))
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".png" if picture.startswith(b"\x89PNG") else ".jpg"
    path = folder / f"page{suffix}"
    path.write_bytes(picture)
    return path
