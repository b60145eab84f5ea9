"""The files of a session, their names, and what a client on another machine is told of paths: nothing."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mcp_browser.browser.files.artifacts import (
    HIDDEN,
    LONGEST_NAME,
    Artifacts,
    ServerPaths,
    safe_name,
    size_text,
    take_free_path,
)
from mcp_browser.errors import NotActionable, NotFound
from mcp_browser.settings import FileSettings, Settings
from mcp_browser.text import counted


class Kept:
    """Artifacts under some settings, and what they have told."""

    def __init__(self, **settings: object) -> None:
        self.notices: list[str] = []
        self.heard: list[str] = []
        self.artifacts = Artifacts(FileSettings.model_validate(settings), self.notices.append)
        self.artifacts.on_change = self.heard.append


@pytest_asyncio.fixture(loop_scope="session")
async def kept() -> AsyncIterator[Kept]:
    kept = Kept(max_files=3, max_files_size=1)
    yield kept
    await kept.artifacts.close()


async def test_a_file_has_a_type_a_size_and_an_address_of_plain_letters(kept: Kept) -> None:
    added = await kept.artifacts.add(b"a,b\n", "table.csv", kind="download")
    assert kept.artifacts.find(added.uri) == added
    assert (added.size, added.mime_type, added.path.read_bytes()) == (4, "text/csv", b"a,b\n")
    assert added.place == str(added.path)
    assert kept.heard == [added.uri]
    added = await kept.artifacts.add(b"x", "Grüße ?#/ 世界.txt")
    assert added.name == "Grüße -#- 世界.txt"
    assert added.uri.isascii()
    assert kept.artifacts.find(added.uri) == added


async def test_a_remote_client_is_told_the_address_only_which_names_its_server(kept: Kept) -> None:
    notices: list[str] = []
    artifacts = Artifacts(FileSettings(), notices.append, remote=True, replica="east-1")
    added = await artifacts.add(b"x", "a.txt")
    assert added.place == added.uri
    assert added.uri.startswith("browser://east-1.")
    assert artifacts.find(added.uri) == added
    # Another session does not find it.
    await kept.artifacts.add(b"y", "a.txt")
    with pytest.raises(NotFound, match="no file"):
        kept.artifacts.find(added.uri)
    await artifacts.close()


@pytest.mark.parametrize("rest", ["", "/files/1/../2/a.txt", "/files/99999999999", "/files/-1/a", "/tasks/1"])
async def test_an_address_of_another_form_is_not_found(kept: Kept, rest: str) -> None:
    await kept.artifacts.add(b"y", "a.txt")
    with pytest.raises(NotFound, match="no file"):
        kept.artifacts.find(f"browser://{kept.artifacts.key}{rest}")


async def test_a_file_that_is_not_whole_cannot_be_found_until_it_is(kept: Kept) -> None:
    pending = kept.artifacts.reserve("big.bin")
    pending.path.write_bytes(b"half")
    assert kept.artifacts.files() == []
    with pytest.raises(NotFound, match=r"big\.bin is not whole yet"):
        kept.artifacts.find(pending.uri)
    pending.path.write_bytes(b"whole")
    assert kept.artifacts.complete(pending).uri == pending.uri
    assert kept.artifacts.find(pending.uri).size == 5
    # One that was given up leaves nothing.
    pending = kept.artifacts.reserve("big.bin")
    kept.artifacts.abandon(pending)
    assert not pending.path.exists()
    with pytest.raises(NotFound, match="not there any more"):
        kept.artifacts.find(pending.uri)


async def test_the_oldest_go_when_they_are_too_many_or_too_big_and_that_is_told(kept: Kept) -> None:
    added = [await kept.artifacts.add(b"x", f"{number}.txt") for number in range(4)]
    assert [file.name for file in kept.artifacts.files()] == ["1.txt", "2.txt", "3.txt"]
    assert not added[0].path.exists()
    assert kept.notices == ["0.txt was removed. A session keeps its newest 3 files, 1 MB in all."]
    with pytest.raises(NotFound, match="not there any more"):
        kept.artifacts.find(added[0].uri)
    # When all are too big, the newest stays.
    await kept.artifacts.add(b"x" * 600_000, "old.bin")
    newest = await kept.artifacts.add(b"x" * 1_600_000, "new.bin")
    assert kept.artifacts.files() == [newest]


async def test_a_whole_file_is_moved_in(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "made.har").write_text("{}")
    added = await kept.artifacts.add(tmp_path / "made.har", "requests.har")
    assert added.path.read_text() == "{}"
    assert not (tmp_path / "made.har").exists()


async def test_closing_deletes_temporary_files_and_tells_that_they_are_gone(kept: Kept) -> None:
    added = await kept.artifacts.add(b"x", "a.txt")
    pending = kept.artifacts.reserve("pending.txt")
    folder = kept.artifacts.folder
    await kept.artifacts.close()
    assert not folder.exists()
    assert kept.heard == [added.uri, pending.uri, added.uri]
    with pytest.raises(NotFound):
        kept.artifacts.find(added.uri)


async def test_files_in_a_folder_that_the_user_named_stay(tmp_path: Path) -> None:
    kept = Kept(output_dir=tmp_path, max_files=1)
    for name in ("a.txt", "b.txt"):
        await kept.artifacts.add(b"x", name)
    assert [file.name for file in kept.artifacts.files()] == ["b.txt"]
    assert kept.notices == []
    pending = kept.artifacts.reserve("half.txt")
    await kept.artifacts.close()
    assert [(tmp_path / name).exists() for name in ("a.txt", "b.txt", pending.name)] == [True, True, False]


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
    assert safe_name("x" * 500, suffix=".mhtml") == "x" * (LONGEST_NAME - 6) + ".mhtml"


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    paths = [take_free_path(tmp_path, "a.tar.gz") for _ in range(3)]
    assert [path.name for path in paths] == ["a.tar.gz", "a-2.tar.gz", "a-3.tar.gz"]
    assert all(path.exists() for path in paths)
    # A link counts, and is not followed.
    (tmp_path / "a.txt").symlink_to(tmp_path / "elsewhere.txt")
    assert take_free_path(tmp_path, "a.txt").name == "a-2.txt"


PATHS = ServerPaths(Settings(files=FileSettings(output_dir=Path("/srv/out"))))
TEMPORARY = tempfile.gettempdir()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"copyfile '{TEMPORARY}/a/b.txt' -> '/srv/out/a b'", f"copyfile '{HIDDEN}' -> '{HIDDEN} b'"),
        ("There is no file /srv/out/x.json.", f"There is no file {HIDDEN}."),
        ("It is in /srv/out/a.", f"It is in {HIDDEN}."),
        ("Open https://a.org/srv/out/x or /srv/outer", "Open https://a.org/srv/out/x or /srv/outer"),
        ("You said /srv/out/mine", "You said /srv/out/mine"),
    ],
)
def test_an_error_names_no_path_that_the_client_has_not_said(text: str, told: str) -> None:
    assert PATHS.hide(text, known="{'paths': ['/srv/out/mine']}") == told


async def test_a_file_that_cannot_be_written_later_tells_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    files = Artifacts(FileSettings(output_dir=folder), print)
    remote = Artifacts(FileSettings(output_dir=folder), print, remote=True)
    folder.touch()
    with pytest.raises(OSError, match="out") as failed:
        files.reserve("page.pdf")
    assert isinstance(files.not_written(failed.value), NotActionable)
    assert str(files.not_written(failed.value)).startswith(f"The file could not be written in {folder} (")
    assert "--output-dir" in str(files.not_written(failed.value))
    assert str(folder) not in str(remote.not_written(failed.value))


@pytest.mark.parametrize(
    ("number", "noun", "told"), [(1, "file", "1 file"), (0, "step", "0 steps"), (1200, "line", "1,200 lines")]
)
def test_what_is_counted_is_told_in_its_number(number: int, noun: str, told: str) -> None:
    assert counted(number, noun) == told
