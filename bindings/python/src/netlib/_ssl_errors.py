"""The exceptions that the ssl module raises for the failures of netlib."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from ._api import Status
from ._errors import CertificateError, Error, IOFailure, OutOfMemoryError, TimeLimitError

# The texts of OpenSSL, for which urllib3 and other programs search.
_REASONS = {
    Status.CERTIFICATE_VERIFY: "certificate verify failed",
    Status.FINGERPRINT_MISMATCH: "certificate verify failed",
    Status.HOSTNAME_MISMATCH: "certificate verify failed",
    Status.NO_TRUST_ANCHORS: "certificate verify failed",
    Status.NOT_TLS: "wrong version number",
    Status.TLS_HANDSHAKE_EOF: "unexpected eof while reading",
    Status.TLS_TRUNCATED: "unexpected eof while reading",
    Status.KEY_MISMATCH: "key values mismatch",
    Status.NO_CIPHER_SUITES: "no cipher match",
}


def _is_python_error(error: Error) -> bool:
    """Returns True if the ssl module raises an exception of the same class."""
    return isinstance(error, (IOFailure, OutOfMemoryError, TimeLimitError)) or error.status == Status.INVALID_ARGUMENT


def ssl_error(reason: str) -> ssl.SSLError:
    """The exception that the ssl module raises for a reason of OpenSSL."""
    return ssl.SSLError(ssl.SSL_ERROR_SSL, f"{_code(reason)} {reason}")


def _code(reason: str) -> str:
    return f"[SSL: {reason.upper().replace(' ', '_')}]"


def _python_error(error: Error, host: str | None) -> Exception:
    """The exception that the ssl module raises for a failure."""
    if error.status == Status.PROTOCOL or error.info.errno():
        return OSError(error.info.errno() or errno.ECONNRESET, str(error))
    reason = _REASONS.get(error.status)
    message = f"{_code(reason)} {reason}: " if reason else ""
    if error.status == Status.HOSTNAME_MISMATCH:
        kind = "IP address" if _is_ip_address(host) else "Hostname"
        message += f"{kind} mismatch, certificate is not valid for '{host}': "
    message += str(error)
    if isinstance(error, CertificateError) or error.status == Status.NO_TRUST_ANCHORS:
        refused = ssl.SSLCertVerificationError(ssl.SSL_ERROR_SSL, message)
        refused.verify_code, refused.verify_message = int(error.info.certificate_problem()), str(error)
        return refused
    if error.status in (Status.TLS_HANDSHAKE_EOF, Status.TLS_TRUNCATED):
        return ssl.SSLEOFError(ssl.SSL_ERROR_EOF, message)
    return ssl.SSLError(ssl.SSL_ERROR_SSL, message)


def _is_ip_address(host: str | None) -> bool:
    try:
        ip_address(host or "")
    except ValueError:
        return False
    return True


@contextmanager
def python_errors(host: str | None = None) -> Iterator[None]:
    try:
        yield
    except Error as error:
        if _is_python_error(error):
            raise
        # A variable for the exception would make a reference cycle with its traceback.
        raise _python_error(error, host) from error


def check_progress(status: Status) -> None:
    """Raises the exception of the ssl module for a call that must be repeated."""
    if status == Status.WANT_READ:
        raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "the operation needs data from the peer")
    if status == Status.WANT_WRITE:
        raise ssl.SSLWantWriteError(ssl.SSL_ERROR_WANT_WRITE, "the operation must send data first")
