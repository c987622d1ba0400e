"""urllib3 and requests with the TLS of netlib.

    import netlib.urllib3

    netlib.urllib3.inject_into_urllib3()
    requests.get("https://example.com/")

`inject_into_urllib3` replaces the class from which urllib3 makes its TLS contexts. Contexts that the application makes
itself, such as those of `ssl.create_default_context`, still use the ssl module. `SSLContext`, `SSLSocket` and
`SSLObject` have those attributes of the ssl module's classes that clients use.

On request, `inject_into_urllib3` also replaces `parse_url`, `Retry` and `Timeout` of urllib3. `Retry` and `Timeout` of
this module can be used without the injection, too.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Any, NoReturn, Union

from urllib3 import util
from urllib3.exceptions import LocationParseError
from urllib3.util import retry as retry_
from urllib3.util import ssl_
from urllib3.util import timeout as timeout_
from urllib3.util import url as url_

from . import _api
from ._api import Certificate, CertificateNameKind, DistinguishedName, Limit, Status, TlsContext, TlsEngine, TlsOptions
from ._errors import ArgumentError, CertificateError, Error, IOFailure, OutOfMemoryError, TimeLimitError, UrlError
from ._runtime import Data, Path, WritableData
from ._urllib3_retry import Retry
from ._urllib3_timeout import Timeout

__all__ = [
    "Retry",
    "SSLContext",
    "SSLObject",
    "SSLSocket",
    "Timeout",
    "extract_from_urllib3",
    "inject_into_urllib3",
    "parse_url_with_netlib",
]

Password = Union[str, bytes, bytearray, Callable[[], Union[str, bytes, bytearray]], None]

_modules: tuple[Any, ...] = (util, ssl_)
_replaced: list[Any] = []
_parse_url, _retry, _timeout = url_.parse_url, retry_.Retry, timeout_.Timeout


def inject_into_urllib3(*, parse_url: bool = False, retry: bool = False, timeout: bool = False) -> None:
    """Makes urllib3 use netlib for the TLS of new connections, and on request also for parsing URLs, for the decisions
    of `Retry`, and for `Timeout`."""
    if not _replaced:
        _replaced.extend(module.SSLContext for module in _modules)
        for module in _modules:
            module.SSLContext = SSLContext
    if parse_url:
        _replace(_parse_url, parse_url_with_netlib)
    if retry:
        _replace(_retry, Retry)
    if timeout:
        _replace(_timeout, Timeout)


def extract_from_urllib3() -> None:
    """Reverts `inject_into_urllib3`. Existing connections keep the TLS of netlib, and existing objects their class."""
    for module, original in zip(_modules, _replaced):
        module.SSLContext = original
    _replaced.clear()
    for new, old in ((parse_url_with_netlib, _parse_url), (Retry, _retry), (Timeout, _timeout)):
        _replace(new, old)


def _replace(old: object, new: object) -> None:
    """Replaces a function or class in each module of urllib3 and requests that has imported it, under any name."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("urllib3", "requests"):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


def parse_url_with_netlib(url: str) -> Any:
    """Parses a URL with netlib, and returns a `urllib3.util.Url`."""
    if not url:
        return url_.Url()
    if not isinstance(url, str):
        raise TypeError(f"the URL must be str, not {type(url).__name__}")
    try:
        # Without "surrogatepass", a lone surrogate could stand for any byte. netlib refuses its encoding.
        parsed = _api.parse_url(url.encode("utf-8", "surrogatepass"))
    except (ArgumentError, UrlError) as error:
        raise LocationParseError(f"{url!r}, {error}") from error
    with parsed:
        port = parsed.port()
        return url_.Url(
            parsed.scheme(),
            parsed.auth(),
            parsed.host(),
            None if port < 0 else port,
            parsed.path(),
            parsed.query(),
            parsed.fragment(),
        )


# ---- Exceptions.

