import { createRoot } from "react-dom/client";
import ReactFlow, { addEdge, Controls, useEdgesState, useNodesState } from "reactflow";
import "reactflow/dist/style.css";
const start = [["order", "Order", 40, 40], ["pack", "Pack", 40, 200], ["ship", "Ship", 300, 200]].map(([id, label, x, y]) => ({ id, data: { label }, position: { x, y } }));
function App() {
  const [nodes, , onNodesChange] = useNodesState(start);
  const [edges, setEdges, onEdgesChange] = useEdgesState([{ id: "e", source: "order", target: "pack" }]);
  Object.assign(window, { nodes, edges });
  return <main><h1>Warehouse</h1><div style={{ width: 700, height: 450 }}><ReactFlow nodes={nodes} edges={edges} onNodesChange={onNodesChange} onEdgesChange={onEdgesChange} onConnect={(edge) => setEdges((now) => addEdge(edge, now))}><Controls /></ReactFlow></div></main>;
}
createRoot(document.getElementById("root")).render(<App />);
