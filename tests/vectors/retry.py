"""Records the whole state of a Retry with random settings after each of several random events.

A case consists of the settings and a list of events. If netlib differs on purpose, urllib3 runs again with the settings
as netlib interprets them, or with netlib's sleep.
"""

import math
import random
import time
from unittest import mock

from urllib3 import exceptions
from urllib3.response import HTTPResponse
from urllib3.util.retry import Retry

from common import UNKNOWN, count, failed, number, word, words

ABOUT = [
    "> total connect read redirect status other allowed_methods status_forcelist backoff_factor backoff_max backoff_jitter",
    ">   raise_on_redirect raise_on_status respect_retry_after_header retry_after_max; * is any method",
    "> method url, then: error NAME, or: response STATUS Location Retry-After, or: nothing",
    "< the state: six counts, raise_on_redirect, is_exhausted, get_backoff_time, sleep(None), how long the history is, and",
    "<   its last entry; or refused",
    "< for each event, if it is a response: answered, is_retry, get_retry_after, sleep(response), sleep_for_retry(response);",
    "<   then what increment did: next and the new state, or max, the reason and the exhausted state, or cause and the error",
    "< F is False. The wall clock stands at 1700000000.25, random() at 0.375. After an event that failed the sequence goes",
    "<   on with the Retry before it.",
]

NOW = 1_700_000_000.25
RANDOM = 0.375
mock.patch("time.time", lambda: NOW).start()
mock.patch("random.random", lambda: RANDOM).start()

METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "get", "PATCH", "OPTIONS", None]
CODES = [200, 301, 302, 303, 304, 307, 308, 404, 413, 429, 500, 502, 503]
AFTER_CODES = [413, 429, 503]
ERRORS = {
    "CONNECT_TIMEOUT": lambda: exceptions.ConnectTimeoutError("x"),
    "CONNECT_FAILED": lambda: exceptions.NewConnectionError(None, "x"),
    "NAME_RESOLUTION": lambda: resolution_error(),
    "READ_TIMEOUT": lambda: exceptions.ReadTimeoutError(None, "/", "x"),
    "PROTOCOL": lambda: exceptions.ProtocolError("x"),
    "CERTIFICATE_VERIFY": lambda: exceptions.SSLError("x"),
    "INVALID_URL": lambda: exceptions.LocationParseError("x"),
    "PROXY_FAILED/CONNECT_TIMEOUT": lambda: exceptions.ProxyError("x", exceptions.ConnectTimeoutError("x")),
    "PROXY_FAILED/CONNECT_FAILED": lambda: exceptions.ProxyError("x", exceptions.NewConnectionError(None, "x")),
    "PROXY_FAILED/READ_TIMEOUT": lambda: exceptions.ProxyError("x", exceptions.ReadTimeoutError(None, "/", "x")),
    "PROXY_FAILED/PROTOCOL": lambda: exceptions.ProxyError("x", exceptions.ProtocolError("x")),
}


# Settings for which netlib differs. The classes are those of docs/reference/differences.md.
MORE_ERRORS = {
    "INCOMPLETE_READ": lambda: exceptions.IncompleteRead(1, 2),
    "PROXY_FAILED/PROXY_FAILED/CONNECT_FAILED": lambda: exceptions.ProxyError("x", ERRORS["PROXY_FAILED/CONNECT_FAILED"]()),
    "PROXY_FAILED/PROXY_FAILED/READ_TIMEOUT": lambda: exceptions.ProxyError("x", ERRORS["PROXY_FAILED/READ_TIMEOUT"]()),
}

# The proxy failures that netlib counts as read errors, and the errors that urllib3 gets instead.
PROXY_READ_ERRORS = {
    "PROXY_FAILED/READ_TIMEOUT": ERRORS["READ_TIMEOUT"],
    "PROXY_FAILED/PROTOCOL": ERRORS["PROTOCOL"],
    "PROXY_FAILED/PROXY_FAILED/READ_TIMEOUT": ERRORS["READ_TIMEOUT"],
}


def resolution_error():
    if hasattr(exceptions, "NameResolutionError"):
        return exceptions.NameResolutionError("h", None, OSError("x"))
    # urllib3 1.26.20 reports this error.
    return exceptions.NewConnectionError(None, "x")


