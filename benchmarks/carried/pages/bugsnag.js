import Bugsnag from "@bugsnag/js";

const collect = `${location.origin}/collect`;
Bugsnag.start({ apiKey: "00000000000000000000000000000000", endpoints: { notify: collect, sessions: collect } });
