import { AnalyticsBrowser } from "@segment/analytics-next";

const analytics = AnalyticsBrowser.load({ writeKey: "key", cdnURL: `${location.origin}/collect` });
analytics.page();
document.addEventListener("click", event => analytics.track("click", { on: event.target.id }));
