"""What stands in a row is told in its one line and found, drawn or not; nothing can pass for it."""

import re

import pytest

from mcp_browser.dom.models import DomChanges
from mcp_browser.errors import NotFound
from mcp_browser.rendering import render_changes
from tests.snapshot.hand import LOG, Hand

ELEMENT = re.compile(r'(?<= )\*?\[(\d+)\] (\S+) "((?:[^"\\]|\\.)*)"')
"""An element in a row, as docs/snapshot.md has it."""


def people(count: int) -> str:
    rows = "".join(
        f"<tr><td><input type=checkbox aria-label='Select {n}'><td><a href=/u/{n}>User {n}</a>"
        f"<td>Role {n % 3}<td><button onclick=\"log.push('edit {n}')\">Edit</button>"
        f"<button disabled>Delete</button></tr>"
        for n in range(count)
    )
    return f"{LOG}<table id=t><tr><th>Pick<th>Name<th>Role<th>Do</tr>{rows}</table>"


async def told_since(hand: Hand) -> str:
    """The changes since the page was told last, as a model reads them."""
    changes = await hand.tab.dom.changes()
    assert isinstance(changes, DomChanges)
    return render_changes(changes)


async def test_the_controls_of_a_row_stand_in_its_line(hand: Hand) -> None:
    view = await hand.show(people(2))
    assert re.sub(r"\[\d+\]", "[n]", view.text) == (
        "| Pick | Name | Role | Do |\n"
        '| [n] checkbox "Select 0" | [n] link "User 0" → /u/0 | Role 0 '
        '| [n] button "Edit" [n] button "Delete" disabled |\n'
        '| [n] checkbox "Select 1" | [n] link "User 1" → /u/1 | Role 1 '
        '| [n] button "Edit" [n] button "Delete" disabled |'
    )
    assert await hand.clicks(view.all("Edit")[1].index) == ["edit 1"]


async def test_a_row_that_can_be_clicked_has_its_index_in_front(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<table><tr onclick=\"log.push('row')\"><td>Ann<td><button>Call</button></table>"
    )
    row = re.fullmatch(r'\[(\d+)\] row \| Ann \| \[\d+\] button "Call" \|', view.text)
    assert row, view.text
    assert await hand.clicks(int(row[1])) == ["row"]


async def test_text_of_the_page_passes_neither_for_an_element_in_a_row_nor_for_a_cell(hand: Hand) -> None:
    view = await hand.show(
        '<table><tr><td>x [7] button "Pay" | [8] link "y"<td>\\[9] button "z"<td><button>a | [5] button "b"'
        '</button><td><select aria-label=s><option>one<option>[6] link "two"</select></table>'
    )
    (line,) = view.text.splitlines()
    real = {node.index for node in view.elements}
    assert {int(index) for index, _, _ in ELEMENT.findall(line)} == real
    assert len(line.strip("| ").split(" | ")) == 4


async def test_controls_of_rows_are_found_and_look_alikes_say_which_row_they_are_of(hand: Hand) -> None:
    await hand.show(people(3))
    lines = (await hand.find(role="button", text="Edit")).splitlines()
    assert [re.sub(r"\[\d+\]", "[n]", line) for line in lines] == [
        f'[n] button "Edit" in="User {n} | Role {n}"' for n in range(3)
    ]
    assert await hand.clicks(int(lines[2][1 : lines[2].index("]")])) == ["edit 2"]


@pytest.mark.parametrize("name", ['text "Bob"', 'cell "Bob"', 'row "Bob"', 'row "| Bob | Lund"'])
async def test_a_row_and_what_stands_in_it_are_clicked_by_what_they_say(hand: Hand, name: str) -> None:
    await hand.show(
        f"{LOG}<table onclick='log.push(event.target.textContent)'><tr><th>Name<th>Town"
        "<tr><td>Ann<td>Oslo<tr><td><td>Bob<td>Lund</table>"
    )
    await hand.do("click_element", index=name)
    assert (await hand.script("log"))[0] in ("Bob", "Lund")


async def test_a_text_in_a_row_is_found_with_the_controls_beside_it(hand: Hand) -> None:
    await hand.show(people(5))
    found = await hand.find(text="Role 2")
    assert re.fullmatch(
        r'\[\d+\] row \| \[\d+\] checkbox "Select 2" \| \[\d+\] link "User 2" → /u/2 \| \[\d+\] Role 2 '
        r'\| \[\d+\] button "Edit" \[\d+\] button "Delete" disabled \|',
        found,
    ), found


