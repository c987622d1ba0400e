"""netlib with asyncio and trio: connecting, streams and retries without a thread for each connection.

    attempts = netlib.Attempts(netlib.Retry.recommended(), "GET", url, None, False)
    status = Status.SEND_AGAIN
    while status == Status.SEND_AGAIN:
        try:
            async with await netlib.aio.connect(attempts.url(), tls) as stream:
                await stream.write(attempts.request(RequestForm.ORIGIN).to_wire())
                response = await stream.response(attempts.method())
                status = await netlib.aio.next_attempt(attempts, response)
                if status == Status.OK:
                    body = b"".join([piece async for piece in stream.body(response)])
        except netlib.Error as error:
            status = await netlib.aio.next_attempt(attempts, error=error)

A limit, `asyncio.timeout`, `trio.fail_after` and the cancellation of a task end every wait. anyio works with both event
loops.
"""

from __future__ import annotations

import asyncio
import math
import os
import select
import socket
import sys
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING

from . import _api
from ._api import (
    Attempts,
    BodyDecoder,
    Connect,
    ConnectOptions,
    ErrorInfo,
    ErrorOptions,
    Limit,
    Response,
    RetryKind,
    Status,
    TlsContext,
    Url,
)
from ._errors import Error
from ._runtime import Data, Self

if TYPE_CHECKING:
    from ._aio_trio import TrioWaits

__all__ = ["Stream", "connect", "next_attempt"]

Event = tuple[int, bool]  # a descriptor, and whether to wait until it is writable

# A stream lets other tasks run after _BURST bytes without a wait. Each call counts as at least _CALL bytes.
_BURST, _CALL = 256 * 1024, 4096


