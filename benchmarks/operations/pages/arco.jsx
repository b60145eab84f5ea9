import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Transfer, TreeSelect, InputTag, TimePicker, Rate } from "@arco-design/web-react";
import "@arco-design/web-react/dist/css/arco.css";
const tree = [{ title: "Trunk", key: "trunk", children: [{ title: "Branch", key: "branch", children: [{ title: "Leaf", key: "leaf" }] }] }, { title: "Root", key: "roots", children: [{ title: "Hair root", key: "hair" }] }];
const state = (window.state = {});
function Field({ label, as: Component, initial, prop = "value", ...more }) {
  const [value, setValue] = useState(initial);
  state[label] = value;
  return <div style={{ margin: 12 }}><p>{label}</p><Component {...{ [prop]: value }} onChange={setValue} {...more} /></div>;
}
createRoot(document.getElementById("root")).render(<main>
  <Field label="Guests" as={Transfer} prop="targetKeys" initial={["Dora"]} dataSource={["Anton", "Berta", "Carla", "Dora"].map((value) => ({ key: value, value }))} titleTexts={["Invited", "Coming"]} />
  <Field label="Part of the tree" as={TreeSelect} treeData={tree} placeholder="Choose a part" style={{ width: 300 }} />
  <Field label="Keywords" as={InputTag} initial={["old"]} placeholder="Type and press Enter" style={{ width: 300 }} />
  <Field label="Alarm" as={TimePicker} initial={undefined} format="HH:mm" placeholder="Choose a time" />
  <Field label="Taste" as={Rate} initial={2} tooltips={["awful", "poor", "fair", "good", "great"]} />
</main>);