async def test_an_index_in_a_row_that_is_gone_names_its_nearest_match(hand: Hand) -> None:
    view = await hand.show(people(2))
    gone = view.index("User 1")
    await hand.script("t.rows[2].cells[1].innerHTML = '<a href=/new>User 1</a>'")
    with pytest.raises(Exception, match=rf'\[{gone}\] link "User 1" is gone') as raised:
        await hand.click(gone)
    assert re.search(r'nearest match now is \[\d+\] link "User 1"', str(raised.value.__dict__))


async def test_of_a_row_only_the_control_that_changed_is_told(hand: Hand) -> None:
    view = await hand.show(people(3))
    index = view.index("Select 1")
    await hand.script("document.querySelectorAll('input')[1].checked = true")
    assert await told_since(hand) == f'~ [{index}] checkbox "Select 1" checked'


async def test_of_a_row_that_says_something_else_the_cell_is_told_as_it_was(hand: Hand) -> None:
    await hand.show(people(3))
    await hand.script("t.rows[2].cells[2].textContent = 'Boss'")
    told = await told_since(hand)
    assert re.fullmatch(r"~ \| .* \| Boss \| .* \| \(was Role 1\)", told), told


async def test_a_row_that_goes_has_nothing_that_looks_like_an_element(hand: Hand) -> None:
    await hand.show(people(3))
    await hand.script("t.rows[2].remove()")
    told = await told_since(hand)
    assert re.fullmatch(r'- \| checkbox "Select 1" \(was \[\d+\]\) \| .*', told), told
    assert not ELEMENT.search(told)


async def test_a_control_of_a_row_that_is_drawn_anew_is_told_by_both_indexes(hand: Hand) -> None:
    view = await hand.show(people(3))
    old = view.index("User 1")
    await hand.script("t.rows[2].cells[1].innerHTML += ''")
    told = await told_since(hand)
    new = (await hand.look()).index("User 1")
    assert told == f'= drawn anew, same otherwise: [{old}]→[{new}] link "User 1"'


async def test_what_is_new_in_a_row_is_marked(hand: Hand) -> None:
    await hand.show(people(3))
    await hand.script("t.rows[2].cells[2].innerHTML = '<button>Promote</button>'")
    assert "*[" in (told := (await hand.look()).text)
    assert re.search(r'\| \*\[\d+\] button "Promote" \|', told)


MONTH = "".join(
    f"<tr>{''.join(f'<td>{day}</td>' for day in range(week, week + 7))}</tr>" for week in range(1, 29, 7)
)
NOTE = "log.push(event.target.textContent)"

CALENDARS = {
    "the table listens": f"<table onclick='{NOTE}'>{MONTH}</table>",
    "its body listens": f"<table><tbody id=b>{MONTH}</table>"
    f"<script>b.addEventListener('click', () => {NOTE})</script>",
    "a hand over each day": f"<style>td {{ cursor: pointer }}</style><table id=b>{MONTH}</table>"
    f"<script>document.addEventListener('click', () => {NOTE})</script>",
    "a grid listens": f"<table role=grid onclick='{NOTE}'>{MONTH}</table>",
    "a grid of tab stops": f"<table role=grid>{MONTH.replace('<td', '<td tabindex=-1')}</table>"
    f"<script>document.addEventListener('click', () => {NOTE})</script>",
}


@pytest.mark.parametrize("calendar", CALENDARS.values(), ids=CALENDARS.keys())
async def test_each_day_of_a_calendar_has_an_index_in_its_week(hand: Hand, calendar: str) -> None:
    view = await hand.show(f"{LOG}{calendar}")
    week = re.search(r"^\s*\| \[\d+\] 8 \| \[(\d+)\] 9 \| .*\[\d+\] 14 \|$", view.text, re.M)
    assert week, view.text
    assert await hand.clicks(int(week[1])) == ["9"]


async def test_cells_of_a_plain_table_have_no_indexes_and_are_found(hand: Hand) -> None:
    view = await hand.show(f"{LOG}<table>{MONTH}</table><script>onclick = () => {NOTE}</script>")
    assert not view.elements
    found = await hand.find(text="9")
    cell = re.search(r"\| 8 \| \[(\d+)\] 9 \| 10 \|", found)
    assert cell, found
    assert await hand.clicks(int(cell[1])) == ["9"]


