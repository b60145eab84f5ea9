import { useState } from "react";
import { createRoot } from "react-dom/client";
import { MultiSelect } from "react-multi-select-component";
const options = ["Ash", "Beech", "Birch", "Elm", "Larch", "Maple", "Oak"].map((label) => ({ label, value: label.toLowerCase() }));
function App() {
  const [trees, setTrees] = useState([]);
  window.trees = trees.map((one) => one.label);
  return <div style={{ width: 320 }}><h2 id="trees">Trees</h2><MultiSelect options={options} value={trees} onChange={setTrees} labelledBy="trees" /></div>;
}
createRoot(document.getElementById("root")).render(<App />);
