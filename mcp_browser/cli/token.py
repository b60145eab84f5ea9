"""`mcp-browser token`: a bearer token for a client of the server over HTTP."""

import sys

from mcp_browser.server.http.auth.tokens import DEFAULT_NAME, add_token, new_token
from mcp_browser.settings import AccessSettings


def token(settings: AccessSettings, name: str | None) -> int:
    """Make a token and print it, and nothing else, to standard output; the exit code.

    With a file of tokens in the settings its hash is added there, and counts at once where a server reads the
    file. What to do with it is written to standard error.

    Raises:
        SettingsError: the name or the file cannot be used.
    """
    name = name or DEFAULT_NAME
    if settings.tokens is None:
        made = new_token()
        how = f"Start the server with MCP_BROWSER_TOKEN={name}:TOKEN in its environment."
    else:
        made = add_token(settings.tokens, name)
        how = f"Its hash is in {settings.tokens}, and counts for servers with --tokens {settings.tokens}."
    sys.stdout.write(f"{made}\n")
    sys.stdout.flush()
    sys.stderr.write(
        f"{how}\nClients send the header `Authorization: Bearer TOKEN`. It is not shown again.\n"
    )
    return 0
