"""Draw the live view: the page that is shipped, after some calls; a recording; the card of a task in a chat.

    python scripts/draw_view.py [FOLDER]

runs the real server and writes docs/images/view.jpg, recording.jpg and card.jpg; with FOLDER also a picture
of each state.
"""

import asyncio
import io
import re
import sys
import tempfile
from pathlib import Path

from mcp import Client
from PIL import Image
from playwright.async_api import Page, async_playwright, expect

from mcp_browser.browser.process.launch import find_browser, launch_options
from mcp_browser.settings import Settings
from scripts.shop import shop
from tests.support.agents import Desk, done, output
from tests.support.app_host import Chat, bridge_script, shows_apps

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
QUALITY = 82
WIDE, NARROW = (1280, 720), (600, 1000)


def main() -> int:
    """Draw; the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with shop() as url:
        pictures = asyncio.run(_draw(url, folder))
        with tempfile.TemporaryDirectory() as tasks:
            pictures["card"] = asyncio.run(_card(url, Path(tasks)))
    for name, picture in pictures.items():
        target = IMAGES / f"{name}.jpg"
        with Image.open(io.BytesIO(picture)) as image:
            image.convert("RGB").save(target, "JPEG", quality=QUALITY, optimize=True)
            sys.stdout.write(f"{target.relative_to(ROOT)}: {image.width}x{image.height}\n")
    return 0


async def _draw(url: str, folder: Path | None) -> dict[str, bytes]:
    flags = ["--http", "--port", "0", "--headless", "--view", "--allow-private", "127.0.0.1"]
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcp_browser", *flags, stderr=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert server.stderr is not None
    try:
        base = link = ""
        while not link:
            line = (await server.stderr.readline()).decode()
            base = found[1] if (found := re.search(r"listening at (\S+)/mcp", line)) else base
            link = found[1] if (found := re.search(r"live view at (\S+)", line)) else link
        async with Client(f"{base}/mcp", mode="legacy") as client, async_playwright() as playwright:
            await client.call_tool("go_to_url", {"url": url})
            browser = await playwright.chromium.launch(
                **launch_options(find_browser(Settings().browser), headless=True)
            )
            page = await browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
            await page.goto(link)
            await expect(page.locator("#live[data-frames]")).to_be_visible(timeout=60_000)
            found = await client.call_tool("find_elements", {"role": "textbox"})
            text = " ".join(getattr(part, "text", "") for part in getattr(found, "content", ()))
            index = re.search(r"\[(\d+)\] textbox", text)
            if index is not None:
                await client.call_tool("input_text", {"index": int(index[1]), "text": "Ada Lovelace"})
            await client.call_tool("get_state", {"screenshot": False})
            await client.call_tool("click_element", {"index": 9999})
            await expect(page.locator("#calls > li")).to_have_count(5, timeout=60_000)
            await page.locator("#calls summary").nth(2).click()
            await page.wait_for_timeout(1000)
            pictures = {"view": await page.screenshot()}
            if folder is not None:
                await _states(page, folder)
            pictures["recording"] = await _recording(page)
            await browser.close()
            return pictures
    finally:
        server.terminate()
        await server.wait()


async def _recording(page: Page) -> bytes:
    """A picture of a recording under way."""
    await page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    await page.emulate_media(color_scheme="light")
    await page.get_by_role("button", name="Record").click()
    await expect(page.locator("#recorder")).to_be_visible(timeout=60_000)
    canvas = page.locator("#live")
    await expect(page.locator(".taken #live")).to_be_visible()
    await canvas.focus()
    await page.keyboard.press("End")
    await page.keyboard.type(", London", delay=50)
    for key in ("Tab", "ArrowDown", "Tab", " ", "Tab"):
        await page.keyboard.press(key)
        await page.wait_for_timeout(150)
    await page.get_by_role("button", name="Check text").click()
    await page.wait_for_timeout(1500)
    return await page.screenshot()


async def _card(url: str, folder: Path) -> bytes:
    """A picture of the card of a task, in a chat, which asks its person."""
    desk = Desk(folder)
    asking = {"call_user": {"question": "Which day suits you?", "choices": ["Friday", "Sunday"]}}
    desk.follow(
        output({"find_elements": {"role": "textbox"}}, goal="Find the form"),
        output(asking, goal="Ask for the day"),
        done("Reserved."),
    )
    flags = [*desk.flags, "--view", "--allow-private", "127.0.0.1"]
    async with (
        async_playwright() as playwright,
        desk.client("auto", *flags, extensions=[shows_apps()]) as client,
    ):
        browser = await playwright.chromium.launch(
            **launch_options(find_browser(Settings().browser), headless=True)
        )
        chat = await Chat.begin(browser, client, bridge_script())
        given = {"task": "Reserve a basket for Ada, with tea.", "start_url": url}
        view = await chat.show("run_task", given)
        running = asyncio.create_task(client.call_tool("run_task", given))
        await expect(view.get_by_role("button", name="Friday")).to_be_visible(timeout=60_000)
        await chat.page.wait_for_timeout(1000)
        picture = await chat.page.locator("iframe").screenshot()
        await view.get_by_role("button", name="Friday").click()
        await running
        await browser.close()
        return picture


async def _states(page: Page, folder: Path) -> None:
    """A picture of each state, size and scheme."""
    for state in ("watched", "past", "taken"):
        if state == "past":
            await page.locator("#line").focus()
            await page.keyboard.press("Home")
        elif state == "taken":
            await page.get_by_role("button", name="Live").click()
            await page.get_by_role("button", name="Take over").click()
            await expect(page.get_by_role("button", name="Hand back")).to_be_visible(timeout=60_000)
        for width, height in (WIDE, NARROW):
            await page.set_viewport_size({"width": width, "height": height})
            for scheme in ("light", "dark"):
                await page.emulate_media(color_scheme=scheme)
                await page.wait_for_timeout(200)
                await page.screenshot(path=folder / f"{state}-{width}-{scheme}.png")
    await page.get_by_role("button", name="Hand back").click()


if __name__ == "__main__":
    sys.exit(main())
