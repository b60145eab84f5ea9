import "@spectrum-web-components/bundle/elements.js";

document.getElementById("root").innerHTML = `<sp-theme system="spectrum" color="light" scale="medium">
<h1>Picture</h1>
<sp-field-label for="name">Name</sp-field-label><sp-textfield id="name" required invalid></sp-textfield><sp-search label="Find"></sp-search>
<sp-field-label for="size">Size</sp-field-label><sp-number-field id="size" value="10"></sp-number-field>
<sp-checkbox>Keep layers</sp-checkbox><sp-switch>Preview</sp-switch>
<sp-radio-group selected="a" name="k"><sp-radio value="a">PNG</sp-radio><sp-radio value="b">JPEG</sp-radio></sp-radio-group>
<sp-slider label="Opacity" value="40"></sp-slider>
<sp-field-label for="mode">Mode</sp-field-label><sp-picker id="mode" label="Choose"><sp-menu-item>Normal</sp-menu-item><sp-menu-item>Multiply</sp-menu-item></sp-picker>
<sp-action-menu id="more" label="More"><sp-menu-item>Copy</sp-menu-item><sp-menu-item>Delete</sp-menu-item></sp-action-menu>
<sp-action-group selects="single" emphasized><sp-action-button value="l">Left</sp-action-button><sp-action-button value="r">Right</sp-action-button></sp-action-group>
<sp-tabs selected="a"><sp-tab label="Layers" value="a"></sp-tab><sp-tab label="History" value="b"></sp-tab><sp-tab-panel value="a">Layers</sp-tab-panel><sp-tab-panel value="b">None</sp-tab-panel></sp-tabs>
<sp-accordion><sp-accordion-item label="Advanced">Nothing</sp-accordion-item></sp-accordion>
<sp-tags><sp-tag deletable>new</sp-tag><sp-tag>old</sp-tag></sp-tags>
<sp-sidenav><sp-sidenav-item value="1" label="Files" expanded><sp-sidenav-item value="2" label="Recent"></sp-sidenav-item></sp-sidenav-item></sp-sidenav>
<sp-color-slider></sp-color-slider><sp-link href="#help">Help</sp-link>
<overlay-trigger type="modal"><sp-dialog-wrapper slot="click-content" headline="Sure?" confirm-label="Delete" cancel-label="Keep" underlay>It is final.</sp-dialog-wrapper><sp-button slot="trigger" id="ask">Delete</sp-button></overlay-trigger>
</sp-theme>`;
