"""Hard cases with elements, over stdio: old indexes, covers, menus, files, frames, odd pages."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.client import Browser, browsing
from tests.support.site import Site


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The only folder that files may be uploaded from."""
    return tmp_path_factory.mktemp("uploads")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(uploads: Path) -> AsyncIterator[Browser]:
    # The long limit shows which causes are named without waiting for it.
    async with browsing("auto", "--action-timeout=60", f"--upload-dir={uploads}") as connected:
        yield connected


async def refused(browser: Browser, tool: str, **arguments: object) -> str:
    """Call a tool that has to fail long before any of its limits; what it says."""
    async with asyncio.timeout(60):
        result = await browser.call(tool, **arguments)
    assert result.is_error, f"{tool} did not fail: {result.text}"
    return result.text


REPLACED = """
<p id=out>nothing</p>
<div id=place><button onclick="out.textContent += ' first'">Buy</button></div>
<button onclick="place.innerHTML = `{new}`">Replace</button>
"""


async def test_an_old_index_does_not_reach_a_detached_node_that_an_identical_one_replaced(
    browser: Browser, site: Site
) -> None:
    await browser.open(
        site.page(
            REPLACED.format(new="<button onclick='out.textContent += &quot; second&quot;'>Buy</button>")
        )
    )
    old = browser.find("button", "Buy")
    await browser.click("button", "Replace")
    said = await refused(browser, "click_element", index=old)
    assert 'button "Buy"' in said, "it tells what the element was"
    nearest = re.search(r'\[(\d+)\] button "Buy"', said.replace(f"[{old}]", ""))
    assert nearest, f"the nearest match is named: {said}"
    assert "nothing" in await browser.snapshot()
    await browser.do("click_element", index=int(nearest[1]))
    assert "nothing second" in await browser.snapshot()


async def test_an_old_index_never_means_the_different_element_that_took_its_place(
    browser: Browser, site: Site
) -> None:
    await browser.open(
        site.page(
            REPLACED.format(new="<button onclick='out.textContent = &quot;sold&quot;'>Sell all</button>")
        )
    )
    old = browser.find("button", "Buy")
    await browser.click("button", "Replace")
    said = await refused(browser, "click_element", index=old)
    assert 'button "Buy"' in said
    assert "nothing" in await browser.snapshot()


async def test_an_index_stays_with_its_element_while_everything_around_it_is_rendered_anew(
    browser: Browser, site: Site
) -> None:
    page = """<p id=out>nothing</p><div id=before></div>
    <button id=keep onclick="out.textContent = 'kept'">Keep</button>
    <button onclick="before.innerHTML = '<button>One</button>'; document.body.append(keep)">
    Shuffle</button>"""
    await browser.open(site.page(page))
    keep = browser.find("button", "Keep")
    await browser.click("button", "Shuffle")
    await browser.do("click_element", index=keep)
    assert "kept" in await browser.snapshot()


