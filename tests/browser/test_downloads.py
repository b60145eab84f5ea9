"""Files that pages give: saved, told, never where a page wants them."""

import pytest

from tests.browser.conftest import Hand, shown
from tests.support.site import Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]


async def test_downloads_by_links_are_saved_and_told_with_path_and_size(hand: Hand, site: Site) -> None:
    # Two of one name are two files.
    links = "<a href='/download/a.txt?text=figures'>One</a> <a href='/download/a.txt?text=2'>Two</a>"
    await hand.open(site.page(links))
    told = await hand.click("One")
    await hand.click("Two")
    info, _ = hand.session.downloads
    assert info.size == len("figures")
    assert any(str(info.path) in notice and "7 bytes" in notice for notice in told.notices)
    paths = [info.path for info in hand.session.downloads if info.path]
    assert [path.name for path in paths] == ["a.txt", "a-2.txt"]
    assert [path.read_text() for path in paths] == ["figures", "2"]
    assert {path.parent for path in paths} == {hand.session.output_dir}


async def test_a_tab_opened_for_a_file_is_closed_again(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<a href='/download/b.txt' target=_blank>File</a> Base"))
    await hand.click("File")
    (info,) = hand.session.downloads
    assert info.size is not None
    await hand.do(lambda _: hand.session.new_tab(site.url + "/download/c.txt"), effect="navigation")
    assert [info.name for info in hand.session.downloads] == ["b.txt", "c.txt"]
    assert "Base" in shown(await hand.look())
    assert len(hand.session.tabs) == 1


async def test_a_download_that_breaks_off_is_told_and_leaves_no_file(hand: Hand, site: Site) -> None:
    await hand.open(site.page("<a href='/download/half.bin?length=100000'>Half</a>"))
    told = await hand.click("Half")
    (info,) = hand.session.downloads
    assert info.error
    assert info.path is not None
    assert not info.path.exists()
    assert any("failed" in notice for notice in told.notices)
