"""Faults that whole tasks on applications new to the project have shown, each on the smallest page."""

import pytest

from mcp_browser.actions.result import ActionResult
from mcp_browser.errors import ActionError, NotActionable
from mcp_browser.rendering import render_changes
from tests.snapshot.hand import Hand, changes_of, snapshot_of, words_of

FORM = (
    "<form onsubmit='return false'><label>Mail <input type=email required></label>"
    "<label>Slug <input pattern='[a-z]+' value=a></label><button>Send</button></form>"
)
SINGLE = (
    "<div style='display:grid;width:300px'><div style='grid-area:1/1/2/3'>ada</div><div"
    " style='grid-area:1/1/2/3;display:inline-grid'><input role=combobox aria-expanded=false {0}></div></div>"
)


def told(result: ActionResult) -> str:
    return render_changes(changes_of(result))


CLICKED = {
    "a row that takes no clicks while its list scrolls": (
        "<div id=s style='height:200px;overflow:auto'><div id=inner></div></div><script>let t, n = 0;"
        " for (; n < 40; n++) inner.innerHTML += `<div style='height:24px;cursor:pointer'>Row ${n}</div>`;"
        " s.onscroll = () => { inner.style.pointerEvents = 'none'; clearTimeout(t);"
        " t = setTimeout(() => { inner.style.pointerEvents = '' }, 150) }; inner.onclick = note</script>",
        "Row 35",
    ),
    "what only a script can scroll to": (
        "<div id=s style='height:200px;overflow:hidden'><div style='height:900px'></div>"
        "<button onclick=note(event)>Slide 2</button></div>",
        "Slide 2",
    ),
    "a day that only the mouse points out": (
        "<style>td:hover { cursor: pointer }</style><table id=t><tr><td>1</td><td>2</td></tr></table>"
        "<script>t.onclick = note</script>",
        "2",
    ),
    "a link without an address in a list that listens": (
        "<button id=b>Add to shelf</button><ul id=m aria-labelledby=b><li><a data-at=1>Alpha</a></li>"
        "<li><a data-at=2>Beta</a></li></ul><script>m.addEventListener('click', note)</script>",
        "Beta",
    ),
    "a row that its list draws anew when it is scrolled": (
        "<ul role=listbox aria-multiselectable=true id=s style='height:99px;overflow:auto;padding:0'>"
        "<div id=inner style='height:2000px;position:relative'></div></ul><script>"
        "const draw = () => { const first = Math.max(0, Math.floor(s.scrollTop / 20) - 4); let html = '';"
        " for (let n = first; n < first + 14; n++) html += `<li role=option style='position:absolute;"
        "top:${n * 20}px;height:20px;width:80px'>Part ${n}</li>`; inner.innerHTML = html };"
        " s.onscroll = draw; draw(); inner.onclick = note</script>",
        "Part 11",
    ),
}


@pytest.mark.parametrize(("html", "name"), CLICKED.values(), ids=CLICKED.keys())
async def test_what_can_be_clicked_is_hit_and_keeps_its_index(hand: Hand, html: str, name: str) -> None:
    note = "<script>window.log = []; const note = ({target}) => log.push(target.textContent)</script>"
    view = await hand.show(note + html)
    assert await hand.clicks(view.index(name)) == [name]
    assert (await hand.look()).index(name) == view.index(name)


CELLS = "<div role=gridcell tabindex=0>2</div><div role=gridcell tabindex=0>{}</div>"
ROW = f"<div role=row style='display:contents'>{CELLS}</div>"
LISTED = {
    "a field as wide as its text, none": (
        SINGLE.format("style='opacity:0;width:100%;min-width:2px;border:0;padding:0'"),
        "combobox",
        1,
    ),
    "a field that is put off the page": (
        SINGLE.format(
            "inputmode=none style='opacity:0;width:1px;border:0;padding:0;position:relative;left:-400px'"
        ),
        "combobox",
        1,
    ),
    "rows": (
        f"<div role=grid style='display:grid'>{ROW.format('Tea')}{ROW.format('Coffee')}</div>",
        "row",
        2,
    ),
}


@pytest.mark.parametrize("what", LISTED)
async def test_what_is_drawn_by_others_is_listed(hand: Hand, what: str) -> None:
    page, role, count = LISTED[what]
    nodes = (await hand.show(f"<label>Owner</label>{page}")).snapshot.nodes
    assert [node.role for node in nodes].count(role) == count


async def test_a_frame_is_looked_into_by_its_index(hand: Hand) -> None:
    view = await hand.show(
        '<h1>Outside</h1><div id=d role=group aria-label=Box><iframe srcdoc="<button>Run'
        '</button>"></iframe></div>'
    )
    for name in ("", "Box"):
        shown = snapshot_of(await hand.do("get_state", index=view.index(name)))
        names = [node.name for node in shown.nodes]
        assert "Run" in names
        assert "Outside" not in names


