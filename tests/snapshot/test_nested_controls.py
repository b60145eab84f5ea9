"""Controls in controls: told once where both are the same, each where they do different things."""

import pytest

from tests.snapshot.hand import LOG, Hand


@pytest.mark.parametrize(
    "nested",
    [
        "<div role=button tabindex=0><button onclick=\"log.push('hit')\">Save</button></div>",
        "<div role=button tabindex=0 onclick=\"log.push('hit')\"><b><div role=button>Save</div></b></div>",
        "<table><tr><td>Tea<td><div role=button tabindex=0><button onclick=\"log.push('hit')\">Save</button>"
        "</div></table>",
    ],
)
async def test_a_button_in_a_button_is_told_once(hand: Hand, nested: str) -> None:
    view = await hand.show(f"{LOG}{nested}")
    assert await hand.clicks(view.index("Save")) == ["hit"]


async def test_a_button_in_a_link_is_told_beside_it(hand: Hand) -> None:
    view = await hand.show("<a href=#there><button>Save</button></a>")
    assert [(node.role, node.name) for node in view.elements] == [("link", "Save"), ("button", "Save")]


ICONS = {
    "a sign that listens": "<span id=x>×</span><script>x.addEventListener('click', note('closed'))</script>",
    "an icon that listens": "<i id=x class=icon style='display:inline-block;width:12px;height:12px'></i>"
    "<script>x.onclick = note('closed')</script>",
    "a drawing that listens": "<svg id=x width=12 height=12><path d='M0 0L9 9'/></svg>"
    "<script>x.addEventListener('click', note('closed'))</script>",
    "an icon known by its class": "<b id=x class=tab-close-icon style='display:inline-block;width:12px;"
    "height:12px'></b><script>document.onclick = event => event.target === x && log.push('closed')</script>",
}


@pytest.mark.parametrize("icon", ICONS.values(), ids=ICONS.keys())
async def test_the_icon_that_closes_a_tab_has_an_index(hand: Hand, icon: str) -> None:
    view = await hand.show(f"{LOG}<div role=tablist><div role=tab tabindex=0>Notes {icon}</div></div>")
    tab, close = view.elements[-2:]
    assert (tab.role, close.role) == ("tab", "clickable")
    assert close.name or close.states
    assert await hand.clicks(close.index) == ["closed"]


async def test_a_hidden_buttons_icon_is_not_offered_in_its_place(hand: Hand) -> None:
    view = await hand.show(
        "<button style='visibility:hidden;cursor:pointer'><span role=img aria-label=clear>x</span></button>"
        "<div style='visibility:hidden'><iframe srcdoc='<input aria-label=Inner>'></iframe></div>"
    )
    assert not view.elements


async def test_what_may_be_dragged_one_by_one_is_told_one_by_one(hand: Hand) -> None:
    view = await hand.show(
        "<div id=z><div>Write</div><div>Read</div><div><h4>Rest</h4><button>x</button></div></div>"
        "<p style='height: 900px'></p><script>z.ondrop = z.ondragover = () => 0</script>"
    )
    assert [node.name for node in view.of_role("clickable")] == ["Write", "Read", "Rest"]
    (zone,) = view.of_role("group")
    assert "droppable" in zone.states


FILES = """<script>window.log = []; for (const zone of document.querySelectorAll('section')) {
  zone.ondragover = event => event.preventDefault();
  zone.ondrop = event => { event.preventDefault(); log.push(event.dataTransfer.files[0]?.name) };
  const field = zone.querySelector('input');
  if (field) field.onchange = () => log.push(field.files[0].name) }
</script>"""


async def test_a_zone_for_files_keeps_its_heading_and_gives_them_to_its_field(hand: Hand) -> None:
    view = await hand.show(
        "<section><h3>Drop files here</h3><p>PNG alone</p><input type=file hidden></section>"
        "<section><h3>Invoices</h3><p>or <a href=#>browse</a></p><input type=file style='opacity: 0'>"
        "</section><section><h3>Tasks</h3><div>Write</div><div>Read</div></section>"
        f"<section><h3>Done</h3><div>Plan</div></section>{FILES}"
    )
    names = [(node.role, node.name) for node in view.elements if node.role in ("clickable", "group")]
    assert names == [
        *(("clickable", "Drop files here PNG alone"), ("group", "")),
        *(("group", ""), ("clickable", "Write"), ("clickable", "Read")),
        *(("group", ""), ("clickable", "Plan")),
    ]
    assert view.says("### Invoices")
    assert view.says("### Tasks")
    for index in [view.elements[0].index, view.of_role("group")[0].index]:
        await hand.do("upload_file", index=index, paths=["data:;name=a.png,x"])
    await hand.do("upload_file", index=view.of_role("group")[1].index, paths=["data:;name=b.png,x"])
    assert await hand.log() == ["a.png", "a.png", "b.png"]


async def test_a_table_in_what_takes_drops_keeps_its_rows(hand: Hand) -> None:
    view = await hand.show(
        "<div role=grid aria-label=Items><div id=z role=none style='height: 100px'><div role=row>"
        "<div role=gridcell>Box</div><div role=gridcell>2</div></div><div role=row>"
        "<div role=gridcell>Spoon</div><div role=gridcell>1</div></div></div></div>"
        "<script>for (const type of ['dragover', 'drop']) "
        "z.addEventListener(type, event => event.preventDefault())</script>"
    )
    assert {"| Box | 2 |", "| Spoon | 1 |"} <= {line.strip() for line in view.text.splitlines()}


async def test_a_box_around_controls_that_calls_itself_a_field_is_a_group(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div role=textbox aria-label=Rank><div tabindex=0 onclick=\"log.push('hit')\">Price</div>"
        "<div tabindex=0>Speed</div></div>"
        "<div role=textbox aria-label=Note contenteditable><button>A</button><button>B</button></div>"
        "<div role=textbox aria-label=Code tabindex=0><a href=#a>a</a><a href=#b>b</a></div>"
    )
    assert [node.name for node in view.of_role("textbox")] == ["Note", "Code"]
    assert view.says('group "Rank"')
    assert await hand.clicks(view.index("Price")) == ["hit"]


HEARD = """
<script>addEventListener('click', ({ target }) => log.push(target.closest('[id]')?.id ?? 'item'))</script>
"""


@pytest.mark.parametrize("opened", ["draggable=true", "onclick='1'"])
async def test_a_click_on_an_item_goes_beside_the_button_that_removes_it(hand: Hand, opened: str) -> None:
    view = await hand.show(
        f"{LOG}{HEARD}<p><span style='display: inline-block' {opened}>ab"
        "<button id=x style='width: 60px'>×</button></span>"
    )
    item = next(node for node in view.elements if node.role != "button")
    assert await hand.clicks(item.index) == ["item"]


async def test_what_only_focuses_the_field_in_it_has_no_line(hand: Hand) -> None:
    field = (
        "<div role=combobox tabindex=0 aria-expanded=false aria-labelledby='l v'><span id=v>Pear</span></div>"
    )
    view = await hand.show(
        f"<div onclick=1><span id=l>Fruit</span>{field}</div>"
        "<div onclick=1>Milk <input aria-label=Amount></div>"
        "<div draggable=true><span>Email</span> <input aria-label=Email></div>"
    )
    assert [(node.role, node.name) for node in view.elements] == [
        ("combobox", "Fruit Pear"),
        ("clickable", "Milk"),
        ("textbox", "Amount"),
        ("clickable", "Email"),
        ("textbox", "Email"),
    ]