class _Waits:
    """Waits for descriptors with the event loop of asyncio, until a limit ends. Several tasks may wait at once."""

    def __init__(self, limit: Limit | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._waiting: dict[Event, set[asyncio.Future[None]]] = {}
        # An event loop allows one callback for each descriptor, and several connections may have the same limit.
        self._cancel_fd = -1 if limit is None else os.dup(limit.fd())
        if limit is not None:
            self._loop.add_reader(self._cancel_fd, self._cancelled)

    def close(self) -> None:
        """Ends all waits. The caller closes their descriptors afterwards, because their numbers may be used again."""
        for event, futures in list(self._waiting.items()):
            for future in list(futures):
                self._remove(event, future)
                _wake(future)
        if self._cancel_fd >= 0:
            self._loop.remove_reader(self._cancel_fd)
            os.close(self._cancel_fd)
            self._cancel_fd = -1

    @staticmethod
    async def turn() -> None:
        """Lets other tasks run."""
        await asyncio.sleep(0)

    async def wait(self, events: Iterable[Event], seconds: float = math.inf) -> None:
        """Waits until one of the events occurs, the seconds have passed or the limit ends."""
        if self._limit is not None:
            self._limit.check()
            seconds = min(seconds, self._limit.remaining())
        future = self._loop.create_future()
        for event in events:
            self._add(event, future)
        timer = self._loop.call_later(seconds, _wake, future) if seconds < math.inf else None
        try:
            await future
        finally:
            if timer is not None:
                timer.cancel()
            for event in events:
                self._remove(event, future)
        if self._limit is not None:
            self._limit.check()

    def _add(self, event: Event, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.setdefault(event, set())
        if not waiting:
            add = self._loop.add_writer if event[1] else self._loop.add_reader
            add(event[0], self._ready, event)
        waiting.add(future)

    def _remove(self, event: Event, future: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(event)
        if waiting is None:
            return  # the waits are closed
        waiting.discard(future)
        if not waiting:
            del self._waiting[event]
            remove = self._loop.remove_writer if event[1] else self._loop.remove_reader
            remove(event[0])

    def _ready(self, event: Event) -> None:
        for future in self._waiting[event]:
            _wake(future)

    def _cancelled(self) -> None:
        # The descriptor stays readable.
        self._loop.remove_reader(self._cancel_fd)
        for event in self._waiting:
            self._ready(event)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _make_waits(limit: Limit | None) -> _Waits | TrioWaits:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        from ._aio_trio import TrioWaits

        return TrioWaits(limit)
    return _Waits(limit)


class Stream:
    """A connection in an event loop. One task may read while another one writes."""

    def __init__(self, stream: _api.Stream, connection: socket.socket, waits: _Waits | TrioWaits) -> None:
        self.stream = stream
        """The stream, whose getters describe the connection. It is not blocking."""
        self._socket, self._waits = connection, waits
        self._burst = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection at once. A read or a write of another task raises ValueError. To tell the peer that no
        more data follows, call `shutdown` first."""
        self.stream.close()
        try:
            self._waits.close()
        finally:
            self._socket.close()

    async def _turn(self) -> None:
        """Lets other tasks run after a burst of calls that did not wait. A task that is cancelled here loses no data,
        because it waits before its next call."""
        if self._burst >= _BURST:
            self._burst = 0
            await self._waits.turn()

    def _transferred(self, count: int) -> None:
        self._burst += max(count, _CALL)

    async def _wait(self, status: Status) -> None:
        self._burst = 0
        await self._waits.wait([(self._socket.fileno(), status == Status.WANT_WRITE)])

    async def handshake(self) -> None:
        """Makes the TLS handshake."""
        while (status := self.stream.handshake()) != Status.OK:
            await self._wait(status)

    async def read(self, size: int = 16384) -> bytes:
        """Reads at most `size` bytes. Returns b"" at the end of the data."""
        buffer = bytearray(size)
        while True:
            await self._turn()
            status, count = self.stream.read(buffer)
            if status in (Status.OK, Status.END_OF_STREAM):
                self._transferred(count)
                return bytes(memoryview(buffer)[:count])
            await self._wait(status)

    async def write(self, data: Data) -> None:
        """Writes all bytes."""
        rest = memoryview(data).cast("B")
        while rest:
            await self._turn()
            status, count = self.stream.write(rest)
            rest = rest[count:]
            if status == Status.OK:
                self._transferred(count)
            else:
                await self._wait(status)

    async def shutdown(self) -> None:
        """Tells the peer that no more data follows."""
        while (status := self.stream.shutdown()) != Status.OK:
            await self._wait(status)

    async def response(self, method: str = "GET") -> Response:
        """Reads the head of the final response to a request with a method."""
        while True:
            status, response = self.stream.read_response(method)
            if status == Status.END_OF_STREAM:
                raise EOFError("the stream has ended")
            if response is not None:
                return response
            await self._wait(status)

    async def body(self, response: Response, size: int = 65536) -> AsyncIterator[bytes]:
        """Reads the body of a response. Yields pieces of at most `size` bytes as they arrive."""
        with BodyDecoder(response) as decoder:
            buffer = bytearray(size)
            while True:
                await self._turn()
                status, count = self.stream.read_body(decoder, buffer)
                if status == Status.END_OF_STREAM:
                    return
                if status == Status.OK:
                    self._transferred(count)
                    yield bytes(memoryview(buffer)[:count])
                else:
                    await self._wait(status)


async def connect(
    url: Url | str,
    context: TlsContext | None = None,
    options: ConnectOptions | None = None,
    limit: Limit | None = None,
) -> Stream:
    """Connects to the server of a URL, and makes the TLS handshake for https, as `netlib.connect` does. The timeouts of
    the options apply to connecting; for the stream, use a limit
    or a timeout of the event loop."""
    url = _api.parse_url_strict(url) if isinstance(url, str) else url
    is_tls = url.scheme() == "https"
    if context is None and is_tls:
        context = TlsContext()
    host = url.host() or ""
    waits = _make_waits(limit)
    connection: socket.socket | None = None
    try:
        connection = await _race(host, url.port_or_default(), options, limit, waits)
        connection.setblocking(False)
        if is_tls:
            assert context is not None
            inner = _api.tls_wrap_fd(context, connection, host)
        else:
            inner = _api.Stream.new_fd(connection)
        inner.set_blocking(False)
        stream = Stream(inner, connection, waits)
        if is_tls:
            await stream.handshake()
        return stream
    except BaseException:
        waits.close()
        if connection is not None:
            connection.close()
        raise


async def _race(
    host: str, port: int, options: ConnectOptions | None, limit: Limit | None, waits: _Waits | TrioWaits
) -> socket.socket:
    with Connect(host, port, options) as race:
        race.set_limit(limit)
        while True:
            status, connection = race.step()
            if connection is not None:
                return connection
            if status == Status.WANT_ADDRESSES:
                raise ValueError("the setting supply_addresses needs a Connect of the application")
            found = range(race.wait_count())
            events = [(race.wait_fd(at), bool(race.wait_events(at) & select.POLLOUT)) for at in found]
            await waits.wait(events, race.wait_seconds())


async def next_attempt(attempts: Attempts, response: Response | None = None, error: Error | None = None) -> Status:
    """Does what `Attempts.next` does. The wait before another attempt blocks no other task, and does not call the sleep
    callback of the Retry."""
    status = attempts.decide(response, error)
    decision = attempts.decision()
    if status == Status.SEND_AGAIN and decision is not None:
        try:
            waits = _make_waits(attempts.limit())
            try:
                await waits.wait([], decision.delay())
            finally:
                waits.close()
        except Error as ended:
            status = attempts.decide(error=_never_retried(ended))  # ends the request, and raises the error
    return status


def _never_retried(error: Error) -> ErrorInfo:
    if error.info.retry_kind() == RetryKind.NEVER:
        return error.info
    return ErrorInfo(error.status, str(error), ErrorOptions().cause(error).retry_kind(RetryKind.NEVER))
