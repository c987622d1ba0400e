"""Records how two other parsers find the end of a response body: h11, and the llhttp of Node.js.

    PYTHONPATH=<folder with h11 0.16.0> python3 tests/vectors/framing.py

writes `parsers/framing.txt`. It needs `node` with the llhttp release of LLHTTP below.
c-tests/response/test_response_framing.c compares the records with netlib, and lists the reasons why netlib may differ.
"""

import json
import os
import platform
import random
import subprocess
import sys

import h11
from h11._connection import _body_framing  # noqa: the public interface tells it only after the body

from common import path, word, write

H11 = "0.16.0"
LLHTTP = "9.3.1"
ABOUT = [
    "> the method of the request, the status, and the field lines, each with its CRLF",
    "< what h11 reads, and what llhttp does: none, length and how many, chunked, close, or refused; llhttp knows no methods,",
    "< so that it is not asked (\\?) where they count",
]

CODINGS = [
    "chunked", "chunked", "chunked", "chunked", "Chunked", "CHUNKED", "gzip", "deflate", "identity", "x-gzip", "xchunked", "chunkedx",
    "chunke", "\"chunked\"", "'chunked'", "chunked;a=b", "chunked;", "chunked ;", "gzip;q=1", "gzip; a=\"b\"", "gzip;a=\", chunked\"",
    "gzip;a=\"b", "gzip\"", "\"gzip", "gzip;a=\"\\\"\"", "gzip;a=\"\\", "gzip;", "gzip;a", "gzip;a=", "gzip;=b", ";a=b", "", "", " ", "x y",
    "chunked chunked", "x chunked", "chunked x", "ch\tunked", "chunked\x0b", "\x0bchunked", "chunked\x0c", "\xa0chunked", "chunked\x85",
    "chunked\x00", "chun\xc3\xa9ked", "ch(unked", "@", "=", "chunked=", "gzip/1", "trailers", "*", "a b;c=d", "gzip;a = b", "gzip;a= \"b\" ",
]
SEPARATORS = [", ", ", ", ",", " ,", "\t,\t", ",,", ", ,", ";", " ", "\", ", ", \""]
LENGTHS = [
    "5", "5", "5", "0", "12", "05", "005", "5, 5", "5,5", "5, 6", "5,", ",5", "", " ", "+5", "-5", "0x5", "5 5", "5;a", "5.0", "5e0", "\"5\"",
    "\x0b5", "5\xa0", "five", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "18446744073709551621", "99999999999999999999999", "5\x00", "\xd9\xa5", "1_0", "\xef\xbc\x95",
]
NAMES = {
    "te": ["Transfer-Encoding"] * 12 + ["transfer-encoding", "TRANSFER-ENCODING", "Transfer-Encoding ", "Transfer_Encoding",
                                        "Transfer-encodin", "Transfer-Encoding\t", "\x0bTransfer-Encoding", " Transfer-Encoding"],
    "cl": ["Content-Length"] * 12 + ["content-length", "CONTENT-LENGTH", "Content-Length ", "Content_Length", "Content-Lengt", "Content-Length\t"],
}
STATUSES = [200] * 30 + [100, 101, 103, 199, 201, 204, 205, 206, 299, 300, 304, 404, 500, 599]
METHODS = ["GET"] * 30 + ["HEAD", "head", "Head", "HEAD", "CONNECT", "connect", "Connect", "POST", "HEADX", "OPTIONS"]


def one(pick, kind):
    name = pick.choice(NAMES[kind])
    blank = pick.choice([" "] * 8 + ["", "\t", "  ", " \r\n ", "\r\n\t"])
    if kind == "cl":
        value = pick.choice(LENGTHS)
    else:
        count = pick.choice([1, 1, 1, 2, 2, 3])
        value = pick.choice(CODINGS)
        for _ in range(count - 1):
            value += pick.choice(SEPARATORS) + pick.choice(CODINGS)
    if pick.random() < 0.08 and value:
        at = pick.randrange(len(value))
        value = value[:at] + pick.choice("\" ,;=\\\t\x0b-x0") + value[at + pick.randrange(2):]
    return f"{name}:{blank}{value}{pick.choice(['', '', '', ' ', chr(9)])}\r\n"


def mixed(count, seed):
    pick = random.Random(seed)
    for _ in range(count):
        kinds = pick.choice([["te"]] * 5 + [["cl"]] * 3 + [["te", "te"], ["cl", "cl"], ["te", "cl"], ["cl", "te"], []])
        yield pick.choice(METHODS), pick.choice(STATUSES), "".join(one(pick, kind) for kind in kinds)


