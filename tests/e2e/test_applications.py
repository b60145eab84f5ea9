"""Applications and component libraries, worked by policies that read only what the tools return.

What came of it is read from the application's own state.
"""

import asyncio
import io
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import expect

from tests.support.apps import Django, JupyterLab
from tests.support.bookshop import Bookshop
from tests.support.client import Browser, Result, browsing
from tests.support.packages import npm_packages
from tests.support.person import Recorder, recorded
from tests.support.principals import private_file
from tests.support.scripts import passes_in_python, passes_in_typescript, run
from tests.support.site import Reply, Request, Site
from tests.support.waiting import until

pytestmark = pytest.mark.apps

USER = "SELECT username, first_name, email, is_staff, is_superuser FROM auth_user WHERE username = ?"
GROUPS = """
    SELECT name FROM auth_group
    JOIN auth_user_groups AS member ON member.group_id = auth_group.id
    JOIN auth_user ON auth_user.id = member.user_id WHERE username = ?
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with browsing("auto") as running:
        yield running


async def test_a_wrong_password_is_refused_and_a_popup_returns_to_its_opener(django_admin: Django) -> None:
    django_admin.reset()
    async with browsing("legacy") as browser:
        refused = await _log_in(browser, django_admin, "wrong")
        assert "Please enter the correct username and password" in refused
        assert "Site administration" in await _log_in(browser, django_admin, django_admin.password)
        await browser.click("link", "Users")
        await browser.click("link", "Add user")
        await browser.fill("textbox", "Username:", "mira")
        await browser.fill("textbox", "Password:", "a long phrase 1")
        await browser.fill("textbox", "Password confirmation:", "a long phrase 1")
        assert "was added successfully" in await browser.click("button", "Save and continue editing")
        await browser.fill("textbox", "First name:", "Mira")
        await browser.do("set_checked", index=browser.find("checkbox", "Staff status"), checked=True)
        assert "Add group" in await browser.click("link", "Add another group")
        await browser.fill("textbox", "Name:", "Editors")
        closed = await browser.click("button", "Save")
        assert "tab 1 is the current one" in closed
        assert "Change user" in closed
        await browser.click("button", "Save")
    assert django_admin.query(USER, "mira") == [("mira", "Mira", "", 1, 0)]
    assert django_admin.query(GROUPS, "mira") == [("Editors",)]


async def _log_in(browser: Browser, app: Django, password: str) -> str:
    await browser.open(f"{app.url}/admin/")
    await browser.fill("textbox", "Username:", app.user)
    assert password not in await browser.fill("textbox", "Password:", password)
    return await browser.click("button", "Log in")


async def test_a_new_notebook_runs_cells_shows_their_output_and_is_saved_by_name(jupyter: JupyterLab) -> None:
    async with browsing("auto") as browser:
        # The server keeps what other tests have opened; `reset` begins with the launcher.
        await browser.open(f"{jupyter.url}/lab?reset")
        await browser.wait_until("Text File", timeout=60)
        await browser.click("button", re.compile("Python 3"))
        await browser.wait_until("[ ]:", timeout=60)
        await browser.do("send_keys", keys="print('sum is', sum(range(10)))")
        await browser.do("send_keys", keys="Shift+Enter")
        await browser.wait_until("sum is 45", timeout=60)
        assert browser.shows("sum is 45")
        second = browser.all("textbox")[-1]
        await browser.do("input_text", index=second.index, text="'-'.join('abc')")
        await browser.click("button", re.compile("^Run this cell"))
        await browser.wait_until("a-b-c")
        await browser.click("button", re.compile("^Save and create checkpoint"))
        await browser.fill("textbox", "File name", "sums.ipynb")
        await browser.click("button", "Rename and Save")
        await browser.wait_until("sums.ipynb")
    cells = json.loads((jupyter.folder / "sums.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert sources[:2] == ["print('sum is', sum(range(10)))", "'-'.join('abc')"]
    assert cells[0]["outputs"][0]["text"] == ["sum is 45\n"]


async def test_a_required_parameter_left_empty_sends_nothing(browser: Browser, site: Site) -> None:
    modules = npm_packages("swagger", "swagger-ui-dist@5.35.0")
    shop = Bookshop(site, site.mount("/swagger-ui-dist", modules / "swagger-ui-dist"))
    await browser.open(shop.url)
    await browser.click("button", "DELETE /books/{number} Remove a book")
    await browser.click("button", "Try it out")
    number = browser.find("textbox", "number")
    await browser.click("button", "Execute")
    assert shop.requests == ["GET /openapi.json"]
    assert browser.elements[number].name == "Required field is not provided"
    await browser.do("input_text", index=number, text="2")
    answer = await browser.click("button", "Execute")
    assert "Persuasion" in answer
    assert sorted(shop.books) == [1, 3]


async def test_an_order_goes_by_select_switch_tabs_inputs_and_dialog(browser: Browser, site: Site) -> None:
    orders: list[dict[str, Any]] = []

    def take(request: Request) -> Reply:
        orders.append(json.loads(request.body))
        return Reply(f"Order {len(orders)} sent".encode(), "text/plain")

    modules = npm_packages("shoelace", "@shoelace-style/shoelace@2.20.1")
    html = (Path(__file__).parent.parent / "support" / "shoelace_order.html").read_text()
    html = html.replace("{files}", site.mount("/shoelace", modules / "@shoelace-style" / "shoelace" / "cdn"))
    await browser.open(site.publish(html.replace("{orders}", site.route("/orders", take)).encode()))
    review, gift = browser.find("button", "Review order"), browser.element("tab", "Gift")
    assert "disabled" in gift.states
    assert "disabled" in await browser.refused("click_element", index=gift.index)
    await browser.do("select_option", index=browser.find("combobox", "Kind of tea"), options=["Sencha"])
    await browser.do("select_option", index=browser.find("combobox", "Extras"), options=["Milk", "Sugar"])
    await browser.do("set_checked", index=browser.find("switch", "Organic"), checked=True)
    await browser.do("set_checked", index=browser.find("radio", "Large"), checked=True)
    await browser.click("tab", "Delivery")
    await browser.fill("textbox", "Your name", "Ann")
    await browser.fill("textbox", "Door code", "4711")
    await browser.fill("textbox", "Note to the driver", "Ring twice")
    await browser.do("set_checked", index=browser.find("checkbox", "Before noon"), checked=True)
    assert not browser.shows("No returns of opened tins")
    assert "No returns of opened tins" in await browser.click("button", "Small print")

    shown = await browser.click("button", "Review order")
    assert "tea: sencha" in shown
    assert "4711" not in "".join(result.text for _, _, result in browser.transcript)
    assert "Your order" in await browser.refused("click_element", index=review), "the dialog covers it"
    await browser.click("button", "Change it")
    await browser.do("click_element", index=review)
    await browser.do("send_keys", keys="Escape")
    assert "Send order" not in await browser.snapshot()
    await browser.do("click_element", index=review)
    await browser.click("button", "Send order")
    await browser.wait_until("Order 1 sent")
    tea = {"tea": "sencha", "extras": ["milk", "sugar"], "size": "large", "organic": True}
    assert orders == [{**tea, "name": "Ann", "pin": "4711", "note": "Ring twice", "morning": True}]


DROPZONE = """
<script src="{files}/dropzone/dist/min/dropzone.min.js"></script>
<form action="{upload}" class="dropzone" id="zone"></form>"""

FILEPOND = """
<link rel="stylesheet" href="{files}/filepond/dist/filepond.min.css">
<script src="{files}/filepond/dist/filepond.min.js"></script>
<input type="file" name="file" multiple>
<script>FilePond.create(document.querySelector('input'), {{server: '{upload}'}})</script>"""


@pytest.mark.parametrize(("library", "page"), [("dropzone", DROPZONE), ("filepond", FILEPOND)])
async def test_files_dropped_on_a_library_are_sent(site: Site, library: str, page: str) -> None:
    modules = npm_packages("dropping", "dropzone@5.9.3", "filepond@4.32.7")
    files = site.mount("/dropping", modules)
    sent: list[bytes] = []

    def take(request: Request) -> Reply:
        sent.append(request.body)
        return Reply(b"1", "text/plain")

    upload = site.route("/take", take)
    async with browsing("auto", "--tools", "core,files") as browser:
        await browser.open(site.page(page.format(files=files, upload=upload)))
        told = await browser.do("find_elements", selector=".dz-message, .filepond--drop-label label")
        index = int(re.findall(r"\[(\d+)\]", told)[0])
        dropped = ["data:text/plain;name=one.txt,first", "data:text/plain;name=two.txt,second"]
        await browser.do("drop_files", index=index, paths=dropped)
        texts = (b"one.txt", b"first", b"two.txt", b"second")
        await until(lambda: all(text in b"".join(sent) for text in texts))


async def test_files_are_uploaded_to_jupyterlab_dropped_and_downloaded_again(jupyter: JupyterLab) -> None:
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


# -- by coordinates of the pictures alone, as Roo-Code and UI-TARS do

EYES = ("--tools", "core,mouse,scripting")


async def ask(browser: Browser, script: str) -> Any:
    """What the page's own script says."""
    told = await browser.do("evaluate_script", script=script)
    return json.loads(told.split("\n")[2])


