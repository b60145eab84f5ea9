"""Getting a browser: what is tried, what only with permission, and what is told."""

import os
import platform
import sys
from pathlib import Path

import pytest

from mcp_browser.browser.process import installing
from mcp_browser.browser.process.installing import Installer
from mcp_browser.errors import BrowserNotFound
from mcp_browser.settings import BrowserSettings
from tests.browser.test_launch import bare_machine, program
from tests.support.site import Site

__all__ = ["bare_machine"]

pytestmark = [pytest.mark.fresh, pytest.mark.skipif(sys.platform != "linux", reason="installs as on Linux")]

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


def test_apt_is_asked_only_where_its_chromium_is_no_snap(
    debian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "ubuntu", "ID_LIKE": "debian"})
        assert not installing._apt_serves_chromium()
    (debian / "apt-get").unlink()
    assert not installing._apt_serves_chromium()