def settings(pick):
    def limit(*more):
        return pick.choice([None] * 6 + [0, 0, 1, 1, 2, 2, 3, 5, -1, *more])

    def seldom(usual, *others):
        return pick.choice(others) if pick.random() < 0.012 else pick.choice(usual)

    return dict(
        total=pick.choice([None, None, False, 0, 1, 2, 3, 3, 5, 10, 10, 10, -2]),
        connect=limit(False, False),
        read=limit(False, False),
        redirect=limit(False, False),
        status=False if pick.random() < 0.008 else limit(),
        other=False if pick.random() < 0.008 else limit(),
        allowed_methods=methods_of(pick),
        status_forcelist=pick.choice([None, [500, 502], [503], [200, 429, 500]]),
        backoff_factor=seldom([0, 0.1, 0.5, 3.0], -1.0, math.nan, 1e308, math.inf),
        backoff_max=seldom([120, 120, 1.5, 0], -2.0, math.inf, math.nan),
        backoff_jitter=seldom([0.0] * 10 + [0.25, 8.0], -0.5),
        raise_on_redirect=pick.random() < 0.5,
        raise_on_status=pick.random() < 0.5,
        respect_retry_after_header=pick.random() < 0.7,
        retry_after_max=seldom([21600] * 12 + [60, math.inf], -5.0),
    )


def methods_of(pick):
    if pick.random() < 0.04:
        return pick.choice([[], ["Get", "post"]])
    return pick.choice([None, DEFAULT_METHODS, DEFAULT_METHODS, ["GET"], ["PATCH", "POST"]])


DEFAULT_METHODS = sorted(Retry.DEFAULT_ALLOWED_METHODS)
DATES = ["Tue, 14 Nov 2023 22:13:50 GMT", "Tue, 14 Nov 2023 22:12:00 GMT", "Wednesday, 15-Nov-23 00:00:00 GMT"]


def event(pick):
    method = pick.choice(METHODS)
    url = pick.choice(["/", "http://a/b", None, "/é?a b", ""])
    kind = pick.random()
    if kind < 0.45:
        return method, url, "error", pick.choice(list(ERRORS))
    if kind < 0.5:
        return method, url, "nothing"
    location = pick.choice([None, None, "/c", "http://b/", ""])
    code = pick.choice(CODES)
    after = pick.choice([None, None, None, "0", "7", "100", "99999", *DATES, "", "soon"])
    if code not in AFTER_CODES and pick.random() < 0.85:
        after = None
    return method, url, "response", code, location, after


def cases():
    pick = random.Random(20261121)
    for _ in range(2400):
        yield settings(pick), [event(pick) for _ in range(pick.randint(1, 8))]
    for name in MORE_ERRORS:
        for _ in range(40):
            given = dict(settings(pick), total=pick.choice([None, 3, 5]))
            for limit in ("connect", "read", "other"):
                given[limit] = pick.choice([None, 1, 2])
            yield given, [(pick.choice(["GET", "POST", None]), "/", "error", name) for _ in range(pick.randint(1, 4))]


def encode_settings(given):
    limits = [count(given[name]) for name in ("total", "connect", "read", "redirect", "status", "other")]
    methods, codes = given["allowed_methods"], given["status_forcelist"]
    lists = ["*" if methods is None else word(",".join(methods)), "-" if codes is None else ",".join(map(str, codes))]
    seconds = [number(given[name]) for name in ("backoff_factor", "backoff_max", "backoff_jitter")]
    flags = [str(int(given[name])) for name in ("raise_on_redirect", "raise_on_status", "respect_retry_after_header")]
    return " ".join([*limits, *lists, *seconds, *flags, number(given["retry_after_max"])])


def case_input(case):
    given, events = case
    return [encode_settings(given), *(f"{words(*one[:2])} {words(*one[2:])}" for one in events)]


def retry_of(given, kind=Retry):
    """Creates a Retry. Returns None if the version of urllib3 does not have a given setting."""
    if hasattr(Retry, "DEFAULT_RETRY_AFTER_MAX"):
        return kind(**given)
    given = dict(given)
    maximum = given.pop("backoff_max")
    if given.pop("backoff_jitter") != 0 or given.pop("retry_after_max") != 21600:
        return None
    return type("Bounded", (kind,), {"DEFAULT_BACKOFF_MAX": maximum})(**given)


class RecordingRetry(Retry):
    """Stores the last Retry whose is_exhausted was called, which is the new Retry that increment returns."""

    last_retry = None

    def is_exhausted(self):
        RecordingRetry.last_retry = self
        return super().is_exhausted()


class OtherDisabled:
    """Raises an error itself if `other` is False and the error is neither a connect error nor a read error."""

    def increment(self, method=None, url=None, response=None, error=None, *more, **named):
        if error and self.other is False and not (self._is_connection_error(error) or self._is_read_error(error)):
            raise error
        return super().increment(method, url, response, error, *more, **named)


class RecordingOtherDisabled(OtherDisabled, RecordingRetry):
    pass


class Strict(RecordingOtherDisabled):
    """Sleeps as specification 2.1.1 rule 5 says: Retry-After counts for three statuses."""

    def sleep(self, response=None):
        super().sleep(response if response is not None and response.status in AFTER_CODES else None)


def sleep_duration(call, *arguments):
    """Returns the seconds that a Retry sleeps, or its failure."""
    naps = []
    with mock.patch("time.sleep", naps.append):
        try:
            call(*arguments)
        except exceptions.InvalidHeader:
            return "invalid"
    if any(nap < 0 for nap in naps):
        raise ValueError("sleep length must be non-negative")
    return number(sum(naps))


