import { useState } from "react";
import { createRoot } from "react-dom/client";
import { HexAlphaColorPicker, HexColorInput } from "react-colorful";
function App() {
  const [color, setColor] = useState("#aa3355ff");
  window.color = color;
  return <><h2>Wall paint</h2><HexAlphaColorPicker color={color} onChange={setColor} /><label>Code <HexColorInput color={color} onChange={setColor} prefixed alpha /></label></>;
}
createRoot(document.getElementById("root")).render(<App />);