async def test_a_page_that_scrolls_by_little_is_scrolled_by_its_main_part(hand: Hand) -> None:
    await hand.show(
        "<style>body { margin: 0 } #s { height: calc(100vh - 50px); margin-top: 60px; overflow-y: auto }"
        "</style><div id=s><div style='height:3000px'>Long</div><button>End</button></div>"
    )
    result = await hand.do("scroll", direction="bottom")
    assert "cannot be scrolled" not in (result.extracted_content or "")
    assert await hand.script("s.scrollTop > 2000")


async def test_a_target_that_moves_away_from_a_drag_is_where_it_was(hand: Hand) -> None:
    view = await hand.show(
        "<style>.dragging .h { transform: translate(-9999px) }</style><ul id=l><li>A "
        "<button class=h draggable=true>Grip A</button></li><li>B <button class=h draggable=true>Grip B"
        "</button></li></ul><script>let el;l.ondragstart = e => { el = e.target.closest('li');"
        " setTimeout(() => l.classList.add('dragging')) };l.ondragover = e => { e.preventDefault();"
        " const o = e.target.closest('li'); if (o && o !== el) l.insertBefore(el, o) };"
        " l.ondragend = () => l.classList.remove('dragging')</script>"
    )
    result = await hand.do("drag_element", index=view.index("Grip B"), target=view.index("Grip A"))
    assert await hand.script("l.innerText.startsWith('B')")
    # What has moved is told with its new place.
    assert told(result) == "= moved: B before A"


async def test_a_menu_that_stands_in_the_page_is_not_in_the_way(hand: Hand) -> None:
    view = await hand.show(
        "<details role=menu><summary>Actions</summary></details>"
        "<div><button style='pointer-events:none'>Off</button></div>"
    )
    with pytest.raises(NotActionable, match="lets the mouse through"):
        await hand.click(view.index("Off"))


async def test_why_a_form_is_held_back_is_told_each_time(hand: Hand) -> None:
    send = (await hand.show(FORM)).index("Send")
    for looks in ("", "only looks: "):
        text = told(await hand.click(send))
        assert looks in text
        assert 'invalid="Please fill out this field."' in text


async def test_a_longer_text_in_a_field_that_is_shown_cut_is_a_change(hand: Hand) -> None:
    view = await hand.show(f"<textarea aria-label=Note>{'word ' * 80}</textarea><p>{'Words. ' * 200}</p>")
    result = await hand.do("input_text", index=view.index("Note"), text="end", append=True)
    assert "characters=403" in told(result)
    assert "was characters=400" in told(result)


async def test_a_field_that_shows_what_was_typed_with_its_next_drawing_holds_it(hand: Hand) -> None:
    view = await hand.show(
        "<input aria-label=Length id=i><script>let state = ''; i.onkeydown = e => { if (e.key.length === 1) {"
        " e.preventDefault(); state += e.key; setTimeout(() => { i.value = state }, 30) } }</script>"
    )
    result = await hand.do("input_text", index=view.index("Length"), text="80")
    assert "instead" not in (result.extracted_content or "")


MESSAGE = (
    "<div style='position:fixed;z-index:9;right:20px;top:60px;width:280px;height:140px;background:#dfd'>"
    "<div role=alert>Saved <button>More</button></div></div>"
)
OVER = (
    "<div id=b style='position:fixed;inset:0;background:#fffa'></div><div id=m"
    " role=dialog aria-label=Settings"
    " style='position:fixed;left:200px;top:50px;right:30px;height:500px;background:white'>"
    "<button>First</button><button style='position:absolute;right:20px;top:40px'>Beneath</button>"
    "<p>Words</p><button id=c onclick='b.hidden = m.hidden = true; b.style.display ="
    ' m.style.display = "none"\'>'
    "Close</button></div>"
)


async def test_a_message_over_a_part_of_a_dialog_hides_nothing_of_the_dialog(hand: Hand) -> None:
    behind = "".join(f"<button>Act {number}</button>" for number in range(30))
    await hand.show(behind + OVER + MESSAGE)
    names = [node.name for node in snapshot_of(await hand.do("get_state")).nodes]
    assert {"Settings", "First", "Beneath", "Words", "More"} <= set(names)
    assert "Act 3" not in names


async def test_what_came_behind_a_dialog_is_told_once_it_closes(hand: Hand) -> None:
    late = "".join(f"<button>Act {number}</button>" for number in range(12))
    view = await hand.show(
        f"<nav><a href=/home>Home</a></nav><div id=late hidden>{late}<div style='height:1500px'></div></div>"
        + OVER.replace("<p>Words</p>", "<button onclick='late.hidden = false'>Log in</button>")
    )
    await hand.click(view.index("Log in"))
    closed = words_of(await hand.click(view.index("Close")))
    assert "Act 3" in closed
    assert "Act 11" in closed


