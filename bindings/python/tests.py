"""Tests of the features that only the Python package has. The steps that all languages share are in scenario.py.

usage: tests.py PACKAGE_DIRECTORY
"""

from __future__ import annotations

import ast
import contextlib
import copy
import gc
import http.server
import json
import os
import pickle
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback
import unittest
import venv
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path

import netlib
import netlib.aio
from netlib import RetryOptions, Status, Swap, _api, _runtime

HERE = Path(__file__).resolve().parent
CERTIFICATES = HERE.parent.parent / "tests/certs"
API = json.loads((HERE.parent.parent / "include/netlib.api.json").read_text(encoding="utf-8"))
BUSY = netlib.Response("GET", 503, netlib.Headers({"retry-after": "1"}))
URL = netlib.parse_url("http://localhost/")


class Generated(unittest.TestCase):
    def test_every_function_is_callable(self) -> None:
        source = Path(str(_api.__file__)).read_text(encoding="utf-8")
        missing = []
        for function in API["functions"]:
            name = function["name"]
            if f"lib.{name}(" not in source and f'_free = "{name}"' not in source:
                missing.append(name)
        self.assertEqual(missing, [])

    def test_every_public_name_is_exported(self) -> None:
        self.assertEqual([name for name in netlib.__all__ if not hasattr(netlib, name)], [])

    def test_comments_have_the_names_of_python(self) -> None:
        """Also the comments of values and constants, which only the source has."""
        tree = ast.parse(Path(str(_api.__file__)).read_text(encoding="utf-8"))
        strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
        texts = [node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        self.assertGreater(len(texts), len(API["functions"]))
        for text in texts:
            with self.subTest(text[:60]):
                self.assertNotRegex(text, r'(?<!")(netlib|NETLIB)_|\bNULL\b|&err')
                for name, member in re.findall(r"`([A-Z]\w+)\.(\w+)`", text):
                    # A comment names `Retry.DEFAULT` of urllib3.
                    if hasattr(netlib, name) and member != "DEFAULT":
                        self.assertTrue(hasattr(getattr(netlib, name), member), f"{name}.{member}")

    def test_a_comment_shows_parameters_results_and_waits(self) -> None:
        table: list[tuple[Callable[..., object], list[str]]] = [
            (netlib.Retry.is_retry, ["has_retry_after: True if the response has a Retry-After header, else False."]),
            (
                netlib.Stream.read,
                ["at most `len(buf)`", "n: the number of bytes read.", "Waits if the stream is blocking."],
            ),
            (netlib.TlsOptions.check_hostname, ["Default: True, or False if the verify mode is `VerifyMode.NONE`."]),
            (
                netlib.Limit.__init__,
                ["seconds: the time until", "Fails with: `Status.INVALID_ARGUMENT` for a negative"],
            ),
        ]
        for function, parts in table:
            text = " ".join((function.__doc__ or "").split())
            for part in parts:
                with self.subTest(function.__qualname__):
                    self.assertIn(part, text)

    def test_an_unknown_number_of_an_enum_is_kept(self) -> None:
        unknown = Status(4711)
        self.assertEqual((unknown, int(unknown), unknown.name), (4711, 4711, "UNKNOWN_4711"))

    def test_another_minor_version_is_refused(self) -> None:
        with self.assertRaisesRegex(ImportError, r"needs libnetlib 0\.99\.0, but the library is 0\.1\."):
            _runtime.check_version("0.99.0")

    def test_the_package_loads_the_library_that_it_contains(self) -> None:
        maps = Path("/proc/self/maps").read_text()
        loaded = {line.split()[-1] for line in maps.splitlines() if "libnetlib.so" in line}
        self.assertEqual(loaded, {str(Path(netlib.__file__).parent / "libnetlib.so.0.1")})


class Arguments(unittest.TestCase):
    def test_a_nul_in_text_without_a_length_is_refused(self) -> None:
        calls: list[Callable[[], object]] = [
            lambda: netlib.create_connection("a\0b", 80),
            lambda: netlib.HeadersOptions().add_header("a", "b\0c"),
            lambda: netlib.Headers({"a\0": "b"}),
            lambda: netlib.TlsOptions().add_ca_file("a\0b"),
            lambda: RetryOptions().allowed_methods(["GET\0"]),
        ]
        for call in calls:
            with self.assertRaisesRegex(ValueError, "NUL at byte"):
                call()

    def test_only_true_and_false_are_truth_values(self) -> None:
        values: list[object] = [1, 0, "no", None, []]
        for value in values:
            with self.assertRaises(TypeError):
                RetryOptions().raise_on_status(value)  # type: ignore[arg-type]

    def test_a_refused_setting_raises_in_the_setter(self) -> None:
        with self.assertRaises(netlib.ArgumentError):
            RetryOptions().backoff_factor(-1.0)

    def test_none_is_no_time_limit(self) -> None:
        self.assertEqual(netlib.Limit(None).remaining(), float("inf"))

    def test_one_text_is_refused_where_several_are_expected(self) -> None:
        with self.assertRaises(TypeError):
            RetryOptions().allowed_methods("GET")

    def test_bytes_that_are_not_utf8_keep_their_value(self) -> None:
        decoded = netlib.percent_decode(netlib.UrlComponent.PATH_SEGMENT, "%ff%00a")
        self.assertEqual(bytes(decoded), b"\xff\0a")
        url = netlib.parse_url("http://%FFuser:a@localhost/")
        self.assertEqual(url.username().encode("utf-8", "surrogateescape"), b"\xffuser")  # type: ignore[union-attr]

    def test_decoded_body_points_into_the_input(self) -> None:
        response = netlib.Response("GET", 200, netlib.Headers({"transfer-encoding": "chunked"}))
        data = bytearray(b"3\r\nabc\r\n0\r\n\r\n")
        status, consumed, body = netlib.BodyDecoder(response).decode(data)
        self.assertEqual((status, consumed, bytes(body or b"")), (Status.OK, 6, b"abc"))
        data[3:6] = b"xyz"
        self.assertEqual(bytes(body or b""), b"xyz")

    def test_a_call_that_fails_releases_its_buffers(self) -> None:
        left, right = socket.socketpair()
        stream = netlib.Stream.new_fd(left)
        stream.set_read_timeout(0.001)
        stream.shutdown()
        calls: list[Callable[[memoryview], object]] = [
            stream.read,
            stream.write,
            lambda view: stream.writev([view]),
            netlib.TlsOptions().key_password,
            netlib.Certificate.parse,
        ]
        for number, call in enumerate(calls):
            view = memoryview(bytearray(2000))
            kept: Exception | None = None
            try:
                call(view)
            except netlib.Error as error:
                kept = error  # assertRaises would clear the variables of the frames
            self.assertIsNotNone(kept, number)
            view.release()  # raises BufferError if a frame of the traceback uses the buffer
        left.close()
        right.close()

    def test_a_buffer_that_cannot_be_written_is_refused(self) -> None:
        with self.assertRaises((BufferError, TypeError, ValueError)):
            netlib.Body.from_memory(b"abc").read(b"   ")  # type: ignore[arg-type]


class Handles(unittest.TestCase):
    def test_a_closed_object_raises(self) -> None:
        with netlib.parse_url("http://a/") as url:
            self.assertEqual(url.host(), "a")
        url.close()
        with self.assertRaisesRegex(ValueError, "the Url is closed"):
            url.host()

    def test_a_borrowed_object_keeps_its_lender_alive(self) -> None:
        with netlib.Retry.recommended().decide("GET", URL, BUSY, None, None) as decision:
            url, retry = decision.url(), decision.retry()
        del decision
        gc.collect()
        assert url is not None and retry is not None
        self.assertEqual((str(url), retry.history_count()), ("http://localhost/", 1))

    def test_a_stream_keeps_the_socket_alive(self) -> None:
        socket = netlib.create_connection("localhost", serve())
        stream = netlib.Stream.new_fd(socket)
        alive = weakref.ref(socket)
        del socket
        gc.collect()
        self.assertIsNotNone(alive())
        stream.close()
        gc.collect()
        self.assertIsNone(alive())

    def test_a_call_of_another_thread_keeps_a_closed_stream_and_its_socket(self) -> None:
        left, right = socket.socketpair()
        alive = weakref.ref(left)
        stream = netlib.Stream.new_fd(left)
        del left
        pointer = stream._ptr  # a call has this reference while it runs
        stream.close()
        gc.collect()
        self.assertIsNotNone(alive())
        del pointer
        self.assertIsNone(alive())
        right.close()

    def test_closing_a_stream_takes_effect_after_the_call_of_another_thread(self) -> None:
        reading, end = threading.Event(), threading.Event()

        def read(buffer: memoryview) -> int:
            reading.set()
            end.wait()
            return len(buffer)

        alive, found = weakref.ref(read), list[object]()
        stream = netlib.Stream.new_callbacks(read, len)
        del read
        thread = threading.Thread(target=lambda: found.append(stream.read(bytearray(4))))
        thread.start()
        reading.wait()
        stream.close()
        self.assertEqual(found, [])
        with self.assertRaisesRegex(ValueError, "the Stream is closed"):
            stream.read(bytearray(4))
        self.assertIsNotNone(alive())
        end.set()
        thread.join()
        self.assertEqual(found, [(Status.OK, 4)])
        self.assertIsNone(alive())

    def test_an_engine_without_a_session_returns_none(self) -> None:
        engine = netlib.TlsEngine.new_client(netlib.TlsContext(), "localhost")
        self.assertIsNone(engine.take_session())


class Urls(unittest.TestCase):
    def test_urls_with_equal_texts_are_equal(self) -> None:
        text = "http://user:secret@a.example:8080/b?c#d"
        rows: list[tuple[str, str, bool]] = [
            (text, text, True),
            ("HTTP://A.example/./b", "http://a.example/b", True),
            ("http://a.example/b", "http://a.example/c", False),
            ("http://a.example", "http://a.example/", False),
            ("http://a.example/", "http://a.example/?", False),
        ]
        for left, right, equal in rows:
            with self.subTest(left=left, right=right):
                first, second = netlib.parse_url(left), netlib.parse_url(right)
                self.assertIs(first == second, equal)
                self.assertIs(first != second, not equal)
                self.assertEqual(len({first, second}), 1 if equal else 2)
        self.assertNotEqual(netlib.parse_url(text), text)

    def test_a_readable_form_has_no_password(self) -> None:
        url = netlib.parse_url("http://user:secret@a.example:8080/b?c#d")
        self.assertEqual(repr(url), "<Url http://***@a.example:8080/b?***#***>")
        self.assertEqual(str(url), "http://user:secret@a.example:8080/b?c#d")


class Errors(unittest.TestCase):
    def test_each_class_of_statuses_is_an_exception_of_python(self) -> None:
        table: list[tuple[Status, type[netlib.Error], type[Exception]]] = [
            (Status.INVALID_ARGUMENT, netlib.ArgumentError, ValueError),
            (Status.INVALID_URL, netlib.UrlError, ValueError),
            (Status.BUSY, netlib.StateError, RuntimeError),
            (Status.INTERNAL, netlib.InternalError, RuntimeError),
            (Status.OUT_OF_MEMORY, netlib.OutOfMemoryError, MemoryError),
            (Status.IO, netlib.IOFailure, OSError),
            (Status.READ_TIMEOUT, netlib.TimeLimitError, TimeoutError),
            (Status.CONNECT_FAILED, netlib.ConnectError, ConnectionError),
            (Status.TLS_ALERT, netlib.TlsError, ssl.SSLError),
            (Status.HOSTNAME_MISMATCH, netlib.CertificateError, ssl.SSLCertVerificationError),
            (Status.PROTOCOL, netlib.HttpError, netlib.Error),
            (Status.MAX_RETRY, netlib.RetryError, netlib.Error),
            (Status.APPLICATION_ERROR, netlib.ApplicationError, netlib.Error),
        ]
        for status, kind, base in table:
            error = netlib.make_error(status, "a message")
            self.assertIs(type(error), kind)
            self.assertIsInstance(error, base)
            self.assertEqual((str(error), error.status), ("a message", status))

    def test_messages_and_advice_name_functions_of_python(self) -> None:
        options = netlib.TlsOptions()
        with self.assertRaises(netlib.ArgumentError) as refused:
            options.ciphers("nothing")
        self.assertRegex(str(refused.exception), r"^TlsOptions\.ciphers: ")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATES / "self-signed.pem", CERTIFICATES / "self-signed.key")
        left, right = socket.socketpair()
        server = threading.Thread(target=error_of_handshake, args=[context, right])
        server.start()
        tls = netlib.TlsContext(netlib.TlsOptions().add_ca_file(CERTIFICATES / "ca.pem"))
        refusal = self.assertRaises(netlib.CertificateError)
        with left, netlib.tls_wrap_fd(tls, left, "localhost") as stream, refusal as raised:
            stream.do_handshake()
        server.join()
        error = raised.exception
        for text in (error.advice, error.report(), *error.__notes__):
            self.assertIn("TlsOptions.add_ca_file", text or "")
            self.assertNotRegex(text or "", "netlib_")
        unknown = netlib.make_error(Status.IO, "enum netlib_verdict, netlib_unknown and NETLIB_VERDICT_ALLOW")
        self.assertEqual(str(unknown), "Verdict, netlib_unknown and Verdict.ALLOW")

    def test_causes_are_notes_and_the_cause_of_the_traceback(self) -> None:
        cause = netlib.make_error(Status.IO, "the inner failure")
        error = netlib.make_error(Status.PROXY_FAILED, "the outer failure", cause=cause)
        self.assertEqual([str(item) for item in error.causes], ["the inner failure"])
        self.assertIs(error.__cause__, error.causes[0])
        text = "".join(traceback.format_exception(type(error), error, None))
        self.assertIn("the inner failure", text)
        self.assertEqual(error.__notes__, ["cause: the inner failure"])

    def test_the_errno_of_the_system_is_kept(self) -> None:
        with self.assertRaises(ConnectionError) as raised:
            netlib.create_connection("127.0.0.1", 1)
        error = raised.exception
        assert isinstance(error, netlib.Error)
        self.assertEqual(error.causes[0].info.errno(), 111)


