import asyncio
from collections.abc import AsyncGenerator
from functools import partial

import httpx2
import pytest

from mcp_browser.server.http import limits
from mcp_browser.server.http.limits import Buckets
from tests.server.http.conftest import Serve, Served

MIB = 1024 * 1024
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def chunks(size: int) -> AsyncGenerator[bytes]:
    for _ in range(size // 65_536 + 1):
        yield b"x" * 65_536


async def test_a_body_up_to_the_limit_arrives_whole(serve: Serve) -> None:
    async with serve(max_body=1) as served:
        for size in (0, 1, MIB):
            answer = await served.client.post("/mcp", content=b"x" * size)
            assert (answer.status_code, answer.json()["size"]) == (200, size)
        assert (await served.client.post("/mcp", content=chunks(MIB // 2))).json()["size"] > MIB // 2


async def test_a_body_that_is_too_long_is_refused_whether_it_says_so_or_not(serve: Serve) -> None:
    async with serve(max_body=1) as served:
        declared = await served.raw(
            HEAD + b"Content-Length: 99999999999999999999\r\nConnection: close\r\n\r\n"
        )
        assert b" 413 " in declared
        streamed = await served.client.post("/mcp", content=chunks(4 * MIB))
        assert streamed.status_code == 413
        assert "longer than 1 MiB (--max-body)" in streamed.text
        assert served.refused == {"body_size": 2}


async def test_a_body_that_does_not_come_is_not_waited_for(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served:
        answer = await served.raw(HEAD + b"Content-Length: 10\r\n\r\n12345")
        assert b" 408 " in answer
        assert served.refused == {"body_time": 1}


async def test_a_body_that_trickles_is_not_waited_for(serve: Serve) -> None:
    async with serve(client_timeout=0.3) as served, served.connected() as (reader, writer):
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\n")
        answer = asyncio.create_task(reader.readuntil(b"\r\n"))
        while not answer.done():
            writer.write(b"x")
            await asyncio.sleep(0.01)
        assert b" 408 " in await answer


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_let_go(served: Served) -> None:
    async with served.connected() as (_, writer):
        writer.write(HEAD + b"Content-Length: 100000\r\n\r\nxxx")
        await writer.drain()
    assert (await served.client.post("/mcp", content=b"x")).status_code == 200


async def test_long_bodies_at_once_fill_only_so_much_memory(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODIES_AT_ONCE", 2)

    async with serve(max_body=1) as served:

        async def send() -> httpx2.Response:
            return await served.client.post("/mcp", content=b"x" * 1000)

        async with served.connected() as (_, first), served.connected() as (_, second):
            for writer in (first, second):
                writer.write(HEAD + b"Content-Length: 1048576\r\n\r\n" + b"x" * (MIB - 1))
                await writer.drain()
            while (answer := await send()).status_code == 200:  # Their bodies have not come whole yet.
                pass
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        while (await send()).status_code == 503:
            pass


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(limits.time, "monotonic", lambda: self.now)


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
    monkeypatch.setattr(limits, "MOST_BUCKETS", 10)
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
