"""urllib3 and requests with the TLS of netlib.

    import netlib.urllib3

    netlib.urllib3.inject_into_urllib3()
    requests.get("https://example.com/")

`inject_into_urllib3` replaces the class from which urllib3 makes its TLS contexts. Contexts that the application makes
itself, such as those of `ssl.create_default_context`, still use the ssl module. `SSLContext`, `SSLSocket` and
`SSLObject` are the classes of `netlib.ssl`.

On request, `inject_into_urllib3` also replaces `parse_url`, `Retry` and `Timeout` of urllib3. `Retry` and `Timeout` of
this module can be used without the injection, too.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from urllib3 import util
from urllib3.exceptions import LocationParseError
from urllib3.util import retry as retry_
from urllib3.util import ssl_
from urllib3.util import timeout as timeout_
from urllib3.util import url as url_

from . import _api
from ._errors import ArgumentError, UrlError
from ._urllib3_retry import Retry
from ._urllib3_timeout import Timeout
from .ssl import SSLContext, SSLObject, SSLSocket

__all__ = [
    "Retry",
    "SSLContext",
    "SSLObject",
    "SSLSocket",
    "Timeout",
    "extract_from_urllib3",
    "inject_into_urllib3",
    "parse_url_with_netlib",
]

_modules: tuple[Any, ...] = (util, ssl_)
_replaced: list[Any] = []
_parse_url, _retry, _timeout = url_.parse_url, retry_.Retry, timeout_.Timeout


def inject_into_urllib3(*, parse_url: bool = False, retry: bool = False, timeout: bool = False) -> None:
    """Makes urllib3 use netlib for the TLS of new connections, and on request also for parsing URLs, for the decisions
    of `Retry`, and for `Timeout`."""
    if not _replaced:
        _replaced.extend(module.SSLContext for module in _modules)
        for module in _modules:
            module.SSLContext = SSLContext
    if parse_url:
        _replace(_parse_url, parse_url_with_netlib)
    if retry:
        _replace(_retry, Retry)
    if timeout:
        _replace(_timeout, Timeout)


def extract_from_urllib3() -> None:
    """Reverts `inject_into_urllib3`. Existing connections keep the TLS of netlib, and existing objects their class."""
    for module, original in zip(_modules, _replaced):
        module.SSLContext = original
    _replaced.clear()
    for new, old in ((parse_url_with_netlib, _parse_url), (Retry, _retry), (Timeout, _timeout)):
        _replace(new, old)


def _replace(old: object, new: object) -> None:
    """Replaces a function or class in each module of urllib3 and requests that has imported it, under any name."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("urllib3", "requests"):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


def parse_url_with_netlib(url: str) -> Any:
    """Parses a URL with netlib, and returns a `urllib3.util.Url`."""
    if not url:
        return url_.Url()
    if not isinstance(url, str):
        raise TypeError(f"the URL must be str, not {type(url).__name__}")
    return _parse(url)


@lru_cache(maxsize=256)  # keep-alive clients parse the same URL for each request
def _parse(url: str) -> Any:
    try:
        # Without "surrogatepass", a lone surrogate could stand for any byte. netlib refuses its encoding.
        parsed = _api.parse_url(url.encode("utf-8", "surrogatepass"))
    except (ArgumentError, UrlError) as error:
        raise LocationParseError(f"{url!r}, {error}") from error
    with parsed:
        port = parsed.port()
        return url_.Url(
            parsed.scheme(),
            parsed.auth(),
            parsed.host(),
            None if port < 0 else port,
            parsed.path(),
            parsed.query(),
            parsed.fragment(),
        )
