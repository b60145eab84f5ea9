import "@mantine/core/styles.css";
import { createRoot } from "react-dom/client";
import { useState } from "react";
import * as M from "@mantine/core";

function Garden() {
  const [open, setOpen] = useState(false);
  return (
    <M.MantineProvider>
      <M.Container>
        <M.TextInput label="Name" error="Needed" /><M.PasswordInput label="Word" /><M.NumberInput label="Beds" defaultValue={3} />
        <M.Select label="Soil" data={["Clay", "Sand"]} clearable defaultValue="Clay" id="soil" /><M.MultiSelect label="Plants" data={["Leek", "Kale"]} defaultValue={["Leek"]} /><M.TagsInput label="Tags" defaultValue={["new"]} />
        <M.Slider defaultValue={30} thumbLabel="Water" /><M.RangeSlider defaultValue={[20, 60]} />
        <M.Switch label="Lights" /><M.Checkbox label="Fence" /><M.Radio.Group label="Sun"><M.Radio value="a" label="Full" /><M.Radio value="b" label="Half" /></M.Radio.Group>
        <M.SegmentedControl data={["Day", "Week"]} /><M.Rating defaultValue={2} /><M.ColorInput label="Colour" /><M.FileInput label="Plan" /><M.Chip>Organic</M.Chip><M.PinInput length={4} />
        <M.Menu><M.Menu.Target><M.Button id="more">More</M.Button></M.Menu.Target><M.Menu.Dropdown><M.Menu.Item>Copy</M.Menu.Item><M.Menu.Item>Move</M.Menu.Item></M.Menu.Dropdown></M.Menu>
        <M.Tabs defaultValue="a"><M.Tabs.List><M.Tabs.Tab value="a">Beds</M.Tabs.Tab><M.Tabs.Tab value="b">Tools</M.Tabs.Tab></M.Tabs.List></M.Tabs>
        <M.Accordion><M.Accordion.Item value="x"><M.Accordion.Control>History</M.Accordion.Control><M.Accordion.Panel>Nothing</M.Accordion.Panel></M.Accordion.Item></M.Accordion>
        <M.Stepper active={1} onStepClick={() => {}}><M.Stepper.Step label="Dig" /><M.Stepper.Step label="Sow" /></M.Stepper><M.Pagination total={10} /><M.NavLink label="Home" href="#h" />
        <M.Button id="ask" onClick={() => setOpen(true)}>Delete</M.Button>
        <M.Modal opened={open} onClose={() => setOpen(false)} title="Sure?" transitionProps={{ duration: 0 }}><M.Button>Delete</M.Button></M.Modal>
      </M.Container>
    </M.MantineProvider>
  );
}
createRoot(document.getElementById("root")).render(<Garden />);
