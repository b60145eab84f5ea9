import Chart from "chart.js/auto";

carried.innerHTML = "<canvas id=chart height=80></canvas>";
const data = [3, 1, 4, 1, 5, 9];
const chart = new Chart("chart", { type: "line", data: { labels: data.map(String), datasets: [{ label: "Sales", data }] } });
setInterval(() => {
  data.push(data.shift());
  chart.update();
}, 1000);
