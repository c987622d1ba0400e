"""Makes decide.txt: the requests that urllib3's connection pool makes when the server answers with what is scripted.

    PYTHONPATH=<folder with urllib3 2.8.0> python3 tests/vectors/decide.py

A `case` line has the settings (as in retry.txt), the method, and 1 if there is a body. Then `sent` (method, body,
headers, and the sleep before it) and `reply` (as an event of retry.txt) take turns until `end`. Left out, because
netlib differs on purpose: HEAD answered with 303, and Retry-After on other statuses than 413, 429, 503 and redirects.
"""

import os
import random
from unittest import mock

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError
from urllib3.response import HTTPResponse
from urllib3.util.retry import Retry

from retry import ERRORS, HERE, MADE_BY, NOW, RANDOM, settings, show

HEADERS = {"Authorization": "a", "Content-Length": "1", "Content-Type": "t", "Cookie": "c", "X-Key": "k"}
LOCATIONS = ["/c", "http://a/d", "http://a:80/e", "http://a:8080/f", "http://b/g", "https://a/h"]
RAISED = [name for name in ERRORS if "/" not in name and name != "INVALID_URL"]


def reply(rng):
    kind = rng.random()
    if kind < 0.35:
        name = rng.choice(RAISED)
        return f"error {name}", ERRORS[name]()
    after, location = "-", "-"
    if kind < 0.65:
        code = rng.choice([301, 302, 303, 307, 308])
        location = rng.choice(LOCATIONS)
        after = rng.choice(["-", "-", "4"])
    else:
        code = rng.choice([200, 304, 404, 413, 429, 500, 502, 503, 503])
        if code in Retry.RETRY_AFTER_STATUS_CODES:
            after = rng.choice(["-", "0", "7", "100"])
    headers = {name: value for name, value in (("Location", location), ("Retry-After", after)) if value != "-"}
    return f"response {code} {location} {after}", HTTPResponse(status=code, headers=headers)


def run(rng, out):
    given = settings(rng)
    method = rng.choice(["GET", "PUT", "POST", "PATCH", "HEAD"])
    with_body = method in ("PUT", "POST", "PATCH") and rng.random() < 0.8
    methods, codes = given["allowed_methods"], given["status_forcelist"]
    words = [show(given[name]) for name in ("total", "connect", "read", "redirect", "status", "other")]
    words.append("*" if methods is None else ",".join(sorted(methods)))
    words.append("-" if codes is None else ",".join(map(str, codes)))
    words += [repr(float(given[name])) for name in ("backoff_factor", "backoff_max", "backoff_jitter")]
    words += [str(int(given[name])) for name in ("raise_on_redirect", "raise_on_status", "respect_retry_after_header")]
    words += [str(given["retry_after_max"]), method, str(int(with_body))]
    out.write(f"case {' '.join(words)}\n")

    pool = urllib3.HTTPConnectionPool("a")
    slept = []

    def make_request(conn, method, url, body=None, headers=None, **kw):
        names = ",".join(sorted(name.lower() for name in headers)) or "-"
        out.write(f"sent {method} {int(body is not None)} {names} {float(sum(slept))!r}\n")
        slept.clear()
        while True:
            what, answer = reply(rng)
            if not (method == "HEAD" and " 303 " in what):
                break
        out.write(f"reply {what}\n")
        if isinstance(answer, Exception):
            raise answer
        return answer

    retry = Retry(**given, remove_headers_on_redirect=["Authorization"])
    with mock.patch.object(pool, "_make_request", make_request), mock.patch("time.sleep", slept.append):
        try:
            response = pool.urlopen(
                method, "/", body=b"x" if with_body else None, headers=HEADERS, retries=retry, assert_same_host=False
            )
            out.write(f"end response {response.status}\n")
        except MaxRetryError:
            out.write("end max\n")
        except HTTPError:
            out.write("end cause\n")


if __name__ == "__main__":
    rng = random.Random(20261123)
    with open(os.path.join(HERE, "decide.txt"), "w") as out:
        out.write(MADE_BY.replace("retry.py", "decide.py"))
        with mock.patch("time.time", lambda: NOW), mock.patch("random.random", lambda: RANDOM):
            for _ in range(800):
                run(rng, out)
