"""The class Retry of urllib3, with the decisions of netlib's Retry."""

from __future__ import annotations

import math
import random
import sys
import time
from abc import ABCMeta
from functools import cache, lru_cache
from http.client import IncompleteRead
from types import TracebackType
from typing import TYPE_CHECKING, Any

from urllib3 import exceptions
from urllib3.util import retry as retry_
from urllib3.util.util import reraise

from . import _api
from ._api import ErrorInfo, ErrorOptions, Headers, Response, RetryKind, RetryOptions, Status
from ._errors import Error

if TYPE_CHECKING:
    from typing_extensions import Self

Setting = tuple[Any, ...]
"""The name of a setter of RetryOptions, and its arguments."""

_COUNTERS = ("total", "connect", "read", "redirect", "status", "other")
_FINITE = sys.float_info.max
_MAY_BE_DISABLED = ("total", "connect", "read")
_ANY_METHOD: Setting = ("allow_any_method",)
# With _ANY_METHOD, the method does not matter.
_SOME_METHOD = "GET"
# Only the kind of the outcome matters to the counters.
_REDIRECTED = Response("GET", 302, Headers({"Location": "/"}))
_ANSWERED = Response("GET", 500, Headers({}))

# The class itself, because the injection replaces the name in the module.
_urllib3_retry: Any = retry_.Retry


@lru_cache(maxsize=256)
def _policy(*settings: Setting) -> _api.Retry:
    return _api.Retry(_options(settings))


def _options(settings: tuple[Setting, ...]) -> RetryOptions:
    # Looked up for each call, because programs replace these functions in tests.
    options = RetryOptions().wall_clock(lambda: time.time()).random(lambda: random.random())
    for name, *arguments in settings:
        getattr(options, name)(*arguments)
    return options


def _count(name: str, value: float | None) -> int:
    if value is None:
        return _api.NONE
    if value is False:
        return _api.RETRY_DISABLED if name in _MAY_BE_DISABLED else 0
    # The two lowest numbers have special meanings.
    return int(min(max(value, -(2**31) + 2), 2**31 - 1))


def _delay(seconds: float, longest: float = math.inf) -> float:
    """Converts a delay to one that netlib accepts, and that has the same effect in urllib3's formulas."""
    return min(max(float(seconds), 0.0), longest)


@lru_cache(maxsize=256)
def _statuses(codes: frozenset[Any]) -> frozenset[int]:
    """Returns the valid statuses in a set. urllib3 ignores all other members."""
    numbers = (code for code in codes if isinstance(code, (int, float)) and 100 <= code <= 999)
    return frozenset(int(code) for code in numbers if code == int(code))


@lru_cache(maxsize=256)
def _allows(methods: frozenset[Any], method: str) -> bool:
    """Returns whether a method is in a set. Other members than text do not count."""
    allowed: Setting = ("allowed_methods", frozenset(name for name in methods if isinstance(name, str)))
    return _policy(allowed, ("status_forcelist", (500,))).is_retry(method, 500, False)


@lru_cache(maxsize=256)
def _is_retry(
    total: int,
    forcelist: frozenset[int],
    respects: bool,
    retry_after_statuses: frozenset[int],
    status: int,
    has_retry_after: bool,
) -> bool:
    policy = _policy(
        _ANY_METHOD,
        ("total", total),
        ("status_forcelist", forcelist),
        ("respect_retry_after_header", respects),
        ("retry_after_statuses", retry_after_statuses),
    )
    return policy.is_retry(_SOME_METHOD, status, has_retry_after)


@cache
def _info(status: Status) -> ErrorInfo:
    return ErrorInfo(status, "an error of urllib3")


def _error_info(error: BaseException) -> ErrorInfo:
    """Returns an error of netlib with the retry kind of an exception of urllib3."""
    if isinstance(error, exceptions.NewConnectionError):
        return _info(Status.CONNECT_FAILED)
    if isinstance(error, exceptions.ConnectTimeoutError):
        return _info(Status.CONNECT_TIMEOUT)
    if isinstance(error, exceptions.ReadTimeoutError):
        return _info(Status.READ_TIMEOUT)
    if isinstance(error, exceptions.ProtocolError):
        return _info(Status.PROTOCOL)
    if isinstance(error, IncompleteRead):
        return _info(Status.INCOMPLETE_READ)
    if isinstance(error, exceptions.ProxyError):
        options = ErrorOptions().cause(_error_info(error.original_error))
        return ErrorInfo(Status.PROXY_FAILED, "an error of urllib3", options)
    if isinstance(error, exceptions.SSLError) and error.args:
        # An exception that netlib.urllib3 raises is an error of netlib, or has it as its cause.
        for found in (error.args[0], getattr(error.args[0], "__cause__", None)):
            if isinstance(found, Error):
                return found.info
    return _info(Status.APPLICATION_ERROR)


