import { EditorState } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { DOMParser } from "prosemirror-model";
import { schema } from "prosemirror-schema-basic";
import { exampleSetup } from "prosemirror-example-setup";
import "prosemirror-view/style/prosemirror.css";
import "prosemirror-menu/style/menu.css";
document.getElementById("root").innerHTML = `<h1>Minutes</h1><div id="editor" style="border: 1px solid silver"></div><div id="content" hidden><p>Present: Olga and Piet.</p><p>Nothing was decided.</p></div>`;
window.view = new EditorView(document.getElementById("editor"), { state: EditorState.create({ doc: DOMParser.fromSchema(schema).parse(document.getElementById("content")), plugins: exampleSetup({ schema }) }) });
