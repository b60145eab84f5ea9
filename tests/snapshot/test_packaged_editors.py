"""Editors from packages are typed into as by a person; they hold the text, the snapshot tells its lines."""

import re

import pytest

from benchmarks.wholeness.first import FIRST
from benchmarks.wholeness.second import SECOND
from benchmarks.wholeness.stage import Stage, prepare
from tests.snapshot.hand import Hand

pytestmark = pytest.mark.apps

MODELS = {
    "CodeMirror": """() => {
        const tile = document.querySelector('.cm-content').cmTile;
        return tile.view.state.doc.toString();
    }""",
    "Monaco": "() => monaco.editor.getModels()[0].getValue()",
    "Quill": "() => Quill.find(document.querySelector('#letter')).getText()",
    "Tiptap": "() => document.querySelector('.ProseMirror').editor.getHTML()",
    "Lexical": """() => {
        const told = node => node.type === 'paragraph' || node.type === 'heading'
            ? node.children.map(told).join('') + '\\n'
            : node.text ?? (node.type === 'linebreak' ? '\\n' : node.children.map(told).join(''));
        return told(document.querySelector('#text').__lexicalEditor.getEditorState().toJSON().root);
    }""",
    "CKEditor": "() => document.querySelector('.ck-editor__editable').ckeditorInstance.getData()",
}
"""How each editor is asked what it holds: text, or HTML."""
CODE = ("CodeMirror", "Monaco")
"""These keep each space."""


@pytest.mark.parametrize("name", MODELS)
async def test_an_editor_holds_what_was_typed_line_by_line(hand: Hand, stage: Stage, name: str) -> None:
    (page,) = (page for page in (*FIRST, *SECOND) if page.name == name)
    await hand.tab.goto(stage.address(page))
    await prepare(hand.tab.page, page.steps)
    index = (await hand.look()).of_role("textbox")[0].index

    async def held() -> list[str]:
        """The lines that the editor itself says it holds."""
        text = re.sub(r"<[^>]*>", "\n", await hand.script(MODELS[name])).replace("&nbsp;", " ")
        return [line if name in CODE else line.strip() for line in text.split("\n") if line.strip()]

    async def told() -> list[str]:
        """The lines that the snapshot says it holds."""
        view = await hand.look()
        value = re.search(r'value="((?:[^"\\]|\\.)*)"', str(view.of_role("textbox")[0]))
        return value[1].split("⏎") if value else view.text.splitlines()

    await hand.do("input_text", index=index, text="Only this.")
    assert await held() == ["Only this."]
    await hand.do("input_text", index=index, text="if (a) {\n  say('x');\n}")
    code = ["if (a) {", "  say('x');", "}"]
    assert await held() == (code if name in CODE else [line.strip() for line in code])
    await hand.do("input_text", index=index, text=" So:\n\nthe end", append=True)
    assert [line.strip() for line in await held()] == ["if (a) {", "say('x');", "} So:", "the end"]
    lines = [line.strip() for line in await told()]
    assert [line for line in lines if line in ("if (a) {", "say('x');", "} So:", "the end")] == [
        *("if (a) {", "say('x');", "} So:", "the end")
    ]
    await hand.do("input_text", index=index, text="")
    assert await held() == []