# The texts of OpenSSL, for which urllib3 and other programs search.
_REASONS = {
    Status.CERTIFICATE_VERIFY: "certificate verify failed",
    Status.FINGERPRINT_MISMATCH: "certificate verify failed",
    Status.HOSTNAME_MISMATCH: "certificate verify failed",
    Status.NO_TRUST_ANCHORS: "certificate verify failed",
    Status.NOT_TLS: "wrong version number",
    Status.TLS_HANDSHAKE_EOF: "unexpected eof while reading",
    Status.TLS_TRUNCATED: "unexpected eof while reading",
    Status.KEY_MISMATCH: "key values mismatch",
    Status.NO_CIPHER_SUITES: "no cipher match",
}


def _is_python_error(error: Error) -> bool:
    """Returns True if the ssl module raises an exception of the same class."""
    return isinstance(error, (IOFailure, OutOfMemoryError, TimeLimitError)) or error.status == Status.INVALID_ARGUMENT


def _python_error(error: Error, host: str | None) -> Exception:
    """The exception that the ssl module raises for a failure."""
    if error.status == Status.PROTOCOL or error.info.errno():
        return OSError(error.info.errno() or errno.ECONNRESET, str(error))
    reason = _REASONS.get(error.status)
    message = f"[SSL: {reason.upper().replace(' ', '_')}] {reason}: " if reason else ""
    if error.status == Status.HOSTNAME_MISMATCH:
        kind = "IP address" if host and ssl_.is_ipaddress(host) else "Hostname"
        message += f"{kind} mismatch, certificate is not valid for '{host}': "
    message += str(error)
    if isinstance(error, CertificateError) or error.status == Status.NO_TRUST_ANCHORS:
        refused = ssl.SSLCertVerificationError(ssl.SSL_ERROR_SSL, message)
        refused.verify_code, refused.verify_message = int(error.info.certificate_problem()), str(error)
        return refused
    if error.status in (Status.TLS_HANDSHAKE_EOF, Status.TLS_TRUNCATED):
        return ssl.SSLEOFError(ssl.SSL_ERROR_EOF, message)
    return ssl.SSLError(ssl.SSL_ERROR_SSL, message)


@contextmanager
def _python_errors(host: str | None = None) -> Iterator[None]:
    try:
        yield
    except Error as error:
        if _is_python_error(error):
            raise
        # A variable for the exception would make a reference cycle with its traceback.
        raise _python_error(error, host) from error


def _progress(status: Status) -> None:
    """Raises the exception of the ssl module for a call that must be repeated."""
    if status == Status.WANT_READ:
        raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "the operation needs data from the peer")
    if status == Status.WANT_WRITE:
        raise ssl.SSLWantWriteError(ssl.SSL_ERROR_WANT_WRITE, "the operation must send data first")


# ---- Contexts.

FileVersion = tuple[object, ...]


def _file_version(path: str) -> FileVersion:
    """A value that changes with the contents of a file, or of the files in a directory."""
    with suppress(OSError):
        found = os.stat(path)
        version = (found.st_ino, found.st_size, found.st_mtime_ns)
        if os.path.isdir(path):
            return (version, *sorted((entry.name, _file_version(entry.path)) for entry in os.scandir(path)))
        return version
    return ()


@lru_cache(maxsize=16)
def _cached_file(path: str, _version: FileVersion) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _read_file(path: Path) -> bytes:
    name = os.fsdecode(path)
    return _cached_file(name, _file_version(name))


Settings = tuple[tuple[str, tuple[Any, ...]], ...]
"""The setters of TlsOptions to call, with their arguments."""


