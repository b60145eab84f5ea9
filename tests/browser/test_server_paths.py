"""What a client on another machine is told of this one's paths: nothing."""

import tempfile
from pathlib import Path

import pytest

from mcp_browser.browser.files.filenames import HIDDEN, ServerPaths
from mcp_browser.settings import FileSettings, Settings

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
