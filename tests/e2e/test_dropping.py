"""Files dropped on the libraries that web sites use for it, and on JupyterLab."""

import re

import pytest

from tests.support.apps import JupyterLab
from tests.support.client import Browser, browsing
from tests.support.packages import npm_packages
from tests.support.site import Reply, Request, Site

pytestmark = pytest.mark.apps

DROPZONE = """
<script src="{files}/dropzone/dist/min/dropzone.min.js"></script>
<form action="{upload}" class="dropzone" id="zone"></form>"""

FILEPOND = """
<link rel="stylesheet" href="{files}/filepond/dist/filepond.min.css">
<script src="{files}/filepond/dist/filepond.min.js"></script>
<input type="file" name="file" multiple>
<script>FilePond.create(document.querySelector('input'), {{server: '{upload}'}})</script>"""


class Uploads:
    """What pages have sent."""

    def __init__(self, site: Site) -> None:
        self.bodies: list[bytes] = []
        self.url = site.route("/take", self._take)

    def _take(self, request: Request) -> Reply:
        self.bodies.append(request.body)
        return Reply(b"1", "text/plain")

    def has(self, *texts: str) -> bool:
        together = b"".join(self.bodies)
        return all(text.encode() in together for text in texts)


async def until_sent(browser: Browser, uploads: Uploads, *texts: str) -> None:
    for _ in range(40):
        if uploads.has(*texts):
            return
        await browser.do("wait_for", seconds=0.25)
    raise AssertionError(f"{texts} did not arrive: {uploads.bodies}")


@pytest.mark.parametrize(("library", "page"), [("dropzone", DROPZONE), ("filepond", FILEPOND)])
async def test_files_dropped_on_a_library_are_sent(site: Site, library: str, page: str) -> None:
    modules = npm_packages("dropping", "dropzone@5.9.3", "filepond@4.32.7")
    files = site.mount("/dropping", modules)
    uploads = Uploads(site)
    async with browsing("auto", "--tools", "core,files") as browser:
        await browser.open(site.page(page.format(files=files, upload=uploads.url)))
        told = await browser.do("find_elements", selector=".dz-message, .filepond--drop-label label")
        index = int(re.findall(r"\[(\d+)\]", told)[0])
        dropped = ["data:text/plain;name=one.txt,first", "data:text/plain;name=two.txt,second"]
        await browser.do("drop_files", index=index, paths=dropped)
        await until_sent(browser, uploads, "one.txt", "first", "two.txt", "second")


async def test_files_are_uploaded_to_jupyterlab_dropped_on_it_and_downloaded_again(
    jupyter: JupyterLab,
) -> None:
    async with browsing("auto", "--tools", "core,files") as browser:
        await browser.open(f"{jupyter.url}/lab?reset")
        await browser.wait_until("Launcher")
        index = await browser.look_for("button", re.compile("Upload Files"))
        await browser.do("upload_file", index=index, paths=["data:;name=uploaded.txt,by%20chooser"])
        await browser.wait_until("uploaded.txt")
        assert (jupyter.folder / "uploaded.txt").read_text() == "by chooser"

        told = await browser.do("find_elements", selector=".jp-DirListing-content")
        listing = int(re.findall(r"\[(\d+)\]", told)[0])
        await browser.do("drop_files", index=listing, paths=["data:;name=dropped.txt,by%20drop"])
        await browser.wait_until("dropped.txt")
        assert (jupyter.folder / "dropped.txt").read_text() == "by drop"

        told = await browser.do("find_elements", selector=".jp-DirListing-item >> text=dropped.txt")
        await browser.do("click_element", index=int(re.findall(r"\[(\d+)\]", told)[0]), button="right")
        told = await browser.click("menuitem", re.compile("^Download"))
        if "Downloaded" not in told:
            told = await browser.do("wait_for_download")
        assert 'Downloaded "dropped.txt"' in told
        assert "by drop" in await browser.do("read_file", file="dropped.txt")
