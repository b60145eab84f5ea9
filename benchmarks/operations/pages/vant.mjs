import { createApp, h, reactive } from "vue";
import { Stepper, Switch, Rate, Picker, Slider, Uploader, Checkbox, Cell, CellGroup, Collapse, CollapseItem, SwipeCell, Button } from "vant";
import "vant/lib/index.css";
const state = (window.state = reactive({ nights: 2, breakfast: false, stars: 2, room: ["double"], warmth: 20, photos: [] }));
const bind = (key) => ({ modelValue: state[key], "onUpdate:modelValue": (value) => (state[key] = value) });
createApp({ setup: () => () => h("main", { style: "width: 400px; padding: 16px" }, [h("h1", "Hotel"), h(CellGroup, () => [h(Cell, { title: "Nights" }, () => h(Stepper, { ...bind("nights") })), h(Cell, { title: "Breakfast" }, () => h(Switch, { ...bind("breakfast"), "aria-label": "Breakfast" })), h(Cell, { title: "Stars wanted" }, () => h(Rate, { ...bind("stars") })), h(Cell, { title: "Warmth" }, () => h("div", { style: "width: 150px; padding: 10px" }, h(Slider, { ...bind("warmth") })))]), h(Picker, { title: "Room", showToolbar: false, columns: ["single", "double", "suite"].map((value) => ({ text: `A ${value}`, value })), ...bind("room") }), h("p", "Photos of your passport"), h(Uploader, { ...bind("photos") })]) }).mount("#root");
