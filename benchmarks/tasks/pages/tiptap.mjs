import { Editor } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";

const root = document.getElementById("root");
root.innerHTML = `<h1>Minutes</h1><div role="toolbar" aria-label="Format"><button id="bold">Bold</button><button id="list">List</button></div>
<div id="text"></div><button id="save">Save</button><p id="said"></p>`;
const at = (id) => document.getElementById(id);
const editor = new Editor({
  element: at("text"), extensions: [StarterKit], content: "<h2>Today</h2><p>Nothing yet.</p>",
  editorProps: {attributes: {"aria-label": "Minutes"}},
});
at("bold").onclick = () => editor.chain().focus().toggleBold().run();
at("list").onclick = () => editor.chain().focus().toggleBulletList().run();
at("save").onclick = async () => {
  await fetch("/noted", {method: "POST", body: JSON.stringify(editor.getHTML())});
  at("said").textContent = "The minutes are saved.";
};
