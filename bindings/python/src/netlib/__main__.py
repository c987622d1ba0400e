"""Downloads a URL with the recommended settings, and explains each attempt.

usage: python -m netlib [--cacert FILE] [--max-time SECONDS] [-o FILE] URL
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import netlib
from netlib import (
    Action,
    Attempts,
    Connect,
    Counter,
    Decision,
    DelayReason,
    Response,
    Status,
    Stream,
    TlsVersion,
)


class Progress:
    """A progress bar on a terminal, if the body is not written to a terminal too."""

    def __init__(self, output: BinaryIO) -> None:
        self._on = sys.stderr.isatty() and not output.isatty()
        self._next = 0.0

    def draw(self, done: int, total: int) -> None:
        if not self._on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 0.1
        text = f"{done / 2**20:8.1f} MiB"
        if total > 0:
            filled = 40 * done // total
            text = f"[{'#' * filled}{' ' * (40 - filled)}] {100 * done // total:3} % {text}"
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)

    def erase(self) -> None:
        if self._on:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def trace(text: str) -> None:
    print(f"* {text}", file=sys.stderr)


def trace_race(race: Connect) -> None:
    for at in range(race.attempt_count()):
        status = race.attempt_status(at)
        outcome = {Status.OK: "connected", Status.CLOSED: "closed, another attempt was faster"}.get(status)
        errno = race.attempt_errno(at)
        outcome = outcome or (os.strerror(errno) if errno else netlib.status_text(status))
        times = f"{race.attempt_start(at):.3f} to {race.attempt_end(at):.3f} s"
        trace(f"  {race.attempt_address(at)} port {race.attempt_port(at)}, {times}: {outcome}")


def trace_error(error: netlib.Error, depth: int = 1) -> None:
    trace(f"{'  ' * depth}{error} (NETLIB_{error.status.name})")
    for cause in error.causes:
        trace_error(cause, depth + 1)


def trace_decision(decision: Decision) -> None:
    retry = decision.retry()
    assert retry is not None
    asked = decision.delay_reason() == DelayReason.RETRY_AFTER
    if decision.action() == Action.RETURN_RESPONSE:
        if asked:
            longest = retry.retry_after_max()
            trace(f"  -> no retry: the server asked for {decision.delay_uncapped():g} s, more than {longest:g} s")
        return
    is_redirect = decision.counter() == Counter.REDIRECT
    left = retry.redirect_left() if is_redirect else retry.total_left()
    name = decision.counter().name.lower() if decision.counter() != Counter.NONE else "total"
    kind = "redirect" if decision.action() == Action.REDIRECT else "retry"
    trace(f'  -> {kind}: takes 1 from the counter "{name}", {left} left')
    reason = "the server asked for it with Retry-After" if asked else "exponential backoff"
    trace(f"     waits {decision.delay():g} s: {reason}" if decision.delay() > 0 else "     at once")


@contextmanager
def connected(url: netlib.Url, tls: netlib.TlsContext, limit: netlib.Limit) -> Iterator[Stream]:
    """Connects in steps, so that the trace shows each address."""
    host, is_tls = url.host() or "", url.scheme() == "https"
    with Connect(host, url.port_or_default(), netlib.ConnectOptions().timeout(20)) as race:
        try:
            connection = race.run(limit)
        finally:
            trace_race(race)
    with connection, netlib.tls_wrap_fd(tls, connection, host) if is_tls else Stream.new_fd(connection) as stream:
        stream.set_limit(limit)
        stream.set_read_timeout(20)
        if is_tls:
            stream.do_handshake()
            version = "1.3" if stream.tls_version() == TlsVersion.V1_3 else "1.2"
            trace(f"  connected to {url.netloc()} with TLS {version}, {stream.cipher_suite()}")
        else:
            trace(f"  connected to {url.netloc()}")
        yield stream


def take(attempts: Attempts, response: Response | None = None, error: netlib.Error | None = None) -> Status:
    """Takes the outcome of an attempt, as `Attempts.next`, and explains the decision before the wait."""
    status = attempts.decide(response, error)
    decision = attempts.decision()
    assert decision is not None
    trace_decision(decision)
    if status == Status.SEND_AGAIN:
        decision.sleep(attempts.limit())
    return status


def exchange(attempts: Attempts, tls: netlib.TlsContext, limit: netlib.Limit, output: BinaryIO) -> int | None:
    """Makes one attempt. Returns the status of the response if it is the final one."""
    with connected(attempts.url(), tls, limit) as stream:
        stream.sendall(attempts.request(netlib.RequestForm.ORIGIN).to_wire())
        response = stream.response(attempts.method())
        trace(f"  the server answered {response.status()} {response.reason() or ''}")
        headers = response.headers()
        for name, value in headers or ():
            trace(f"    {name}: {value}")
        if take(attempts, response) == Status.SEND_AGAIN:
            return None
        _, total = response.framing()
        done, progress = 0, Progress(output)
        try:
            for piece in stream.body(response):
                output.write(piece)
                done += len(piece)
                progress.draw(done, total)
        finally:
            progress.erase()
        trace(f"  the body is complete: {done} bytes")
        return response.status()


def download(url: str, tls: netlib.TlsContext, limit: netlib.Limit, output: BinaryIO) -> int:
    headers = netlib.Headers({"connection": "close"})
    attempts = Attempts(netlib.Retry.recommended(), "GET", netlib.parse_url_strict(url), headers, False, limit)
    status, number = None, 0
    while status is None:
        number += 1
        trace(f"attempt {number}: {attempts.method()} {attempts.url().redacted()}")
        try:
            status = exchange(attempts, tls, limit, output)
        except netlib.Error as error:
            trace_error(error)
            take(attempts, error=error)
    return status


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m netlib", description="Downloads a URL and explains each attempt.")
    parser.add_argument("--cacert", metavar="FILE", help="trust the certificates in this file, and no others")
    parser.add_argument("--max-time", metavar="SECONDS", type=float, help="the time for all attempts")
    parser.add_argument("-o", metavar="FILE", dest="output", help="write the body to this file")
    parser.add_argument("url", metavar="URL")
    arguments = parser.parse_args()
    options = netlib.TlsOptions()
    try:
        if arguments.cacert:
            options.add_ca_file(arguments.cacert)
        tls, limit = netlib.TlsContext(options), netlib.Limit(arguments.max_time)
        if arguments.output:
            with open(arguments.output, "wb") as file:
                status = download(arguments.url, tls, limit, file)
        else:
            status = download(arguments.url, tls, limit, sys.stdout.buffer)
    except netlib.Error as error:
        print(error.report(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0 if status < 400 else 1


if __name__ == "__main__":
    sys.exit(main())
