"""What is published: manifests that start the server, a wheel that runs alone, an sdist that tests itself."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from typing import Any, cast

import jsonschema
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from mcp_browser.cli.arguments import parse_arguments
from mcp_browser.cli.sources import load_settings
from mcp_browser.settings import all_options
from tests.support.packages import npm_packages, python_packages
from tests.support.process import own_environment, succeeds

ROOT = Path(__file__).parent.parent
MANIFESTS = ROOT / "manifests"
COMMAND = ["uvx", "mcp-browser-server"]
CLIENTS = {
    "claude-desktop.json": "mcpServers",
    "claude-code.json": "mcpServers",
    "cursor.json": "mcpServers",
    "vscode.json": "servers",
}


def parsed(name: str) -> dict[str, Any]:
    return json.loads((MANIFESTS / name).read_text("utf-8"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def version() -> str:
    """The version that is named where there is no tag."""
    return project()["tool"]["hatch"]["version"]["fallback-version"]


async def tools_of(command: str, arguments: list[str], **environment: str) -> list[types.Tool]:
    """The tools of the server that a command starts."""
    quiet = own_environment() | {"MCP_BROWSER_HEADLESS": "true", "MCP_BROWSER_ISOLATED": "true"}
    server = StdioServerParameters(command=command, args=arguments, env=quiet | environment)
    async with Client(server, read_timeout_seconds=300) as client:
        return (await client.list_tools()).tools


def bundle(folder: Path) -> Path:
    """The MCP bundle, built and unpacked in a folder."""
    told = succeeds(sys.executable, "scripts/build_bundle.py", folder, cwd=ROOT)
    with zipfile.ZipFile(told.strip()) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def filled_in(manifest: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The command of a bundle's manifest as a client makes it: folder and configuration put in."""
    values = {f"user_config.{name}": field["default"] for name, field in manifest["user_config"].items()}
    values["__dirname"] = str(folder)

    def fill(text: str) -> str:
        return re.sub(r"\$\{(.*?)\}", lambda found: _as_text(values[found[1]]), text)

    config = manifest["server"]["mcp_config"]
    environment = {name: fill(value) for name, value in config["env"].items()}
    return {"command": config["command"], "args": [fill(part) for part in config["args"]], "env": environment}


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(("name", "key"), CLIENTS.items())
def test_a_client_configuration_starts_the_server(name: str, key: str) -> None:
    (entry,) = parsed(name)[key].values()
    assert [entry["command"], entry["args"][0]] == COMMAND
    assert entry.get("type", "stdio") == "stdio"
    assert parse_arguments(entry["args"][1:]).command == "serve"


def test_every_manifest_names_this_version_and_the_readme_its_name() -> None:
    server = parsed("server.json")
    assert f"mcp-name: {server['name']}" in (ROOT / "README.md").read_text("utf-8")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    by_name, bundle = server["packages"]
    assert {server["version"], by_name["version"], bundle["version"]} == {version()}
    assert by_name["identifier"] == project()["project"]["name"]
    assert version() in bundle["identifier"]
    assert parsed("mcpb/manifest.json")["version"] == version()


def test_the_registrys_entry_names_settings_that_there_are() -> None:
    package, bundle = parsed("server.json")["packages"]
    assert package["environmentVariables"] == bundle["environmentVariables"]
    variables = {option.variable: option for option in all_options().values()}
    for given in package["environmentVariables"]:
        assert given["description"].startswith(variables[given["name"]].description.partition(".")[0])
        if "default" in given:
            load_settings({}, environment={given["name"]: given["default"]})
    assert parse_arguments([given["name"] for given in package["packageArguments"]]).command == "serve"


def test_the_bundle_holds_the_package_and_its_description(tmp_path: Path) -> None:
    folder = bundle(tmp_path)
    manifest = parsed("mcpb/manifest.json")
    assert json.loads((folder / "manifest.json").read_text("utf-8")) == manifest
    assert (folder / manifest["server"]["entry_point"]).is_file()
    assert (folder / "mcp_browser" / "assets" / "try.html").is_file()
    assert tomllib.loads((folder / "pyproject.toml").read_text("utf-8")) == project()
    registered = json.loads((tmp_path / "server.json").read_text("utf-8"))["packages"][1]
    assert registered["identifier"].rpartition("/")[2] == f"mcp-browser-{version()}.mcpb"
    assert re.fullmatch("[0-9a-f]{64}", registered["fileSha256"])


