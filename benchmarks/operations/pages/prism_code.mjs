import { basicEditor } from "prism-code-editor/setups";
import "prism-code-editor/prism/languages/javascript";
document.getElementById("root").innerHTML = '<h1>Filter</h1><div id="code" style="width: 600px; height: 200px"></div>';
window.code_ = basicEditor("#code", { language: "javascript", theme: "github-light", value: "return row.age > 18;" });
