"""Text fields, lists, checkboxes, files, whole forms."""

from pathlib import Path

import pytest

from mcp_browser.errors import InvalidArguments, NotActionable, NotFound
from tests.actions.hand import Hand


async def test_text_replaces_is_appended_or_typed_by_keys_and_an_empty_one_clears(hand: Hand) -> None:
    await hand.open(
        "<input id=f aria-label=Name value=old><textarea id=note aria-label=Note>first</textarea>"
        "<script>window.n = 0; f.onkeydown = () => n++</script>"
    )
    name = hand.index("Name")
    assert f'Typed "Ann" into [{name}] textbox "Name".' in await hand.do("input_text", index=name, text="Ann")
    assert await hand.js("f.value") == "Ann"
    assert "Cleared" in await hand.do("input_text", index=name, text="")
    assert await hand.js("[window.n = 0, f.value]") == [0, ""]
    await hand.do("input_text", index=name, text="abc", slowly=True)
    assert await hand.js("[n, f.value]") == [3, "abc"]
    text = await hand.do("input_text", index=hand.index("Note"), text=" second\nline", append=True)
    assert await hand.js("note.value") == "first second\nline"
    assert "instead" not in text


@pytest.mark.parametrize(
    "field",
    [
        "<input id=f type=password aria-label=Password>",
        "<input id=f style='-webkit-text-security: disc' aria-label=Password>",
        "<style>.pin { -webkit-text-security: square }</style>"
        "<textarea id=f class=pin aria-label=Password></textarea>",
        "<div style='-webkit-text-security: circle'>"
        "<div id=f contenteditable role=textbox aria-label=Password><b></b></div></div>",
    ],
    ids=["password", "masked", "a masked area", "a masked editor"],
)
async def test_a_password_is_never_repeated(hand: Hand, field: str) -> None:
    await hand.open(f"{field}<button onclick='f.style.webkitTextSecurity = \"none\"'>Show</button>")
    text = await hand.do("input_text", index=hand.index("Password"), text="hunter22")
    assert f'Typed 8 characters into [{hand.index("Password")}] textbox "Password".' in text
    assert "hunter22" not in text
    assert "hunter22" not in await hand.do("get_state")
    assert "hunter22" not in await hand.do("extract_content")
    assert "hunter22" not in await hand.do("get_html")
    assert "hunter22" not in await hand.do("click_element", index=hand.index("Show"))
    assert "hunter22" not in await hand.do("get_state")
    assert await hand.js("f.value ?? f.innerText.trim()") == "hunter22"


async def test_fields_that_are_picky_about_their_text_take_it_or_say_so(hand: Hand) -> None:
    await hand.open(
        "<input id=heard aria-label=Keys><input type=password maxlength=3 aria-label=Pin>"
        "<div id=rich contenteditable role=textbox aria-label=Body><b>old</b> words</div>"
        "<input id=code aria-label=Code><script>"
        "heard.addEventListener('beforeinput', e => e.preventDefault());"
        "heard.addEventListener('keydown', e => { if (e.key.length === 1) heard.value += e.key });"
        "code.oninput = () => { if (code.value.length === 4) code.outerHTML = '<p>Thank you</p>' }</script>"
    )
    await hand.do("input_text", index=hand.index("Keys"), text="abc")
    assert await hand.js("heard.value") == "abc"
    text = await hand.do("input_text", index=hand.index("Pin"), text="98765")
    assert "holds 3 characters instead" in text
    assert "987" not in text
    assert "instead" not in await hand.do("input_text", index=hand.index("Body"), text="new words")
    assert await hand.js("rich.textContent") == "new words"
    text = await hand.do("input_text", index=hand.index("Code"), text="1234")
    assert text.startswith("Typed 4 characters into")
    assert "Thank you" in text


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("date", "2031-05-06"),
        ("time", "14:30"),
        ("month", "2031-05"),
        ("week", "2031-W05"),
        ("datetime-local", "2031-05-06T14:30"),
        ("color", "#ff8800"),
        ("range", "70"),
        ("number", "42"),
        ("email", "a@b.example"),
    ],
)
async def test_fields_of_every_type_take_their_value(hand: Hand, kind: str, value: str) -> None:
    await hand.open(
        f"<input id=f type={kind} aria-label=Field><script>window.seen=[];"
        "for (const k of ['input','change']) f.addEventListener(k, () => seen.push(k))</script>"
    )
    text = await hand.do("input_text", index=hand.index("Field"), text=value)
    assert await hand.js("f.value") == value
    assert "input" in await hand.js("seen")
    assert "instead" not in text


