import { createApp, h } from "vue";
import { VueGoodTable } from "vue-good-table-next";
import "vue-good-table-next/dist/vue-good-table-next.css";
const rows = ["Quartz", "Topaz", "Agate", "Onyx", "Beryl"].map((stone, id) => ({ id, stone, hardness: 9 - ((id * 3) % 5), mine: ["Pit A", "Pit B"][id % 2] }));
createApp({ setup: () => () => h("main", [h("h1", "Stones"), h(VueGoodTable, { rows, columns: [{ label: "Stone", field: "stone", filterOptions: { enabled: true, placeholder: "Filter stones" } }, { label: "Hardness", field: "hardness", type: "number" }, { label: "Mine", field: "mine" }], searchOptions: { enabled: true, placeholder: "Search all" }, selectOptions: { enabled: true }, onSelectedRowsChange: (event) => (window.selected = event.selectedRows.map((row) => row.stone)) })]) }).mount("#root");
