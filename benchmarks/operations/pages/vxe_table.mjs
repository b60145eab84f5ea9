import { createApp, h, ref } from "vue";
import { VxeTable, VxeColumn, VxeUI } from "vxe-table";
import english from "vxe-table/lib/locale/lang/en-US";
import "vxe-table/lib/style.css";
VxeUI.setI18n("en-US", english);
VxeUI.setLanguage("en-US");
const crops = ["Barley", "Clover", "Millet", "Oats", "Rye", "Wheat"];
const rows = Array.from({ length: 300 }, (_, n) => ({ id: n, plot: `Plot ${n + 1}`, crop: crops[n % 6], owner: `Farmer ${(n * 7) % 50}`, area: (n * 13) % 97, notes: `check ${n + 1}`, tons: (n * 3) % 40, soil: ["clay", "loam", "sand"][n % 3] }));
const table = ref();
window.rows = () => table.value.getTableData();
const sorting = { sortable: true };
const pinned = { ...sorting, fixed: "right" };
const byHeader = { trigger: "cell" };
const writing = { editRender: { name: "input" } };
const editing = { trigger: "click", mode: "cell" };
const column = (field, title, more = {}) => h(VxeColumn, { field, title, width: 200, ...more });
createApp({ setup: () => () => h(VxeTable, { ref: table, data: rows, border: true, height: 400, style: "width: 1000px", scrollY: { enabled: true, gt: 0 }, editConfig: editing, sortConfig: byHeader }, () => [
  column("plot", "Plot", { fixed: "left" }), column("crop", "Crop"), column("owner", "Owner"), column("area", "Area", sorting), column("notes", "Notes", writing), column("soil", "Soil"), column("tons", "Tons", pinned),
]) }).mount("#root");
