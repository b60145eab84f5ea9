"""Which browser is found, with what it is started, and how one is got where there is none."""

import json
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from mcp_browser.browser.process import installing, launch
from mcp_browser.browser.process.installing import Installer
from mcp_browser.browser.process.launch import (
    browser_version,
    context_options,
    find_browser,
    launch_options,
    proxy_options,
    runs_headless,
    uses_sandbox,
)
from mcp_browser.browser.process.launcher import Launcher
from mcp_browser.errors import BrowserNotFound
from mcp_browser.settings import BrowserSettings, Viewport
from tests.support.site import Site

pytestmark = pytest.mark.fresh

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="makes shell scripts executable")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks for browsers as on Linux")


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser; the folder returned is the only one on the PATH."""
    if sys.platform != "linux":
        pytest.skip("looks for browsers as on Linux")
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setattr(launch, "_LINUX_PLACES", dict.fromkeys(launch._LINUX_PLACES, ()))
    return programs


def program(path: Path, script: str = "echo Browser 1.2.3") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def playwright_build(folder: Path, build: str) -> Path:
    """One of Playwright's builds in its folder, as far as a look at the disk goes."""
    package = launch.driver_package()
    listed = json.loads((package / "browsers.json").read_text("utf-8"))["browsers"]
    revision = next(entry["revision"] for entry in listed if entry["name"] == build)
    home = folder / f"{build.replace('-', '_')}-{revision}"
    executable = program(home / "chrome-linux64" / build.replace("chromium", "chrome"))
    (home / "INSTALLATION_COMPLETE").touch()
    return executable


def test_the_best_browser_of_the_machine_is_found(bare_machine: Path) -> None:
    with pytest.raises(BrowserNotFound, match="mcp-browser install"):
        find_browser(BrowserSettings())
    shell = playwright_build(bare_machine.parent / "playwright", "chromium-headless-shell")
    choice = find_browser(BrowserSettings())
    assert (choice.executable, choice.headless_only) == (shell, True)
    assert launch_options(choice, headless=False)["headless"] is True
    for name, label in (("microsoft-edge", "Edge"), ("chromium", "Chromium"), ("google-chrome", "Chrome")):
        if label != "Edge":
            with pytest.raises(BrowserNotFound, match="mcp-browser install --browser chrome"):
                find_browser(BrowserSettings(browser="chrome"))
        executable = program(bare_machine / name)
        choice = find_browser(BrowserSettings())
        assert (choice.label, choice.executable, choice.origin) == (label, executable, "system")
    executable = playwright_build(bare_machine.parent / "playwright", "chromium")
    choice = find_browser(BrowserSettings())
    assert (choice.executable, choice.origin) == (executable, "playwright")
    assert find_browser(BrowserSettings(browser="chrome")).label == "Chrome"
    # One that was not installed to its end does not count.
    (executable.parent.parent / "INSTALLATION_COMPLETE").unlink()
    assert find_browser(BrowserSettings()).label == "Chrome"


