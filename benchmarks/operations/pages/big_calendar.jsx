import { useState } from "react";
import { createRoot } from "react-dom/client";
import { Calendar, momentLocalizer } from "react-big-calendar";
import withDragAndDrop from "react-big-calendar/lib/addons/dragAndDrop";
import moment from "moment";
import "react-big-calendar/lib/css/react-big-calendar.css";
import "react-big-calendar/lib/addons/dragAndDrop/styles.css";
const Planner = withDragAndDrop(Calendar);
function App() {
  const [events, setEvents] = useState([{ id: 1, title: "Choir", start: new Date(2026, 9, 6, 18), end: new Date(2026, 9, 6, 20) }, { id: 2, title: "Concert", start: new Date(2026, 9, 22, 19), end: new Date(2026, 9, 22, 22) }]);
  const [view, setView] = useState("month");
  const [date, setDate] = useState(new Date(2026, 9, 1));
  const [chosen, setChosen] = useState("");
  Object.assign(window, { events, view, date, chosen });
  return <main><h1>Parish hall</h1><p>Chosen: {chosen || "nothing"}</p><Planner style={{ height: 600 }} localizer={momentLocalizer(moment)} events={events} view={view} onView={setView} date={date} onNavigate={setDate} onSelectEvent={(event) => setChosen(event.title)} onEventDrop={({ event, start, end }) => setEvents((now) => now.map((one) => (one.id === event.id ? { ...one, start, end } : one)))} /></main>;
}
createRoot(document.getElementById("root")).render(<App />);
