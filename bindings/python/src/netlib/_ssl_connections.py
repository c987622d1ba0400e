"""The connections of `netlib.ssl.SSLContext`."""

# pyright: reportIncompatibleVariableOverride=false
# The base classes are written in C, and have properties that typeshed declares as variables.
from __future__ import annotations

import errno
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from . import _api
from ._api import Limit, Status, TlsEngine
from ._runtime import Data, WritableData
from ._ssl_certificates import certificate_facts
from ._ssl_errors import check_progress, python_errors, ssl_error

if TYPE_CHECKING:
    from .ssl import SSLContext


class _Unsupported:
    """An attribute of a class of the ssl module that netlib does not have."""

    def __init__(self, cls: type, name: str) -> None:
        self._message = f"netlib.ssl.{cls.__name__} has no {name}"

    def __get__(self, _instance: object, _owner: type | None = None) -> NoReturn:
        raise AttributeError(self._message)

    def __set__(self, _instance: object, _value: object) -> NoReturn:
        raise AttributeError(self._message)


def refuse_inherited(cls: type) -> None:
    """Makes the public attributes that a class inherits from the ssl module raise AttributeError, also those of newer
    releases of Python. They would use the objects of OpenSSL."""
    own: set[str] = set()
    for base in cls.__mro__:
        if base.__module__ in ("ssl", "_ssl"):
            for name in vars(base).keys() - own:
                if not name.startswith("_"):
                    setattr(cls, name, _Unsupported(cls, name))
        own.update(vars(base))


class _Session:
    """The facts about a TLS session."""

    _context: SSLContext
    _server_hostname: str | None
    _tls: _api.Stream | TlsEngine

    @property
    def context(self) -> SSLContext:
        """The context that made the connection."""
        return self._context

    @property
    def server_hostname(self) -> str | None:
        """The name of the server, or None."""
        return self._server_hostname

    @property
    def server_side(self) -> bool:
        """False, because netlib.ssl has no connections of servers."""
        return False

    @property
    def session(self) -> None:
        """None, because netlib resumes sessions itself."""

    def _tls_version(self) -> _api.TlsVersion:
        return self._tls.version() if isinstance(self._tls, TlsEngine) else self._tls.tls_version()

    def get_unverified_chain(self) -> list[bytes]:
        """Returns the certificates that the peer sent, in DER."""
        found = (self._tls.peer_certificate(at) for at in range(self._tls.peer_certificate_count()))
        return [data for data in found if data is not None]

    def getpeercert(self, binary_form: bool = False) -> dict[str, Any] | bytes | None:
        """Returns the peer's certificate in DER or as a dict, which is empty if the certificate was not verified."""
        if self._tls_version() == _api.TlsVersion.NONE:
            raise ValueError("the handshake is not done")
        data = self._tls.peer_certificate(0)
        if data is None or binary_form:
            return data
        return {} if self.context.verify_mode == ssl.CERT_NONE else certificate_facts(data)

    def version(self) -> str | None:
        return {_api.TlsVersion.V1_2: "TLSv1.2", _api.TlsVersion.V1_3: "TLSv1.3"}.get(self._tls_version())

    def cipher(self) -> tuple[str, str, int] | None:
        name = self._tls.cipher_suite_openssl_name()
        return None if name is None else (name, self.version() or "", self._tls.cipher_suite_bits())

    def selected_alpn_protocol(self) -> str | None:
        return self._tls.alpn_protocol()

    def selected_npn_protocol(self) -> None:
        """None, because netlib does not support NPN."""

    def compression(self) -> None:
        """None, because netlib does not support compression."""

    def get_channel_binding(self, cb_type: str = "tls-unique") -> None:
        """None, because netlib does not support channel binding."""
        if cb_type != "tls-unique":
            raise ValueError(f"{cb_type} is not a known type of channel binding")

    def shared_ciphers(self) -> None:
        """None, as for every client."""

    @property
    def session_reused(self) -> bool:
        return self._tls.is_resumed()

    def pending(self) -> int:
        """Returns the number of bytes that can be read without more input."""
        return self._tls.pending()

    def _check_unwrap(self) -> None:
        if self._tls_version() == _api.TlsVersion.NONE:
            raise ssl_error("shutdown while in init")


class _Calls:
    """The calls that use a descriptor. A descriptor that is closed during a call stays open until the last call has
    returned, because the system would give its number to the next file that another thread opens."""

    def __init__(self) -> None:
        self.closed = False
        # The operations of lists are atomic. For a lock, a signal handler or a forked child could wait forever.
        self._running: list[None] = []
        self._to_close: list[int] = []
        self._process = os.getpid()

    def __enter__(self) -> None:
        self._running.append(None)

    def __exit__(self, _kind: object, raised: BaseException | None, _traceback: object) -> None:
        self._running.pop()
        self._close_unused()
        if self.closed and isinstance(raised, Exception):
            raise OSError(errno.EBADF, "the connection is closed") from raised

    def __bool__(self) -> bool:
        # A forked child has no threads that could return from the calls of its parent.
        return bool(self._running) and self._process == os.getpid()

    def close(self, descriptor: int) -> None:
        self._to_close.append(descriptor)
        self._close_unused()

    def _close_unused(self) -> None:
        if self._to_close and not self:
            with suppress(IndexError):
                os.close(self._to_close.pop())


