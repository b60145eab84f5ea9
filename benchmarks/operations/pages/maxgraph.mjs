import { Graph } from "@maxgraph/core";

document.body.insertAdjacentHTML("beforeend", "<h1>Flow</h1><div id=flow style='width: 600px; height: 300px; border: 1px solid; overflow: hidden'></div>");
const graph = new Graph(document.getElementById("flow"));
const parent = graph.getDefaultParent();
graph.batchUpdate(() => {
  const order = graph.insertVertex({ parent, value: "Order", position: [40, 40], size: [100, 40] });
  const ship = graph.insertVertex({ parent, value: "Ship", position: [300, 40], size: [100, 40] });
  graph.insertEdge({ parent, value: "then", source: order, target: ship });
});
window.graph = graph;
