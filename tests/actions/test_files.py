"""Files: given to pages in every way, dropped, saved from pages, listed, awaited, read."""

import base64
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
import pytest_asyncio
from PIL import Image

from mcp_browser.actions.files import decode_data_uri
from mcp_browser.browser.manager import BrowserManager
from mcp_browser.errors import DeadlineExceeded, InvalidArguments, NotActionable, NotFound
from mcp_browser.settings import BrowserSettings, EgressSettings, FileSettings, Settings
from tests.actions.hand import Hand, hand_in
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

PICKER = """
<input type=file multiple aria-label=Files
  onchange="Promise.all([...files].map(async f => `${f.name}|${f.type}|${await f.text()}`))
    .then(all => out.textContent = all.join(';'))">
<output id=out></output>"""

ZONE = """
<button id=zone style="width:300px;height:120px">Drop here</button> <output id=out></output>
<script>
for (const kind of ['dragenter', 'dragover', 'drop'])
  zone.addEventListener(kind, async event => {
    event.preventDefault()
    if (kind !== 'drop') return
    const entries = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry()?.isFile)
    const files = [...event.dataTransfer.files]
    const texts = await Promise.all(files.map(async f => `${f.name}|${await f.text()}`))
    out.textContent = `${event.isTrusted} ${entries} ${texts.join(';')}`
  })
</script>"""


def data_uri(name: str, content: bytes, kind: str = "text/plain") -> str:
    return f"data:{kind};name={quote(name)};base64,{base64.b64encode(content).decode()}"


async def shown(hand: Hand, text: str) -> str:
    await hand.do("wait_for", text=text)
    return str(await hand.js("out.textContent"))


async def test_a_file_is_uploaded_by_its_content(hand: Hand) -> None:
    await hand.open(PICKER)
    text = await hand.do("upload_file", index=1, paths=[data_uri("täble.csv", b"a,b", "text/csv")])
    assert "Gave täble.csv to [1]" in text
    assert await shown(hand, "a,b") == "täble.csv|text/csv|a,b"
    await hand.do("fill_form", fields=[{"index": 1, "value": data_uri("a.txt", b"filled")}])
    assert "filled" in await shown(hand, "filled")


async def test_a_form_gives_files_to_a_button_that_asks_for_them(hand: Hand, upload_dir: Path) -> None:
    (upload_dir / "cv.txt").write_text("tea")
    await hand.open(
        f"{PICKER}<button onclick='document.querySelector(`[type=file]`).click()'>Attach</button>"
    )
    index = hand.index("Attach")
    await hand.do("fill_form", fields=[{"index": index, "value": [str(upload_dir / "cv.txt")]}])
    assert await shown(hand, "tea") == "cv.txt|text/plain|tea"
    text = await hand.do("fill_form", fields=[{"index": index, "value": "tea"}])
    assert "is not a text field" in text


async def test_several_files_of_every_source_are_uploaded_at_once(hand: Hand, upload_dir: Path) -> None:
    (upload_dir / "local.txt").write_text("local")
    await hand.open("<a href='/download/report.txt?text=figures'>Report</a>")
    await hand.do("click_element", index=hand.index("Report"))
    (download,) = hand.result.attachments
    await hand.open(PICKER)
    paths = [str(upload_dir / "local.txt"), download.uri, "data:text/plain;name=given.txt,gi%20ven"]
    await hand.do("upload_file", index=hand.index("Files"), paths=paths)
    texts = "local.txt|text/plain|local;report.txt|text/plain|figures;given.txt|text/plain|gi ven"
    assert await shown(hand, "gi ven") == texts


@pytest.mark.parametrize("name", ["../../evil.txt", "/etc/evil.txt", "..\\evil.txt", "evil.txt\x00"])
async def test_the_name_of_a_content_never_leads_out_of_its_folder(hand: Hand, name: str) -> None:
    path = await hand.session.artifacts.stage(b"x", decode_data_uri(data_uri(name, b"x"))[0])
    assert path.name.endswith("evil.txt")
    assert path.resolve() == path
    assert "mcp-browser-" in str(path.parent.parent)


async def test_the_files_of_another_session_cannot_be_uploaded(hand: Hand, manager: BrowserManager) -> None:
    other = await manager.open_session()
    theirs = await other.artifacts.add(b"secret", "theirs.txt")
    await hand.open(PICKER)
    told = await hand.fails("upload_file", NotFound, index=1, paths=[theirs.uri])
    assert "There is no file at browser://" in told
    await other.close()


