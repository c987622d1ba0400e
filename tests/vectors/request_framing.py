"""Records how three other parsers read the Transfer-Encoding of a request: h11, the llhttp of Node.js, and Go's net/http.

    PYTHONPATH=<folder with h11 0.16.0> python3 tests/vectors/request_framing.py

writes `parsers/request_framing.txt`. It needs `node` with the llhttp release of framing.py, and the Go release of GO
below. c-tests/request/test_request_framing.c compares the records with netlib.
"""

import json
import os
import platform
import random
import subprocess
import sys
import tempfile

import h11

from common import path, word, write
from framing import CODINGS, H11, LLHTTP, SEPARATORS

GO = "go1.19.8"
ABOUT = [
    "> the value of the Transfer-Encoding field of a request with one chunk",
    "< what h11 reads, what llhttp reads, and what Go reads: chunked, or refused",
]
BODY = "5\r\nhello\r\n0\r\n\r\n"
BLANKS = ["", "", "", " ", "  ", "\t", " \t"]


def values():
    for coding in dict.fromkeys(CODINGS):
        for value in (coding, f"{coding}, chunked", f"chunked, {coding}"):
            yield from (value, f" {value} ", f"\t{value}", f"{value}\t", f"{value} \t")
    pick = random.Random(20261124)
    for _ in range(600):
        value = pick.choice(CODINGS)
        for _ in range(pick.choice([0, 1, 1, 2])):
            value += pick.choice(SEPARATORS) + pick.choice(CODINGS[:12])
        yield pick.choice(BLANKS) + value + pick.choice(BLANKS)


def by_h11(request):
    server = h11.Connection(our_role=h11.SERVER)
    try:
        server.receive_data(request.encode("latin-1"))
        events = []
        while not events or not isinstance(events[-1], (h11.EndOfMessage, type(h11.NEED_DATA))):
            events.append(server.next_event())
    except h11.ProtocolError:
        return "refused"
    data = b"".join(bytes(event.data) for event in events if isinstance(event, h11.Data))
    return "chunked" if data == b"hello" and isinstance(events[-1], h11.EndOfMessage) else "other"


NODE = r"""
const {HTTPParser} = process.binding('http_parser');
function framing(request) {
  const parser = new HTTPParser();
  let done = 0, text = '';
  parser.initialize(HTTPParser.REQUEST, {});
  parser[HTTPParser.kOnHeaders | 0] = () => {};
  parser[HTTPParser.kOnHeadersComplete | 0] = () => 0;
  parser[HTTPParser.kOnBody | 0] = (bytes) => { text += bytes.toString('latin1'); };
  parser[HTTPParser.kOnMessageComplete | 0] = () => { done++; };
  if (parser.execute(Buffer.from(request, 'latin1')) instanceof Error) return 'refused';
  return done === 1 && text === 'hello' ? 'chunked' : 'other';
}
const requests = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify([process.versions.llhttp, requests.map(framing)]));
"""

GO_PROGRAM = """
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
)

func framing(request string) string {
	latin1 := make([]byte, 0, len(request))
	for _, letter := range request {
		latin1 = append(latin1, byte(letter))
	}
	read, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(latin1))))
	if err != nil {
		return "refused"
	}
	body, err := io.ReadAll(read.Body)
	if err == nil && string(body) == "hello" {
		return "chunked"
	}
	return "other"
}

func main() {
	var requests, results []string
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		panic(err)
	}
	for _, request := range requests {
		results = append(results, framing(request))
	}
	json.NewEncoder(os.Stdout).Encode([]interface{}{runtime.Version(), results})
}
"""


def answers(command, requests, expected):
    ran = subprocess.run(command, input=json.dumps(requests), capture_output=True, text=True, check=True)
    version, results = json.loads(ran.stdout)
    if version != expected:
        sys.exit(f"this is {command[0]} with {version}; the vectors are made from {expected}")
    return results


def main():
    if h11.__version__ != H11:
        sys.exit(f"this is h11 {h11.__version__}; the vectors are made from {H11}")
    all_values = list(dict.fromkeys(values()))
    requests = [f"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {value}\r\n\r\n{BODY}" for value in all_values]
    llhttp = answers(["node", "--no-deprecation", "-e", NODE], requests, LLHTTP)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "framing.go")
        with open(source, "w") as file:
            file.write(GO_PROGRAM)
        go = answers(["go", "run", source], requests, GO)
    rows = zip(all_values, map(by_h11, requests), llhttp, go, strict=True)
    blocks = [([word(value.encode("latin-1"))], None, results) for value, *results in rows]
    made = f"h11 {H11}, llhttp {LLHTTP}, {GO}, Python {platform.python_version()}. Made by tests/vectors/request_framing.py."
    write("parsers", "request_framing", [made, *ABOUT], blocks)
    print(f"{len(blocks)} cases")


if __name__ == "__main__":
    main()
