"""The retry loop, and the functions that most programs begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from . import _api
from ._api import (
    ConnectOptions,
    Decision,
    ErrorOptions,
    Headers,
    Limit,
    Request,
    Response,
    Retry,
    Status,
    Stream,
    TlsContext,
    Url,
)
from ._errors import Error
from ._errors import make_error as error_from_info
from ._natural import checked
from ._runtime import Fields

AttemptKind = TypeVar("AttemptKind", bound="AttemptState")


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


class AttemptState:
    """The request of an attempt, and the decision about it."""

    def __init__(self, retry: Retry, method: str, url: Url, headers: Headers | None, limit: Limit | None) -> None:
        self.retry, self.method, self.url, self.headers, self.limit = retry, method, url, headers, limit
        self.number = 1
        self.sends_body = True
        """False if the request has no body, because a redirect changed the method."""
        self.decision: Decision | None = None
        """The last decision; None before the first one, and after a response or an error that ended the retries with an
        error."""
        self.on_decision: Callable[[Decision], None] | None = None
        """Called with each decision, before the request changes and the wait begins."""
        self._ended = self._continues = False

    def request(self, form: _api.RequestForm = _api.RequestForm.ORIGIN) -> Request:
        """Returns the request of this attempt."""
        return Request(self.method, self.url, self.headers, form)

    def _decide(self, response: Response | None, error: Error | OSError | None) -> Decision:
        """Decides, and prepares the next attempt unless the response is the final one."""
        if self._ended and error is not None:
            raise error
        self._ended, self._continues, self.decision = True, False, None
        if error is not None and not isinstance(error, Error):
            error = make_error(Status.IO, str(error) or type(error).__name__, user_data=error)
        decision = self.retry.decide(self.method, self.url, response, error, self.limit)
        self.decision = decision
        if self.on_decision is not None:
            self.on_decision(decision)
        if decision.action() == _api.Action.RETURN_RESPONSE:
            return decision
        if self.headers is not None:
            self.headers = decision.headers(self.headers)
        retry, url = decision.retry(), decision.url()
        assert retry is not None and url is not None
        self.method, self.url, self.retry = decision.method() or self.method, url, retry
        self.sends_body = decision.resend_body()
        self.number += 1
        return decision


class Attempt(AttemptState):
    """One attempt of a request. The loop body sends the request, and then calls `accept` or `failed`: see
    `attempts`."""

    def accept(self, response: Response) -> bool:
        """Returns True if the response is the final one. Otherwise prepares and awaits the next attempt, for a retry or
        a redirect, and returns False."""
        return self._next(response, None)

    def failed(self, error: Error | OSError) -> None:
        """Prepares and awaits the next attempt, or raises the error with which the retries end. After `accept` has
        returned True or raised an error, raises its argument."""
        self._next(None, error)

    def _next(self, response: Response | None, error: Error | OSError | None) -> bool:
        decision = self._decide(response, error)
        if decision.action() != _api.Action.RETURN_RESPONSE:
            decision.sleep(self.limit)
            self._ended, self._continues = False, True
        return self._ended


def first_attempt(
    kind: type[AttemptKind],
    method: str,
    url: Url | str,
    headers: Headers | Fields | None,
    retry: Retry | None,
    limit: Limit | None,
) -> AttemptKind:
    url = _api.parse_url_strict(url) if isinstance(url, str) else url
    if headers is not None and not isinstance(headers, Headers):
        headers = Headers(headers)
    return kind(retry or Retry.recommended(), method, url, headers, limit)


def attempts(
    method: str,
    url: Url | str,
    headers: Headers | Fields | None = None,
    *,
    retry: Retry | None = None,
    limit: Limit | None = None,
) -> Iterator[Attempt]:
    """The attempts of a request: the first one, and then the retries and redirects on which the Retry decides, by
    default the recommended one:

        for attempt in netlib.attempts("GET", "https://example.com/"):
            try:
                with netlib.connect(attempt.url) as stream:
                    stream.sendall(attempt.request().to_wire())
                    response = stream.response(attempt.method)
                    if attempt.accept(response):
                        body = b"".join(stream.body(response))
            except netlib.Error as error:
                attempt.failed(error)

    `accept` and `failed` wait before another attempt. The loop ends after an attempt that calls neither function, or
    accepts its response. Text is parsed by `parse_url_strict`."""
    attempt = first_attempt(Attempt, method, url, headers, retry, limit)
    attempt._continues = True
    while attempt._continues:
        attempt._continues = False
        yield attempt
