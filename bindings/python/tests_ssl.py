"""The contexts of netlib.ssl with asyncio, aiohttp and httpx."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pickle
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import unittest
import unittest.mock
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import hypercorn.asyncio
import netlib.ssl
from netlib import TlsContext
from tests_urllib3 import BODY, CA, CERTIFICATES, CLIENT, PASSWORD, Test

SIZE = 16 << 20


def trusting(ca: str = CA) -> netlib.ssl.SSLContext:
    return netlib.ssl.create_default_context(cafile=ca)


def with_identity() -> netlib.ssl.SSLContext:
    context = trusting()
    context.load_cert_chain(*CLIENT)
    return context


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    return context


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


class Inherited(unittest.TestCase):
    CLASSES: tuple[tuple[type, type], ...] = (
        (netlib.ssl.SSLContext, ssl.SSLContext),
        (netlib.ssl.SSLSocket, ssl.SSLSocket),
        (netlib.ssl.SSLObject, ssl.SSLObject),
    )

    def test_no_public_attribute_is_that_of_the_ssl_module(self) -> None:
        for cls, base in self.CLASSES:
            self.assertTrue(issubclass(cls, base))
            for name in dir(base):
                owner = next(one for one in cls.__mro__ if name in vars(one))
                with self.subTest(f"{cls.__name__}.{name}"):
                    if not name.startswith("_"):
                        self.assertNotIn(owner.__module__, ("ssl", "_ssl"))

    def test_settings_that_netlib_does_not_have_raise(self) -> None:
        context = trusting()
        calls: list[Callable[[], object]] = [
            lambda: setattr(context, "sni_callback", print),
            lambda: setattr(context, "num_tickets", 1),
            lambda: setattr(context, "post_handshake_auth", True),
            lambda: setattr(context, "protocol", ssl.PROTOCOL_TLS),
            lambda: context.set_ecdh_curve("prime256v1"),
            lambda: context.load_dh_params(CA),
            lambda: context.session_stats(),
        ]
        for at, call in enumerate(calls):
            with self.subTest(at), self.assertRaises(AttributeError):
                call()
        self.assertFalse(hasattr(context, "security_level"))

    def test_the_methods_of_the_base_classes_make_no_connection_of_openssl(self) -> None:
        left, right = socket.socketpair()
        calls: list[Callable[[], object]] = [
            lambda: ssl.SSLContext.wrap_bio(trusting(), ssl.MemoryBIO(), ssl.MemoryBIO()),
            lambda: ssl.SSLObject._create(ssl.MemoryBIO(), ssl.MemoryBIO(), context=trusting()),  # type: ignore[attr-defined]
            lambda: ssl.SSLSocket._create(left, False, False, context=trusting(), server_hostname="a"),  # type: ignore[attr-defined]
        ]
        with left, right:
            for at, call in enumerate(calls):
                with self.subTest(at), self.assertRaises(NotImplementedError):
                    call()


class Contexts(Test):
    def test_a_setting_applies_to_the_next_connection(self) -> None:
        server, context = self.serve("wrong-name"), trusting()
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(server, context)
        context.check_hostname = False
        self.assertEqual(self.connect(server, context).version(), "TLSv1.3")
        context.check_hostname = True
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(server, context)
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = False
        self.assertEqual(self.connect(server, context).version(), "TLSv1.2")

    def test_an_equal_setting_keeps_the_context(self) -> None:
        context = with_identity()
        context.set_alpn_protocols(["h2"])
        made = context._tls_context()
        context.set_alpn_protocols(["h2"])
        context.check_hostname = True
        self.assertIs(context._tls_context(), made)
        context.set_alpn_protocols(["http/1.1"])
        self.assertIsNot(context._tls_context(), made)

    def test_the_trusted_certificates_are_those_of_the_ssl_module(self) -> None:
        expected = ssl.create_default_context(cafile=CA)
        for binary in (True, False):
            self.assertEqual(trusting().get_ca_certs(binary), expected.get_ca_certs(binary))
        self.assertEqual(netlib.ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).get_ca_certs(), [])

    def test_a_file_that_is_replaced_while_it_is_read_is_read_again(self) -> None:
        """With a replacement during the first or the second read of a context that is then shared."""
        server = self.serve()
        make = netlib.ssl._new_context
        for at in range(2):
            with self.subTest(at), tempfile.TemporaryDirectory() as directory:
                file, reads = Path(directory, "file"), list[TlsContext]()
                shutil.copy(CERTIFICATES / "other-ca.pem", file)

                def replace(settings: Any, at: int = at, file: Path = file, reads: list[TlsContext] = reads) -> Any:
                    reads.append(make(settings))
                    if len(reads) == at + 1:
                        shutil.copy(CA, file.with_suffix(".new"))
                        file.with_suffix(".new").replace(file)
                    return reads[-1]

                trust = {"SSL_CERT_FILE": str(file), "SSL_CERT_DIR": directory + "/none"}
                with unittest.mock.patch.dict(os.environ, trust):
                    with unittest.mock.patch.object(netlib.ssl, "_new_context", replace):
                        netlib.ssl.create_default_context()._tls_context()
                    self.assertEqual(len(reads), 2)
                    self.assertEqual(self.connect(server, netlib.ssl.create_default_context()).version(), "TLSv1.3")

    def test_contexts_that_read_the_same_files_are_shared(self) -> None:
        for context in (netlib.ssl.create_default_context, trusting):
            self.assertIs(context()._tls_context(), context()._tls_context())

    def test_the_version_of_a_file_changes_with_its_contents(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "file")
            file.write_bytes(b"one")
            found, before = file.stat(), netlib.ssl._file_version(directory)
            # The time of the change grows with the clock of the kernel.
            while file.stat().st_ctime_ns == found.st_ctime_ns:
                file.write_bytes(b"two")
                os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
            self.assertEqual(file.stat().st_mtime_ns, found.st_mtime_ns)
            self.assertNotEqual(netlib.ssl._file_version(directory), before)

    def test_the_verify_flags_contain_those_that_are_always_on(self) -> None:
        context = trusting()
        always = ssl.VERIFY_X509_TRUSTED_FIRST | getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0)
        self.assertEqual(context.verify_flags, always)
        for assigned in (ssl.VERIFY_DEFAULT, ssl.VERIFY_X509_STRICT, always):
            with self.subTest(assigned):
                context.verify_flags = assigned
                self.assertEqual(context.verify_flags, assigned | always)

    def test_a_password_is_copied(self) -> None:
        server, context, password = self.serve(client_ca=CA), trusting(), bytearray(PASSWORD.encode())
        context.load_cert_chain(CLIENT[0], CERTIFICATES / "client-encrypted.key", password)
        password[:] = bytes(len(password))
        connection = self.connect(server, context)
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        self.assertEqual(connection.recv(15), b"HTTP/1.1 200 OK")

    def test_the_default_context_verifies_servers(self) -> None:
        context = netlib.ssl.create_default_context(cadata=Path(CA).read_text())
        self.assertEqual((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))
        self.assertEqual(self.connect(self.serve(), context).version(), "TLSv1.3")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(self.serve(), netlib.ssl.create_default_context())
        with self.assertRaises(ValueError):
            netlib.ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    def test_contexts_are_keys_of_a_dict_and_cannot_be_pickled(self) -> None:
        context = trusting()
        self.assertEqual({context: 1}[context], 1)
        self.assertRaises(TypeError, pickle.dumps, context)

    def test_connections_of_servers_are_refused(self) -> None:
        with self.assertRaises(ValueError):
            trusting().wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_side=True)
        with self.assertRaises(ValueError):
            netlib.ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


class Sockets(Test):
    def test_a_wrapped_socket_connects_and_makes_the_handshake(self) -> None:
        server = self.serve()
        with trusting().wrap_socket(socket.socket(), server_hostname="localhost") as connection:
            self.assertIsNone(connection.version())
            connection.connect(("127.0.0.1", server.server_port))
            self.assertEqual(connection.version(), "TLSv1.3")

    def test_unwrap_in_memory_ends_as_in_the_ssl_module(self) -> None:
        """With data of the peer before its close_notify, with close_notify only, and without it."""

        def unwrap(context: ssl.SSLContext, data: bytes, closes: bool) -> object:
            to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = context.wrap_bio(to_client, to_server, server_hostname="localhost")
            server = server_context().wrap_bio(to_server, to_client, server_side=True)
            for session in (client, server, client, server):
                with contextlib.suppress(ssl.SSLWantReadError):
                    session.do_handshake()
            with contextlib.suppress(ssl.SSLWantReadError):
                client.read(1)
            if data:
                server.write(data)
            if closes:
                with contextlib.suppress(ssl.SSLWantReadError):
                    server.unwrap()
            for _ in range(2):
                try:
                    client.unwrap()
                    return "ended"
                except ssl.SSLWantReadError:
                    outcome = "wants input"
                except ssl.SSLError as error:
                    return type(error), str(error).split("[")[1].split("]")[0]
            return outcome

        for data, closes in ((b"data", True), (b"data", False), (b"", True), (b"", False)):
            with self.subTest(data=data, closes=closes):
                expected = unwrap(ssl.create_default_context(cafile=CA), data, closes)
                self.assertEqual(unwrap(trusting(), data, closes), expected)

    def test_the_chain_of_the_server_is_returned(self) -> None:
        connection = self.connect(self.serve(), trusting())
        self.assertEqual(connection.get_unverified_chain()[0], connection.getpeercert(True))

    def test_a_session_cannot_be_assigned(self) -> None:
        connection = self.connect(self.serve(), trusting())
        self.assertIsNone(connection.session)
        with self.assertRaises(AttributeError):
            connection.session = None  # type: ignore[misc]


class Asynchronous(Test):
    """Tests whose clients run in an event loop. Servers of the class Server run in threads."""

    def run_loop(self, main: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(asyncio.wait_for(main, 30))

    @contextlib.asynccontextmanager
    async def peer(self, answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any], tls: bool = True) -> Any:
        """Starts a server in the event loop, and yields its port."""
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context() if tls else None)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()


class Asyncio(Asynchronous):
    def test_the_facts_are_those_of_the_ssl_module(self) -> None:
        server = self.serve()

        async def facts(context: ssl.SSLContext) -> list[object]:
            _, writer = await asyncio.open_connection("localhost", server.server_port, ssl=context)
            session = writer.get_extra_info("ssl_object")
            found = [writer.get_extra_info(name) for name in ("peercert", "compression")]
            found += [session.version(), session.selected_alpn_protocol(), session.server_hostname, session.server_side]
            writer.close()
            await writer.wait_closed()
            return found

        expected = self.run_loop(facts(ssl.create_default_context(cafile=CA)))
        self.assertEqual(self.run_loop(facts(trusting())), expected)

    def test_a_failed_handshake_raises_the_exception_of_the_ssl_module(self) -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: bytes) -> None:
            await reader.read(1)
            writer.write(reply)
            await writer.drain()
            writer.close()

        async def connect(context: ssl.SSLContext, reply: bytes) -> BaseException | None:
            async with self.peer(lambda reader, writer: refuse(reader, writer, reply), tls=False) as port:
                connecting = asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
                (result,) = await asyncio.gather(connecting, return_exceptions=True)
                return result if isinstance(result, BaseException) else None

        replies = {
            "plain HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "an alert": b"\x15\x03\x03\x00\x02\x02\x28",
            "a broken message": b"\x16\x03\x03\x00\x04\x02\x00\x00\x00",
            "a message of another kind": b"\x17\x03\x03\x00\x01\x00",
            "the end": b"",
        }
        for name, reply in replies.items():
            with self.subTest(name):
                expected = self.run_loop(connect(ssl.create_default_context(cafile=CA), reply))
                raised = self.run_loop(connect(trusting(), reply))
                self.assertIs(type(raised), type(expected), (raised, expected))

    def test_the_end_of_the_connection_is_that_of_the_ssl_module(self) -> None:
        """With close_notify, without it, and with a close of the client while the server still sends."""

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            command = await reader.readline()
            writer.write(b"data")
            await writer.drain()
            if command == b"abort\n":
                # The transport below TLS ends without close_notify.
                writer.transport._ssl_protocol._transport.close()  # type: ignore[attr-defined]
            elif command == b"close\n":
                writer.close()
            else:
                with contextlib.suppress(ConnectionError):
                    while True:
                        writer.write(bytes(65536))
                        await writer.drain()

        async def exchange(context: ssl.SSLContext, command: bytes) -> tuple[object, ...]:
            async with self.peer(answer) as port:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port, ssl=context, server_hostname="localhost"
                )
                writer.write(command)
                received: object = None
                if command == b"endless\n":
                    await reader.readexactly(4 + 65536)
                else:
                    (received,) = await asyncio.gather(reader.read(), return_exceptions=True)
                writer.close()
                await asyncio.gather(writer.wait_closed(), return_exceptions=True)
                return received, reader.at_eof()

        for command in (b"close\n", b"abort\n", b"endless\n"):
            with self.subTest(command):
                expected = self.run_loop(exchange(ssl.create_default_context(cafile=CA), command))
                self.assertEqual(self.run_loop(exchange(trusting(), command)), expected)

    def test_start_tls_uses_the_context(self) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            await writer.drain()
            await writer.start_tls(server_context())
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        async def upgrade() -> tuple[bytes, bytes]:
            async with self.peer(answer, tls=False) as port:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"plain\n")
                first = await reader.readline()
                await writer.start_tls(trusting(), server_hostname="localhost")
                writer.write(b"tls\n")
                second = await reader.read()
                writer.close()
                return first, second

        if sys.version_info < (3, 11):
            self.skipTest("StreamWriter has no start_tls")
        self.assertEqual(self.run_loop(upgrade()), (b"plain\n", b"tls\n"))

    def test_large_data_passes_in_both_directions(self) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(SIZE))
            await writer.drain()
            writer.close()

        async def echo() -> bool:
            data = os.urandom(SIZE)
            async with self.peer(answer) as port:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", port, ssl=trusting(), server_hostname="localhost"
                )
                writer.write(data)
                await writer.drain()
                received = await reader.read()
                writer.close()
                return received == data

        self.assertIs(self.run_loop(echo()), True)


class Aiohttp(Asynchronous):
    async def get(self, url: str, context: ssl.SSLContext, **named: Any) -> bytes:
        async with aiohttp.ClientSession() as session, session.get(url, ssl=context, **named) as response:
            return bytes(await response.read())

    def test_the_context_makes_the_session(self) -> None:
        made: list[ssl.SSLObject] = []

        class Context(netlib.ssl.SSLContext):
            def wrap_bio(self, *arguments: Any, **named: Any) -> Any:
                made.append(super().wrap_bio(*arguments, **named))
                return made[-1]

        context = Context(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(CA)
        self.assertEqual(self.run_loop(self.get(f"{self.serve().url}/body", context)), BODY)
        self.assertEqual([(type(one), one.version()) for one in made], [(netlib.ssl.SSLObject, "TLSv1.3")])

    def test_refused_certificates_raise_the_exception_for_certificates(self) -> None:
        cases = [("wrong-name", CA), ("expired", CA), ("self-signed", CA), ("server", CERTIFICATES / "other-ca.pem")]
        for name, ca in cases:
            with self.subTest(name), self.assertRaises(aiohttp.ClientConnectorCertificateError):
                self.run_loop(self.get(self.serve(name).url, trusting(str(ca))))

    def test_a_server_that_requires_a_client_certificate_accepts_it(self) -> None:
        url = self.serve(client_ca=CA).url
        self.assertEqual(self.run_loop(self.get(url, with_identity())), b"TLSv1.3")
        with self.assertRaises(aiohttp.ClientError):
            self.run_loop(self.get(url, trusting()))

    def test_proxies_tunnel_to_https(self) -> None:
        # asyncio makes TLS in TLS since Python 3.11.
        proxies = [self.serve(None), self.serve()][: 1 + (sys.version_info >= (3, 11))]
        for proxy in proxies:
            with self.subTest(proxy.url):
                server = self.serve()
                found = self.run_loop(self.get(server.url, trusting(), proxy=proxy.url))
                self.assertEqual((found, server.connections, proxy.connections), (b"TLSv1.3", 1, 1))

    def test_a_connection_is_kept(self) -> None:
        server = self.serve()

        async def get_three() -> None:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting())) as session:
                for _ in range(3):
                    async with session.get(server.url) as response:
                        self.assertEqual(await response.text(), "TLSv1.3")

        self.run_loop(get_three())
        self.assertEqual(server.connections, 1)

    def test_cancelled_requests_leave_no_descriptor(self) -> None:
        silent = socket.create_server(("127.0.0.1", 0))
        urls = [f"{self.serve().url}/slow", f"https://localhost:{silent.getsockname()[1]}/"]

        async def cancel() -> None:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting())) as session:
                for url in urls:
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(session.get(url), 0.2)

        with silent:
            before = descriptors()
            self.run_loop(cancel())
            # The thread of the server closes its end when it sees the end of the connection.
            for _ in range(100):
                if descriptors() <= before:
                    break
                threading.Event().wait(0.02)
            self.assertLessEqual(descriptors(), before)


class Httpx(Test):
    def test_a_client_uses_the_context_that_verify_names(self) -> None:
        server = self.serve()
        with httpx.Client(verify=trusting()) as client:
            self.assertEqual(client.get(f"{server.url}/").text, "TLSv1.3")
            self.assertEqual(client.get(f"{server.url}/body").content, BODY)
            stream = client.get(f"{server.url}/").extensions["network_stream"]
            self.assertIsInstance(stream.get_extra_info("socket"), netlib.ssl.SSLSocket)
        self.assertEqual(server.connections, 1)

    def test_an_asynchronous_client_uses_the_context_that_verify_names(self) -> None:
        server = self.serve()

        async def get() -> tuple[bytes, bool]:
            async with httpx.AsyncClient(verify=trusting()) as client:
                response = await client.get(f"{server.url}/body")
                used = response.extensions["network_stream"].get_extra_info("ssl_object")
                return response.content, isinstance(used, netlib.ssl.SSLObject)

        self.assertEqual(asyncio.run(get()), (BODY, True))

    def test_a_certificate_for_another_name_is_a_connect_error(self) -> None:
        server = self.serve("wrong-name")
        refused = self.assertRaisesRegex(httpx.ConnectError, "is not valid for 'localhost'")
        with httpx.Client(verify=trusting()) as client, refused:
            client.get(f"{server.url}/")

    def test_a_timeout_is_a_read_timeout(self) -> None:
        server = self.serve()
        with httpx.Client(verify=trusting(), timeout=0.2) as client:
            self.assertRaises(httpx.ReadTimeout, client.get, f"{server.url}/slow")

    def test_an_asynchronous_client_makes_tls_in_tls(self) -> None:
        target, proxy = self.serve(), self.serve()

        async def get() -> str:
            through = httpx.Proxy(proxy.url, ssl_context=trusting())
            async with httpx.AsyncClient(verify=trusting(), proxy=through) as client:
                return str((await client.get(f"{target.url}/")).text)

        self.assertEqual(asyncio.run(get()), "TLSv1.3")
        self.assertEqual((target.connections, proxy.connections), (1, 1))

    def test_a_synchronous_client_makes_tls_in_tls(self) -> None:
        target, proxy = self.serve(), self.serve()
        through = httpx.Proxy(proxy.url, ssl_context=trusting())
        with httpx.Client(verify=trusting(), proxy=through) as client:
            self.assertEqual(client.get(f"{target.url}/").text, "TLSv1.3")
            self.assertEqual(client.get(f"{target.url}/body").content, BODY)
        self.assertEqual((target.connections, proxy.connections), (1, 1))


async def application(scope: Any, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
    """Answers with the version of HTTP, the number of bytes of the request, and SIZE bytes for the path /large."""
    if scope["type"] != "http":
        return
    length, more = 0, True
    while more:
        message = await receive()
        length, more = length + len(message.get("body", b"")), message.get("more_body", False)
    body = bytes(SIZE) if scope["path"] == "/large" else f"{scope['http_version']} {length}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


class Http2(Test):
    def setUp(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.end = asyncio.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        config = hypercorn.Config()
        config.bind = [f"fd://{os.dup(listener.fileno())}"]
        config.certfile, config.keyfile = str(CERTIFICATES / "server.pem"), str(CERTIFICATES / "server.key")
        config.alpn_protocols = ["h2", "http/1.1"]
        config.errorlog = config.accesslog = None
        self.url = f"https://localhost:{listener.getsockname()[1]}"
        serving = hypercorn.asyncio.serve(application, config, shutdown_trigger=self.end.wait)
        thread = threading.Thread(target=self.loop.run_until_complete, args=[serving])
        thread.start()

        def stop() -> None:
            self.loop.call_soon_threadsafe(self.end.set)
            thread.join()
            self.loop.close()
            listener.close()

        self.addCleanup(stop)

    def test_both_clients_of_httpx_negotiate_http2(self) -> None:
        async def get(context: ssl.SSLContext) -> tuple[str, str, int]:
            async with httpx.AsyncClient(verify=context, http2=True) as client:
                response = await client.post(f"{self.url}/", content=bytes(1 << 20))
                large = await client.get(f"{self.url}/large")
                return response.http_version, response.text, len(large.content)

        expected = ("HTTP/2", f"2 {1 << 20}", SIZE)
        self.assertEqual(asyncio.run(get(trusting())), expected)
        with httpx.Client(verify=trusting(), http2=True) as client:
            response = client.post(f"{self.url}/", content=bytes(1 << 20))
            large = client.get(f"{self.url}/large")
            self.assertEqual((response.http_version, response.text, len(large.content)), expected)

    def test_a_client_without_http2_gets_http1(self) -> None:
        with httpx.Client(verify=trusting()) as client:
            self.assertEqual(client.get(f"{self.url}/").http_version, "HTTP/1.1")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    bad = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad != 0)
