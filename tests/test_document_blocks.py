"""What the documents show in blocks, commands and links: each can be read by what it is for."""

import ast
import importlib
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from benchmarks import servers
from benchmarks.agent import model
from mcp_browser.cli import arguments
from mcp_browser.cli.clients import CLIENTS
from mcp_browser.cli.options import all_options
from scripts import generate_docs
from tests.test_docs import PAGES, ROOT

BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OWN_SITE = "https://github.com/mcp-browser/mcp-browser/blob/main/"
OF_OTHERS = {
    *("--mcp", "--remote-debugging-port", "--session-timeout", "--user-data-dir"),
    *("--disable-features", "--max-semi-space-size"),
    *("--cap-drop", "--security-opt", "--shm-size", "--target", "--tmpfs"),
}
"""Flags of other programs that the documents name."""

LINKING = [*PAGES, ROOT / "benchmarks" / "README.md"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """The code blocks in these languages."""
    for found in BLOCK.finditer(page.read_text("utf-8")):
        if found["language"] in languages:
            yield found["body"]


def prose(page: Path) -> str:
    """The page without its blocks; of one about another program without what is that one's."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    theirs = r"^\|[^|\n]*\||^#.*" if page.stem.startswith("moving") else r"(?!)"
    return re.sub(theirs, "|", text, flags=re.MULTILINE)


def commands(page: Path) -> Iterator[list[str]]:
    """Each command line of this program, without the program's name."""
    lines = [line for body in blocks(page, "bash") for line in body.replace("\\\n", " ").splitlines()]
    for line in (*lines, *SPAN.findall(prose(page))):
        for part in re.split(r"&&|[|;>]", re.sub(r"\s#.*", "", line)):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            # Another program may be told to start this one.
            words = words[words.index("--") + 1 :] if "--" in words else words
            while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "uvx"):
                words.pop(0)
            if words and Path(words[0]).name in {"mcp-browser", "mcp-browser-server"}:
                yield [word.replace("SHELL", "bash") for word in words[1:]]


def test_every_command_is_one_that_the_program_takes() -> None:
    found = {tuple(words) for page in PAGES for words in commands(page)}
    parser = arguments.whole_parser()

    for words in sorted(found):
        taken, unknown = parser.parse_known_args(arguments._joined(words))
        assert unknown == [], words
        assert getattr(taken, "client", "CLIENT") in {*CLIENTS, "CLIENT"}, words
    assert ("try", "--with-deps") in found
    assert ("tasks", "resume", "TASK", "--tell", "…") in found
    assert len(found) > 40


@cache
def flags() -> set[str]:
    """Every flag of the program."""
    of_settings = {
        flag for option in all_options().values() for flag in (option.flag, option.off_flag) if flag
    }
    own = {flag for given in arguments._OWN.values() for flag in given}
    return of_settings | own | {"--config", "--help", "--stdio", "--version"}


@each_page
def test_every_flag_that_is_named_exists(page: Path) -> None:
    named = {
        flag for span in SPAN.findall(prose(page)) for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span)
    }

    assert named - flags() - OF_OTHERS == set()


