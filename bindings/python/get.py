"""Downloads one URL with the recommended settings, and writes the response's body to standard output."""

import sys

import netlib

if len(sys.argv) != 2:
    print("usage: get.py URL", file=sys.stderr)
    sys.exit(2)
limit = netlib.Limit(120)  # bounds all attempts, and the waits between them
options = netlib.ConnectOptions().timeout(20)
tls = netlib.TlsContext()
try:
    for attempt in netlib.attempts("GET", sys.argv[1], {"connection": "close"}, limit=limit):
        try:
            with netlib.connect(attempt.url, tls, options, limit) as stream:
                stream.sendall(attempt.request().to_wire())
                response = stream.response(attempt.method)
                if attempt.accept(response):
                    for piece in stream.body(response):
                        sys.stdout.buffer.write(piece)
        except netlib.Error as error:
            attempt.failed(error)  # raises the error if it is not retried
except netlib.Error as error:
    sys.exit(error.report())