@pytest.mark.parametrize(
    ("kind", "value", "wrong", "form"),
    [
        ("date", "2026-01-31", "05/12/2027", "date as 2027-12-31"),
        ("date", "2026-01-31", "tomorrow", "date as 2027-12-31"),
        ("time", "12:30", "9 pm", "time as 23:59"),
    ],
)
async def test_a_native_picker_says_how_its_value_is_written_and_keeps_it(
    hand: Hand, kind: str, value: str, wrong: str, form: str
) -> None:
    await hand.open(f"<input id=f type={kind} aria-label=When value={value}>")
    with pytest.raises(InvalidArguments, match=f'takes a {form}, not "{wrong}"'):
        await hand.do("input_text", index=hand.index("When"), text=wrong)
    assert await hand.js("f.value") == value


@pytest.mark.parametrize("attribute", ["disabled", "readonly"])
async def test_a_field_that_cannot_be_typed_into_says_why(hand: Hand, attribute: str) -> None:
    await hand.open(f"<input aria-label=Name {attribute}>")
    await hand.do("find_elements", selector="input")
    error = await hand.fails("input_text", NotActionable, index=hand.index("Name"), text="x")
    assert attribute.replace("readonly", "read") in error.replace("-", "")


SIZES = (
    "<select id=f aria-label=Size {}><option value=s>Small<option value=m>Medium"
    "<option value=l disabled>Large</select>"
)


@pytest.mark.parametrize("wanted", [["Medium"], ["m"], [" medium "], "Medium"])
async def test_an_option_is_chosen_by_label_or_value(hand: Hand, wanted: object) -> None:
    await hand.open(SIZES.format("onchange=\"document.title='changed'\""))
    assert 'Selected "Medium"' in await hand.do("select_option", index=hand.index("Size"), options=wanted)
    assert await hand.js("[f.value, document.title]") == ["m", "changed"]


LISTS = """
<select multiple id=tags aria-label=Tags><option selected>a<option>b<option>c<option>d</select>
<ul id=several role=listbox aria-multiselectable=true aria-label=Several tabindex=0>
  <li role=option aria-selected=false>a<li role=option aria-selected=true>b
  <li role=option aria-selected=false>c</ul>
<button id=file aria-haspopup=menu aria-controls=m>File</button><div id=m role=menu hidden>
  <div role=menuitem id=to aria-haspopup=menu>Export</div><div id=sub role=menu hidden>
  <div role=menuitem onclick="document.title = 'exported'">As PDF</div></div></div>
<input id=own list=l aria-label=Browser><datalist id=l><option value=Firefox><option value=Chrome></datalist>
<input id=city role=combobox aria-label=City aria-controls=cities><ul id=cities role=listbox></ul>
<input id=room role=combobox aria-label=Room aria-expanded=false aria-controls=rooms>
<ul id=rooms role=listbox hidden><li role=option>Cedar<li role=option>Aspen</ul>
<script>
  for (const o of several.children) o.onclick = () => { o.ariaSelected = String(o.ariaSelected !== 'true') };
  file.onclick = () => { m.hidden = false };
  to.onclick = () => { sub.hidden = false };
  city.oninput = () => setTimeout(() => { cities.innerHTML = '';
    for (const name of ['Paris', 'Parma', 'Porto']) if (city.value && name.startsWith(city.value)) {
      const option = document.createElement('li'); option.role = 'option'; option.textContent = name;
      option.onclick = () => { city.value = document.title = name }; cities.append(option) } }, 100);
  const open = (on) => { rooms.hidden = !on; room.ariaExpanded = String(on) };
  room.onkeydown = ({key, altKey}) => { if (key === 'ArrowDown' && altKey) open(true) };
  for (const o of rooms.children) o.onclick = () => { room.value = o.innerText.trim(); open(false) };
</script>"""


