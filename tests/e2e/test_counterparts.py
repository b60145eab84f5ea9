"""The tools of other servers that docs/moving-from-….md name are those that they have."""

import shutil

import pytest
from mcp import Client, StdioServerParameters

from benchmarks import servers
from scripts.counterparts import their_tools

EVERYTHING = {
    "playwright-mcp": ["--caps", "vision,pdf,devtools,network,storage,testing,config"],
    "chrome-devtools-mcp": [
        "--categoryExtensions",
        "--categoryExperimentalThirdParty",
        "--categoryExperimentalWebmcp",
        "--categoryPwa",
        "--experimentalDevtools",
        "--experimentalVision",
        "--memoryDebugging",
        "--devtoolsComments",
        "--experimentalInteropTools",
    ],
}
"""The flags with which a server offers all of its tools."""


@pytest.mark.skipif(shutil.which("npm") is None, reason="the servers come from npm")
@pytest.mark.parametrize("server", EVERYTHING)
async def test_the_counterparts_are_of_the_tools_that_a_server_has(server: str) -> None:
    # No browser is started for a list of tools.
    command = servers.command(server, "chromium", sandbox=False)
    started = StdioServerParameters(
        command=command.argv[0], args=[*command.argv[1:], *EVERYTHING[server]], env=dict(command.env)
    )
    async with Client(started, mode="legacy") as client:
        listed = await client.list_tools()

    assert sorted(tool.name for tool in listed.tools) == sorted(their_tools(server))
