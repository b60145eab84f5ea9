"""Hard cases of navigation, over stdio: bad addresses, pages that never finish, history, tabs, downloads."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing("auto", "--navigation-timeout=5") as connected:
        yield connected


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


async def refused(browser: Browser, tool: str, **arguments: object) -> str:
    result = await browser.call(tool, **arguments)
    assert result.is_error, f"{tool} did not fail: {result.text}"
    return result.text


async def test_a_page_is_shown_although_one_of_its_images_hangs(browser: Browser, site: Site) -> None:
    url = site.page("<h1>Readable</h1><img src=/hang width=20 height=20 alt=slow>")
    async with asyncio.timeout(60):
        assert "Readable" in await browser.open(url)
        assert "Readable" in await browser.snapshot()


async def test_a_page_that_never_answers_is_given_up_in_time(browser: Browser, site: Site) -> None:
    async with asyncio.timeout(60):
        assert "/hang" in await refused(browser, "go_to_url", url=f"{site.url}/hang")
    assert "Alive" in await browser.open(site.page("<h1>Alive</h1>"))


async def test_an_address_that_refuses_is_an_error_and_the_next_one_opens(
    browser: Browser, site: Site
) -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    assert url in await refused(browser, "go_to_url", url=url)
    assert "Next" in await browser.open(site.page("<h1>Next</h1>"))


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "not a url", "http://", "https://exa mple.test/", ""])
async def test_an_address_that_cannot_be_opened_is_an_error(browser: Browser, site: Site, url: str) -> None:
    await browser.open(site.page("<h1>Before</h1>"))
    await refused(browser, "go_to_url", url=url)
    assert "After" in await browser.open(site.page("<h1>After</h1>"))


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "FILE:///etc/passwd", "view-source:file:///etc/passwd"]
)
async def test_files_of_the_machine_are_not_opened(browser: Browser, site: Site, url: str) -> None:
    await browser.open(site.page("<h1>Before</h1>"))
    said = await refused(browser, "go_to_url", url=url)
    assert "root:" not in said
    assert "root:" not in await browser.snapshot()


async def test_a_page_cannot_lead_to_a_file_of_the_machine(browser: Browser, site: Site) -> None:
    page = "<a href='file:///etc/passwd'>Read</a><iframe src='file:///etc/passwd'></iframe>"
    await browser.open(site.page(page))
    await browser.call("click_element", index=browser.find("link", "Read"))
    assert "root:" not in await browser.snapshot()


async def test_javascript_addresses_are_refused(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<h1>Before</h1>"))
    await refused(browser, "go_to_url", url="javascript:document.body.innerHTML='<h1>Taken over</h1>'")
    assert "Taken over" not in await browser.snapshot()


async def test_the_blank_page_opens(browser: Browser) -> None:
    assert "about:blank" in await browser.open("about:blank")


async def test_a_data_address_opens_or_is_refused_with_a_reason(browser: Browser) -> None:
    result = await browser.call("go_to_url", url="data:text/html,<h1>From data</h1>")
    assert "data:" in result.text if result.is_error else "From data" in result.text


@pytest.mark.parametrize("status", [404, 500])
async def test_an_http_error_is_told_with_the_page(browser: Browser, site: Site, status: int) -> None:
    told = await browser.open(f"{site.url}/status/{status}")
    assert str(status) in told.replace(f"/status/{status}", "").replace(f"Status {status}", "")
    assert f"Status {status}" in told


async def test_a_redirect_tells_where_it_led(browser: Browser, site: Site) -> None:
    there = site.page("<h1>Arrived</h1>")
    assert there in await browser.open(f"{site.url}/redirect?to={there}")


async def test_going_back_does_not_wait_for_a_load_that_never_comes(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<h1>Past</h1><img src=/hang alt=slow>"))
    await browser.open(site.page("<h1>Present</h1><img src=/hang alt=slow>"))
    async with asyncio.timeout(60):
        assert "Past" in await browser.do("go_back")
        assert "Present" in await browser.do("go_forward")


async def test_going_back_from_the_first_page_is_an_error(browser: Browser, site: Site) -> None:
    await browser.do("open_tab", url=site.page("<h1>First</h1>"))
    async with asyncio.timeout(60):
        answers = [(await browser.call("go_back")).is_error for _ in range(3)]
    assert answers[-1]
    await browser.do("close_tab")


async def test_a_link_into_a_new_tab_is_followed_and_told(browser: Browser, site: Site) -> None:
    there = site.page("<h1>In the new tab</h1>", title="New one")
    await browser.open(site.page(f"<a href='{there}' target=_blank>Open</a>", title="Old one"))
    told = await browser.click("link", "Open")
    assert "In the new tab" in told
    assert "tab" in told.lower()
    assert there in await browser.snapshot()
    await browser.do("close_tab")
    assert "Old one" in await browser.snapshot()


async def test_a_window_that_closes_itself_leaves_the_session_usable(browser: Browser, site: Site) -> None:
    there = site.page("<h1>Popup</h1><button onclick='window.close()'>Close me</button>")
    page = f"<h1>Opener</h1><button onclick=\"open('{there}', 'w', 'width=300,height=300')\">Open</button>"
    await browser.open(site.page(page))
    assert "Popup" in await browser.click("button", "Open")
    await browser.call("click_element", index=browser.find("button", "Close me"))
    assert "Opener" in await browser.snapshot()


async def test_tabs_are_selected_and_closed_by_numbers_that_are_never_used_again(
    browser: Browser, site: Site
) -> None:
    await browser.open(site.page("<h1>Base</h1>", title="Base"))
    numbers: list[int] = []
    for title in ("One", "Two"):
        told = await browser.do("open_tab", url=site.page(f"<h1>{title}</h1>", title=title))
        numbers.append(int(_found(r"tab (\d+)", told)))
    one, two = numbers
    assert one != two
    assert "One" in await browser.do("switch_tab", tab=one)
    await browser.do("close_tab", tab=two)
    for tool in ("switch_tab", "close_tab"):
        said = await refused(browser, tool, tab=two)
        assert str(one) in said, "the error lists the tabs that there are"
    told = await browser.do("open_tab", url=site.page("<h1>Three</h1>"))
    three = int(_found(r"tab (\d+)", told))
    assert three not in numbers
    await browser.do("close_tab", tab=three)
    await browser.do("close_tab", tab=one)
    assert "Base" in await browser.snapshot()


async def test_closing_the_last_tab_leaves_a_session_that_opens_pages(site: Site) -> None:
    async with browsing() as browser:
        await browser.open(site.page("<h1>Only</h1>"))
        await browser.call("close_tab")
        assert "Again" in await browser.open(site.page("<h1>Again</h1>"))


async def test_a_download_by_link_is_saved_and_told_with_its_path(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<a href='/download/report.txt?text=the+figures'>Report</a>"))
    told = await browser.click("link", "Report")
    assert _saved("report.txt", told) == "the figures"


async def test_a_download_by_navigation_is_saved_and_told_and_the_page_stays(
    browser: Browser, site: Site
) -> None:
    await browser.open(site.page("<h1>Staying</h1>"))
    result = await browser.call("go_to_url", url=f"{site.url}/download/data.bin?text=bits")
    assert not result.is_error, result.text
    assert _saved("data.bin", result.text) == "bits"
    assert "Staying" in await browser.snapshot()


async def test_a_download_cannot_leave_the_output_folder(
    browser: Browser, site: Site, tmp_path: Path
) -> None:
    url = site.publish(
        b"evil",
        content_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="../../..{tmp_path}/evil.txt"'},
    )
    await browser.open(site.page(f"<a href='{url}'>Take</a>"))
    await browser.click("link", "Take")
    assert not _files(tmp_path)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, f"no {pattern!r} in {text}"
    return found[1]


def _files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def _saved(name: str, told: str) -> str:
    """The content of the file whose path a result tells."""
    stem, dot, suffix = name.partition(".")
    path = _found(rf"(/\S*{stem}\S*{dot}{suffix})", told.replace(f"/download/{name}", ""))
    return Path(path).read_text()
