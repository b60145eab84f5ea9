import { Canvas, Circle, IText, Rect } from "fabric";
document.getElementById("root").innerHTML = '<h1>Poster</h1><canvas id="poster" width="600" height="300" style="border: 1px solid"></canvas>';
const canvas = (window.poster_ = new Canvas("poster"));
window.headline = new IText("Summer fair", { left: 300, top: 150, originX: "center", originY: "center", fontSize: 40 });
canvas.add(new Rect({ left: 40, top: 40, width: 90, height: 60, fill: "gold" }), new Circle({ left: 480, top: 200, radius: 40, fill: "teal" }), window.headline);
