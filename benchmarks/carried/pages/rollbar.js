import Rollbar from "rollbar";

new Rollbar({
  accessToken: "token",
  endpoint: `${location.origin}/collect`,
  captureUncaught: true,
  autoInstrument: true,
});
