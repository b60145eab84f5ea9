"""What is published: a wheel that runs where nothing else is, and an sdist that can test itself."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import pytest

from tests.support.packages import python_packages
from tests.support.process import succeeds
from tests.test_manifests import ROOT, project, tools_of

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Built:
    """What was built, and by what."""

    uv: str
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """An sdist, and the wheel that is built from it."""
    uv = shutil.which("uv") or str(python_packages("uv", "uv==0.13.8").with_name("uv"))
    folder = tmp_path_factory.mktemp("dist")
    succeeds(uv, "build", "--quiet", "--python", sys.executable, "--out-dir", folder, ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(uv, wheel, sdist)


def tracked() -> set[str]:
    """The files that git has, or would take."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout of git")
    return {name for name in listed.splitlines() if (ROOT / name).is_file()}


def test_both_hold_all_that_belongs_in_them(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        in_wheel = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (described,) = [name for name in wheel.namelist() if name.endswith("dist-info/METADATA")]
        metadata = Parser().parsestr(wheel.read(described).decode("utf-8"))
        (listed,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        programs = wheel.read(listed).decode("utf-8")
    with tarfile.open(built.sdist) as sdist:
        in_sdist = {name.partition("/")[2] for name in sdist.getnames()}
    assert metadata["Name"] == project()["project"]["name"] == "mcp-browser-server"
    assert {"agent", "traces", "dev"} <= set(metadata.get_all("Provides-Extra", []))
    for program in ("mcp-browser", "mcp-browser-server"):
        assert f"{program} = mcp_browser.__main__:main" in programs
    assert in_wheel == {name for name in tracked() if name.startswith("mcp_browser/")}
    assert tracked() - in_sdist == set()


@pytest.fixture
def program(built: Built, tmp_path: Path) -> Path:
    """The program of an environment that has the wheel, what it needs, and nothing else."""
    python = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    for words in (
        ["venv", "--python", sys.executable, str(tmp_path / "environment")],
        ["pip", "install", "--python", str(python), str(built.wheel)],
    ):
        succeeds(built.uv, *words)
    return python.with_name("mcp-browser-server")


async def test_the_wheel_runs_where_nothing_else_is(built: Built, program: Path) -> None:
    tools = await tools_of(str(program), ["--stdio"], PYTHONPATH="")
    assert "go_to_url" in [tool.name for tool in tools]


def test_the_sdist_can_test_itself(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    where = "import mcp_browser, sys; sys.exit(not mcp_browser.__file__.startswith(sys.argv[1]))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for words in (["-c", where, str(folder)], ["-m", "pytest", "-q", "-n0", "tests/test_manifests.py"]):
        chosen = ["-m", "not slow and not apps", "-p", "no:cacheprovider"] if "pytest" in words else []
        succeeds(sys.executable, *words, *chosen, cwd=folder, env=environment)