def state(retry, names):
    parts = [count(getattr(retry, name)) for name in ("total", "connect", "read", "redirect", "status", "other")]
    parts += [str(int(retry.raise_on_redirect)), str(int(Retry.is_exhausted(retry))), number(retry.get_backoff_time())]
    parts += [sleep_duration(retry.sleep), str(len(retry.history))]
    if retry.history:
        method, url, error, status, location = retry.history[-1]
        parts.append(words(method, url, error and names[id(error)], status, location))
    return " ".join(parts)


def answered(retry, method, response):
    after = response.headers.get("Retry-After")
    is_retry = "-" if method is None else str(int(bool(retry.is_retry(method, response.status, bool(after)))))
    try:
        asked_for = retry.get_retry_after(response)
        asked_for = "-" if asked_for is None else number(asked_for)
    except exceptions.InvalidHeader:
        asked_for = "invalid"
    return f"answered {is_retry} {asked_for} {sleep_duration(retry.sleep, response)} {sleep_duration(retry.sleep_for_retry, response)}"


def reason_of(reason, names):
    if id(reason) in names:
        return names[id(reason)]
    text = str(reason)
    code = "".join(filter(str.isdigit, text))
    return "redirects" if "redirects" in text else f"status {code}" if code else "nothing"


def run(given, events, kind=RecordingRetry, read_as={}):
    retry = retry_of(given, kind)
    if retry is None:
        return [UNKNOWN]
    names, kept = {}, []
    lines = [state(retry, names)]
    for method, url, what, *more in events:
        response = error = None
        if what == "error":
            error = read_as.get(more[0], {**ERRORS, **MORE_ERRORS}[more[0]])()
            names[id(error)] = more[0]
            kept.append(error)
        elif what == "response":
            headers = {name: value for name, value in zip(("Location", "Retry-After"), more[1:]) if value is not None}
            response = HTTPResponse(status=more[0], headers=headers)
            lines.append(answered(retry, method, response))
        try:
            retry = retry.increment(method, url, response, error)
            lines.append(f"next {state(retry, names)}")
        except exceptions.MaxRetryError as raised:
            lines.append(f"max {reason_of(raised.reason, names)} {state(RecordingRetry.last_retry, names)}")
        except exceptions.HTTPError as raised:
            lines.append(f"cause {names[id(raised)]}")
    return lines


def result(case, kind=RecordingRetry, read_as={}):
    try:
        return run(*case, kind, read_as)
    except Exception as error:
        return failed(error)


def refused(given):
    """Returns true for settings that netlib refuses. C code passes infinity as None, which no factor can be."""
    if math.inf in (given["backoff_factor"], given["backoff_jitter"]):
        return True
    seconds = [given[name] for name in ("backoff_factor", "backoff_max", "backoff_jitter", "retry_after_max")]
    return given["status"] is False or any(not value >= 0 for value in seconds)


def adapt_settings(given):
    """Returns settings with which urllib3 behaves like netlib, and the classes of the differences."""
    methods, classes = given["allowed_methods"], []
    if methods == []:
        methods = ["NO-METHOD"]
        classes.append("empty-allowed-methods")
    elif methods and methods != [name.upper() for name in methods]:
        methods = [name.upper() for name in methods]
        classes.append("upper-case-methods")
    return dict(given, allowed_methods=methods), classes


def disabled(line, total):
    """Returns the result of increment with a response, or with no cause, if retries are disabled."""
    if total is False and line.startswith("max "):
        line = " ".join(["cause", *line.split(" ")[1 : 3 if line.startswith("max status") else 2]])
    return line


def expected(case, given):
    settings, events = case
    if refused(settings):
        return ["refused-values"], ["refused"]
    settings, classes = adapt_settings(settings)
    plain = result((settings, events))
    if plain == given:
        classes = []
    read_as = {}
    for name, other in (
        ("incomplete-read", {"INCOMPLETE_READ": ERRORS["PROTOCOL"]}),
        ("nested-proxies", {"PROXY_FAILED/PROXY_FAILED/CONNECT_FAILED": ERRORS["PROXY_FAILED/CONNECT_FAILED"]}),
        ("proxy-read", PROXY_READ_ERRORS),
    ):
        before, read_as = plain, {**read_as, **other}
        plain = result((settings, events), read_as=read_as)
        if plain != before:
            classes.append(name)
    before, plain = plain, result((settings, events), RecordingOtherDisabled, read_as)
    if plain != before:
        classes.append("disabled")
    strict = result((settings, events), Strict, read_as)
    if strict != plain:
        classes.append("retry-after-statuses")
    lines = [disabled(line, settings["total"]) for line in strict]
    if lines != strict and "disabled" not in classes:
        classes.append("disabled")
    return classes, lines
