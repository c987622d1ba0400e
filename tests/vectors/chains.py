"""Records which certificate chains Python's ssl accepts in handshakes.

    python3.11 tests/vectors/chains.py      # needs the package cryptography; takes some minutes

writes `python-3.11/chains.txt`. A chain consists of a leaf certificate for www.example.test, an intermediate and a
root. Each certificate is named after its role and the properties in which it differs from a valid certificate. The file
has a line for each certificate,

    certificate NAME BASE64

and a line for each chain, with the names of the trusted and of the sent certificates:

    chain TRUSTED,... SENT,... SERVER UNNAMED CLIENT

SERVER, UNNAMED and CLIENT are the results of handshakes in which a client verifies a server with its name, a client
verifies a server without its name, and a server verifies a client. Each of them has four results, for the verify flags
in FLAGS, or one result if all four are the same. A result is the number of OpenSSL's X509_V_ERR_ constant; 0 if the
chain was accepted; or -1 if OpenSSL cannot send the chain, because it cannot load the leaf certificate. The suite
`chains` compares the results with those of netlib.
"""

import base64
import concurrent.futures
import itertools
import os
import pathlib
import platform
import ssl
import tempfile

import certificates as x509

HOST = "www.example.test"
FLAGS = [
    0,
    ssl.VERIFY_X509_STRICT,
    ssl.VERIFY_X509_PARTIAL_CHAIN,
    ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN,
]
ROOT, INT = "root", "int"
# The names of the issuers, whose keys never change, so that a leaf can be combined with each kind of intermediate.
ISSUERS = {ROOT: x509.key("ed25519", ROOT), INT: x509.key("ed25519", INT), "unknown": x509.key("ed25519", "unknown")}


def with_extension(kind, value, critical=False):
    return {kind: x509.extension(kind, value, critical)}


def key_usages(*values):
    """Yields the properties of keyUsages: one for each text with bits that are separated by "+"."""
    yield "keyUsage=absent", {"keyUsage": None}
    for text in values:
        bits = text.split("+") if text else []
        yield f"keyUsage={text or 'empty'}", with_extension("keyUsage", x509.bits(bits), critical=True)


def extended_key_usages(*values):
    for text in values:
        yield f"extendedKeyUsage={text}", with_extension("extendedKeyUsage", x509.purposes(text.split("+")))


def basic_constraints(*values):
    for text, ca, path_length, critical in values:
        value = x509.basic_constraints(ca, path_length)
        yield f"basicConstraints={text}", with_extension("basicConstraints", value, critical)


def identifiers(issuer, issuer_serial):
    """Yields the properties of key identifiers."""
    of_issuer = x509.element(0x80, x509.key_id(ISSUERS[issuer]))
    wrong = x509.element(0x80, b"12345678")

    def serial(number):
        of_name = x509.element(0xA1, x509.element(0xA4, x509.name(ROOT if issuer == INT else issuer)))
        return of_name + x509.element(0x82, x509.integer(number)[2:])

    for text, content, critical in [
        ("wrong", wrong, False),
        ("critical", of_issuer, True),
        ("serial", serial(issuer_serial), False),
        ("wrong-serial", serial(issuer_serial + 1), False),
    ]:
        value = x509.sequence(content)
        yield f"authorityKeyIdentifier={text}", with_extension("authorityKeyIdentifier", value, critical)
    yield "subjectKeyIdentifier=absent", {"subjectKeyIdentifier": None}


def absent(kind):
    yield f"{kind}=absent", {kind: None}


def numbers_and_times():
    yield "serial=0", {"serial": 0}
    yield "serial=negative", {"serial": -5}
    yield "serial=20-bytes", {"serial": 2**158 + 1}
    yield "serial=21-bytes", {"serial": 2**166 + 1}
    yield "validity=expired", {"years": (2019, 2021)}
    yield "validity=future", {"years": (2110, 2120)}
    yield "validity=reversed", {"years": (2120, 2020)}
    yield "signature=altered", {"alter_signature": True}
    yield "version=1", {"version": 1}
    yield "unknown=critical", with_extension("unknown", x509.element(5), critical=True)
    yield "unknown=not-critical", with_extension("unknown", x509.element(5))


