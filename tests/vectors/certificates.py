"""Writes X.509 certificates in DER. Unlike the builders of libraries, these functions also write certificates that
break rules of RFC 5280. Keys and signatures depend only on names and data, except those of RSA."""

import base64
import datetime
import hashlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

CURVES = {"p256": ec.SECP256R1(), "p384": ec.SECP384R1(), "p521": ec.SECP521R1()}
HASHES = {"sha1": hashes.SHA1(), "sha256": hashes.SHA256(), "sha384": hashes.SHA384(), "sha512": hashes.SHA512()}
BITS = "digitalSignature nonRepudiation keyEncipherment dataEncipherment keyAgreement keyCertSign cRLSign".split()
PURPOSES = {
    "server": "1.3.6.1.5.5.7.3.1",
    "client": "1.3.6.1.5.5.7.3.2",
    "email": "1.3.6.1.5.5.7.3.4",
    "any": "2.5.29.37.0",
}
OIDS = {
    "subjectKeyIdentifier": "2.5.29.14",
    "keyUsage": "2.5.29.15",
    "subjectAltName": "2.5.29.17",
    "basicConstraints": "2.5.29.19",
    "nameConstraints": "2.5.29.30",
    "certificatePolicies": "2.5.29.32",
    "authorityKeyIdentifier": "2.5.29.35",
    "policyConstraints": "2.5.29.36",
    "extendedKeyUsage": "2.5.29.37",
    "unknown": "1.2.3.4",
}
SIGNATURES = {
    "ed25519": "1.3.101.112",
    "ecdsa-sha1": "1.2.840.10045.4.1",
    "ecdsa-sha256": "1.2.840.10045.4.3.2",
    "ecdsa-sha384": "1.2.840.10045.4.3.3",
    "ecdsa-sha512": "1.2.840.10045.4.3.4",
    "rsa-sha1": "1.2.840.113549.1.1.5",
    "rsa-sha256": "1.2.840.113549.1.1.11",
    "rsa-sha384": "1.2.840.113549.1.1.12",
    "rsa-sha512": "1.2.840.113549.1.1.13",
}
_keys = {}


def key(kind, name):
    """Returns the private key with a name; kind is a curve, "ed25519", or "rsa" with the number of bits."""
    if (kind, name) not in _keys:
        seed = hashlib.sha256(f"{kind} {name}".encode()).digest()
        if kind == "ed25519":
            made = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        elif kind in CURVES:
            made = ec.derive_private_key(int.from_bytes(seed, "big"), CURVES[kind])
        else:
            made = rsa.generate_private_key(65537, int(kind.removeprefix("rsa")))
        _keys[kind, name] = made
    return _keys[kind, name]


def key_pem(private):
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def public_key_info(private):
    return private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def key_id(private):
    return hashlib.sha256(public_key_info(private)).digest()[:8]


def element(tag, *contents):
    content = b"".join(contents)
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + content


def sequence(*contents):
    return element(0x30, *contents)


def oid(text):
    first, second, *rest = map(int, text.split("."))
    encoded = b""
    for arc in [40 * first + second, *rest]:
        digits = [arc & 0x7F]
        while arc := arc >> 7:
            digits.insert(0, 0x80 | arc & 0x7F)
        encoded += bytes(digits)
    return element(6, encoded)


def name(common_name):
    """Returns a distinguished name; None is the empty name."""
    if common_name is None:
        return sequence()
    return sequence(element(0x31, sequence(oid("2.5.4.3"), element(0x0C, common_name.encode()))))


def integer(number):
    return element(2, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def bits(names):
    """Returns a BIT STRING of keyUsage with the named bits."""
    value = sum(0x80 >> BITS.index(bit) for bit in names)
    unused = (value & -value).bit_length() - 1 if value else 0
    return element(3, bytes([unused, value] if value else [0]))


def general_name(text):
    kind, value = text.split(":", 1)
    if kind == "IP":
        return element(0x87, bytes(map(int, value.replace("/", ".").split("."))))
    if kind == "dir":
        return element(0xA4, name(value))
    return element({"email": 0x81, "DNS": 0x82}[kind], value.encode())


def general_names(texts):
    return sequence(*map(general_name, texts))


def name_constraints(kind, text):
    return sequence(element({"permitted": 0xA0, "excluded": 0xA1}[kind], sequence(general_name(text))))


def basic_constraints(ca, path_length=None):
    return sequence(
        element(1, b"\xff") if ca else b"",
        integer(path_length) if path_length is not None else b"",
    )


def purposes(names):
    return sequence(*(oid(PURPOSES[purpose]) for purpose in names))


def extension(kind, value, critical=False):
    return sequence(oid(OIDS[kind]), element(1, b"\xff") if critical else b"", element(4, value))


def time(year):
    moment = datetime.datetime(year, 1, 1)
    if year < 2050:
        return element(0x17, f"{moment:%y%m%d%H%M%SZ}".encode())
    return element(0x18, f"{moment:%Y%m%d%H%M%SZ}".encode())


def sign(private, message, digest):
    """Returns the AlgorithmIdentifier and the signature; digest is the name of a hash function, or "pss"."""
    if isinstance(private, ed25519.Ed25519PrivateKey):
        return sequence(oid(SIGNATURES["ed25519"])), private.sign(message)
    if isinstance(private, ec.EllipticCurvePrivateKey):
        how = ec.ECDSA(HASHES[digest], deterministic_signing=True)
        return sequence(oid(SIGNATURES[f"ecdsa-{digest}"])), private.sign(message, how)
    if digest == "pss":
        sha256 = sequence(oid("2.16.840.1.101.3.4.2.1"), element(5))
        mask = sequence(oid("1.2.840.113549.1.1.8"), sha256)
        parameters = sequence(element(0xA0, sha256), element(0xA1, mask), element(0xA2, integer(32)))
        how = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
        return sequence(oid("1.2.840.113549.1.1.10"), parameters), private.sign(message, how, hashes.SHA256())
    return (
        sequence(oid(SIGNATURES[f"rsa-{digest}"]), element(5)),
        private.sign(message, padding.PKCS1v15(), HASHES[digest]),
    )


def certificate(
    *, version=3, serial, issuer, years, subject, private, extensions, signer, digest="sha256", alter_signature=False
):
    """Returns the DER of a certificate. `signer` is the private key that signs it."""
    algorithm, _ = sign(signer, b"", digest)
    signed = sequence(
        element(0xA0, integer(version - 1)) if version > 1 else b"",
        integer(serial),
        algorithm,
        name(issuer),
        sequence(*map(time, years)),
        name(subject),
        public_key_info(private),
        element(0xA3, sequence(*extensions)) if version == 3 and extensions else b"",
    )
    _, signature = sign(signer, signed, digest)
    if alter_signature:
        signature = signature[:-1] + bytes([signature[-1] ^ 1])
    return sequence(signed, algorithm, element(3, b"\0", signature))


def pem(der):
    text = base64.encodebytes(der).decode().replace("\n", "")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])
