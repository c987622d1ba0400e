"""netlib.aio and netlib.ssl in trio.

usage: tests_trio.py
"""

from __future__ import annotations

import gc
import os
import ssl
import sys
import threading
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import netlib
import netlib.aio
import netlib.ssl
import trio
import trio.testing
from netlib import Status
from tests_urllib3 import BODY, CA, CERTIFICATES, Test

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"
BUSY_ONCE = [b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", HELLO]


async def serve(nursery: trio.Nursery, responses: list[bytes], is_tls: bool = False) -> str:
    """Starts a server, which answers the nth request with the nth response, and later requests with the last response.
    Without responses, it never answers. Returns its URL."""
    rest = list(responses)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")

    async def answer(plain: trio.SocketStream) -> None:
        stream = trio.SSLStream(plain, context, server_side=True, https_compatible=True) if is_tls else plain
        async with stream:
            await stream.receive_some()
            if not rest:
                await trio.sleep_forever()
            await stream.send_all(rest.pop(0) if len(rest) > 1 else rest[0])

    listeners = await nursery.start(trio.serve_tcp, answer, 0)
    port = listeners[0].socket.getsockname()[1]
    return f"{'https' if is_tls else 'http'}://127.0.0.1:{port}/"


async def get(url: str, tls: netlib.TlsContext | None = None, limit: netlib.Limit | None = None) -> tuple[int, bytes]:
    attempts = netlib.Attempts(netlib.Retry.recommended(), "GET", netlib.parse_url_strict(url), None, False, limit)
    number, status = 0, Status.SEND_AGAIN
    while status == Status.SEND_AGAIN:
        number += 1
        try:
            async with await netlib.aio.connect(attempts.url(), tls, None, limit) as stream:
                await stream.write(attempts.request(netlib.RequestForm.ORIGIN).to_wire())
                response = await stream.response(attempts.method())
                status = await netlib.aio.next_attempt(attempts, response)
                if status == Status.OK:
                    return number, b"".join([piece async for piece in stream.body(response)])
        except netlib.Error as error:
            status = await netlib.aio.next_attempt(attempts, error=error)
    raise AssertionError("the last attempt returns or raises")


class Trio(Test):
    def run_trio(self, main: Callable[[trio.Nursery], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            with trio.fail_after(30):
                async with trio.open_nursery() as nursery:
                    result = await main(nursery)
                    nursery.cancel_scope.cancel()
            return result

        return trio.run(run)

    def test_twenty_downloads_over_tls_share_a_limit(self) -> None:
        tls = netlib.TlsContext(netlib.TlsOptions().add_ca_file(CERTIFICATES / "ca.pem"))

        async def main(nursery: trio.Nursery) -> list[tuple[int, bytes]]:
            url, limit = await serve(nursery, [HELLO], is_tls=True), netlib.Limit(20)
            found: list[tuple[int, bytes]] = []

            async def download() -> None:
                found.append(await get(url, tls, limit))

            async with trio.open_nursery() as clients:
                for _ in range(20):
                    clients.start_soon(download)
            return found

        self.assertEqual(self.run_trio(main), [(1, b"hello\n")] * 20)

    def test_a_busy_server_is_asked_again(self) -> None:
        async def main(nursery: trio.Nursery) -> tuple[int, bytes]:
            return await get(await serve(nursery, BUSY_ONCE))

        self.assertEqual(self.run_trio(main), (2, b"hello\n"))

    def test_limits_end_the_wait(self) -> None:
        def cancelled() -> netlib.Limit:
            limit = netlib.Limit(30)
            threading.Timer(0.05, limit.cancel).start()
            return limit

        for make, expected in ((lambda: netlib.Limit(0.05), "DEADLINE_EXCEEDED"), (cancelled, "CANCELLED")):

            async def main(nursery: trio.Nursery, make: Callable[[], netlib.Limit] = make) -> str:
                try:
                    await get(await serve(nursery, []), limit=make())
                except netlib.TimeLimitError as error:
                    return error.status.name
                return "none"

            with self.subTest(expected):
                self.assertEqual(self.run_trio(main), expected)

    def test_a_cancel_scope_closes_the_connection(self) -> None:
        # The first request waits for a response, and the second one in the TLS handshake.
        async def main(nursery: trio.Nursery) -> list[tuple[bool, int]]:
            found = []
            for scheme in ("http", "https"):
                url = (await serve(nursery, [])).replace("http", scheme)
                gc.collect()
                before = len(os.listdir("/proc/self/fd"))
                with trio.move_on_after(0.1) as scope:
                    await get(url, limit=netlib.Limit(30))
                gc.collect()
                # The server may still have its end of the connection.
                found.append((scope.cancelled_caught, max(len(os.listdir("/proc/self/fd")) - before - 1, 0)))
            return found

        self.assertEqual(self.run_trio(main), [(True, 0), (True, 0)])

    def test_closing_a_stream_ends_the_read_of_another_task(self) -> None:
        for limit in (None, netlib.Limit(30)):

            async def main(nursery: trio.Nursery, limit: netlib.Limit | None = limit) -> str:
                stream = await netlib.aio.connect(await serve(nursery, []), limit=limit)
                raised = []

                async def read() -> None:
                    try:
                        await stream.read()
                    except ValueError as error:
                        raised.append(str(error))

                async with trio.open_nursery() as reading:
                    reading.start_soon(read)
                    await trio.testing.wait_all_tasks_blocked()
                    stream.close()
                return raised[0]

            self.assertEqual(self.run_trio(main), "the Stream is closed")

    def test_httpx_uses_the_context(self) -> None:
        server = self.serve()

        async def main(_nursery: trio.Nursery) -> bytes:
            async with httpx.AsyncClient(verify=netlib.ssl.create_default_context(cafile=CA)) as client:
                return bytes((await client.get(f"{server.url}/body")).content)

        self.assertEqual(self.run_trio(main), BODY)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
