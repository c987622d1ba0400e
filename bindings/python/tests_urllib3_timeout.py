"""urllib3 and requests with the class Timeout of netlib."""

from __future__ import annotations

import copy
import itertools
import pickle
import socket
import sys
import threading
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

import netlib.urllib3
import requests
import requests.adapters
import urllib3
import urllib3.connection
import urllib3.connectionpool
import urllib3.exceptions
import urllib3.poolmanager
import urllib3.util.timeout
from netlib.urllib3 import Timeout

Original: Any = urllib3.util.timeout.Timeout
DEFAULT = Original.DEFAULT_TIMEOUT
NAN, INFINITE = float("nan"), float("inf")
STATE_ERROR = urllib3.exceptions.TimeoutStateError


def failure(call: Callable[[], Any]) -> Any:
    """The result of a call, or the class and the message of its exception."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def clock(*readings: float) -> Any:
    return mock.patch("time.monotonic", side_effect=readings)


class Test(unittest.TestCase):
    def setUp(self) -> None:
        netlib.urllib3.inject_into_urllib3(timeout=True)
        self.addCleanup(netlib.urllib3.extract_from_urllib3)

    def silent_server(self) -> int:
        """Starts a server that accepts connections and never answers. Returns its port."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        return listener.getsockname()[1]  # type: ignore[no-any-return]


class Injection(Test):
    def test_every_module_gets_the_class_until_extracting(self) -> None:
        modules: tuple[Any, ...] = (
            urllib3, urllib3.util, urllib3.util.timeout, urllib3.connection, urllib3.connectionpool,
            urllib3.poolmanager,
        )  # fmt: skip

        def found() -> set[Any]:
            return {module.Timeout for module in modules} | {requests.adapters.TimeoutSauce}

        self.assertEqual(found(), {Timeout})
        netlib.urllib3.extract_from_urllib3()
        self.assertEqual(found(), {Original})
        netlib.urllib3.inject_into_urllib3(parse_url=True, retry=True)
        self.assertEqual(found(), {Original})

    def test_pools_make_timeouts_of_netlib(self) -> None:
        pool = urllib3.HTTPConnectionPool("localhost", timeout=3)
        self.assertEqual((type(pool.timeout), repr(pool.timeout)), (Timeout, "Timeout(connect=3, read=3, total=None)"))

    def test_timeouts_that_exist_before_the_injection_can_be_used(self) -> None:
        older = Original(read=0.1)
        self.assertIsInstance(older, urllib3.Timeout)
        self.assertNotIsInstance(3, urllib3.Timeout)
        url = f"http://127.0.0.1:{self.silent_server()}/"
        with self.assertRaises(requests.exceptions.ReadTimeout):
            requests.get(url, timeout=older)
        pool = urllib3.HTTPConnectionPool("localhost", timeout=older)
        self.assertIs(pool.timeout, older)

        class Newer(Timeout):
            pass

        self.assertNotIsInstance(older, Newer)

    def test_the_limits_of_requests_are_obeyed(self) -> None:
        port = self.silent_server()
        for timeout, message in (
            (0.1, "Read timed out. (read timeout=0.1)"),
            ((7, 0.1), "Read timed out. (read timeout=0.1)"),
            (Timeout(total=0.1), "Read timed out. (read timeout="),
            (Timeout(connect=7, read=0.1, total=9), "Read timed out. (read timeout=0.1)"),
        ):
            with self.subTest(timeout), self.assertRaises(requests.exceptions.ReadTimeout) as raised:
                requests.get(f"http://127.0.0.1:{port}/", timeout=timeout)
            self.assertIn(message, str(raised.exception))

    def test_the_connect_limit_is_obeyed(self) -> None:
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        socket.setdefaulttimeout(5)  # so that a broken limit does not wait for minutes
        # A full queue of a listener drops further connections.
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            with socket.create_connection(("127.0.0.1", port)):
                for timeout in (Timeout(connect=0.1, total=5), Timeout(total=0.1)):
                    with self.assertRaises(urllib3.exceptions.MaxRetryError) as raised:
                        urllib3.PoolManager().request("GET", f"http://127.0.0.1:{port}/", timeout=timeout, retries=0)
                    self.assertIn("(connect timeout=0.1)", str(raised.exception))