async def test_an_index_that_was_never_given_is_refused(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<button>Only</button>"))
    assert "987654" in await refused(browser, "click_element", index=987654)


async def test_an_index_from_an_earlier_page_is_refused(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<button>Here</button>"))
    old = browser.find("button", "Here")
    await browser.open(site.page("<button>There</button>"))
    assert browser.find("button", "There") != old
    assert 'button "Here"' in await refused(browser, "click_element", index=old)


async def test_what_covers_a_button_is_named_at_once(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><button onclick="out.textContent = 'bought'">Buy</button>
    <div role=dialog aria-label=Cookies onclick="out.textContent = 'the overlay got it'"
     style="position: fixed; inset: 0; background: white"><button>Accept all</button></div>"""
    await browser.open(site.page(page))
    (button,) = await find(browser, selector="text=Buy")
    said = await refused(browser, "click_element", index=button)
    assert "covered" in said
    assert 'dialog "Cookies"' in said
    assert "nothing" in await text_of(browser)


async def test_a_cover_that_goes_away_by_itself_is_waited_for(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><button onclick="out.textContent = 'bought'">Buy</button>
    <div id=cover style="position: fixed; inset: 0; background: white">Loading…</div>
    <script>addEventListener('focus', () => setTimeout(() => cover.remove(), 500), { once: true })</script>
    <script>setTimeout(() => cover.remove(), 900)</script>"""
    await browser.open(site.page(page))
    (button,) = await find(browser, selector="text=Buy")
    await browser.do("click_element", index=button)
    assert "bought" in await browser.snapshot()


async def test_a_covered_button_can_be_clicked_by_force(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><button onclick="out.textContent = 'bought'">Buy</button>
    <div style="position: fixed; inset: 0; pointer-events: auto; background: white"></div>"""
    await browser.open(site.page(page))
    (button,) = await find(browser, selector="text=Buy")
    await refused(browser, "click_element", index=button)
    assert not (await browser.call("click_element", index=button, force=True)).is_error


async def test_a_snapshot_tells_that_an_element_is_covered(browser: Browser, site: Site) -> None:
    page = """<button style="position: absolute; top: 50px">Under</button>
    <div style="position: absolute; top: 0; width: 300px; height: 200px; background: white; z-index: 2">
    <button>Over</button></div>"""
    await browser.open(site.page(page))
    shown = await browser.snapshot()
    assert 'button "Over"' in shown
    under = [line for line in shown.splitlines() if "Under" in line]
    assert not under or "covered" in under[0]


async def test_a_disabled_button_is_refused_at_once(browser: Browser, site: Site) -> None:
    await browser.open(site.page("<button disabled>Send</button>"))
    assert "disabled" in await refused(browser, "click_element", index=browser.find("button", "Send"))


async def test_a_button_that_becomes_enabled_in_a_moment_is_waited_for(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><button disabled onclick="out.textContent = 'sent'">Send</button>
    <script>setTimeout(() => document.querySelector('button').disabled = false, 700)</script>"""
    await browser.open(site.page(page))
    await browser.do("click_element", index=browser.find("button", "Send"))
    assert "sent" in await browser.snapshot()


@pytest.mark.parametrize(
    ("how", "style"),
    [("hidden", "display: none"), ("invisible", "visibility: hidden"), ("empty", "all: unset")],
)
async def test_an_element_that_has_vanished_is_refused_at_once(
    browser: Browser, site: Site, how: str, style: str
) -> None:
    page = f"""<button id=it>Gone</button><button onclick="
    it.style.cssText = '{style}'; if ('{how}' == 'empty') it.textContent = ''">Hide</button>"""
    await browser.open(site.page(page))
    gone = browser.find("button", "Gone")
    await browser.click("button", "Hide")
    assert "button" in await refused(browser, "click_element", index=gone)


async def test_an_element_that_appears_later_can_be_waited_for_and_clicked(
    browser: Browser, site: Site
) -> None:
    page = """<p id=out>nothing</p><button id=it hidden onclick="out.textContent = 'seen'">Late</button>
    <script>setTimeout(() => it.hidden = false, 1500)</script>"""
    await browser.open(site.page(page))
    await browser.do("wait_for", selector="#it")
    await browser.click("button", "Late")
    assert "seen" in await browser.snapshot()


EVENTS = """<p id=out>nothing</p><button>Target</button><div id=cover></div><script>
for (const kind of ['click', 'dblclick', 'contextmenu', 'auxclick'])
  document.querySelector('button').addEventListener(kind, event => {
    event.preventDefault();
    const held = ['ctrlKey', 'shiftKey', 'altKey'].filter(key => event[key]);
    out.textContent += ', ' + [kind, event.button, ...held].join(' ');
  });
</script>"""


@pytest.mark.parametrize(
    ("options", "event"),
    [
        ({"double": True}, "dblclick 0"),
        ({"button": "right"}, "contextmenu 2"),
        ({"button": "middle"}, "auxclick 1"),
        ({"modifiers": ["Shift", "Alt"]}, "click 0 shiftKey altKey"),
        ({"double": True, "modifiers": ["Control"]}, "dblclick 0 ctrlKey"),
    ],
)
async def test_clicks_of_every_kind_arrive_as_asked(
    browser: Browser, site: Site, options: dict[str, object], event: str
) -> None:
    await browser.open(site.page(EVENTS))
    await browser.do("click_element", index=browser.find("button", "Target"), **options)
    assert event in await browser.snapshot()


async def test_modifiers_are_released_when_a_click_fails(browser: Browser, site: Site) -> None:
    await browser.open(
        site.page(
            EVENTS.replace("<div id=cover>", "<div id=cover style='position: absolute; inset: 0 0 60% 0'>")
        )
    )
    (covered,) = await find(browser, selector="button")
    await refused(browser, "click_element", index=covered, modifiers=["Control", "Shift"])
    await browser.open(site.page(EVENTS))
    await browser.click("button", "Target")
    told = await browser.snapshot()
    assert ", click 0" in told
    assert "Key" not in told


async def test_an_aria_listbox_is_chosen_from_like_a_select(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p>
    <div role=combobox tabindex=0 aria-haspopup=listbox aria-expanded=false aria-controls=list
      aria-label=Colour onclick="list.hidden = false; this.ariaExpanded = true">Pick one</div>
    <div role=listbox id=list hidden onclick="out.textContent = event.target.textContent; this.hidden = true">
      <div role=option>Red</div><div role=option>Green</div></div>"""
    await browser.open(site.page(page))
    await browser.do("select_option", index=browser.find("combobox", "Colour"), options=["Green"])
    assert re.search(r"^Green|paragraph.*Green|\bGreen\b", await browser.snapshot(), re.M)


async def test_an_aria_menu_is_chosen_from_like_a_select(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p>
    <button aria-haspopup=menu aria-controls=menu aria-expanded=false
      onclick="menu.hidden = false; this.setAttribute('aria-expanded', true)">File</button>
    <ul role=menu id=menu hidden>
      <li role=menuitem onclick="out.textContent = 'opened'">Open</li>
      <li role=menuitem onclick="out.textContent = 'saved'">Save</li></ul>"""
    await browser.open(site.page(page))
    await browser.do("select_option", index=browser.find("button", "File"), options=["Save"])
    assert "saved" in await browser.snapshot()


async def test_an_option_that_is_not_there_is_refused_with_those_that_are(
    browser: Browser, site: Site
) -> None:
    await browser.open(site.page("<select aria-label=Size><option>Small<option>Large</select>"))
    said = await refused(browser, "select_option", index=browser.find("combobox", "Size"), options=["Huge"])
    assert "Small" in said
    assert "Large" in said


UPLOAD = """<label>Paper
<input type=file onchange="this.files[0].text().then(t => out.textContent = t)"></label><p id=out>none</p>"""


async def test_a_file_of_an_allowed_folder_is_uploaded(browser: Browser, site: Site, uploads: Path) -> None:
    paper = uploads / "paper.txt"
    paper.write_text("words on paper")
    await browser.open(site.page(UPLOAD))
    await browser.do("upload_file", index=await file_input(browser), paths=[str(paper)])
    assert "words on paper" in await browser.snapshot()


async def test_a_file_outside_the_allowed_folders_is_refused(
    browser: Browser, site: Site, uploads: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not leak")
    await browser.open(site.page(UPLOAD))
    index = await file_input(browser)
    for path in (secret, uploads / ".." / secret.parent.name / secret.name, Path("/etc/passwd")):
        said = await refused(browser, "upload_file", index=index, paths=[str(path)])
        assert str(uploads) in said, "it tells which folders are allowed"
    assert "do not leak" not in await browser.snapshot()


async def test_a_link_that_leads_out_of_the_allowed_folder_is_refused(
    browser: Browser, site: Site, uploads: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not leak")
    link = uploads / "innocent.txt"
    link.symlink_to(secret)
    await browser.open(site.page(UPLOAD))
    await refused(browser, "upload_file", index=await file_input(browser), paths=[str(link)])
    assert "do not leak" not in await browser.snapshot()


async def test_a_click_on_a_file_input_is_refused_with_advice_to_upload(browser: Browser, site: Site) -> None:
    await browser.open(site.page(UPLOAD))
    assert "upload_file" in await refused(browser, "click_element", index=await file_input(browser))


async def test_a_thing_is_dragged_and_dropped_by_the_html_events(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p>
    <div role=button aria-label=Card draggable=true style="width: 80px; height: 40px; background: gold"
      ondragstart="event.dataTransfer.setData('text/plain', 'the card')">Card</div>
    <div role=button aria-label=Pile style="width: 200px; height: 100px; margin-top: 50px"
      ondragover="event.preventDefault()" ondrop="event.preventDefault();
      out.textContent = 'got ' + event.dataTransfer.getData('text/plain')">Pile</div>"""
    await browser.open(site.page(page))
    await browser.do(
        "drag_element", index=browser.find("button", "Card"), target=browser.find("button", "Pile")
    )
    assert "got the card" in await browser.snapshot()


async def test_a_thing_is_dragged_by_the_mouse(browser: Browser, site: Site) -> None:
    page = """<p id=out>nothing</p><div role=button aria-label=Ball id=ball
      style="position: absolute; left: 20px; top: 100px; width: 40px; height: 40px; background: red"></div>
    <div role=button aria-label=Goal id=goal
      style="position: absolute; left: 300px; top: 200px; width: 90px; height: 90px"></div><script>
    let held = false, moves = 0;
    ball.onmousedown = () => held = true;
    addEventListener('mousemove', () => moves += held);
    addEventListener('mouseup', event => {
      const g = goal.getBoundingClientRect();
      if (held && event.clientX > g.left && event.clientX < g.right && moves > 1) out.textContent = 'scored';
      held = false;
    });</script>"""
    await browser.open(site.page(page))
    await browser.do(
        "drag_element", index=browser.find("button", "Ball"), target=browser.find("button", "Goal")
    )
    assert "scored" in await browser.snapshot()


async def test_frames_are_read_and_worked_in_where_they_stand(browser: Browser, site: Site) -> None:
    inner = "<button onclick=\"this.textContent = '{0} done'\">{0}</button>"
    deep = site.page(inner.format("Deep"))
    same = site.page(inner.format("Same site") + f"<iframe src='{deep}'></iframe>")
    cross = site.page(inner.format("Other site")).replace(site.url, site.other)
    made = inner.format("Made here").replace('"', "&quot;")
    frames = (
        f"<iframe src='{same}'></iframe><iframe src='{cross}'></iframe><iframe srcdoc=\"{made}\"></iframe>"
    )
    await browser.open(site.page(f"<h1>Before</h1>{frames}<h2>After</h2>"))
    names = ["Same site", "Deep", "Other site", "Made here"]
    for name in names:
        await browser.do("wait_for", text=name)
    told = await browser.snapshot()
    places = [told.index(name) for name in ["Before", *names, "After"]]
    assert places == sorted(places), "frames are told in place"
    for name in names:
        await browser.click("button", name)
    told = await browser.snapshot()
    assert all(f'"{name} done"' in told for name in names)


async def test_closed_shadow_roots_are_read_and_worked_in(browser: Browser, site: Site) -> None:
    page = """<my-card></my-card><p id=out>nothing</p><script>
    customElements.define('my-card', class extends HTMLElement {
      connectedCallback() {
        const root = this.attachShadow({ mode: 'closed' });
        root.innerHTML = '<label>Secret <input></label><button>Inside</button>';
      }
    });
    </script>"""
    assert 'button "Inside"' in await browser.open(site.page(page))
    await browser.fill("textbox", "Secret", "found")
    await browser.click("button", "Inside")
    assert "found" in await browser.snapshot()


async def test_declared_shadow_roots_are_read_and_worked_in(browser: Browser, site: Site) -> None:
    button = "<button onclick='this.after(`{0} done`)'>{0}</button>"
    root = f"<div><template shadowrootmode={{0}}>{button}</template></div>"
    await browser.open(site.page(root.format("open") + root.format("closed")))
    for mode in ("open", "closed"):
        assert f"{mode} done" in await browser.click("button", mode)


OVERRIDES = {
    "Prototype.js": "Array.prototype.toJSON = function () { return 'broken' };"
    "Element.prototype.getElementsByClassName = document.getElementsByClassName = () => { throw 1 };",
    "collections": "window.Map = window.Set = window.WeakMap = window.WeakRef = function () { throw 'mine' };"
    "Object.freeze(window.Map);",
    "arrays": "for (const name of ['map', 'filter', 'push', 'forEach', Symbol.iterator])"
    "Object.defineProperty(Array.prototype, name, { value() { throw 'mine' } });",
    "the DOM": "for (const name of ['getBoundingClientRect', 'getAttribute', 'closest', 'matches'])"
    "Element.prototype[name] = () => { throw 'mine' }; Node.prototype.contains = () => false;"
    "window.getComputedStyle = () => null; document.elementFromPoint = () => null;",
    "JSON and promises": "JSON.stringify = () => 'mine'; JSON.parse = () => 'mine'; window.Promise = null;"
    "window.requestAnimationFrame = () => 0; window.setTimeout = () => 0;",
}


@pytest.mark.parametrize("what", OVERRIDES)
async def test_a_page_that_overrides_natives_is_read_and_worked_in(
    browser: Browser, site: Site, what: str
) -> None:
    page = f"""<script>{OVERRIDES[what]}</script><p id=out>nothing</p><input aria-label=Name>
    <button onclick="document.querySelector('#out').textContent = 'clicked'">Go</button>"""
    await browser.open(site.page(page))
    await browser.fill("textbox", "Name", "Ada")
    told = await browser.click("button", "Go")
    assert "clicked" in told
    assert 'value="Ada"' in await browser.snapshot()


async def find(browser: Browser, **query: str) -> list[int]:
    """The indexes that find_elements gives."""
    told = await browser.do("find_elements", **query)
    return [int(index) for index in re.findall(r"^\s*\*?\[(\d+)\]", told, re.M)]


async def file_input(browser: Browser) -> int:
    return (await find(browser, selector="input[type=file]"))[0]


async def text_of(browser: Browser) -> str:
    return await browser.do("extract_content")