class _SharedContexts:
    """urllib3 makes a context for each connection. Connections with equal settings share one TlsContext, which reads
    the trusted certificates once, and resumes sessions."""

    SIZE = 32

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._contexts: dict[object, tuple[TlsContext, dict[str, FileVersion]]] = {}

    def get(self, settings: Settings) -> TlsContext:
        key = (settings, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        with self._lock:
            found = self._contexts.pop(key, None)
            if found is not None and all(_file_version(path) == version for path, version in found[1].items()):
                self._contexts[key] = found
                return found[0]
        context = _new_context(settings)
        names = [context.trust_source_name(at) for at in range(context.trust_source_count())]
        with self._lock:
            self._contexts[key] = context, {name: _file_version(name) for name in names if name}
            while len(self._contexts) > self.SIZE:
                del self._contexts[next(iter(self._contexts))]
        return context


def _new_context(settings: Settings) -> TlsContext:
    options = TlsOptions()
    for name, arguments in settings:
        getattr(options, name)(*arguments)
    return TlsContext(options)


_shared_contexts = _SharedContexts()

# OP_ALL of the ssl module has bits that netlib refuses.
_DEFAULT_OPTIONS = (
    ssl.OP_NO_SSLv3 | ssl.OP_NO_COMPRESSION | ssl.OP_CIPHER_SERVER_PREFERENCE | getattr(ssl, "OP_NO_RENEGOTIATION", 0)
)
_ONE_VERSION = {
    3: ssl.TLSVersion.TLSv1,  # PROTOCOL_TLSv1
    4: ssl.TLSVersion.TLSv1_1,  # PROTOCOL_TLSv1_1
    5: ssl.TLSVersion.TLSv1_2,  # PROTOCOL_TLSv1_2
}


class SSLContext:
    """The settings of TLS connections, as ssl.SSLContext for clients."""

    def __init__(self, protocol: int = ssl.PROTOCOL_TLS) -> None:
        if protocol not in (ssl.PROTOCOL_TLS, ssl.PROTOCOL_TLS_CLIENT, *_ONE_VERSION):
            raise ValueError(f"netlib.urllib3 has no contexts for the protocol {protocol!r}")
        self.protocol = protocol
        self._set: dict[str, tuple[Any, ...]] = {}
        self._trust: list[tuple[str, tuple[Any, ...]]] = []
        self._default_trust = False
        self._alpn: tuple[str, ...] = ()
        self._context: TlsContext | None = None
        one = _ONE_VERSION.get(protocol)
        self.minimum_version = one or ssl.TLSVersion.MINIMUM_SUPPORTED
        self.maximum_version = one or ssl.TLSVersion.MAXIMUM_SUPPORTED
        self._verify_mode, self._check_hostname = ssl.CERT_NONE, False
        if protocol == ssl.PROTOCOL_TLS_CLIENT:
            self.check_hostname = True
        self.options = _DEFAULT_OPTIONS
        self.verify_flags = ssl.VERIFY_X509_TRUSTED_FIRST
        self.keylog_filename = None

    def _change(self, setter: str, *arguments: Any) -> None:
        with _python_errors():
            getattr(TlsOptions(), setter)(*arguments)
        self._set[setter], self._context = arguments, None

    # ---- Certificates.

    @property
    def verify_mode(self) -> ssl.VerifyMode:
        return self._verify_mode

    @verify_mode.setter
    def verify_mode(self, mode: int) -> None:
        if mode == ssl.CERT_NONE and self._check_hostname:
            raise ValueError("set check_hostname to False before verify_mode to CERT_NONE")
        self._verify_mode, self._context = ssl.VerifyMode(mode), None

    @property
    def check_hostname(self) -> bool:
        return self._check_hostname

    @check_hostname.setter
    def check_hostname(self, on: bool) -> None:
        self._check_hostname, self._context = bool(on), None
        if on and self._verify_mode == ssl.CERT_NONE:
            self._verify_mode = ssl.CERT_REQUIRED

    @property
    def hostname_checks_common_name(self) -> bool:
        return False

    @hostname_checks_common_name.setter
    def hostname_checks_common_name(self, on: bool) -> None:
        if on:
            raise AttributeError("netlib never compares the common name of a certificate with a host name")

    @property
    def verify_flags(self) -> ssl.VerifyFlags:
        return ssl.VerifyFlags(self._set["verify_flags"][0])

    @verify_flags.setter
    def verify_flags(self, flags: int) -> None:
        self._change("verify_flags", int(flags))

    def load_default_certs(self, _purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH) -> None:
        """Trusts the system's authorities."""
        self._default_trust, self._context = True, None

    set_default_verify_paths = load_default_certs

    def load_verify_locations(
        self, cafile: Path | None = None, capath: Path | None = None, cadata: str | Data | None = None
    ) -> None:
        """Trusts the certificates in a file, in the files of a directory, and in PEM or DER."""
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata are all None")
        added: list[tuple[str, tuple[Any, ...]]] = []
        if cafile is not None:
            added.append(("add_ca_data", (_read_file(cafile),)))
        if capath is not None:
            os.listdir(capath)  # raises OSError, as the ssl module does
            added.append(("add_ca_dir", (os.fsdecode(capath),)))
        if cadata is not None:
            added.append(("add_ca_data", (cadata.encode("ascii") if isinstance(cadata, str) else bytes(cadata),)))
        with _python_errors():
            _shared_contexts.get((("system_trust", (False,)), *added))
        self._trust.extend(item for item in added if item not in self._trust)
        self._context = None

    def load_cert_chain(self, certfile: Path, keyfile: Path | None = None, password: Password = None) -> None:
        """Sets the certificate that the client sends to a server that requests one, and its private key."""
        secret = password() if callable(password) else password
        if isinstance(secret, str):
            secret = secret.encode()
        with open(certfile, "rb") as file:
            chain = file.read()
        key = None
        if keyfile is not None:
            with open(keyfile, "rb") as file:
                key = file.read()
        identity = {"identity": (chain, key), "key_password": (secret,)}
        with _python_errors():
            _new_context((("system_trust", (False,)), ("verify_mode", (_api.VerifyMode.NONE,)), *identity.items()))
        self._set.update(identity)
        self._context = None

    def cert_store_stats(self) -> dict[str, int]:
        """Returns the number of trusted certificates."""
        count = self._tls_context().trust_anchor_count() if self._trust or self._default_trust else 0
        return {"x509": count, "crl": 0, "x509_ca": count}

    # ---- The protocol.

    @property
    def minimum_version(self) -> ssl.TLSVersion:
        return self._minimum_version

    @minimum_version.setter
    def minimum_version(self, version: int) -> None:
        self._minimum_version = ssl.TLSVersion(version)
        self._change("minimum_version", self._minimum_version)

    @property
    def maximum_version(self) -> ssl.TLSVersion:
        return self._maximum_version

    @maximum_version.setter
    def maximum_version(self, version: int) -> None:
        self._maximum_version = ssl.TLSVersion(version)
        self._change("maximum_version", self._maximum_version)

    @property
    def options(self) -> ssl.Options:
        return ssl.Options(self._set["option_bits"][0])

    @options.setter
    def options(self, bits: int) -> None:
        self._change("option_bits", int(bits))

    @property
    def keylog_filename(self) -> str | None:
        name: str | None = self._set["keylog_file"][0]
        return name

    @keylog_filename.setter
    def keylog_filename(self, path: Path | None) -> None:
        if path is not None:
            # Only the owner may read the secrets.
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)
            with open(descriptor, "ab") as file:
                if not os.fstat(descriptor).st_size:
                    file.write(b"# TLS secrets log file, generated by netlib\n")
        self._change("keylog_file", path if path is None else os.fsdecode(path))

    @property
    def post_handshake_auth(self) -> None:
        """None, because netlib does not support client certificates after the handshake."""

    def set_ciphers(self, ciphers: str) -> None:
        """Sets the cipher suites with a cipher string of OpenSSL."""
        self._change("ciphers", ciphers)

    def get_ciphers(self) -> list[dict[str, object]]:
        context = self._tls_context()
        return [{"name": context.cipher_suite_openssl_name(at)} for at in range(context.cipher_suite_count())]

    def set_alpn_protocols(self, protocols: Iterable[str]) -> None:
        """Sets the application protocols to offer."""
        names, check = tuple(protocols), TlsOptions()
        for name in names:
            check.add_alpn_protocol(name)
        self._alpn, self._context = names, None

    # ---- Connections.

    def _tls_context(self) -> TlsContext:
        if self._context is None:
            settings = (
                ("system_trust", (self._default_trust and self._verify_mode != ssl.CERT_NONE,)),
                ("verify_mode", (_api.VerifyMode(self._verify_mode),)),
                ("check_hostname", (self._check_hostname,)),
                *self._set.items(),
                *self._trust,
                *(("add_alpn_protocol", (name,)) for name in self._alpn),
            )
            # A shared context lives longer than its users, but a private key must not.
            self._context = _new_context(settings) if "identity" in self._set else _shared_contexts.get(settings)
        return self._context

    def wrap_socket(
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: None = None,
    ) -> SSLSocket:
        """Wraps a connected socket in a TLS connection, which takes over the descriptor."""
        if isinstance(sock, SSLSocket):
            raise ValueError("netlib.urllib3 makes TLS in TLS only with wrap_bio")
        _client_without_session(server_side, session)
        return SSLSocket(sock, self, _host(server_hostname), do_handshake_on_connect, suppress_ragged_eofs)

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: None = None,
    ) -> SSLObject:
        """Makes a TLS session that reads from and writes to memory."""
        _client_without_session(server_side, session)
        return SSLObject(self, incoming, outgoing, _host(server_hostname))


