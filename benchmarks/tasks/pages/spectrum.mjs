import "@spectrum-web-components/bundle/elements.js";

document.getElementById("root").innerHTML = `<sp-theme system="spectrum" color="light" scale="medium">
<h1>Export</h1>
<sp-field-label for="name">Name</sp-field-label><sp-textfield id="name" required></sp-textfield>
<sp-field-label for="mode">Mode</sp-field-label><sp-picker id="mode" label="Choose"><sp-menu-item value="n">Normal</sp-menu-item><sp-menu-item value="m">Multiply</sp-menu-item><sp-menu-item value="s">Screen</sp-menu-item></sp-picker>
<sp-field-label for="width">Width</sp-field-label><sp-number-field id="width" value="640"></sp-number-field>
<sp-radio-group id="kind" selected="png" name="kind"><sp-radio value="png">PNG</sp-radio><sp-radio value="jpeg">JPEG</sp-radio></sp-radio-group>
<sp-switch id="layers">Keep layers</sp-switch>
<sp-button id="export">Export</sp-button><p id="said"></p>
</sp-theme>`;
const at = (id) => document.getElementById(id);
at("export").onclick = async () => {
  const picture = {name: at("name").value, mode: at("mode").value, width: at("width").value, kind: at("kind").selected, layers: at("layers").checked};
  await fetch("/noted", {method: "POST", body: JSON.stringify(picture)});
  at("said").textContent = `Exported ${picture.name}.`;
};
