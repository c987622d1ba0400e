"""Records the results of two other decoders of response bodies: h11, and the llhttp of Node.js.

    make test SUITE=c
    LD_LIBRARY_PATH=<folder with libnetlib.so> <program test_body_corpus> print > messages
    PYTHONPATH=<folder with h11 0.16.0> python3 tests/vectors/bodies.py < messages

writes `parsers/bodies.txt`. It needs `node` with the llhttp release of framing.LLHTTP.
c-tests/response/test_body_corpus.c generates the messages, and compares the records with netlib.
"""

import json
import platform
import subprocess
import sys

import h11

from common import path
from framing import H11, LLHTTP

LINE = 100
CODES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz"
REFUSED, INCOMPLETE = "x", "."
ABOUT = f"""\
# h11 {H11}, llhttp {LLHTTP}, Python {platform.python_version()}. Made by tests/vectors/bodies.py.
# One character for each message of c-tests/response/test_body_corpus.c: {REFUSED} refused, {INCOMPLETE} incomplete,
# otherwise a checksum of the body, of the number of bytes that belong to it, and of the trailer.
"""


def code(body, consumed, trailers):
    lines = "".join(f"{name.lower()}:{value}\n" for name, value in trailers)
    total = 2166136261
    for byte in body + f"\n{consumed}\n{lines}".encode("latin-1"):
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return CODES[total % len(CODES)]


def by_h11(head, rest):
    client = h11.Connection(our_role=h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "h")]))
    client.send(h11.EndOfMessage())
    client.receive_data(head)
    assert isinstance(client.next_event(), h11.Response)
    body = b""
    closed = False
    try:
        if rest:
            client.receive_data(rest)
        while True:
            event = client.next_event()
            if isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                left = len(client.trailing_data[0])
                trailers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
                return code(body, len(rest) - left, trailers)
            elif event is h11.NEED_DATA and not closed:
                closed = True
                client.receive_data(b"")
    except h11.RemoteProtocolError:
        return INCOMPLETE if closed else REFUSED


NODE = r"""
const {HTTPParser} = process.binding('http_parser');
const lines = require('fs').readFileSync(0, 'latin1').trimEnd().split('\n');
function decode(line) {
  const [head, rest] = line.split(' ').map((part) => Buffer.from(part, 'hex'));
  const parser = new HTTPParser();
  let done = false, body = [], trailers = [];
  parser.initialize(HTTPParser.RESPONSE, {});
  parser[HTTPParser.kOnHeaders | 0] = (headers) => { trailers = trailers.concat(headers); };
  parser[HTTPParser.kOnHeadersComplete | 0] = () => { trailers = []; return 0; };
  parser[HTTPParser.kOnBody | 0] = (bytes) => { body.push(Buffer.from(bytes)); };
  parser[HTTPParser.kOnMessageComplete | 0] = () => { done = true; };
  const result = (consumed) => [Buffer.concat(body).toString('latin1'), consumed, trailers];
  if (parser.execute(head) instanceof Error) return 'bad head';
  if (done) return result(0);
  for (let at = 0; at < rest.length; at++) {
    if (parser.execute(rest.subarray(at, at + 1)) instanceof Error) return 'refused';
    if (done) return result(at + 1);
  }
  if (parser.finish() instanceof Error || !done) return 'incomplete';
  return result(rest.length);
}
console.log(JSON.stringify([process.versions.llhttp, lines.map(decode)]));
"""


def by_llhttp(lines):
    ran = subprocess.run(["node", "--no-deprecation", "-e", NODE], input="\n".join(lines), capture_output=True, text=True, check=True)
    version, results = json.loads(ran.stdout)
    if version != LLHTTP:
        sys.exit(f"this is llhttp {version}; the vectors are made from {LLHTTP}")
    for result in results:
        if result in ("refused", "incomplete"):
            yield REFUSED if result == "refused" else INCOMPLETE
        else:
            body, consumed, trailers = result
            yield code(body.encode("latin-1"), consumed, zip(trailers[::2], trailers[1::2], strict=True))


def main():
    if h11.__version__ != H11:
        sys.exit(f"this is h11 {h11.__version__}; the vectors are made from {H11}")
    lines = sys.stdin.read().splitlines()
    parsers = {
        "h11": [by_h11(*map(bytes.fromhex, (line + " ").split(" ")[:2])) for line in lines],
        "llhttp": list(by_llhttp(lines)),
    }
    with open(path("parsers", "bodies"), "w", encoding="ascii") as out:
        out.write(ABOUT)
        for start in range(0, len(lines), LINE):
            for name, results in parsers.items():
                out.write(f"{name} {''.join(results[start : start + LINE])}\n")
    print(f"{len(lines)} messages")


if __name__ == "__main__":
    main()
