import { useState } from "react";
import { createRoot } from "react-dom/client";
import { useDropzone } from "react-dropzone";
function App() {
  const [files, setFiles] = useState([]);
  window.files = files;
  const { getRootProps, getInputProps } = useDropzone({ onDrop: setFiles });
  return <><h1>Evidence</h1><div {...getRootProps()} style={{ border: "2px dashed", padding: 40, width: 400 }}><input {...getInputProps()} /><p>Drag and drop some files here, or click to select files</p></div><ul>{files.map((file) => <li key={file.name}>{file.name}</li>)}</ul></>;
}
createRoot(document.getElementById("root")).render(<App />);
