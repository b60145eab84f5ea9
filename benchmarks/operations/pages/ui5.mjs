import "@ui5/webcomponents/dist/Select.js";
import "@ui5/webcomponents/dist/Option.js";
import "@ui5/webcomponents/dist/Label.js";
import "@ui5/webcomponents/dist/Tree.js";
import "@ui5/webcomponents/dist/TreeItem.js";
document.getElementById("root").innerHTML = `<h1>Purchase order</h1>
<p><ui5-label for="plant" show-colon>Plant</ui5-label> <ui5-select id="plant"><ui5-option value="1">Walldorf</ui5-option><ui5-option value="2">Sofia</ui5-option><ui5-option value="3">Pune</ui5-option></ui5-select></p>
<ui5-tree id="groups" mode="Multiple" selection-mode="Multiple"><ui5-tree-item text="Metal" expanded><ui5-tree-item text="Steel"></ui5-tree-item><ui5-tree-item text="Brass"></ui5-tree-item></ui5-tree-item><ui5-tree-item text="Paper"></ui5-tree-item></ui5-tree>`;
