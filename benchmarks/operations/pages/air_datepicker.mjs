import AirDatepicker from "air-datepicker";
import en from "air-datepicker/locale/en";
import "air-datepicker/air-datepicker.css";
document.getElementById("root").innerHTML = `<label>Start <input id=start readonly></label>`;
window.picker = new AirDatepicker("#start", { locale: en.default ?? en, startDate: new Date(2026, 9, 14), autoClose: true });
