"""The class Timeout of urllib3, computed by netlib's Timeout."""

from __future__ import annotations

import math
import time
from abc import ABCMeta
from functools import lru_cache
from itertools import chain
from typing import Any

from urllib3.util import timeout as timeout_

from . import _api
from ._api import TIMEOUT_DEFAULT
from ._errors import ArgumentError, StateError

# The class itself, because the injection replaces the name in the module.
_urllib3_timeout: Any = timeout_.Timeout
_DEFAULT: Any = _urllib3_timeout.DEFAULT_TIMEOUT


@lru_cache(maxsize=256)
def _check(seconds: float) -> None:
    # As a total, TIMEOUT_DEFAULT is refused like every negative number.
    _api.Timeout(seconds, None, None)


@lru_cache(maxsize=256)
def _read_timeout(read: float) -> float:
    """The read timeout without a total, which does not depend on the clock."""
    return _api.Timeout(None, None, read).read_timeout()


@lru_cache(maxsize=256)
def _connect_timeout(total: float, connect: float) -> float:
    return _api.Timeout(total, connect, None).connect_timeout()


def _seconds(value: Any) -> float:
    if value is _DEFAULT:
        return TIMEOUT_DEFAULT
    return math.inf if value is None else float(value)


class Timeout(_urllib3_timeout, metaclass=ABCMeta):  # type: ignore[misc]
    """`urllib3.util.Timeout`, computed by netlib. The attributes and the methods are those of urllib3."""

    _start_connect: float | None

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        # Objects of urllib3's own class remain valid arguments after the injection.
        return issubclass(subclass, _urllib3_timeout) if cls is Timeout else NotImplemented

    @classmethod
    def _validate_timeout(cls, value: Any, name: str) -> Any:
        """Returns the value, or raises ValueError with urllib3's message."""
        if value is None or value is _DEFAULT:
            return value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                _check(float(value))
                return value
            except ArgumentError as error:
                super()._validate_timeout(value, name)
                # urllib3 accepts NaN.
                raise ValueError(f"the {name} timeout must be a number; it is {value}") from error
        return super()._validate_timeout(value, name)

    @classmethod
    def from_float(cls, timeout: Any) -> Timeout:
        """Returns a timeout with one value for connecting and reading."""
        return Timeout(read=timeout, connect=timeout)

    def clone(self) -> Timeout:
        """Returns a timeout with the same values, whose clock is not running."""
        return Timeout(connect=self._connect, read=self._read, total=self.total)

    def _remaining(self, total: float) -> float:
        """The read timeout with a total. This object itself has no handle of netlib, so it can be copied."""
        timeout = _api.Timeout(total, None, _seconds(self._read))
        # The clock of netlib starts at the time at which this one started. time.monotonic is looked up for each call,
        # because programs replace it in tests.
        start = () if self._start_connect is None else (self._start_connect,)
        timeout.set_clock(chain(start, iter(lambda: time.monotonic(), None)).__next__)
        if self._start_connect is not None:
            timeout.start_connect()
        return timeout.read_timeout()

    @property
    def connect_timeout(self) -> Any:
        """The time limit for connecting: seconds, None or `DEFAULT_TIMEOUT`."""
        if self.total is _DEFAULT:
            return super().connect_timeout
        seconds = _connect_timeout(_seconds(self.total), _seconds(self._connect))
        return self._given(seconds, self._connect, self.total)

    @property
    def read_timeout(self) -> Any:
        """The time limit for the next read: seconds or None."""
        total = math.inf if self.total is _DEFAULT else _seconds(self.total)
        try:
            seconds = _read_timeout(_seconds(self._read)) if total == math.inf else self._remaining(total)
        except StateError:
            # Without a running clock, urllib3 has a result if both limits are set, but netlib has not.
            return super().read_timeout
        return self.resolve_default_timeout(self._given(seconds, self._read, self.total))

    @staticmethod
    def _given(seconds: float, *limits: Any) -> Any:
        """Converts a result of netlib for urllib3. A limit of the caller keeps its type, which messages show."""
        if seconds == math.inf:
            return None
        if seconds == TIMEOUT_DEFAULT:
            return _DEFAULT
        return next((limit for limit in limits if limit == seconds), seconds)
