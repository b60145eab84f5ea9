"""Keys sent to the page; what is a key, what is a text."""

import asyncio

import anyio
import pytest

from mcp_browser.actions.keyboard import parse_keys
from mcp_browser.errors import InvalidArguments
from tests.actions.hand import Hand
from tests.support.site import Site

KEYS = "<input id=f aria-label=Field><input id=g aria-label=Next>"


async def test_a_call_that_is_cancelled_while_it_types_lets_go_of_the_keys(hand: Hand) -> None:
    # Each key takes the page so long that the call is cancelled in the middle.
    busy = "f.onkeydown = () => { for (let end = Date.now() + 30; Date.now() < end;); }"
    await hand.open(f"{KEYS}<script>{busy}</script>")
    index = hand.index("Field")
    with anyio.move_on_after(0.3) as scope:
        await hand.do("send_keys", keys="word " * 40, index=index)
    assert scope.cancelled_caught
    await hand.js("g.focus()")
    await hand.session.current_tab.page.keyboard.type("typed by a person")
    assert await hand.js("g.value") == "typed by a person"


async def test_keys_are_free_where_a_call_is_cancelled_while_it_holds_them(hand: Hand) -> None:
    await hand.open(KEYS)
    tab = hand.session.current_tab
    for number in range(8):
        holding = asyncio.create_task(tab.dom.targets.hold(ruled=False))
        await asyncio.sleep(number / 2000)
        holding.cancel()
        await asyncio.wait([holding])
        await hand.js("g.focus()")
        await tab.page.keyboard.type("a")
    assert await hand.js("g.value") == "a" * 8


async def test_a_text_is_typed_although_a_request_waits_for_a_login(hand: Hand, site: Site) -> None:
    wanted = site.publish(b"", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})
    await hand.open(
        f"<input id=f aria-label=Name><p>Log in</p><script>fetch('{wanted}').catch(() => 0)</script>"
    )
    text = await hand.do("input_text", index=hand.index("Name"), text="Ann")
    assert await hand.js("f.value") == "Ann"
    assert "The browser took no input" in text


@pytest.mark.parametrize(
    ("keys", "combinations"),
    [
        ("Enter", ["Enter"]),
        ("enter", ["Enter"]),
        ("Control+A", ["Control+a"]),
        ("ctrl+shift+T", ["Control+Shift+T"]),
        ("Cmd+Enter", ["Meta+Enter"]),
        ("ControlOrMeta+c", ["ControlOrMeta+c"]),
        ("controlormeta+C", ["ControlOrMeta+c"]),
        ("Control++", ["Control++"]),
        ("Shift+plus", ["Shift++"]),
        ("Tab Tab Enter", ["Tab", "Tab", "Enter"]),
        ("Control+a  Delete", ["Control+a", "Delete"]),
        ("Esc", ["Escape"]),
        ("PgDn", ["PageDown"]),
        ("Alt+Left", ["Alt+ArrowLeft"]),
        ("F5", ["F5"]),
        ("Shift", ["Shift"]),
        ("Numpad7", ["Numpad7"]),
        ("KeyA", ["KeyA"]),
        ("Control+A 7 Enter", ["Control+a", "7", "Enter"]),
        ("g Home", ["g", "Home"]),
    ],
)
def test_keys_are_known_by_their_names(keys: str, combinations: list[str]) -> None:
    assert parse_keys(keys) == combinations


@pytest.mark.parametrize(
    "text", ["a", "7", "hello", "a b", "C++", "+", "1+1", "one+two", "x = y + z", "  ", "é", "😀", "to be"]
)
def test_anything_else_is_a_text(text: str) -> None:
    assert parse_keys(text) is None


@pytest.mark.parametrize(
    ("keys", "word", "hint"),
    [
        ("Contrl+A", "Contrl+A", "Did you mean Control+A?"),
        ("Entr", "Entr", "Did you mean Enter?"),
        ("Tab ArowDown", "ArowDown", "Did you mean ArrowDown?"),
        ("ctrl+shft+T", "ctrl+shft+T", "Did you mean Control+Shift+T?"),
        ("Control+Entr", "Control+Entr", "Did you mean Control+Enter?"),
        ("Control+A hello Enter", "hello", "input_text"),
        ("Enter here", "here", "input_text"),
    ],
)
def test_a_word_that_is_no_key_is_refused_among_keys_and_where_it_looks_like_one(
    keys: str, word: str, hint: str
) -> None:
    with pytest.raises(InvalidArguments, match="is no key") as refused:
        parse_keys(keys)
    assert str(refused.value).startswith(f'"{word}" is no key.')
    assert hint in str(refused.value)
