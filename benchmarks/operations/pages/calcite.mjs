import "@esri/calcite-components/components/calcite-combobox";
import "@esri/calcite-components/components/calcite-combobox-item";
import "@esri/calcite-components/components/calcite-slider";
import "@esri/calcite-components/components/calcite-rating";
import "@esri/calcite-components/components/calcite-label";
import "@esri/calcite-components/components/calcite-switch";
import "@esri/calcite-components/components/calcite-segmented-control";
import "@esri/calcite-components/components/calcite-segmented-control-item";
import "@esri/calcite-components/main.css";
document.getElementById("root").innerHTML = `<h1>Survey of a tree</h1>
<calcite-label>Species<calcite-combobox id="species" label="Species" selection-mode="single"><calcite-combobox-item value="ash" heading="Ash"></calcite-combobox-item><calcite-combobox-item value="elm" heading="Elm"></calcite-combobox-item><calcite-combobox-item value="yew" heading="Yew"></calcite-combobox-item></calcite-combobox></calcite-label>
<calcite-label>Height<calcite-slider id="height" min="0" max="40" value="12" label-handles></calcite-slider></calcite-label>
<calcite-label>Health<calcite-rating id="health" value="2"></calcite-rating></calcite-label>
<calcite-label layout="inline">Protected<calcite-switch id="protected"></calcite-switch></calcite-label>
<calcite-segmented-control id="bark"><calcite-segmented-control-item value="smooth" checked>Smooth</calcite-segmented-control-item><calcite-segmented-control-item value="rough">Rough</calcite-segmented-control-item></calcite-segmented-control>`;