class Retry(_urllib3_retry, metaclass=ABCMeta):  # type: ignore[misc]
    """`urllib3.util.Retry`, with the decisions of netlib. The attributes and the methods are those of urllib3."""

    DEFAULT: Retry

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        # Objects of urllib3's own class remain valid arguments after the injection.
        return issubclass(subclass, _urllib3_retry) if cls is Retry else NotImplemented

    def _counts(self) -> tuple[Setting, ...]:
        return tuple((name, _count(name, getattr(self, name))) for name in _COUNTERS)

    def is_exhausted(self) -> bool:
        """Returns whether a counter is negative."""
        return _policy(*self._counts()).is_exhausted()

    def _is_method_retryable(self, method: str) -> bool:
        """Returns whether the method is in `allowed_methods`."""
        methods = self.allowed_methods
        if not methods:
            return True
        try:
            return _allows(frozenset((methods,) if isinstance(methods, str) else methods), method)
        except (TypeError, ValueError):
            # urllib3 accepts methods that are no tokens, and collections whose members have no hash.
            return bool(super()._is_method_retryable(method))

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Returns whether a response is retried."""
        # A response of a test may have no status.
        if not isinstance(status_code, int) or not self._is_method_retryable(method):
            return False
        return _is_retry(
            _count("total", self.total),
            _statuses(frozenset(self.status_forcelist)),
            bool(self.respect_retry_after_header),
            _statuses(frozenset(self.RETRY_AFTER_STATUS_CODES)),
            int(status_code),
            bool(has_retry_after),
        )

    def _is_connection_error(self, err: Exception) -> bool:
        """Returns whether the server has not received the request."""
        return _error_info(err).retry_kind() == RetryKind.CONNECT

    def _is_read_error(self, err: Exception) -> bool:
        """Returns whether the server may have processed the request."""
        return _error_info(err).retry_kind() == RetryKind.READ

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: Any = None,
        error: Exception | None = None,
        _pool: Any = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """Returns the Retry for the next request. Raises MaxRetryError, or `error` if it is not retried."""
        location, status, cause = None, None, exceptions.ResponseError.GENERIC_ERROR
        failure, outcome, allowed_method = None, None, None
        if error:
            # A subclass may replace these methods.
            if self._is_connection_error(error):
                failure = _info(Status.CONNECT_FAILED)
            elif self._is_read_error(error):
                failure = _info(Status.PROTOCOL)
                if method is not None and self._is_method_retryable(method):
                    allowed_method = _SOME_METHOD
            else:
                failure = _error_info(error)
                if failure.retry_kind() in (RetryKind.CONNECT, RetryKind.READ):
                    failure = _info(Status.APPLICATION_ERROR)
        elif response and response.get_redirect_location():
            location, status, cause = response.get_redirect_location(), response.status, "too many redirects"
            outcome = _REDIRECTED
        elif response and response.status:
            status = response.status
            cause = exceptions.ResponseError.SPECIFIC_ERROR.format(status_code=status)
            outcome = _ANSWERED

        before = _policy(_ANY_METHOD, *self._counts())
        after: _api.Retry | None
        try:
            after = before.increment(allowed_method, None, outcome, failure)
        except Error as raised:
            # Only MAX_RETRY has a Retry.
            after = raised.info.retry()
        if after is None and error:
            raise reraise(type(error), error, _stacktrace)
        reason = error or exceptions.ResponseError(cause)
        if after is None:
            # netlib has no MAX_RETRY if retries are disabled, but urllib3's pools expect it.
            raise exceptions.MaxRetryError(_pool, url, reason) from reason

        entry = retry_.RequestHistory(method, url, error, status, location)
        changes: dict[str, Any] = {"history": (*self.history, entry)}
        for name in _COUNTERS:
            value = getattr(self, name)
            used = getattr(before, f"{name}_left")() - getattr(after, f"{name}_left")()
            changes[name] = value - used if used else value
        following: Self = self.new(**changes)
        if following.is_exhausted():
            raise exceptions.MaxRetryError(_pool, url, reason) from reason
        retry_.log.debug("Incremented Retry for (url='%s'): %r", url, following)
        return following

    def get_backoff_time(self) -> float:
        """Returns the backoff before the next request."""
        options = _options(
            (
                ("backoff_factor", _delay(self.backoff_factor, _FINITE)),
                ("backoff_max", _delay(self.backoff_max)),
                ("backoff_jitter", _delay(self.backoff_jitter, _FINITE)),
            )
        )
        for entry in self.history:
            redirected = entry.redirect_location is not None
            options.add_history(None, None, None, _api.NONE, "/" if redirected else None)
        return _api.Retry(options).get_backoff_time()

    def parse_retry_after(self, retry_after: str) -> float:
        """Returns the seconds for which a Retry-After header asks. Raises InvalidHeader if it is malformed."""
        # Older releases of urllib3 have no maximum.
        policy = _policy(("retry_after_max", _delay(getattr(self, "retry_after_max", math.inf))))
        try:
            return policy.parse_retry_after(retry_after)
        except ValueError as error:
            raise exceptions.InvalidHeader(f"Invalid Retry-After header: {retry_after}") from error


Retry.DEFAULT = Retry(3)