def cases():
    for value in dict.fromkeys(CODINGS):
        yield "GET", 200, f"Transfer-Encoding: {value}\r\n"
        yield "GET", 200, f"Transfer-Encoding: {value}, chunked\r\n"
        yield "GET", 200, f"Transfer-Encoding: chunked, {value}\r\n"
        yield "GET", 200, f"Transfer-Encoding: {value}\r\nTransfer-Encoding: chunked\r\n"
        yield "GET", 200, f"Transfer-Encoding: {value}\r\nContent-Length: 5\r\n"
    for value in dict.fromkeys(LENGTHS):
        yield "GET", 200, f"Content-Length: {value}\r\n"
        yield "GET", 200, f"Content-Length: {value}\r\nContent-Length: 5\r\n"
        yield "GET", 200, f"Content-Length: {value}\r\nTransfer-Encoding: chunked\r\n"
    for method in dict.fromkeys(METHODS):
        for status in dict.fromkeys(STATUSES):
            for fields in ("", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n"):
                yield method, status, fields
    yield from mixed(4500, 20261122)


def by_h11(method, status, fields):
    client = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=1 << 20)
    try:
        target = "h:80" if method == "CONNECT" else "/"
        client.send(h11.Request(method=method, target=target, headers=[("Host", "h")]))
        client.send(h11.EndOfMessage())
        client.receive_data(f"HTTP/1.1 {status} x\r\n{fields}\r\n".encode("latin-1"))
        event = client.next_event()
    except h11.ProtocolError:
        return "refused"
    if isinstance(event, h11.InformationalResponse):
        return "none"
    framing, arguments = _body_framing(method.encode(), event)
    # h11 reports an absent body as a body of 0 bytes.
    no_body = method == "HEAD" or status in (204, 304) or method == "CONNECT" and 200 <= status < 300
    if framing == "content-length":
        return "none" if no_body else f"length {arguments[0]}"
    return {"chunked": "chunked", "http/1.0": "close"}[framing]


NODE = r"""
const {HTTPParser} = process.binding('http_parser');
const body = '5\r\nhello\r\n0\r\n\r\n';
function framing(head) {
  const parser = new HTTPParser();
  let headers = 0, done = 0, text = '';
  parser.initialize(HTTPParser.RESPONSE, {});
  parser[HTTPParser.kOnHeaders | 0] = () => {};
  parser[HTTPParser.kOnHeadersComplete | 0] = () => { headers++; return 0; };
  parser[HTTPParser.kOnBody | 0] = (bytes) => { text += bytes.toString('latin1'); };
  parser[HTTPParser.kOnMessageComplete | 0] = () => { done++; };
  if (parser.execute(Buffer.from(head, 'latin1')) instanceof Error || headers !== 1) return 'refused';
  if (done === 1) return 'none';
  const failed = parser.execute(Buffer.from(body, 'latin1')) instanceof Error;
  const early = done === 1;
  if (early && text === 'hello') return 'chunked';
  if (early) return 'length ' + text.length;
  if (failed) return 'refused';
  if (parser.finish() instanceof Error) return 'longer';
  return done === 1 && text === body ? 'close' : 'refused';
}
const heads = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify([process.versions.llhttp, heads.map(framing)]));
"""


def by_llhttp(heads):
    ran = subprocess.run(["node", "--no-deprecation", "-e", NODE], input=json.dumps(heads), capture_output=True, text=True, check=True)
    version, results = json.loads(ran.stdout)
    if version != LLHTTP:
        sys.exit(f"this is llhttp {version}; the vectors are made from {LLHTTP}")
    return results


def main():
    if h11.__version__ != H11:
        sys.exit(f"this is h11 {h11.__version__}; the vectors are made from {H11}")
    all_cases = list(dict.fromkeys(cases()))
    results = by_llhttp([f"HTTP/1.1 {status} x\r\n{fields}\r\n" for _, status, fields in all_cases])
    blocks = []
    for (method, status, fields), llhttp in zip(all_cases, results, strict=True):
        # After a body of 0 bytes llhttp ends the message at once. After any other body it waits for more data.
        if llhttp == "none" and status >= 200 and status not in (204, 304):
            llhttp = "length 0"
        if llhttp == "longer":
            digits = "".join(c for c in fields.split(":")[-1] if c.isdigit())
            llhttp = f"length {int(digits)}"
        if method in ("HEAD", "CONNECT"):
            llhttp = "\\?"
        fields = fields.encode("latin-1")
        blocks.append(([f"{method} {status} {word(fields)}"], None, [by_h11(method, status, fields.decode("latin-1")), llhttp]))
    os.makedirs(os.path.dirname(path("parsers", "framing")), exist_ok=True)
    made = f"h11 {H11}, llhttp {LLHTTP}, Python {platform.python_version()}. Made by tests/vectors/framing.py."
    write("parsers", "framing", [made, *ABOUT], blocks)
    print(f"{len(blocks)} cases")


if __name__ == "__main__":
    main()
