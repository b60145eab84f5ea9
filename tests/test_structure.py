"""What holds for the whole: the package's structure, what lists of tests name, and the lock file."""

import ast
import graphlib
import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement

import mcp_browser
from scripts.audit_packages import judge
from tests.conftest import COLLECTED, NIGHTLY

PACKAGE = Path(mcp_browser.__file__).parent
MOST_LINES = 500
LONG = {
    "dom/hooks.js": 952,  # One script, evaluated in each document before the page's own
}
"""Files that are longer, and how long they may be."""
PRIVATE = {
    "browser/files/downloads.py": {"_impl_obj", "_artifact", "_initializer"},
    "browser/page_activity.py": {"_impl_obj", "_objects"},
    "browser/process/launcher.py": {"_impl_obj", "_connection"},
}
"""Which private members of other packages are used, and where: at most three places."""


PRIVATE_OF_OTHERS = re.compile(r"(?<!\bself)(?<!\bcls)(?<!\bos)\._+[A-Za-z]\w*(?<!__)\b")


def sources() -> dict[str, str]:
    """The text of each Python file of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in paths}


def test_no_files_import_each_other_in_a_ring() -> None:
    # Imports in functions and for types only count, too.
    graph = grimp.build_graph("mcp_browser", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 100
    graphlib.TopologicalSorter(imports).prepare()  # Raises CycleError, which names a ring


def test_no_public_class_name_stands_for_two_things() -> None:
    defined = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
    names = Counter(name for text in sources().values() for name in defined.findall(text))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []


def test_no_two_functions_of_the_page_script_share_a_name() -> None:
    scripts = [*(PACKAGE / "dom" / "page").glob("*.js")]
    declared = re.compile(r"^(?:async )?(?:function\*?|const|let) (\w+)", re.MULTILINE)
    names = Counter(name for path in scripts for name in declared.findall(path.read_text("utf-8")))
    assert len(names) > 100
    assert [name for name, count in names.items() if count > 1] == []


def test_files_are_short() -> None:
    lines = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text("utf-8").splitlines())
        for path in PACKAGE.rglob("*")
        if path.suffix in {".py", ".js", ".css", ".html"}
    }
    assert {name for name, count in lines.items() if count > LONG.get(name, MOST_LINES)} == set()
    assert {name for name in LONG if lines[name] <= MOST_LINES} == set()


def test_private_members_of_others_are_used_in_few_places() -> None:
    # Most files are not worth a syntax tree.
    trees = {name: ast.parse(text) for name, text in sources().items() if PRIVATE_OF_OTHERS.search(text)}
    used = {name: members for name, tree in trees.items() if (members := private_members(tree))}
    assert used == PRIVATE


def private_members(tree: ast.Module) -> set[str]:
    """The private attributes that a file uses and neither defines nor assigns."""
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    own = {node.attr for node in attributes if ast.unparse(node.value) in {"self", "cls", "os"}}
    own |= {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    private = {node.attr for node in attributes if node.attr.startswith("_") and not node.attr.endswith("__")}
    return private - own


def test_each_test_that_is_left_to_the_night_is_there(request: pytest.FixtureRequest) -> None:
    named = {name: kept for name, kept in NIGHTLY.items() if not name.startswith("#")}
    assert len(named) > 100
    for test, kept in named.items():
        path, name = test.partition("[")[0].split("::")
        text = (PACKAGE.parent / path).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE)
        there = [one for one in request.config.stash[COLLECTED] if one.startswith(f"{test}[")]
        assert kept == [""] or not there or {f"{test}[{one}]" for one in kept} <= {*there}, test


# -- security: its promises have tests, and the lock file holds what is declared

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
"""Where parts of libraries are used that these do not call public; PRIVATE has their names."""


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
