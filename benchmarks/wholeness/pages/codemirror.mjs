import { basicSetup, EditorView } from "codemirror";
import { javascript } from "@codemirror/lang-javascript";

const root = document.getElementById("root");
root.innerHTML = "<h1>Script</h1><button>Run</button>";
const doc = Array.from({ length: 60 }, (_, n) => `function step${n + 1}(value) {\n  return value + ${n};\n}`).join("\n");
new EditorView({ doc, extensions: [basicSetup, javascript(), EditorView.theme({ "&": { height: "360px" }, ".cm-scroller": { overflow: "auto" } })], parent: root });
