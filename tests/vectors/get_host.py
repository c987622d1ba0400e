"""Records the results of get_host, which only urllib3 1.26.20 has. For 2.8.0 the result is computed from the definition
of get_host: parse_url, with "http" as the default scheme.

The cases are every fourth text of url.py.
"""

import itertools

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

import url
from common import failed, words

try:
    from urllib3.util.url import get_host
except ImportError:

    def get_host(text):
        parsed = parse_url(text)
        return parsed.scheme or "http", parsed.host, parsed.port


ABOUT = ["scheme host port; or ! where it is refused."]
case_input = url.case_input


def cases():
    return itertools.islice(url.cases(), 0, None, 4)


def result(text):
    try:
        return [words(*get_host(text))]
    except LocationParseError:
        return ["!"]
    except Exception as error:
        return failed(error)


def expected(text, given):
    classes, fields = url.expected(text, url.result(text))
    if fields == ["!"]:
        return classes, fields
    scheme, _, host, port, *_ = fields[0].split(" ")
    return classes, [f"{'http' if scheme == '-' else scheme} {host} {port}"]
