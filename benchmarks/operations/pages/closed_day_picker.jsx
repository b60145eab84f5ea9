import { useState } from "react";
import { createRoot } from "react-dom/client";
import { DayPicker } from "react-day-picker";
import "react-day-picker/style.css";
const booking = (window.booking = {});
function Booking() {
  const [day, setDay] = useState();
  const [guests, setGuests] = useState("2");
  return <section><h2>Book a table</h2><DayPicker mode="single" defaultMonth={new Date(2026, 9)} selected={day} onSelect={setDay} /><label>Guests <select value={guests} onChange={(event) => setGuests(event.target.value)}><option>2</option><option>4</option><option>6</option></select></label> <label><input type="checkbox" onChange={(event) => (booking.window = event.target.checked)} /> By the window</label> <button onClick={() => Object.assign(booking, { day, guests })}>Book</button></section>;
}
document.getElementById("root").innerHTML = '<h1>Restaurant</h1><p>Welcome.</p><div id="widget"></div>';
const shadow = document.getElementById("widget").attachShadow({ mode: "closed" });
shadow.append(...[...document.querySelectorAll("link[rel=stylesheet]")].map((link) => link.cloneNode()), document.createElement("div"));
createRoot(shadow.lastChild).render(<Booking />);