@pytest.mark.parametrize(
    ("name", "options", "script", "value"),
    [
        ("Tags", ["b", "d"], "[...tags.selectedOptions].map(o => o.value)", ["b", "d"]),
        ("Several", ["a", "b"], "[...several.children].map(o => o.ariaSelected)", ["true", "true", "false"]),
        ("File", ["Export", "As PDF"], "document.title", "exported"),
        ("Browser", ["chrome"], "own.value", "Chrome"),
        ("City", ["Parma"], "document.title", "Parma"),
        pytest.param("Room", ["Aspen"], "room.value", "Aspen", marks=pytest.mark.slow),
    ],
    ids=["multiple select", "listbox", "menu", "the browser's own", "suggestions", "opened by keys"],
)
async def test_options_are_chosen_in_lists_of_any_kind(
    hand: Hand, name: str, options: list[str], script: str, value: object
) -> None:
    await hand.open(LISTS)
    await hand.do("select_option", index=hand.index(name), options=options)
    assert await hand.js(script) == value


async def test_lists_and_options_are_named_once_and_a_list_not_by_its_options(hand: Hand) -> None:
    await hand.open(
        "<select multiple><option>a<option>b</select><ul role=listbox aria-label=Skills>"
        "<li role=option aria-selected=false><label><input type=checkbox aria-labelledby=t>"
        "<span id=t>Sewing</span></label></ul>"
    )
    assert 'option "Sewing"' in hand.told
    index = hand.index("", role="listbox")
    text = await hand.do("select_option", index=index, options=["b"])
    assert f'Selected "b" in [{index}] listbox "".' in text
    assert f'[{index}] listbox ""' in await hand.do("find_elements", selector="select")


async def test_options_are_listed_and_one_that_is_not_there_names_them(hand: Hand) -> None:
    await hand.open(SIZES)
    text = await hand.do("get_options", index=hand.index("Size"))
    assert "3 options of" in text
    assert '- "Small" value="s" (selected)' in text
    assert '- "Large" value="l" (disabled)' in text
    error = await hand.fails("select_option", NotFound, index=hand.index("Size"), options=["Huge"])
    assert 'no option "Huge"' in error
    assert '"Small", "Medium", "Large"' in error
    for options, said in ((["Large"], "disabled"), (["Small", "Medium"], "takes one option")):
        error = await hand.fails("select_option", NotActionable, index=hand.index("Size"), options=options)
        assert said in error


COMBOBOX = """
<style>li:hover{background:#eee} ul{list-style:none}</style>
<div id=box role=combobox tabindex=0 aria-label=Fruit aria-expanded=false aria-controls=list>Choose</div>
<ul id=list role=listbox hidden>
  <li role=option>Apple</li><li role=option>Pear</li><li role=option aria-disabled=true>Plum</li>
</ul>
<ul role=listbox aria-label=Other><li role=option>Apple</li></ul>
<script>
  box.onclick = () => setTimeout(() => {
    list.hidden = !list.hidden; box.ariaExpanded = String(!list.hidden);
  }, 200);
  for (const option of list.children) option.onclick = () => {
    box.textContent = option.textContent; list.hidden = true; box.ariaExpanded = 'false' };
</script>
"""


async def test_an_option_of_an_aria_combobox_is_chosen_by_opening_it(hand: Hand) -> None:
    await hand.open(COMBOBOX)
    assert "Click it" in await hand.fails("get_options", NotFound, index=hand.index("Fruit"))
    error = await hand.fails("select_option", NotFound, index=hand.index("Fruit"), options=["Cherry"])
    assert 'Options: "Apple", "Pear", "Plum".' in error
    assert await hand.js("list.hidden")
    assert 'Selected "Pear"' in await hand.do("select_option", index=hand.index("Fruit"), options=["Pear"])
    assert await hand.js("box.textContent") == "Pear"


async def test_a_list_that_closes_late_after_escape_is_not_opened_again(hand: Hand) -> None:
    late = "box.onkeydown = (key) => key.key === 'Escape' && setTimeout(() => {"
    late += " list.hidden = true; box.ariaExpanded = 'false' }, 200);"
    await hand.open(COMBOBOX.replace("box.onclick", f"{late} box.onclick"))
    await hand.fails("select_option", NotFound, index=hand.index("Fruit"), options=["Cherry"])
    assert await hand.js("list.hidden")


async def test_a_list_for_several_choices_is_closed_after_them(hand: Hand) -> None:
    await hand.open(
        COMBOBOX.replace("list.hidden = true; box.ariaExpanded = 'false'", "").replace(
            "box.textContent = option", "box.textContent += option"
        )
    )
    await hand.do("select_option", index=hand.index("Fruit"), options=["Pear", "Apple"])
    await hand.session.current_tab.page.wait_for_function("list.hidden")
    assert await hand.js("box.textContent") == "ChoosePearApple"