@pytest.mark.slow
def test_the_same_source_makes_the_same_bundle(tmp_path: Path) -> None:
    bundle(tmp_path / "one")
    bundle(tmp_path / "two")
    first, second = (next((tmp_path / name).glob("*.mcpb")).read_bytes() for name in ("one", "two"))
    assert first == second


@pytest.mark.slow
async def test_the_bundles_entry_point_starts_the_server(tmp_path: Path) -> None:
    folder = bundle(tmp_path)
    manifest = parsed("mcpb/manifest.json")
    entry = folder / manifest["server"]["entry_point"]
    environment = filled_in(manifest, folder)["env"] | {"MCP_BROWSER_ISOLATED": "true"}
    tools = await tools_of(sys.executable, [str(entry), "--stdio"], PYTHONPATH=str(folder), **environment)
    assert "go_to_url" in [tool.name for tool in tools]


def test_the_bundles_configuration_is_valid_and_its_first_start_not_silent(tmp_path: Path) -> None:
    config = filled_in(parsed("mcpb/manifest.json"), tmp_path)
    assert load_settings({}, environment=config["env"]).settings.tools.tools == ("core",)
    # uv tells on standard error what it gets, which clients log.
    assert not {"--quiet", "-q", "--no-progress"} & set(config["args"])


@pytest.mark.apps
def test_the_bundles_manifest_passes_the_bundlers_own_check(tmp_path: Path) -> None:
    modules = npm_packages("mcpb", "@anthropic-ai/mcpb@2.1.2")
    folder = bundle(tmp_path)
    succeeds(modules / ".bin" / "mcpb", "validate", folder / "manifest.json")
    schema = modules / "@anthropic-ai" / "mcpb" / "schemas" / "mcpb-manifest-v0.4.schema.json"
    _validate(parsed("mcpb/manifest.json"), schema)


@pytest.mark.apps
async def test_uv_starts_the_server_from_the_bundle(tmp_path: Path) -> None:
    uv = python_packages("uv", "uv==0.13.8").with_name("uv")
    folder = bundle(tmp_path)
    config = filled_in(parsed("mcpb/manifest.json"), folder)
    assert config["command"] == "uv"
    environment = config["env"] | {"MCP_BROWSER_ISOLATED": "true", "UV_PYTHON": sys.executable}
    tools = await tools_of(str(uv), config["args"], **environment)
    assert "go_to_url" in [tool.name for tool in tools]


@pytest.mark.apps
@pytest.mark.parametrize("built", [False, True], ids=["as written", "as built"])
def test_the_registrys_entry_follows_the_registrys_schema(tmp_path: Path, built: bool) -> None:
    environment = python_packages("skillsaw", "skillsaw==0.22.0").parent.parent
    (schema,) = environment.rglob("mcp_registry/v2025_12_11/server.schema.json")
    bundle(tmp_path)
    entry = tmp_path / "server.json" if built else MANIFESTS / "server.json"
    _validate(json.loads(entry.read_text("utf-8")), schema)


def _validate(content: dict[str, Any], schema: Path) -> None:
    # Its types are partly unknown to a strict checker.
    validate = cast("Any", jsonschema).validate
    validate(content, json.loads(schema.read_text("utf-8")))


# -- the wheel and the sdist


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


@pytest.mark.slow
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


@pytest.mark.slow
async def test_the_wheel_runs_where_nothing_else_is(built: Built, program: Path) -> None:
    tools = await tools_of(str(program), ["--stdio"], PYTHONPATH="")
    assert "go_to_url" in [tool.name for tool in tools]


@pytest.mark.slow
def test_the_sdist_can_test_itself(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as sdist:
        sdist.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    where = "import mcp_browser, sys; sys.exit(not mcp_browser.__file__.startswith(sys.argv[1]))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for words in (["-c", where, str(folder)], ["-m", "pytest", "-q", "-n0", "tests/test_manifests.py"]):
        chosen = ["-m", "not slow and not apps", "-p", "no:cacheprovider"] if "pytest" in words else []
        succeeds(sys.executable, *words, *chosen, cwd=folder, env=environment)
