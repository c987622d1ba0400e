"""Makes retry.txt and retry_after.txt: what urllib3's Retry answers to random settings and events.

    PYTHONPATH=<folder with urllib3 2.8.0> python3 tests/vectors/retry.py

retry.txt: a `case` line with the settings, then for each event an `event` line and a `then` line with the state after
it. Left out, because netlib differs on purpose: an empty allowed_methods, False for status and other, and Retry-After
on a status outside 413, 429 and 503 when sleeping. retry_after.txt: a header value in quotes, then the seconds from
NOW, or "invalid".
"""

import os
import platform
import random
from unittest import mock

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InvalidHeader,
    LocationParseError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)
from urllib3.response import HTTPResponse
from urllib3.util.retry import Retry

NOW = 1_700_000_000.25
RANDOM = 0.375
HERE = os.path.dirname(__file__)
MADE_BY = f"# Made by retry.py with urllib3 {urllib3.__version__} on Python {platform.python_version()}.\n"
METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "get", "PATCH", "OPTIONS"]
CODES = [200, 301, 302, 303, 304, 307, 308, 404, 413, 429, 500, 502, 503]

ERRORS = {
    "CONNECT_TIMEOUT": lambda: ConnectTimeoutError("x"),
    "NEW_CONNECTION": lambda: NewConnectionError(None, "x"),
    "NAME_RESOLUTION": lambda: NameResolutionError("h", None, OSError("x")),
    "READ_TIMEOUT": lambda: ReadTimeoutError(None, "/", "x"),
    "PROTOCOL": lambda: ProtocolError("x"),
    "CERTIFICATE_VERIFY": lambda: SSLError("x"),
    "INVALID_URL": lambda: LocationParseError("x"),
    "PROXY/CONNECT_TIMEOUT": lambda: ProxyError("x", ConnectTimeoutError("x")),
    "PROXY/NEW_CONNECTION": lambda: ProxyError("x", NewConnectionError(None, "x")),
    "PROXY/READ_TIMEOUT": lambda: ProxyError("x", ReadTimeoutError(None, "/", "x")),
}


def show(value):
    if value is None:
        return "-"
    if value is False:
        return "F"
    if value is True:
        return "1"
    return str(value)


def settings(rng):
    def count(*words):
        return rng.choice([None, None, None, 0, 1, 2, 3, 5, -1, *words])

    return dict(
        total=rng.choice([None, False, 0, 1, 2, 3, 10, 10, -2]),
        connect=count(False),
        read=count(False),
        redirect=count(False),
        status=count(),
        other=count(),
        allowed_methods=rng.choice([None, Retry.DEFAULT_ALLOWED_METHODS, ["GET"], ["POST", "PATCH"]]),
        status_forcelist=rng.choice([None, [500, 502], [503], [200, 429, 500]]),
        backoff_factor=rng.choice([0, 0.1, 0.5, 3.0]),
        backoff_max=rng.choice([120, 1.5, 0]),
        backoff_jitter=rng.choice([0.0, 0.0, 0.25, 8.0]),
        raise_on_redirect=rng.random() < 0.5,
        raise_on_status=rng.random() < 0.5,
        respect_retry_after_header=rng.random() < 0.7,
        retry_after_max=rng.choice([21600, 60]),
    )


def state(retry):
    slept = []
    with mock.patch("time.sleep", slept.append):
        retry.sleep(None)
    last = retry.history[-1] if retry.history else None
    parts = [show(getattr(retry, name)) for name in ("total", "connect", "read", "redirect", "status", "other")]
    parts += [show(retry.raise_on_redirect).replace("F", "0"), str(int(retry.is_exhausted())), str(len(retry.history))]
    parts += [repr(retry.get_backoff_time() + 0.0), repr(float(sum(slept)))]
    if last:
        parts += [show(last.method), show(last.url), "E" if last.error else "-", show(last.status)]
        parts += [show(last.redirect_location)]
    return " ".join(parts)


def event(rng):
    method = rng.choice(METHODS + [None])
    url = rng.choice(["/", "http://a/b", None])
    kind = rng.random()
    if kind < 0.45:
        name = rng.choice(list(ERRORS))
        return method, url, None, ERRORS[name](), f"error {name}"
    if kind < 0.5:
        return method, url, None, None, "nothing -"
    code = rng.choice(CODES)
    headers = {}
    if rng.random() < 0.5:
        headers["Location"] = rng.choice(["/c", "http://b/", ""])
    if rng.random() < 0.5:
        headers["Retry-After"] = rng.choice(["0", "7", "100", "Tue, 14 Nov 2023 22:13:50 GMT", ""])
        if headers["Retry-After"] == "" and code in Retry.RETRY_AFTER_STATUS_CODES:
            del headers["Retry-After"]
    response = HTTPResponse(status=code, headers=headers)
    after = headers.get("Retry-After")
    words = f"response {code} {headers.get('Location', '-') or '~'} {'-' if after is None else (after or '~').replace(' ', '_')}"
    return method, url, response, None, words


