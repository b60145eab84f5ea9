import { datadogRum } from "@datadog/browser-rum";

datadogRum.init({
  applicationId: "00000000-0000-0000-0000-000000000000",
  clientToken: "pub00000000000000000000000000000000",
  proxy: `${location.origin}/collect`,
  site: "datadoghq.com",
  sessionSampleRate: 100,
  sessionReplaySampleRate: 0,
  trackUserInteractions: true,
});