async def test_boxes_radios_and_switches_are_brought_into_a_state_or_say_why_not(hand: Hand) -> None:
    await hand.open(
        "<label><input type=checkbox id=f> Agree</label><button>Go</button>"
        "<label><input type=radio name=r id=a> A</label><label><input type=radio name=r id=b> B</label>"
        "<div id=light role=switch aria-checked=false tabindex=0 aria-label=Light "
        "onclick=\"setTimeout(() => { this.ariaChecked = String(this.ariaChecked !== 'true') }, 150)\">Light"
        "</div><input type=checkbox aria-label=Stuck onclick='event.preventDefault()'>"
    )
    index = hand.index("Agree")
    assert "is now checked" in await hand.do("set_checked", index=index)
    assert "was checked already" in await hand.do("set_checked", index=index, checked=True)
    assert "is now unchecked" in await hand.do("set_checked", index=index, checked=False)
    for name in ("A", "B", "Light"):
        await hand.do("set_checked", index=hand.index(name))
    assert await hand.js("[f, a, b].map(box => box.checked)") == [False, False, True]
    assert await hand.js("light.ariaChecked") == "true"
    error = await hand.fails("set_checked", NotActionable, index=hand.index("B"), checked=False)
    assert "choose another one" in error
    assert "still unchecked" in await hand.fails("set_checked", NotActionable, index=hand.index("Stuck"))
    await hand.fails("input_text", NotActionable, index=hand.index("Go"), text="x")
    await hand.fails("set_checked", NotActionable, index=hand.index("Go"))


FORM = (
    "<input id=name aria-label=Name><textarea id=note aria-label=Note></textarea>"
    "<input type=password id=pin aria-label=Pin>"
    f"{SIZES.format('')}<label><input type=checkbox id=agree> Agree</label>"
    "<label><input type=radio name=r id=fast> Fast</label><input type=date id=day aria-label=Day>"
)


async def test_a_form_is_filled_at_once_and_each_field_reported(hand: Hand) -> None:
    await hand.open(FORM)
    values = {
        "Name": "Ann",
        "Note": "two\nlines",
        "Pin": "4321",
        "Size": "Medium",
        "Agree": True,
        "Fast": "yes",
        "Day": "2031-05-06",
    }
    text = await hand.do(
        "fill_form", fields=[{"index": hand.index(name), "value": value} for name, value in values.items()]
    )
    assert text.startswith("Filled 7 fields.")
    assert "4321" not in text
    assert await hand.js(
        "[document.getElementById('name').value, note.value, pin.value, f.value,"
        " agree.checked, fast.checked, day.value]"
    ) == ["Ann", "two\nlines", "4321", "m", True, True, "2031-05-06"]


async def test_a_form_with_wrong_fields_fills_the_others_and_says_which_failed(hand: Hand) -> None:
    await hand.open(FORM)
    error = await hand.do(
        "fill_form",
        fields=[
            {"index": hand.index("Name"), "value": "Ann"},
            {"index": hand.index("Size"), "value": "Huge"},
            {"index": hand.index("Agree"), "value": "maybe"},
            {"index": 99_999, "value": "x"},
        ],
    )
    assert hand.result.error is not None
    assert "3 of 4 fields could not be filled" in error
    assert "~ [" in error, "what the filled field has changed is told"
    assert 'textbox "Name" value="Ann"' in error
    assert 'Typed "Ann"' in error
    assert 'no option "Huge"' in error
    assert "takes true or false" in error
    assert await hand.js("document.getElementById('name').value") == "Ann"
    await hand.do("fill_form", fields=[{"index": hand.index("Agree"), "value": "perhaps"}])
    assert "1 of 1 field could not be filled.\n" in str(hand.result.error)


SUGGESTIONS = """
<style>ul { list-style: none }</style>
<input id=city role=combobox aria-label=City aria-controls=cities aria-expanded=false>
<ul id=cities role=listbox hidden><li role=option>Paris</li><li role=option>Parma</li></ul>
<input id=street aria-label=Street>
<script>
  const show = open => { cities.hidden = !open; city.ariaExpanded = String(open) };
  city.onfocus = city.oninput = () => { window.chosen = null; show(true) };
  city.onkeydown = e => { if (e.key === 'Escape') show(false) };
  for (const option of cities.children) option.onclick = () => {
    window.chosen = option.textContent; window.all = (window.all ?? '') + chosen;
    city.value = all; show(false) };
</script>"""


