"""Real libraries, worked by coordinates of the pictures alone, as Roo-Code and UI-TARS do.

What came of it is read from the application's own state.
"""

import io
import json
from typing import Any

import pytest
from PIL import Image

from tests.support.client import Browser, Result, browsing
from tests.support.packages import npm_packages
from tests.support.site import Site

pytestmark = pytest.mark.apps

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
