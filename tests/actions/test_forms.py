"""Files, lists that are confirmed, long texts; tests/snapshot/cases/ has the other fields and forms."""

from pathlib import Path

import pytest

from mcp_browser.errors import InvalidArguments, NotActionable
from tests.actions.hand import Hand


async def test_a_long_text_is_put_in_but_for_its_last_character(hand: Hand) -> None:
    await hand.open(
        "<input id=f aria-label=Seen><script>const events = [];"
        "for (const type of ['keydown', 'keypress', 'beforeinput', 'input', 'keyup'])"
        " f.addEventListener(type, () => events.push(type))</script>"
    )
    long = "x" * 999 + "!"
    await hand.do("input_text", index=hand.index("Seen"), text=long)
    assert await hand.js("f.value") == long
    assert await hand.js("events.join()") == "beforeinput,input,keydown,keypress,beforeinput,input,keyup"


async def test_an_option_of_a_native_select_is_not_clicked(hand: Hand) -> None:
    await hand.open("<select aria-label=Town><option>Rome</select>")
    await hand.do("find_elements", selector="text=Rome")
    rome = hand.data["elements"][0]["index"]
    assert "native select" in await hand.fails("click_element", NotActionable, index=rome)


@pytest.fixture
def paths(upload_dir: Path) -> list[str]:
    """Two files of a folder that files may be uploaded from."""
    for name in ("a.txt", "b.txt"):
        (upload_dir / name).write_text("content")
    return [str(upload_dir / name) for name in ("a.txt", "b.txt")]


async def test_a_file_input_takes_one_file_of_an_allowed_folder(
    hand: Hand, upload_dir: Path, paths: list[str]
) -> None:
    await hand.open(
        '<input id=f type=file aria-label=Photo onchange="f.files[0].text().then(t => document.title = t)">'
    )
    index = hand.index("Photo")
    error = await hand.fails("upload_file", InvalidArguments, index=index, paths=["/etc/passwd"])
    assert str(upload_dir) in error
    assert "takes one file" in await hand.fails("upload_file", NotActionable, index=index, paths=paths)
    assert await hand.js("f.files.length") == 0
    assert "Gave a.txt" in await hand.do("upload_file", index=index, paths=paths[:1])
    await hand.session.current_tab.page.wait_for_function("document.title === 'content'")


async def test_a_button_that_opens_a_file_chooser_takes_files_and_a_click_says_so(
    hand: Hand, paths: list[str]
) -> None:
    await hand.open(
        "<input id=f type=file multiple hidden><button onclick='f.click()'>Choose files</button>"
        "<button>Something else</button>"
    )
    text = await hand.do("click_element", index=hand.index("Choose files"))
    if "upload_file" not in text:
        text = await hand.do("wait_for", seconds=1)
    assert "The page asks for a file: use upload_file" in text
    await hand.do("upload_file", index=hand.index("Choose files"), paths=paths)
    assert await hand.js("f.files.length") == 2
    error = await hand.fails("upload_file", NotActionable, index=hand.index("Something else"), paths=paths)
    assert "did not open a file chooser" in error
