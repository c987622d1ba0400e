"""Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results.
The URLs are the first argument with the numbers from 1 to COUNT at the end. With "own", urllib.parse parses them.

usage: cost.py URL COUNT [own]
"""

import sys
from urllib.parse import urlsplit

import netlib


def parse(text: str) -> int:
    with netlib.parse_url(text) as url:
        total = len(url.scheme() or "") + len(url.host() or "") + url.port()
        return total + len(url.path() or "") + len(url.query() or "")


def parse_with_own(text: str) -> int:
    url = urlsplit(text)
    return len(url.scheme) + len(url.hostname or "") + (url.port or 0) + len(url.path) + len(url.query)


texts = [f"{sys.argv[1]}{number}" for number in range(1, int(sys.argv[2]) + 1)]
work = parse_with_own if sys.argv[3:] else parse
for _line in sys.stdin:
    print(sum(work(text) for text in texts), flush=True)
