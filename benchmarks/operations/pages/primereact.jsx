import { useState } from "react";
import { createRoot } from "react-dom/client";
import { CascadeSelect } from "primereact/cascadeselect";
import { Knob } from "primereact/knob";
import { OrderList } from "primereact/orderlist";
import { Chips } from "primereact/chips";
import { SelectButton } from "primereact/selectbutton";
import { TreeSelect } from "primereact/treeselect";
import "primereact/resources/themes/lara-light-blue/theme.css";
import "primereact/resources/primereact.min.css";
const places = [{ name: "Norway", towns: [{ town: "Bergen" }, { town: "Tromsø" }] }, { name: "Italy", towns: [{ town: "Bari" }, { town: "Genoa" }] }];
const nodes = [{ key: "a", label: "Fruit", children: [{ key: "a1", label: "Quince" }] }, { key: "b", label: "Grain", children: [{ key: "b1", label: "Spelt" }] }];
const state = (window.state = {});
function App() {
  const [value, setValue] = useState({ knob: 40, songs: ["Overture", "Waltz", "March"], chips: ["new"] });
  Object.assign(state, value);
  const put = (key) => (event) => setValue((now) => ({ ...now, [key]: event.value }));
  return <main style={{ padding: 20, width: 500 }}><h1>Concert</h1>
    <p id="town">Town</p><CascadeSelect aria-labelledby="town" placeholder="Pick a town" value={value.town} onChange={put("town")} options={places} optionLabel="town" optionGroupLabel="name" optionGroupChildren={["towns"]} />
    <p>Loudness</p><Knob value={value.knob} onChange={put("knob")} />
    <p>Programme</p><OrderList value={value.songs} onChange={put("songs")} itemTemplate={(song) => song} header="Pieces" dragdrop />
    <p>Catering</p><TreeSelect value={value.food} onChange={put("food")} options={nodes} placeholder="No food" />
    <p>Seats</p><SelectButton value={value.seats} onChange={put("seats")} options={["Stalls", "Balcony"]} />
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
