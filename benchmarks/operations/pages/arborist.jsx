import { createRoot } from "react-dom/client";
import { Tree } from "react-arborist";
const data = [{ id: "1", name: "Inbox" }, { id: "2", name: "Projects", children: [{ id: "21", name: "Garden" }, { id: "22", name: "Kitchen" }] }, { id: "3", name: "Archive", children: [{ id: "31", name: "Taxes 2024" }] }, ...Array.from({ length: 80 }, (_, n) => ({ id: `m${n}`, name: `Memo ${n + 1}` }))];
function Node({ node, style, dragHandle }) {
  return <div ref={dragHandle} style={style} onDoubleClick={() => node.edit()}>
    {node.isInternal && <span onClick={() => node.toggle()}>{node.isOpen ? "▾ " : "▸ "}</span>}
    {node.isEditing ? <input autoFocus defaultValue={node.data.name} onBlur={() => node.reset()} onKeyDown={(event) => { if (event.key === "Enter") node.submit(event.currentTarget.value); if (event.key === "Escape") node.reset(); }} /> : <span>{node.data.name}</span>}
  </div>;
}
const App = () => <><h1>Folders</h1><Tree ref={(tree) => { if (tree) window.tree = tree; }} initialData={data} openByDefault={false} width={360} height={320} rowHeight={28}>{Node}</Tree></>;
createRoot(document.getElementById("root")).render(<App />);
