"""`mcp-browser token`: a bearer token for a client of the server over HTTP."""

import sys

from mcp_browser.cli.arguments import Arguments
from mcp_browser.cli.sources import LoadedSettings
from mcp_browser.server.http.auth.tokens import DEFAULT_NAME, add_token, new_token


def token(loaded: LoadedSettings, asked: Arguments) -> int:
    """Make a token and print it, and nothing else, to standard output; the exit code.

    With a file of tokens in the settings its hash is added there, and counts within a second where a server
    reads the file. What to do with it is written to standard error.

    Raises:
        SettingsError: the name or the file cannot be used.
    """
    name, tokens = str(asked.given.get("name") or DEFAULT_NAME), loaded.settings.access.tokens
    if tokens is None:
        made = new_token()
        how = f"Start the server with MCP_BROWSER_TOKEN={name}:TOKEN in its environment."
    else:
        made = add_token(tokens, name)
        how = f"Its hash is in {tokens}, and counts for servers with --tokens {tokens}."
    sys.stdout.write(f"{made}\n")
    sys.stdout.flush()
    sys.stderr.write(
        f"{how}\nClients send the header `Authorization: Bearer TOKEN`. It is not shown again.\n"
    )
    return 0