def name_constraints():
    for kind in "permitted", "excluded":
        for text in (
            "DNS:example.test",
            "DNS:other.test",
            "IP:192.0.2.0/255.255.255.0",
            "email:example.test",
            "dir:leaf",
        ):
            value = x509.name_constraints(kind, text)
            yield f"nameConstraints={kind}-{text}", with_extension("nameConstraints", value, critical=True)
    value = x509.name_constraints("permitted", "DNS:other.test")
    yield "nameConstraints=not-critical", with_extension("nameConstraints", value)


def policies():
    yield "certificatePolicies=critical", with_extension(
        "certificatePolicies", x509.sequence(x509.sequence(x509.oid("1.2.3.5"))), critical=True
    )
    yield "policyConstraints=critical", with_extension(
        "policyConstraints", x509.sequence(x509.element(0x80, b"\0")), critical=True
    )


def alternative_names():
    host = f"DNS:{HOST}"
    for text, names, critical in [
        ("critical", [host], True),
        ("other", ["DNS:other.test"], False),
        ("wildcard", ["DNS:*.example.test"], False),
        ("address", ["IP:192.0.2.1"], False),
        ("email", ["email:a@example.test"], False),
        ("several", ["DNS:other.test", host, "IP:192.0.2.1"], False),
        ("empty", [], False),
    ]:
        yield f"subjectAltName={text}", with_extension("subjectAltName", x509.general_names(names), critical)
    yield "subject=empty", {"subject": None}
    yield "subject=host", {"subject": HOST}


def leaf_properties():
    return dict(
        itertools.chain(
            key_usages(
                "digitalSignature+keyEncipherment",
                "keyEncipherment",
                "keyEncipherment+dataEncipherment",
                "keyAgreement",
                "dataEncipherment",
                "nonRepudiation",
                "keyCertSign",
                "keyCertSign+cRLSign",
                "digitalSignature+keyCertSign",
                "",
            ),
            absent("extendedKeyUsage"),
            extended_key_usages("server", "client", "email", "any", "server+email"),
            basic_constraints(
                ("CA:FALSE", False, None, False),
                ("CA:FALSE-critical", False, None, True),
                ("CA:FALSE-pathlen", False, 0, True),
                ("CA:TRUE", True, None, True),
                ("CA:TRUE-pathlen-0", True, 0, True),
            ),
            absent("authorityKeyIdentifier"),
            identifiers(INT, 2),
            numbers_and_times(),
            absent("subjectAltName"),
            alternative_names(),
            policies(),
            itertools.islice(name_constraints(), 1),
            ((f"key={kind}", {"key": kind}) for kind in ["p256", "p384", "p521", "rsa2048", "rsa1024"]),
        )
    )


def authority_properties(role):
    return dict(
        itertools.chain(
            key_usages("keyCertSign", "cRLSign", "digitalSignature", ""),
            extended_key_usages("server", "client", "email", "any", "server+client"),
            absent("basicConstraints"),
            basic_constraints(
                ("not-critical", True, None, False),
                ("CA:FALSE", False, None, True),
                ("pathlen-0", True, 0, True),
                ("pathlen-1", True, 1, True),
            ),
            () if role == ROOT else absent("authorityKeyIdentifier"),
            identifiers(ROOT, 1),
            numbers_and_times(),
            name_constraints(),
            policies(),
        )
    )