@each_page
def test_every_block_can_be_read_in_its_language(page: Path) -> None:
    for body in blocks(page, "json"):
        json.loads(body)
    for body in blocks(page, "toml"):
        tomllib.loads(body)
    for body in blocks(page, "yaml"):
        list(yaml.safe_load_all(body))
    for body in blocks(page, "python"):
        compile(body, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(ast.parse(body)):
            if isinstance(node, ast.ImportFrom):
                module = importlib.import_module(str(node.module))
                assert {one.name for one in node.names} <= set(dir(module))
            elif isinstance(node, ast.Import):
                for one in node.names:
                    importlib.import_module(one.name)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the repository's host and the site make them."""
    text = BLOCK.sub("", page.read_text("utf-8"))
    headings = (re.sub(r"\]\([^)]*\)", "", one) for one in re.findall(r"^#+ +(.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_heading_that_is_there(page: Path) -> None:
    for target, anchor in re.findall(
        r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", BLOCK.sub("", page.read_text("utf-8"))
    ):
        if target.startswith(OWN_SITE):
            assert (ROOT / target.removeprefix(OWN_SITE)).exists(), target
        elif "://" not in target and not target.startswith("mailto:"):
            there = page.parent / target if target else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def test_the_site_s_navigation_leads_to_every_page_or_another_page_does() -> None:
    docs = ROOT / "docs"
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    linked = {
        (page.parent / target).resolve() if target else ROOT / named
        for page in LINKING
        for target, named in re.findall(r"\]\(([^)#\s]+\.md)|`(docs/[^`\s]+\.md)`", page.read_text("utf-8"))
    }

    assert [name for name in listed if not (docs / name).exists()] == []
    assert set(docs.rglob("*.md")) - {docs / name for name in listed} - linked == set()


def test_others_are_compared_at_the_versions_that_are_measured() -> None:
    comparison = (ROOT / "docs" / "comparison.md").read_text("utf-8").replace("\n", " ")
    moving = (ROOT / "docs" / "moving-from-playwright-mcp.md").read_text("utf-8")
    from_devtools = (ROOT / "docs" / "moving-from-chrome-devtools-mcp.md").read_text("utf-8")
    from_its_agent = (ROOT / "docs" / "moving-from-browser-use.md").read_text("utf-8")

    for name, (package, version) in servers.PEERS.items():
        assert re.search(rf"{name} (\([^)]*\) )?{re.escape(version)}", comparison), name
        assert name != "playwright-mcp" or f"`{package}` {version}" in moving
        assert name != "chrome-devtools-mcp" or f"`{package}` {version}" in from_devtools
    for page in (comparison, from_its_agent):
        assert f"browser-use {model.browser_use_version()}" in page


PLAYWRIGHT_MCP = """
    click close console_messages drag drop emulate_media evaluate file_upload fill_form find
    handle_dialog hover navigate navigate_back network_request network_requests press_key resize
    run_code_unsafe select_option snapshot take_screenshot type wait_for tabs get_config
    network_state_set route route_list unroute cookie_clear cookie_delete cookie_get cookie_list
    cookie_set localstorage_clear localstorage_delete localstorage_get localstorage_list
    localstorage_set sessionstorage_clear sessionstorage_delete sessionstorage_get
    sessionstorage_list sessionstorage_set set_storage_state storage_state annotate hide_highlight
    highlight resume start_recording start_tracing start_video stop_recording stop_tracing
    stop_video video_chapter video_hide_actions video_show_actions mouse_click_xy mouse_down
    mouse_drag_xy mouse_move_xy mouse_up mouse_wheel pdf_save generate_locator
    verify_element_visible verify_list_visible verify_text_visible verify_value""".split()
"""The tools of @playwright/mcp 0.0.83 with all its capabilities, without `browser_`."""


def test_every_tool_of_playwright_mcp_has_a_counterpart_or_a_reason() -> None:
    page = (ROOT / "docs" / "moving-from-playwright-mcp.md").read_text("utf-8")
    rows = re.findall(r"^\| (`browser_[^|]*) \| ([^|]+) \|(.*)\|$", page, re.MULTILINE)
    named = [name for row in rows for name in SPAN.findall(row[0])]

    assert sorted(named) == sorted(f"browser_{name}" for name in PLAYWRIGHT_MCP)
    assert [row for row in rows if row[1] == "none" and not row[2].strip()] == []


CHROME_DEVTOOLS_MCP = """
    open_devtools get_devtools_comments resolve_devtools_comment reveal_in_devtools get_console_message
    list_console_messages get_css_styles emulate install_extension uninstall_extension list_extensions
    reload_extension trigger_extension_action click click_at hover fill type_text drag fill_form upload_file
    press_key lighthouse_audit take_heapsnapshot get_heapsnapshot_summary get_heapsnapshot_details
    get_heapsnapshot_class_nodes get_heapsnapshot_retainers close_heapsnapshot
    get_heapsnapshot_retaining_paths get_heapsnapshot_edges get_heapsnapshot_dominators
    compare_heapsnapshots get_heapsnapshot_duplicate_strings get_heapsnapshot_object_details
    query_heapsnapshot_objects analyze_heapsnapshot_contexts list_network_requests get_network_request
    list_pages select_page close_page new_page navigate_page resize_page handle_dialog get_tab_id
    performance_start_trace performance_stop_trace performance_analyze_insight install_pwa uninstall_pwa
    launch_pwa get_os_app_state screencast_start screencast_stop take_screenshot evaluate_script
    take_snapshot wait_for list_3p_developer_tools execute_3p_developer_tool list_webmcp_tools
    execute_webmcp_tool""".split()
"""The tools of chrome-devtools-mcp 1.11.0 with all its categories."""


def test_every_tool_of_chrome_devtools_mcp_has_a_counterpart_or_a_reason() -> None:
    page = (ROOT / "docs" / "moving-from-chrome-devtools-mcp.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]+) \|(.*)\|$", page, re.MULTILINE)
    named = [name for row in rows for name in SPAN.findall(row[0])]

    assert sorted(named) == sorted(CHROME_DEVTOOLS_MCP)
    assert [row for row in rows if row[1] == "none" and not row[2].strip()] == []
    ours = {name for row in rows for name in SPAN.findall(row[1]) if "_" in name}
    assert ours <= generate_docs.schemas().keys() | generate_docs.groups()


@pytest.mark.parametrize("name", ["moving-from-playwright-mcp.md", "moving-from-browser-use.md"])
def test_every_name_of_ours_for_those_who_come_exists(name: str) -> None:
    schemas = generate_docs.schemas()
    words = {*generate_docs.groups(), *schemas, "null", "done", "data", "succeeded", "unconfirmed", "env"}
    words |= {word for schema in schemas.values() for word in schema.get("properties", {})}
    text = prose(ROOT / "docs" / name)

    assert {span for span in SPAN.findall(text) if re.fullmatch(r"[a-z_]+", span)} - words == set()
