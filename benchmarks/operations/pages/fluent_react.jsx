import { useState } from "react";
import { createRoot } from "react-dom/client";
import { ComboBox, Dropdown, DatePicker, SpinButton, Slider, Toggle, Rating } from "@fluentui/react";
const state = (window.state = { people: [] });
const options = (names) => names.map((text) => ({ key: text.toLowerCase(), text }));
function App() {
  const [people, setPeople] = useState([]);
  state.people = people;
  return <main style={{ width: 320, margin: 24 }}><h1>Meeting</h1>
    <ComboBox label="Room" options={options(["Aspen", "Birch", "Cedar"])} allowFreeform onChange={(_, option) => (state.room = option?.key)} />
    <Dropdown label="People" placeholder="Nobody yet" multiSelect selectedKeys={people} options={options(["Anke", "Björn", "Clara", "David"])} onChange={(_, option) => setPeople((now) => option.selected ? [...now, option.key] : now.filter((one) => one !== option.key))} />
    <DatePicker label="Day" initialPickerDate={new Date(2026, 9, 14)} onSelectDate={(day) => (state.day = day)} placeholder="Pick a day" />
    <SpinButton label="Hours" defaultValue="2" min={1} max={8} onChange={(_, value) => (state.hours = value)} />
    <Slider label="Volume" max={50} defaultValue={10} onChange={(value) => (state.volume = value)} />
    <Toggle label="Video call" onText="On" offText="Off" onChange={(_, on) => (state.video = on)} />
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
