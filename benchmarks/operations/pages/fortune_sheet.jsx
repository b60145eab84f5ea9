import { createRoot } from "react-dom/client";
import { Workbook } from "@fortune-sheet/react";
import "@fortune-sheet/react/dist/index.css";
const cell = (r, c, v) => ({ r, c, v: { v, m: String(v) } });
const sheets = [{ id: "costs", name: "Costs", status: 1, row: 30, column: 12, celldata: [cell(0, 0, "Rent"), cell(0, 1, 700), cell(1, 0, "Food"), cell(1, 1, 250)] }];
createRoot(document.getElementById("root")).render(<div style={{ height: 600 }}><Workbook lang="en" data={sheets} ref={(book) => (window.book = book)} /></div>);
