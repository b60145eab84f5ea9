"""What is promised of security has tests, and the lock file holds what is declared."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from scripts.audit_packages import judge
from tests.test_structure import PRIVATE, sources

ROOT = Path(__file__).parent.parent
NONE: list[object] = []
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", LOCK, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_each_promise_names_a_test_that_there_is() -> None:
    promises = (ROOT / "docs" / "security.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+)`", promises))
    defined = re.compile(r"^ *(?:async )?def (test_\w+)\(", re.MULTILINE)
    paths = (ROOT / "tests").rglob("test_*.py")
    there = {name for path in paths for name in defined.findall(path.read_text("utf-8"))}
    assert len(named) > 30
    assert named - there == set()
    for file, title in re.findall(r"`(\w+\.html): (.+?)`", promises):
        assert f"<!-- {title}\n" in (ROOT / "tests" / "snapshot" / "cases" / file).read_text("utf-8")


PRIVATE_PARTS = {
    "mcp": {"server/resources.py"},
    "playwright": {*PRIVATE, "browser/process/early_driver.py"},
    "uvicorn": {"server/http/limits.py"},
}
"""Where parts of libraries are used that these do not call public; test_structure.py has their names."""


def test_a_library_whose_private_parts_are_used_has_an_upper_bound() -> None:
    private = re.compile(r"_impl\b|_impl_obj|reportPrivateUsage")
    using = {path for path, text in sources().items() if private.search(text)}
    assert using == {path for uses in PRIVATE_PARTS.values() for path in uses}
    declared = {one.name: one for one in map(Requirement, PROJECT["dependencies"])}
    for library in PRIVATE_PARTS:
        major, minor, *_ = LOCKED[library].split(".")
        assert LOCKED[library] in declared[library].specifier
        assert f"{major}.{int(minor) + 1}" not in declared[library].specifier, library


def test_the_lock_has_all_that_is_declared_with_hashes_and_no_index() -> None:
    extras = [one for listed in PROJECT["optional-dependencies"].values() for one in listed]
    for text in [*PROJECT["dependencies"], *extras]:
        wanted = Requirement(text)
        if wanted.name != "mcp-browser-server":
            assert LOCKED[wanted.name.lower()] in wanted.specifier, text
    assert "://" not in LOCK
    assert "--index" not in LOCK
    for entry in re.split(r"\n(?=[^\s])", LOCK.strip()):
        assert "--hash=sha256:" in entry, entry


FIXED = {"id": "X-1", "fix_versions": ["2"]}


@pytest.mark.parametrize(
    ("found", "errors", "code", "told"),
    [
        ([{"name": "a", "version": "1", "vulns": NONE}], "", 0, "1 packages compared, 0 adv"),
        ([{"name": "a", "version": "1", "vulns": [FIXED]}], "", 1, "a 1: X-1, fixed in 2"),
        ([{"name": "a", "skip_reason": "odd"}], "", 0, "NOT compared: a"),
        (None, "ConnectionError: Max retries exceeded\n", 0, "the packages are NOT audited"),
        (None, "usage: pip-audit\nno such option\n", 1, "pip-audit failed: no such option"),
    ],
)
def test_advisories_end_the_audit_and_silence_is_said(
    found: object, errors: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(json.dumps({"dependencies": found}) if found else "", errors) == code
    assert told in capsys.readouterr().out
