"""Controls that are not drawn and used all the same: behind what is drawn, or until the mouse comes."""

import pytest

from tests.snapshot.hand import CLIPPED, LOG, Hand


@pytest.mark.parametrize(
    "hidden",
    [
        f"<div style='{CLIPPED}'><input type=range id=r min=0 max=100 value=30 aria-label=Volume></div>",
        f"<input type=range id=r min=0 max=100 value=30 aria-label=Volume style='{CLIPPED}'>",
        "<input type=range id=r min=0 max=100 value=30 aria-label=Volume "
        "style='position:absolute;inset:0;opacity:0'>",
        "<div style='opacity:0'><input type=range id=r min=0 max=100 value=30 aria-label=Volume></div>",
    ],
    ids=["clipped around", "clipped", "opacity", "opacity around"],
)
async def test_a_slider_that_a_component_draws_anew_is_told_and_set(hand: Hand, hidden: str) -> None:
    view = await hand.show(
        f"<div role=group aria-label=Sound style='position:relative'><i>drawn</i>{hidden}</div>"
    )
    slider = view.one("Volume", role="slider")
    assert 'value="30"' in slider.states
    await hand.do("input_text", index=slider.index, text="70")
    assert await hand.script("r.value") == "70"


@pytest.mark.parametrize("role", ["checkbox", "switch"])
@pytest.mark.parametrize(
    "hiding", [CLIPPED, "position:absolute;opacity:0;left:0;top:0;width:40px;height:20px"]
)
async def test_a_drawn_box_without_a_label_is_ticked(hand: Hand, role: str, hiding: str) -> None:
    view = await hand.show(
        f"<div style='position:relative;width:40px;height:20px;background:#ddd'>"
        f"<input type=checkbox role={role} id=c aria-label=Dark style='{hiding}'></div>"
    )
    index = view.index("Dark", role=role)
    await hand.click(index)
    assert await hand.script("c.checked")
    await hand.do("set_checked", index=index, checked=False)
    assert not await hand.script("c.checked")


async def test_a_clipped_button_that_is_a_switch_is_told_and_turned_by_its_label(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<button role=switch id=b style='{CLIPPED}' onclick='log.push(1)'></button>"
        "<label for=b>Power<i style='display:block;width:40px;height:20px;background:#ddd'></i></label>"
    )
    await hand.click(view.index("Power", role="switch"))
    assert [node.role for node in view.elements] == ["switch"]
    assert await hand.log() == [1]


async def test_a_drawn_box_is_told_once_wherever_its_label_stands(hand: Hand) -> None:
    view = await hand.show(
        f"<div style='{CLIPPED}'><input type=checkbox id=a></div><label for=a>Before</label>"
        f"<label for=b>After</label><div style='{CLIPPED}'><input type=checkbox id=b></div>"
        f"<label><span style='{CLIPPED}'><input type=checkbox id=c></span>Around</label>"
    )
    assert sorted(node.name for node in view.of_role("checkbox")) == ["After", "Around", "Before"]
    for name, box in (("Before", "a"), ("After", "b"), ("Around", "c")):
        await hand.do("set_checked", index=view.index(name), checked=True)
        assert await hand.script(f"{box}.checked")


@pytest.mark.parametrize(
    "hidden",
    [
        "<input aria-label=Trap tabindex=-1 style='opacity:0;position:absolute'>",
        f"<input aria-label=Trap style='{CLIPPED}'>",
        "<input aria-label=Trap style='position:absolute;left:-9999px'>",
        f"<div aria-hidden=true><input type=checkbox tabindex=-1 aria-label=Trap style='{CLIPPED}'></div>",
        f"<select aria-label=Trap aria-hidden=true tabindex=-1 style='{CLIPPED}'><option>x</select>",
        "<div style='opacity:0'><button>Trap</button><input type=checkbox aria-label=Box></div>",
    ],
)
async def test_what_nobody_uses_is_not_told(hand: Hand, hidden: str) -> None:
    view = await hand.show(f"<p>Words</p>{hidden}")
    assert not view.offers("Trap")


@pytest.mark.parametrize(
    "style",
    [
        ".tools { opacity: 0 } li:hover .tools { opacity: 1 }",
        ".tools button { opacity: 0 } li:hover button { opacity: .9 }",
        ".tools { opacity: 0; & :is(:where(li):hover *) { opacity: 1 } }"
        "@media (hover: hover) { li:hover > .tools { opacity: 1 } }",
    ],
)
async def test_controls_that_the_mouse_over_a_row_shows_are_told_and_clicked(hand: Hand, style: str) -> None:
    view = await hand.show(
        f"{LOG}<style>{style}</style><ul>"
        + "".join(
            f"<li>Mail {n} <span class=tools>"
            f"<button onclick='log.push({n})' title='Delete {n}'>x</button></span></li>"
            for n in range(3)
        )
        + "</ul>"
    )
    buttons = view.of_role("button")
    assert len(buttons) == 3
    assert await hand.clicks(buttons[1].index) == [1]


