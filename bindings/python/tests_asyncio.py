"""netlib.aio in asyncio."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import ssl
import sys
import threading
import time
import unittest
from pathlib import Path

import netlib
import netlib.aio
from netlib import Status

CERTIFICATES = Path(__file__).resolve().parent.parent.parent / "tests/certs"
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"
BUSY_ONCE = [b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", HELLO]


class Asyncio(unittest.IsolatedAsyncioTestCase):
    async def serve(self, responses: list[bytes], is_tls: bool = False) -> str:
        """Starts a server in the event loop, which answers the nth request with the nth response, and later requests
        with the last response. Returns its URL."""
        rest = list(responses)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            if rest:
                writer.write(rest.pop(0) if len(rest) > 1 else rest[0])
                writer.close()

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if is_tls else None
        if context is not None:
            context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        self.addAsyncCleanup(self.stop, server)
        scheme = "https" if is_tls else "http"
        return f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"

    @staticmethod
    async def stop(server: asyncio.Server) -> None:
        server.close()

    async def get(
        self, url: str, tls: netlib.TlsContext | None = None, limit: netlib.Limit | None = None
    ) -> tuple[int, bytes]:
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

    async def test_a_stream_that_is_always_ready_lets_other_tasks_run(self) -> None:
        size, piece = 16 << 20, bytes(16384)
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size

        def read(buffer: memoryview) -> int:
            nonlocal head
            part, head = (head or piece)[: len(buffer)], head[len(buffer) :]
            buffer[: len(part)] = part
            return len(part)

        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def download(stream: netlib.aio.Stream) -> None:
            async for _piece in stream.body(await stream.response()):
                pass

        async def receive(stream: netlib.aio.Stream) -> None:
            for _ in range(size // len(piece)):
                await stream.read()

        async def send(stream: netlib.aio.Stream) -> None:
            for _ in range(size // len(piece)):
                await stream.write(piece)

        ends = socket.socketpair()
        for use in (download, receive, send):
            with self.subTest(use.__name__):
                inner = netlib.Stream.new_callbacks(read, len)
                stream = netlib.aio.Stream(inner, ends[0], netlib.aio._Waits(None))
                other = asyncio.create_task(count())
                turns = 0
                await use(stream)
                other.cancel()
                self.assertGreaterEqual(turns, size // (256 << 10) - 1)
        for end in ends:
            end.close()

    async def test_a_cancelled_read_loses_no_data(self) -> None:
        sent = iter(range(1 << 30))

        def read(buffer: memoryview) -> int:
            buffer[:1] = bytes([next(sent) % 256])
            return 1

        ends = socket.socketpair()
        stream = netlib.aio.Stream(netlib.Stream.new_callbacks(read, len), ends[0], netlib.aio._Waits(None))
        received = b""
        for _ in range(1000):
            task = asyncio.create_task(stream.read(1))
            await asyncio.sleep(0)
            task.cancel()
            received += b"".join(
                one for one in await asyncio.gather(task, return_exceptions=True) if type(one) is bytes
            )
        self.assertEqual(received, bytes(at % 256 for at in range(len(received))))
        self.assertLess(len(received), 1000)
        for end in ends:
            end.close()

    async def test_fifty_downloads_over_tls_need_no_thread(self) -> None:
        url = await self.serve([HELLO], is_tls=True)
        tls = netlib.TlsContext(netlib.TlsOptions().add_ca_file(CERTIFICATES / "ca.pem"))
        threads = len(os.listdir("/proc/self/task"))
        results = await asyncio.gather(*[self.get(url, tls) for _ in range(50)])
        self.assertEqual(results, [(1, b"hello\n")] * 50)
        self.assertEqual(len(os.listdir("/proc/self/task")), threads)

    async def test_a_busy_server_is_asked_again(self) -> None:
        self.assertEqual(await self.get(await self.serve(BUSY_ONCE)), (2, b"hello\n"))

    async def test_a_deadline_ends_the_wait(self) -> None:
        url = await self.serve([])
        with self.assertRaises(netlib.TimeLimitError) as raised:
            await self.get(url, limit=netlib.Limit(0.05))
        self.assertEqual(raised.exception.status, Status.DEADLINE_EXCEEDED)

    async def test_cancelling_the_limit_in_another_thread_ends_the_wait(self) -> None:
        url, limit = await self.serve([]), netlib.Limit(30)
        threading.Timer(0.05, limit.cancel).start()
        start = time.monotonic()
        with self.assertRaises(netlib.TimeLimitError) as raised:
            await self.get(url, limit=limit)
        self.assertEqual(raised.exception.status, Status.CANCELLED)
        self.assertLess(time.monotonic() - start, 5)

    async def test_cancelling_the_task_closes_the_connection(self) -> None:
        # The server sends nothing: the first task waits for a response, and the second one in the TLS handshake.
        for scheme in ("http", "https"):
            url = (await self.serve([])).replace("http", scheme)
            gc.collect()
            before = len(os.listdir("/proc/self/fd"))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.get(url, limit=netlib.Limit(30)), 0.1)
            gc.collect()
            await asyncio.sleep(0.05)
            self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)

    async def test_closing_a_stream_ends_the_read_of_another_task(self) -> None:
        for limit in (None, netlib.Limit(30)):
            stream = await netlib.aio.connect(await self.serve([]), limit=limit)
            descriptor = stream._socket.fileno()
            sender, receiver = socket.socketpair()
            read = asyncio.create_task(stream.read())
            await asyncio.sleep(0.05)
            stream.close()
            # Another socket gets the number of the closed descriptor.
            os.dup2(receiver.fileno(), descriptor)
            with sender, receiver, socket.socket(fileno=descriptor) as reused:
                reused.setblocking(False)
                receiving = asyncio.create_task(asyncio.get_running_loop().sock_recv(reused, 1))
                with self.assertRaisesRegex(ValueError, "the Stream is closed"):
                    await asyncio.wait_for(read, 5)
                sender.send(b"a")
                self.assertEqual(await asyncio.wait_for(receiving, 5), b"a")

    async def test_a_refused_connection_is_an_error(self) -> None:
        with self.assertRaises(ConnectionError):
            await netlib.aio.connect("http://127.0.0.1:1/")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