@pytest.mark.parametrize(
    ("value", "said", "held"),
    [
        ("Parma", 'Selected "Parma" in', "Parma"),
        (["Parma", "Paris"], "Filled 2 fields.", "ParmaParis"),
        ("Oslo", "Its list has no such option.", "Oslo"),
    ],
)
async def test_a_form_s_combobox_is_chosen_from_and_its_list_closed_or_keeps_another_text(
    hand: Hand, value: object, said: str, held: str
) -> None:
    await hand.open(SUGGESTIONS)
    fields = [
        {"index": hand.index("City"), "value": value},
        {"index": hand.index("Street"), "value": "Via Po"},
    ]
    assert said in await hand.do("fill_form", fields=fields)
    chosen = "Parma" if value == "Parma" else "Paris" if value != "Oslo" else None
    assert await hand.js("[chosen, city.value, street.value]") == [chosen, held, "Via Po"]
    assert isinstance(value, list) or await hand.js("city.ariaExpanded") == "false"


LEAVING = """
<input aria-label=Day onblur="if (!/^[A-Z]/.test(value)) value = ''">
<input aria-label=Price onblur="value = Number(value).toFixed(2)">
<input type=password aria-label=Pin onblur="value = value.slice(0, 3)">
<input aria-label=Name>
<input type=checkbox aria-label=Agree>
<button onclick="this.after(document.querySelector('input').value || 'no day')">Save</button>"""


async def test_a_field_that_changes_its_text_when_it_is_left_is_reported(hand: Hand) -> None:
    await hand.open(LEAVING)
    values = {"Day": "2031-05-06", "Price": "5", "Pin": "98765", "Name": "Ann", "Agree": True}
    fields = [{"index": hand.index(name), "value": value} for name, value in values.items()]
    ends = ["is empty", 'holds "5.00"', "holds 3 characters"]
    text = await hand.do("fill_form", fields=[*fields, {"index": 99_999, "value": "x"}])
    lines = [line for line in text.split("\n") if line.startswith("- Typed")]
    assert [" Once it had lost the focus, it " in line for line in lines] == [True, True, True, False]
    assert [line.partition(" Once it had lost the focus, it ")[2] for line in lines[:3]] == [
        f"{end}." for end in ends
    ]
    assert "987" not in text


async def test_a_field_that_drops_its_text_at_the_click_after_it_is_reported(hand: Hand) -> None:
    await hand.open(LEAVING)
    day = {"input_text": {"index": hand.index("Day"), "text": "6.5.2031"}}
    look, save = {"wait_for": {"text": "Save"}}, {"click_element": {"index": hand.index("Save")}}
    text = await hand.do("do_actions", actions=[day, look, save])
    assert '1. Typed "6.5.2031" into' in text
    assert "Once it had lost the focus, it is empty.\n2." in text
    assert "no day" in text
    kept = {"input_text": {"index": hand.index("Day"), "text": "May 6"}}
    more = {"input_text": {"index": hand.index("Day"), "text": ", 2031", "append": True}}
    assert "lost the focus" not in await hand.do("do_actions", actions=[kept, more, save])


async def test_a_text_that_the_click_after_it_sends_is_not_reported_as_dropped(hand: Hand) -> None:
    await hand.open(
        "<input aria-label=Message id=m><ul id=sent></ul>"
        "<button onclick=\"sent.innerHTML += `<li>${m.value}</li>`; m.value = ''\">Send</button>"
    )
    message = {"input_text": {"index": hand.index("Message"), "text": "Hello"}}
    send = {"click_element": {"index": hand.index("Send")}}
    text = await hand.do("do_actions", actions=[message, send])
    assert "Hello" in text.partition("2. Clicked")[2]
    assert "lost the focus" not in text


async def test_a_text_is_sent_by_enter_or_a_click_and_not_asked_for_once_its_page_has_gone(
    hand: Hand,
) -> None:
    form = f"<form action='{hand.site.url}/echo'><input name=q aria-label=Day><button>Go</button>"
    await hand.open(form)
    text = await hand.do("input_text", index=hand.index("Day"), text="tea", submit=True)
    assert "Pressed Enter." in text
    assert "'q': ['tea']" in text
    await hand.open(form)
    day = {"fill_form": {"fields": [{"index": hand.index("Day"), "value": "May"}]}}
    text = await hand.do("do_actions", actions=[day, {"click_element": {"index": hand.index("Go")}}])
    assert "'q': ['May']" in text
    assert "lost the focus" not in text


