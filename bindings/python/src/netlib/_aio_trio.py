"""The waits of netlib.aio in trio."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from contextlib import suppress

import trio

from ._api import Limit


class TrioWaits:
    """Waits for descriptors in a task of trio, until a limit ends. Several tasks may wait at once."""

    def __init__(self, limit: Limit | None) -> None:
        self._limit = limit
        self._waiting: set[trio.CancelScope] = set()

    def close(self) -> None:
        """Ends all waits. The caller closes their descriptors afterwards, because their numbers may be used again."""
        for scope in list(self._waiting):
            scope.cancel()

    @staticmethod
    async def turn() -> None:
        """Lets other tasks run."""
        await trio.lowlevel.checkpoint()

    async def wait(self, events: Iterable[tuple[int, bool]], seconds: float = math.inf) -> None:
        """Waits until one of the events occurs, the seconds have passed or the limit ends."""
        found = list(events)
        if self._limit is not None:
            self._limit.check()
            seconds = min(seconds, self._limit.remaining())
            found.append((self._limit.fd(), False))
        with trio.move_on_after(seconds) as scope:
            self._waiting.add(scope)
            try:
                if len(found) == 1:
                    await _wait_for(*found[0])
                else:
                    await _wait_for_any(found)
            finally:
                self._waiting.discard(scope)
        if self._limit is not None:
            self._limit.check()


async def _wait_for_any(events: list[tuple[int, bool]]) -> None:
    async def wait_for(event: tuple[int, bool]) -> None:
        await _wait_for(*event)
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for event in events:
            nursery.start_soon(wait_for, event)
        if not events:
            await trio.sleep_forever()


async def _wait_for(descriptor: int, writes: bool) -> None:
    wait = trio.lowlevel.wait_writable if writes else trio.lowlevel.wait_readable
    with suppress(trio.BusyResourceError):
        await wait(descriptor)
        return
    # trio allows one wait for each number, and other connections may have the same limit.
    copy = os.dup(descriptor)
    try:
        await wait(copy)
    finally:
        os.close(copy)
