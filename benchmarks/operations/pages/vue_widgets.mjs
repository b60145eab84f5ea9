import { createApp, h, reactive } from "vue";
import { VueDatePicker } from "@vuepic/vue-datepicker";
import VueformSlider from "@vueform/slider";
import "@vuepic/vue-datepicker/dist/main.css";
import "@vueform/slider/themes/default.css";
const state = (window.state = reactive({ date: new Date(2026, 9, 14, 9, 0), price: [20, 70] }));
const bind = (key) => ({ modelValue: state[key], "onUpdate:modelValue": (value) => (state[key] = value) });
createApp({ setup: () => () => h("main", { style: "width: 420px; padding: 24px" }, [h("h1", "Auction"), h("p", "Starts"), h(VueDatePicker, { ...bind("date") }), h("p", { style: "margin-bottom: 60px" }, "Price range"), h(VueformSlider, { ...bind("price"), ariaLabelledby: "price" })]) }).mount("#root");