def size_of(result: Result) -> tuple[int, int]:
    """Width and height of the picture in a result."""
    return Image.open(io.BytesIO(result.images[0])).size


async def test_a_map_is_dragged_and_zoomed_in_leaflet(site: Site) -> None:
    modules = npm_packages("leaflet", "leaflet@1.9.4")
    files = site.mount("/leaflet", modules / "leaflet" / "dist")
    buffer = io.BytesIO()
    Image.new("RGB", (256, 256), "#cfe3d0").save(buffer, "PNG")
    tile = site.publish(buffer.getvalue(), path="/tile.png", content_type="image/png")
    url = site.page(
        f"<link rel=stylesheet href='{files}/leaflet.css'><script src='{files}/leaflet.js'></script>"
        "<div id=map style='position:absolute;inset:0'></div><script>"
        "const map = L.map('map', { inertia: false, zoomAnimation: false }).setView([50, 10], 5);"
        f"L.tileLayer('{tile}').addTo(map); L.marker([50, 10]).addTo(map).bindPopup('Here it is');</script>"
    )

    async with browsing("auto", *EYES, "--device-scale", "2", "--screenshot-max-side", "800") as browser:
        await browser.open(url)
        first = await browser.call("screenshot")
        width, height = size_of(first)
        await browser.do("mouse_click", at=f"{width // 2},{height // 2 - 8}")
        popup = await ask(browser, "document.querySelector('.leaflet-popup-content').textContent")
        start, end = (f"{width * part:.0f},{height * 0.3:.0f}" for part in (0.3, 0.5))
        dragged = await browser.call("mouse_drag", start=start, end=end)
        moved = await ask(browser, "map.getCenter().lng")
        await browser.do("mouse_wheel", at="[0.5,0.5,0.5,0.5]", direction="up", pixels=120)
        await browser.do("evaluate_script", script="new Promise(r => setTimeout(r, 200))")
        closer = await ask(browser, "map.getZoom()")
        await browser.do("mouse_click", at="[0.3,0.7,0.3,0.7]", clicks=2)
        closest = await ask(browser, "map.getZoom()")

    assert popup == "Here it is"
    assert size_of(dragged) == (width, height)
    # A fifth of 1280 pixels, at 5 * 256 pixels for 360 degrees at zoom 0.
    assert moved == pytest.approx(10 - 256 * 360 / (256 * 2**5), abs=1.5)
    assert closer > 5
    assert closest == closer + 1


