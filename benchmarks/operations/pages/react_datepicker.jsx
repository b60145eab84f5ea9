import { createRoot } from "react-dom/client";
import { useState } from "react";
import DatePicker from "react-datepicker";
import "react-datepicker/dist/react-datepicker.css";
function Day() {
  const [day, setDay] = useState(new Date(2026, 9, 14));
  return <label>Meeting <DatePicker selected={day} onChange={setDay} /></label>;
}
createRoot(document.getElementById("root")).render(<Day />);
