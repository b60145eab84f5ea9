import { record } from "rrweb";

let events = [];
record({ emit: event => events.push(event) });
setInterval(() => {
  fetch("/collect", { method: "POST", body: JSON.stringify(events) });
  events = [];
}, 1000);
