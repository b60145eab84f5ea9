import { DataSet, Timeline } from "vis-timeline/standalone";
import "vis-timeline/styles/vis-timeline-graph2d.min.css";
const root = document.getElementById("root");
window.items = new DataSet([{ id: 1, group: 1, content: "Repair", start: "2026-10-06", end: "2026-10-08" }, { id: 2, group: 2, content: "Cleaning", start: "2026-10-10", end: "2026-10-12" }, { id: 3, group: 1, content: "Inspection", start: "2026-10-14", end: "2026-10-17" }]);
window.timeline = new Timeline(root, window.items, new DataSet([{ id: 1, content: "Hall" }, { id: 2, content: "Kitchen" }]), { editable: true, start: "2026-10-04", end: "2026-10-20", height: 260, margin: { item: 20 } });
