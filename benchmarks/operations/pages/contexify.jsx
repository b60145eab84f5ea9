import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Menu, Item, Submenu, useContextMenu } from "react-contexify";
import { ToastContainer, toast } from "react-toastify";
import "react-contexify/ReactContexify.css";
function App() {
  const [files, setFiles] = useState(["Lease.docx", "Plan.dwg", "Bill.xlsx"]);
  const { show } = useContextMenu({ id: "file" });
  window.files = files;
  const remove = ({ props }) => {
    setFiles((now) => now.filter((one) => one !== props.name));
    toast(({ closeToast }) => <span>{props.name} removed <button onClick={() => { window.undone = props.name; setFiles((now) => [...now, props.name]); closeToast(); }}>Undo</button></span>, { autoClose: 15000 });
  };
  return <main><h1>Shared files</h1><ul>{files.map((name) => <li key={name} onContextMenu={(event) => show({ event, props: { name } })}>{name}</li>)}</ul>
    <Menu id="file"><Item onClick={remove}>Remove</Item><Submenu label="Label"><Item onClick={({ props }) => (window.labelled = `${props.name} urgent`)}>Urgent</Item><Item onClick={({ props }) => (window.labelled = `${props.name} later`)}>Later</Item></Submenu></Menu><ToastContainer position="bottom-right" /></main>;
}
createRoot(document.getElementById("root")).render(<App />);
