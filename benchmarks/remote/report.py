"""Writes docs/reliability.md, a section for each command."""

import datetime
import re
from pathlib import Path

from rich.console import Console

from benchmarks.report import machine
from mcp_browser.browser.process.launch import find_browser
from mcp_browser.settings import Settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"
HEADINGS = {
    "load": "Many clients at once",
    "soak": "Many calls in one process",
    "chaos": "Faults",
    "replicas": "Several replicas",
}
HEAD = """# Reliability

Written by `just remote load`, `soak`, `chaos` and `replicas`, a section each; see
[benchmarks](https://github.com/mcp-browser/mcp-browser/blob/main/benchmarks/README.md). Memory is the
proportional set size (PSS) of a server and all that it has started, without what is mapped from files:
programs that run more than once share those.
"""


def show(command: str, text: str, *, write: bool) -> None:
    """Print a section, and put it into the document."""
    chromium = str(find_browser(Settings().browser).executable)
    where = f"{datetime.date.today().isoformat()}: {machine(chromium)}."
    section = f"## {HEADINGS[command]}\n\n{where}\n\n{text}\n"
    Console().print(section, markup=False, highlight=False, soft_wrap=True)
    if not write:
        return
    before = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    sections = {
        heading: found[0] for heading in HEADINGS.values() if (found := _section(heading, before)) is not None
    }
    sections[HEADINGS[command]] = section
    ordered = (sections[heading].strip() for heading in HEADINGS.values() if heading in sections)
    DOCUMENT.write_text("\n\n".join([HEAD.strip(), *ordered]) + "\n", encoding="utf-8")


def _section(heading: str, document: str) -> re.Match[str] | None:
    return re.search(rf"^## {heading}\n.*?(?=^## |\Z)", document, re.M | re.S)
