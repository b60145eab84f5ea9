"""Changes are a true and minimal account of the page, and an index means one element for ever."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_browser.dom.cdp import send
from mcp_browser.dom.models import DomChange, DomChanges, DomNode
from mcp_browser.errors import ActionError, StaleElement
from mcp_browser.rendering import render_changes
from tests.snapshot.hand import FILLER, LOG, Hand, changes_of
from tests.snapshot.replay import applied, bare
from tests.support.in_page import in_page
from tests.support.load import load

MUTATIONS = (Path(__file__).parent / "mutations.js").read_text(encoding="utf-8")
STAGE = """
<div id=stage>
  <h1>Stage</h1> <button>One</button> <p>Some words</p> <ul><li>First</li><li>Second</li></ul>
  <section aria-label=Box><input aria-label=Field value=1> <a href=/x>Link</a></section>
</div>
"""

Step = tuple[int, int, int]
rounds = st.lists(
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50)), min_size=1, max_size=5),
    min_size=1,
    max_size=4,
)
any_page = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


async def stage(hand: Hand) -> list[DomNode]:
    """A page that can be changed by numbers; its lines."""
    view = await hand.show(STAGE + FILLER)
    await hand.script(MUTATIONS)
    return bare(view.snapshot.nodes)


async def mutate(hand: Hand, steps: list[Step]) -> None:
    await hand.script("steps => mutate(steps)", steps)


@pytest.mark.slow
@settings(any_page, max_examples=load(15, full=60))
@given(rounds=rounds)
async def test_the_last_snapshot_and_the_changes_since_give_a_fresh_snapshot(
    hand: Hand, rounds: list[list[Step]]
) -> None:
    lines = await stage(hand)
    for steps in rounds:
        await mutate(hand, steps)
        lines = applied(lines, await hand.tab.dom.changes())
    fresh = bare((await hand.look()).snapshot.nodes)
    assert list(map(str, lines)) == list(map(str, fresh))
    assert lines == fresh


@pytest.mark.slow
@settings(any_page, max_examples=load(5, full=25))
@given(rounds=rounds)
async def test_an_index_means_the_same_element_for_ever_and_no_element_has_two(
    hand: Hand, rounds: list[list[Step]]
) -> None:
    await stage(hand)
    serials: dict[int, int] = {}
    for steps in [*rounds, rounds[0]]:
        await mutate(hand, steps)
        for node in (await hand.look()).elements:
            assert node.index is not None
            serials.setdefault(node.index, await serial_of(hand, node.index))
    for index, serial in serials.items():
        try:
            assert await serial_of(hand, index) == serial
        except StaleElement:
            continue
    assert len(set(serials.values())) == len(serials)


async def serial_of(hand: Hand, index: int) -> int:
    """The page's own number of the element that an index names."""
    return await in_page(hand.tab.dom, index, "element => top.serialOf(element)")


async def changes(hand: Hand, script: str) -> list[DomChange]:
    """What is told after a script has run in the page."""
    await hand.script(script)
    told = await hand.tab.dom.changes()
    assert isinstance(told, DomChanges), told
    return list(told.changes)


async def told(hand: Hand, script: str) -> list[str]:
    """The changes as they are shown, without indexes."""
    text = render_changes(DomChanges(changes=tuple(await changes(hand, script))))
    return [] if text == render_changes(DomChanges()) else re.sub(r"\[\d+\] ?", "", text).splitlines()


ROWS = "".join(
    f"<tr><td>Name {number}</td><td><button>Edit {number}</button></td></tr>" for number in range(200)
)
ITEMS = f"<ul id=u>{''.join(f'<li>Item {number}</li>' for number in range(300))}</ul>"
TABLE = f"<table><tbody id=t>{ROWS}</tbody></table>"
FIELDS = "".join(f"<p>Field {number}</p><input aria-label='Value {number}'>" for number in range(18))
PANE = f"<div id=d role=dialog aria-label='Edit node'>{FIELDS}</div>"
ADDED = "insertAdjacentHTML('afterend', '{}')"