@linux_only
@pytest.mark.parametrize(
    ("isolated", "headless", "expected"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_the_middle_button_pastes_no_foreign_text(isolated: bool, headless: bool, expected: bool) -> None:
    choice = launch.BrowserChoice(label="Chromium", origin="system", executable=Path("chromium"))
    args = launch_options(choice, headless=headless, isolated=isolated)["args"]
    assert ("--blink-settings=editingBehaviorType=1" in args) is expected


def test_isolated_sessions_get_a_headless_shell(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chromium = program(bare_machine / "chromium")
    headless = BrowserSettings(headless=True, headless_shell=True)
    assert find_browser(headless, isolated=True).executable == chromium, "there is no other"
    system = program(bare_machine / "of-debian" / "chromium-headless-shell")
    monkeypatch.setitem(launch._LINUX_PLACES, "headless-shell", (str(system),))
    found = find_browser(headless, isolated=True)
    assert (found.executable, found.headless_only) == (system, True)
    shell = playwright_build(bare_machine.parent / "playwright", "chromium-headless-shell")
    assert find_browser(headless, isolated=True).executable == shell
    assert find_browser(headless).executable == chromium, "the profile is shared with windows"
    for other in (
        BrowserSettings(headless=True),
        BrowserSettings(headless=False, headless_shell=True),
        BrowserSettings(headless=True, headless_shell=True, executable=chromium),
        BrowserSettings(headless=True, headless_shell=True, browser_args=("--load-extension=/x",)),
    ):
        assert find_browser(other, isolated=True).executable == chromium


@posix_only
def test_the_executable_of_the_settings_wins_over_everything(tmp_path: Path) -> None:
    executable = program(tmp_path / "my-browser")
    choice = find_browser(BrowserSettings(executable=executable, channel="chrome-beta"))
    assert (choice.executable, choice.origin) == (executable, "setting")
    assert browser_version(choice) == "Browser 1.2.3"
    with pytest.raises(BrowserNotFound, match="nowhere"):
        find_browser(BrowserSettings(executable=tmp_path / "nowhere"))


def test_the_channel_of_the_settings_is_left_to_playwright() -> None:
    choice = find_browser(BrowserSettings(channel="chrome-beta"))
    assert choice.channel == "chrome-beta"
    assert launch_options(choice)["channel"] == "chrome-beta"
    assert browser_version(choice) is None


@linux_only
@pytest.mark.parametrize(("user", "sandbox"), [(0, False), (1000, True)])
async def test_the_sandbox_is_off_only_for_root_and_that_is_told(
    bare_machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    user: int,
    sandbox: bool,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert uses_sandbox(BrowserSettings(sandbox=not sandbox)) is not sandbox
    settings = BrowserSettings(executable=program(bare_machine / "my-browser"))
    assert uses_sandbox(settings) is sandbox
    await Launcher(settings)._launch_options(find_browser(settings))
    assert ("runs without its process sandbox" in caplog.text) is not sandbox


@linux_only
@pytest.mark.parametrize("display", ["", ":0"])
def test_there_are_windows_where_there_is_a_display(monkeypatch: pytest.MonkeyPatch, display: str) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert runs_headless(BrowserSettings()) is not bool(display)
    assert runs_headless(BrowserSettings(headless=not display)) is not bool(display)
    assert runs_headless(BrowserSettings(headless=bool(display))) is bool(display)


def test_the_browser_is_kept_from_calling_home_and_from_features_that_nobody_uses() -> None:
    more = ("--disable-features=Translate,OptimizationHints", "--mute-audio")
    settings = BrowserSettings(channel="chrome", browser_args=more)
    args = launch_options(find_browser(settings), settings=settings)["args"]
    assert {"--disable-background-networking", "--disable-component-update"} <= set(args)
    assert args[-1] == "--mute-audio"
    assert not any("site-isolation" in arg or "no-sandbox" in arg for arg in args)
    bundle = (launch.driver_package() / "lib" / "coreBundle.js").read_text(encoding="utf-8")
    (listed,) = re.findall(r"disabledFeatures = \[(.*?)\]", bundle, re.DOTALL)
    playwrights = re.findall(r'"(\w+)"', listed)
    (switch,) = [arg for arg in args if arg.startswith("--disable-features=")]
    assert {"Translate", "WebUIOmniboxPopup", *playwrights} <= set(switch.partition("=")[2].split(","))


async def test_a_new_window_loads_nothing_but_its_page(chromium: Browser) -> None:
    session: Any = await chromium.new_browser_cdp_session()
    context = await chromium.new_context()
    await context.new_page()
    told = await session.send("Target.getTargets", {"filter": [{}]})
    await context.close()
    await session.detach()
    assert {target["type"] for target in told["targetInfos"]} <= {"page", "tab", "browser"}


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("http://host:3128", {"server": "http://host:3128"}),
        ("host:3128", {"server": "http://host:3128"}),
        ("socks5://[::1]:1080", {"server": "socks5://[::1]:1080"}),
        ("http://me:a%40b@host", {"server": "http://host", "username": "me", "password": "a@b"}),
    ],
)
def test_the_credentials_are_taken_out_of_a_proxys_address(address: str, options: dict[str, str]) -> None:
    assert proxy_options(address) == options
    settings = BrowserSettings(channel="chrome", proxy=address)
    assert launch_options(find_browser(settings), settings=settings)["proxy"] == options


def test_what_no_setting_names_is_left_to_the_browser() -> None:
    view = {"width": 800, "height": 600}
    settings = BrowserSettings(viewport=Viewport(**view), device_scale=2)
    assert context_options(settings) == {
        "viewport": view,
        "accept_downloads": True,
        "device_scale_factor": 2,
    }


# -- installing one

NOWHERE = "http://127.0.0.1:9"


class Told:
    """What is told, and what was asked for."""

    def __init__(self, *, allows: bool) -> None:
        self.lines, self.done, self.asked = list[str](), list[str](), list[str]()
        self._allows = allows

    def _allowed(self, what: str) -> bool:
        self.asked.append(what)
        return self._allows

    def install(self, **settings: object) -> Path | None:
        installer = Installer(self._allowed, report=self.lines.append, doing=self.done.append)
        return installer.install_browser(BrowserSettings.model_validate(settings)).executable


def makes(path: Path) -> str:
    """A line of a shell script that makes another script."""
    return f'printf "#!/bin/sh\\n" > {path}; /bin/chmod +x {path}'


@pytest.fixture
def debian(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bare Debian, of root's, without a network; its programs."""
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", NOWHERE)
    chromium = makes(bare_machine / "chromium")
    program(
        bare_machine / "apt-get",
        f'echo "$*" >> {bare_machine}/apt; echo "Hit:1 debian"; if [ "$1" = install ]; then {chromium}; fi',
    )
    return bare_machine


def test_nothing_is_installed_where_there_is_a_browser(bare_machine: Path) -> None:
    chromium = program(bare_machine / "chromium")
    told = Told(allows=True)
    assert told.install() == chromium
    assert told.lines == [f"Found Chromium ({chromium})."]
    assert (told.asked, told.done) == ([], [])


def test_a_build_needs_no_packages(bare_machine: Path, monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", site.url)
    chromium = bare_machine / "chromium"
    words = f'echo "$*" > {bare_machine}/asked; echo "|##| 40% of 170 MiB"; {makes(chromium)}'
    monkeypatch.setattr(sys, "executable", str(program(bare_machine / "python", words)))
    told = Told(allows=False)
    assert told.install() == chromium
    assert (bare_machine / "asked").read_text() == "-m playwright install chromium\n"
    assert "Downloading Playwright's Chromium: 40 % of 170 MiB" in told.done
    assert told.lines == [f"Installed Chromium ({chromium})."], "no raw output"
    assert told.asked == []


def test_debians_package_is_installed_where_that_is_allowed(debian: Path) -> None:
    told = Told(allows=True)
    assert told.install() == debian / "chromium"
    assert told.asked == ["Debian's Chromium"]
    update, install = (debian / "apt").read_text().splitlines()
    assert update.startswith("update ")
    assert install.startswith("install -y --no-install-recommends --no-upgrade ")
    assert told.lines == [f"Installed Chromium ({debian / 'chromium'})."]


def test_no_package_is_touched_where_that_is_not_allowed(debian: Path) -> None:
    told = Told(allows=False)
    with pytest.raises(BrowserNotFound) as refused:
        told.install()
    assert not (debian / "apt").exists()
    assert f"no network, or none to {NOWHERE}" in str(refused.value)
    assert "mcp-browser install --with-deps" in str(refused.value)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ('echo "Err:1 debian"; echo "W: Some index files failed."', "no source of packages answers"),
        ('echo "Hit:1"; echo "E: Unable to locate package"; test "$1" = update', "E: Unable to locate"),
    ],
)
def test_a_package_manager_that_fails_is_told_in_its_words(debian: Path, script: str, told: str) -> None:
    program(debian / "apt-get", script)
    with pytest.raises(BrowserNotFound, match=rf"apt-get failed \({told}"):
        Told(allows=True).install()


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize(
    ("allows", "wanted", "told"),
    [
        *((False, {"browser": kind}, f"There is no {kind}, .* --with-deps") for kind in ("chrome", "msedge")),
        (True, {"executable": "/nowhere"}, "There is no browser at /nowhere"),
    ],
)
def test_another_browser_is_not_installed_instead(allows: bool, wanted: dict[str, str], told: str) -> None:
    with pytest.raises(BrowserNotFound, match=told):
        Told(allows=allows).install(**wanted)


def test_apt_is_asked_only_if_its_chromium_is_no_snap(debian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "ubuntu", "ID_LIKE": "debian"})
        assert not installing._apt_serves_chromium()
    (debian / "apt-get").unlink()
    assert not installing._apt_serves_chromium()