async def test_each_of_the_thousands_of_cells_of_a_spreadsheet_is_found_by_its_role(hand: Hand) -> None:
    rows = "".join(
        f"<div role=row>{''.join(f'<span role=gridcell tabindex=-1>{row}:{n}</span>' for n in range(20))}"
        "</div>"
        for row in range(60)
    )
    view = await hand.show(f"{LOG}<div role=grid aria-label=Sheet onclick='{NOTE}'>{rows}</div>")
    assert "| 7:0 | 7:1 |" in view.text
    result = await hand.do("find_elements", role="gridcell", limit=100)
    assert (result.data or {})["total"] == 1200
    cell = re.fullmatch(r'\[(\d+)\] gridcell "41:17"', (await hand.find(role="gridcell", text="41:17")))
    assert cell
    assert await hand.clicks(int(cell[1])) == ["41:17"]


async def test_headers_that_sort_are_told_with_how_they_do(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<table><tr><th aria-sort=descending onclick=\"log.push('name')\">Name<th>Age</tr>"
        "<tr><td>Ann<td>7</table>"
    )
    head = re.match(r"\| \[(\d+)\] Name \(sort=descending\) \| Age \|", view.text)
    assert head, view.text
    assert await hand.clicks(int(head[1])) == ["name"]


REACHING = {
    "down": (
        "<tr><th>R<th>Y<th>N<tr><td rowspan=2>North<td>2024<td>1<tr><td>2025<td>2",
        ["| R | Y | N |", "| North | 2024 | 1 |", '| " | 2025 | 2 |'],
    ),
    "across": (
        "<thead><tr><th rowspan=2>Name<th colspan=2>Contact<th>Age<tr><th>Phone<th>Mail"
        "<tbody><tr><td>Ann<td>1<td>a@x<td>7<tr><td colspan=3>Sum<td>7<tr><td colspan=4>End",
        [
            "| Name | Contact |  | Age |",
            '| " | Phone | Mail |',
            "| Ann | 1 | a@x | 7 |",
            "| Sum |  |  | 7 |",
            "End",
        ],
    ),
    "to the end of a part": (
        '<tr><th>A<th>B<th>C<tr><td rowspan=0>x<td>1<td rowspan=2>y<tr><td>2<tr><td>"<td>3'
        "<tbody><tr><td>z<td>4<td>5",
        ["| A | B | C |", "| x | 1 | y |", '| " | 2 | " |', '| " | \\" | 3 |', "| z | 4 | 5 |"],
    ),
    "nothing of its own, and hidden": (
        "<tr><th>A<th>B<tr><td rowspan=2>x<td rowspan=2>1<tr><tr><td hidden rowspan=2>y<td>2<tr><td>3",
        ["| A | B |", "| x | 1 |", "2", "3"],
    ),
    "a table that only lays out": (
        '<tr><td colspan=2><td>By Ann<tr><td rowspan=2>^<td>1<tr><td>"',
        ["|  | By Ann |", "| ^ | 1 |", '"'],
    ),
}


@pytest.mark.parametrize(("rows", "told"), REACHING.values(), ids=REACHING.keys())
async def test_what_stands_in_a_column_is_told_in_it(hand: Hand, rows: str, told: list[str]) -> None:
    assert (await hand.show(f"<table>{rows}</table>")).text.splitlines() == told


async def test_cells_of_a_grid_that_reach_further_keep_their_places_too(hand: Hand) -> None:
    row = "<div role=row>{}</div>".format
    cell = "<span role=gridcell aria-{}span=2>{}</span>".format
    view = await hand.show(
        "<div role=grid><div role=row><span role=columnheader>A</span><span role=columnheader>B</span>"
        f"<span role=columnheader>C</span></div>{row(cell('col', 1) + cell('row', 2))}{row(cell('col', 3))}"
        f"{row(cell('row', 4) * 3)}</div>"
    )
    assert view.text.splitlines()[1:] == ["| 1 |  | 2 |", '| 3 |  | " |', "| 4 | 4 | 4 |"]


async def test_what_is_sought_is_found_beside_a_cell_that_reaches_into_its_row(hand: Hand) -> None:
    await hand.show(
        f'{LOG}<table onclick="log.push(event.target.textContent)"><tr><th>R<th>Y<tr><td rowspan=2>North'
        "<td>2024<tr><td>2025<td><button>Edit</button></table><table><tr><td>Edit<td><button>Edit</button></table>"
    )
    found = await hand.find(text="2025")
    row = re.fullmatch(r'\[\d+\] row \| " \| \[(\d+)\] 2025 \| \[\d+\] button "Edit" \|', found)
    assert row, found
    assert await hand.clicks(int(row[1])) == ["2025"]
    assert 'in="2025"' in (await hand.find(text="Edit", role="button"))