def _client_without_session(server_side: bool, session: None) -> None:
    if server_side:
        raise ValueError("netlib.urllib3 has no connections of servers")
    if session is not None:
        raise ValueError("netlib.urllib3 resumes sessions itself")


def _host(name: str | bytes | None) -> str | None:
    return name.decode("ascii") if isinstance(name, bytes) else name or None


# ---- Connections.

_ATTRIBUTES = {
    "CN": "commonName",
    "SN": "surname",
    "C": "countryName",
    "L": "localityName",
    "ST": "stateOrProvinceName",
    "street": "streetAddress",
    "O": "organizationName",
    "OU": "organizationalUnitName",
    "GN": "givenName",
    "DC": "domainComponent",
    "UID": "userId",
}
_NAME_KINDS = {
    CertificateNameKind.DNS: "DNS",
    CertificateNameKind.IP: "IP Address",
    CertificateNameKind.EMAIL: "email",
    CertificateNameKind.URI: "URI",
}


def _names(certificate: Certificate, name: DistinguishedName) -> tuple[tuple[tuple[str, str], ...], ...]:
    found: dict[int, list[tuple[str, str]]] = {}
    for at in range(certificate.attribute_count(name)):
        kind = certificate.attribute_short_name(name, at) or certificate.attribute_oid(name, at) or ""
        pair = _ATTRIBUTES.get(kind, kind), certificate.attribute_value(name, at) or ""
        found.setdefault(certificate.attribute_rdn(name, at), []).append(pair)
    return tuple(tuple(pairs) for _, pairs in sorted(found.items()))


