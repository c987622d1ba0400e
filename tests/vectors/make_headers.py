"""Records the results of make_headers for combinations of all parameters.

A case consists of the parameters, and the content codings besides gzip and deflate that can be decoded. Texts are bytes.
urllib3 gets them as a str in ISO 8859-1, and credentials in the given encoding.
"""

import inspect
import itertools
import random
from unittest import mock

import urllib3.util.request
from urllib3.util import make_headers

from common import UNKNOWN, failed, word, words

ABOUT = [
    "> keep_alive disable_cache; accept_encoding: -, T, F, or text or list and what it is of; user_agent; basic_auth and",
    ">   proxy_basic_auth, each with its encoding; the codings that are supported",
    "< a name and a value a line; or refused",
]

FLAGS = [None, True, False]
ENCODINGS = [
    None, True, False, "", "gzip", "gzip;q=0.5, br", "identity", "é", [], [""], ["gzip"], ["gzip", "deflate"], ["br", "gzip;q=0.5", "*"],
    ["a", "", "b"], ["é"], "a\r\nb", ["a", "b\n"], "a\tb",
]
AGENTS = [None, "", "x", "netlib/1.0 (a; b)", "é", " ", "-", "a\rb", "a\nX: y", "x" * 300, "a\x7fb", "\x01"]
CREDENTIALS = [None, "", "user:password", "user", ":", "user:", ":pw", "a:b:c", "é:ü", "€:日本", "u:\r\n", "\x7f:\x01", "u:" + "p" * 200]
SUPPORTED = [[], ["br"], ["br", "zstd"]]


def cases():
    pick = random.Random(11)
    usual = (None, None, None, None, None, "latin-1", None, "latin-1", [])
    for at, values in ((0, FLAGS), (1, FLAGS), (2, ENCODINGS), (3, AGENTS), (4, CREDENTIALS), (6, CREDENTIALS)):
        for value in values:
            yield (*usual[:at], value, *usual[at + 1 :])
    for encoding in ("utf-8", "latin-1"):
        for credentials in CREDENTIALS:
            yield (*usual[:4], credentials, encoding, credentials, encoding, [])
    for flags in itertools.product(FLAGS, FLAGS, ENCODINGS[:3], SUPPORTED):
        yield (*flags[:3], *usual[3:8], flags[3])
    for _ in range(400):
        yield (
            pick.choice(FLAGS), pick.choice(FLAGS), pick.choice(ENCODINGS), pick.choice(AGENTS), pick.choice(CREDENTIALS),
            pick.choice(["latin-1"] * 3 + ["utf-8"]), pick.choice(CREDENTIALS), pick.choice(["latin-1"] * 3 + ["utf-8"]),
            pick.choice(SUPPORTED),
        )


def flag(value):
    return "-" if value is None else "T" if value else "F"


def case_input(case):
    keep_alive, disable_cache, encoding, agent, basic, basic_encoding, proxy, proxy_encoding, supported = case
    if encoding is None or isinstance(encoding, bool):
        accept = flag(encoding)
    elif isinstance(encoding, str):
        accept = f"text {word(encoding.encode('latin-1'))}"
    else:
        accept = " ".join(["list", str(len(encoding)), *(word(coding.encode("latin-1")) for coding in encoding)])
    agent = word(agent and agent.encode("latin-1"))
    return [
        " ".join([flag(keep_alive), flag(disable_cache)]),
        accept,
        agent,
        f"{credentials(basic, basic_encoding)} {basic_encoding}",
        f"{credentials(proxy, proxy_encoding)} {proxy_encoding}",
        words(*supported),
    ]


def credentials(text, encoding):
    """Encodes a text as a word. Text that ISO 8859-1 cannot encode stays in UTF-8, which C programs use."""
    try:
        return word(text and text.encode(encoding))
    except UnicodeEncodeError:
        return word(text)


def result(case):
    keep_alive, disable_cache, encoding, agent, basic, basic_encoding, proxy, proxy_encoding, supported = case
    more = {"basic_auth_encoding": basic_encoding, "proxy_basic_auth_encoding": proxy_encoding}
    if "basic_auth_encoding" not in inspect.signature(make_headers).parameters:
        if (basic and basic_encoding != "latin-1") or (proxy and proxy_encoding != "latin-1"):
            return [UNKNOWN]
        more = {}
    every = ",".join(["gzip", "deflate", *supported])
    try:
        with mock.patch.object(urllib3.util.request, "ACCEPT_ENCODING", every):
            made = make_headers(keep_alive, encoding, agent, basic, proxy, disable_cache, **more)
    except Exception as error:
        return failed(error)
    return [words(name, value.encode("latin-1")) for name, value in made.items()] or ["none"]


def expected(case, given):
    classes, case = [], list(case)
    if given[0] == "raises UnicodeEncodeError":
        # netlib gets bytes, which need no encoding, so encoding cannot fail.
        for at in (4, 6):
            if case[at] and not case[at].isascii() and credentials(case[at], case[at + 1]) == word(case[at]):
                case[at + 1] = "utf-8"
        given = result(case)
        classes.append("python-failures")
    sent = [case[3] or "", *([case[2]] if isinstance(case[2], str) else case[2] if isinstance(case[2], list) else [])]
    if any(c in text for text in sent for c in "\r\n"):
        return [*classes, "line-ends"], ["refused"]
    return classes, given