@pytest.mark.parametrize(
    ("page", "script", "lines"),
    [
        (ITEMS, f"u.children[150].{ADDED.format('<li>Fresh')}", ["+ Fresh"]),
        (ITEMS, "u.firstChild.remove()", ["- Item 0"]),
        (
            ITEMS,
            "for (const at of [90, 80, 70, 60, 50, 40, 30]) u.children[at].remove()",
            [f"- Item {number}" for number in range(30, 100, 10)],
        ),
        (
            TABLE,
            f"t.rows[99].{ADDED.format('<tr><td>Zoe<td><button>Edit Zoe')}",
            ['+ | Zoe | button "Edit Zoe" |'],
        ),
        (TABLE, "0", []),
        (TABLE, "for (const b of t.querySelectorAll('button')) b.firstChild.data = b.firstChild.data", []),
        (TABLE, "for (const b of t.querySelectorAll('button')) { b.className = 'c'; b.dataset.x = 1 }", []),
        (TABLE, "for (const r of [...t.rows]) t.append(r)", []),
        (TABLE, "document.body.append(document.createElement('div'), ' ', new Comment('x'))", []),
        (TABLE, "t.style.color = 'green'", []),
        (TABLE, "document.body.insertAdjacentHTML('beforeend', '<p hidden>Unseen</p>')", []),
        (f"<div id=d>{FILLER}</div>", "d.innerHTML = d.innerHTML", []),
        ("<input type=checkbox id=c aria-label=A>", "c.checked = true", ['~ checkbox "A" checked']),
        ("<button id=b>Go</button>", "b.disabled = true", ['~ button "Go" disabled']),
        (
            "<input id=i aria-label=Sum value=1>",
            "i.value = 99",
            ['~ textbox "Sum" value="99" (was value="1")'],
        ),
        (f"<b>Before</b>{PANE}", "d.remove()", ['- dialog "Edit node" with 18 elements (was )']),
        (
            f"<b>Before</b><div id=d>{ROWS}</div>",
            "d.remove()",
            ['- 400 lines, from Name 0 to button "Edit 199" (was )'],
        ),
        (
            "<div id=d><div onclick='0'>Board</div></div>",
            "d.style.cssText = 'height: 0; overflow: hidden'",
            ['- clickable "Board" (was )'],
        ),
    ],
)
async def test_only_what_changed_is_told(hand: Hand, page: str, script: str, lines: list[str]) -> None:
    await hand.show(page + FILLER)
    assert await told(hand, script) == lines


async def test_changes_in_shadow_trees_and_frames_are_told(hand: Hand) -> None:
    inner = hand.site.page("<p id=p>Inner</p>")
    far = inner.replace(hand.site.url, hand.site.other)
    await hand.show(
        f"<iframe src='{inner}'></iframe><iframe src='{far}'></iframe><div id=h></div>{FILLER}"
        "<script>const r = h.attachShadow({mode: 'closed'}); r.innerHTML = '<p>Shadow</p>'</script>"
    )
    lines = await told(hand, "r.firstChild.textContent = 'Darker'; frames[0].p.textContent = 'Within'")
    for frame in hand.tab.page.frames:
        if frame.url == far:
            await frame.evaluate("p.textContent = 'Abroad'")
    lines += await told(hand, "0")
    assert all(any(word in line for line in lines) for word in ("Darker", "Within", "Abroad"))


async def test_an_index_of_the_page_before_never_means_an_element_of_this_one(hand: Hand) -> None:
    old = (await hand.show("<button>Delete everything</button>")).index("Delete everything")
    new = (await hand.show("<button>Keep everything</button>")).index("Keep everything")
    assert new != old
    with pytest.raises(ActionError, match="Delete everything"):
        await hand.click(old)


