import { CountUp } from "countup.js";

carried.innerHTML = "<p><span id=visitors></span> visitors</p>";
new CountUp("visitors", 123456, { duration: 4 }).start();
