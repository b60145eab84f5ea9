"""What holds for the package as a whole: its imports, its names and the size of its files."""

import ast
import graphlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import grimp

import mcp_browser

PACKAGE = Path(mcp_browser.__file__).parent
MOST_LINES = 500
LONG = {
    "dom/hooks.js": 1010,  # One script, evaluated in each document before the page's own
}
"""Files that are longer, and how long they may be."""
PRIVATE = {
    "browser/files/downloads.py": {"_impl_obj", "_artifact", "_initializer"},
    "browser/page_activity.py": {"_impl_obj", "_objects"},
    "browser/process/launcher.py": {"_impl_obj", "_connection"},
}
"""Which private members of other packages are used, and where: at most three places."""


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Each Python file of the package, and its syntax tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text("utf-8"))


def test_no_files_import_each_other_in_a_ring() -> None:
    # Imports in functions and for types only count, too.
    graph = grimp.build_graph("mcp_browser", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 100
    graphlib.TopologicalSorter(imports).prepare()  # Raises CycleError, which names a ring


def test_no_public_class_name_stands_for_two_things() -> None:
    names = Counter(node.name for _, tree in trees() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1 and not name.startswith("_")] == []


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
    used = {name: members for name, tree in trees() if (members := private_members(tree))}
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