async def test_a_slider_that_nothing_moves_says_so(hand: Hand) -> None:
    await hand.open(
        "<div role=slider tabindex=0 aria-label=Volume aria-valuenow=3 style='width:90px'>o</div>"
    )
    error = await hand.fails("input_text", NotActionable, index=hand.index("Volume"), text="5")
    assert "Neither keys nor the mouse move it from 3." in error


@pytest.mark.parametrize("every", [9, 40])
async def test_a_slider_that_follows_late_is_moved_to_what_is_wanted(hand: Hand, every: int) -> None:
    await hand.open(
        "<div id=s role=slider tabindex=0 aria-label=Volume aria-valuenow=0 aria-valuemax=90"
        " style='width: 90px'>o</div><script>let due = 0;"
        " s.onkeydown = ({ key }) => { due += key === 'ArrowRight' ? 1 : -1 };"
        "setInterval(() => { const step = Math.sign(due); due -= step;"
        f" s.ariaValueNow = Number(s.ariaValueNow) + step }}, {every})</script>"
    )
    assert 'to "30"' in await hand.do("input_text", index=hand.index("Volume"), text="30")
    assert await hand.js("new Promise(done => setTimeout(() => done(s.ariaValueNow), 400))") == "30"


async def test_a_range_takes_its_value_as_text_and_what_its_values_mean(hand: Hand) -> None:
    await hand.open(
        "<input id=f type=range aria-label=Volume min=0 max=10 value=3 onkeyup='document.title = value'>"
        "<input id=g type=range aria-label=Size min=0 max=3 value=0 aria-valuetext=Small"
        " oninput=\"ariaValueText = ['Small', 'Medium', 'Large', 'Huge'][value]\">"
    )
    for value in ("7", "0", "10"):
        await hand.do("input_text", index=hand.index("Volume"), text=value)
        assert await hand.js("[f.value, document.title]") == [value, value], "the last step is a key's"
    text = await hand.do("input_text", index=hand.index("Size"), text="Large")
    assert await hand.js("g.value") == "2"
    assert 'value="2" text="Large"' in text
    assert "instead" not in text


async def test_a_range_that_is_clipped_away_is_dragged_by_what_is_seen(hand: Hand) -> None:
    await hand.open(
        "<div style='position: relative; width: 200px; height: 40px'><div id=thumb style='position: absolute;"
        " left: 10px; top: 14px; width: 12px; height: 12px'><div style='position: absolute; width: 1px;"
        " height: 1px; overflow: hidden; clip-path: inset(50%)'><input type=range aria-label=Volume></div>"
        "</div></div><button>Here</button><script>"
        "thumb.onpointerdown = () => { document.onpointerup = () => document.title = 'let go' }</script>"
    )
    await hand.do("drag_element", index=hand.index("Volume"), target=hand.index("Here"))
    assert await hand.js("document.title") == "let go"


async def test_fields_whose_lists_have_the_same_id_have_their_own(hand: Hand) -> None:
    fields = "".join(
        f"<div role=combobox tabindex=0 aria-expanded=false aria-owns=list aria-label={name}>-</div>"
        for name in ("Tool", "Meal")
    )
    await hand.open(
        f"{fields}<script>const options = {{Tool: ['Hammer', 'Saw'], Meal: ['Soup', 'Cake']}};"
        "for (const field of document.querySelectorAll('[role=combobox]')) field.onclick = e => {"
        " field.ariaExpanded = 'true'; field.innerHTML = '<ul role=listbox id=list>' +"
        " options[field.ariaLabel].map(text => `<li role=option>${text}</li>`).join('') + '</ul>';"
        " for (const option of field.querySelectorAll('li')) option.onclick = e => { e.stopPropagation();"
        " field.title = option.textContent; option.ariaSelected = 'true' } }</script>"
    )
    tool, meal = hand.index("Tool"), hand.index("Meal")
    await hand.do("click_element", index=tool)
    await hand.fails("select_option", NotFound, index=meal, options=["Saw"])
    await hand.do("select_option", index=meal, options=["Cake"])
    await hand.do("select_option", index=tool, options=["Saw"])
    titles = "[...document.querySelectorAll('[role=combobox]')].map(field => field.title)"
    assert await hand.js(titles) == ["Saw", "Cake"]


