import { createRoot } from "react-dom/client";
import Slider from "rc-slider";
import "rc-slider/assets/index.css";
createRoot(document.getElementById("root")).render(<div style={{ margin: 60, width: 300 }}><Slider range defaultValue={[20, 70]} ariaLabelForHandle={["From", "To"]} /></div>);