class SSLSocket(_Session, ssl.SSLSocket):  # type: ignore[misc, override]
    """A TLS connection, as ssl.SSLSocket."""

    do_handshake_on_connect: bool
    suppress_ragged_eofs: bool
    _tls: _api.Stream

    def __init__(
        self,
        sock: socket.socket,
        context: SSLContext,
        server_hostname: str | None,
        do_handshake_on_connect: bool,
        suppress_ragged_eofs: bool,
    ) -> None:
        self._context, self._server_hostname = context, server_hostname
        self._calls = _Calls()
        self.do_handshake_on_connect, self.suppress_ragged_eofs = do_handshake_on_connect, suppress_ragged_eofs
        timeout = sock.gettimeout()
        with python_errors(server_hostname):
            # The number instead of the object: an object would keep itself alive.
            self._tls = _api.tls_wrap_fd(context._tls_context(), sock.fileno(), server_hostname)
        socket.socket.__init__(self, sock.family, sock.type, sock.proto, sock.detach())
        self.settimeout(timeout)
        if do_handshake_on_connect:
            try:
                if self._is_connected():
                    self.do_handshake()
            except BaseException:
                self.close()
                raise

    def _is_connected(self) -> bool:
        try:
            self.getpeername()
        except OSError as error:
            if error.errno != errno.ENOTCONN:
                raise
            # A connection that the peer has reset has an error.
            failure = self.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failure:
                raise OSError(failure, os.strerror(failure)) from None
            return False
        return True

    @property
    def _sslobj(self) -> SSLSocket:
        # httpcore asks this attribute of ssl.SSLSocket for the ALPN protocol.
        return self

    def connect(self, addr: Any) -> None:
        """Connects, and makes the handshake unless the context was told not to."""
        socket.socket.connect(self, addr)
        if self.do_handshake_on_connect:
            self.do_handshake()

    def shutdown(self, how: int) -> None:
        """Ends the connection in one direction or both, without close_notify."""
        socket.socket.shutdown(self, how)

    def _open(self) -> _api.Stream:
        if not self._tls._ptr:
            raise OSError(errno.EBADF, "the connection is closed")
        return self._tls

    def do_handshake(self, block: bool = False) -> None:
        """Makes the handshake. The timeout bounds the whole handshake. `block` waits even without blocking."""
        timeout, stream = self.gettimeout(), self._open()
        if block and timeout == 0:
            stream.set_blocking(True)
        stream.set_limit(Limit(timeout) if timeout else None)
        try:
            with self._calls, python_errors(self._server_hostname):
                check_progress(stream.handshake())
        finally:
            # Another thread may have closed the connection.
            if stream._ptr:
                stream.set_limit(None)
                stream.set_blocking(timeout != 0)

    def settimeout(self, value: float | None) -> None:
        socket.socket.settimeout(self, value)
        if not self._tls._ptr:
            return
        self._tls.set_blocking(value != 0)
        self._tls.set_read_timeout(value)
        self._tls.set_write_timeout(value)

    def setblocking(self, flag: bool) -> None:
        self.settimeout(None if flag else 0.0)

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        _no_flags(flags)
        space = memoryview(buffer).cast("B")
        return self._read(space[:nbytes] if nbytes else space)

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        _no_flags(flags)
        buffer = bytearray(buflen)
        return bytes(memoryview(buffer)[: self._read(buffer)])

    def _read(self, buffer: WritableData) -> int:
        if not len(buffer):
            return 0
        try:
            with self._calls, python_errors(self._server_hostname):
                status, count = self._open().read(buffer)
        except ssl.SSLEOFError:
            if self.suppress_ragged_eofs:
                return 0
            raise
        check_progress(status)
        return count

    def send(self, data: Any, flags: int = 0) -> int:
        _no_flags(flags)
        with self._calls, python_errors(self._server_hostname):
            status, count = self._open().write(memoryview(data).cast("B"))
        check_progress(status)
        return count

    def sendall(self, data: Any, flags: int = 0) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.send(rest, flags) :]

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        return self._sendfile_use_send(file, offset, count)  # type: ignore[attr-defined, no-any-return]

    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        return self.recv(len) if buffer is None else self.recv_into(buffer, len)

    def write(self, data: Any) -> int:
        return self.send(data)

    def unwrap(self) -> socket.socket:
        """Ends TLS, and returns a socket that continues without TLS. Raises SSLError if the peer has sent more data
        before, of which a part is then lost. Data without TLS that arrives together with the peer's close_notify is
        lost."""
        stream = self._open()
        self._check_unwrap()
        with self._calls, python_errors():
            check_progress(stream.shutdown())
            _check_end(stream.read(bytearray(1))[0])
        self._tls.close()
        timeout = self.gettimeout()
        plain = socket.socket(self.family, self.type, self.proto, socket.socket.detach(self))
        plain.settimeout(timeout)
        return plain

    def _real_close(self) -> None:
        self._calls.closed = True
        if self._tls._ptr:
            with suppress(Exception):
                self._tls.set_blocking(False)
                self._tls.shutdown()
            self._tls.close()
        if self._calls:
            # Wakes the threads that wait for the peer.
            with suppress(OSError):
                socket.socket.shutdown(self, socket.SHUT_RDWR)
        descriptor = socket.socket.detach(self)
        if descriptor >= 0:
            self._calls.close(descriptor)

    def _refuse(self, *_arguments: object, **_named: object) -> NoReturn:
        raise NotImplementedError("a TLS connection does not support this method")


