"""TLS contexts that every package with an argument for an `ssl.SSLContext` accepts: urllib3, requests, httpx, aiohttp,
and asyncio itself.

    context = netlib.ssl.create_default_context()
    httpx.AsyncClient(verify=context, http2=True)
    aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))

`SSLContext` is a subclass of `ssl.SSLContext` for clients, whose connections use the TLS of netlib. Each setting of
`ssl.SSLContext` applies to netlib, or raises an exception.
"""

# pyright: reportIncompatibleVariableOverride=false
# The base class is written in C, and has properties that typeshed declares as variables.
from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any, NoReturn, Union

from . import _api
from ._api import TlsContext, TlsOptions
from ._runtime import Data, Path, Self
from ._ssl_certificates import certificate_facts
from ._ssl_connections import SSLObject, SSLSocket, refuse_inherited
from ._ssl_errors import python_errors

__all__ = ["SSLContext", "SSLObject", "SSLSocket", "create_default_context"]

Password = Union[str, bytes, bytearray, Callable[[], Union[str, bytes, bytearray]], None]

FileVersion = tuple[object, ...]


def _file_version(path: str) -> FileVersion:
    """A value that changes with the contents of a file, or of the files in a directory."""
    with suppress(OSError):
        found = os.stat(path)
        version = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
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


Setting = tuple[str, tuple[Any, ...]]
"""The name of a setter of TlsOptions, and its arguments."""
Settings = tuple[Setting, ...]


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
        # A context tells only afterwards which files it has read. If it has read any, a second context is read between
        # two equal versions, unless a file changes meanwhile.
        context = _new_context(settings)
        versions = _versions_of_files(context)
        if versions:
            before, context = versions, _new_context(settings)
            versions = _versions_of_files(context)
            if versions != before:
                return context
        with self._lock:
            self._contexts[key] = context, versions
            while len(self._contexts) > self.SIZE:
                del self._contexts[next(iter(self._contexts))]
        return context


def _versions_of_files(context: TlsContext) -> dict[str, FileVersion]:
    """The versions of the files and directories from which a context has read its trusted certificates."""
    names = [context.trust_source_name(at) for at in range(context.trust_source_count())]
    return {name: _file_version(name) for name in names if name and name not in ("CA data", "system", "embedded")}


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
# Python 3.9 has no name for a partial chain.
_ALWAYS_VERIFY_FLAGS = ssl.VERIFY_X509_TRUSTED_FIRST | getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0)
_ONE_VERSION = {
    3: ssl.TLSVersion.TLSv1,  # PROTOCOL_TLSv1
    4: ssl.TLSVersion.TLSv1_1,  # PROTOCOL_TLSv1_1
    5: ssl.TLSVersion.TLSv1_2,  # PROTOCOL_TLSv1_2
}


