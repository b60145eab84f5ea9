import { createRoot } from "react-dom/client";
import { useState } from "react";
import { DragDropContext, Draggable, Droppable } from "@hello-pangea/dnd";
function Board() {
  const [items, setItems] = useState(["Alpha", "Beta", "Gamma"]);
  const end = ({ source, destination }) => { if (!destination) return; const next = [...items]; next.splice(destination.index, 0, ...next.splice(source.index, 1)); setItems(next); };
  return <DragDropContext onDragEnd={end}><Droppable droppableId="a">{(drop) => <ul ref={drop.innerRef} {...drop.droppableProps} id="items">{items.map((item, index) => <Draggable key={item} draggableId={item} index={index}>{(drag) => <li ref={drag.innerRef} {...drag.draggableProps} {...drag.dragHandleProps}>{item}</li>}</Draggable>)}{drop.placeholder}</ul>}</Droppable></DragDropContext>;
}
createRoot(document.getElementById("root")).render(<Board />);
