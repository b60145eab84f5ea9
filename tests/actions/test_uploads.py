"""Which files may be uploaded."""

from pathlib import Path

import pytest

from mcp_browser.actions.files import allowed_file
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import InvalidArguments, NotFound
from mcp_browser.settings import FileSettings, Settings

pytestmark = pytest.mark.fresh


def test_a_file_is_found_in_an_allowed_folder_by_a_relative_path_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    for path in ("a.txt", str(tmp_path / "a.txt"), str(tmp_path / "link" / "a.txt")):
        for folder in (tmp_path, tmp_path / "link"):
            assert allowed_file(path, [folder]) == (tmp_path / "a.txt").resolve()


@pytest.mark.parametrize("how", ["absolute", "dots", "link", "linked folder"])
def test_no_path_leads_out_of_the_allowed_folders(tmp_path: Path, how: str) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("s")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "folder").symlink_to(outside)
    path = {
        "absolute": outside / "secret.txt",
        "dots": inside / ".." / "outside" / "secret.txt",
        "link": inside / "link.txt",
        "linked folder": inside / "folder" / "secret.txt",
    }[how]
    with pytest.raises(InvalidArguments, match="not in a folder that files may be uploaded from") as caught:
        allowed_file(str(path), [inside])
    assert str(inside) in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no file .*missing\.txt"):
        allowed_file(str(tmp_path / "missing.txt"), [tmp_path])
    with pytest.raises(InvalidArguments, match="is a folder"):
        allowed_file(str(tmp_path), [tmp_path])
    with pytest.raises(InvalidArguments, match="not in a folder"):
        allowed_file(str(tmp_path / "missing.txt"), [tmp_path / "inside"])


@pytest.mark.parametrize(
    ("home", "working", "allowed"),
    [("home", "home", False), ("home", ".", False), ("home", "home/project", True), ("home", "other", True)],
)
async def test_a_working_folder_with_the_home_folder_in_it_is_not_uploaded_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, working: str, allowed: bool
) -> None:
    manager = BrowserManager(Settings(files=FileSettings(output_dir=tmp_path / "out")))
    session = await manager.open_session()
    for folder in (home, working):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    (tmp_path / working / "a.txt").write_text("a")
    monkeypatch.setenv("HOME", str(tmp_path / home))
    monkeypatch.chdir(tmp_path / working)
    assert (tmp_path / working in session.upload_dirs) is allowed
    if not allowed:
        with pytest.raises(InvalidArguments, match="More can be allowed with --upload-dir"):
            allowed_file("a.txt", session.upload_dirs)
    await manager.close()
