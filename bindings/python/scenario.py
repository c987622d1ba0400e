"""The steps of bindings/scenario.md.

usage: scenario.py SERVER CERTIFICATES TAG [STEP…]
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import netlib
from netlib import ConnectOptions, Limit, Retry, RetryOptions, Status, TlsContext, TlsOptions, Verdict

SERVER, CERTIFICATES, TAG = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
PORTS = dict(line.split("=", 1) for line in (SERVER / "ports").read_text().splitlines())

steps: dict[str, Callable[[], str]] = {}


def step(function: Callable[[], str]) -> Callable[[], str]:
    steps[function.__name__.replace("_", "-")] = function
    return function


def url_of(port: str, path: str, host: str = "localhost", tag: str = TAG) -> netlib.Url:
    scheme = "http" if port in ("http", "mute") else "https"
    return netlib.parse_url_strict(f"{scheme}://{host}:{PORTS[port]}{path}?{tag}")


def tls_options() -> TlsOptions:
    return TlsOptions().add_ca_file(SERVER / "ca.pem")


def exchange(
    request: netlib.Request,
    method: str,
    url: netlib.Url,
    context: TlsContext | None = None,
    options: ConnectOptions | None = None,
    limit: Limit | None = None,
    body: Iterable[bytes] = (),
) -> tuple[netlib.Response, str]:
    """Sends one request on a new connection, and returns the response with its body."""
    context = context or TlsContext(tls_options())
    with netlib.connect(url, context, options, limit) as stream:
        stream.sendall(request.to_wire())
        for piece in body:
            stream.sendall(piece)
        response = stream.response(method)
        return response, b"".join(stream.body(response)).decode().rstrip("\n")


def get(
    port: str,
    path: str = "/hello",
    context: TlsContext | None = None,
    options: ConnectOptions | None = None,
    limit: Limit | None = None,
    host: str = "localhost",
    tag: str = TAG,
) -> tuple[int, str]:
    url = url_of(port, path, host, tag)
    request = netlib.Request("GET", url, netlib.Headers({"connection": "close"}), netlib.RequestForm.ORIGIN)
    response, body = exchange(request, "GET", url, context, options, limit)
    return response.status(), body


class Download:
    """Repeats a request as the recommended Retry decides, without real waits."""

    def __init__(
        self, port: str, path: str, method: str = "GET", fields: dict[str, str] | None = None, body: bytes = b""
    ) -> None:
        self.waits: list[float] = []
        options = RetryOptions.new_recommended().sleep(self.waits.append).random(lambda: 0.5)
        headers = netlib.Headers({"connection": "close", **(fields or {})})
        source = netlib.Body.from_memory(body)
        start = netlib.set_file_position(source, netlib.POSITION_NONE)
        context = TlsContext(tls_options())
        self.number, status = 0, Status.SEND_AGAIN
        attempts = netlib.Attempts(Retry(options), method, url_of(port, path), headers, bool(body))
        while status == Status.SEND_AGAIN:
            self.number += 1
            self.url = attempts.url()
            try:
                netlib.rewind_body(source, start)
                request = attempts.request(netlib.RequestForm.ORIGIN)
                response, self.body = exchange(request, attempts.method(), self.url, context, body=pieces(source))
                status = attempts.next(response)
                self.status = response.status()
            except netlib.Error as error:
                status = attempts.next(error=error)

    def waited(self) -> str:
        return ",".join(f"{seconds:.3f}" for seconds in self.waits) or "-"

    def __str__(self) -> str:
        return f"{self.status} {self.number} {self.waited()} {self.body.splitlines()[0]}"


def pieces(body: netlib.Body) -> Iterable[bytes]:
    buffer = bytearray(4)
    while True:
        status, count = body.read(buffer)
        if status == Status.END_OF_STREAM:
            return
        yield bytes(buffer[:count])


def error_of(call: Callable[[], object]) -> netlib.Error:
    try:
        call()
    except netlib.Error as error:
        return error
    raise AssertionError("the call succeeded")


def name_of(error: netlib.Error) -> str:
    return f"NETLIB_{error.status.name}"


def truth(value: bool) -> str:
    return "true" if value else "false"


@step
def version() -> str:
    return ".".join(netlib.version().split(".")[:2])


@step
def version_refused() -> str:
    code = "import netlib._runtime as runtime; runtime.check_version('0.99.0')"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = ran.stderr.splitlines()[-1]
    return "refused" if last.startswith("ImportError") and "0.99.0" in last and netlib.version() in last else ran.stderr


@step
def url_parse() -> str:
    url = netlib.parse_url("HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f")
    parts = [url.scheme(), url.auth(), url.host(), url.port(), url.path(), url.query(), url.fragment(), url]
    return "|".join(map(str, parts))


@step
def url_resolve() -> str:
    base = netlib.parse_url("http://a/b/c/d;p?q")
    return " ".join(str(base.resolve(reference)) for reference in ("g", "../g", "//g", "?y"))


@step
def url_error() -> str:
    error = error_of(lambda: netlib.parse_url_strict("http://exa mple.com/"))
    return f"{name_of(error)} {error.offset} {error}"


@step
def url_nul() -> str:
    error = error_of(lambda: netlib.parse_url("http://a.example\0.b/"))
    return f"{name_of(error)} {error.offset} {error}"


@step
def host_nul() -> str:
    try:
        netlib.create_connection("127.0.0.1\0.b", int(PORTS["http"]))
    except netlib.Error as error:
        return name_of(error)
    except ValueError:
        return "refused"
    return "connected"


@step
def truth_values() -> str:
    url = netlib.parse_url("https://example.com:8443/")
    others = [netlib.parse_url(text) for text in ("https://example.com:8443/x", "https://example.com/")]
    retry = Retry(RetryOptions().raise_on_status(False).raise_on_redirect(True))
    values = [url.same_origin(other) for other in others] + [retry.raise_on_status(), retry.raise_on_redirect()]
    return " ".join(map(truth, values))


@step
def retry_reset() -> str:
    return str(Download("https", "/reset-after-head"))


@step
def retry_after() -> str:
    return str(Download("https", "/busy-once"))


@step
def retry_redirect() -> str:
    done = Download("https", "/redirect-other-origin", fields={"authorization": "Basic dTpw", "x-one": "1"})
    lines = [line.partition(":") for line in done.body.splitlines()]
    received = {name.lower(): value.strip() for name, colon, value in lines if colon}
    headers = " ".join(f"{name}={received.get(name, 'absent')}" for name in ("authorization", "x-one"))
    return f"{done.status} {done.number} {done.waited()} {done.url.path()} {headers}"


def failed_download(path: str) -> str:
    made: list[Download] = []

    class Recorded(Download):
        def __init__(self, port: str, path: str) -> None:
            made.append(self)
            super().__init__(port, path)

    error = error_of(lambda: Recorded("https", path))
    messages = "|".join(map(str, [error, *error.causes]))
    return f"{name_of(error)} {made[0].number} {made[0].waited()} {messages}"


@step
def retry_exhausted() -> str:
    return failed_download("/hang-up")


@step
def retry_stopped() -> str:
    return failed_download("/come-back-tomorrow")


@step
def body_again() -> str:
    done = Download("https", "/reset-after-request", "PUT", {"content-length": "10"}, b"0123456789")
    return f"{done.status} {done.number} {done.waited()} {done.body.splitlines()[-1]}"


@step
def tls_get() -> str:
    return str(Download("https", "/hello"))


def described(error: netlib.Error) -> str:
    advice = (error.advice or "-").split(":")[0]
    return f"{name_of(error)} {len(error.causes)} {error}|{advice}"


def handshake_error(port: str, options: TlsOptions) -> str:
    return described(error_of(lambda: netlib.connect(url_of(port, "/"), TlsContext(options))))


@step
def tls_wrong_name() -> str:
    return handshake_error("wronghost", tls_options())


@step
def tls_expired() -> str:
    return handshake_error("expired", tls_options().wall_clock(lambda: 2000000000.0))


@step
def tls_untrusted() -> str:
    return handshake_error("untrusted", tls_options())


@step
def tls_client() -> str:
    options = tls_options().identity_files(CERTIFICATES / "client.pem", CERTIFICATES / "client.key")
    status, body = get("clients", context=TlsContext(options))
    return f"{status} {body}"


@step
def tls_client_missing() -> str:
    return described(error_of(lambda: get("clients")))


@step
def tls_fingerprint() -> str:
    with netlib.connect(url_of("https", "/"), TlsContext(tls_options())) as stream:
        certificate = stream.peer_certificate(0)
    netlib.assert_fingerprint(certificate, (SERVER / "sha256").read_text().strip())
    return "true " + name_of(error_of(lambda: netlib.assert_fingerprint(certificate, "0" * 64)))


@step
def tls_pin() -> str:
    context = TlsContext(tls_options().add_pin("sha256//" + 43 * "A" + "="))
    return name_of(error_of(lambda: netlib.connect(url_of("https", "/"), context)))


@step
def fifty() -> str:
    with ThreadPoolExecutor(50) as pool:
        results = pool.map(lambda _: get("http", "/when-fifty-ask"), range(50))
        return str(sum(status == 200 for status, _ in results))


@step
def deadline() -> str:
    return name_of(error_of(lambda: get("mute", limit=Limit(0.05))))


@step
def cancel() -> str:
    limit = Limit(30)
    timer = threading.Timer(0.1, limit.cancel)
    timer.start()
    return name_of(error_of(lambda: get("mute", limit=limit)))


@step
def callback_clock() -> str:
    now = 100.0
    timeout = netlib.Timeout(10, None, None)
    timeout.set_clock(lambda: now)
    timeout.start_connect()
    now = 103.0
    return f"{timeout.read_timeout():.3f}"


@step
def callback_resolve() -> str:
    hosts = []

    def resolve(host: str, port: int, seconds_left: float, addresses: netlib.Addresses) -> None:
        hosts.append(host)
        addresses.add(struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port), socket.inet_aton("127.0.0.1")))

    status, body = get("http", options=ConnectOptions().resolve_callback(resolve), host="a.test")
    return f"{hosts[0]} {status} {body}"


@step
def callback_address() -> str:
    got = []

    def refuse(address: bytes, classes: netlib.AddressClass) -> Verdict:
        got.append(classes)
        return Verdict.REFUSE

    error = error_of(lambda: get("https", options=ConnectOptions().address_callback(refuse), host="127.0.0.1"))
    return f"{name_of(error)} {int(got[0])}"


@step
def callback_raises() -> str:
    raised = KeyError("not this address")

    def refuse(address: bytes, classes: netlib.AddressClass) -> Verdict:
        raise raised

    tag = f"{TAG}-refused"
    try:
        get("http", options=ConnectOptions().address_callback(refuse), tag=tag)
    except KeyError as error:
        same = "same" if error is raised else "another"
    with contextlib.suppress(FileNotFoundError):
        return f"{same} {sum(tag in line for line in (SERVER / 'requests').read_text().splitlines())}"
    return f"{same} 0"


@step
def callback_collected() -> str:
    slept: list[float] = []

    def make() -> Retry:
        return Retry(RetryOptions.new_recommended().sleep(lambda seconds: slept.append(seconds)))

    retry = make()
    gc.collect()
    response = netlib.Response("GET", 503, netlib.Headers({"retry-after": "1"}))
    retry.decide("GET", netlib.parse_url("http://localhost/"), response, None, None).sleep()
    return ",".join(f"{seconds:.3f}" for seconds in slept)


@step
def key_log() -> str:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "keys")
        get("https", context=TlsContext(tls_options().keylog_file(file)))
        return file.read_text().split()[0]


@step
def user_data() -> str:
    failure = RuntimeError("the application's own failure")
    error = netlib.make_error(Status.IO, "the exchange failed", user_data=failure)
    retry = Retry(RetryOptions().total(0))
    url = netlib.parse_url("http://localhost/")
    raised = error_of(lambda: retry.decide("GET", url, None, error, None))
    return "same" if raised.user_data is failure else f"{raised!r} {raised.user_data!r}"


@step
def collected() -> str:
    def memory() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    before = memory()
    for number in range(100_000):
        netlib.parse_url(f"http://localhost/{number}")
    grown = memory() - before
    return "bounded" if grown < 32 << 20 else f"{grown} bytes"


@step
def fork() -> str:
    stream = netlib.connect(url_of("http", "/hello"))
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            error = error_of(lambda: stream.recv(10))
            os.write(sender, f"{netlib.parse_url('http://hello/').host()} {name_of(error)}".encode())
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver) as reader:
        result = reader.read()
    os.waitpid(child, 0)
    return result


@step
def interrupt() -> str:
    code = "import os, signal, sys, time; time.sleep(0.1); os.kill(int(sys.argv[1]), signal.SIGINT)"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    subprocess.Popen([sys.executable, "-c", code, str(os.getpid())])
    try:
        get("mute", limit=Limit(30))
    except KeyboardInterrupt:
        seconds = time.monotonic() - start
        return "interrupted" if seconds < 1 else f"after {seconds} s"
    return "not interrupted"


def main() -> None:
    for name in sys.argv[4:] or steps:
        try:
            result = steps[name]()
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        print(name, result, sep="\t", flush=True)


if __name__ == "__main__":
    main()
