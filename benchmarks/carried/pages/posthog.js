import posthog from "posthog-js";

posthog.init("key", { api_host: `${location.origin}/collect`, autocapture: true, advanced_disable_flags: true });
