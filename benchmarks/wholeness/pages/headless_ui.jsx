import { createRoot } from "react-dom/client";
import { useState } from "react";
import { Checkbox, Combobox, ComboboxButton, ComboboxInput, ComboboxOption, ComboboxOptions, Dialog, DialogPanel, DialogTitle, Disclosure, DisclosureButton, DisclosurePanel, Field, Label, Listbox, ListboxButton, ListboxOption, ListboxOptions, Menu, MenuButton, MenuItem, MenuItems, Radio, RadioGroup, Switch, Tab, TabGroup, TabList, TabPanel, TabPanels } from "@headlessui/react";

function Profile() {
  const [open, setOpen] = useState(false);
  const [who, setWho] = useState("Ann");
  return (
    <main>
      <Menu><MenuButton id="more">More</MenuButton><MenuItems><MenuItem><a href="#s">Settings</a></MenuItem><MenuItem><button>Sign out</button></MenuItem></MenuItems></Menu>
      <Field><Label>News</Label><Switch style={{ width: 40, height: 20 }} /></Field><Field><Checkbox style={{ display: "inline-block", width: 16, height: 16, border: "1px solid" }} /><Label>Terms</Label></Field>
      <RadioGroup defaultValue="a" aria-label="Plan">{["Free", "Paid"].map((plan) => <Field key={plan}><Radio value={plan} style={{ display: "inline-block", width: 16, height: 16, border: "1px solid" }} /><Label>{plan}</Label></Field>)}</RadioGroup>
      <Listbox value={who} onChange={setWho}><ListboxButton id="who">{who}</ListboxButton><ListboxOptions>{["Ann", "Bob"].map((name) => <ListboxOption key={name} value={name}>{name}</ListboxOption>)}</ListboxOptions></Listbox>
      <Combobox value={who} onChange={setWho}><ComboboxInput aria-label="Friend" /><ComboboxButton>▾</ComboboxButton><ComboboxOptions>{["Ann", "Bob"].map((name) => <ComboboxOption key={name} value={name}>{name}</ComboboxOption>)}</ComboboxOptions></Combobox>
      <TabGroup><TabList><Tab>Posts</Tab><Tab>Likes</Tab></TabList><TabPanels><TabPanel><button>Write</button></TabPanel><TabPanel>None</TabPanel></TabPanels></TabGroup>
      <Disclosure><DisclosureButton>History</DisclosureButton><DisclosurePanel>Nothing</DisclosurePanel></Disclosure>
      <button id="ask" onClick={() => setOpen(true)}>Delete</button>
      <Dialog open={open} onClose={() => setOpen(false)}><DialogPanel><DialogTitle>Sure?</DialogTitle><button onClick={() => setOpen(false)}>Keep</button><button>Delete</button></DialogPanel></Dialog>
    </main>
  );
}
createRoot(document.getElementById("root")).render(<Profile />);
