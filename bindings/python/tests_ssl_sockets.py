"""The ends of the connections of netlib.ssl, compared with the ssl module."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import ssl
import sys
import threading
import time
import unittest
import unittest.mock
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests_ssl import server_context, trusting
from tests_urllib3 import CA


def outcome(call: Callable[[], object]) -> object:
    """The class of an exception, with the reason of OpenSSL if it has one, or the result."""
    try:
        return call()
    except ssl.SSLError as error:
        return type(error), str(error).split("[")[-1].split("]")[0]
    except (OSError, ValueError) as error:
        return type(error)


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    return ssl.create_default_context(cafile=CA), trusting()


@contextlib.contextmanager
def connection(context: ssl.SSLContext) -> Iterator[tuple[ssl.SSLSocket, ssl.SSLSocket]]:
    """Yields the ends of the client and of the server after the handshake."""
    left, right = socket.socketpair()
    left.settimeout(10)
    client = context.wrap_socket(left, server_hostname="localhost", do_handshake_on_connect=False)
    thread = threading.Thread(target=client.do_handshake)
    thread.start()
    server = server_context().wrap_socket(right, server_side=True)
    thread.join()
    with client, server:
        yield client, server


class Unwrap(unittest.TestCase):
    def test_unwrap_raises_the_exceptions_of_the_ssl_module(self) -> None:
        """With data of the peer before its close_notify, and with close_notify only."""

        def unwrap(context: ssl.SSLContext, data: bytes, closes: bool) -> object:
            with connection(context) as (client, server):
                server.settimeout(0)
                server.sendall(data)
                if closes:
                    with contextlib.suppress(ssl.SSLWantReadError):
                        server.unwrap()
                return outcome(lambda: client.unwrap().close())

        for data, closes in ((b"data", True), (b"data", False), (b"", True)):
            with self.subTest(data=data, closes=closes):
                expected, found = (unwrap(context, data, closes) for context in contexts())
                self.assertEqual(found, expected)

    def test_unwrap_continues_without_tls_and_with_the_timeout(self) -> None:
        unwrapped = threading.Event()

        def answer(server: ssl.SSLSocket) -> None:
            plain = server.unwrap()
            unwrapped.wait(10)
            plain.sendall(b"plain")

        with connection(trusting()) as (client, server):
            thread = threading.Thread(target=answer, args=[server])
            thread.start()
            with client.unwrap() as plain:
                unwrapped.set()
                self.assertEqual((type(plain), plain.gettimeout()), (socket.socket, 10))
                self.assertEqual(plain.recv(5), b"plain")
            thread.join()

    def test_before_the_handshake_methods_raise_the_exceptions_of_the_ssl_module(self) -> None:
        def outcomes(context: ssl.SSLContext) -> list[object]:
            left, right = socket.socketpair()
            memory = context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname="localhost")
            with (
                right,
                context.wrap_socket(left, server_hostname="localhost", do_handshake_on_connect=False) as connection,
            ):
                connection.setblocking(False)
                found = []
                for one in (connection, memory):
                    for _ in range(2):
                        found += [outcome(one.getpeercert), outcome(partial(one.getpeercert, True))]
                        found += [outcome(one.unwrap), outcome(one.do_handshake)[0]]  # type: ignore[index]
                return found

        expected, found = map(outcomes, contexts())
        self.assertEqual(found, expected)

    def test_unwrap_in_memory_raises_the_exception_of_the_ssl_module_after_a_failure(self) -> None:
        def unwrap(context: ssl.SSLContext) -> object:
            to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = context.wrap_bio(to_client, to_server, server_hostname="localhost")
            server = server_context().wrap_bio(to_server, to_client, server_side=True)
            for session in (client, server, client, server):
                with contextlib.suppress(ssl.SSLWantReadError):
                    session.do_handshake()
            with contextlib.suppress(ssl.SSLWantReadError):
                client.read(1)
            to_client.write(b"\x17\x03\x03\x00\x20" + bytes(32))
            self.assertIs(outcome(lambda: client.read(1))[0], ssl.SSLError)  # type: ignore[index]
            try:
                client.unwrap()
            except ssl.SSLError as error:
                return type(error)
            return None

        expected, found = map(unwrap, contexts())
        self.assertEqual(found, expected)


class Close(unittest.TestCase):
    def test_close_wakes_the_thread_that_waits(self) -> None:
        calls: dict[str, Callable[[ssl.SSLSocket], object]] = {
            "recv": lambda client: client.recv(1),
            "sendall": lambda client: client.sendall(bytes(16 << 20)),
        }
        for name, call in calls.items():
            with self.subTest(name), connection(trusting()) as (client, _):
                client.settimeout(None)
                errors: list[int | None] = []

                def run(client: ssl.SSLSocket = client, errors: list[int | None] = errors, call: Any = call) -> None:
                    try:
                        call(client)
                    except OSError as error:
                        errors.append(error.errno)

                thread = threading.Thread(target=run, daemon=True)
                thread.start()
                for _ in range(10000):
                    if client._calls:  # type: ignore[attr-defined]
                        break
                    time.sleep(0.001)
                client.close()
                thread.join(10)
                self.assertEqual((thread.is_alive(), errors), (False, [errno.EBADF]))

    def test_a_call_keeps_the_descriptor_of_a_closed_connection(self) -> None:
        """The stream closes the connection during a call, as another thread could."""
        calls: dict[str, Callable[[ssl.SSLSocket], object]] = {
            "read": lambda client: client.recv(1),
            "write": lambda client: client.send(b"a"),
            "handshake": lambda client: client.do_handshake(),
        }
        for name, call in calls.items():
            with self.subTest(name), connection(trusting()) as (client, _):
                number = client.fileno()
                found: list[int] = []

                def close(*_arguments: object, client: ssl.SSLSocket = client, found: list[int] = found) -> Any:
                    client.close()
                    with socket.socket() as other:
                        found.append(other.fileno())
                    raise ValueError

                client._tls.close()  # type: ignore[attr-defined]
                client._tls = unittest.mock.Mock(**{f"{name}.side_effect": close})  # type: ignore[attr-defined]
                error = self.assertRaisesRegex(OSError, "the connection is closed")
                with error:
                    call(client)
                self.assertEqual(error.exception.errno, errno.EBADF)
                self.assertNotIn(number, found)
                self.assertEqual((client.fileno(), len(found)), (-1, 1))
                self.assertRaises(OSError, os.fstat, number)

    def test_a_forked_child_closes_only_its_copy_of_the_descriptor(self) -> None:
        with connection(trusting()) as (client, server):
            number = client.fileno()
            with client._calls:  # type: ignore[attr-defined] # as in a call of another thread
                child = os.fork()
                if not child:
                    status = 1
                    try:
                        client.close()
                        status = int(outcome(partial(os.fstat, number)) is not OSError)
                    finally:
                        os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            server.sendall(b"a")
            self.assertEqual(client.recv(1), b"a")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
