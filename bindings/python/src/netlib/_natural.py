"""Methods written by hand, which the generated classes inherit."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import _api
from ._runtime import Data, Handle, WritableData, lib, limit_pointer

if TYPE_CHECKING:
    from ._api import ErrorInfo, Headers, Query, Response, Status, Stream, Url
    from ._errors import Error


class UrlMethods:
    __slots__ = ()

    def __str__(self: Url) -> str:  # type: ignore[misc]
        return self.to_string()

    def __repr__(self: Url) -> str:  # type: ignore[misc]
        """Returns a text without secrets, as `redacted`."""
        return f"<Url {self.redacted()}>"

    def __eq__(self: Url, other: object) -> bool:  # type: ignore[misc]
        """Compares the texts of two URLs."""
        if not isinstance(other, _api.Url):
            return NotImplemented
        return self is other or self.to_string() == other.to_string()

    def __hash__(self: Url) -> int:  # type: ignore[misc]
        return hash(self.to_string())


class BytesMethods:
    __slots__ = ()

    def __bytes__(self: _api.Bytes) -> bytes:  # type: ignore[misc]
        return self.data()

    def __str__(self: _api.Bytes) -> str:  # type: ignore[misc]
        return self.data().decode("utf-8", "surrogateescape")


class ErrorMethods:
    __slots__ = ()

    def causes(self: ErrorInfo) -> list[ErrorInfo]:  # type: ignore[misc]
        """Returns the errors that led to this one."""
        found = [self.cause(at) for at in range(self.cause_count())]
        return [cause for cause in found if cause is not None]

    def exception(self: ErrorInfo) -> Error:  # type: ignore[misc]
        """Returns an exception for the error."""
        from ._errors import make_error

        return make_error(self)


class HeadersMethods:
    __slots__ = ()

    def __len__(self: Headers) -> int:  # type: ignore[misc]
        return self.count()

    def __iter__(self: Headers) -> Iterator[tuple[str, str]]:  # type: ignore[misc]
        """Yields the name and the value of each field."""
        for at in range(self.count()):
            yield self.name(at) or "", self.value(at) or ""

    def get_all(self: Headers, name: str) -> list[str]:  # type: ignore[misc]
        """Returns the values of all fields with a name."""
        return [self.get_at(name, at) or "" for at in range(self.get_count(name))]


class QueryMethods:
    __slots__ = ()

    def __len__(self: Query) -> int:  # type: ignore[misc]
        return self.count()

    def __iter__(self: Query) -> Iterator[tuple[str, str | None]]:  # type: ignore[misc]
        """Yields the name and the value of each pair."""
        for at in range(self.count()):
            yield self.name(at) or "", self.value(at)


class StreamMethods:
    """Methods with the names of the socket module. On a non-blocking stream, they raise WantReadError and
    WantWriteError, as ssl.SSLSocket does."""

    __slots__ = ()

    def _adopt(self, pointer: Any, keep: tuple[object, ...] = ()) -> None:
        # A stream without a limit gets one, so that a signal handler can end a wait.
        if keep:
            lib.netlib_stream_set_limit(pointer, limit_pointer(None))
        Handle._adopt(cast(Handle, self), pointer, keep)

    def recv_into(self: Stream, buffer: WritableData) -> int:  # type: ignore[misc]
        """Reads the bytes that are available. Returns 0 at the end of the data."""
        status, count = self.read(buffer)
        return 0 if status == _api.Status.END_OF_STREAM else checked(status, count)

    def recv(self: Stream, size: int) -> bytes:  # type: ignore[misc]
        """Reads at most `size` bytes. Returns b"" at the end of the data."""
        buffer = bytearray(size)
        count = self.recv_into(buffer)
        return bytes(memoryview(buffer)[:count])

    def send(self: Stream, data: Data) -> int:  # type: ignore[misc]
        """Writes data, and returns the number of bytes written. A blocking stream writes all bytes."""
        status, count = self.write(data)
        return checked(status, count)

    def sendall(self: Stream, data: Data) -> None:  # type: ignore[misc]
        """Writes all bytes."""
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.send(rest) :]

    def do_handshake(self: Stream) -> None:  # type: ignore[misc]
        """Makes the TLS handshake."""
        checked(self.handshake(), None)

    def response(self: Stream, method: str = "GET") -> Response:  # type: ignore[misc]
        """Reads the head of the final response to a request with a method."""
        status, response = self.read_response(method)
        checked(status, None)
        assert response is not None
        return response

    def body(self: Stream, response: Response, size: int = 65536) -> Iterator[bytes]:  # type: ignore[misc]
        """Reads the body of a response. Yields pieces of at most `size` bytes as they arrive."""
        with _api.BodyDecoder(response) as decoder:
            buffer = bytearray(size)
            while True:
                status, count = self.read_body(decoder, buffer)
                if status == _api.Status.END_OF_STREAM:
                    return
                yield bytes(memoryview(buffer)[: checked(status, count)])

    def makefile(self: Stream, buffering: int = 16384) -> io.BufferedReader:  # type: ignore[misc]
        """Returns a buffered reader of the stream. Closing the reader does not close the stream."""
        return io.BufferedReader(_Reader(self), buffering)


class _Reader(io.RawIOBase):
    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.stream.recv_into(memoryview(buffer).cast("B"))


class WantReadError(BlockingIOError):
    """A non-blocking stream needs input. Repeat the call when the descriptor is readable."""


class WantWriteError(BlockingIOError):
    """A non-blocking stream cannot write. Repeat the call when the descriptor is writable."""


Value = TypeVar("Value")


def checked(status: Status, value: Value) -> Value:
    """Returns the value of a call that may return a status of NETLIB_CLASS_PROGRESS."""
    if status == _api.Status.WANT_READ:
        raise WantReadError("wait until the descriptor is readable")
    if status == _api.Status.WANT_WRITE:
        raise WantWriteError("wait until the descriptor is writable")
    if status == _api.Status.END_OF_STREAM:
        raise EOFError("the stream has ended")
    return value