class Maker:
    """Makes certificates, each only once."""

    def __init__(self):
        self.made = {}
        self.keys = {}
        self.properties = {
            "leaf": leaf_properties(),
            INT: authority_properties(INT),
            ROOT: authority_properties(ROOT),
        }

    def certificate(self, role, changes=(), issuer=None, digest="sha256", issuer_key=None, own_key=None):
        """Returns the name of a certificate with these properties. `role` is "leaf", "int", "root" or "unknown"."""
        issuer = issuer or {"leaf": INT, INT: ROOT}.get(role, role)
        parts = [role]
        if issuer != {"leaf": INT, INT: ROOT}.get(role, role):
            parts.append(f"issuer={issuer}")
        if issuer_key:
            parts.append(f"signature={issuer_key}-{digest}")
        if own_key:
            parts.append(f"authority-key={own_key}")
        name = ";".join(parts + list(changes))
        if name in self.made:
            return name
        is_leaf, is_root = role == "leaf", role == issuer and role != "leaf"
        fields = {
            "serial": {ROOT: 1, INT: 2}.get(role, 3),
            "years": (2020, 2120),
            "subject": role,
            "keyUsage": x509.extension(
                "keyUsage", x509.bits(["digitalSignature"] if is_leaf else ["keyCertSign", "cRLSign"]), True
            ),
            "extendedKeyUsage": (
                x509.extension("extendedKeyUsage", x509.purposes(["server", "client"])) if is_leaf else None
            ),
            "basicConstraints": (
                None if is_leaf else x509.extension("basicConstraints", x509.basic_constraints(True), True)
            ),
            "subjectAltName": (
                x509.extension("subjectAltName", x509.general_names([f"DNS:{HOST}"])) if is_leaf else None
            ),
        }
        for change in changes:
            fields.update(self.properties[role][change])
        kind = fields.pop("key", None) or own_key or "ed25519"
        private = ISSUERS[role] if role in ISSUERS and not own_key else x509.key(kind, role)
        if issuer == "leaf":
            signer = private
        else:
            signer = x509.key(issuer_key, issuer) if issuer_key else ISSUERS[issuer]
        fields.setdefault(
            "subjectKeyIdentifier", x509.extension("subjectKeyIdentifier", x509.element(4, x509.key_id(private)))
        )
        # The root has no authorityKeyIdentifier, like many public roots.
        if not is_root:
            identifier = x509.sequence(x509.element(0x80, x509.key_id(signer)))
            fields.setdefault("authorityKeyIdentifier", x509.extension("authorityKeyIdentifier", identifier))
        extensions = [value for value in (fields.pop(kind, None) for kind in x509.OIDS) if value]
        subject = fields["subject"]
        if issuer == "leaf":
            issuer = subject
        self.made[name] = x509.certificate(
            issuer=issuer, private=private, signer=signer, digest=digest, extensions=extensions, **fields
        )
        self.keys[name] = private
        return name


def single_and_pairs(properties):
    """Yields each property, then each pair of properties with different names."""
    for change in properties:
        yield (change,)
    for pair in itertools.combinations(properties, 2):
        if pair[0].split("=")[0] != pair[1].split("=")[0]:
            yield pair


def chains(maker):
    """Yields the names of the trusted and the sent certificates of each chain, the leaf first."""
    leaf_changes, int_changes, root_changes = (maker.properties[role] for role in ("leaf", INT, ROOT))
    leaf, between, root = maker.certificate("leaf"), maker.certificate(INT), maker.certificate(ROOT)
    other = maker.certificate("unknown")
    leaves = [maker.certificate("leaf", [change]) for change in leaf_changes]
    ints = [maker.certificate(INT, [change]) for change in int_changes]
    roots = [maker.certificate(ROOT, [change]) for change in root_changes]
    yield [root], [leaf, between]
    for changes in single_and_pairs(leaf_changes):
        yield [root], [maker.certificate("leaf", changes), between]
    for changes in itertools.combinations(int_changes, 2):
        if changes[0].split("=")[0] != changes[1].split("=")[0]:
            yield [root], [leaf, maker.certificate(INT, changes)]
    for between_kind in ints:
        for leaf_kind in [leaf, *leaves]:
            yield [root], [leaf_kind, between_kind]
        for root_kind in roots:
            yield [root_kind], [leaf, between_kind]
    for root_kind in roots:
        for leaf_kind in [leaf, *leaves]:
            yield [root_kind], [leaf_kind, between]
    # Other trusted certificates, incomplete chains, and leaves with other issuers.
    for changes in [[], *([change] for change in leaf_changes)]:
        by_int = maker.certificate("leaf", changes)
        by_root, by_unknown, by_itself = (
            maker.certificate("leaf", changes, issuer) for issuer in (ROOT, "unknown", "leaf")
        )
        for trusted in [between], [by_int], [root, by_int], [other]:
            yield trusted, [by_int, between]
        for trusted in [between], [by_int], [root]:
            yield trusted, [by_int]
        yield [root], [by_root]
        yield [root], [by_unknown]
        yield [root], [by_itself]
        yield [by_itself], [by_itself]
        yield [root, by_itself], [by_itself]
    for changes in [[], *([change] for change in int_changes)]:
        yield [maker.certificate(INT, changes)], [leaf]
        yield [maker.certificate(INT, changes)], [leaf, between]
    # Keys and signatures of authorities.
    for kind, digests in [
        ("rsa2048", ["sha1", "sha256", "sha384", "sha512", "pss"]),
        ("rsa1024", ["sha256"]),
        ("p256", ["sha1", "sha256", "sha384", "sha512"]),
        ("p384", ["sha256", "sha384", "sha512"]),
        ("p521", ["sha256", "sha512"]),
        ("ed25519", ["sha256"]),
    ]:
        trusted = maker.certificate(ROOT, own_key=kind, issuer_key=kind, digest=digests[-1])
        for digest in digests:
            yield [trusted], [leaf, maker.certificate(INT, issuer_key=kind, digest=digest)]
            for changes in [[], *([f"key={own}"] for own in ["p256", "p384", "p521", "rsa2048", "rsa1024"])]:
                yield [trusted], [maker.certificate("leaf", changes, ROOT, issuer_key=kind, digest=digest)]


