"""Thought and Action, in every shape in which vision agents write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_browser.actions import default_registry
from mcp_browser.actions.mouse import parse_coordinates
from mcp_browser.agent.executor import Look
from mcp_browser.agent.prompting.gui_parser import (
    MOST_PIXELS,
    PATCH,
    GuiAction,
    Scale,
    as_coordinates,
    parse_prediction,
    parse_spot,
    resized,
    scale_for,
)
from mcp_browser.agent.prompting.style import GuiStyle, Turn
from mcp_browser.agent.task import ActionCall
from mcp_browser.dom.models import Size
from mcp_browser.errors import InvalidOutput
from mcp_browser.llm.messages import ImageBlock, Reply

PICTURE = ImageBlock(data=b"", mime_type="image/png", width=1280, height=720)
LOOK = Look(url="", title="", text="", images=(PICTURE,))
SEEN = "@1288x728"  # The size in which a model sees it
DRAGGED = {"start": f"1,2{SEEN}", "end": f"3,4{SEEN}"}


IT = "click(start_box='(320,200)')"


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        (f"Thought: I see it.\nAction: {IT}", "I see it."),
        (f"Thought: Ich sehe es: gut.\nAction：{IT}", "Ich sehe es: gut."),
        ('Thought: a\nb\n\nAction: click(start_box="(320,200)")', "a\nb"),
        (f"Reflection: It failed. Action_Summary: Click again.\nAction: {IT}", None),
        (f"Action_Summary: Click it.\nAction: {IT}", "Click it."),
        (f"<Thought>I see it.</Thought>\n<Output>{IT}</Output>", "I see it."),
        ("<think>I see it.</think>\nAction: click(point='(320,200)')", "I see it."),
        (IT, ""),
        (f"Thought: x\nAction: wait()\nNo, rather:\nAction: {IT}", None),
        ("Thought: x\nAction: click(start_box=(320,200))", "x"),
        ("Thought: x\nAction: click((320,200))", "x"),
        ("Thought: x\nAction: click('(320,200)')", "x"),
        ("Thought: x\nAction: Click(start_box='(320,200)'", "x"),
        (f"Thought: x\nAction: `{IT}`", "x"),
        (f"Thought: x\nAction: 1. {IT}", "x"),
        ('Thought: x\nAction: {"name": "click", "arguments": {"start_box": "(320,200)"}}', "x"),
        ('{"function": {"name": "click", "arguments": "{\\"point\\": \\"(320,200)\\"}"}}', None),
        ('<tool_call>{"name": "click", "arguments": {"start_box": "(320,200)"}}</tool_call>', None),
        ("<function=click><parameter=point>(320,200)</parameter></function>", None),
    ],
)
def test_a_click_is_read_in_every_shape(text: str, thought: str | None) -> None:
    said, actions = parse_prediction(text)
    assert actions == [GuiAction(name="click", arguments={"start_box": "(320,200)"})]
    assert thought in (None, said)


@pytest.mark.parametrize(
    ("box", "spot"),
    [
        ("(320,200)", (320, 200)),
        ("[300,100,340,300]", (320, 200)),
        ("<bbox>300 100 340 300</bbox>", (320, 200)),
        ("<point>320 200</point>", (320, 200)),
        ("<|box_start|>(320,200)<|box_end|>", (320, 200)),
        ("(0,0)", (0, 0)),
        ("[0, 0, 0, 0]", (0, 0)),
        ("0 200", (0, 200)),
        ("[0.131,0.25,0.131,0.25]", (0.131, 0.25)),
    ],
)
def test_a_box_means_its_middle(box: str, spot: tuple[float, float]) -> None:
    assert parse_spot(box) == pytest.approx(spot)


@pytest.mark.parametrize("box", ["", "[]", "()", "(5)", "(a,b)", "(1,2,3)", "(1,2,3,4,5)", "left"])
def test_what_is_no_point_says_how_to_write_one(box: str) -> None:
    with pytest.raises(InvalidOutput, match="no point"):
        parse_spot(box)


def turn(style: GuiStyle, *, only_done: bool = False) -> Turn:
    return style.turn(default_registry(), None, LOOK, only_done=only_done)


def read(text: str, *, only_done: bool = False) -> list[ActionCall]:
    return list(turn(GuiStyle("pixels"), only_done=only_done).read(Reply(text=text)).calls)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("left_double(start_box='(0,0)')", "mouse_click", {"at": f"0,0{SEEN}", "clicks": 2}),
        ("right_single(start_box='(9,9)')", "mouse_click", {"at": f"9,9{SEEN}", "button": "right"}),
        ("right_click(point='<point>9 9</point>')", "mouse_click", {"at": f"9,9{SEEN}", "button": "right"}),
        ("drag(start_box='(1,2)', end_box='(3,4)')", "mouse_drag", DRAGGED),
        ("drag(start_point='(1,2)', end_point='(3,4)')", "mouse_drag", DRAGGED),
        ("hotkey(key='Ctrl+Shift+T')", "hotkey", {"keys": "ctrl shift t"}),
        ("hotkey(key='ctrl c')", "hotkey", {"keys": "ctrl c"}),
        ("type(content='Hello\\n')", "type_text", {"text": "Hello\n"}),
        ("type(content='it\\'s \"so\"')", "type_text", {"text": 'it\'s "so"'}),
        ("type(content='it's so')", "type_text", {"text": "it's so"}),
        ("type(content='a, b=c (d) Action: e：f')", "type_text", {"text": "a, b=c (d) Action: e：f"}),
        (
            "scroll(start_box='(5,6)', direction='left')",
            "mouse_wheel",
            {"direction": "left", "at": f"5,6{SEEN}"},
        ),
        ("scroll(direction='up')", "mouse_wheel", {"direction": "up"}),
        ("wait()", "wait_for", {"seconds": 5}),
        ("navigate(url='https://a.org/?x=1,y=2')", "go_to_url", {"url": "https://a.org/?x=1,y=2"}),
        ("navigate_back()", "go_back", {}),
        ("finished()", "done", {"success": True, "text": "Done."}),
        ("finished(content='It\\'s 4.')", "done", {"success": True, "text": "It's 4."}),
        ("finished(content='Sold out.', success='False')", "done", {"success": False, "text": "Sold out."}),
        ("call_user()", "call_user", {"question": "The agent needs your help."}),
    ],
)
def test_the_whole_action_space_becomes_our_actions(text: str, name: str, arguments: dict[str, Any]) -> None:
    assert read(f"Thought: t\nAction: {text}") == [ActionCall(name=name, arguments=arguments)]


def test_several_actions_are_done_in_order() -> None:
    calls = read("Thought: t\nAction: click(start_box='(1,2)')\n\ntype(content='a\nb()\n')\n\nwait()")
    assert [call.name for call in calls] == ["mouse_click", "type_text", "wait_for"]
    assert calls[1].arguments["text"] == "a\nb()\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I would click on it.", "Action: wait"),
        ("", "Action: wait"),
        ("Thought: only a thought", "Action: wait"),
        ("Action: fly(start_box='(1,2)')", "There is no action 'fly'"),
        ("Action: click()", "start_box is missing"),
        ("Action: click(start_box='')", "start_box is missing"),
        ("Action: click(start_box='[]')", "no point"),
        ("Action: hotkey(key='a b c d')", "one to 3 keys"),
        ("Action: finished(content='x', success='partly')", "'true' or 'false'"),
        ("Action: scroll(start_box='(1,2)', direction='sideways')", "not 'sideways'"),
        ('Action: {"name": "click", "arguments": "{oops"}', "not JSON"),
    ],
)
def test_what_cannot_be_done_tells_the_model_how(text: str, told: str) -> None:
    with pytest.raises(InvalidOutput) as caught:
        read(text)
    assert told in str(caught.value)


def test_the_last_step_takes_only_the_end() -> None:
    with pytest.raises(InvalidOutput, match="finished"):
        read("Action: wait()", only_done=True)
    (call,) = read("Action: finished(content='x', success='true')", only_done=True)
    assert (call.name, call.arguments["success"]) == ("done", True)
    # It is no success unless it says so.
    (call,) = read("Action: finished(content='Got as far as the login page.')", only_done=True)
    assert call.arguments == {"success": False, "text": "Got as far as the login page."}


def test_a_picture_is_seen_in_patches() -> None:
    assert [resized(1280, 720), resized(1568, 882)] == [(1288, 728), (1568, 896)]
    assert resized(100, 100) == resized(28, 28) == (280, 280)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_a_seen_picture_is_never_too_large(width: int, height: int) -> None:
    if max(width, height) / min(width, height) > 200:
        with pytest.raises(ValueError, match="narrow"):
            resized(width, height)
        return
    seen_w, seen_h = resized(width, height)
    assert seen_w % PATCH == seen_h % PATCH == 0
    assert seen_w * seen_h <= MOST_PIXELS


@pytest.mark.parametrize(
    ("box", "scale"),
    [
        *(("(644,364)", "pixels"), ("[500,500,500,500]", "thousandths")),
        *(("[0.5,0.5,0.5,0.5]", "unit"), ("[0.5,0.5,0.5,0.5]", "pixels")),
    ],
)
def test_every_scale_means_the_same_place(box: str, scale: Scale) -> None:
    written = as_coordinates(box, scale=scale, width=1280, height=720)
    assert parse_coordinates(written).in_view(Size(width=1280, height=720)) == (640, 360)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    for shape in (text, f"Action: {text}", f"Action: click({text})", f"Action: type(content='{text}')"):
        try:
            said = str(read(shape))
        except InvalidOutput as error:
            said = str(error)
        assert said


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), min_size=1))
def test_a_text_that_is_written_as_a_literal_comes_back_whole(text: str) -> None:
    (call,) = read(f"Thought: t\nAction: type(content={text!r})")
    assert call.arguments["text"] == text


@pytest.mark.parametrize("box", ["[0,1,0,1]", "[0, 1, 0, 1]", "(0,1)"])
def test_small_whole_numbers_are_parts_of_the_sides_not_the_first_pixel(box: str) -> None:
    assert as_coordinates(box, scale="pixels", width=1280, height=720) == "[0,1,0,1]"
    assert as_coordinates(box, scale="thousandths", width=1280, height=720) == "[0,0.001,0,0.001]"


MIDDLES = {"thousandths": "[0.5,0.5,0.5,0.5]", "pixels": "500,500@1288x728"}


def middle(style: GuiStyle, model: str = "") -> Any:
    """What a point of a model's is for the mouse."""
    (call,) = turn(style).read(Reply(text="Action: click(start_box='(500,500)')", model=model)).calls
    assert call.arguments.keys() == {"at"}
    return call.arguments["at"]