async def test_what_shows_once_it_is_scrolled_to_is_told_and_clicked_when_it_shows(hand: Hand) -> None:
    below = {
        "Menu": "position: absolute",
        "Drawer": "position: fixed; top: 100vh",
        "Ghost": "pointer-events: none",
        "Veiled": "visibility: hidden",
    }
    hidden = "".join(
        f"<div style='opacity: 0; {style}'><a href=#>{name}</a></div>" for name, style in below.items()
    )
    view = await hand.show(
        f"{LOG}<style>.late {{ opacity: 0; transform: translateY(30px) }} "
        ".shown { animation: show .3s .2s both } @keyframes show { to { opacity: 1; translate: 0 } }</style>"
        "<div style='opacity: 0'><button>Trap</button></div><p style='height: 2000px'>Words</p>"
        '<section class=late id=s><h2>Offer</h2><label>Size <input></label><button onclick="log.push('
        f"getComputedStyle(s).opacity > 0 && 'seen')\">Take it</button></section>{hidden}"
        "<script>new IntersectionObserver(([it]) => it.isIntersecting && s.classList.add('shown')).observe(s)"
        "</script>"
    )
    assert view.says("Offer")
    assert view.offers("Size")
    assert not [name for name in ("Trap", *below) if view.offers(name)]
    assert "Offer" in str((await hand.do("extract_content")).page_content)
    await hand.do("find_elements", text="Take it")
    assert await hand.clicks(view.index("Take it")) == ["seen"]
    assert (await hand.look()).index("Take it") == view.index("Take it")


async def test_fields_without_names_are_known_by_what_stands_with_them(hand: Hand) -> None:
    view = await hand.show(
        f"{LOG}<div><label>Town</label><input></div><input type=radio name=way value=bus>"
        "<input type=radio name=way value=train>"
        "<div style='position: relative; width: 60px'><span onclick=0>Blue</span>"
        "<input type=color aria-label=Shade style='opacity: 0; position: absolute; inset: 0'></div>"
    )
    assert [node.states[0] for node in view.of_role("textbox")] == ['hint="Town"']
    assert [node.states[0] for node in view.of_role("radio")] == ['hint="bus"', 'hint="train"']
    assert view.offers("Shade")
    await hand.do("hover_element", index=view.index("Blue"))
    told = await hand.do("get_state", index=view.index("Shade"))
    assert "Shade" in str(told.page_content) or "Shade" in str(told.observation)


async def test_a_field_that_a_component_shows_only_when_it_is_used_is_told_and_typed_into(hand: Hand) -> None:
    view = await hand.show(
        "<my-field></my-field><label><my-box></my-box> Gift</label><script>"
        "const define = (name, html, formAssociated) =>"
        " customElements.define(name, class extends HTMLElement {"
        " static formAssociated = formAssociated;"
        " constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = html } });"
        "define('my-frame', '<style>.content { opacity: 0 } span { position: absolute }</style>"
        "<span>Name*</span><div class=content><slot></slot></div>');"
        "define('my-field', '<my-frame><div><input aria-label=Name></div></my-frame>');"
        "define('my-box', '<input type=checkbox>', true)</script>"
    )
    assert [(node.role, node.name) for node in view.elements] == [("textbox", "Name"), ("checkbox", "Gift")]
    await hand.do("input_text", index=view.index("Name"), text="Ann")
    assert (
        await hand.script("document.querySelector('my-field').shadowRoot.querySelector('input').value")
        == "Ann"
    )


async def test_what_opens_in_a_label_is_no_part_of_its_fields_name(hand: Hand) -> None:
    days = [str(day) for day in range(12, 30)]
    view = await hand.show(
        "<label>Arrival <input><div id=days><button type=button>Next</button>"
        + " ".join(f"<span>{day}</span>" for day in days)
        + "</div></label><style>span { cursor: pointer }</style>"
    )
    assert [node.name for node in view.elements] == ["Arrival", "Next", *days]


async def test_a_range_that_only_keeps_the_value_of_a_handle_is_set_by_the_handle_s_keys(hand: Hand) -> None:
    view = await hand.show(
        "<label for=s>Budget</label><div id=s style='position:relative;width:200px;height:8px'>"
        "<div id=h tabindex=0 style='position:absolute;left:20%'>"
        "<input readonly type=range tabindex=-1 value=20 style='position:absolute;width:100%;height:100%;"
        "clip:rect(0,0,0,0)'></div></div><script>h.onkeydown = ({key}) => { const r = h.firstChild;"
        " r.value = +r.value + (key === 'ArrowRight') - (key === 'ArrowLeft') }</script>"
    )
    slider = view.one("", role="slider")
    assert slider.states == ('value="20"', 'hint="Budget"')
    await hand.do("input_text", index=slider.index, text="35")
    assert await hand.script("h.firstChild.value") == "35"


async def test_what_is_drawn_takes_a_value_by_keys_and_a_field_that_is_inert_keeps_that_to_itself(
    hand: Hand,
) -> None:
    view = await hand.show(
        "<input inert aria-label=Off><svg id=s role=slider tabindex=0 aria-label=Knob aria-valuenow=40"
        " width=50 height=50><circle r=20 cx=25 cy=25 /></svg><script>"
        "const by = (key) => (key === 'ArrowRight') - (key === 'ArrowLeft');"
        "s.onkeydown = ({key}) => s.setAttribute("
        "'aria-valuenow', +s.getAttribute('aria-valuenow') + by(key))</script>"
    )
    knob = view.one("Knob")
    assert "inert" not in str(knob)
    await hand.do("input_text", index=knob.index, text="44")
    assert await hand.script("s.getAttribute('aria-valuenow')") == "44"
