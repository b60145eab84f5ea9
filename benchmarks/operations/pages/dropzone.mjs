import Dropzone from "dropzone";
import "dropzone/dist/dropzone.css";
document.getElementById("root").innerHTML = `<form id=files class=dropzone action=/echo></form>`;
window.zone = new Dropzone("#files", { autoProcessQueue: false });
