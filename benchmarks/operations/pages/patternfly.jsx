import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Select, SelectOption, SelectList, MenuToggle, NumberInput, Slider, DatePicker, DualListSelector, TreeView, ExpandableSection } from "@patternfly/react-core";
import "@patternfly/react-core/dist/styles/base.css";
const state = (window.state = { replicas: 2, memory: 40, zone: "", day: "2026-10-14" });
function App() {
  const [open, setOpen] = useState(false);
  const [, draw] = useState(0);
  const put = (key, value) => { state[key] = value; draw((n) => n + 1); };
  return <main style={{ padding: 24 }}><h1>New deployment</h1>
    <p>Zone</p><Select isOpen={open} selected={state.zone} onOpenChange={setOpen} onSelect={(_, value) => { put("zone", value); setOpen(false); }} toggle={(ref) => <MenuToggle ref={ref} onClick={() => setOpen(!open)} isExpanded={open}>{state.zone || "Choose a zone"}</MenuToggle>}><SelectList>{["Frankfurt", "Dublin", "Milan"].map((zone) => <SelectOption key={zone} value={zone}>{zone}</SelectOption>)}</SelectList></Select>
    <p>Replicas</p><NumberInput value={state.replicas} onMinus={() => put("replicas", state.replicas - 1)} onPlus={() => put("replicas", state.replicas + 1)} onChange={(event) => put("replicas", Number(event.target.value))} inputName="replicas" inputAriaLabel="Replicas" minusBtnAriaLabel="Fewer" plusBtnAriaLabel="More" />
    <p>Memory</p><Slider value={state.memory} aria-label="Memory" onChange={(_, value) => put("memory", value)} />
    <p>First run</p><DatePicker value={state.day} onChange={(_, value) => put("day", value)} />
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
