import "@xyflow/react/dist/style.css";
import { createRoot } from "react-dom/client";
import { Background, Controls, MiniMap, Panel, ReactFlow } from "@xyflow/react";

const nodes = [
  { id: "1", type: "input", position: { x: 40, y: 40 }, data: { label: "Source" } },
  { id: "2", position: { x: 260, y: 140 }, data: { label: <div>Filter <input className="nodrag" aria-label="Words" /></div> } },
  { id: "3", type: "output", position: { x: 480, y: 240 }, data: { label: "Mail" } },
];
const edges = [{ id: "a", source: "1", target: "2", label: "all" }, { id: "b", source: "2", target: "3", animated: true }];
createRoot(document.getElementById("root")).render(
  <div style={{ height: 480 }}><ReactFlow defaultNodes={nodes} defaultEdges={edges}><Panel><button>Add a node</button></Panel><Controls /><MiniMap /><Background /></ReactFlow></div>,
);
