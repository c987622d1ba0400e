"""Functions that most programs begin with."""

from __future__ import annotations

from . import _api
from ._api import ConnectOptions, ErrorOptions, Limit, Status, Stream, TlsContext, Url
from ._errors import Error
from ._errors import make_error as error_from_info
from ._natural import checked


def connect(
    url: Url | str,
    context: TlsContext | None = None,
    options: ConnectOptions | None = None,
    limit: Limit | None = None,
) -> Stream:
    """Connects to the server of a URL, and makes the TLS handshake for https. Text is parsed by `parse_url_strict`.
    Without a context, an https URL gets a context with the default options."""
    url = _api.parse_url_strict(url) if isinstance(url, str) else url
    if context is None and url.scheme() == "https":
        context = TlsContext()
    status, stream = Stream.connect(url, context, options, limit)
    checked(status, None)
    assert stream is not None
    return stream


def make_error(
    status: Status,
    message: str,
    *,
    cause: Error | None = None,
    user_data: object = None,
    http_status: int | None = None,
) -> Error:
    """Makes an exception for a failure of the application's own HTTP layer, about which a Retry can decide. `user_data`
    is any object, such as another exception. The exceptions of the retries have the same `user_data`."""
    options = ErrorOptions()
    if cause is not None:
        options.cause(cause)
    if user_data is not None:
        options.user_data(user_data)
    if http_status is not None:
        options.http_status(http_status)
    return error_from_info(_api.ErrorInfo(status, message, options))
