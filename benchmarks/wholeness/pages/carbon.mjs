import "@carbon/web-components/es/components/accordion/index.js";
import "@carbon/web-components/es/components/button/index.js";
import "@carbon/web-components/es/components/checkbox/index.js";
import "@carbon/web-components/es/components/combo-box/index.js";
import "@carbon/web-components/es/components/dropdown/index.js";
import "@carbon/web-components/es/components/modal/index.js";
import "@carbon/web-components/es/components/multi-select/index.js";
import "@carbon/web-components/es/components/number-input/index.js";
import "@carbon/web-components/es/components/overflow-menu/index.js";
import "@carbon/web-components/es/components/pagination/index.js";
import "@carbon/web-components/es/components/radio-button/index.js";
import "@carbon/web-components/es/components/search/index.js";
import "@carbon/web-components/es/components/slider/index.js";
import "@carbon/web-components/es/components/tabs/index.js";
import "@carbon/web-components/es/components/tag/index.js";
import "@carbon/web-components/es/components/text-input/index.js";
import "@carbon/web-components/es/components/toggle/index.js";
import "@carbon/web-components/es/components/tree-view/index.js";

document.getElementById("root").innerHTML = `
<h1>Machines</h1>
<cds-text-input label="Name" invalid invalid-text="Needed"></cds-text-input><cds-search label-text="Find"></cds-search>
<cds-number-input label="Amount" value="2"></cds-number-input><cds-checkbox>Terms</cds-checkbox><cds-toggle label-text="Power"></cds-toggle>
<cds-radio-button-group legend-text="Size" name="size"><cds-radio-button label-text="Small" value="s"></cds-radio-button><cds-radio-button label-text="Large" value="l"></cds-radio-button></cds-radio-button-group>
<cds-dropdown id="zone" title-text="Zone" label="Choose"><cds-dropdown-item value="n">North</cds-dropdown-item><cds-dropdown-item value="s">South</cds-dropdown-item></cds-dropdown>
<cds-combo-box title-text="City" label="Choose"><cds-combo-box-item value="u">Ulm</cds-combo-box-item></cds-combo-box>
<cds-multi-select title-text="Tags" label="Choose"><cds-multi-select-item value="r">red</cds-multi-select-item></cds-multi-select>
<cds-slider label-text="Speed" max="100" min="0" value="40"><cds-slider-input type="number"></cds-slider-input></cds-slider>
<cds-tabs value="a"><cds-tab value="a">Open</cds-tab><cds-tab value="b">Closed</cds-tab></cds-tabs>
<cds-accordion><cds-accordion-item title="History">Nothing</cds-accordion-item></cds-accordion><cds-dismissible-tag text="new"></cds-dismissible-tag>
<cds-overflow-menu id="more"><span slot="tooltip-content">Options</span><cds-overflow-menu-body><cds-overflow-menu-item>Copy</cds-overflow-menu-item><cds-overflow-menu-item danger>Delete</cds-overflow-menu-item></cds-overflow-menu-body></cds-overflow-menu>
<cds-tree-view label="Folders"><cds-tree-node label="Mail" is-expanded><cds-tree-node label="Inbox"></cds-tree-node></cds-tree-node></cds-tree-view>
<cds-pagination page-size="10" total-items="90"></cds-pagination>
<cds-button id="ask">Delete</cds-button>
<cds-modal id="box"><cds-modal-header><cds-modal-close-button></cds-modal-close-button><cds-modal-heading>Sure?</cds-modal-heading></cds-modal-header><cds-modal-body>It is final.</cds-modal-body><cds-modal-footer><cds-modal-footer-button kind="secondary">Keep</cds-modal-footer-button><cds-modal-footer-button>Delete</cds-modal-footer-button></cds-modal-footer></cds-modal>`;
document.getElementById("ask").onclick = () => (document.getElementById("box").open = true);
