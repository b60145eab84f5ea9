"""Names from the web, made safe."""

from pathlib import Path

import pytest

from mcp_browser.browser.files.filenames import LONGEST_NAME, safe_name, size_text, take_free_path


@pytest.mark.parametrize(
    ("suggested", "saved"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("..\\..\\x.txt", "x.txt"),
        ("/abs/olute.txt", "abs-olute.txt"),
        ("", "download"),
        (".bashrc", "bashrc"),
        ("nul.txt", "_nul.txt"),
        ("a\x00b\nc.txt", "a-b-c.txt"),
        ("x\u202etxt.exe", "x-txt.exe"),
        ("résumé.pdf", "résumé.pdf"),
        ("long" * 100 + ".pdf", ("long" * 100)[:116] + ".pdf"),
        ("\U0001f600" * 100 + ".pdf", "\U0001f600" * 50 + ".pdf"),
    ],
)
def test_a_suggested_name_is_made_safe(tmp_path: Path, suggested: str, saved: str) -> None:
    name = safe_name(suggested, default="download")
    assert name == saved
    assert take_free_path(tmp_path / "new", name) == tmp_path / "new" / saved


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2_500_000, "2.5 MB"), (3e9, "3.0 GB")],
)
def test_sizes_are_written_for_people(size: float, text: str) -> None:
    assert size_text(int(size)) == text


def test_a_suffix_is_there_once_and_the_name_stays_short() -> None:
    assert safe_name("Report.PDF", suffix=".pdf") == "Report.pdf"
    assert safe_name("", suffix=".pdf", default="page") == "page.pdf"
    long = safe_name("x" * 500, suffix=".mhtml")
    assert long.endswith("x.mhtml")
    assert len(long) == LONGEST_NAME


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    paths = [take_free_path(tmp_path, "a.tar.gz") for _ in range(3)]
    assert [path.name for path in paths] == ["a.tar.gz", "a-2.tar.gz", "a-3.tar.gz"]
    assert all(path.exists() for path in paths)
    # A link counts, and is not followed.
    (tmp_path / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    assert take_free_path(tmp_path, "a.txt").name == "a-2.txt"
