"""urllib3 and requests with the class Retry of netlib."""

from __future__ import annotations

import copy
import http.server
import os
import pickle
import random
import socket
import ssl
import struct
import sys
import threading
import unittest
import warnings
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any
from unittest import mock

import netlib.urllib3
import requests
import requests.adapters
import urllib3
import urllib3.connectionpool
import urllib3.exceptions
import urllib3.poolmanager
import urllib3.util.retry
from netlib.urllib3 import Retry
from urllib3.response import HTTPResponse
from urllib3.util.retry import RequestHistory

CERTIFICATES = Path(__file__).resolve().parent.parent.parent / "tests/certs"
CA = str(CERTIFICATES / "ca.pem")

Original: Any = urllib3.util.retry.Retry
ConnectTimeoutError, ReadTimeoutError = urllib3.exceptions.ConnectTimeoutError, urllib3.exceptions.ReadTimeoutError
ProtocolError, ProxyError = urllib3.exceptions.ProtocolError, urllib3.exceptions.ProxyError
SSLError, IncompleteRead = urllib3.exceptions.SSLError, urllib3.exceptions.IncompleteRead

# The answers of the server. An int is a status without headers.
RESET = "reset"
GARBAGE = "garbage"
REDIRECT = 302, {"location": "/next"}


class Handler(http.server.BaseHTTPRequestHandler):
    """Gives the next answer of the server to each request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.requests.append(f"{self.command} {self.path}")
        answer = self.server.answers.pop(0)
        if answer == RESET:
            # With a linger time of 0, close(2) sends a reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if answer == GARBAGE:
            os.write(self.connection.fileno(), b"not a TLS record")
        self.close_connection = True
        if isinstance(answer, str):
            return
        status, headers = (answer, {}) if isinstance(answer, int) else answer
        self.send_response(status)
        for name, value in {**headers, "content-length": "0", "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, *_arguments: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answers: list[Any], tls: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = list(answers)
        self.requests: list[str] = []
        self.url = f"{'https' if tls else 'http'}://localhost:{self.server_port}/"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    def handle_error(self, *_arguments: object) -> None:
        pass


class Test(unittest.TestCase):
    def setUp(self) -> None:
        netlib.urllib3.inject_into_urllib3(retry=True)
        self.addCleanup(netlib.urllib3.extract_from_urllib3)

    def serve(self, answers: list[Any], tls: bool = False) -> Server:
        server = Server(answers, tls)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def slept(self) -> list[float]:
        """Replaces time.sleep, and returns the list of its arguments."""
        slept: list[float] = []
        patch = mock.patch("time.sleep", slept.append)
        patch.start()
        self.addCleanup(patch.stop)
        return slept


def failure(call: Callable[[], Any]) -> Any:
    """The result of a call, or the class and the message of its exception."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


class Injection(Test):
    def test_every_module_gets_the_class_until_extracting(self) -> None:
        modules: tuple[Any, ...] = (
            urllib3, urllib3.util, urllib3.util.retry, urllib3.connectionpool, urllib3.poolmanager, urllib3.response,
            requests.adapters,
        )  # fmt: skip
        self.assertEqual([module.Retry for module in modules], [Retry] * len(modules))
        netlib.urllib3.extract_from_urllib3()
        self.assertEqual([module.Retry for module in modules], [Original] * len(modules))
        netlib.urllib3.inject_into_urllib3(parse_url=True, timeout=True)
        self.assertEqual([module.Retry for module in modules], [Original] * len(modules))

    def test_pools_and_adapters_make_retries_of_netlib(self) -> None:
        pool = urllib3.HTTPConnectionPool("localhost")
        adapter = requests.adapters.HTTPAdapter(max_retries=2)
        self.assertEqual([type(pool.retries), type(adapter.max_retries)], [Retry, Retry])
        self.assertEqual([pool.retries.total, adapter.max_retries.total], [3, 2])

    def test_retries_that_exist_before_the_injection_keep_their_class(self) -> None:
        class Older(Original):  # type: ignore[misc]
            pass

        for kind in (Original, Older):
            retry = kind(1, status_forcelist=[503])
            self.assertIsInstance(retry, urllib3.Retry)
            self.assertIs(urllib3.Retry.from_int(retry), retry)
            server = self.serve([503, 200])
            response = urllib3.PoolManager().request("GET", server.url, retries=retry)
            self.assertEqual((response.status, type(response.retries)), (200, kind))
        self.assertNotIsInstance(3, urllib3.Retry)

        class Newer(Retry):
            pass

        self.assertNotIsInstance(Original(1), Newer)
        self.assertNotIsInstance(Retry(1), Newer)

    def test_retries_outlive_the_injection(self) -> None:
        netlib.urllib3.extract_from_urllib3()
        server = self.serve([503, 200])
        response = urllib3.PoolManager().request("GET", server.url, retries=Retry(1, status_forcelist=[503]))
        self.assertEqual((response.status, type(response.retries)), (200, Retry))

    def test_retries_can_be_copied_and_pickled(self) -> None:
        retry = Retry(5, backoff_factor=1).increment("GET", "/", error=ConnectTimeoutError("x")).increment("GET")
        for made in (copy.copy(retry), copy.deepcopy(retry), pickle.loads(pickle.dumps(retry))):
            self.assertEqual((type(made), made.total, made.get_backoff_time()), (Retry, 3, 2.0))


