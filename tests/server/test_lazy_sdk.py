"""The SDK's parts that a server does not need are there for those who ask for them."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

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


def test_what_is_left_out_of_a_start_is_imported_when_it_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
