"""What docs/actions.md shows, as MCP clients meet it: a file of actions, and an installed package."""

import tomllib
from pathlib import Path

import pytest

from tests.support.client import browsing
from tests.support.site import Site
from tests.test_docs import block

DOCUMENT = (Path(__file__).parents[2] / "docs" / "actions.md").read_text("utf-8")
CODE = block("example: shelf_actions.py", DOCUMENT)


def install(folder: Path) -> None:
    """Lay the package out as an installer does: its module, and its metadata beside it."""
    project = tomllib.loads(block("example: pyproject.toml", DOCUMENT))["project"]
    (folder / "shelf_actions.py").write_text(CODE, "utf-8")
    metadata = folder / f"shelf_actions-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    ((group, entries),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


@pytest.mark.parametrize("way", ["file", "package"])
async def test_the_actions_of_the_document_are_tools(
    way: str, tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path)
    flags = ["--actions", str(tmp_path / "shelf_actions.py")] if way == "file" else []
    if way == "package":
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    url = site.page("<p class=novel>A</p><p class=novel>B</p><input id=label aria-label=Label>")

    async with browsing("auto", *flags) as browser:
        tools = {tool.name: tool for tool in (await browser.client.list_tools()).tools}
        await browser.open(url)
        counted = await browser.do("count_books", kind="novel", at_least=2)
        few = await browser.refused("count_books", kind="atlas", at_least=1)
        elsewhere = await browser.refused("write_label", text="Tea")
        added = await browser.do("add_numbers", first=2, second=3.5)

    properties = tools["count_books"].input_schema["properties"]
    assert tools["count_books"].description == "Count the books on the shelf."
    assert properties["kind"]["description"] == "what is counted"
    assert properties["at_least"]["description"] == "fewer than this are an error"
    assert tools["write_label"].input_schema["properties"]["size"]["maximum"] == 9
    assert "2 of novel" in counted
    assert "Ask for fewer" in few
    assert "*.shelf.example" in elsewhere
    assert "5.5" in added