def _check_end(status: Status) -> None:
    """Raises an exception unless the peer has ended its data."""
    check_progress(status)
    if status != Status.END_OF_STREAM:
        # As OpenSSL: a peer could send data without an end.
        raise ssl_error("application data after close notify")


def _no_flags(flags: int) -> None:
    if flags:
        raise ValueError("a TLS connection supports no flags")


for _name in (
    "accept",
    "connect_ex",
    "detach",
    "dup",
    "recvfrom",
    "recvfrom_into",
    "recvmsg",
    "recvmsg_into",
    "sendmsg",
    "sendto",
):
    setattr(SSLSocket, _name, SSLSocket._refuse)
refuse_inherited(SSLSocket)


class SSLObject(_Session, ssl.SSLObject):  # type: ignore[misc]
    """A TLS session that reads from and writes to memory, as ssl.SSLObject."""

    _tls: TlsEngine

    def __init__(
        self, context: SSLContext, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_hostname: str | None
    ) -> None:
        self._context, self._server_hostname = context, server_hostname
        self._incoming, self._outgoing = incoming, outgoing
        self._rest = memoryview(b"")
        self._ended = False
        self._input, self._output = memoryview(bytearray(65536)), bytearray(32768)
        with python_errors(server_hostname):
            self._tls = TlsEngine.new_client(context._tls_context(), server_hostname)

    def _feed(self) -> bool:
        """Moves input to the engine. Returns False if there is none, or if the engine has no room."""
        data = self._rest or memoryview(self._incoming.read())
        if data:
            count = self._tls.feed(data)
            self._rest = data[count:]
            return count > 0
        if self._incoming.eof and not self._ended:
            self._ended = True
            self._tls.feed_eof()
            return True
        return False

    def _drain(self) -> bool:
        """Moves output from the engine. Returns False if there is none."""
        count = 0
        while drained := self._tls.drain(self._output):
            self._outgoing.write(memoryview(self._output)[:drained])
            count += drained
        return count > 0

    def _run(self, call: Callable[[], tuple[Status, int]]) -> tuple[Status, int]:
        """Repeats a call while the engine wants input that is available, or has output to write."""
        with python_errors(self._server_hostname):
            try:
                while True:
                    status, count = call()
                    if status == Status.WANT_READ and self._feed():
                        continue
                    if status == Status.WANT_WRITE and self._drain():
                        continue
                    check_progress(status)
                    return status, count
            finally:
                self._drain()

    def do_handshake(self) -> None:
        """Makes the handshake."""
        self._run(lambda: (self._tls.handshake(), 0))

    def read(self, len: int = 1024, buffer: Any = None) -> Any:
        """Reads into a buffer and returns the number of bytes, or returns bytes."""
        space = (self._input if buffer is None else memoryview(buffer).cast("B"))[:len]
        if not space:
            return b"" if buffer is None else 0
        _, count = self._run(lambda: self._tls.read(space))
        return bytes(space[:count]) if buffer is None else count

    def write(self, data: Data) -> int:
        """Encrypts data, and returns the number of bytes that were taken."""
        octets = memoryview(data).cast("B")
        return self._run(lambda: self._tls.write(octets))[1]

    def unwrap(self) -> None:
        """Sends close_notify, and reads that of the peer. Raises SSLError if the peer has sent more data before, of
        which a part is then lost. Data without TLS after the peer's close_notify in the incoming memory BIO is
        lost."""
        self._check_unwrap()
        with python_errors(self._server_hostname):
            self._tls.shutdown()
        _check_end(self._run(lambda: self._tls.read(bytearray(1)))[0])


refuse_inherited(SSLObject)
