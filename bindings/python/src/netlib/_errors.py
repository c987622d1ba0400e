"""The exceptions. `netlib.Error` is the base class; each class of statuses has a subclass."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, NoReturn

from . import _api
from ._runtime import NULL, release, take_pending

if TYPE_CHECKING:
    from ._api import ErrorInfo, Status


class Error(Exception):
    """A failure of netlib. Branch on `status`, never on the message."""

    info: ErrorInfo
    """All facts of the error."""
    status: Status
    advice: str | None
    """Advice for the developer: the setting that would change the outcome, or None."""
    offset: int | None
    """The byte offset of invalid input."""
    causes: tuple[Error, ...]
    """The errors that led to this one, for example one for each address. The first one is also `__cause__`."""
    __cause__: BaseException | None

    def __init__(self, info: ErrorInfo) -> None:
        self.info = info
        self._message = info.message() or ""
        super().__init__(self._message)
        self.status = info.status()
        self.advice = info.advice()
        offset = info.offset()
        self.offset = offset if offset >= 0 else None
        self.causes = tuple(make_error(cause) for cause in info.causes())
        if self.causes:
            self.__cause__ = self.causes[0]
        notes = [f"advice: {self.advice}"] if self.advice else []
        notes += [f"cause: {cause}" for cause in self.causes]
        if notes:
            # Tracebacks of Python 3.11 and newer end with the notes.
            self.__notes__ = notes
        if isinstance(self, OSError):
            os_error: Any = self
            os_error.errno, os_error.strerror = info.errno() or None, self._message

    def __str__(self) -> str:
        return self._message

    def __copy__(self) -> Error:
        return type(self)(self.info)

    def __deepcopy__(self, _memo: object) -> Error:
        return type(self)(self.info)

    def __reduce__(self) -> Any:
        """Pickles the attributes. The `info` of the new exception has the status, the message, the retry kind, the HTTP
        status and the first cause; its `user_data` is None."""
        attributes = {name: value for name, value in self.__dict__.items() if name != "info"}
        if isinstance(self, OSError):
            os_error: Any = self
            attributes.update(errno=os_error.errno, strerror=os_error.strerror)
        facts = int(self.status), self._message, int(self.info.retry_kind()), self.info.http_status(), self.causes[:1]
        return _restored, facts, attributes

    @property
    def user_data(self) -> object:
        """The object that was attached to the error or, for an error without one, to its first cause with one."""
        value = self.info.user_data()
        found = [value] if value is not None else [cause.user_data for cause in self.causes]
        return next((item for item in found if item is not None), None)

    def report(self) -> str:
        """The message, the causes and the advice, for a log."""
        return self.info.report() or self._message


class ArgumentError(Error, ValueError):
    """An argument or a setting is invalid."""


class UrlError(Error, ValueError):
    """A URL is invalid."""


class StateError(Error, RuntimeError):
    """The object does not allow the call in its present state."""


class InternalError(Error, RuntimeError):
    """netlib has caught a bug of its own, or a status is unknown."""


class OutOfMemoryError(Error, MemoryError):
    """An allocation failed."""


class IOFailure(Error, OSError):
    """The operating system reported a failure, with `errno`."""


class TimeLimitError(Error, TimeoutError):
    """A timeout or a deadline has passed, or the operation was cancelled."""


class ConnectError(Error, ConnectionError):
    """No connection could be made."""


class TlsError(Error, ssl.SSLError):
    """TLS failed."""


class CertificateError(TlsError, ssl.SSLCertVerificationError):
    """The certificate of the peer was not accepted."""

    verify_code: int
    verify_message: str

    def __init__(self, info: ErrorInfo) -> None:
        super().__init__(info)
        self.verify_code = int(info.certificate_problem())
        self.verify_message = str(self)


class HttpError(Error):
    """The peer violated HTTP, or sent a status that ends the retries."""


class RetryError(Error):
    """The retries are used up, or a redirect was refused."""


class ApplicationError(Error):
    """A failure that the application reported."""


def exception_class(status: int) -> type[Error]:
    statuses, classes = _api.Status, _api.StatusClass
    if status in (statuses.CERTIFICATE_VERIFY, statuses.HOSTNAME_MISMATCH, statuses.FINGERPRINT_MISMATCH):
        return CertificateError
    if status == statuses.OUT_OF_MEMORY:
        return OutOfMemoryError
    if status == statuses.IO:
        return IOFailure
    by_class = {
        classes.ARGUMENT: ArgumentError,
        classes.URL: UrlError,
        classes.STATE: StateError,
        classes.TIME: TimeLimitError,
        classes.CONNECT: ConnectError,
        classes.TLS: TlsError,
        classes.HTTP: HttpError,
        classes.RETRY: RetryError,
        classes.APPLICATION: ApplicationError,
    }
    return by_class.get(_api.status_class(status), InternalError)


def make_error(info: ErrorInfo) -> Error:
    """The exception for an error."""
    return exception_class(info.status())(info)


def _restored(status: int, message: str, retry_kind: int, http_status: int, causes: tuple[Error, ...]) -> Error:
    """The exception for a pickled error."""
    options = _api.ErrorOptions().retry_kind(_api.RetryKind(retry_kind))
    if http_status > 0:
        options.http_status(http_status)
    for cause in causes:
        options.cause(cause)
    return make_error(_api.ErrorInfo(_api.Status(status), message, options))


def fail(_status: int, err: Any, *buffers: Any) -> NoReturn:
    """Raises the exception for a failed call, or the one that a callback of the call has raised."""
    release(*buffers)
    pointer = err[0]
    raised = take_pending()
    info = _api.ErrorInfo._own(pointer) if pointer else None
    if raised is not None:
        raise raised
    if info is None:
        raise InternalError(_api.ErrorInfo(_status, "netlib reported no error"))
    raise make_error(info)


def error_pointer(error: Error | ErrorInfo | None) -> Any:
    if error is None:
        return NULL
    info = error.info if isinstance(error, Error) else error
    return info._ptr or info._closed()