# Independent of the locale.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _time(seconds: float) -> str:
    parts = time.gmtime(seconds)
    return f"{_MONTHS[parts.tm_mon - 1]} {parts.tm_mday:2} {time.strftime('%H:%M:%S %Y GMT', parts)}"


def _name(kind: str, name: str) -> tuple[str, str]:
    if kind == "IP Address" and ":" in name:
        # OpenSSL writes IPv6 addresses without "::".
        name = ":".join(f"{int(group, 16):X}" for group in IPv6Address(name).exploded.split(":"))
    return kind, name


def _certificate_facts(data: bytes) -> dict[str, Any]:
    """Returns a certificate as a dict, in the format of the ssl module."""
    with Certificate.parse(data) as certificate:
        facts: dict[str, Any] = {
            "subject": _names(certificate, DistinguishedName.SUBJECT),
            "issuer": _names(certificate, DistinguishedName.ISSUER),
            "version": certificate.version(),
            "serialNumber": certificate.serial(),
            "notBefore": _time(certificate.not_before()),
            "notAfter": _time(certificate.not_after()),
        }
        names = [
            _name(_NAME_KINDS[certificate.name_kind(at)], certificate.name(at) or "")
            for at in range(certificate.name_count())
        ]
        if names:
            facts["subjectAltName"] = tuple(names)
        return facts


