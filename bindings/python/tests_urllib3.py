"""urllib3 and requests with the TLS of netlib."""

from __future__ import annotations

import contextlib
import http.server
import select
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import netlib.urllib3
import requests
import urllib3
import urllib3.exceptions
import urllib3.util.ssl_

CERTIFICATES = Path(__file__).resolve().parent.parent.parent / "tests/certs"
CA = str(CERTIFICATES / "ca.pem")
CLIENT = str(CERTIFICATES / "client.pem"), str(CERTIFICATES / "client.key")
BODY = bytes(range(256)) * 4096


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers /PATH with the TLS version, "/body" with BODY, "/slow" never, and CONNECT with a tunnel."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/slow":
            self.rfile.read(1)
            return
        body = BODY if self.path == "/body" else str(getattr(self.connection, "version", str)()).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        host, port = self.path.split(":")
        with socket.create_connection((host, int(port))) as upstream:
            self.send_response(200)
            self.end_headers()
            relay(self.connection, upstream)
        self.close_connection = True

    def log_message(self, *_arguments: object) -> None:
        pass


def relay(left: socket.socket, right: socket.socket) -> None:
    """Copies in both directions until one side ends."""
    other: dict[socket.socket, socket.socket] = {left: right, right: left}
    while True:
        ready = [side for side in other if isinstance(side, ssl.SSLSocket) and side.pending()]
        for side in ready or select.select(list(other), [], [])[0]:
            data = side.recv(65536)
            if not data:
                return
            other[side].sendall(data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, name: str | None = "server", client_ca: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.connections = 0
        self.context: ssl.SSLContext | None = None
        if name is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / f"{name}.key")
        if self.context is not None and client_ca is not None:
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(client_ca)
        self.url = f"{'http' if name is None else 'https'}://localhost:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=[0.02], daemon=True).start()

    def finish_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        if self.context is None:
            super().finish_request(request, client_address)
            return
        # The handshake runs in the thread of the connection.
        with self.context.wrap_socket(request, server_side=True) as connection:
            super().finish_request(connection, client_address)

    def handle_error(self, *_arguments: object) -> None:
        pass


class Test(unittest.TestCase):
    def setUp(self) -> None:
        netlib.urllib3.inject_into_urllib3()
        self.addCleanup(netlib.urllib3.extract_from_urllib3)

    def serve(self, name: str | None = "server", client_ca: str | None = None) -> Server:
        server = Server(name, client_ca)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def connect(
        self, server: Server, context: netlib.urllib3.SSLContext, timeout: float | None = 10, **named: Any
    ) -> netlib.urllib3.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", server.server_port), timeout)
        self.addCleanup(plain.close)
        connection = context.wrap_socket(plain, server_hostname="localhost", **named)
        self.addCleanup(connection.close)
        return connection


def trusting(ca: str = CA) -> netlib.urllib3.SSLContext:
    context = netlib.urllib3.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(ca)
    return context


