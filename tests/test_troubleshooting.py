"""What docs/troubleshooting.md quotes is what the program says."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
MESSAGES: list[str] = re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE)


def texts() -> str:
    """The package's source, each text of which stands on one line, whatever lines it is written on."""
    source = "\n".join(file.read_text("utf-8") for file in sorted((ROOT / "mcp_browser").rglob("*.py")))
    return re.sub(r'"\n\s+f?"', "", source)


def test_each_message_that_is_explained_is_one_of_the_program_s() -> None:
    source = texts()
    lines = source.split("\n")

    def occurs(message: str) -> bool:
        parts = message.split("…")
        longest = max(parts, key=len)
        wanted = re.compile("[^\n]*?".join(map(re.escape, parts)))
        return longest in source and any(wanted.search(line) for line in lines if longest in line)

    assert len(MESSAGES) > 40
    assert len(set(MESSAGES)) == len(MESSAGES)
    assert [message for message in MESSAGES if not occurs(message)] == []
    assert not occurs("The moon … is covered.")
