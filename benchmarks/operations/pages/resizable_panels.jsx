import { createRoot } from "react-dom/client";
import { Group, Panel, Separator } from "react-resizable-panels";
const bar = { width: 8, background: "silver" };
createRoot(document.getElementById("root")).render(<Group style={{ height: 300, width: 1000 }} onLayoutChange={(layout) => (window.layout = layout)}><Panel id="files" defaultSize="25%" minSize="10%"><h2>Files</h2></Panel><Separator style={bar} aria-label="Width of files" /><Panel id="text"><h2>Text</h2></Panel><Separator style={bar} aria-label="Width of outline" /><Panel id="outline" defaultSize="20%" minSize="10%"><h2>Outline</h2></Panel></Group>);