@pytest.mark.parametrize(
    ("uri", "name", "content"),
    [
        ("data:,Hello%2C%20you", "file.txt", b"Hello, you"),
        ("data:text/csv;name=a%20b.csv;base64,YSxi", "a b.csv", b"a,b"),
        ("data:text/plain;charset=utf-8;name=a.txt;base64,YS\nxi", "a.txt", b"a,b"),
        ("DATA:application/json;BASE64,e30", "file.json", b"{}"),
        ("data:application/octet-stream;base64,_-8=", "file.bin", b"\xff\xef"),
    ],
)
def test_a_data_uri_is_decoded(uri: str, name: str, content: bytes) -> None:
    assert decode_data_uri(uri) == (name, content)


@pytest.mark.parametrize(
    "uri", ["data:", "data:text/plain", "data:;base64;,x", "data:a.txt;base64,a", "data:;base64,a"]
)
def test_what_is_no_data_uri_is_refused_with_an_example(uri: str) -> None:
    with pytest.raises(InvalidArguments, match="base64"):
        decode_data_uri(uri)


async def test_more_than_files_may_take_is_refused(manager: BrowserManager, site: Site) -> None:
    huge = data_uri("huge.bin", b"x" * 1_100_000)
    async with hand_in(manager, site) as hand:
        with hand.under(files={"max_files_size": 1}):
            await hand.open(PICKER)
            assert "1.1 MB" in await hand.fails("upload_file", InvalidArguments, index=1, paths=[huge])


async def test_files_are_dropped_on_an_element_as_a_person_does(hand: Hand, upload_dir: Path) -> None:
    (upload_dir / "local.txt").write_text("local")
    await hand.open(ZONE)
    paths = [str(upload_dir / "local.txt"), data_uri("given.txt", b"given")]
    text = await hand.do("drop_files", index=hand.index("Drop here"), paths=paths)
    assert 'Dropped local.txt, given.txt on [1] button "Drop here".' in text
    assert await shown(hand, "given.txt") == "true true,true local.txt|local;given.txt|given"


async def test_files_are_dropped_within_a_frame_of_another_site(hand: Hand, site: Site) -> None:
    path = site.page(ZONE).removeprefix(site.url)
    await hand.open(f"<h1>Outside</h1><iframe src='{site.other}{path}' width=500 height=300></iframe>")
    await hand.do("wait_for", text="Drop here")
    await hand.do("get_state")
    await hand.do("drop_files", index=hand.index("Drop here"), paths=["data:;name=a.txt,framed"])
    assert "framed" in await hand.do("wait_for", text="a.txt|framed") + await hand.do("get_state")


