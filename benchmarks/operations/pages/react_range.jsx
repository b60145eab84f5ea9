import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Range } from "react-range";
function Slider({ name, step, min, max, initial }) {
  const [values, setValues] = useState(initial);
  window[name] = values;
  return <><h2>{name}</h2><Range label={name} step={step} min={min} max={max} values={values} onChange={setValues} renderTrack={({ props, children }) => <div {...props} style={{ ...props.style, height: 6, width: 400, margin: 30, background: "silver" }}>{children}</div>} renderThumb={({ props, index }) => <div {...props} key={props.key} aria-label={`${name} ${["from", "to"][index]}`} style={{ ...props.style, height: 24, width: 24, background: "teal" }} />} /><output>{values.join(" – ")}</output></>;
}
createRoot(document.getElementById("root")).render(<main><Slider name="Rent" step={50} min={300} max={2000} initial={[500, 1500]} /><Slider name="Distance" step={0.5} min={0} max={20} initial={[5]} /></main>);