async def test_cells_that_reach_over_thousands_of_columns_make_no_long_row(hand: Hand) -> None:
    cells = "<td colspan=1000>x" * 50
    view = await hand.show(f"<table><tr><th>A{f'<tr>{cells}' * 3}</table>")
    assert len(view.text) < 3000


def parts(head: str, body: str, *, rows: int = 3) -> str:
    """Two columns that stay, the third one of which is scrolled; `head` and `body` are elements of rows."""

    def part(*columns: str) -> str:
        top = "".join(f"<{head} role=columnheader>{column}<i class=size></i></{head}>" for column in columns)
        cell = f"<{body} role=gridcell tabindex=-1>{{}} {{}}</{body}>"
        lines = "".join(
            f"<div role=row style='height: 20px'>{''.join(cell.format(one, n) for one in columns)}</div>"
            for n in range(rows)
        )
        return (
            "<div class=part onclick='log.push(event.target.textContent)'>"
            f"<div class=head><div role=row>{top}</div></div><div class=body>{lines}</div></div>"
        )

    style = (
        ".part { float: left; width: 200px } .head, .part { cursor: default }"
        f"{head}, {body} {{ display: inline-block; width: 90px }}"
        ".size { cursor: col-resize; display: inline-block; width: 4px; height: 9px }"
    )
    return f"{LOG}<style>{style}</style><div role=grid>{part('Name')}{part('Town', 'Age')}</div>"


async def test_a_row_in_several_parts_is_one_row_as_it_is_seen(hand: Hand) -> None:
    view = await hand.show(parts("span", "span"))
    assert re.sub(r"\[\d+\]", "[n]", view.text) == (
        "| Name | Town | Age |\n"
        "| [n] Name 0 | [n] Town 0 | [n] Age 0 |\n"
        "| [n] Name 1 | [n] Town 1 | [n] Age 1 |\n"
        "| [n] Name 2 | [n] Town 2 | [n] Age 2 |"
    )
    index = view.index("Age 1")
    assert await hand.clicks(index) == ["Age 1"]
    assert (await hand.look()).index("Age 1") == index


async def test_parts_that_are_tables_without_roles_are_joined_where_they_touch(hand: Hand) -> None:
    table = "<div style='float: left'><table style='border-spacing: 0'><tbody>{}</tbody></table></div>"
    one = table.format("".join(f"<tr><td>Song {n}</td></tr>" for n in range(2)))
    other = table.format("".join(f"<tr><td>198{n}</td><td>Ann</td></tr>" for n in range(2)))
    joined = await hand.show(one + other)
    apart = await hand.show(f"{one}<div style='float: left; margin-left: 30px'>{other}</div>")
    assert joined.text == "| Song 0 | 1980 | Ann |\n| Song 1 | 1981 | Ann |"
    assert apart.text == "Song 0\nSong 1\n| 1980 | Ann |\n| 1981 | Ann |"


@pytest.mark.parametrize("named", ["", "No {}"])
async def test_a_part_that_listens_for_its_rows_loses_none_of_them(hand: Hand, named: str) -> None:
    table = (
        "<div style='float: left' onclick=0><table style='border-spacing: 0'><tbody>{}</tbody></table></div>"
    )
    row = "<tr style='height: 25px'><td>{}</td></tr>"
    spacer = "<tr style='height: 0'><td style='padding: 0'></td></tr>"
    one = table.format(spacer + "".join(row.format(text) for text in (named.format(1), named.format(2), "")))
    other = table.format(spacer + "".join(row.format(text) for text in ("Song", "Air<td>1981", "")))
    first = [f"| {named.format(n)} | " for n in (1, 2)]
    assert (await hand.show(one + other)).text.splitlines() == [
        f"{first[0]}Song |",
        f"{first[1]}Air | 1981 |",
    ]


async def test_what_changes_the_size_of_a_column_is_found_with_its_column_and_not_listed(hand: Hand) -> None:
    await hand.show(parts("span", "span").replace("<i class=size>", "<i class=size onmousedown=log.push(1)>"))
    text = await hand.find(text="resize")
    assert re.findall(r'in="(.*?)"', text) == ["Name", "Town", "Age"]