async def test_cards_are_dragged_to_another_column_of_a_board(site: Site) -> None:
    modules = npm_packages("sortable", "sortablejs@1.15.6")
    files = site.mount("/sortable", modules / "sortablejs")
    card = "<div class=card style='height:60px;margin:8px;background:#def'>"
    url = site.page(
        "<style>.col { width: 300px; height: 400px; background: #eee }</style>"
        f"<script src='{files}/Sortable.min.js'></script><div style='display:flex;gap:40px'>"
        f"<div class=col id=todo>{card}One</div>{card}Two</div></div>"
        f"<div class=col id=done>{card}Three</div></div></div>"
        "<script>for (const col of document.querySelectorAll('.col'))"
        " Sortable.create(col, { group: 'board', animation: 0 });</script>"
    )
    cards = "[...document.getElementById(id).children].map(card => card.textContent)"

    async with browsing("auto", *EYES, "--screenshot-max-side", "640") as browser:
        await browser.open(url)
        await browser.do("screenshot")
        dragged = await browser.do("mouse_drag", start="50,20", end="250,100")
        after = await ask(browser, f"['todo', 'done'].map(id => {cards})")

    assert after == [["Two"], ["Three", "One"]]
    assert "Dragged from 100,40" in dragged


# -- a person: what they do is recorded; the tests run and pass, and the task is done again