class Callbacks(unittest.TestCase):
    def decide(self, options: RetryOptions) -> None:
        netlib.Retry(options).decide("GET", URL, BUSY, None, None).sleep()

    def test_an_exception_is_raised_again(self) -> None:
        raised = KeyError("mine")

        def sleep(_seconds: float) -> None:
            raise raised

        with self.assertRaises(KeyError) as found:
            self.decide(RetryOptions.new_recommended().sleep(sleep))
        self.assertIs(found.exception, raised)

    def test_a_callback_returns_a_result_and_two_numbers(self) -> None:
        words: dict[str, int] = {}

        def swap(key: str, expected: int, desired: int, _ttl: float, _timeout: float) -> tuple[Swap, int, float]:
            word = words.get(key, 0)
            if word != expected:
                return Swap.CHANGED, word, 100
            words[key] = desired
            return Swap.SWAPPED, 0, 100

        def rate(store: netlib.Store) -> netlib.Rate:
            return netlib.Rate(netlib.RateOptions().limit(1, 2).store(store, netlib.Unavailable.CLOSED))

        shared = rate(netlib.Store(swap, 1))
        self.assertEqual([shared.take("a\0b", 1)[0] for _ in range(3)], [Status.OK, Status.OK, Status.RATE_LIMITED])
        self.assertEqual(list(words), ["rate:a\0b"])
        self.assertRaises(ValueError, rate(netlib.Store(lambda *_: (Swap.CHANGED, 1), 1)).take, "a", 1)  # type: ignore
        # The next call does not raise it again.
        netlib.parse_url("http://a/")

    def test_a_result_of_a_wrong_type_is_a_type_error(self) -> None:
        options = netlib.ConnectOptions().address_callback(lambda _address, _classes: True)  # type: ignore[arg-type, return-value]
        with self.assertRaisesRegex(TypeError, "must return a Verdict, not True"):
            netlib.create_connection("127.0.0.1", 1, options)

    def test_the_function_is_released_with_the_last_holder(self) -> None:
        def sleep(_seconds: float) -> None:
            pass

        alive = weakref.ref(sleep)
        retry = netlib.Retry(RetryOptions.new_recommended().sleep(sleep))
        del sleep
        gc.collect()
        self.assertIsNotNone(alive())
        retry.close()
        gc.collect()
        self.assertIsNone(alive())

    def test_a_body_is_read_through_callbacks(self) -> None:
        rest = bytearray(b"abcdef")

        def read(buffer: memoryview) -> int:
            count = min(len(buffer), len(rest))
            buffer[:count] = rest[:count]
            del rest[:count]
            return count

        body = netlib.Body(read)
        buffer = bytearray(4)
        self.assertEqual((body.read(buffer), bytes(buffer)), ((Status.OK, 4), b"abcd"))
        self.assertEqual((body.read(buffer), bytes(buffer[:2])), ((Status.OK, 2), b"ef"))
        self.assertEqual(body.read(buffer), (Status.END_OF_STREAM, 0))

    def test_a_program_may_end_while_netlib_holds_callbacks(self) -> None:
        code = (
            "import netlib\n"
            "retry = netlib.Retry(netlib.RetryOptions.new_recommended().sleep(lambda seconds: None))\n"
            "error = netlib.make_error(netlib.Status.IO, 'a', user_data=object())\n"
            "netlib.kept = (retry, error)\n"
        )
        ran = subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((ran.stderr, ran.returncode), ("", 0))

    def test_the_buffer_of_a_callback_ends_with_the_callback(self) -> None:
        kept = []

        def read(buffer: memoryview) -> int:
            kept.append(buffer)
            return 0

        netlib.Body(read).read(bytearray(4))
        with self.assertRaisesRegex(ValueError, "released memoryview"):
            len(kept[0])

    def test_a_signal_handler_ends_a_wait_without_a_limit(self) -> None:
        class Alarm(Exception):
            pass

        def ring(_signal: int, _frame: object) -> None:
            raise Alarm

        receiver, sender = os.pipe()
        old = signal.signal(signal.SIGALRM, ring)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            start = time.monotonic()
            with self.assertRaises(Alarm):
                netlib.wait_for_read(receiver, 10, None)
            self.assertLess(time.monotonic() - start, 5)
        finally:
            signal.signal(signal.SIGALRM, old)
            os.close(receiver)
            os.close(sender)

    def test_the_server_name_is_none_for_a_client_that_sends_no_name(self) -> None:
        names: list[str | None] = []

        def choose(name: str | None) -> netlib.Verdict:
            names.append(name)
            return netlib.Verdict.ALLOW

        options = netlib.TlsOptions().identity_files(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
        context = netlib.TlsContext(options.servername_callback(choose))
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        for sent in (None, "a.test"):
            ends = socket.socketpair()
            connect = threading.Thread(target=client.wrap_socket, args=(ends[0],), kwargs={"server_hostname": sent})
            connect.start()
            netlib.tls_accept_fd(context, ends[1]).handshake()
            connect.join()
        self.assertEqual(names, [None, "a.test"])

    def test_the_addresses_of_a_resolve_callback_end_with_the_callback(self) -> None:
        kept = []

        def resolve(_host: str, _port: int, _seconds: float, addresses: netlib.Addresses) -> None:
            kept.append(addresses)

        with self.assertRaises(netlib.Error):
            netlib.create_connection("a.test", 1, netlib.ConnectOptions().resolve_callback(resolve))
        with self.assertRaisesRegex(ValueError, "the Addresses is closed"):
            kept[0].count()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_arguments: object) -> None:
        pass


