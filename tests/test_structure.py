"""What holds for the whole: the package's imports, names and sizes of files, and what nightly.txt names."""

import ast
import graphlib
import re
from collections import Counter
from pathlib import Path

import grimp
import pytest

import mcp_browser
from tests.conftest import COLLECTED, NIGHTLY

PACKAGE = Path(mcp_browser.__file__).parent
MOST_LINES = 500
LONG = {
    "dom/hooks.js": 948,  # One script, evaluated in each document before the page's own
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