SCALES = {
    "thousandths": "openai:ByteDance-Seed/UI-TARS-7B-DPO ui-tars-72b-sft UI-TARS-1.0-7B UI-TARS-2 "
    "doubao-1-5-ui-tars-250428 doubao-1.5-thinking-vision-pro doubao-seed-1-6-vision-250815",
    "pixels": "openai:ByteDance-Seed/UI-TARS-1.5-7B ollama:0000/ui-tars-1.5-7b:q4_k_m ui_tars_1_5 "
    "anthropic:claude-opus-4 openai:gpt-5 openai:starseed-15",
}


@pytest.mark.parametrize(("scale", "models"), SCALES.items())
def test_the_name_of_a_model_tells_what_its_numbers_are(scale: str, models: str) -> None:
    for model in models.split():
        assert scale_for(model) == scale, model
        assert middle(GuiStyle(model=model), "alias") == MIDDLES[scale], model
    assert scale_for("") == "pixels"


def test_the_model_that_answered_and_the_setting_count_before_the_name() -> None:
    assert middle(GuiStyle(model="UI-TARS-1.5-7B"), "doubao-1-5-ui-tars-250428") == MIDDLES["thousandths"]
    assert middle(GuiStyle("pixels", model="UI-TARS-2")) == MIDDLES["pixels"]
