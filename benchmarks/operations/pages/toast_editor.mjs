import Editor from "@toast-ui/editor";
import "@toast-ui/editor/dist/toastui-editor.css";
document.getElementById("root").innerHTML = '<h1>Notes</h1><div id="notes"></div>';
window.notes_ = new Editor({ el: document.getElementById("notes"), height: "300px", initialEditType: "wysiwyg", initialValue: "Buy milk\n\nCall Tom\n", usageStatistics: false });
