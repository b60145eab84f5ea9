"""Runs the tests that `export_script` and the recorder write, as a user would: Playwright's own runners."""

import os
import subprocess
from pathlib import Path

import anyio.to_thread

from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import BrowserSettings
from tests.support.packages import npm_packages, python_packages


async def run(command: list[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without the options that the tests around it give to pytest."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= variables
    return await anyio.to_thread.run_sync(
        lambda: subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
    )


async def passes_in_python(file: Path, **variables: str) -> None:
    """Run a test in Python in its folder; asserts that it passes.

    The folder gets a configuration of its own: pytest reads that of a folder above it otherwise.
    """
    (file.parent / "pytest.ini").write_text("[pytest]\n")
    (file.parent / "conftest.py").write_text(
        "import pytest\n\n\n@pytest.fixture(scope='session')\n"
        "def browser_type_launch_args(browser_type_launch_args):\n"
        f"    args = dict(executable_path={chromium()!r}, args=['--no-sandbox'])\n"
        "    return {**browser_type_launch_args, **args}\n"
    )
    python = python_packages("pytest-playwright", "pytest-playwright==0.10.0", "playwright==1.65.2")
    ran = await run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", file.name], file.parent, **variables
    )
    _assert_passed(ran, file)


async def passes_in_typescript(file: Path, *, typed: bool = False, **variables: str) -> None:
    """Run a test in TypeScript in its folder; asserts that it passes, with `typed` `tsc --strict`, too."""
    folder = file.parent
    launch = f"{{ executablePath: {chromium()!r}, args: ['--no-sandbox'] }}"
    (folder / "playwright.config.ts").write_text(
        f"export default {{ timeout: 90000, use: {{ launchOptions: {launch} }} }};\n"
    )
    modules = npm_packages(
        "playwright-test", "@playwright/test@1.65.1", "typescript@5.9.3", "@types/node@24.10.1"
    )
    (folder / "node_modules").symlink_to(modules)
    if typed:
        flags = "--noEmit --strict --skipLibCheck --target es2022 --moduleResolution bundler --module esnext"
        checked = await run(["node", modules / "typescript/bin/tsc", *flags.split(), file.name], folder)
        _assert_passed(checked, file)
    ran = await run(["node", modules / "@playwright/test/cli.js", "test", file.name], folder, **variables)
    _assert_passed(ran, file)


def _assert_passed(ran: subprocess.CompletedProcess[str], file: Path) -> None:
    assert ran.returncode == 0, ran.stdout + ran.stderr + file.read_text()


def chromium() -> str:
    """The executable of the browser of the tests."""
    found = find_browser(BrowserSettings()).executable
    assert found is not None
    return str(found)
