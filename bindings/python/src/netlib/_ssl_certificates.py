"""Certificates as dicts, in the format of the ssl module."""

from __future__ import annotations

import time
from ipaddress import IPv6Address
from typing import Any

from ._api import Certificate, CertificateNameKind, DistinguishedName

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


def certificate_facts(data: bytes) -> dict[str, Any]:
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
