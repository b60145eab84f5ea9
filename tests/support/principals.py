"""Callers that a server knows by their tokens."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mcp_browser.server.principals import Principal, set_principal

TOKENS = {name: f"{name}-0123456789abcdef" for name in ("alice", "bob", "carol", "dan")}
BEARERS = {"MCP_BROWSER_TOKEN": ",".join(f"{name}:{token}" for name, token in TOKENS.items())}
"""The variable that lets all of them in."""

ALICE, BOB = TOKENS["alice"], TOKENS["bob"]


def bearer(caller: str) -> dict[str, str]:
    """The header of a caller by name, or of a token."""
    return {"Authorization": f"Bearer {TOKENS.get(caller, caller)}"}


def private_file(path: Path, text: str) -> Path:
    """A file that only its owner may read, as those of tokens and secrets have to be."""
    path.touch(0o600)
    path.write_text(text, "utf-8")
    return path


def tokens_in(folder: Path) -> Path:
    """A file with the tokens of Alice and Bob."""
    return private_file(folder / "tokens", f"alice: {ALICE}\nbob: {BOB}\n")


def request_of(caller: Principal) -> Any:
    """The context of a request from this caller, of the modern protocol."""
    scope: dict[str, Any] = {}
    set_principal(scope, caller)
    return SimpleNamespace(request=SimpleNamespace(scope=scope))
