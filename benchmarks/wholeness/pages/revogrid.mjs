import { defineCustomElements } from "@revolist/revogrid/loader";

defineCustomElements();
document.getElementById("root").innerHTML = "<h1>Prices</h1><revo-grid style='height: 360px'></revo-grid>";
const grid = document.querySelector("revo-grid");
grid.columns = [{ prop: "name", name: "Name", sortable: true, size: 200 }, { prop: "price", name: "Price", sortable: true }, { prop: "place", name: "Place" }];
grid.source = Array.from({ length: 200 }, (_, n) => ({ name: `Item ${n + 1}`, price: n * 3, place: `Hall ${n % 4}` }));
grid.range = true;
