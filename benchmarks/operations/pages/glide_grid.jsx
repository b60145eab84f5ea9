import { useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { DataEditor, GridCellKind } from "@glideapps/glide-data-grid";
import "@glideapps/glide-data-grid/dist/index.css";
const rows = (window.rows = Array.from({ length: 500 }, (_, at) => [`Part ${at + 1}`, String(at * 3), `Shelf ${at % 7}`]));
function App() {
  const [, draw] = useState(0);
  return <main><h1>Stock</h1><DataEditor width={700} height={400} rows={rows.length} columns={["Part", "Stock", "Shelf"].map((title) => ({ title, id: title, width: 180 }))} getCellContent={([column, row]) => ({ kind: GridCellKind.Text, data: rows[row][column], displayData: rows[row][column], allowOverlay: true })} onCellEdited={([column, row], cell) => { rows[row][column] = cell.data; draw((n) => n + 1); }} onCellClicked={(place) => (window.clicked = place)} /><div id="portal" style={{ position: "fixed", left: 0, top: 0, zIndex: 9999 }} /></main>;
}
createRoot(document.getElementById("root")).render(<App />);