class SSLContext(ssl.SSLContext):
    """The settings of the TLS connections of clients. Sockets and memory BIOs that it wraps use the TLS of netlib.

    The settings have the names and the meaning of `ssl.SSLContext`. A setting that netlib does not have raises
    AttributeError, so that no setting is without effect. Contexts with equal settings share their trusted certificates
    and the sessions that they resume, unless they have a private key."""

    sslsocket_class: type[ssl.SSLSocket] = SSLSocket
    sslobject_class: type[ssl.SSLObject] = SSLObject

    def __new__(cls, protocol: int = ssl.PROTOCOL_TLS, *_arguments: object, **_named: object) -> Self:
        # The context of OpenSSL is never used. Without trusted certificates, it would refuse every peer.
        return super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)

    def __init__(self, protocol: int = ssl.PROTOCOL_TLS) -> None:
        if protocol not in (ssl.PROTOCOL_TLS, ssl.PROTOCOL_TLS_CLIENT, *_ONE_VERSION):
            raise ValueError(f"netlib.ssl has no contexts for the protocol {protocol!r}")
        self._protocol = protocol
        self._set: dict[str, tuple[Any, ...]] = {}
        self._trust: tuple[Setting, ...] = ()
        self._default_trust = False
        self._alpn: tuple[str, ...] = ()
        self._made: tuple[Settings, TlsContext] | None = None
        one = _ONE_VERSION.get(protocol)
        self.minimum_version = one or ssl.TLSVersion.MINIMUM_SUPPORTED
        self.maximum_version = one or ssl.TLSVersion.MAXIMUM_SUPPORTED
        self._verify_mode, self._check_hostname = ssl.CERT_NONE, False
        if protocol == ssl.PROTOCOL_TLS_CLIENT:
            self.check_hostname = True
        self.options = _DEFAULT_OPTIONS
        self.verify_flags = _ALWAYS_VERIFY_FLAGS
        self.keylog_filename = None

    def _change(self, setter: str, *arguments: Any) -> None:
        with python_errors():
            getattr(TlsOptions(), setter)(*arguments)
        self._set[setter] = arguments

    @property
    def protocol(self) -> Any:  # type: ignore[override]
        """The protocol that was passed to the constructor."""
        return self._protocol

    # ---- Certificates.

    @property
    def verify_mode(self) -> ssl.VerifyMode:
        """Whether the certificate of the server must be valid."""
        return self._verify_mode

    @verify_mode.setter
    def verify_mode(self, mode: int) -> None:
        if mode == ssl.CERT_NONE and self._check_hostname:
            raise ValueError("set check_hostname to False before verify_mode to CERT_NONE")
        self._verify_mode = ssl.VerifyMode(mode)

    @property
    def check_hostname(self) -> bool:
        """Whether the certificate of the server must be valid for its host name."""
        return self._check_hostname

    @check_hostname.setter
    def check_hostname(self, on: bool) -> None:
        self._check_hostname = bool(on)
        if on and self._verify_mode == ssl.CERT_NONE:
            self._verify_mode = ssl.CERT_REQUIRED

    @property
    def hostname_checks_common_name(self) -> bool:
        """False, because netlib never compares the common name with a host name."""
        return False

    @hostname_checks_common_name.setter
    def hostname_checks_common_name(self, on: bool) -> None:
        if on:
            raise AttributeError("netlib never compares the common name of a certificate with a host name")

    @property
    def verify_flags(self) -> ssl.VerifyFlags:
        """Additional checks of certificates. VERIFY_X509_TRUSTED_FIRST and VERIFY_X509_PARTIAL_CHAIN are always on,
        also if the value that was assigned lacks them."""
        return ssl.VerifyFlags(self._set["verify_flags"][0] | _ALWAYS_VERIFY_FLAGS)

    @verify_flags.setter
    def verify_flags(self, flags: int) -> None:
        self._change("verify_flags", int(flags))

    def load_default_certs(self, purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH) -> None:
        """Trusts the system's authorities."""
        _check_purpose(purpose)
        self._default_trust = True

    def set_default_verify_paths(self) -> None:
        """Trusts the system's authorities."""
        self._default_trust = True

    def load_verify_locations(
        self, cafile: Path | None = None, capath: Path | None = None, cadata: str | Data | None = None
    ) -> None:
        """Trusts the certificates in a file, in the files of a directory, and in PEM or DER."""
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata are all None")
        added: list[Setting] = []
        if cafile is not None:
            added.append(("add_ca_data", (_read_file(cafile),)))
        if capath is not None:
            os.listdir(capath)  # raises OSError, as the ssl module does
            added.append(("add_ca_dir", (os.fsdecode(capath),)))
        if cadata is not None:
            added.append(("add_ca_data", (cadata.encode("ascii") if isinstance(cadata, str) else bytes(cadata),)))
        with python_errors():
            _shared_contexts.get((("system_trust", (False,)), *added))
        self._trust += tuple(item for item in added if item not in self._trust)

    def load_cert_chain(self, certfile: Path, keyfile: Path | None = None, password: Password = None) -> None:
        """Sets the certificate that the client sends to a server that requests one, and its private key."""
        secret = password() if callable(password) else password
        if secret is not None:
            # A copy, because the caller may overwrite a bytearray.
            secret = secret.encode() if isinstance(secret, str) else bytes(secret)
        with open(certfile, "rb") as file:
            chain = file.read()
        key = None
        if keyfile is not None:
            with open(keyfile, "rb") as file:
                key = file.read()
        identity = {"identity": (chain, key), "key_password": (secret,)}
        with python_errors():
            _new_context((("system_trust", (False,)), ("verify_mode", (_api.VerifyMode.NONE,)), *identity.items()))
        self._set.update(identity)

    def cert_store_stats(self) -> dict[str, int]:
        """Returns the number of trusted certificates."""
        count = self._tls_context().trust_anchor_count() if self._trust or self._default_trust else 0
        return {"x509": count, "crl": 0, "x509_ca": count}

    def get_ca_certs(self, binary_form: bool = False) -> Any:
        """Returns the trusted certificates, as dicts or in DER."""
        if not (self._trust or self._default_trust):
            return []
        with python_errors(), _new_context((*self._settings(), ("keep_trust_anchors", (True,)))) as context:
            found = [context.trust_anchor(at) for at in range(context.trust_anchor_count())]
        return [data if binary_form else certificate_facts(data) for data in found if data is not None]

    # ---- The protocol.

    @property
    def minimum_version(self) -> ssl.TLSVersion:
        """The oldest version of TLS to negotiate."""
        return self._minimum_version

    @minimum_version.setter
    def minimum_version(self, version: int) -> None:
        self._minimum_version = ssl.TLSVersion(version)
        self._change("minimum_version", self._minimum_version)

    @property
    def maximum_version(self) -> ssl.TLSVersion:
        """The newest version of TLS to negotiate."""
        return self._maximum_version

    @maximum_version.setter
    def maximum_version(self, version: int) -> None:
        self._maximum_version = ssl.TLSVersion(version)
        self._change("maximum_version", self._maximum_version)

    @property
    def options(self) -> ssl.Options:
        """The option bits of the ssl module."""
        return ssl.Options(self._set["option_bits"][0])

    @options.setter
    def options(self, bits: int) -> None:
        self._change("option_bits", int(bits))

    @property  # type: ignore[override]
    def keylog_filename(self) -> str | None:
        """The file to which the secrets of the connections are written, or None."""
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
    def post_handshake_auth(self) -> Any:  # type: ignore[override]
        """None, because netlib does not support client certificates after the handshake."""

    def set_ciphers(self, ciphers: str) -> None:
        """Sets the cipher suites with a cipher string of OpenSSL."""
        self._change("ciphers", ciphers)

    def get_ciphers(self) -> Any:
        """Returns a dict with the name of each cipher suite."""
        context = self._tls_context()
        return [{"name": context.cipher_suite_openssl_name(at)} for at in range(context.cipher_suite_count())]

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Sets the application protocols to offer."""
        names, check = tuple(alpn_protocols), TlsOptions()
        with python_errors():
            for name in names:
                check.add_alpn_protocol(name)
        self._alpn = names

    # ---- Connections.

    def _settings(self) -> Settings:
        return (
            ("system_trust", (self._default_trust and self._verify_mode != ssl.CERT_NONE,)),
            ("verify_mode", (_api.VerifyMode(self._verify_mode),)),
            ("check_hostname", (self._check_hostname,)),
            *self._set.items(),
            *self._trust,
            *(("add_alpn_protocol", (name,)) for name in self._alpn),
        )

    def _tls_context(self) -> TlsContext:
        made, settings = self._made, self._settings()
        if made is None or made[0] != settings:
            # A shared context lives longer than its users, but a private key must not.
            context = _new_context(settings) if "identity" in self._set else _shared_contexts.get(settings)
            self._made = made = settings, context
        return made[1]

    def wrap_socket(  # type: ignore[override]
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: None = None,
    ) -> SSLSocket:
        """Wraps a socket in a TLS connection, which takes over the descriptor."""
        if isinstance(sock, SSLSocket):
            raise NotImplementedError("netlib.ssl makes TLS in TLS only with wrap_bio")
        _check_client(server_side, session)
        return SSLSocket(sock, self, _host(server_hostname), do_handshake_on_connect, suppress_ragged_eofs)

    def wrap_bio(  # type: ignore[override]
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: None = None,
    ) -> SSLObject:
        """Makes a TLS session that reads from and writes to memory."""
        _check_client(server_side, session)
        return SSLObject(self, incoming, outgoing, _host(server_hostname))

    def _wrap_socket(self, *_arguments: object, **_named: object) -> NoReturn:
        raise NotImplementedError("a context of netlib.ssl has no connections of OpenSSL")

    _wrap_bio = _wrap_socket


refuse_inherited(SSLContext)


def create_default_context(
    purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH,
    *,
    cafile: Path | None = None,
    capath: Path | None = None,
    cadata: str | Data | None = None,
) -> SSLContext:
    """Makes a context that verifies servers, as `ssl.create_default_context`. Without an argument, it trusts the
    system's authorities."""
    _check_purpose(purpose)
    context = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if cafile is None and capath is None and cadata is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cafile, capath, cadata)
    return context


def _check_purpose(purpose: ssl.Purpose) -> None:
    if purpose != ssl.Purpose.SERVER_AUTH:
        raise ValueError("netlib.ssl has no connections of servers")


def _check_client(server_side: bool, session: None) -> None:
    if server_side:
        raise ValueError("netlib.ssl has no connections of servers")
    if session is not None:
        raise ValueError("netlib.ssl resumes sessions itself")


def _host(name: str | bytes | None) -> str | None:
    return name.decode("ascii") if isinstance(name, bytes) else name or None