def serve() -> int:
    """Starts a server, and returns its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class Processes(unittest.TestCase):
    def test_errors_can_be_copied_and_pickled(self) -> None:
        refused = netlib.make_error(Status.CONNECT_FAILED, "refused")
        errors = [
            error_of(lambda: netlib.parse_url("http://[")),
            error_of(lambda: netlib.connect("http://localhost:1/")),
            netlib.make_error(Status.MAX_RETRY, "used up", cause=refused, http_status=503),
            netlib.make_error(Status.HOSTNAME_MISMATCH, "another name"),
        ]
        for error in errors:
            for made in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
                with self.subTest(error=error.status):
                    self.assertIs(type(made), type(error))
                    self.assertEqual(made.report().splitlines()[0], error.report().splitlines()[0])
                    for name in ("status", "advice", "offset", "errno", "__notes__"):
                        self.assertEqual(getattr(made, name, None), getattr(error, name, None), name)
                    self.assertEqual([str(cause) for cause in made.causes], [str(cause) for cause in error.causes])
                    self.assertEqual(made.info.http_status(), error.info.http_status())
                    self.assertEqual(made.info.retry_kind(), error.info.retry_kind())

    def test_a_child_does_not_wait_for_a_call_of_another_thread_of_its_parent(self) -> None:
        begun, end = threading.Event(), threading.Event()

        def sleep(_seconds: float) -> None:
            begun.set()
            end.wait()

        retry = netlib.Retry(RetryOptions.new_recommended().sleep(sleep))
        attempts = netlib.Attempts(retry, "GET", URL, None, False)
        waiter = threading.Thread(target=attempts.next, args=(BUSY,))
        waiter.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                attempts.next(BUSY)
            except netlib.StateError as error:
                os._exit(0 if error.status == Status.BUSY else 1)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        end.set()
        waiter.join()
        self.assertEqual(status, 0)


def error_of_handshake(context: ssl.SSLContext, connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        context.wrap_socket(connection, server_side=True)


def error_of(call: Callable[[], object]) -> netlib.Error:
    try:
        call()
    except netlib.Error as error:
        return error
    raise AssertionError("the call succeeded")


class Attempts(unittest.TestCase):
    """The loop of the README, with attempts that all have the same response."""

    def run_to_the_end(self, options: RetryOptions, status: int, fields: dict[str, str]) -> tuple[int, Status]:
        response = netlib.Response("GET", status, netlib.Headers(fields))
        retry, url = netlib.Retry(options.status_forcelist([503])), netlib.parse_url("https://localhost/")
        attempts = netlib.Attempts(retry, "GET", url, None, False)
        requests, outcome = 0, Status.SEND_AGAIN
        with self.assertRaises(netlib.Error) as raised:
            while outcome == Status.SEND_AGAIN:
                requests += 1
                self.assertLess(requests, 20)
                try:
                    outcome = attempts.next(response)
                except netlib.Error as error:
                    outcome = attempts.next(error=error)
        self.assertEqual(raised.exception.report().count("the server answered"), 1 if fields == {} else 0)
        return requests, raised.exception.status

    def test_the_error_of_a_response_ends_the_loop(self) -> None:
        safe = RetryOptions().redirect_profile(netlib.RedirectProfile.SAFE)
        rows: list[tuple[RetryOptions, int, dict[str, str], int, Status]] = [
            (RetryOptions().status(1), 503, {}, 2, Status.MAX_RETRY),
            (RetryOptions().redirect(1), 302, {"location": "/x"}, 2, Status.MAX_RETRY),
            (RetryOptions().total(5), 503, {}, 6, Status.MAX_RETRY),
            (safe, 302, {"location": "http://localhost/"}, 1, Status.UNSAFE_REDIRECT),
            (RetryOptions(), 302, {"location": "http://["}, 1, Status.INVALID_URL),
            (RetryOptions(), 503, {"retry-after": "soon"}, 1, Status.INVALID_HEADER),
        ]
        for options, status, fields, requests, end in rows:
            with self.subTest(end=end, requests=requests):
                self.assertEqual(self.run_to_the_end(options, status, fields), (requests, end))

    def test_attempts_that_have_ended_raise_each_error(self) -> None:
        attempts = netlib.Attempts(netlib.Retry(RetryOptions().total(0)), "GET", URL, None, False)
        with self.assertRaises(netlib.RetryError):
            attempts.next(error=netlib.make_error(Status.CONNECT_FAILED, "refused"))
        self.assertIsNone(attempts.decision())
        with self.assertRaisesRegex(netlib.ConnectError, "^late$"):
            attempts.next(error=netlib.make_error(Status.CONNECT_FAILED, "late"))
        with self.assertRaises(netlib.StateError):
            attempts.next(netlib.Response("GET", 200, netlib.Headers({})))

    def test_attempts_without_a_limit_have_a_limit_of_their_own(self) -> None:
        retry = netlib.Retry(RetryOptions.new_recommended().sleep(lambda _seconds: None))
        first, second = (netlib.Attempts(retry, "GET", URL, None, False) for _ in range(2))
        limit = first.limit()
        assert limit is not None
        limit.cancel()
        with self.assertRaises(netlib.TimeLimitError):
            first.next(BUSY)
        self.assertEqual(second.next(BUSY), Status.SEND_AGAIN)

    def test_the_objects_of_an_attempt_outlive_it(self) -> None:
        headers = netlib.Headers({"Content-Type": "text/plain"})
        attempts = netlib.Attempts(netlib.Retry.recommended(), "POST", netlib.parse_url("http://a/"), headers, True)
        first, first_headers = attempts.url(), attempts.headers()
        self.assertEqual((attempts.sends_body(), attempts.decision()), (True, None))
        for path in ("/b", "/c"):
            response = netlib.Response("POST", 303, netlib.Headers({"location": path}))
            self.assertEqual(attempts.next(response), Status.SEND_AGAIN)
            self.assertFalse(attempts.sends_body())
        last, decision = attempts.url(), attempts.decision()
        attempts.close()
        assert decision is not None
        self.assertEqual((str(first), list(first_headers)), ("http://a/", [("Content-Type", "text/plain")]))
        self.assertEqual((str(last), decision.method()), ("http://a/c", "GET"))


class CommandLine(unittest.TestCase):
    def run_module(self, *arguments: str) -> tuple[str, list[str], int]:
        command = [sys.executable, "-m", "netlib", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        return ran.stdout, ran.stderr.splitlines(), ran.returncode

    def test_the_trace_explains_each_step(self) -> None:
        port = serve()
        output, lines, code = self.run_module(f"http://127.0.0.1:{port}/")
        self.assertEqual((output, code), ("hello\n", 0))
        expected = [
            rf"\* attempt 1: GET http://127\.0\.0\.1:{port}/",
            rf"\*   127\.0\.0\.1 port {port}, 0\.\d\d\d to 0\.\d\d\d s: connected",
            rf"\*   connected to 127\.0\.0\.1:{port}",
            r"\*   the server answered 200 OK",
        ]
        for line, pattern in zip(lines, expected):
            self.assertRegex(line, f"^{pattern}$")
        self.assertEqual(lines[-1], "*   the body is complete: 6 bytes")

    def test_the_report_of_the_error_ends_the_trace(self) -> None:
        _, lines, code = self.run_module("http://a b/")
        self.assertEqual((lines, code), (["the host has a character that is not allowed in a host name at byte 8"], 1))


class Programs(unittest.TestCase):
    def test_the_readme_contains_the_first_program(self) -> None:
        self.assertIn((HERE / "get.py").read_text(), (HERE / "README.md").read_text())

    def test_the_first_program_prints_the_body(self) -> None:
        url = f"http://127.0.0.1:{serve()}/"
        ran = subprocess.run([sys.executable, HERE / "get.py", url], capture_output=True, text=True, check=False)
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), ("hello\n", "", 0))

    def test_the_first_program_reports_an_error(self) -> None:
        ran = subprocess.run(
            [sys.executable, HERE / "get.py", "http://a b/"], capture_output=True, text=True, check=False
        )
        message = "the host has a character that is not allowed in a host name at byte 8\n"
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), ("", message, 1))

    def test_the_first_program_prints_its_usage(self) -> None:
        ran = subprocess.run([sys.executable, HERE / "get.py"], capture_output=True, text=True, check=False)
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), ("", "usage: get.py URL\n", 2))

    def test_the_wheel_works_in_a_fresh_environment(self) -> None:
        wheels = list(Path(netlib.__file__).parent.parent.glob("*.whl"))
        self.assertEqual(len(wheels), 1)
        with tempfile.TemporaryDirectory() as directory:
            # The environment sees the installed modules, so that the test needs no network.
            venv.create(directory, with_pip=True, system_site_packages=True)
            python = Path(directory, "bin/python")
            install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheels[0])]
            environment = {"PYTHONPATH": str(HERE.parent.parent / "target/python"), "PATH": os.environ["PATH"]}
            subprocess.run(install, check=True, env=environment)
            ran = subprocess.run(
                [python, HERE / "get.py", f"http://127.0.0.1:{serve()}/"],
                env=environment,
                cwd=directory,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((ran.stdout, ran.stderr), ("hello\n", ""))

    def test_the_source_distribution_makes_a_wheel_that_uses_the_library_of_the_system(self) -> None:
        package = Path(netlib.__file__).parent
        (archive,) = package.parent.glob("*.tar.gz")
        with tempfile.TemporaryDirectory() as directory, tarfile.open(archive) as tar:
            names = tar.getnames()
            tar.extractall(directory)
            (source,) = Path(directory).iterdir()
            environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent / "target/python")}
            build = [sys.executable, "-W", "ignore", "setup.py", "--quiet", "bdist_wheel", "--dist-dir", directory]
            subprocess.run(build, cwd=source, env=environment, check=True, capture_output=True)
            (wheel,) = Path(directory).glob("*.whl")
            with zipfile.ZipFile(wheel) as unpacked:
                unpacked.extractall(f"{directory}/installed")
            environment["PYTHONPATH"] += f":{directory}/installed"
            environment["LD_LIBRARY_PATH"] = str(package)
            code = "import netlib; print(netlib.__file__, netlib.parse_url('http://a/').host())"
            ran = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
            )
        self.assertEqual([name for name in names if ".so" in name], [])
        self.assertRegex(wheel.name, r"^netlib_c-.*-py3-none-any\.whl$")
        self.assertEqual((ran.stdout, ran.stderr), (f"{directory}/installed/netlib/__init__.py a\n", ""))

    def test_the_metadata_name_the_project(self) -> None:
        (wheel,) = Path(netlib.__file__).parent.parent.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            text = archive.read(metadata).decode()
        homepage = re.findall(r'^homepage = "(.*)"$', (HERE.parent.parent / "Cargo.toml").read_text(), re.MULTILINE)[0]
        fields, _, description = text.partition("\n\n")
        for field in (f"Project-URL: Homepage, {homepage}", "Author: The netlib authors", "Keywords: http,retry"):
            self.assertIn(field, fields)
        self.assertEqual(re.findall(r"\]\((?!https?:|#)[^)]*\)", description), [])

    def test_the_wheel_states_its_licence_and_contains_the_texts(self) -> None:
        (wheel,) = Path(netlib.__file__).parent.parent.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            fields = archive.read(metadata).decode().partition("\n\n")[0].splitlines()
            folder = metadata.removesuffix("METADATA") + "licenses/"
            texts = sorted(name.removeprefix(folder) for name in archive.namelist() if name.startswith(folder))
        expected = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES"]
        licence = sorted(field for field in fields if field.startswith("License"))
        self.assertEqual(
            licence, ["License-Expression: MIT OR Apache-2.0", *(f"License-File: {file}" for file in expected)]
        )
        self.assertEqual(texts, expected)

    def test_the_package_works_without_its_compiled_module(self) -> None:
        if not _runtime.IS_COMPILED:
            self.skipTest("this run has no compiled module")
        package = Path(netlib.__file__).parent
        with tempfile.TemporaryDirectory() as directory:
            shutil.copytree(package, Path(directory, "netlib"), ignore=shutil.ignore_patterns("_native*"))
            command = [sys.executable, __file__, "Arguments", "Handles", "Errors", "Callbacks", "Generated"]
            environment = {"PYTHONPATH": directory}
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