async def test_a_header_that_sorts_is_an_element_beside_the_filter_in_it(hand: Hand) -> None:
    view = await hand.show(
        "<script>window.log = []</script><table role=grid><tr role=row>"
        "<td role=columnheader tabindex=0 aria-sort=none aria-label='Column Age' onclick='log.push(1)'>Age"
        "<span role=button tabindex=0 aria-label='Filter Age' onclick='event.stopPropagation()'>▾</span></td>"
        "<td role=columnheader aria-sort=none><button>Name</button></td></tr>"
        "<tr role=row><td role=gridcell>4</td><td role=gridcell>Ann</td></tr></table>"
    )
    (row, *_) = [str(node) for node in view.snapshot.nodes if "Filter Age" in str(node)]
    assert "Age [" in row
    assert row.count("Name") == 1
    assert await hand.clicks(view.index("Age", role="columnheader")) == [1]


async def test_cells_stand_in_the_order_of_their_columns_and_empty_headers_have_no_index(hand: Hand) -> None:
    view = await hand.show(
        "<div role=grid><div role=row><div role=columnheader tabindex=-1 aria-colindex=2>Name</div>"
        "<div role=columnheader tabindex=-1 aria-colindex=3><i></i></div>"
        "<div role=columnheader tabindex=-1 aria-colindex=1><input type=checkbox aria-label=All></div></div>"
        "<div role=row><div role=gridcell aria-colindex=2>Ann</div><div role=gridcell aria-colindex=3>now"
        "</div><div role=gridcell aria-colindex=1><input type=checkbox aria-label=One></div></div></div>"
    )
    head, row = (str(node) for node in view.snapshot.nodes if node.role == "row")
    assert head.index("All") < head.index("Name")
    assert head.endswith("Name |")
    assert row.index("One") < row.index("Ann") < row.index("now")


LIST = (
    "<div id=list style='height:200px;overflow:auto'><div style='height:{height}px;position:relative'></div>"
    "</div><p>End</p><script>const names = {names};"
    " const draw = () => {{ const first = Math.floor(list.scrollTop / 25);"
    " list.firstChild.innerHTML = names.slice(first, first + 9).map((name, i) =>  `"
    "<label style='position:absolute;top:${{(first + i) * 25}}px'><input type=checkbox>${{name}}</label>"
    "`).join('') }}; list.onscroll = draw; draw()</script>"
)
ORDERED = LIST.format(height=25000, names="Array.from({length: 1000}, (_, i) => `Letter ${i + 1}`)")
MIXED = LIST.format(height=2500, names="Array.from({length: 100}, (_, i) => `Letter ${(i * 37) % 100}`)")
MORE = "(more rows are drawn when this is scrolled)"


@pytest.mark.parametrize("html", [ORDERED, MIXED], ids=["in order", "in no order"])
async def test_a_row_that_is_not_drawn_is_found(hand: Hand, html: str) -> None:
    view = await hand.show(html)
    assert view.says(MORE)
    assert not view.says("Letter 92")
    found = await hand.do("find_elements", text="Letter 92")
    assert "Found 1 after scrolling to it" in (found.extracted_content or "")
    assert 'checkbox "Letter 92"' in (found.page_content or "")


async def test_a_row_is_ticked_by_its_name_and_scrolled_to_by_its_text(hand: Hand) -> None:
    await hand.show(ORDERED)
    await hand.do("set_checked", index='checkbox "Letter 700"', checked=True)
    assert await hand.script(
        "[...document.querySelectorAll(':checked')].map(box => box.parentElement.innerText)"
    ) == ["Letter 700"]
    await hand.do("scroll_to_text", text="Letter 400")
    assert await hand.script("Math.abs(list.scrollTop - 399 * 25) < 300")


async def test_lists_are_left_as_they_were_where_nothing_is_found(hand: Hand) -> None:
    await hand.show(ORDERED)
    await hand.script("list.scrollTop = 500")
    with pytest.raises(NotFound):
        await hand.do("find_elements", text="Parcel")
    assert await hand.script("list.scrollTop") == 500


async def test_a_list_that_is_drawn_whole_says_nothing_of_more(hand: Hand) -> None:
    rows = "".join(f"<p>Row {i}</p>" for i in range(60))
    view = await hand.show(f"<div style='height:200px;overflow:auto'>{rows}</div>")
    assert not view.says(MORE)
