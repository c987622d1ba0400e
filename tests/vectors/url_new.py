"""Records the URLs that urllib3's Url(...) writes from parts, for comparison with netlib_url_new.

A case consists of the seven parts after normalisation, which url.py compares. urllib3 writes any parts. netlib refuses
parts that differ from the parts of the text when the text is parsed again.
"""

import random

from urllib3.util.url import Url

import url
from common import failed, number, word, words

ABOUT = ["> scheme auth host port path query fragment. < the whole text; or ! where the parts are refused."]

SCHEMES = [None, None, "http", "https", "ftp", "a+b", "a b", "1a", "a:b", "", "a/b"]
AUTHS = [None, None, None, "u", "u:p", "u%40v", "u/v", "u?", "u#"]
HOSTS = ["h", "h", "example.com", "[::1]", "127.0.0.1", None, None, "a/b", "a?b", "a#b", "a@b", "a:80", "a b", "[::1", "a]", "mailto"]
PORTS = [None, None, None, 0, 80, 65535]
PATHS = [None, None, "/", "/a", "/a/b", "a", "//a", "/a?b", "/a#b", "/:", "/a:80", "/@"]
QUERIES = [None, None, "", "q", "a=b&c", "a?b", "a#b"]
FRAGMENTS = [None, None, "", "f", "f?g"]


def cases():
    pick = random.Random(20261124)
    for lists in (SCHEMES, AUTHS, HOSTS, PATHS, QUERIES, FRAGMENTS):
        for value in dict.fromkeys(lists):
            parts = ["http", None, "h", None, "/a", None, None]
            parts[[SCHEMES, AUTHS, HOSTS, None, PATHS, QUERIES, FRAGMENTS].index(lists)] = value
            yield tuple(parts)
    for _ in range(1500):
        # One part in three may be one that changes when the written text is parsed.
        yield tuple(
            pick.choice(part if pick.random() < 0.3 else part[:good])
            for part, good in ((SCHEMES, 6), (AUTHS, 5), (HOSTS, 5), (PORTS, 6), (PATHS, 5), (QUERIES, 5), (FRAGMENTS, 5))
        )


def case_input(case):
    return [words(*case)]


def result(case):
    try:
        return [word(Url(*case).url)]
    except Exception as error:
        return failed(error)


def expected(case, given):
    """Returns the first form of the text that netlib parses into the given parts."""
    parts = Url(*case)
    text = parts.url
    if parts.path is None and (parts.query is not None or parts.fragment is not None):
        # The parser reads an absent path before a query or a fragment as an empty path.
        parts = parts._replace(path="")
    # The authority may not look like a scheme, and the path may not look like an authority, as in url.py.
    for form in [text] if parts.scheme is not None else [text, "//" + text if parts.host is not None else "/." + text]:
        _, read = url.as_parsed(form, url.result(form))
        if read != ["!"] and read[0].split(" ")[:7] == words(*parts).split(" "):
            return ["round-trip"] if form != text else [], [word(form)]
    return ["parts-that-read-back"], ["!"]
