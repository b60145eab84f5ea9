import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Button, Card, HTMLSelect, Menu, MenuItem, NumericInput, Popover, RangeSlider, TagInput, Tree, FormGroup, EditableText, ContextMenu } from "@blueprintjs/core";
import "@blueprintjs/core/lib/css/blueprint.css";
const state = (window.state = { tags: ["old"], range: [2, 8] });
function App() {
  const [tags, setTags] = useState(["old"]);
  const [range, setRange] = useState([2, 8]);
  Object.assign(state, { tags, range });
  return <main style={{ width: 460, margin: 24 }}><h1><EditableText defaultValue="Untitled report" onConfirm={(text) => (state.title = text)} /></h1>
    <FormGroup label="Tags" labelFor="tags"><TagInput inputProps={{ id: "tags" }} values={tags} onChange={setTags} placeholder="Add a tag" /></FormGroup>
    <FormGroup label="Copies" labelFor="copies"><NumericInput id="copies" defaultValue={1} onValueChange={(value) => (state.copies = value)} /></FormGroup>
    <FormGroup label="Floors"><RangeSlider min={0} max={10} value={range} onChange={setRange} handleHtmlProps={{ start: { "aria-label": "Lowest floor" }, end: { "aria-label": "Highest floor" } }} /></FormGroup>
    <Popover placement="bottom" content={<Menu><MenuItem text="Print" onClick={() => (state.chosen = "print")} /><MenuItem text="Export as"><MenuItem text="PDF file" onClick={() => (state.chosen = "pdf")} /><MenuItem text="CSV file" onClick={() => (state.chosen = "csv")} /></MenuItem></Menu>}><Button text="Actions" /></Popover>
    <ContextMenu content={<Menu><MenuItem text="Duplicate card" onClick={() => (state.chosen = "duplicate")} /></Menu>}><Card style={{ marginTop: 16 }}>Quarterly numbers</Card></ContextMenu>
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
