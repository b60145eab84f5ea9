"""Core Web Vitals of real pages."""

import re

import pytest

from tests.actions.hand import Hand
from tests.support.site import Reply, Request, Site

pytestmark = [pytest.mark.slow, pytest.mark.fresh]

SLOW = """<!doctype html><meta charset=utf-8><title>Slow</title><link rel=stylesheet href=/vitals/style.css>
<h1 style="font-size: 80px">A very large heading that is painted last of all</h1><div id=late></div>
<p id=moved>Moved</p><button id=b>Work</button><img src=/vitals/big.png width=20 height=20>
<script>
const busy = ms => { const end = performance.now() + ms; while (performance.now() < end); };
addEventListener("load", () => setTimeout(() => { busy(120); late.style.height = "300px" }, 300));
b.onclick = () => { busy(150); b.textContent = "Done" };
</script>"""


def page(site: Site) -> str:
    """A page with something of each kind."""

    def answer(request: Request) -> Reply:
        if request.path.endswith(".css"):
            return Reply(b"body { margin: 0 }", "text/css")
        if request.path.endswith(".png"):
            return Reply(b"\x89PNG" + b"0" * 50_000, "image/png", headers={"Cache-Control": "no-store"})
        return Reply(SLOW.encode())

    return site.route("/vitals", answer)


async def test_a_reload_is_measured_with_what_costs_most(hand: Hand, site: Site) -> None:
    await hand.do("go_to_url", url=page(site))
    told = await hand.do("measure_performance")
    assert {"LCP", "CLS", "FCP", "TTFB"} <= hand.data.keys()
    assert 0 < hand.data["FCP"] <= hand.data["LCP"]
    assert hand.data["CLS"] > 0.01
    for said in ("Largest paint: ", "A very large heading", "Layout shift", "Long tasks block", "Large: "):
        assert said in told
    assert re.search(r"Blocks rendering: \S+/vitals/style.css ", told)
    assert "/vitals/big.png 50 kB" in told


async def test_only_what_is_large_is_called_so_and_what_was_cached_has_no_size(
    hand: Hand, site: Site
) -> None:
    kept = {"Cache-Control": "max-age=600"}

    def answer(request: Request) -> Reply:
        if request.path.endswith(".css"):
            return Reply(b"p { margin: 0 }" * 100, "text/css", headers=kept)
        if request.path.endswith(".png"):
            return Reply(b"\x89PNG" + b"0" * 9_000, "image/png")
        return Reply(b"<link rel=stylesheet href=/small/style.css><p>Hello<img src=/small/a.png>")

    await hand.do("go_to_url", url=site.route("/small", answer))
    first = await hand.do("measure_performance", of="page")
    assert re.search(r"Blocks rendering: \S+/small/style.css 2 kB, ", first), first
    again = await hand.do("measure_performance")
    assert re.search(r"Blocks rendering: \S+/small/style.css cached, \d+ ms", again), again
    assert "Large: " not in first + again


KEPT = """(() => {
  const observer = new PerformanceObserver(() => undefined);
  observer.observe({ type: "event", buffered: true, durationThreshold: 16 });
  return observer.takeRecords().filter(entry => entry.interactionId).length;
})()"""
"""How many events of interactions the browser has kept for the page."""


async def test_interactions_are_measured_since_the_page_was_opened(hand: Hand, site: Site) -> None:
    await hand.do("go_to_url", url=page(site))
    index = hand.index("Work")
    for _ in range(5):
        await hand.do("click_element", index=index)
        if await hand.js(KEPT):
            break
    else:
        pytest.skip("this browser has kept no interaction: a busy machine shows no picture after a click")
    told = await hand.do("measure_performance", of="page")
    assert hand.data["INP"] >= 140
    assert 'button "Done"' in told
    assert "in scripts" in told


async def test_a_slower_network_and_processor_are_slower_and_an_empty_page_says_so(
    hand: Hand, site: Site
) -> None:
    await hand.do("go_to_url", url=page(site))
    await hand.do("measure_performance")
    before = hand.data["FCP"]
    told = await hand.do("measure_performance", network="slow-4g", cpu=4)
    assert "(slow-4g, processor 4 times slower)" in told
    assert hand.data["FCP"] > before
    assert "Nothing is emulated" in await hand.do("emulate")
    await hand.do("go_to_url", url=site.publish(b""))
    assert "Nothing was painted" in await hand.do("measure_performance", of="page") or "TTFB" in hand.data
