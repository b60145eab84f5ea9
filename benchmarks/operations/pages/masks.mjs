import Cleave from "cleave.js";
import IMask from "imask";
import Inputmask from "inputmask";
document.getElementById("root").innerHTML = ["Card", "Phone", "Date", "Price"].map((name) => `<label>${name} <input id=${name.toLowerCase()}></label>`).join("");
new Cleave("#card", { creditCard: true });
IMask(document.getElementById("phone"), { mask: "+{49} 000 000000" });
Inputmask({ mask: "99/99/9999" }).mask(document.getElementById("date"));
IMask(document.getElementById("price"), { mask: Number, thousandsSeparator: ",", radix: "." });