@pytest.fixture
def paths(upload_dir: Path) -> list[str]:
    """Two files of a folder that files may be uploaded from."""
    for name in ("a.txt", "b.txt"):
        (upload_dir / name).write_text("content")
    return [str(upload_dir / name) for name in ("a.txt", "b.txt")]


async def test_a_file_input_takes_one_file_of_an_allowed_folder(
    hand: Hand, upload_dir: Path, paths: list[str]
) -> None:
    await hand.open(
        '<input id=f type=file aria-label=Photo onchange="f.files[0].text().then(t => document.title = t)">'
    )
    index = hand.index("Photo")
    error = await hand.fails("upload_file", InvalidArguments, index=index, paths=["/etc/passwd"])
    assert str(upload_dir) in error
    assert "takes one file" in await hand.fails("upload_file", NotActionable, index=index, paths=paths)
    assert await hand.js("f.files.length") == 0
    assert "Gave a.txt" in await hand.do("upload_file", index=index, paths=paths[:1])
    await hand.session.current_tab.page.wait_for_function("document.title === 'content'")


async def test_a_button_that_opens_a_file_chooser_takes_files_and_a_click_says_so(
    hand: Hand, paths: list[str]
) -> None:
    await hand.open(
        "<input id=f type=file multiple hidden><button onclick='f.click()'>Choose files</button>"
        "<button>Something else</button>"
    )
    text = await hand.do("click_element", index=hand.index("Choose files"))
    if "upload_file" not in text:
        text = await hand.do("wait_for", seconds=1)
    assert "The page asks for a file: use upload_file" in text
    await hand.do("upload_file", index=hand.index("Choose files"), paths=paths)
    assert await hand.js("f.files.length") == 2
    error = await hand.fails("upload_file", NotActionable, index=hand.index("Something else"), paths=paths)
    assert "did not open a file chooser" in error


LIST_OF_BOXES = (
    "<div id=f role=combobox tabindex=0 aria-label=Crew aria-expanded=false aria-controls=l"
    " style='width:200px;height:30px'>{field}</div>"
    "<div id=p hidden><ul id=l role=listbox aria-multiselectable=true><li role=option aria-selected=false>Ann"
    "<li role=option aria-selected=false>Bob</ul>{below}</div><script>"
    "const options = [...l.children];"
    "const open = (on) => {{ p.hidden = !on; f.ariaExpanded = String(on) }};"
    "f.onclick = () => open(true);"
    "onkeydown = ({{key, target}}) => key === 'Escape' && target === f && open(false);"
    "for (const o of options) o.onclick = () => {{"
    " o.ariaSelected = String(o.ariaSelected !== 'true'); {chosen} }}"
    "</script>"
)


@pytest.mark.slow
async def test_a_list_that_has_to_be_confirmed_stays_open(hand: Hand) -> None:
    await hand.open(LIST_OF_BOXES.format(field="-", below="<button>OK</button>", chosen=""))
    text = await hand.do("select_option", index=hand.index("Crew"), options=["Ann", "Bob"])
    assert "Its list is still open: it may have to be confirmed there." in text
    assert await hand.js("[p.hidden, ...options.map(o => o.ariaSelected)]") == [False, "true", "true"]


async def test_what_was_chosen_is_not_taken_back_by_closing_the_list(hand: Hand) -> None:
    chosen = (
        "f.innerHTML = `<button style='width:190px'>${o.innerText.trim()}</button>`;"
        " f.firstChild.onclick = () => { f.innerHTML = '-'; o.ariaSelected = 'false' }"
    )
    await hand.open(LIST_OF_BOXES.format(field="-", below="", chosen=chosen))
    await hand.do("select_option", index=hand.index("Crew"), options=["Ann"])
    assert await hand.js("[p.hidden, f.innerText, options[0].ariaSelected]") == [True, "Ann", "true"]


@pytest.mark.slow
async def test_only_the_first_of_several_wrong_names_of_a_form_is_waited_for(hand: Hand) -> None:
    await hand.open("<label>Name <input></label>")
    fields = [{"index": f'textbox "{name}"', "value": "Ada"} for name in ("Nam", "Nane", "Name")]
    assert 'There is no textbox "Nane"; it was waited for 0.5 s' in await hand.do("fill_form", fields=fields)
    assert await hand.js("document.querySelector('input').value") == "Ada"