async def again(recorder: Recorder, folder: Path, *flags: str) -> None:
    """Do the recorded task again without a model."""
    command = [sys.executable, "-m", "mcp_browser", "run", "--replay", recorder.task, "--headless"]
    ran = await run([*command, "--isolated", "--tasks-dir", str(folder / "tasks"), *flags], folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr


async def test_what_a_person_does_in_django_admin_is_done_again(django_admin: Django, tmp_path: Path) -> None:
    app = django_admin
    app.reset()
    async with recorded(f"{app.url}/admin/", tmp_path, "django") as recorder:
        person, page = recorder.person, recorder.person.page
        await person.fill(page.get_by_label("Username"), app.user)
        await person.press("Tab")
        await page.keyboard.type(app.password)
        await person.press("Enter")
        await person.click(page.get_by_role("link", name="Groups"))
        await person.click(page.get_by_role("link", name="Add group"))
        await person.fill(page.get_by_label("Name:"), "Editors")
        await person.click(page.locator("#id_permissions_from option", has_text="Can view user"))
        await person.click(page.get_by_role("button", name="Choose selected permissions"))
        await person.click(page.get_by_role("button", name="Save", exact=True))
        await expect(page.get_by_text("was added successfully")).to_be_visible(timeout=20_000)
        await recorder.check("text", page.locator("li.success"))
        await asyncio.sleep(0.5)
    groups = "SELECT auth_group.name, codename FROM auth_group JOIN auth_group_permissions AS has "
    groups += "ON has.group_id = auth_group.id JOIN auth_permission ON auth_permission.id = has.permission_id"
    assert app.query(groups) == [("Editors", "view_user")]
    assert app.password not in recorder.written()
    for file, passes in zip(recorder.files, (passes_in_python, passes_in_typescript), strict=False):
        app.reset()
        await passes(file, PASSWORD=app.password)
        assert app.query(groups) == [("Editors", "view_user")], file.name
    app.reset()
    secrets = private_file(
        tmp_path / "secrets.toml", f'[password]\nvalue = "{app.password}"\ndomains = ["127.0.0.1"]\n'
    )
    values = ("--variable", "Name:=Writers", "--variable", "Editors=Writers")
    await again(recorder, tmp_path, "--secrets", str(secrets), "--secret", "password", *values[:2])
    assert app.query(groups) == [("Writers", "view_user")]


async def test_what_a_person_does_in_jupyterlab_is_done_again(jupyter: JupyterLab, tmp_path: Path) -> None:
    async with recorded(f"{jupyter.url}/lab?reset", tmp_path, "jupyter") as recorder:
        person, page = recorder.person, recorder.person.page
        await person.click(page.get_by_role("button", name=re.compile("^Python 3")))
        await expect(page.locator(".jp-Notebook .cm-content").first).to_be_visible(timeout=40_000)
        await expect(page.get_by_role("button", name=re.compile("Idle$"))).to_be_visible(timeout=40_000)
        await recorder.check("visible", page.get_by_role("button", name=re.compile("Idle$")))
        await asyncio.sleep(0.5)
        await person.click(page.locator(".jp-Notebook .cm-content"))
        await page.keyboard.type("print(6 * 7)", delay=10)
        await person.press("Shift+Enter")
        await expect(page.get_by_text("42", exact=True)).to_be_visible(timeout=40_000)
        await recorder.check("visible", page.get_by_text("42", exact=True))
        await asyncio.sleep(0.5)
    for file, passes in zip(recorder.files, (passes_in_python, passes_in_typescript), strict=False):
        jupyter.reset()
        await passes(file)
    jupyter.reset()
    await again(recorder, tmp_path)
    assert [file.name for file in jupyter.folder.glob("*.ipynb")] == ["Untitled.ipynb"]
