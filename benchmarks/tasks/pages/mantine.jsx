import "@mantine/core/styles.css";
import { createRoot } from "react-dom/client";
import { useState } from "react";
import * as M from "@mantine/core";

function Garden() {
  const [bed, setBed] = useState({ name: "", soil: "Clay", plants: ["Leek"], sun: "full", lights: false });
  const [open, setOpen] = useState(false);
  const [said, setSaid] = useState("");
  const set = (name) => (value) => setBed({ ...bed, [name]: value });
  const plant = async () => {
    await fetch("/noted", { method: "POST", body: JSON.stringify(bed) });
    setOpen(false);
    setSaid(`${bed.name} is planted.`);
  };
  return (
    <M.MantineProvider>
      <M.Container>
        <h1>Garden</h1>
        <M.TextInput label="Name" value={bed.name} onChange={(event) => set("name")(event.currentTarget.value)} />
        <M.Select label="Soil" data={["Clay", "Sand", "Loam"]} value={bed.soil} onChange={set("soil")} />
        <M.MultiSelect label="Plants" data={["Leek", "Kale", "Chard"]} value={bed.plants} onChange={set("plants")} />
        <M.Radio.Group label="Sun" value={bed.sun} onChange={set("sun")}><M.Radio value="full" label="Full" /><M.Radio value="half" label="Half" /></M.Radio.Group>
        <M.Switch label="Lights" checked={bed.lights} onChange={(event) => set("lights")(event.currentTarget.checked)} />
        <M.Button onClick={() => setOpen(true)}>Plant</M.Button>
        <M.Modal opened={open} onClose={() => setOpen(false)} title="Plant it now?"><M.Button onClick={plant}>Plant it</M.Button></M.Modal>
        <p>{said}</p>
      </M.Container>
    </M.MantineProvider>
  );
}
createRoot(document.getElementById("root")).render(<Garden />);
