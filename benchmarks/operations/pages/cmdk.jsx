import { createRoot } from "react-dom/client";
import { useState } from "react";
import { Command } from "cmdk";
function Side() {
  const [open, setOpen] = useState(false);
  const [side, setSide] = useState("left");
  return <main><button role="combobox" aria-expanded={open} aria-label="Side" id="side" onClick={() => setOpen(!open)}>{side}</button>{open && <Command label="Sides"><Command.Input placeholder="Find" /><Command.List>{["top", "bottom", "left", "right"].map((name) => <Command.Item key={name} onSelect={() => { setSide(name); setOpen(false); }}>{name}</Command.Item>)}</Command.List></Command>}</main>;
}
createRoot(document.getElementById("root")).render(<Side />);
