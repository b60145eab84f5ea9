import "mdui/mdui.css";
import "mdui";
document.getElementById("root").innerHTML = `<h1>Heating</h1>
<mdui-select label="Room" id="room" style="width: 300px"><mdui-menu-item value="bath">Bathroom</mdui-menu-item><mdui-menu-item value="hall">Hall</mdui-menu-item><mdui-menu-item value="attic">Attic</mdui-menu-item></mdui-select>
<p><mdui-text-field label="Note" id="note"></mdui-text-field></p>
<p>Valve <mdui-slider id="valve" value="20" min="0" max="100"></mdui-slider></p>
<p><mdui-checkbox id="eco">Save energy at night</mdui-checkbox></p>
<mdui-segmented-button-group selects="single" id="mode"><mdui-segmented-button value="auto">Auto</mdui-segmented-button><mdui-segmented-button value="manual">Manual</mdui-segmented-button></mdui-segmented-button-group>`;
