import { ApplicationInsights } from "@microsoft/applicationinsights-web";

const endpoint = `${location.origin}/`;
const insights = new ApplicationInsights({
  config: {
    connectionString: `InstrumentationKey=00000000-0000-0000-0000-000000000000;IngestionEndpoint=${endpoint}`,
    enableAutoRouteTracking: true,
    maxBatchInterval: 1000,
  },
});
insights.loadAppInsights();
insights.trackPageView();
