import { createApp, h, ref } from "vue";
import { VxeTable, VxeColumn } from "vxe-table";
import "vxe-table/lib/style.css";
const crops = ["Barley", "Clover", "Millet", "Oats", "Rye", "Wheat"];
const rows = Array.from({ length: 300 }, (_, n) => ({ id: n, plot: `Plot ${n + 1}`, crop: crops[n % 6], owner: `Farmer ${(n * 7) % 50}`, area: (n * 13) % 97, notes: "", tons: (n * 3) % 40, soil: ["clay", "loam", "sand"][n % 3] }));
const table = ref();
window.rows = () => table.value.getTableData();
const filters = crops.map((label) => ({ label, value: label }));
const [filtering, sorting] = [{ filters }, { sortable: true }];
const writing = { editRender: { name: "input" } };
const editing = { trigger: "click", mode: "cell" };
const column = (field, title, more = {}) => h(VxeColumn, { field, title, width: 200, ...more });
createApp({ setup: () => () => h(VxeTable, { ref: table, data: rows, border: true, height: 400, style: "width: 900px", scrollY: { enabled: true, gt: 0 }, editConfig: editing }, () => [
  column("plot", "Plot", { fixed: "left" }), column("crop", "Crop", filtering), column("owner", "Owner"), column("area", "Area", sorting), column("notes", "Notes", writing), column("soil", "Soil"), column("tons", "Tons", { fixed: "right", sortable: true }),
]) }).mount("#root");
