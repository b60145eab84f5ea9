import * as amplitude from "@amplitude/analytics-browser";

amplitude.init("key", { serverUrl: `${location.origin}/collect`, autocapture: true, flushIntervalMillis: 1000 });