def policies(path):
    rng = random.Random(20261121)
    with open(path, "w") as out:
        out.write(MADE_BY)
        out.write("# case total connect read redirect status other methods forcelist factor max jitter raise_on_redirect\n")
        out.write("#   raise_on_status respect retry_after_max, then the state\n")
        out.write("# event method url kind what..., then is_retry and the sleep after the event (responses only)\n")
        out.write("# then ok|max|cause; the state: six counts, raise_on_redirect, is_exhausted, history length,\n")
        out.write("#   get_backoff_time, sleep(None), and the last entry of the history\n")
        for _ in range(600):
            given = settings(rng)
            retry = Retry(**given)
            words = [show(v) for k, v in given.items() if k in ("total", "connect", "read", "redirect", "status", "other")]
            methods, codes = given["allowed_methods"], given["status_forcelist"]
            words.append("*" if methods is None else ",".join(sorted(methods)))
            words.append("-" if codes is None else ",".join(map(str, codes)))
            words += [repr(float(given[name])) for name in ("backoff_factor", "backoff_max", "backoff_jitter")]
            words += [str(int(given[name])) for name in ("raise_on_redirect", "raise_on_status", "respect_retry_after_header")]
            words.append(str(given["retry_after_max"]))
            out.write(f"case {' '.join(words)}\nthen ok {state(retry)}\n")
            for _ in range(rng.randint(1, 8)):
                method, url, response, error, what = event(rng)
                extra = "- -"
                if response is not None and method is not None:
                    after = response.headers.get("Retry-After")
                    is_retry = retry.is_retry(method, response.status, bool(after))
                    slept = []
                    with mock.patch("time.sleep", slept.append):
                        honoured = after is None or response.status in Retry.RETRY_AFTER_STATUS_CODES
                        retry.sleep(response if honoured else None)
                    extra = f"{int(is_retry)} {float(sum(slept))!r}"
                out.write(f"event {show(method)} {show(url)} {what} {extra}\n")
                try:
                    retry = retry.increment(method, url, response, error)
                    out.write(f"then ok {state(retry)}\n")
                except MaxRetryError:
                    out.write("then max\n")
                    break
                except HTTPError as raised:
                    assert raised is error
                    out.write("then cause\n")


SEEDS = [
    "Sun, 06 Nov 2033 08:49:37 GMT",
    "Sunday, 06-Nov-33 08:49:37 GMT",
    "Sun Nov  6 08:49:37 2033",
    "Tue, 14 Nov 2023 22:13:50 +0000",
    "Tue, 14 Nov 2023 23:13:50 +0100",
    "Tue, 14 Nov 2023 17:13:50 EST",
    "Tue, 14 November 2023 22:13:50",
    "14 Nov 2023 22:13:50 Z",
    "Nov 14, 2023 22:14:00 GMT",
    "14 Nov 23 22:14 UT",
    "Tue, 14 Nov 2023 22.14.00 PDT",
    "14-Nov-2023 22:14:00 GMT",
    "Tue,14 Nov 2023 22:14:00-0000",
    "3600",
    "  15\t",
]
PIECES = ["", " ", ",", ":", "-", "+", ".", "0", "7", "Jan", "dec", "Mon,", "mon", "2044", "99", "69", "GMT", "+0530", "x", "12:30"]


def mutated(rng, text):
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        words = text.split(" ")
        at = rng.randrange(len(words))
        do = rng.random()
        if do < 0.25:
            words[at] = rng.choice(PIECES)
        elif do < 0.4:
            words.insert(at, rng.choice(PIECES))
        elif do < 0.55:
            del words[at]
        elif do < 0.7 and len(words) > 1:
            other = rng.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        else:
            letters = list(words[at])
            if letters:
                letters[rng.randrange(len(letters))] = rng.choice("0123456789,:-+. aT")
            words[at] = "".join(letters)
        text = " ".join(words)
    return text


def retry_after(path, count):
    rng = random.Random(20261122)
    retry = Retry(retry_after_max=10**30)
    values = list(SEEDS)
    while len(values) < count:
        values.append(mutated(rng, rng.choice(SEEDS)))
    with open(path, "w") as out:
        out.write(MADE_BY)
        out.write(f"# A value in quotes, then the seconds from {NOW!r}, or invalid.\n")
        for value in dict.fromkeys(values):
            try:
                answer = repr(float(retry.parse_retry_after(value)))
            except (InvalidHeader, ValueError, IndexError):
                # The reference's date library fails on years that are none, and on some broken text.
                answer = "invalid"
            out.write(f'"{value}" {answer}\n')


if __name__ == "__main__":
    with mock.patch("time.time", lambda: NOW), mock.patch("random.random", lambda: RANDOM):
        policies(os.path.join(HERE, "retry.txt"))
        retry_after(os.path.join(HERE, "retry_after.txt"), int(os.environ.get("DATES", "700")))
