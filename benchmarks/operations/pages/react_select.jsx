import { createRoot } from "react-dom/client";
import Select from "react-select";
const options = ["Ocean", "Forest", "Desert"].map((label) => ({ label, value: label.toLowerCase() }));
createRoot(document.getElementById("root")).render(<main><h1>Places</h1><Select options={options} aria-label="Place" name="place" /><Select isMulti options={options} aria-label="Places" name="places" /></main>);