class Limits(unittest.TestCase):
    """Timeout without the injection."""

    def test_a_clock_may_start_at_zero(self) -> None:
        for kind in (Original, Timeout):
            with self.subTest(kind.__module__), clock(0.0, 3.0):
                timeout = kind(total=10)
                timeout.start_connect()
                self.assertEqual(timeout.read_timeout, 7.0)

    def test_limits(self) -> None:
        # The constructor's arguments; the connect limit; the read limit 2 seconds after the start.
        rows: list[tuple[dict[str, Any], Any, Any]] = [
            ({}, DEFAULT, None),
            ({"connect": None, "read": None}, None, None),
            ({"connect": 3, "read": 7}, 3, 7),
            ({"total": 5}, 5, 3),
            ({"total": 5, "connect": 3, "read": 7}, 3, 3),
            ({"total": 5, "connect": 9, "read": 2.5}, 5, 2.5),
            ({"total": 1}, 1, 0),
            ({"total": 5, "connect": None, "read": None}, 5, 3),
            ({"total": DEFAULT, "connect": None}, DEFAULT, None),
            ({"total": INFINITE, "connect": INFINITE, "read": INFINITE}, None, None),
        ]
        for arguments, connect, read in rows:
            with self.subTest(arguments):
                timeout = Timeout(**arguments)
                self.assertEqual(timeout.connect_timeout, connect)
                with clock(100.0, 102.0):
                    self.assertEqual(timeout.start_connect(), 100.0)
                    self.assertEqual(timeout.read_timeout, read)

    def test_the_clock(self) -> None:
        timeout = Timeout(total=10, read=7)
        self.assertEqual(timeout.read_timeout, 7)
        not_started = STATE_ERROR, "Can't get connect duration for timer that has not started."
        self.assertEqual(failure(timeout.get_connect_duration), not_started)
        self.assertEqual(failure(lambda: Timeout(total=10).read_timeout), not_started)
        with clock(100.0, 101.5, 104.0, 111.0):
            timeout.start_connect()
            self.assertEqual(failure(timeout.start_connect), (STATE_ERROR, "Timeout timer has already been started."))
            copies = [copy.copy(timeout), pickle.loads(pickle.dumps(timeout))]
            self.assertEqual([made.get_connect_duration() for made in [timeout, *copies]], [1.5, 4.0, 11.0])
        clone = timeout.clone()
        self.assertEqual(
            (type(clone), repr(clone)), (Timeout, "Timeout(connect=<_TYPE_DEFAULT.token: -1>, read=7, total=10)")
        )
        self.assertEqual(failure(clone.get_connect_duration), not_started)

    def test_a_changed_total_takes_effect(self) -> None:
        timeout = Timeout(total=10)
        with clock(100.0, 102.0):
            timeout.start_connect()
            timeout.total = 5
            self.assertEqual((timeout.connect_timeout, timeout.read_timeout), (5, 3.0))

    def test_the_default_is_that_of_the_socket_module(self) -> None:
        self.addCleanup(socket.setdefaulttimeout, socket.getdefaulttimeout())
        socket.setdefaulttimeout(4)
        self.assertEqual(Timeout().read_timeout, 4)
        self.assertEqual([Timeout.resolve_default_timeout(limit) for limit in (DEFAULT, None, 3)], [4, None, 3])

    def test_from_float(self) -> None:
        for value in (None, DEFAULT, 3, 2.5):
            timeout = Timeout.from_float(value)
            self.assertEqual((timeout._connect, timeout._read, timeout.total), (value, value, None))
        self.assertEqual(failure(lambda: Timeout.from_float(0)), failure(lambda: Original.from_float(0)))

    def test_both_classes_have_the_same_results(self) -> None:
        def results(kind: Any, limits: dict[str, Any]) -> list[Any]:
            made = failure(lambda: kind(**limits))
            if isinstance(made, tuple):
                return [made]
            found = [repr(made)]
            for reading in (100.0, 103.0):
                with mock.patch("time.monotonic", return_value=reading):
                    found += [
                        failure(call)
                        for call in (
                            lambda: repr(made.connect_timeout),
                            lambda: made.read_timeout,
                            made.get_connect_duration,
                            made.start_connect,
                        )
                    ]
            return found

        values = [None, DEFAULT, 1, 2.5, 60, 0, -1, -1.0, "3", "x", True, object]
        for total, connect, read in itertools.product(values, repeat=3):
            limits = {"total": total, "connect": connect, "read": read}
            with self.subTest(limits):
                self.assertEqual(results(Timeout, limits), results(Original, limits))

    def test_the_documented_differences(self) -> None:
        for name in ("total", "connect", "read"):
            self.assertTrue(Original(**{name: NAN}))
            self.assertEqual(
                failure(lambda: Timeout(**{name: NAN})),  # noqa: B023
                (ValueError, f"the {name} timeout must be a number; it is nan"),
            )
        self.assertEqual([kind(connect=INFINITE).connect_timeout for kind in (Original, Timeout)], [INFINITE, None])
        self.assertEqual([kind(read=INFINITE).read_timeout for kind in (Original, Timeout)], [INFINITE, None])

    def test_a_shared_timeout_can_be_cloned_by_several_threads(self) -> None:
        timeout, reads = Timeout(total=60, read=7), []

        def run() -> None:
            for _ in range(200):
                clone = timeout.clone()
                clone.start_connect()
                reads.append(clone.read_timeout)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(reads, [7] * 800)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
