import { createRoot } from "react-dom/client";
import { useState } from "react";
import { GroupedVirtuoso, Virtuoso } from "react-virtuoso";
const checked = (window.checked = new Set());
function Row({ name }) {
  const [on, setOn] = useState(checked.has(name));
  const toggle = () => { checked[on ? "delete" : "add"](name); setOn(!on); };
  return <label style={{ display: "block", padding: 6 }}><input type="checkbox" checked={on} onChange={toggle} /> {name}</label>;
}
createRoot(document.getElementById("root")).render(<main>
  <h2>Letters</h2><Virtuoso style={{ height: 240, width: 320 }} totalCount={2000} itemContent={(index) => <Row name={`Letter ${index + 1}`} />} />
  <h2>Contacts</h2><GroupedVirtuoso style={{ height: 240, width: 320 }} groupCounts={Array(26).fill(12)} groupContent={(index) => <div style={{ background: "silver", padding: 4 }}>{String.fromCharCode(65 + index)}</div>} itemContent={(index, group) => <Row name={`${String.fromCharCode(65 + group)}. Person ${index + 1}`} />} />
</main>);