class Requests(Test):
    """Requests to a server that fails."""

    def test_the_adapter_of_requests_retries(self) -> None:
        forced: dict[str, Any] = {"status_forcelist": [503]}
        gone, used_up = requests.exceptions.ConnectionError, requests.exceptions.RetryError
        # The method, the settings, the answers, the result, and the number of requests.
        rows: list[tuple[str, dict[str, Any], list[Any], Any, int]] = [
            ("GET", {"total": 3, **forced}, [503, 503, 200], 200, 3),
            ("GET", {"total": 1, **forced}, [503, 503], used_up, 2),
            ("GET", {"total": 5, "status": 0, **forced}, [503], used_up, 1),
            ("GET", {"total": 1, "raise_on_status": False, **forced}, [503, 503], 503, 2),
            ("GET", {"total": 3}, [503], 503, 1),
            ("POST", {"total": 3, **forced}, [503], 503, 1),
            ("POST", {"total": 3, "allowed_methods": None, **forced}, [503, 200], 200, 2),
            ("GET", {"total": 3}, [(429, {"retry-after": "0"}), 200], 200, 2),
            ("GET", {"total": 3, "respect_retry_after_header": False}, [(429, {"retry-after": "0"})], 429, 1),
            ("GET", {"total": 2}, [RESET, RESET, 200], 200, 3),
            ("GET", {"total": 1}, [RESET, RESET], gone, 2),
            ("GET", {"total": 9, "read": 0}, [RESET], gone, 1),
            ("POST", {"total": 2}, [RESET], gone, 1),
            ("POST", {"total": 2, "allowed_methods": None}, [RESET, 200], 200, 2),
            ("GET", {"total": False}, [503], 503, 1),
            ("GET", {"total": False, **forced}, [503], used_up, 1),
            ("GET", {"total": False}, [RESET], gone, 1),
        ]
        for method, settings, answers, expected, count in rows:
            with self.subTest(method=method, settings=settings, answers=answers), requests.Session() as session:
                server = self.serve(answers)
                session.mount("http://", requests.adapters.HTTPAdapter(max_retries=Retry(**settings)))
                try:
                    result: Any = session.request(method, server.url, timeout=10).status_code
                except requests.RequestException as error:
                    result = type(error)
                self.assertEqual((result, len(server.requests), server.answers), (expected, count, []))

    def test_a_server_that_refuses_connections_uses_up_the_retries(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            pool = urllib3.HTTPConnectionPool(*closed.getsockname())
            with self.assertRaises(urllib3.exceptions.MaxRetryError) as raised:
                pool.request("GET", "/", retries=Retry(connect=2))
        self.assertIsInstance(raised.exception.reason, urllib3.exceptions.NewConnectionError)
        self.assertIs(raised.exception.__cause__, raised.exception.reason)
        self.assertIs(raised.exception.pool, pool)

    def test_redirects(self) -> None:
        def run(retries: Any, answers: list[Any]) -> tuple[Any, list[str]]:
            server = self.serve(answers)
            with urllib3.PoolManager() as pool:
                try:
                    response = pool.request("GET", server.url, retries=retries)
                    return response.status, server.requests
                except urllib3.exceptions.MaxRetryError as error:
                    return str(error.reason), server.requests

        both = ["GET /", "GET /next"]
        self.assertEqual(run(None, [REDIRECT, 200]), (200, both))
        self.assertEqual(run(Retry(redirect=1), [REDIRECT, 200]), (200, both))
        self.assertEqual(run(Retry(redirect=1), [REDIRECT, REDIRECT]), ("too many redirects", both))
        self.assertEqual(run(Retry(redirect=0, raise_on_redirect=False), [REDIRECT]), (302, both[:1]))
        self.assertEqual(run(Retry(redirect=False), [REDIRECT]), (302, both[:1]))
        self.assertEqual(run(False, [REDIRECT]), (302, both[:1]))
        self.assertEqual(run(0, [REDIRECT]), ("too many redirects", both[:1]))

    def test_the_history_has_every_request(self) -> None:
        server = self.serve([503, REDIRECT, RESET, 200])
        with urllib3.HTTPConnectionPool("localhost", server.server_port) as pool:
            response = pool.request("GET", "/", retries=Retry(9, status_forcelist=[503]))
        first, second, third = response.retries.history
        self.assertEqual(first, RequestHistory("GET", "/", None, 503, None))
        self.assertEqual(second, RequestHistory("GET", "/", None, 302, "/next"))
        self.assertEqual((third.url, type(third.error), third.status), ("/next", ProtocolError, None))
        self.assertEqual(response.retries.total, 6)

    def test_waits(self) -> None:
        date = formatdate(1_700_000_060, usegmt=True)
        rows: list[tuple[dict[str, Any], list[Any], list[float]]] = [
            ({}, [503, 503, 200], []),
            ({"backoff_factor": 0.5}, [503, 503, 503, 503, 200], [1.0, 2.0, 4.0]),
            ({"backoff_factor": 0.5, "backoff_max": 1.5}, [503, 503, 503, 200], [1.0, 1.5]),
            ({"backoff_factor": 0.5, "backoff_jitter": 2}, [503, 503, 200], [1.5]),
            ({"backoff_factor": 0.5}, [RESET, RESET, 200], [1.0]),
            ({"backoff_factor": 0.5}, [(503, {"retry-after": "7"}), 503, 200], [7.0, 1.0]),
            ({"retry_after_max": 5}, [(503, {"retry-after": "7"}), 200], [5.0]),
            ({"respect_retry_after_header": False}, [(503, {"retry-after": "7"}), 200], []),
            ({}, [(503, {"retry-after": date}), 200], [60.0]),
            ({}, [(302, {"location": "/", "retry-after": "3"}), 200], [3.0]),
        ]
        slept = self.slept()
        now = mock.patch("time.time", return_value=1_700_000_000.0)
        for settings, answers, expected in rows:
            slept.clear()
            retry = Retry(9, status_forcelist=[503], **settings)
            server = self.serve(answers)
            with self.subTest(settings), now, mock.patch("random.random", return_value=0.25):
                with urllib3.HTTPConnectionPool("localhost", server.server_port) as pool:
                    self.assertEqual(pool.request("GET", "/", retries=retry).status, 200)
                self.assertEqual(slept, expected)

    def test_a_malformed_retry_after_raises_invalidheader(self) -> None:
        server = self.serve([(503, {"retry-after": "soon"})])
        with self.assertRaisesRegex(urllib3.exceptions.InvalidHeader, "^Invalid Retry-After header: soon$"):
            urllib3.PoolManager().request("GET", server.url, retries=Retry(3))

    def test_a_tls_failure_after_a_post_is_not_repeated(self) -> None:
        for method, count in (("GET", 2), ("POST", 1)):
            server = self.serve([GARBAGE, 200], tls=True)
            with urllib3.PoolManager(ca_certs=CA) as pool:
                result = failure(lambda: pool.request(method, server.url, retries=Retry(3)).status)  # noqa: B023
            self.assertEqual(result if method == "GET" else result[0], 200 if method == "GET" else SSLError)
            self.assertEqual(len(server.requests), count)


class Subclasses(Test):
    def test_new_keeps_the_class_and_its_attributes(self) -> None:
        class Named(urllib3.Retry):  # type: ignore[misc]
            def __init__(self, *arguments: Any, name: str = "", **named: Any) -> None:
                super().__init__(*arguments, **named)
                self.name = name

            def new(self, **named: Any) -> Any:
                return super().new(name=self.name, **named)

        server = self.serve([503, REDIRECT, 200])
        with urllib3.PoolManager() as pool:
            response = pool.request("GET", server.url, retries=Named(9, status_forcelist=[503], name="mine"))
        self.assertEqual((type(response.retries), response.retries.name), (Named, "mine"))
        self.assertEqual(type(Named.from_int(3)), Named)
        self.assertEqual(repr(Named(1)), "Named(total=1, connect=None, read=None, redirect=None, status=None)")

    def test_replaced_methods_are_called(self) -> None:
        class NoReadErrors(Retry):
            def _is_read_error(self, err: Exception) -> bool:
                return False

        class AllConnectErrors(Retry):
            def _is_connection_error(self, err: Exception) -> bool:
                return True

        class AnyMethod(Retry):
            def _is_method_retryable(self, method: str) -> bool:
                return True

        class NeverExhausted(Retry):
            def is_exhausted(self) -> bool:
                return False

        class FixedWaits(Retry):
            RETRY_AFTER_STATUS_CODES = frozenset([418])

            def get_backoff_time(self) -> float:
                return 11

            def parse_retry_after(self, retry_after: str) -> float:
                return 12

        lost = ReadTimeoutError(None, "/", "x")
        self.assertEqual(NoReadErrors(9, read=9, other=9).increment("POST", "/", error=lost).other, 8)
        self.assertEqual(AllConnectErrors(9, read=9, connect=9).increment("POST", "/", error=lost).connect, 8)
        self.assertEqual(AnyMethod(9, read=9).increment("POST", "/", error=lost).read, 8)
        self.assertTrue(AnyMethod(9, status_forcelist=[500]).is_retry("POST", 500))
        self.assertEqual(NeverExhausted(0).increment("GET", "/").total, -1)
        waits = FixedWaits(9)
        self.assertEqual([waits.is_retry("GET", status, True) for status in (418, 429)], [True, False])
        slept = self.slept()
        waits.sleep()
        waits.sleep(HTTPResponse(status=500, headers={"retry-after": "soon"}))
        self.assertEqual(slept, [11, 12])

    def test_changed_attributes_take_effect(self) -> None:
        retry = Retry(1, status_forcelist={500})
        self.assertEqual([retry.is_retry("GET", status) for status in (500, 502)], [True, False])
        retry.status_forcelist.add(502)
        retry.allowed_methods = ["POST"]
        self.assertEqual([retry.is_retry("POST", status) for status in (500, 502)], [True, True])
        self.assertFalse(retry.is_retry("GET", 500))
        retry.total = -1
        self.assertTrue(retry.is_exhausted())


class Comparison(Test):
    """The same calls of urllib3's class and of netlib's."""

    def test_numbers_that_are_equal_to_a_status_count_as_the_status(self) -> None:
        for forcelist in ([503.0], [503], {503.0, "503"}, {503.5}):
            with self.subTest(forcelist):
                found = [kind(1, status_forcelist=forcelist).is_retry("GET", 503) for kind in (Original, Retry)]
                self.assertEqual(found[0], found[1])

    def setUp(self) -> None:
        # Both classes are used without the injection.
        pass

    def settings(self, draw: random.Random) -> dict[str, Any]:
        counts = [None, None, 0, 1, 2, 5, True, False, -1, float("inf"), 10**12]
        values: dict[str, list[Any]] = {
            **dict.fromkeys(("total", "connect", "read", "redirect", "status", "other"), counts),
            "allowed_methods": [None, False, [], ["GET"], {"POST"}, ("PUT", "GET"), "GET", ["G T"], ("POST", None)],
            "status_forcelist": [None, [500], range(500, 600), {"418", 503}, (429, 503)],
            "backoff_factor": [0, 0.1, 3.7, 1e300, float("inf")],
            "backoff_max": [0, 1, 120, 5.5, -1, float("inf")],
            "backoff_jitter": [0, 0.5],
            "respect_retry_after_header": [True, False, None],
            "retry_after_max": [0, 10, 100_000],
        }
        return {name: draw.choice(values[name]) for name in values if draw.random() < 0.5}

    def test_both_classes_have_the_same_results(self) -> None:
        def error() -> Any:
            return draw.choice([
                None, None, None, ConnectTimeoutError("x"), urllib3.exceptions.NewConnectionError(None, "x"),
                ReadTimeoutError(None, "/", "x"), ProtocolError("x"), SSLError("x"), SSLError(), OSError("x"),
                ProxyError("x", ConnectTimeoutError()), ProxyError("x", OSError()), ValueError("x"),
                urllib3.exceptions.LocationParseError("x"), urllib3.exceptions.TimeoutError("x"),
            ])  # fmt: skip

        def response() -> Any:
            status, headers = draw.choice([
                (500, {}), (302, {"location": "/x"}), (302, {}), (200, {"location": "/x"}), (0, {}), (99, {}),
            ])  # fmt: skip
            return draw.choice([None, HTTPResponse(status=status, headers=headers)])

        def results(retry: Any, arguments: tuple[Any, ...], wait: str) -> list[Any]:
            method, _, status, has_retry_after = arguments
            random.seed(steps)
            return [
                failure(lambda: retry.is_retry(method, status, has_retry_after)) if method is not None else None,
                failure(retry.is_exhausted),
                round(backoff, 9) if isinstance(backoff := failure(retry.get_backoff_time), float) else backoff,
                failure(lambda: retry.parse_retry_after(wait)),
            ]

        draw = random.Random(1)
        steps = 0
        for _ in range(1500):
            settings = self.settings(draw)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                theirs, ours = Original(**settings), Retry(**settings)
                for _ in range(5):
                    steps += 1
                    arguments = (
                        draw.choice(["GET", "POST", "get", "G T", "", None]), draw.choice(["/", None, "/\0"]),
                        draw.choice([200, 429, 500, 503, None]), draw.choice([True, False]),
                    )  # fmt: skip
                    wait = draw.choice(["0", "5", " 7 ", "soon", "1.5", "99999999999999999999", "a\0b", ""])
                    self.assertEqual(results(ours, arguments, wait), results(theirs, arguments, wait), settings)
                    outcome = (*arguments[:2], response(), error())
                    expected = failure(lambda: theirs.increment(*outcome))  # noqa: B023
                    result = failure(lambda: ours.increment(*outcome))  # noqa: B023
                    if isinstance(expected, tuple):
                        self.assertEqual(result, expected, (settings, outcome))
                        break
                    self.assertEqual(vars(result), vars(expected), (settings, outcome))
                    theirs, ours = expected, result
        self.assertGreater(steps, 3000)

    def test_the_documented_differences(self) -> None:
        invalid = urllib3.exceptions.InvalidHeader
        lost = ReadTimeoutError(None, "/", "x")
        refused = ProxyError("x", ProxyError("x", ConnectTimeoutError("x")))
        # Each row: the call, the result of urllib3, and that of netlib. An exception stands for its class.
        rows: list[tuple[Callable[[Any], Any], Any, Any]] = [
            (lambda kind: kind().parse_retry_after("\u00a05"), 5, invalid),
            (lambda kind: kind().parse_retry_after("Mon, 01 Jan 10000 00:00:00 GMT"), ValueError, invalid),
            (lambda kind: kind(retry_after_max=float("inf")).parse_retry_after("9" * 20), 10**20 - 1, 2**63),
            (lambda kind: kind(allowed_methods=["post"]).is_retry("POST", 429, True), False, True),
            (lambda kind: kind(read=9, other=9).increment("GET", error=IncompleteRead(1, 2)).other, 8, 9),
            (lambda kind: kind(9).increment("POST", error=ProxyError("x", lost)).total, 8, ProxyError),
            (lambda kind: kind(9, connect=9).increment("POST", error=refused).connect, 9, 8),
            (lambda kind: kind(status_forcelist=[1000]).is_retry("GET", 1000), True, False),
        ]
        for number, (call, theirs, ours) in enumerate(rows):
            with self.subTest(number):
                for kind, expected in ((Original, theirs), (Retry, ours)):
                    result = failure(lambda: call(kind))  # noqa: B023
                    self.assertEqual(result[0] if isinstance(result, tuple) else result, expected)
        for delay in ("backoff_factor", "backoff_max", "backoff_jitter"):
            with self.assertRaises(netlib.ArgumentError):
                Retry(9, **{delay: float("nan")}).get_backoff_time()

    def test_a_tls_error_of_netlib_has_its_own_retry_kind(self) -> None:
        for kind, counter in (("CONNECT", "connect"), ("READ", "read"), ("OTHER", "other")):
            options = netlib.ErrorOptions().retry_kind(netlib.RetryKind[kind])
            error = ssl.SSLError("x")
            error.__cause__ = netlib._errors.make_error(netlib.ErrorInfo(netlib.Status.TLS_ALERT, "x", options))
            for reported in (error, error.__cause__):
                following = Retry(9, connect=9, read=9, other=9).increment("GET", error=SSLError(reported))
                self.assertEqual(getattr(following, counter), 8, kind)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
