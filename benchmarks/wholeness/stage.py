"""Serves the pages and puts them into their states."""

import contextlib
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from playwright.async_api import Page as BrowserPage

from benchmarks.wholeness.page import Page
from tests.support.apps import free_port, running
from tests.support.packages import npm_packages, python_packages
from tests.support.site import Site

SOURCES = Path(__file__).parent / "pages"
PATIENCE = 20_000
"""Milliseconds within which a step can be done."""

ESBUILD = "esbuild@0.28.2"
_FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
{styles}</head>
<body><div id="root"></div><script type="module" src="{bundle}.js"></script></body></html>"""
_LARGE = 'width="1100" height="500"'


class Stage:
    """The pages' addresses; what no page asks for is not installed or started."""

    def __init__(self, site: Site, sources: Path = SOURCES) -> None:
        """On a site that runs; `sources` is the folder that the pages' sources are in."""
        self.site = site
        self.sources = sources
        self._running = contextlib.ExitStack()
        self._addresses: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Nothing runs yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop whatever runs."""
        self._running.close()

    def address(self, page: Page) -> str:
        """Where a page is served.

        Raises:
            RuntimeError: a package could not be installed, a script not bundled, or a program not started.
        """
        if page.source not in self._addresses:
            serve = {".html": self._html, ".py": self._program}.get(Path(page.source).suffix, self._bundled)
            self._addresses[page.source] = serve(page)
        address = self._addresses[page.source]
        if not page.framed:
            return address
        inner = address.replace(self.site.url, self.site.other)
        return self.site.page(
            f'<h1>Framed</h1><button>Reload</button><iframe src="{inner}" {_LARGE}></iframe>'
        )

    def _html(self, page: Page) -> str:
        html = (self.sources / page.source).read_text(encoding="utf-8")
        if page.packages:
            modules = npm_packages(_folder_name(page.packages), *page.packages)
            for package in page.packages:
                name = package[0] + package[1:].partition("@")[0]
                html = html.replace(f"{{{name}}}", self.site.mount(f"/{page.source}/{name}", modules / name))
        return self.site.publish(html.encode(), path=f"/wholeness/{page.source}")

    def _bundled(self, page: Page) -> str:
        source = self.sources / page.source
        bundle = bundled(source, page.packages)
        folder = self.site.mount(f"/bundles/{source.stem}", bundle.parent)
        address = f"{folder}/{bundle.stem}"
        styles = (
            f'<link rel="stylesheet" href="{address}.css">' if bundle.with_suffix(".css").exists() else ""
        )
        html = _FRAME.format(title=source.stem, bundle=address, styles=styles)
        return self.site.publish(html.encode(), path=f"/wholeness/{page.source}")

    def _program(self, page: Page) -> str:
        python = python_packages(_folder_name(page.packages), *page.packages)
        folder = Path(self._running.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        port = free_port()
        url = f"http://127.0.0.1:{port}/"
        command = [str(python), str(self.sources / page.source), str(port), self.site.url]
        self._running.enter_context(running(command, folder, ready=url))
        return url


def bundled(source: Path, packages: tuple[str, ...]) -> Path:
    """A script with what it imports from npm packages, as one file; its styles lie beside it, if any.

    Raises:
        RuntimeError: a package could not be installed, or the script not bundled.
    """
    modules = npm_packages(_folder_name(packages), *packages, ESBUILD)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:10]
    bundle = modules.parent / "bundles" / f"{source.stem}-{digest}.js"
    if not bundle.exists():
        done = subprocess.run(
            [
                *(modules / ".bin" / "esbuild", source, "--bundle", "--format=esm", "--jsx=automatic"),
                *(f"--outfile={bundle}", '--define:process.env.NODE_ENV="production"'),
                *(f"--loader:.{kind}=dataurl" for kind in ("woff", "woff2", "ttf", "svg", "eot")),
                "--log-level=error",
            ],
            env={**os.environ, "NODE_PATH": str(modules)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{source.name} could not be bundled:\n{done.stderr[-2000:]}")
    return bundle


async def prepare(page: BrowserPage, steps: tuple[str, ...]) -> None:
    """Take the steps that lead to a page's state.

    Raises:
        PlaywrightError: a step could not be done.
    """
    for step in steps:
        word, _, rest = step.partition(" ")
        selector, _, value = (part.strip() for part in rest.partition(" | "))
        target = page.locator(selector).first
        match word:
            case "wait":
                await target.wait_for(timeout=PATIENCE)
            case "click":
                await target.click(timeout=PATIENCE)
            case "hover":
                await target.hover(timeout=PATIENCE)
            case "fill":
                await target.fill(value, timeout=PATIENCE)
            case "press":
                await page.keyboard.press(rest)
            case "scroll":
                await target.evaluate("(element, pixels) => element.scrollBy(0, pixels)", int(value))
            case _:
                raise ValueError(f"{word!r} is no step")


def _folder_name(packages: tuple[str, ...]) -> str:
    name = (packages or ("esbuild",))[0].lstrip("@").replace("/", "-")
    return name.partition("@")[0].partition("=")[0].lower()
