import { createRoot } from "react-dom/client";
import { useState } from "react";
import DualListBox from "react-dual-listbox";
import "react-dual-listbox/lib/react-dual-listbox.css";
const options = ["Drums", "Flute", "Guitar", "Harp", "Oboe", "Piano", "Violin"].map((label) => ({ value: label.toLowerCase(), label }));
function App() {
  const [selected, setSelected] = useState(["harp"]);
  window.selected = selected;
  return <><h1>Instruments</h1><DualListBox canFilter options={options} selected={selected} onChange={setSelected} icons={{ moveToAvailable: "‹", moveAllToAvailable: "«", moveToSelected: "›", moveAllToSelected: "»" }} showHeaderLabels /></>;
}
createRoot(document.getElementById("root")).render(<App />);
