"""Downloads one URL with the recommended settings, and writes the response's body to standard output."""

import sys

import netlib
from netlib import RequestForm, Status

if len(sys.argv) != 2:
    print("usage: get.py URL", file=sys.stderr)
    sys.exit(2)
limit = netlib.Limit(120)  # bounds all attempts, and the waits between them
options = netlib.ConnectOptions().timeout(20)
tls = netlib.TlsContext()
try:
    url, headers = netlib.parse_url_strict(sys.argv[1]), netlib.Headers({"connection": "close"})
    attempts = netlib.Attempts(netlib.Retry.recommended(), "GET", url, headers, False, limit)
    status = Status.SEND_AGAIN
    while status == Status.SEND_AGAIN:
        try:
            with netlib.connect(attempts.url(), tls, options, limit) as stream:
                stream.sendall(attempts.request(RequestForm.ORIGIN).to_wire())
                response = stream.response(attempts.method())
                status = attempts.next(response)  # waits before a retry
                if status == Status.OK:
                    for piece in stream.body(response):
                        sys.stdout.buffer.write(piece)
        except netlib.Error as error:
            status = attempts.next(error=error)  # waits before a retry, or raises the error
except netlib.Error as error:
    sys.exit(error.report())