async def test_nothing_is_dropped_on_what_is_covered_or_from_a_forbidden_folder(
    hand: Hand, tmp_path: Path
) -> None:
    cover = "<div style='position:fixed;inset:0;background:#fff'>Cover</div>"
    await hand.open(
        ZONE + f"<button onclick=\"document.body.insertAdjacentHTML('beforeend', `{cover}`)\">Cover</button>"
    )
    (tmp_path / "secret.txt").write_text("s")
    told = await hand.fails("drop_files", InvalidArguments, index=1, paths=[str(tmp_path / "secret.txt")])
    assert "not in a folder that files may be uploaded from" in told
    await hand.do("click_element", index=hand.index("Cover", "button"))
    await hand.fails("drop_files", NotActionable, index=1, paths=["data:;name=a.txt,x"])
    assert await hand.js("out.textContent") == ""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def remote_manager(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserManager]:
    """A manager as a server for remote clients has it, with a folder to upload from."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "form.txt").write_text("form")
    (folder / "link.txt").symlink_to("/etc/hostname")
    settings = Settings(
        browser=BrowserSettings(headless=True, isolated=True),
        files=FileSettings(upload_dirs=(folder,)),
        egress=EgressSettings(allow_private=("127.0.0.1",)),
    )
    manager = BrowserManager(settings, remote=True)
    yield manager
    await manager.close()


@pytest_asyncio.fixture(loop_scope="session")
async def remote(remote_manager: BrowserManager, site: Site) -> AsyncIterator[Hand]:
    async with hand_in(remote_manager, site) as hand:
        yield hand


async def test_a_remote_client_is_told_addresses_and_no_path(remote: Hand) -> None:
    await remote.open("<a href='/download/report.txt?text=figures'>Report</a>")
    told = await remote.do("click_element", index=1)
    told += await remote.do("save_pdf")
    told += await remote.do("list_files")
    told += await remote.do("read_file", file="report.txt")
    assert "figures" in told
    assert f"saved as browser://{remote.session.artifacts.key}/files/1/report.txt" in told
    assert str(remote.session.output_dir) not in told
    assert "/tmp" not in told
    assert remote.result.data is None or "/tmp" not in str(remote.result.data)


async def test_a_remote_client_names_files_of_the_shared_folder_only(remote: Hand) -> None:
    await remote.open(PICKER)
    await remote.do("upload_file", index=1, paths=["form.txt"])
    assert "form" in await shown(remote, "form.txt|")
    own = str(Path.cwd() / "README.md")
    for path in ("link.txt", "../shared/../passwd", "/etc/passwd", "missing.txt", own):
        # Neither what there is nor what the folders are called.
        assert await remote.fails("upload_file", InvalidArguments, index=1, paths=[path]) == (
            f"{path} is no file that may be uploaded: the browser is on another machine. "
            "Give the content, as data:text/csv;name=a.csv;base64,YSxi, or a browser:// address."
        )


async def test_a_page_is_saved_as_a_pdf_with_options_that_fit(hand: Hand) -> None:
    await hand.open("<h1>One</h1><p style='break-before:page'>Two</p><p style='break-before:page'>Three</p>")
    sizes: list[int] = []
    small = {"landscape": True, "paper": "A5", "scale": 0.5, "background": False}
    for options in ({}, {"pages": "2"}, small):
        await hand.do("save_page", format="pdf", name="report", **options)
        content = hand.file.read_bytes()
        assert content.startswith(b"%PDF")
        sizes.append(content.count(b"/Type /Page\n"))
        if "paper" in options:
            assert b"/MediaBox [0 0 595" in content
    assert sizes == [3, 1, 3]
    await hand.do("save_page", header="<b>Draft</b>", footer="<span class=pageNumber></span>")
    with_lines = hand.file.stat().st_size
    await hand.do("save_page")
    assert with_lines > hand.file.stat().st_size
    error = await hand.fails("save_page", InvalidArguments, format="png", landscape=True)
    assert "only a pdf has landscape" in error
    await hand.fails("save_page", InvalidArguments, scale=9)
    assert "no such pages: 7-8" in await hand.fails("save_page", InvalidArguments, pages="7-8")
    await hand.fails("save_page", pages="x")


async def test_a_page_is_saved_with_its_pictures_as_one_archive(hand: Hand, site: Site) -> None:
    logo = f"{site.url}/slow?s=1.5&type=image/svg%2Bxml&text=<svg xmlns='http://www.w3.org/2000/svg'/>"
    await hand.open(f'<h1>Archived</h1><img src="{logo}" alt=Logo>', title="Grüße")
    await hand.do("save_page", format="mhtml")
    # The number is that of an attempt before, in the same folder.
    assert re.fullmatch(r"Grüße(-\d)?\.mhtml", hand.file.name)
    content = hand.file.read_text()
    assert "multipart/related" in content
    assert f"Content-Location: {site.url}/slow?s=1.5" in content.replace("=\n", "")


@pytest.mark.parametrize(
    ("action", "given"), [("screenshot", {}), ("get_state", {"screenshot": True}), ("save_pdf", {})]
)
async def test_a_picture_of_a_page_waits_for_the_pictures_in_it(
    hand: Hand, site: Site, action: str, given: dict[str, object]
) -> None:
    svg = "<svg xmlns='http://www.w3.org/2000/svg'/>"
    await hand.open(f'<img id=late src="{site.url}/slow?s=1.5&type=image/svg%2Bxml&text={svg}">')
    await hand.do(action, **given)
    assert await hand.js("late.complete")


async def test_a_picture_is_not_waited_for_again_and_again(hand: Hand, site: Site) -> None:
    await hand.open(f'<h1>Endless</h1><img src="{site.url}/hang">')
    assert "Pictures may be missing: the page is still loading after 3 s." in await hand.do("screenshot")
    assert "Pictures may be missing" not in await hand.do("screenshot")


async def test_a_picture_in_full_size_has_every_pixel(manager: BrowserManager, site: Site) -> None:
    async with hand_in(manager, site, context_options={"device_scale_factor": 2}) as hand:
        await hand.open("<body style='margin:0'><div style='height:3000px;width:100px'>Tall</div>")
        await hand.do("save_page", format="png")
        with Image.open(hand.file) as picture:
            assert picture.size == (2 * await hand.js("innerWidth"), 6000)
        await hand.open("<body style='margin:0'><div style='height:9000px'>Taller</div>")
        assert "The last 1,000 px of the page are not on it." in await hand.do("save_page", format="png")


async def test_files_and_downloads_are_listed_with_what_has_failed(hand: Hand) -> None:
    assert "There is no file yet." in await hand.do("list_files")
    half = "<a href='/download/half.bin?length=100000'>Half</a>"
    await hand.open(f"<a href='/download/a.csv?text=1,2'>A</a> {half}")
    await hand.do("click_element", index=hand.index("A"))
    await hand.do("click_element", index=hand.index("Half"))
    told = await hand.do("list_files")
    assert "1 file:" in told
    assert "download, 3 bytes, text/csv: " in told
    assert 'Download of "half.bin" from' in told
    assert hand.data["files"][0]["name"] == "a.csv"


async def test_a_slow_download_is_awaited(hand: Hand) -> None:
    await hand.open("<a href='/download/slow.bin?length=70003&s=6'>Slow</a>")
    assert "under way" in await hand.do("click_element", index=1)
    pending = hand.session.downloads[0]
    assert "not whole yet" in await hand.fails("read_file", NotFound, file=pending.uri)
    error = await hand.fails("wait_for_download", DeadlineExceeded, timeout=0.2)
    assert "Still under way after 0.2 s: slow.bin." in error
    told = await hand.do("wait_for_download", timeout=20)
    assert 'Downloaded "slow.bin" (70.0 kB)' in told
    assert [attachment.name for attachment in hand.result.attachments] == ["slow.bin"]


async def test_a_download_that_begins_later_is_awaited(hand: Hand) -> None:
    await hand.open(
        "<a href='/download/early.txt?text=x'>Now</a>"
        "<button onclick=\"setTimeout(() => location = '/download/late.txt?text=x', 1500)\">Later</button>"
    )
    await hand.do("click_element", index=1)
    await hand.do("click_element", index=2)
    assert "late.txt" in await hand.do("wait_for_download", timeout=20)


async def test_a_download_that_was_just_told_of_is_not_awaited_but_the_next_one_is(hand: Hand) -> None:
    await hand.open("<a href='/download/at-once.txt?text=x'>Now</a>")
    assert 'Downloaded "at-once.txt"' in await hand.do("click_element", index=1)
    await hand.do("get_state")
    assert 'Downloaded "at-once.txt"' in await hand.do("wait_for_download", timeout=20)
    assert [attachment.name for attachment in hand.result.attachments] == ["at-once.txt"]
    error = await hand.fails("wait_for_download", DeadlineExceeded, timeout=0.3)
    assert "No download began within 0.3 s." in error
    await hand.fails("wait_for_download", InvalidArguments, timeout=0)


async def test_a_long_text_is_read_in_parts_as_data_from_the_web(hand: Hand) -> None:
    await hand.open("<h1>Here</h1>")
    text = "".join(f"{number:07}\n" for number in range(6000))
    await hand.session.artifacts.add(text.encode(), "long.log")
    told = [await hand.do("read_file", file="long.log", part=part) for part in (1, 2)]
    assert "long.log, 48.0 kB, part 1 of 2:" in told[0]
    assert "0000000\n" in told[0]
    assert "0005999" in told[1]
    assert "untrusted>" in told[1]
    assert "2 parts" in await hand.fails("read_file", InvalidArguments, file="long.log", part=3)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfa;b", "a;b"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("cp1252"), "Grüße"),
        (b"", "csv, 0 bytes:"),
    ],
)
async def test_text_of_usual_encodings_is_read(hand: Hand, content: bytes, text: str) -> None:
    await hand.open("<h1>Here</h1>")
    kept = await hand.session.artifacts.add(content, "table.csv")
    assert text in await hand.do("read_file", file=kept.name)


async def test_a_picture_is_shown_and_what_is_no_text_is_said_to_be_none(hand: Hand) -> None:
    await hand.open("<h1>Here</h1>")
    await hand.do("save_page", format="png", name="shot")
    assert "shown at" in await hand.do("read_file", file="shot.png")
    assert [attachment.kind for attachment in hand.result.attachments] == ["image"]
    await hand.session.artifacts.add(bytes(range(1, 256)) * 9, "data.bin")
    told = await hand.fails("read_file", NotActionable, file="data.bin")
    assert "is no text" in told
    assert "browser://" in told
    await hand.session.artifacts.add(b"no picture", "broken.png")
    await hand.fails("read_file", NotActionable, file="broken.png")


@pytest.mark.parametrize("file", ["/etc/passwd", "../../etc/passwd", "file:///etc/passwd", "missing.txt"])
async def test_only_files_of_the_session_are_read(hand: Hand, file: str) -> None:
    await hand.open("<h1>Here</h1>")
    kept = await hand.session.artifacts.add(b"x", "mine.txt")
    assert f'It has: "{kept.name}".' in await hand.fails("read_file", NotFound, file=file)
