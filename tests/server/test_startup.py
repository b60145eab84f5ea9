"""What the environment says about traces, and the SDK's parts that are there for those who ask for them."""

import subprocess
import sys

import pytest

from mcp_browser.server.startup import exporter_name


@pytest.mark.parametrize(
    ("variables", "name"),
    [
        ({}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "Console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "true"}, None),
        ({"OTEL_SERVICE_NAME": "browser"}, None),
    ],
)
def test_spans_are_sent_where_a_variable_asks_for_it(
    variables: dict[str, str], name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert exporter_name() == name


_PROGRAM = """
import sys
from mcp_browser.server.startup import import_with_sdk

import_with_sdk("mcp_browser.server.transports")
assert "mcp.client" not in sys.modules
assert "mcp.server.mcpserver" not in sys.modules

from pydantic import BaseModel
assert "defer_build" not in BaseModel.model_config

import mcp
assert not hasattr(mcp, "__wrapped__")
assert "mcp.client" not in sys.modules
from mcp import Client, types
from mcp.server import MCPServer
assert callable(mcp.Client) and Client is mcp.Client
assert mcp.server.MCPServer is MCPServer
try:
    mcp.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error)
else:
    raise AssertionError("a name that is not there was found")
assert types.Tool(name="a", input_schema={}).name == "a"
"""


@pytest.mark.slow
def test_what_is_left_out_of_a_start_is_imported_when_it_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
