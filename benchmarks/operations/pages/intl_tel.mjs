import intlTelInput from "intl-tel-input";

document.getElementById("root").innerHTML = `<label for=tel>Telephone</label> <input id=tel type=tel>`;
window.tel_ = intlTelInput(document.getElementById("tel"), { initialCountry: "de" });
