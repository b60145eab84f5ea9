import * as echarts from "echarts";

carried.style.height = "150px";
echarts.init(carried).setOption({
  animationDuration: 3000,
  xAxis: { type: "category", data: ["Mon", "Tue", "Wed"] },
  yAxis: {},
  series: [{ type: "bar", data: [3, 1, 4] }],
});
