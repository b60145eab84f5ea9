import "@material/web/all.js";

document.getElementById("root").innerHTML = `
<h1>Order</h1>
<form><md-outlined-text-field label="Name" required></md-outlined-text-field>
<md-filled-text-field label="Notes" type="textarea" rows="2"></md-filled-text-field>
<md-outlined-select label="Size" id="size"><md-select-option value="s"><div slot="headline">Small</div></md-select-option><md-select-option value="l"><div slot="headline">Large</div></md-select-option></md-outlined-select>
<label><md-checkbox></md-checkbox> Gift</label> <label>Rush <md-switch></md-switch></label>
<md-radio name="s" id="p" aria-label="Post"></md-radio><md-radio name="s" aria-label="Courier"></md-radio>
<md-slider range value-start="20" value-end="60" aria-label-start="Lowest" aria-label-end="Highest"></md-slider>
<md-chip-set aria-label="Tags"><md-filter-chip label="New" removable></md-filter-chip><md-input-chip label="red"></md-input-chip></md-chip-set>
<md-filled-button id="send">Send</md-filled-button></form>
<md-tabs><md-primary-tab>Open</md-primary-tab><md-primary-tab>Closed</md-primary-tab></md-tabs>
<md-list><md-list-item type="button">First</md-list-item><md-list-item type="link" href="#two">Second</md-list-item></md-list>
<span style="position: relative"><md-icon-button id="more" aria-label="More">⋮</md-icon-button><md-menu id="menu" anchor="more"><md-menu-item><div slot="headline">Copy</div></md-menu-item><md-menu-item><div slot="headline">Move</div></md-menu-item></md-menu></span>
<md-fab label="Add"></md-fab>
<md-text-button id="ask">Delete</md-text-button>
<md-dialog id="box"><div slot="headline">Delete?</div><div slot="content">It is final.</div><div slot="actions"><md-text-button>Keep</md-text-button><md-text-button>Delete</md-text-button></div></md-dialog>`;
document.getElementById("more").onclick = () => (document.getElementById("menu").open = true);
document.getElementById("ask").onclick = () => document.getElementById("box").show();
