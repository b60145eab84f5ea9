import "data:text/javascript,globalThis.global = globalThis";
import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Editor, EditorState, ContentState, RichUtils, convertToRaw } from "draft-js";
import "draft-js/dist/Draft.css";
function App() {
  const [state, setState] = useState(() => EditorState.createWithContent(ContentState.createFromText("Dear tenants,\nthe lift is out of order.")));
  window.raw = convertToRaw(state.getCurrentContent());
  const toggle = (style) => (event) => { event.preventDefault(); setState(RichUtils.toggleInlineStyle(state, style)); };
  const block = (kind) => (event) => { event.preventDefault(); setState(RichUtils.toggleBlockType(state, kind)); };
  return <main><h1>Notice</h1><p><button onMouseDown={toggle("BOLD")}>Bold</button><button onMouseDown={toggle("ITALIC")}>Italic</button><button onMouseDown={block("header-two")}>Heading</button></p><div style={{ border: "1px solid", padding: 8 }}><Editor editorState={state} onChange={setState} ariaLabel="Text of the notice" /></div></main>;
}
createRoot(document.getElementById("root")).render(<App />);
