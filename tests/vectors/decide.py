"""Records which requests urllib3's connection pool repeats when the server sends the replies of the case.

A case consists of settings as in retry.py, the headers to remove on a redirect, a method, a flag for a body, and the
replies.
"""

import random
from unittest import mock

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError
from urllib3.response import HTTPResponse
from urllib3.util.retry import Retry

from common import UNKNOWN, failed, number, word, words
from retry import AFTER_CODES, ERRORS, OtherDisabled, encode_settings, adapt_settings, refused, retry_of, settings

ABOUT = [
    "> the settings as in retry.txt, the headers to remove on a redirect, the method, whether there is a body",
    "> one line for each reply, as the events of retry.txt; after the last one comes 404",
    "< sent, the method, whether there is a body, the headers in alphabetical order, and the sleep before; for each request",
    "< end response and its status, end max, or end cause; or refused",
]

HEADERS = {"Authorization": "a", "Content-Length": "1", "Content-Type": "t", "Cookie": "c", "Proxy-Authorization": "p", "X-Key": "k"}
LOCATIONS = ["/c", "http://a/d", "http://a:80/e", "http://a:8080/f", "http://b/g", "https://a/h", "http://A/i"]
RAISED = [name for name in ERRORS if "/" not in name and name != "INVALID_URL"]


def reply(pick):
    kind = pick.random()
    if kind < 0.35:
        return "error", pick.choice(RAISED)
    if kind < 0.65:
        code = pick.choice([301, 302, 303, 307, 308])
        return "response", code, pick.choice(LOCATIONS), pick.choice([None, None, "4"])
    code = pick.choice([200, 304, 404, 413, 429, 500, 502, 503, 503])
    after = pick.choice([None, "0", "7", "100"]) if code in AFTER_CODES or pick.random() < 0.3 else None
    return "response", code, None, after


def cases():
    pick = random.Random(20261123)
    for _ in range(1600):
        given = settings(pick)
        if pick.random() < 0.08:
            given.update(total=False, status_forcelist=[500, 502, 503])
        method = pick.choice(["GET", "PUT", "POST", "PATCH", "HEAD"])
        body = method in ("PUT", "POST", "PATCH") and pick.random() < 0.8
        remove = pick.choice([None, ["Authorization"], ["Authorization"], ["X-KEY", "cookie"], []])
        yield given, remove, method, body, [reply(pick) for _ in range(pick.randint(1, 10))]


def case_input(case):
    given, remove, method, body, replies = case
    names = None if remove is None else ",".join(remove)
    return [f"{encode_settings(given)} {words(names, method)} {int(body)}", *(words(*one) for one in replies)]


class ReturnsOther(OtherDisabled, Retry):
    pass


class Strict(ReturnsOther):
    """Sleeps for Retry-After only with the statuses of AFTER_CODES, like the class of the same purpose in retry.py."""

    def sleep(self, response=None):
        super().sleep(response if response is not None and response.status in AFTER_CODES else None)


def run(case, kind):
    given, remove, method, body, replies = case
    if remove is not None:
        given = dict(given, remove_headers_on_redirect=remove)
    retry = retry_of(given, kind)
    if retry is None:
        return [UNKNOWN]
    pool = urllib3.HTTPConnectionPool("a")
    lines, naps, left = [], [], list(replies)

    def make_request(conn, method, url, body=None, headers=None, **kw):
        sent = ",".join(sorted(name.lower() for name in headers))
        lines.append(f"sent {method} {int(body is not None)} {word(sent)} {number(sum(naps))}")
        naps.clear()
        what, *more = left.pop(0) if left else ("response", 404, None, None)
        if what == "error":
            raise ERRORS[more[0]]()
        headers = {name: value for name, value in zip(("Location", "Retry-After"), more[1:]) if value is not None}
        return HTTPResponse(status=more[0], headers=headers)

    pool.ResponseCls = type("Made", (HTTPResponse,), {"from_httplib": classmethod(lambda kind, made, **kw: made)})
    with mock.patch.object(pool, "_make_request", make_request), mock.patch("time.sleep", naps.append):
        try:
            response = pool.urlopen(
                method, "/", body=b"x" if body else None, headers=HEADERS, retries=retry, assert_same_host=False
            )
            lines.append(f"end response {response.status}")
        except MaxRetryError:
            lines.append("end max")
        except HTTPError:
            lines.append("end cause")
    return lines


def result(case, kind=Retry):
    try:
        return run(case, kind)
    except Exception as error:
        return failed(error)


def expected(case, given):
    settings, remove, method, body, replies = case
    if refused(settings):
        return ["refused-values"], ["refused"]
    settings, names = adapt_settings(settings)
    classes, now = [], given

    def apply_difference(name, kind, **changed):
        nonlocal now, settings, remove
        settings, remove = changed.get("settings", settings), changed.get("remove", remove)
        before, now = now, result((settings, remove, method, body, replies), kind)
        if now != before and name not in classes:
            classes.append(name)

    for name in names:
        apply_difference(name, Retry)
    if remove is None:
        apply_difference("only-authorization", Retry, remove=["Authorization"])
    apply_difference("disabled", ReturnsOther)
    apply_difference("retry-after-statuses", Strict)
    if settings["total"] is False:
        # The pool returns responses with these statuses in the same way as redirects.
        apply_difference("disabled", Strict, settings=dict(settings, raise_on_status=False))
    if method == "HEAD" and any(one[1] == 303 for one in replies):
        # Runs the case with 302 instead of 303, because 302 keeps the method. Content headers are removed from the
        # next request on.
        before, replies = now, [(one[0], 302, *one[2:]) if one[1] == 303 else one for one in replies]
        now, content = result((settings, remove, method, body, replies), Strict), True
        sent = -1
        for i, line in enumerate(now):
            sent += line.startswith("sent ")
            if not content:
                now[i] = line.replace("content-length,content-type,", "")
            if line == "end response 302" and case[4][sent][1] == 303:
                now[i] = "end response 303"
            if sent < len(replies) and case[4][sent][1] == 303:
                content = False
        if now != before:
            classes.append("head-stays-head")
    return classes, now
