import { useMemo } from "react";
import { createRoot } from "react-dom/client";
import { createEditor, Editor } from "slate";
import { Editable, Slate, withReact } from "slate-react";
const Leaf = ({ attributes, children, leaf }) => <span {...attributes}>{leaf.bold ? <strong>{children}</strong> : children}</span>;
function App() {
  const editor = useMemo(() => (window.editor = withReact(createEditor())), []);
  const bold = (event) => { event.preventDefault(); Editor.addMark(editor, "bold", true); };
  return <><h1>Diary</h1><Slate editor={editor} initialValue={[{ type: "paragraph", children: [{ text: "It rained." }] }]}><button onMouseDown={bold}>Bold</button><Editable renderLeaf={Leaf} placeholder="What happened today?" style={{ border: "1px solid", padding: 8 }} /></Slate></>;
}
createRoot(document.getElementById("root")).render(<App />);
