import { useState } from "react";
import { createRoot } from "react-dom/client";
import { closestCenter, DndContext, PointerSensor, useSensor, useSensors } from "@dnd-kit/core";
import { arrayMove, SortableContext, useSortable, verticalListSortingStrategy } from "@dnd-kit/sortable";
function Song({ id }) {
  const { attributes, listeners, setNodeRef, transform, transition } = useSortable({ id });
  return <li ref={setNodeRef} style={{ transform: transform ? `translateY(${transform.y}px)` : undefined, transition, padding: 8, width: 260, border: "1px solid" }}><button {...attributes} {...listeners} aria-label={`Move ${id}`}>⠿</button> {id}</li>;
}
function App() {
  const [songs, setSongs] = useState(["Yesterday", "Imagine", "Help", "Michelle", "Something"]);
  window.songs = songs;
  const sensors = useSensors(useSensor(PointerSensor, { activationConstraint: { distance: 5 } }));
  const end = ({ active, over }) => over && setSongs((now) => arrayMove(now, now.indexOf(active.id), now.indexOf(over.id)));
  return <DndContext sensors={sensors} collisionDetection={closestCenter} onDragEnd={end}><h1>Playlist</h1><SortableContext items={songs} strategy={verticalListSortingStrategy}><ul style={{ listStyle: "none" }}>{songs.map((id) => <Song key={id} id={id} />)}</ul></SortableContext></DndContext>;
}
createRoot(document.getElementById("root")).render(<App />);
