"""Whose turn it is."""

import asyncio
from collections import Counter

import anyio

from mcp_browser.browser.concurrency import FairSemaphore, SessionLock


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def _queue(turns: FairSemaphore, *owners: str, order: list[str]) -> list["asyncio.Task[None]"]:
    """Let sessions of these owners ask for turns in this order; `order` is the one that they get them in."""

    async def work(owner: str, name: str) -> None:
        await turns.take(owner)
        order.append(name)
        await asyncio.sleep(0)
        turns.give_back(owner)

    tasks = [asyncio.create_task(work(name.partition(" ")[0], name)) for name in owners]
    await _settle()
    return tasks


async def test_owners_take_turns_however_many_calls_one_of_them_has() -> None:
    turns, order = FairSemaphore(1), list[str]()
    await turns.take("busy")
    tasks = await _queue(turns, *["flood"] * 5, order=order)
    tasks += await _queue(turns, "late", order=order)
    assert len(turns._queue) == 6
    turns.give_back("busy")
    await asyncio.gather(*tasks)
    assert order.index("late") <= 1
    assert Counter(order) == {"flood": 5, "late": 1}
    assert turns.running == len(turns._queue) == 0


async def test_the_next_session_of_an_owner_takes_the_place_of_one_that_gives_up() -> None:
    turns, order = FairSemaphore(1), list[str]()
    await turns.take("busy")
    first, *others = await _queue(turns, "one given up", "two b", "one a", "one c", order=order)
    first.cancel()
    await _settle()
    turns.give_back("busy")
    await asyncio.gather(*others)
    assert order == ["one a", "two b", "one c"]


async def test_one_owner_leaves_a_quarter_of_the_turns_to_others_but_a_crowd() -> None:
    turns = FairSemaphore(4)
    greedy = [asyncio.create_task(turns.take("greedy")) for _ in range(6)]
    await _settle()
    assert turns.running == 3
    await asyncio.wait_for(turns.take("late"), 1)
    turns.give_back("late")
    assert turns.running == 3
    for task in greedy:
        if not task.done():
            task.cancel()
    await _settle()
    assert len(turns._queue) == 0
    crowded = FairSemaphore(4, crowds={"anonymous"})
    for _ in range(4):
        await asyncio.wait_for(crowded.take("anonymous"), 1)
    assert crowded.running == 4


async def test_who_gives_up_waiting_leaves_no_trace() -> None:
    turns = FairSemaphore(1)
    lock = SessionLock(anyio.Lock(), turns, "one")
    other = SessionLock(anyio.Lock(), turns, "two")
    async with lock:
        waiting = asyncio.create_task(other.__aenter__())
        await _settle()
        waiting.cancel()
        await _settle()
        assert len(turns._queue) == 0
        assert not other.locked()
    # A turn that comes at the very moment of giving up goes on to the next.
    await turns.take("one")
    late = asyncio.create_task(turns.take("two"))
    await _settle()
    turns.give_back("one")
    late.cancel()
    await _settle()
    assert turns.running == 0


async def test_calls_of_one_session_come_one_after_the_other() -> None:
    lock = SessionLock(anyio.Lock(), FairSemaphore(4), "one")
    seen: list[str] = []

    async def work(name: str) -> None:
        async with lock:
            seen.append(f"{name} begins")
            await asyncio.sleep(0)
            seen.append(f"{name} ends")

    await asyncio.gather(*map(work, "abc"))
    assert seen == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]
