"""What a page says in words, as a snapshot tells it."""

import random
import re
from itertools import count

from tests.snapshot.hand import Hand

VISIBLE = """() => {
    const words = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        const { width, height } = range.getBoundingClientRect();
        const holder = walker.currentNode.parentElement;
        const shown = holder.checkVisibility({ visibilityProperty: true, opacityProperty: true });
        if (shown && width > 1 && height > 1) words.push(...(walker.currentNode.data.match(/w\\d+/g) || []));
    }
    return words;
}"""
PARSED_ALONE = """pieces => document.body.append(...pieces.map(piece => {
    const inner = document.createElement("div");
    inner.innerHTML = piece;
    return inner;
}))"""
AROUND = (
    "<div {0}>{1}</div>",
    "<div {0} onclick=x>{1}</div>",
    '<div {0} style="cursor: pointer">{1}</div>',
    "<p {0}>{1}</p>",
    "<span {0}>{1}</span>",
    "<ul><li {0} onclick=x>{1}</ul>",
    "<ul {0}><li>{1}<li {0}>{1}</ul>",
    "<label {0}>{1}<input type=checkbox></label>",
    "<label {0}>{1}</label>",
    "<button {0}>{1}</button>",
    "<button>{1}</button>",
    "<a href=/x {0}>{1}</a>",
    "<p>See <a href=/x {0}>{1}</a>.</p>",
    "<a {0} onclick=x>{1}</a>",
    "<details open><summary {0}>{1}</summary>{1}</details>",
    "<table><tr {0}><td>{1}<td {0} onclick=x>{1}</table>",
    "<table><tr onclick=x><td {0}>{1}</table>",
    "<section {0}>{1}</section>",
    "<h3 {0}>{1}</h3>",
    "<h3 onclick=x>{1}</h3>",
    "<div role=img {0}>{1}</div>",
    "<fieldset><legend>{1}</legend>{1}</fieldset>",
    "<div role=button tabindex=0 {0}>{1}</div>",
    "<div role=listbox {0}><div role=option {0}>{1}</div></div>",
    "<div role=tab {0}>{1}</div>",
    "<div role=treeitem {0}>{1}</div>",
    "<article {0} onclick=x>{1}</article>",
    "<figure {0}>{1}<figcaption>{1}</figcaption></figure>",
    "<div role=progressbar {0}>{1}</div>",
    "<div role=dialog {0}>{1}</div>",
    "<div role=checkbox {0}>{1}</div>",
    "<div draggable=true {0}>{1}</div>",
    "<label for=z{2} {0}>{1}</label><button id=z{2}>{1}</button>",
    "<div aria-hidden=true>{1}</div>",
    "<output {0}>{1}</output>",
)
LEAVES = "<input type=checkbox>|<button>x</button>|<input>|<br>|<svg width=9 height=9 />|<i>•</i>".split("|")


def fragment(dice: random.Random, numbers: "count[int]", deep: int) -> str:
    """A random piece of a page; names are made of words that stand in it, or of none."""
    if deep == 0 or dice.random() < 0.2:
        return " ".join(f"w{next(numbers)}." for _ in range(dice.choice((1, 1, 1, 2, 2, 40))))
    inner = "".join(
        dice.choice(LEAVES) if dice.random() < 0.3 else fragment(dice, numbers, deep - 1)
        for _ in range(dice.randint(1, 3))
    )
    words = re.findall(r"w\d+", inner) or ["x"]
    name = dice.choice((words[-1], " ".join(words[:2]), "Named otherwise"))
    told = dice.choice(("", f'title="{name}"', f'aria-label="{name}"'))
    return dice.choice(AROUND).format(told, inner, next(numbers))


async def test_no_text_that_is_seen_is_lost(hand: Hand) -> None:
    dice, numbers = random.Random(27), count(1)
    pieces = [fragment(dice, numbers, 2) for _ in range(400)]
    await hand.show("<main></main>")
    await hand.script(PARSED_ALONE, pieces)
    view = await hand.look()
    told = set(re.findall(r"w\d+", view.text))
    lost = [word for word in await hand.script(VISIBLE) if word not in told]
    shown = {piece for piece in pieces for word in lost if re.search(rf"{word}\b", piece)}
    assert not lost, "\n".join(sorted(shown, key=len)) + str(lost)


async def test_a_place_in_an_editor_is_found_by_its_text_and_typed_at(hand: Hand) -> None:
    await hand.show("<div contenteditable aria-label=Note><p>One</p><p>Two <b>halves</b></p></div>")
    index = re.search(r'\[(\d+)\] text "Two halves"', await hand.find(text="two"))
    assert index is not None
    await hand.click(int(index[1]))
    await hand.do("send_keys", keys="Home")
    await hand.do("send_keys", keys="Not ")
    assert await hand.script("document.body.innerText.trim()") == "One\n\nNot Two halves"
