import mixpanel from "mixpanel-browser";

mixpanel.init("token", { api_host: `${location.origin}/collect`, autocapture: true, batch_flush_interval_ms: 1000 });
