"""netlib: retries, time limits, URLs, headers, connecting and TLS for HTTP clients.

The classes and functions are those of netlib.h, without the prefix: `netlib_url_host` is `Url.host`, and
`netlib_parse_url` is `parse_url`. This package adds `connect`, `make_error`, the exceptions, and methods with the names
of the socket module.
"""

from . import _api
from ._api import *  # noqa: F403
from ._errors import (
    ApplicationError,
    ArgumentError,
    CertificateError,
    ConnectError,
    Error,
    HttpError,
    InternalError,
    IOFailure,
    OutOfMemoryError,
    RetryError,
    StateError,
    TimeLimitError,
    TlsError,
    UrlError,
)
from ._functions import connect, make_error
from ._natural import WantReadError, WantWriteError
from ._runtime import check_version

check_version(_api.VERSION)

__version__ = _api.VERSION
__all__ = [
    "ApplicationError",
    "ArgumentError",
    "CertificateError",
    "ConnectError",
    "Error",
    "HttpError",
    "IOFailure",
    "InternalError",
    "OutOfMemoryError",
    "RetryError",
    "StateError",
    "TimeLimitError",
    "TlsError",
    "UrlError",
    "WantReadError",
    "WantWriteError",
    "connect",
    "make_error",
]
__all__ += _api.__all__
