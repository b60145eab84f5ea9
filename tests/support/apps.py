"""Real applications for tests to browse, each on a free loopback port with its data in its own folder."""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from tests.support.packages import debian_package, python_packages, run_to_end

_START_SECONDS = 60
_STOP_SECONDS = 10


@dataclass(frozen=True)
class Django:
    """A Django project with its admin site and a superuser."""

    url: str
    database: Path
    pristine: Path
    user: str = "boss"
    password: str = "correct horse"

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def reset(self) -> None:
        """Put the database back to what it was at the start."""
        with (
            closing(sqlite3.connect(self.pristine)) as source,
            closing(sqlite3.connect(self.database)) as target,
        ):
            source.backup(target)


@dataclass(frozen=True)
class JupyterLab:
    """A JupyterLab without password; `folder` is where its notebooks are."""

    url: str
    folder: Path

    def reset(self) -> None:
        """End all kernels, with which notebooks of the same names would go on, and delete all notebooks."""
        headers = {"Cookie": "_xsrf=anything", "X-XSRFToken": "anything"}
        with httpx2.Client(base_url=f"{self.url}/api", headers=headers, timeout=30) as api:
            for session in api.get("/sessions").json():
                api.delete(f"/sessions/{session['id']}").raise_for_status()
            for file in api.get("/contents").json()["content"]:
                api.delete(f"/contents/{file['path']}").raise_for_status()


@contextmanager
def django(folder: Path) -> Generator[Django]:
    """Django 5.2 with the user `boss`; the database is folder/db.sqlite3."""
    python = str(python_packages("django", "Django==5.2.19"))
    app = Django(f"http://127.0.0.1:{free_port()}", folder / "db.sqlite3", folder / "pristine.sqlite3")
    # Django's own way takes seconds on a busy machine: longer than a page is waited for.
    quick = 'PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]'
    account = ["--noinput", "--username", app.user, "--email", "boss@example.com"]
    manage = partial(run_to_end, cwd=folder, seconds=_START_SECONDS)
    manage([python, "-m", "django", "startproject", "shop", str(folder)])
    with (folder / "shop" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{quick}\n")
    manage([python, "manage.py", "migrate", "--verbosity=0"])
    manage([python, "manage.py", "createsuperuser", *account], DJANGO_SUPERUSER_PASSWORD=app.password)
    shutil.copyfile(app.database, app.pristine)
    address = app.url.removeprefix("http://")
    with running(
        [python, "manage.py", "runserver", "--noreload", address], folder, ready=f"{app.url}/admin/login/"
    ):
        yield app


@contextmanager
def jupyterlab(folder: Path) -> Generator[JupyterLab]:
    """JupyterLab 4.6 with an empty folder for notebooks."""
    python = str(python_packages("jupyterlab", "jupyterlab==4.6.6"))
    port = free_port()
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    command = [
        *(python, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password="),
        *(f"--ServerApp.root_dir={notebooks}", "--LabApp.news_url="),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        *(["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
    ]
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment = {name: str(folder / name.lower()) for name in homes} | {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "s")
    }
    url = f"http://127.0.0.1:{port}"
    with running(command, folder, environment, ready=f"{url}/api/status"):
        yield JupyterLab(url, notebooks)


def python_documentation() -> Path:
    """Python's documentation as Debian packs it: contents.html and genindex-all.html are huge."""
    return next((debian_package("python3-doc") / "usr/share/doc").glob("python3.*/html"))


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, *, ready: str
) -> Generator[subprocess.Popen[bytes]]:
    """A server process, from when `ready` answers until the block ends; none of its processes is left behind.

    One that does not answer is a RuntimeError, which carries its last words.
    """
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_until_answered(ready, process, log)
            yield process
        finally:
            _stop(process)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _wait_until_answered(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with suppress(httpx2.HTTPError):
            # Some have a certificate of their own.
            httpx2.get(url, timeout=5, verify=False, follow_redirects=True).raise_for_status()
            return
        time.sleep(0.1)
    words = log.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{url} does not answer (exit code {process.poll()}):\n{words}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_STOP_SECONDS)
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