@pytest.mark.slow
async def test_a_huge_change_stays_within_its_budget_and_says_what_is_left_out(hand: Hand) -> None:
    view = await hand.show(
        '<button onclick="for (let i = 0; i < 20000; i++) '
        "d.append(Object.assign(document.createElement('p'),"
        f" {{textContent: 'New line ' + i}}))\">More</button><div id=d></div>{FILLER}"
    )
    changes = changes_of(await hand.click(view.index("More")))
    assert sum(len(str(change.node)) for change in changes.changes) < 1500 * 4
    assert changes.omitted > 19_000


async def test_the_same_button_of_another_row_or_dialog_is_another_one(hand: Hand) -> None:
    view = await hand.show(
        f"<p>{'Words. ' * 90}</p><ul id=u></ul>"
        "<div id=d role=dialog aria-label=Edit><button>Save</button></div><script>"
        "const draw = names => { u.innerHTML = names.map(name => `<li>${name} <button onclick='next()'>delete"
        "</button></li>`).join('') }; draw(['Ann', 'Bob']);const next = () => { draw(['Bob']);"
        " d.outerHTML = '<div role=dialog aria-label=Add><button>Save</button></div>' }</script>"
    )
    first, second = (node.index for node in view.all("delete"))
    changes = changes_of(await hand.click(first)).changes
    replaced = [change.before.index for change in changes if change.op == "replaced" and change.before]
    assert second in replaced
    assert first not in replaced
    assert view.index("Save") not in replaced
    with pytest.raises(StaleElement) as caught:
        await hand.click(first)
    assert "nearest match" not in str(caught.value)
    with pytest.raises(StaleElement, match="nearest match"):
        await hand.click(second)


SAVE = "<button onclick=\"log.push('{0}')\">{0}</button>"


@pytest.mark.parametrize("shown", [True, False])
async def test_a_button_replaced_by_an_identical_one_is_stale_and_names_its_match(
    hand: Hand, shown: bool
) -> None:
    old = (await hand.show(f"{LOG}<div id=d>{SAVE.format('Save')}</div>")).index("Save")
    await hand.script("d.innerHTML = d.innerHTML")
    new = (await hand.look()).index("Save") if shown else None
    with pytest.raises(StaleElement) as caught:
        await hand.click(old)
    named = int(str(caught.value).split('] button "Save"')[-2].split("[")[-1])
    assert named == new if shown else named != old
    assert await hand.log() == []
    assert await hand.clicks(named) == ["Save"]


async def test_an_index_of_another_tab_is_not_taken_for_one_of_this(hand: Hand) -> None:
    first = await hand.show(f"{LOG}{SAVE.format('First')}")
    await hand.do("open_tab", url=hand.site.page(f"{LOG}{SAVE.format('Second')}"))
    second = await hand.look()
    assert second.offers("Second")
    if first.index("First") != second.index("Second"):
        with pytest.raises(ActionError):
            await hand.click(first.index("First"))
    assert await hand.log() == []


async def test_a_frame_that_went_takes_its_indexes_with_it(hand: Hand) -> None:
    inner = hand.elsewhere(SAVE.format("Save"))
    view = await hand.show(f"<iframe id=f src='{inner}'></iframe>")
    await hand.script("f.remove()")
    with pytest.raises(StaleElement, match="Save"):
        await hand.click(view.index("Save"))


async def test_indexes_outlive_the_collection_of_what_stands_for_their_elements(hand: Hand) -> None:
    rows = "".join(f"<p>Line {n} <button>Act {n}</button></p>" for n in range(300))
    before = {node.name: node.index for node in (await hand.show(rows)).elements}
    session = await hand.tab.page.context.new_cdp_session(hand.tab.page)
    for _ in range(2):
        await hand.script("for (let n = 0; n < 3e5; n++) window.last = [n, [n]]; window.last = null")
        await send(session, "HeapProfiler.collectGarbage")
    assert {node.name: node.index for node in (await hand.look()).elements} == before