class _Session:
    """The facts about a TLS session."""

    context: SSLContext
    server_hostname: str | None
    server_side = False
    _tls: _api.Stream | TlsEngine

    def _tls_version(self) -> _api.TlsVersion:
        return self._tls.version() if isinstance(self._tls, TlsEngine) else self._tls.tls_version()

    def getpeercert(self, binary_form: bool = False) -> dict[str, Any] | bytes | None:
        """Returns the peer's certificate in DER or as a dict, which is empty if the certificate was not verified."""
        data = self._tls.peer_certificate(0)
        if data is None or binary_form:
            return data
        return {} if self.context.verify_mode == ssl.CERT_NONE else _certificate_facts(data)

    def version(self) -> str | None:
        return {_api.TlsVersion.V1_2: "TLSv1.2", _api.TlsVersion.V1_3: "TLSv1.3"}.get(self._tls_version())

    def cipher(self) -> tuple[str, str, int] | None:
        name = self._tls.cipher_suite_openssl_name()
        return None if name is None else (name, self.version() or "", self._tls.cipher_suite_bits())

    def selected_alpn_protocol(self) -> str | None:
        return self._tls.alpn_protocol()

    def selected_npn_protocol(self) -> None:
        """None, because netlib does not support NPN."""

    def compression(self) -> None:
        """None, because netlib does not support compression."""

    def get_channel_binding(self, cb_type: str = "tls-unique") -> None:
        """None, because netlib does not support channel binding."""
        if cb_type != "tls-unique":
            raise ValueError(f"{cb_type} is not a known type of channel binding")

    def shared_ciphers(self) -> None:
        """None, as for every client."""

    @property
    def session_reused(self) -> bool:
        return self._tls.is_resumed()

    def pending(self) -> int:
        """Returns the number of bytes that can be read without more input."""
        return self._tls.pending()


class SSLSocket(_Session, socket.socket):
    """A TLS connection, as ssl.SSLSocket."""

    _tls: _api.Stream

    def __init__(
        self,
        sock: socket.socket,
        context: SSLContext,
        server_hostname: str | None,
        do_handshake_on_connect: bool,
        suppress_ragged_eofs: bool,
    ) -> None:
        self.context, self.server_hostname, self.suppress_ragged_eofs = context, server_hostname, suppress_ragged_eofs
        timeout = sock.gettimeout()
        with _python_errors(server_hostname):
            # The number instead of the object: an object would keep itself alive.
            self._tls = _api.tls_wrap_fd(context._tls_context(), sock.fileno(), server_hostname)
        super().__init__(sock.family, sock.type, sock.proto, sock.detach())
        self.settimeout(timeout)
        if do_handshake_on_connect:
            try:
                self.do_handshake()
            except BaseException:
                self.close()
                raise

    def _open(self) -> _api.Stream:
        if not self._tls._ptr:
            raise OSError(errno.EBADF, "the connection is closed")
        return self._tls

    def do_handshake(self) -> None:
        """Makes the handshake. The timeout bounds the whole handshake."""
        timeout, stream = self.gettimeout(), self._open()
        stream.set_limit(Limit(timeout) if timeout else None)
        try:
            with _python_errors(self.server_hostname):
                _progress(stream.handshake())
        finally:
            stream.set_limit(None)

    def settimeout(self, value: float | None) -> None:
        super().settimeout(value)
        if not self._tls._ptr:
            return
        self._tls.set_blocking(value != 0)
        self._tls.set_read_timeout(value)
        self._tls.set_write_timeout(value)

    def setblocking(self, flag: bool) -> None:
        self.settimeout(None if flag else 0.0)

    def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
        _no_flags(flags)
        space = memoryview(buffer).cast("B")
        return self._read(space[:nbytes] if nbytes else space)

    def recv(self, size: int = 1024, flags: int = 0) -> bytes:
        _no_flags(flags)
        buffer = bytearray(size)
        return bytes(memoryview(buffer)[: self._read(buffer)])

    def _read(self, buffer: WritableData) -> int:
        if not len(buffer):
            return 0
        try:
            with _python_errors(self.server_hostname):
                status, count = self._open().read(buffer)
        except ssl.SSLEOFError:
            if self.suppress_ragged_eofs:
                return 0
            raise
        _progress(status)
        return count

    def send(self, data: Any, flags: int = 0) -> int:
        _no_flags(flags)
        with _python_errors(self.server_hostname):
            status, count = self._open().write(memoryview(data).cast("B"))
        _progress(status)
        return count

    def sendall(self, data: Any, flags: int = 0) -> None:
        rest = memoryview(data).cast("B")
        while rest:
            rest = rest[self.send(rest, flags) :]

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:
        return self._sendfile_use_send(file, offset, count)  # type: ignore[attr-defined, no-any-return]

    def read(self, size: int = 1024, buffer: Any = None) -> Any:
        return self.recv(size) if buffer is None else self.recv_into(buffer, size)

    def write(self, data: Any) -> int:
        return self.send(data)

    def unwrap(self) -> socket.socket:
        """Ends TLS, and returns a socket that continues without TLS."""
        with _python_errors():
            _progress(self._open().shutdown_both())
        self._tls.close()
        return socket.socket(self.family, self.type, self.proto, super().detach())

    def _real_close(self) -> None:
        # The stream must not use the descriptor after its end.
        if self._tls._ptr:
            with suppress(Exception):
                self._tls.set_blocking(False)
                self._tls.shutdown()
            self._tls.close()
        super()._real_close()  # type: ignore[misc]

    def _refuse(self, *_arguments: object, **_named: object) -> NoReturn:
        raise NotImplementedError("a TLS connection does not support this method")

    detach = dup = recvfrom = recvfrom_into = recvmsg = recvmsg_into = sendmsg = sendto = _refuse


