import SlimSelect from "slim-select";
import "slim-select/styles";
document.getElementById("root").innerHTML = `<label for=city>City</label><select id=city><option>Ulm<option>Bonn<option>Kiel</select><label for=tags>Tags</label><select id=tags multiple><option>red<option>blue<option>green</select>`;
new SlimSelect({ select: "#city" });
new SlimSelect({ select: "#tags" });
