from functools import partial

import pytest

from mcp_browser.server.http.middleware import request_limits as rates
from mcp_browser.server.http.middleware.request_limits import Buckets
from tests.server.http.conftest import Serve


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(rates.time, "monotonic", lambda: self.now)


def test_a_bucket_fills_at_its_rate_and_no_further_than_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    take = partial(Buckets().take, "a", rate=2, burst=3)
    assert [take() for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now += 0.25
    assert take() == 0.25
    clock.now += 0.25
    assert take() == 0
    clock.now += 3600
    assert [take() > 0 for _ in range(4)] == [False, False, False, True]


def test_buckets_are_each_ones_own_and_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    monkeypatch.setattr(rates, "MOST_BUCKETS", 10)
    buckets = Buckets()
    take = partial(buckets.take, rate=1, burst=1)
    assert [take("a"), take("b")] == [0, 0]
    assert take("a") > 0
    for number in range(100):
        take(str(number))
    assert len(buckets._levels) == 10


async def test_who_asks_too_much_is_told_when_to_come_again(serve: Serve) -> None:
    async with serve(rate_limit=0.2, token="alice:a-token-0123456789,bob:b-token-0123456789") as served:
        alice = {"Authorization": "Bearer a-token-0123456789"}
        answers = [await served.client.get("/mcp", headers=alice) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 5
        assert await served.status(Authorization="Bearer b-token-0123456789") == 200
        assert await served.status("/healthz") == 200
        assert served.refused == {"rate": 2}


async def test_the_anonymous_count_by_address(serve: Serve) -> None:
    async with serve(rate_limit=0.1, trusted_proxies="127.0.0.1") as served:
        assert [await served.status(X_Forwarded_For="192.0.2.1") for _ in range(2)] == [200, 429]
        assert await served.status(X_Forwarded_For="192.0.2.2") == 200


async def test_without_a_rate_nothing_is_limited(serve: Serve) -> None:
    async with serve(rate_limit=0) as served:
        assert {await served.status() for _ in range(20)} == {200}
