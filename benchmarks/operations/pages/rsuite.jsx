import { createRoot } from "react-dom/client";
import { useState } from "react";
import { Cascader, CheckPicker, CheckTreePicker, DateRangePicker, RangeSlider, TagPicker } from "rsuite";
import "rsuite/dist/rsuite.min.css";
const items = (...labels) => labels.map((label) => ({ label, value: label.toLowerCase() }));
const places = [{ label: "Europe", value: "eu", children: [{ label: "Spain", value: "es", children: items("Madrid", "Seville") }, { label: "Italy", value: "it", children: items("Turin", "Naples") }] }, { label: "Asia", value: "as", children: [{ label: "Japan", value: "jp", children: items("Osaka", "Kyoto") }] }];
const state = (window.state = {});
function Field({ label, as: Component, initial, ...more }) {
  const [value, setValue] = useState(initial);
  state[label] = value;
  return <p><label htmlFor={label}>{label}</label><br /><Component id={label} value={value} onChange={setValue} style={{ width: 300 }} {...more} /></p>;
}
createRoot(document.getElementById("root")).render(<main>
  <Field label="Town" as={Cascader} data={places} />
  <Field label="Languages" as={CheckPicker} data={items("Arabic", "Bengali", "Czech", "Danish", "Estonian", "Finnish", "Greek")} />
  <Field label="Skills" as={TagPicker} data={items("Baking", "Brewing", "Carving", "Sewing")} />
  <Field label="Regions" as={CheckTreePicker} data={places} defaultExpandAll />
  <Field label="Stay" as={DateRangePicker} initial={null} defaultCalendarValue={[new Date(2026, 9, 1), new Date(2026, 10, 1)]} oneTap={false} />
  <Field label="Budget" as={RangeSlider} initial={[20, 60]} />
</main>);