def _no_flags(flags: int) -> None:
    if flags:
        raise ValueError("a TLS connection supports no flags")


class SSLObject(_Session):
    """A TLS session that reads from and writes to memory, as ssl.SSLObject. urllib3 uses it for TLS in TLS."""

    _tls: TlsEngine

    def __init__(
        self, context: SSLContext, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_hostname: str | None
    ) -> None:
        self.context, self.server_hostname = context, server_hostname
        self._incoming, self._outgoing = incoming, outgoing
        self._rest = b""
        self._ended = False
        self._buffer = bytearray(32768)
        with _python_errors(server_hostname):
            self._tls = TlsEngine.new_client(context._tls_context(), server_hostname)

    def _feed(self) -> bool:
        """Moves input to the engine. Returns False if there is none, or if the engine has no room."""
        data = self._rest or self._incoming.read()
        if data:
            count = self._tls.feed(data)
            self._rest = data[count:]
            return count > 0
        if self._incoming.eof and not self._ended:
            self._ended = True
            self._tls.feed_eof()
            return True
        return False

    def _drain(self) -> bool:
        """Moves output from the engine. Returns False if there is none."""
        count = 0
        while drained := self._tls.drain(self._buffer):
            self._outgoing.write(bytes(memoryview(self._buffer)[:drained]))
            count += drained
        return count > 0

    def _run(self, call: Callable[[], tuple[Status, int]]) -> tuple[Status, int]:
        """Repeats a call while the engine wants input that is available, or has output to write."""
        with _python_errors(self.server_hostname):
            try:
                while True:
                    status, count = call()
                    if status == Status.WANT_READ and self._feed():
                        continue
                    if status == Status.WANT_WRITE and self._drain():
                        continue
                    _progress(status)
                    return status, count
            finally:
                self._drain()

    def do_handshake(self) -> None:
        """Makes the handshake."""
        self._run(lambda: (self._tls.handshake(), 0))

    def read(self, size: int = 1024, buffer: Any = None) -> Any:
        """Reads into a buffer and returns the number of bytes, or returns bytes."""
        space = memoryview(bytearray(size)) if buffer is None else memoryview(buffer).cast("B")[:size]
        _, count = self._run(lambda: self._tls.read(space))
        return bytes(space[:count]) if buffer is None else count

    def write(self, data: Data) -> int:
        """Encrypts data, and returns the number of bytes that were taken."""
        octets = memoryview(data).cast("B")
        return self._run(lambda: self._tls.write(octets))[1]

    def unwrap(self) -> None:
        """Sends close_notify, and reads until the close_notify of the peer."""
        self._tls.shutdown()
        while self._run(lambda: self._tls.read(self._buffer))[0] != Status.END_OF_STREAM:
            pass