class Injection(Test):
    def test_injecting_replaces_the_context_class_until_extracting(self) -> None:
        self.assertIs(urllib3.util.ssl_.SSLContext, netlib.urllib3.SSLContext)
        self.assertIsInstance(urllib3.util.ssl_.create_urllib3_context(), netlib.urllib3.SSLContext)
        netlib.urllib3.inject_into_urllib3()
        netlib.urllib3.extract_from_urllib3()
        self.assertIs(urllib3.util.ssl_.SSLContext, ssl.SSLContext)
        self.assertIs(urllib3.util.SSLContext, ssl.SSLContext)
        netlib.urllib3.extract_from_urllib3()
        self.assertIs(urllib3.util.ssl_.SSLContext, ssl.SSLContext)

    def test_parse_url_is_replaced_on_request_until_extracting(self) -> None:
        original = urllib3.util.parse_url
        netlib.urllib3.inject_into_urllib3(parse_url=True)
        modules: tuple[Any, ...] = (
            urllib3.util, urllib3.util.url, urllib3.poolmanager, urllib3.connectionpool, requests.models,
            requests.adapters,
        )  # fmt: skip
        for module in modules:
            self.assertIs(module.parse_url, netlib.urllib3.parse_url_with_netlib)
        with urllib3.PoolManager(ca_certs=CA) as pool:
            self.assertEqual(pool.request("GET", f"{self.serve().url}/a/../").data, b"TLSv1.3")
        with self.assertRaises(urllib3.exceptions.LocationParseError) as raised:
            urllib3.PoolManager().request("GET", "http://a:99999/")
        self.assertIsInstance(raised.exception.__cause__, netlib.UrlError)
        with self.assertRaisesRegex(urllib3.exceptions.LocationParseError, "not valid UTF-8 at byte 9"):
            urllib3.util.parse_url("http://a/\udc00")
        self.assertRaises(TypeError, urllib3.util.parse_url, b"http://a/")
        netlib.urllib3.extract_from_urllib3()
        for module in modules:
            self.assertIs(module.parse_url, original)

    def test_both_parsers_return_equal_urls(self) -> None:
        for text in (
            "", "http://a", "https://u:p@Host.COM:8443/a/../b?q=1#f", "//a/b", "/a?b", "http://[::1]:80/",
            "http://[fe80::1%25eth0]/", "http://\u00e9.de/\u00fc", "http://a:/", "http://u:p%20q@h/", "google.com/mail",
            "http://a/%zz%2f", "http://a?#", "http://EX%41MPLE/", "mailto:x@y",
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(netlib.urllib3.parse_url_with_netlib(text), urllib3.util.parse_url(text))

    def test_pools_use_sockets_of_netlib(self) -> None:
        server = self.serve()
        with urllib3.HTTPSConnectionPool("localhost", server.server_port, ca_certs=CA) as pool:
            self.assertEqual(pool.request("GET", "/").data, b"TLSv1.3")
            connection = pool._get_conn()
            self.assertIsInstance(connection.sock, netlib.urllib3.SSLSocket)
            connection.close()


class Requests(Test):
    def get(self, url: str, **named: Any) -> bytes:
        return requests.get(url, **{"verify": CA, "timeout": 10, **named}).content  # type: ignore[no-any-return]

    def test_a_certificate_of_a_trusted_authority_is_accepted(self) -> None:
        self.assertEqual(self.get(self.serve().url), b"TLSv1.3")

    def test_a_trusted_directory_is_accepted(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(CA, directory)
            self.assertEqual(self.get(self.serve().url, verify=directory), b"TLSv1.3")

    def test_refused_certificates_raise_sslerror(self) -> None:
        cases = [
            ("server", str(CERTIFICATES / "other-ca.pem")),
            ("wrong-name", CA),
            ("expired", CA),
            ("self-signed", CA),
        ]
        for name, ca in cases:
            with self.subTest(name), self.assertRaises(requests.exceptions.SSLError) as raised:
                self.get(self.serve(name).url, verify=ca)
            self.assertIn("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: ", str(raised.exception))

    def test_a_wrong_name_is_named(self) -> None:
        for host, kind in (("localhost", "Hostname"), ("127.0.0.1", "IP address")):
            with self.assertRaises(requests.exceptions.SSLError) as raised:
                self.get(self.serve("wrong-name").url.replace("localhost", host))
            self.assertIn(
                f"{kind} mismatch, certificate is not valid for '{host}': ", str(raised.exception).replace("\\", "")
            )

    def test_verify_false_accepts_every_certificate(self) -> None:
        urllib3.disable_warnings()
        self.assertEqual(self.get(self.serve("self-signed").url, verify=False), b"TLSv1.3")

    def test_a_server_that_requires_a_client_certificate_accepts_it(self) -> None:
        server = self.serve(client_ca=CA)
        self.assertEqual(self.get(server.url, cert=CLIENT), b"TLSv1.3")
        with self.assertRaises(requests.exceptions.ConnectionError):
            self.get(server.url)

    def test_a_large_body_is_streamed(self) -> None:
        with requests.get(f"{self.serve().url}/body", verify=CA, timeout=10, stream=True) as response:
            pieces = list(response.iter_content(65536))
        self.assertEqual(b"".join(pieces), BODY)
        self.assertGreater(len(pieces), 8)

    def test_a_response_that_does_not_come_raises_readtimeout(self) -> None:
        with self.assertRaises(requests.exceptions.ReadTimeout):
            self.get(f"{self.serve().url}/slow", timeout=0.1)

    def test_a_handshake_without_an_answer_raises_a_timeout(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent, self.assertRaises(requests.exceptions.Timeout):
            self.get(f"https://localhost:{silent.getsockname()[1]}", timeout=0.1)

    def test_a_session_keeps_its_connection(self) -> None:
        server = self.serve()
        with requests.Session() as session:
            for _ in range(3):
                self.assertEqual(session.get(server.url, verify=CA, timeout=10).content, b"TLSv1.3")
        self.assertEqual(server.connections, 1)

    def test_threads_share_a_session(self) -> None:
        server = self.serve()
        with requests.Session() as session, ThreadPoolExecutor(8) as threads:
            found = threads.map(lambda _: session.get(f"{server.url}/body", verify=CA).content == BODY, range(32))
            self.assertEqual(list(found), [True] * 32)

    def test_http_proxies_tunnel_to_https(self) -> None:
        self.assertEqual(self.get(self.serve().url, proxies={"https": self.serve(None).url}), b"TLSv1.3")

    def test_https_proxies_carry_tls_in_tls(self) -> None:
        server, proxy = self.serve(), self.serve()
        proxies = {"https": proxy.url}
        self.assertEqual(self.get(server.url, proxies=proxies), b"TLSv1.3")
        self.assertEqual(self.get(f"{server.url}/body", proxies=proxies), BODY)

    def test_an_http_proxy_with_an_https_url_is_explained(self) -> None:
        proxies = {"https": self.serve(None).url.replace("http:", "https:")}
        with self.assertRaises(requests.exceptions.ProxyError) as raised:
            self.get(self.serve().url, proxies=proxies)
        self.assertIn("Your proxy appears to only use HTTP", str(raised.exception))


class Pools(Test):
    def request(self, server: Server, **named: Any) -> bytes:
        with urllib3.HTTPSConnectionPool("localhost", server.server_port, retries=False, **named) as pool:
            return pool.request("GET", "/").data  # type: ignore[no-any-return]

    def test_assert_hostname_replaces_the_name_to_check(self) -> None:
        server = self.serve("wrong-name")
        names = [value for kind, value in self.certificate("wrong-name")["subjectAltName"] if kind == "DNS"]
        self.assertEqual(self.request(server, ca_certs=CA, assert_hostname=names[0]), b"TLSv1.3")
        with self.assertRaises(urllib3.exceptions.SSLError):
            self.request(server, ca_certs=CA, assert_hostname="localhost")

    def test_assert_fingerprint_accepts_the_digest_of_the_certificate(self) -> None:
        data = (CERTIFICATES / "server.pem").read_bytes()
        digest = netlib.Certificate.parse(data).fingerprint()
        self.assertEqual(self.request(self.serve(), ca_certs=CA, assert_fingerprint=digest), b"TLSv1.3")
        with self.assertRaises(urllib3.exceptions.SSLError):
            self.request(self.serve(), ca_certs=CA, assert_fingerprint="00" * 32)

    def test_the_password_decrypts_the_key(self) -> None:
        server = self.serve(client_ca=CA)
        key = {"cert_file": CLIENT[0], "key_file": str(CERTIFICATES / "client-encrypted.key"), "ca_certs": CA}
        self.assertEqual(self.request(server, key_password=PASSWORD, **key), b"TLSv1.3")
        with self.assertRaises(urllib3.exceptions.SSLError):
            self.request(server, key_password="wrong", **key)

    @staticmethod
    def certificate(name: str) -> dict[str, Any]:
        decode: Callable[[Path], dict[str, Any]] = ssl._ssl._test_decode_cert  # type: ignore[attr-defined]
        return decode(CERTIFICATES / f"{name}.pem")


PASSWORD = "secret"


class Sockets(Test):
    def test_the_facts_are_those_of_the_ssl_module(self) -> None:
        server, found = self.serve(), []
        context = ssl.create_default_context(cafile=CA)
        plain = socket.create_connection(("127.0.0.1", server.server_port))
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            for one in (connection, self.connect(server, trusting())):
                facts = one.getpeercert(), one.getpeercert(True), one.version(), one.compression()
                found.append((*facts, one.shared_ciphers(), one.selected_alpn_protocol(), one.getpeername()))
                self.assertEqual((one.cipher() or "")[1:], ("TLSv1.3", 128 if "128" in str(one.cipher()) else 256))
        self.assertEqual(found[1], found[0])

    def test_connections_with_equal_settings_resume_sessions(self) -> None:
        server, resumed = self.serve(), []
        for _ in range(2):
            with self.connect(server, trusting()) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
                self.assertIn(b"200 OK", connection.recv(4096))
                resumed.append(connection.session_reused)
        self.assertEqual(resumed[1], True)

    def test_a_changed_file_of_authorities_is_read_again(self) -> None:
        server = self.serve()
        with tempfile.TemporaryDirectory() as directory:
            ca = f"{directory}/ca.pem"
            shutil.copy(CA, ca)
            for path in (ca, directory):
                shutil.copy(CA, ca)
                self.assertEqual(requests.get(server.url, verify=path).content, b"TLSv1.3")
                shutil.copy(CERTIFICATES / "other-ca.pem", ca)
                with self.assertRaises(requests.exceptions.SSLError):
                    requests.get(server.url, verify=path)

    def test_a_nonblocking_socket_raises_wantread(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            plain = socket.create_connection(silent.getsockname())
            plain.setblocking(False)
            with trusting().wrap_socket(plain, False, False, server_hostname="localhost") as connection:
                self.assertRaises(ssl.SSLWantReadError, connection.do_handshake)
        connection = self.connect(self.serve(), trusting())
        connection.setblocking(False)
        with self.assertRaises(ssl.SSLWantReadError):
            connection.recv(1)

    def test_a_reset_raises_connectionreseterror(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            plain = socket.create_connection(listener.getsockname())
            peer, _ = listener.accept()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.close()
            with self.assertRaises(ConnectionResetError):
                trusting().wrap_socket(plain, server_hostname="localhost")

    def test_the_end_of_the_connection_in_the_handshake_raises_ssleoferror(self) -> None:
        left, right = socket.socketpair()
        right.shutdown(socket.SHUT_WR)
        with right, self.assertRaises(ssl.SSLEOFError):
            trusting().wrap_socket(left, server_hostname="localhost")

    def test_the_timeout_bounds_the_whole_handshake(self) -> None:
        def drip(peer: socket.socket) -> None:
            with peer, contextlib.suppress(OSError):
                peer.sendall(b"\x16\x03\x03\x40\x00")
                for _ in range(1000):
                    peer.sendall(b"\0")
                    time.sleep(0.02)

        left, right = socket.socketpair()
        threading.Thread(target=drip, args=[right], daemon=True).start()
        left.settimeout(0.15)
        self.assertRaises(TimeoutError, trusting().wrap_socket, left, server_hostname="localhost")

    def test_an_end_without_close_notify_is_an_error_only_if_it_is_not_suppressed(self) -> None:
        server = self.serve()
        for suppress in (True, False):
            connection = self.connect(server, trusting(), suppress_ragged_eofs=suppress)
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            received = b""
            with contextlib.nullcontext() if suppress else self.assertRaises(ssl.SSLEOFError):
                while data := connection.recv(4096):
                    received += data
            self.assertIn(b"TLSv1.3", received)

    def test_a_certificate_that_was_not_verified_has_no_facts(self) -> None:
        context = netlib.urllib3.SSLContext(ssl.PROTOCOL_TLS)
        connection = self.connect(self.serve("self-signed"), context)
        self.assertEqual(connection.getpeercert(), {})
        self.assertTrue(connection.getpeercert(True))

    def test_the_end_of_the_input_ends_a_session_in_memory(self) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = trusting().wrap_bio(incoming, outgoing, server_hostname="localhost")
        self.assertRaises(ssl.SSLWantReadError, session.do_handshake)
        self.assertEqual(outgoing.read(1), b"\x16")
        incoming.write_eof()
        self.assertRaises(ssl.SSLEOFError, session.do_handshake)

    def test_methods_that_bypass_tls_are_refused(self) -> None:
        connection = self.connect(self.serve(), trusting())
        for name in ("detach", "dup", "recvfrom", "recvmsg", "sendmsg", "sendto"):
            with self.subTest(name), self.assertRaises(NotImplementedError):
                getattr(connection, name)()
        with self.assertRaises(ValueError):
            connection.recv(1, socket.MSG_PEEK)

    def test_closing_a_socket_closes_its_files_last(self) -> None:
        connection = self.connect(self.serve(), trusting())
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        file = connection.makefile("rb")
        connection.close()
        self.assertEqual(file.readline(), b"HTTP/1.1 200 OK\r\n")
        file.close()
        self.assertEqual(connection.fileno(), -1)
        for call in (lambda: connection.recv(1), lambda: connection.send(b"a"), connection.do_handshake):
            with self.assertRaisesRegex(OSError, "the connection is closed"):
                call()


class Contexts(Test):
    def test_files_that_cannot_be_used_raise_the_errors_of_the_ssl_module(self) -> None:
        context = trusting()
        key = str(CERTIFICATES / "client-encrypted.key")
        cases: list[tuple[type[Exception], Callable[[], object]]] = [
            (FileNotFoundError, lambda: context.load_verify_locations("/missing")),
            (FileNotFoundError, lambda: context.load_verify_locations(capath="/missing")),
            (ssl.SSLError, lambda: context.load_verify_locations(__file__)),
            (ssl.SSLError, lambda: context.load_verify_locations(cadata="nothing")),
            (TypeError, context.load_verify_locations),
            (FileNotFoundError, lambda: context.load_cert_chain("/missing")),
            (ssl.SSLError, lambda: context.load_cert_chain(CLIENT[0], str(CERTIFICATES / "server.key"))),
            (ssl.SSLError, lambda: context.load_cert_chain(CLIENT[0], key)),
            (ssl.SSLError, lambda: context.load_cert_chain(CLIENT[0], key, "wrong")),
            (ssl.SSLError, lambda: context.set_ciphers("nothing")),
        ]
        for expected, call in cases:
            with self.assertRaises(expected):
                call()
        context.load_cert_chain(CLIENT[0], key, lambda: PASSWORD)

    def test_a_context_without_authorities_refuses_every_server(self) -> None:
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(self.serve(), netlib.urllib3.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

    def test_verify_mode_and_check_hostname_depend_on_each_other(self) -> None:
        context = netlib.urllib3.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        with self.assertRaises(ValueError):
            context.verify_mode = ssl.CERT_NONE
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.check_hostname = True
        self.assertEqual(context.verify_mode, ssl.CERT_REQUIRED)

    def test_the_maximum_version_is_negotiated(self) -> None:
        context = trusting()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.assertEqual(self.connect(self.serve(), context).version(), "TLSv1.2")

    def test_the_common_name_is_never_a_host_name(self) -> None:
        with self.assertRaises(AttributeError):
            trusting().hostname_checks_common_name = True

    def test_the_secrets_are_written_to_the_key_log_file(self) -> None:
        context = trusting()
        with tempfile.NamedTemporaryFile() as log:
            context.keylog_filename = log.name
            self.connect(self.serve(), context)
            first, second = log.read().splitlines()[:2]
        self.assertEqual(first, b"# TLS secrets log file, generated by netlib")
        self.assertIn(b"CLIENT_HANDSHAKE_TRAFFIC_SECRET ", second)

    def test_only_the_owner_can_read_a_new_key_log_file(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            trusting().keylog_filename = f"{directory}/log"
            self.assertEqual(Path(directory, "log").stat().st_mode & 0o777, 0o600)

    def test_a_private_key_is_not_kept_after_its_contexts(self) -> None:
        shared = netlib.ssl._shared_contexts._contexts
        context = trusting()
        context.load_cert_chain(*CLIENT)
        self.connect(self.serve(client_ca=CA), context)
        self.assertNotIn("PRIVATE KEY", repr(list(shared)))


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
