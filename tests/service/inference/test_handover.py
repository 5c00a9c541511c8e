from __future__ import annotations

import asyncio
import threading

from service.inference.handover import Handover


async def test_calls_are_made_on_the_loop_in_their_order() -> None:
    loop, made = asyncio.get_running_loop(), list[tuple[int, int]]()
    handover, done = Handover(loop), asyncio.Event()

    def hand_over() -> None:
        for number in range(100):
            handover.call(lambda n=number: made.append((n, threading.get_ident())))  # type: ignore[misc]
        handover.call(done.set)

    thread = threading.Thread(target=hand_over)
    thread.start()
    async with asyncio.timeout(5):
        await done.wait()
    thread.join()
    assert made == [(number, threading.get_ident()) for number in range(100)]


async def test_the_loop_is_woken_once_for_all_that_are_there() -> None:
    loop, woken = asyncio.get_running_loop(), []
    handover = Handover(loop)
    loop.call_soon_threadsafe = lambda call: woken.append(call)  # type: ignore[method-assign, assignment, misc]
    try:
        for _ in range(3):
            handover.call(lambda: None)
        assert len(woken) == 1
        woken[0]()
        handover.call(lambda: None)
        assert len(woken) == 2
    finally:
        del loop.call_soon_threadsafe


async def test_what_a_call_hands_over_is_made_too() -> None:
    handover, done = Handover(asyncio.get_running_loop()), asyncio.Event()
    handover.call(lambda: handover.call(done.set))
    async with asyncio.timeout(5):
        await done.wait()
