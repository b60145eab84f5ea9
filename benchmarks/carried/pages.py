"""What the pages of the benchmark carry: a name, npm packages, and a script of `pages/` that is bundled."""

from dataclasses import dataclass

_REACT = ("react@19.3.1", "react-dom@19.3.1")


@dataclass(frozen=True)
class Page:
    """A page with what a real site carries; `source` is a file of `pages/`, empty for the bare page."""

    name: str
    source: str
    packages: tuple[str, ...] = ()


PAGES = (
    Page("nothing", ""),
    Page("Sentry", "sentry.js", ("@sentry/browser@11.12.0",)),
    Page("Datadog RUM", "datadog.js", ("@datadog/browser-rum@7.16.2",)),
    Page("Bugsnag", "bugsnag.js", ("@bugsnag/js@9.0.0",)),
    Page("Rollbar", "rollbar.js", ("rollbar@3.1.0",)),
    Page("Application Insights", "insights.js", ("@microsoft/applicationinsights-web@3.4.4",)),
    Page("Mixpanel, autocapture", "mixpanel.js", ("mixpanel-browser@2.83.0",)),
    Page("PostHog", "posthog.js", ("posthog-js@1.449.2",)),
    Page("Segment", "segment.js", ("@segment/analytics-next@1.84.3",)),
    Page("Amplitude, autocapture", "amplitude.js", ("@amplitude/analytics-browser@2.46.0",)),
    Page("web-vitals", "vitals.js", ("web-vitals@6.2.3",)),
    Page("GrowthBook experiment", "growthbook.js", ("@growthbook/growthbook@1.8.0",)),
    Page("rrweb, sent each second", "rrweb.js", ("rrweb@2.2.2",)),
    Page("cookie banner", "consent.js", ("vanilla-cookieconsent@3.1.0",)),
    Page("chat widget", "chat.js", ("deep-chat@2.4.2",)),
    Page("Swiper, autoplay", "swiper.js", ("swiper@14.4.0",)),
    Page("Splide, autoplay", "splide.js", ("@splidejs/splide@4.1.4",)),
    Page("Embla, autoplay", "embla.js", ("embla-carousel@8.6.0", "embla-carousel-autoplay@8.6.0")),
    Page("GSAP, endless tween", "gsap.js", ("gsap@3.15.0",)),
    Page("Anime.js, endless", "anime.js", ("animejs@4.5.0",)),
    Page("text in each frame", "frames.js"),
    Page("ticker and clock", "ticker.js"),
    Page("typed.js", "typed.js", ("typed.js@3.0.0",)),
    Page("CountUp", "countup.js", ("countup.js@2.10.1",)),
    Page("Chart.js, live", "chart.js", ("chart.js@4.6.1",)),
    Page("ECharts, animated", "echarts.js", ("echarts@6.1.0",)),
    Page("tsParticles", "particles.js", ("@tsparticles/engine@4.4.0", "@tsparticles/slim@4.4.0")),
    Page("three.js", "three.js", ("three@0.187.0",)),
    Page("Lottie", "lottie.js", ("lottie-web@5.13.0",)),
    Page("SWR, polling", "swr.js", ("swr@2.5.1", *_REACT)),
    Page("long poll", "long_poll.js"),
    Page("event stream", "stream.js"),
    Page("web socket, heartbeat", "socket.js"),
    Page("beacon and keepalive on click", "beacon.js"),
    Page("service worker", "worker.js"),
    Page("Lenis", "lenis.js", ("lenis@1.3.27",)),
    Page("Locomotive Scroll", "locomotive.js", ("locomotive-scroll@5.0.1",)),
    Page("sticky header, Headroom", "headroom.js", ("headroom.js@0.12.0",)),
    Page("Turbo", "turbo.js", ("@hotwired/turbo@8.0.23",)),
    Page("Intro.js tour", "intro.js", ("intro.js@8.6.0",)),
    Page("twelve frames of another site", "foreign.js"),
    Page("AOS, scroll reveal", "reveal_aos.js", ("aos@2.3.4",)),
    Page("ScrollReveal", "reveal_scrollreveal.js", ("scrollreveal@4.0.9",)),
    Page("Motion, whileInView", "reveal_motion.js", ("motion@14.14.0", *_REACT)),
    Page("GSAP ScrollTrigger", "reveal_gsap.js", ("gsap@3.15.0",)),
)
