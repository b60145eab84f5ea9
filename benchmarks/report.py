"""The figures as a document."""

import datetime
import os
import platform
import re
import subprocess

from benchmarks import servers
from mcp_browser import __version__

Figures = dict[str, float | str]

OURS = "mcp-browser"


def document(measured: dict[str, Figures], sizes: list[int], *, rounds: int, chromium: str) -> str:
    """The page docs/performance.md.

    Args:
        measured: the figures of each server, by name.
        sizes: numbers of rows of the pages whose snapshots were taken.
        rounds: how often each server was started.
        chromium: path of the browser that was driven.
    """
    rows = [
        ("start until `tools/list` is answered, ms", "ready"),
        ("… in the protocol's modern era", "modern ready"),
        ("tools", "tools"),
        ("characters of `tools/list`", "tools characters"),
        ("the first page, asked for at once: from the start until it is told, ms", "first page"),
        ("… in the protocol's modern era", "modern first page"),
        ("the first page, asked for 2 s later: from the call until it is told, ms", "first call"),
    ]
    for size in sizes:
        rows.append((f"snapshot of {size:,} rows ({6 * size:,} elements), ms", f"snapshot {size}"))
        rows.append(("… its characters", f"characters {size}"))
    rows += [
        ("a click, ms", "click"),
        ("filling a field, ms", "fill"),
        ("one turn: click, then know what changed, ms", "turn"),
        ("… the change is seen", "turn sees"),
        ("memory of all its processes after that, MB", "memory"),
    ]
    names = list(measured)
    table = [["", *(f"{name} {_version(name)}" for name in names)]]
    table += [[label, *(_shown(measured[name].get(key, "-")) for name in names)] for label, key in rows]
    parts = [
        "# Performance",
        "Written by `just bench`, which installs the other servers at pinned versions and gives all of them "
        "the same work in turn: the same Chromium, headless, the same pages from a local site, over stdio. "
        "Times depend on the machine; the ratios of one run are what to compare.",
        f"{datetime.date.today().isoformat()}: {machine(chromium)}; medians of {rounds} "
        f"{'round' if rounds == 1 else 'rounds'}, each with a fresh process of every server.",
        markdown_table(table),
        "## Ratios of this run",
        _ratios(measured, sizes),
        "## What is measured",
        "* *The first page*, a small one, is told when a tool has returned its text; servers whose "
        "navigation does not tell it are asked for a snapshot as well. Asked for at once, it needs the "
        "server's start and the browser's. Clients list the tools when they start and call one when a person "
        "or a model has thought: the second figure is what they see.\n"
        "* *Start*: this server answers the handshake and `tools/list` from what it answered when last "
        "started with the same settings, while the rest is imported. In the modern era (2026-07-28) each "
        "request stands alone; `-` marks servers that do not speak it.\n"
        "* *Snapshot*: the tool that tells the page, on a page of so many rows, each with a name, a link, a "
        "button, a field and a paragraph. This server cuts it to a budget (`--snapshot-budget`) and says "
        "what is left out; the whole page is walked all the same.\n"
        "* *Turn*: a click that changes one line of a page of five rows, and as many calls as it takes until "
        "that line has been told. A server is marked `no` that has not told it after a snapshot either.\n"
        "* *Memory*: the proportional set size of the server, its browser and whatever else it has started.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _ratios(measured: dict[str, Figures], sizes: list[int]) -> str:
    ours = measured.get(OURS)
    others = [name for name in measured if name != OURS]
    if ours is None or not others:
        return "Only one kind of server was measured."
    rows = [("one turn", "turn"), ("a click", "click"), ("filling a field", "fill")]
    rows += [
        ("start until `tools/list` is answered", "ready"),
        ("the first page, asked for at once", "first page"),
    ]
    rows += [("the first page, asked for 2 s later", "first call")]
    rows += [(f"snapshot of {size:,} rows", f"snapshot {size}") for size in sizes]
    rows += [(f"characters of {size:,} rows", f"characters {size}") for size in sizes]
    rows += [("characters of `tools/list`", "tools characters"), ("memory", "memory")]
    table = [[f"{OURS} is … of", *others]]
    for label, key in rows:
        mine = ours.get(key)
        table.append([label, *(_ratio(mine, measured[name].get(key)) for name in others)])
        if (mine := ours.get(f"modern {key}")) is not None:
            # Their clients would fall back to the older one.
            cells = [
                _ratio(mine, measured[name].get(f"modern {key}", measured[name].get(key, "-")))
                for name in others
            ]
            table.append(["… in the protocol's modern era, theirs in the one they speak", *cells])
    return markdown_table(table)


def _ratio(mine: float | str | None, theirs: float | str | None) -> str:
    if isinstance(mine, str) or mine is None:
        return "-"
    if isinstance(theirs, str) or not theirs:
        return f"({theirs})" if theirs else "-"
    return f"{mine / theirs:.2f}"


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}"


def markdown_table(table: list[list[str]], *, texts: int = 1) -> str:
    """A table in Markdown; the first row is its head, the first columns are `texts`, the others numbers."""
    head, *body = table
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * texts + "---:|" * (len(head) - texts)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def filled(document: str, name: str, text: str) -> str:
    """A document with its part between the two comments of this name replaced.

    Raises:
        ValueError: it has no place for it.
    """
    pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)"
    new, count = re.subn(pattern, lambda found: f"{found[1]}{text}\n{found[2]}", document, flags=re.S)
    if not count:
        raise ValueError(f"the document has no place for {name!r}")
    return new


def _version(name: str) -> str:
    return __version__.partition("+")[0] if name == OURS else servers.PEERS[name][1]


def machine(chromium: str) -> str:
    """The class of machine: what matters for the figures, and nothing that identifies this one."""
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    said = subprocess.run([chromium, "--version"], capture_output=True, text=True, check=False).stdout
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {gibibytes:.0f} GiB of memory, {platform.system()}, "
        f"{said.split(' built')[0].strip()}, Python {platform.python_version()}"
    )