async def test_one_that_is_hidden_is_not_the_one_that_came_instead(hand: Hand) -> None:
    changes = await hand.presses(
        "<div id=a><button>Move</button></div><div id=b hidden><button>Move</button></div>"
        "<button onclick='a.hidden = true; b.hidden = false'>Go</button>"
    )
    assert [line[0] for line in changes.splitlines()] == ["-", "+"]


CHOICES = (
    "<style>[hidden], .off { display: none }</style><div id=c role=combobox aria-haspopup=true"
    " aria-expanded=false tabindex=0><select id=s multiple hidden><option value=2>Team<option value=3>Crew"
    "</select><div role=listbox id=items></div><input type=search role=textbox><div id=drop class=off>"
    "<div role=listbox aria-multiselectable=true><div role=option data-value=2 aria-selected=true>Team</div>"
    "<div role=option data-value=3>Crew</div></div></div></div><script>c.onclick = ({target}) => {"
    " const option = drop.contains(target) && target.closest('[role=option]'); if (option) {"
    " for (const one of s.options) if (one.value === option.dataset.value) one.selected = !one.selected;"
    " items.innerHTML = [...s.selectedOptions].map(one => `<div role=option>${one.text}</div>`).join('');"
    " return } drop.className = ''; c.ariaExpanded = 'true' };"
    " onkeydown = e => { if (e.key === 'Escape') { drop.className = 'off'; c.ariaExpanded"
    " = 'false' } }</script>"
)


async def test_an_option_that_is_only_highlighted_is_chosen(hand: Hand) -> None:
    view = await hand.show(CHOICES)
    await hand.do("select_option", index=view.of_role("combobox")[0].index, options=["Team"])
    assert await hand.script("[...s.selectedOptions].map(one => one.text)") == ["Team"]


async def test_a_hint_stands_for_the_name_that_an_element_does_not_have(hand: Hand) -> None:
    await hand.show(
        "<input name=username id=i><span aria-label='Save changes'><button disabled><svg></svg></button>"
        "</span><div><input data-testid=input-text name=attlen><fieldset aria-hidden=true><legend><span>"
        "Length</span></legend></fieldset></div>"
    )
    await hand.do("input_text", index='textbox "username"', text="joe")
    view = await hand.look()
    assert await hand.script("i.value") == "joe"
    assert 'hint="Save changes"' in view.all("", role="button")[0].states
    assert 'hint="Length"' in view.all("", role="textbox")[1].states
    with pytest.raises(ActionError, match="There is no"):
        await hand.do("input_text", index='textbox "input-text"', text="x")


async def test_what_is_gone_is_most_like_one_with_the_same_hint(hand: Hand) -> None:
    html = (
        "<style>a { padding: 5px }</style>"
        "<p id=p><a href=#1 data-title=Edit></a> <a href=#2 data-title=Delete></a></p>"
    )
    view = await hand.show(html)
    gone = view.all("", role="link")[1].index
    await hand.script(
        "p.outerHTML = '<div><a href=#1 data-title=Edit></a> <b>Words</b> '"
        " + '<a href=#3 data-title=Delete></a></div>'"
    )
    with pytest.raises(ActionError, match="Delete") as caught:
        await hand.click(gone)
    assert "Edit" not in str(caught.value)


async def test_an_example_in_a_field_does_not_hide_what_stands_beside_it(hand: Hand) -> None:
    view = await hand.show(
        "<style>div { display: flex } label { width: 100px }</style>"
        "<div><label>Width (X)</label><p><input type=number placeholder=200 value=200 id=x></p></div>"
        "<div><label>Depth (Y)</label><p><input type=number placeholder=200 value=200></p></div>"
    )
    assert [node.states[-1] for node in view.of_role("spinbutton")] == [
        'hint="Width (X)"',
        'hint="Depth (Y)"',
    ]
    await hand.do("input_text", index='spinbutton "Width (X)"', text="250")
    assert await hand.script("x.value") == "250"


async def test_the_keys_behind_an_entry_s_name_may_be_left_out(hand: Hand) -> None:
    await hand.show(
        "<div role=menu><button role=menuitem onclick='window.log = [1]'>Table... <kbd>Alt + Shift + N</kbd>"
        "</button><button role=menuitem>Tables</button></div>"
    )
    await hand.do("click_element", index='menuitem "Table..."')
    assert await hand.log() == [1]


async def test_a_button_takes_the_clicks_on_its_inert_text_field(hand: Hand) -> None:
    view = await hand.show(
        "<button id=b aria-haspopup=listbox onclick='window.log = [1]'>Not said"
        "<input inert readonly aria-label='Size worn'></button><input inert aria-label=Alone>"
    )
    assert await hand.clicks(view.index("Size worn")) == [1]
    with pytest.raises(NotActionable, match="is inert"):
        await hand.click(view.index("Alone"))
