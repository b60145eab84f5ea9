import "@carbon/web-components/es/components/button/index.js";
import "@carbon/web-components/es/components/dropdown/index.js";
import "@carbon/web-components/es/components/modal/index.js";
import "@carbon/web-components/es/components/number-input/index.js";
import "@carbon/web-components/es/components/radio-button/index.js";
import "@carbon/web-components/es/components/toggle/index.js";

document.getElementById("root").innerHTML = `
<h1>Machines</h1>
<cds-dropdown id="zone" title-text="Zone" label="Choose"><cds-dropdown-item value="n">North</cds-dropdown-item><cds-dropdown-item value="s">South</cds-dropdown-item></cds-dropdown>
<cds-number-input id="amount" label="Amount" value="2" min="1" max="9"></cds-number-input>
<cds-radio-button-group id="size" legend-text="Size" name="size"><cds-radio-button label-text="Small" value="s"></cds-radio-button><cds-radio-button label-text="Large" value="l"></cds-radio-button></cds-radio-button-group>
<cds-toggle id="power" label-text="Power"></cds-toggle>
<cds-button id="ask">Start</cds-button>
<cds-modal id="box"><cds-modal-header><cds-modal-heading>Start the machines?</cds-modal-heading></cds-modal-header><cds-modal-body>They cost money.</cds-modal-body>
<cds-modal-footer><cds-modal-footer-button kind="secondary" data-modal-close>Not yet</cds-modal-footer-button><cds-modal-footer-button id="start">Start them</cds-modal-footer-button></cds-modal-footer></cds-modal>
<p id="said"></p>`;
const at = (id) => document.getElementById(id);
at("ask").onclick = () => (at("box").open = true);
at("start").onclick = async () => {
  const machines = {zone: at("zone").value, amount: at("amount").value, size: at("size").value, power: at("power").toggled};
  await fetch("/noted", {method: "POST", body: JSON.stringify(machines)});
  at("box").open = false;
  at("said").textContent = "The machines are running.";
};