class Peers:
    """Performs handshakes over memory, with contexts that are made once for each setting."""

    def __init__(self, maker, folder):
        self.maker, self.folder = maker, pathlib.Path(folder)
        self.verifiers = {}
        self.honest = maker.certificate("leaf"), maker.certificate(INT)

    def presenting(self, protocol, sent):
        context = ssl.SSLContext(protocol)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        # The sender may have a weak key; only the verifying peer must refuse it.
        context.set_ciphers("ALL:@SECLEVEL=0")
        path = self.folder / f"{os.getpid()}.pem"
        chain = "".join(x509.pem(self.maker.made[name]) for name in sent)
        path.write_text(chain + x509.key_pem(self.maker.keys[sent[0]]))
        context.load_cert_chain(path)
        if protocol == ssl.PROTOCOL_TLS_SERVER:
            context.num_tickets = 0
        return context

    def verifying(self, protocol, trusted, flags, checks_name):
        setting = (protocol, tuple(trusted), flags, checks_name)
        if setting not in self.verifiers:
            context = (
                self.presenting(protocol, self.honest)
                if protocol == ssl.PROTOCOL_TLS_SERVER
                else ssl.SSLContext(protocol)
            )
            context.set_ciphers("DEFAULT:@SECLEVEL=2")
            context.verify_mode = ssl.CERT_REQUIRED
            context.check_hostname = checks_name
            context.verify_flags |= flags
            context.load_verify_locations(cadata=b"".join(self.maker.made[name] for name in trusted))
            self.verifiers[setting] = context
        return self.verifiers[setting]

    def results(self, trusted, sent):
        try:
            server, client = (
                self.presenting(protocol, sent) for protocol in (ssl.PROTOCOL_TLS_SERVER, ssl.PROTOCOL_TLS_CLIENT)
            )
        except ssl.SSLError as error:
            assert error.reason == "INVALID_CERTIFICATE", error
            yield from [[-1]] * 3
            return
        for checks_name in True, False:
            yield [
                handshake(self.verifying(ssl.PROTOCOL_TLS_CLIENT, trusted, flags, checks_name), server)
                for flags in FLAGS
            ]
        yield [handshake(client, self.verifying(ssl.PROTOCOL_TLS_SERVER, trusted, flags, False)) for flags in FLAGS]


def handshake(client, server):
    """Returns the error number with which a peer refused the other peer's certificate, or 0."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    peers = [
        client.wrap_bio(to_client, to_server, server_hostname=HOST),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(4):
        for peer in list(peers):
            try:
                peer.do_handshake()
                peers.remove(peer)
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLCertVerificationError as error:
                return error.verify_code
    assert not peers, "the handshake did not end"
    return 0


def result_text(results):
    return str(results[0]) if len(set(results)) == 1 else ",".join(map(str, results))


def record(cases):
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(MAKER, folder)
        return [
            " ".join(["chain", ",".join(trusted), ",".join(sent), *map(result_text, peers.results(trusted, sent))])
            for trusted, sent in cases
        ]


MAKER = Maker()


def main():
    cases = sorted({(tuple(trusted), tuple(sent)) for trusted, sent in chains(MAKER)})
    parts = [cases[at : at + 200] for at in range(0, len(cases), 200)]
    # The processes are forked, so that all of them have the same certificates.
    with concurrent.futures.ProcessPoolExecutor() as pool:
        lines = [line for part in pool.map(record, parts) for line in part]
    python = platform.python_version()
    texts = [f"# Results of Python {python} with {ssl.OPENSSL_VERSION}. Made by tests/vectors/chains.py."]
    texts += [f"certificate {name} {base64.b64encode(der).decode()}" for name, der in sorted(MAKER.made.items())]
    folder = pathlib.Path(__file__).parent / "python-{}.{}".format(*python.split("."))
    (folder / "chains.txt").write_text("\n".join(texts + lines) + "\n")


if __name__ == "__main__":
    main()
