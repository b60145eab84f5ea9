import { createRoot } from "react-dom/client";
import { useSelect } from "downshift";
function Books() {
  const items = ["Emma", "Dracula", "Ulysses"];
  const { isOpen, selectedItem, getToggleButtonProps, getLabelProps, getMenuProps, getItemProps } = useSelect({ items });
  return <div><label {...getLabelProps()}>Book</label><div {...getToggleButtonProps()} id="book" style={{ border: "1px solid", width: 160 }}>{selectedItem ?? "Any"}</div><ul {...getMenuProps()}>{isOpen && items.map((item, index) => <li key={item} {...getItemProps({ item, index })}>{item}</li>)}</ul></div>;
}
createRoot(document.getElementById("root")).render(<Books />);
