"""Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results.

usage: cost.py URL COUNT
"""

import sys

import netlib


def parse(text: str, count: int) -> int:
    total = 0
    for _ in range(count):
        with netlib.parse_url(text) as url:
            total += len(url.scheme() or "") + len(url.host() or "") + url.port()
            total += len(url.path() or "") + len(url.query() or "")
    return total


for _line in sys.stdin:
    print(parse(sys.argv[1], int(sys.argv[2])), flush=True)
