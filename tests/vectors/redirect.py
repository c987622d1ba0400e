"""Records redirect targets: the URL of the second request of urllib3's PoolManager after the first request got a 302.

A case consists of the URL of the first request and the value of Location.
"""

import random
import re
from unittest import mock

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse
from urllib3.util import parse_url

import url
from common import failed, word, words

ABOUT = ["> the URL of the request, the Location. < the URL of the next request; or ! where it is refused."]

BASES = ["http://a/b/c?q", "http://a/b/c?q#f", "https://u@a:8443/#", "http://a#f", "http://a/b/#f%20g"]
LOCATIONS = [
    "/x", "x", "x/y", "../x", "./x", "?r", "x?r", "http://b/", "https://b/x", "http://a:8080/x", "http://b/?r", "//b/x", "/x?r=/../y",
    "/x#g", "x#g", "?r#g", "http://b/#g", "http://b#g", "//b/x#g?h", "/%7Ex", "/a%20b", "/caf\u00e9", "/x;y=z", ";y", "http://B/X", "..", ".",
]


SEGMENTS = ["a", "b", ".", "..", "", "%2e", "\u00e9", "a;b", "a:b", "%zz", "@", "a b", "..."]


def mixed(count, seed):
    pick = random.Random(seed)
    for _ in range(count):
        base = "http://a" + "".join("/" + pick.choice(SEGMENTS[:9]) for _ in range(pick.choice([0, 1, 2, 3])))
        path = "/".join(pick.choice(SEGMENTS) for _ in range(pick.choice([0, 1, 1, 2, 3])))
        start = pick.choice(["", "/", "//", "//b/", "http://b/", "http://b", "https:", "http:", "?", "./", "../"])
        location = start + path + pick.choice(["", "", "?r", "?"]) + pick.choice(["", "", "", "#g", "#"])
        if location:
            yield base + pick.choice(["", "?q", "?", "?q#f"]), location


def cases():
    for base in BASES:
        for location in LOCATIONS:
            yield base, location
    yield from mixed(1200, 20261125)


def case_input(case):
    return [words(*case)]


def result(case):
    base, location = case
    pool = urllib3.PoolManager(retries=urllib3.Retry(3))
    seen = []

    def urlopen(self, method, target, **kw):
        seen.append(target)
        headers = {"Location": location} if len(seen) == 1 else {}
        return HTTPResponse(status=302 if len(seen) == 1 else 200, headers=headers, request_url=target)

    parsed, hosts = [], []
    real = pool.connection_from_host
    real_parse = urllib3.util.parse_url

    def connection_from_host(host, port=None, scheme="http", pool_kwargs=None):
        hosts.append((scheme, host, port))
        return real(host, port, scheme, pool_kwargs)

    def parse(text):
        found = real_parse(text)
        parsed.append(found)
        return found

    with mock.patch.object(urllib3.HTTPConnectionPool, "urlopen", urlopen), \
            mock.patch.object(pool, "connection_from_host", connection_from_host), \
            mock.patch("urllib3.poolmanager.parse_url", parse):
        try:
            pool.urlopen("GET", base)
        except HTTPError:
            return ["!"]
        except Exception as error:
            return failed(error)
    # The URL whose host urllib3 connected to last.
    second = [found for found in parsed if (found.scheme or "http", found.host, found.port) == hosts[-1]][-1]
    return [word(second.url)]


def without_dots(path):
    """Removes dot segments (RFC 3986 section 5.2.4)."""
    kept = []
    for i, segment in enumerate(segments := path.split("/")):
        last = i == len(segments) - 1
        if segment == "..":
            del kept[max(len(kept) - 1, 1):]
        if segment not in (".", ".."):
            kept.append(segment)
        elif last:
            kept.append("")
    return "/".join(kept)


def resolved(base, location, inherits):
    """Resolves a reference with the strict algorithm of RFC 3986 section 5.2.2."""
    scheme, authority, path, query, fragment = re.fullmatch(
        r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", location, re.S
    ).groups()
    base = parse_url(base)
    if fragment is None and inherits:
        fragment = base.fragment
    if scheme is None:
        scheme = base.scheme
        if authority is None:
            authority = base.authority
            if path == "":
                path = base.path or ""
                query = base.query if query is None else query
            elif path[0] != "/":
                path = (base.path or "/").rpartition("/")[0] + "/" + path
    parts = [scheme, ":", "" if authority is None else "//" + authority, without_dots(path)]
    text = "".join([*parts, "" if query is None else "?" + query, "" if fragment is None else "#" + fragment])
    _, read = url.as_parsed(text, url.result(text))
    # A URL without a host cannot be requested.
    return ["!"] if read == ["!"] or read[0].split(" ")[2] in ("-", "\\e") else [read[0].split(" ")[-1]]


def expected(case, given):
    classes, now = [], given
    for name, inherits in (("redirect-resolution", False), ("redirect-fragment", True)):
        before, now = now, resolved(*case, inherits)
        if now != before:
            classes.append(name)
    return classes, now
