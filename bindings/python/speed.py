"""Does the work that a line of standard input names, and prints the number of operations. The table "python" of the
benchmarks measures this program.

usage: speed.py ssl|netlib|"netlib, no resumption"|urllib3 URL CA_FILE
"""

import ssl
import sys
from typing import Any, Callable

import netlib
import netlib.urllib3
import urllib3

VARIANT, SERVER, AUTHORITY = sys.argv[1:4]
TEXT = "https://user@www.example.com:8443/documents/2026/report.html?page=2&lang=en#results"


def make_context() -> Any:
    if VARIANT == "ssl":
        return ssl.create_default_context(cafile=AUTHORITY)
    context = netlib.urllib3.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(AUTHORITY)
    if VARIANT != "netlib":
        context.options |= ssl.OP_NO_TICKET
    return context


pool = urllib3.PoolManager(ssl_context=make_context())


def connections(count: int) -> int:
    """Sends each request on a new connection."""
    statuses = [pool.request("GET", SERVER, headers={"connection": "close"}).status for _ in range(count)]
    return statuses.count(200)


def requests(count: int) -> int:
    """Sends all requests on one connection."""
    return [pool.request("GET", SERVER).status for _ in range(count)].count(200)


def download(count: int) -> int:
    """Downloads a body of `count` MiB in pieces of 64 KiB."""
    response = pool.request("GET", f"{SERVER}{count << 20}", preload_content=False)
    received = sum(len(piece) for piece in response.stream(1 << 16))
    response.release_conn()
    return received >> 20


def urls(count: int) -> int:
    """Parses a URL, and gets five components."""
    total = 0
    if VARIANT == "urllib3":
        parse = urllib3.util.parse_url
        # urllib3 caches the results of parts of the parser, but not of this function.
        for _ in range(count):
            parsed = parse(TEXT)
            total += len((parsed.scheme, parsed.host, parsed.port, parsed.path, parsed.query))
    else:
        for _ in range(count):
            with netlib.parse_url(TEXT) as url:
                total += len((url.scheme(), url.host(), url.port(), url.path(), url.query()))
    return total // 5


WORKS: dict[str, Callable[[int], int]] = {
    "connections": connections,
    "requests": requests,
    "download": download,
    "urls": urls,
}

for line in sys.stdin:
    work, number = line.split()
    print(WORKS[work](int(number)), flush=True)
