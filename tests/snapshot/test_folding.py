"""Long lists, tables and menus are told in short, can be opened, and are never the worse for it."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_browser.actions.result import ActionResult
from mcp_browser.dom.models import DomNode
from mcp_browser.rendering import render_snapshot
from tests.snapshot.hand import FILLER, WHOLE, Hand, changes_of, number, snapshot_of, words_of
from tests.snapshot.replay import Known, applied, bare, expanded
from tests.snapshot.test_changes import MUTATIONS, STAGE, Step, any_page, mutate


def many(entry: str, count: int, **others: str) -> str:
    """Entries with their numbers, save those that are given whole."""
    return "".join(others.get(f"n{n}", entry.replace("#", str(n))) for n in range(count))


LINKS = many("<li><a href='/place/#'>Place #</a></li>", 300)
ROWS = many("<tr><td>Row #</td><td>#</td><td><button onclick='log.push(#)'>Edit #</button></td></tr>", 5000)
HEADER = "<thead><tr><th>Name<th>Count<th>Do</tr></thead>"
TABLE = f"<script>log = []</script><table id=t>{HEADER}<tbody>{ROWS}</table>"


async def told(hand: Hand, body: str) -> str:
    await hand.tab.goto(hand.site.page(body))
    return text_of(await hand.do("get_state"))


def text_of(result: ActionResult) -> str:
    return render_snapshot(snapshot_of(result))


def fold_in(text: str) -> tuple[int, str, int]:
    """How many entries the first fold leaves out, what they are called, and the index to open them."""
    found = re.search(r"^\s*… ([\d,]+) more (\w+) \(get_state index=(\d+)\)$", text, re.M)
    assert found, text
    return int(found[1].replace(",", "")), found[2], int(found[3])


async def test_a_menu_of_300_links_is_folded_and_the_page_after_it_is_told(hand: Hand) -> None:
    text = await told(
        hand, f"<nav aria-label=Places><ul>{LINKS}</ul></nav><h2>After</h2><button>End</button>"
    )
    count, _, _ = fold_in(text)
    shown = re.findall(r'link "Place (\d+)"', text)
    assert [int(n) for n in shown] == list(range(len(shown)))
    assert len(shown) + count == 300
    assert "## After" in text
    assert 'button "End"' in text
    assert len(text) < 4000


@pytest.mark.slow
async def test_a_table_of_5000_rows_keeps_its_header_and_leaves_room_for_the_rest(hand: Hand) -> None:
    text = await told(hand, f"{TABLE}<p>Sum of all</p><button>Export</button>")
    count, noun, _ = fold_in(text)
    shown = len(re.findall(r"^\s*\| Row \d+ \|", text, re.M))
    assert noun == "rows"
    assert count + shown == 5000
    assert text.count("| Name | Count | Do |") == 1
    assert text.endswith(("long lists in short)", 'button "Export"'))
    assert "Sum of all" in text
    assert len(text) < 5000


OPTION = "<div role=option tabindex=-1>Choice #</div>"
CARD = "<div class='card big'><h3>Tea #</h3><p>Of the year #</p><button>Buy #</button></div>"
ENTRY = "<li>Entry # with some more words to it</li>"
CHOSEN = OPTION.replace("#", "150").replace(">", " aria-selected=true>", 1)
FRAMED = "<li><iframe srcdoc='<button>Deep within</button>'></iframe></li>"


@pytest.mark.parametrize(
    ("body", "shown", "least"),
    [
        (
            f"<div role=listbox style='height: 90px; overflow: auto'>{many(OPTION, 200, n150=CHOSEN)}</div>",
            r'more options \(get_state index=\d+\)\n\s*\[\d+\] option "Choice 150" selected\n\s*… 49 more',
            100,
        ),
        (f"<main>{many(CARD, 80)}</main><footer><a href=/terms>Terms</a></footer>", 'link "Terms"', 51),
        (f"<ul>{many(ENTRY, 100, n80=FRAMED)}</ul>", "Deep within", 31),
    ],
    ids=["options of a drawn menu", "cards of one kind", "a list with a frame in it"],
)
async def test_a_list_is_folded_and_what_matters_in_it_is_told(
    hand: Hand, body: str, shown: str, least: int
) -> None:
    text = await told(hand, body)
    assert fold_in(text)[0] >= least
    assert re.search(shown, text)


@pytest.mark.parametrize(
    "body",
    [
        many("<p>Paragraph # of a long text that goes on and on.</p>", 60),
        many("<div class=row><label>Field # <input></label></div>", 60),
        many(f"<div class=part><h2>Part #</h2>{'<p>Words of this part.</p>' * 9}</div>", 20),
        f"<ul>{many('<li>Item #</li>', 15)}</ul>",
        f"<ul>{many('<li>#</li>', 60)}</ul>",
    ],
    ids=["paragraphs", "fields of a form", "parts of a document", "a short list", "what saves nothing"],
)
async def test_what_is_no_long_list_is_told_in_full(hand: Hand, body: str) -> None:
    assert "… " not in await told(hand, body)


@pytest.mark.slow
async def test_a_fold_is_opened_by_its_index_and_its_parts_are_the_whole_list(hand: Hand) -> None:
    _, _, index = fold_in(await told(hand, f"<h1>Shop</h1>{TABLE}<p>End</p>"))
    found: set[str] = set()
    part = parts = 1
    while part <= parts:
        result = await hand.do("get_state", index=index, part=part)
        parts = snapshot_of(result).parts
        text = text_of(result)
        assert len(text) <= 6000 * 4 * 1.1
        found |= set(re.findall(r"\| (Row \d+) \|", text))
        part += 1
    assert len(found) == 5000


@pytest.mark.slow
async def test_what_is_folded_is_scrolled_to_found_and_acted_on_at_once(hand: Hand) -> None:
    await told(hand, TABLE)
    assert "Row 2501" in words_of(await hand.do("scroll_to_text", text="Row 2500"))
    assert "Row 2500" in text_of(await hand.do("get_state"))
    index = number(await hand.find(text="Edit 4321"))
    assert await hand.clicks(index) == [4321]


async def test_a_list_that_was_drawn_anew_is_told_in_short(hand: Hand) -> None:
    rows = "'<tr><td>Row ' + n + ' of ' + time + '<td>' + n + '<td><button>Edit</button>'"
    draw = f"time++; t.innerHTML = Array.from({{ length: 90 }}, (_, n) => {rows}).join('')"
    script = f"<script>let time = 0; function draw() {{ {draw} }} draw()</script>"
    text = await told(hand, f"<button onclick=draw()>Draw</button><table id=t></table>{FILLER}{script}")
    count, _, _ = fold_in(text)
    before = expanded((await hand.tab.dom.snapshot(budget=WHOLE)).nodes)
    changed = await hand.do("click_element", index='button "Draw"')
    words = words_of(changed)
    assert words.startswith("- 90 lines, from | Row 0 of 1 |")
    assert "None" not in words
    assert f"+ … {count} more rows (get_state index=" in words
    assert words.count("+ | Row") == 90 - count
    after = await hand.tab.dom.snapshot(budget=WHOLE)
    assert len(applied(before, changes_of(changed))) == len(expanded(after.nodes))
    assert fold_in(render_snapshot(after))[0] == count


LONG_LISTS = (
    f"<ul>{many('<li><a href=/#>Long way to number #</a></li>', 40)}</ul>"
    f"<table>{many('<tr><td>Cell #<td><button>Press #</button></tr>', 40)}</table>"
)


def agree(known: Sequence[Known], page: Sequence[DomNode]) -> None:
    """Every line that is known stands on the page in its place, and there are as many."""
    assert len(known) == len(page)
    assert [str(line) for line in known if line] == [
        str(line) for line, there in zip(page, known, strict=True) if there
    ]


steps = st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(0, 50))


@pytest.mark.slow
@settings(any_page, max_examples=12)
@given(rounds=st.lists(st.lists(steps, min_size=1, max_size=5), min_size=1, max_size=4))
async def test_a_folded_snapshot_and_the_changes_since_hold_for_the_page_wherever_they_tell(
    hand: Hand, rounds: list[list[Step]]
) -> None:
    stage = STAGE.replace("</div>", f"{LONG_LISTS}</div>")
    await hand.tab.goto(hand.site.page(f"<div style='height: 3000px'></div>{stage}{FILLER}"))
    await hand.script(MUTATIONS)
    first = await hand.tab.dom.snapshot(budget=WHOLE)
    assert sum(node.kind == "fold" for node in first.nodes) == 2
    known = expanded(first.nodes)
    for round_ in rounds:
        await mutate(hand, round_)
        known = applied(known, await hand.tab.dom.changes())
    page = bare((await hand.look()).snapshot.nodes)
    agree(known, page)
    agree(expanded((await hand.tab.dom.snapshot(budget=WHOLE)).nodes), page)


LAZY = many(
    f"<section class=lazy><h2>Chapter #</h2>{'<p>Words of chapter # <b>here</b></p>' * 60}</section>", 60
)
LAZY_PAGE = f"<style>.lazy {{ content-visibility: auto; contain-intrinsic-size: 1px 5000px }}</style>{LAZY}"


async def test_parts_that_are_laid_out_late_are_read_and_left_as_they_were(hand: Hand) -> None:
    await hand.tab.goto(hand.site.page(LAZY_PAGE))
    layout = "[document.documentElement.scrollHeight, document.adoptedStyleSheets.length, scrollY]"
    before = await hand.script(layout)
    assert (await hand.look()).says("Words of chapter 59")
    assert await hand.script(layout) == before
    await hand.script("document.querySelectorAll('section')[40].scrollIntoView()")
    await hand.do("wait_for", seconds=0.1)  # It is laid out
    top = await hand.script("scrollY")
    text = text_of(await hand.do("get_state"))
    assert "Chapter 40" in text
    assert "Chapter 3\n" not in text
    assert abs(await hand.script("scrollY") - top) < 50


async def test_many_handles_without_names_are_counted_and_found_with_what_they_are_of(hand: Hand) -> None:
    handle = "<i class=handle style='cursor: col-resize; display: inline-block; width: 9px; height: 9px'></i>"
    jobs = many(f"<p>{handle}<button>Job #</button></p>", 12)
    script = "<script>for (const one of document.querySelectorAll('i')) one.onmousedown = () => 0</script>"
    text = await told(hand, jobs + script)
    found = await hand.find(text="handle", limit=30)
    assert text.count('clickable "" hint="handle left of Job ') == 2
    assert "… 10 more handles (get_state index=" in text
    assert text.count("button") == 12
    assert found.count('clickable "" hint="handle left of Job ') == 12
