import { createApp, h, ref } from "vue";
import Multiselect from "vue-multiselect";
import "vue-multiselect/dist/vue-multiselect.css";
const state = (window.state = { stack: ref([]), meal: ref(null), labels: ref(["urgent"]) });
const bind = (key) => ({ modelValue: state[key].value, "onUpdate:modelValue": (value) => (state[key].value = value) });
const menu = [{ kind: "Soups", meals: [{ name: "Lentil soup" }, { name: "Leek soup" }] }, { kind: "Cakes", meals: [{ name: "Apple cake" }, { name: "Plum cake" }] }];
const labels = ref(["urgent", "later"]);
createApp({ setup: () => () => h("main", { style: "width: 340px" }, [
  h("h2", "Tools"), h(Multiselect, { options: ["Chisel", "Hammer", "Pliers", "Saw", "Spanner"], multiple: true, closeOnSelect: false, placeholder: "Pick some tools", ...bind("stack") }),
  h("h2", "Meal"), h(Multiselect, { options: menu, groupLabel: "kind", groupValues: "meals", label: "name", trackBy: "name", placeholder: "Pick a meal", ...bind("meal") }),
  h("h2", "Labels"), h(Multiselect, { options: labels.value, multiple: true, taggable: true, placeholder: "Add a label", tagPlaceholder: "Press Enter to create", ...bind("labels"), onTag: (tag) => { labels.value.push(tag); state.labels.value.push(tag); } }),
]) }).mount("#root");
