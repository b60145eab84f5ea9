import { useState } from "react";
import { createRoot } from "react-dom/client";
import { OTPInput } from "input-otp";
import OtpInput from "react-otp-input";
const box = { border: "1px solid", width: 32, height: 40, display: "grid", placeItems: "center", margin: 3 };
function App() {
  const [code, setCode] = useState("");
  const [pin, setPin] = useState("");
  Object.assign(window, { code, pin });
  return <main>
    <h2>Code from your phone</h2><OTPInput maxLength={6} value={code} onChange={setCode} render={({ slots }) => <div style={{ display: "flex" }}>{slots.map((slot, index) => <div key={index} style={box}>{slot.char}</div>)}</div>} />
    <h2>PIN of your card</h2><OtpInput value={pin} onChange={setPin} numInputs={4} inputType="tel" renderSeparator={<span>-</span>} renderInput={(props) => <input {...props} />} />
  </main>;
}
createRoot(document.getElementById("root")).render(<App />);
