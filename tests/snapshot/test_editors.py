"""Editors of code and text: what they show is told, and they are typed into, however they take their keys."""

import re

import pytest

from tests.snapshot.hand import Hand

LINES = """
  <div class=margin aria-hidden=true><div class=line-numbers>1</div><div class=line-numbers>2</div></div>
  <div class=lines role=presentation aria-hidden=true></div>
"""
DRAW = """
  const draw = text => document.querySelector('.lines').replaceChildren(
    ...text.split('\\n').map(line => Object.assign(document.createElement('div'), {textContent: line})));
"""
EDIT_CONTEXT = f"""
<div class=editor style="width: 400px; height: 120px; position: relative">
  <div id=field role=textbox tabindex=0 aria-label=Code
    style="position: absolute; width: 1px; height: 1px"></div>{LINES}
</div>
<script>{DRAW}
  const context = field.editContext = new EditContext({{text: 'let a;\\nlet b;'}});
  context.updateSelection(0, 0);
  const replace = text => context.updateText(context.selectionStart, context.selectionEnd, text);
  const show = at => {{ context.updateSelection(at, at); draw(context.text); }};
  context.addEventListener('textupdate', event => show(event.selectionStart));
  field.addEventListener('keydown', event => {{
    if (event.ctrlKey && event.key === 'a') context.updateSelection(0, context.text.length);
    else if (event.ctrlKey && event.key === 'End') show(context.text.length);
    else if (event.key === 'Delete') {{ const at = context.selectionStart; replace(''); show(at); }}
    else return;
    event.preventDefault();
  }});
  document.querySelector('.editor').addEventListener('mousedown', () => field.focus());
  draw(context.text); window.content = () => context.text;
</script>
"""
HIDDEN_FIELD = f"""
<div class=editor style="width: 400px; height: 120px; position: relative">
  FIELD{LINES}
</div>
<script>{DRAW}
  let text = 'let a;\\nlet b;', all = false;
  const field = document.querySelector('textarea');
  field.addEventListener('keydown', event => {{
    if (event.ctrlKey && event.key === 'a') all = true;
    else if (event.ctrlKey && event.key === 'End') all = false;
    else if (event.key === 'Delete') {{ text = all ? '' : text; draw(text); }}
    else return;
    event.preventDefault();
  }});
  field.addEventListener('input', () => {{
    text = (all ? '' : text) + field.value;
    all = false;
    field.value = '';
    draw(text);
  }});
  document.querySelector('.editor').addEventListener('mousedown', () => field.focus());
  draw(text); window.content = () => text;
</script>
"""
EDITORS = {
    "a context": EDIT_CONTEXT,
    "a field without opacity": HIDDEN_FIELD.replace(
        "FIELD",
        "<textarea aria-label=Code style='position: absolute; opacity: 0; width: 1px; height: 1px'>"
        "</textarea>",
    ),
    "a field in a point": HIDDEN_FIELD.replace(
        "FIELD",
        "<div style='overflow: hidden; position: relative; width: 3px; height: 0'>"
        "<textarea aria-label=Code style='position: absolute; width: 1000px; height: 1em'></textarea></div>",
    ),
}

_FIELD_LAST = EDITORS["a field without opacity"].replace(
    "<textarea", "<i class=slider style='position: absolute; right: 0; width: 9px; height: 9px'></i><textarea"
)
LATER_FIELD = re.sub(r"(<i .*?</textarea>)(.*?)(</div>\n<script)", r"\2\1\3", _FIELD_LAST, flags=re.S)
BEHIND = EDIT_CONTEXT.replace(
    "position: absolute; width: 1px; height: 1px",
    "position: absolute; left: 0; top: 0; width: 380px; height: 19px; z-index: -10",
)
TOLD = {
    **EDITORS,
    "a field behind the line of the caret": BEHIND.replace(
        LINES, f"{LINES}<canvas width=60 height=100 style='cursor: pointer'></canvas>"
    ),
    "a field after its lines": LATER_FIELD + "<style>.slider { cursor: pointer }</style>",
}


@pytest.mark.parametrize("editor", TOLD.values(), ids=TOLD)
async def test_the_lines_of_a_code_editor_are_told_after_its_field_and_their_numbers_are_not(
    hand: Hand, editor: str
) -> None:
    view = await hand.show(editor)
    assert [node.role for node in view.elements] == ["textbox"]
    assert view.text.partition("\n")[2].splitlines() == ["let a;", "let b;"]


@pytest.mark.parametrize("editor", EDITORS.values(), ids=EDITORS)
async def test_a_code_editor_is_typed_into_added_to_and_cleared(hand: Hand, editor: str) -> None:
    index = (await hand.show(editor)).index("Code")
    await hand.do("input_text", index=index, text="for (;;) {\n}")
    assert await hand.script("content()") == "for (;;) {\n}"
    await hand.do("input_text", index=index, text=" end", append=True)
    assert await hand.script("content()") == "for (;;) {\n} end"
    await hand.do("input_text", index=index, text="")
    assert await hand.script("content()") == ""


async def test_a_place_in_an_editor_is_found_by_its_text_and_typed_at(hand: Hand) -> None:
    await hand.show("<div contenteditable aria-label=Note><p>One</p><p>Two <b>halves</b></p></div>")
    index = re.search(r'\[(\d+)\] text "Two halves"', await hand.find(text="two"))
    assert index is not None
    await hand.click(int(index[1]))
    await hand.do("send_keys", keys="Home")
    await hand.do("send_keys", keys="Not ")
    assert await hand.script("document.body.innerText.trim()") == "One\n\nNot Two halves"
