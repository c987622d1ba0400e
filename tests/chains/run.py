"""Compares netlib with a public suite of certificate chains, through netlib_tls_context_verify_chain.

    python3 tests/chains/run.py target/netlib/libnetlib.so pkits FOLDER     NIST's PKITS: certs/ and crls/ in FOLDER
    python3 tests/chains/run.py target/netlib/libnetlib.so limbo FILE       x509-limbo's limbo.json

The script prints how many results of each category agree, then each result that does not agree, with netlib's status
and message. docs/reference/chains.md states the numbers and the reasons. The suites are not part of netlib.
PKITS is on NIST's site and in the Python package cryptography_vectors. limbo.json is in the repository C2SP/x509-limbo.
"""

import collections
import ctypes
import datetime
import json
import pathlib
import re
import sys

SERVER, CLIENT = 2, 1
CRL_CHECK_CHAIN = 0xC
UNSUPPORTED = "NETLIB_UNSUPPORTED"

Case = collections.namedtuple("Case", "id category valid anchors chain lists purpose name time")


class Library:
    def __init__(self, path):
        c = self.c = ctypes.CDLL(path)
        pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        out = ctypes.POINTER(pointer)
        for name, result, arguments in [
            ("netlib_tls_options_new", pointer, []),
            ("netlib_tls_options_free", None, [pointer]),
            ("netlib_tls_options_add_ca_data", None, [pointer, text, size]),
            ("netlib_tls_options_add_crl_data", None, [pointer, text, size]),
            ("netlib_tls_options_set_verify_flags", None, [pointer, ctypes.c_int32]),
            ("netlib_tls_context_new", ctypes.c_int32, [pointer, out, out]),
            ("netlib_tls_context_free", None, [pointer]),
            (
                "netlib_tls_context_verify_chain",
                ctypes.c_int32,
                [pointer, text, size, ctypes.c_int32, text, ctypes.POINTER(ctypes.c_double), out],
            ),
            ("netlib_error_message", text, [pointer, pointer]),
            ("netlib_error_free", None, [pointer]),
            ("netlib_status_name", text, [ctypes.c_int32]),
        ]:
            function = getattr(c, name)
            function.restype, function.argtypes = result, arguments

    def status_and_message(self, status, error):
        message = self.c.netlib_error_message(error, None).decode() if error else ""
        self.c.netlib_error_free(error)
        return self.c.netlib_status_name(status).decode(), message

    def verify(self, case):
        """Verifies the chain of a case. Returns the name of netlib's status, and the error message."""
        c, error, context = self.c, ctypes.c_void_p(), ctypes.c_void_p()
        options = c.netlib_tls_options_new()
        for anchor in case.anchors:
            c.netlib_tls_options_add_ca_data(options, anchor, len(anchor))
        for crl in case.lists:
            c.netlib_tls_options_add_crl_data(options, crl, len(crl))
        if case.lists:
            c.netlib_tls_options_set_verify_flags(options, CRL_CHECK_CHAIN)
        status = c.netlib_tls_context_new(options, ctypes.byref(context), ctypes.byref(error))
        c.netlib_tls_options_free(options)
        if status == 0:
            chain = b"".join(case.chain)
            name = case.name.encode() if case.name is not None else None
            time = ctypes.byref(ctypes.c_double(case.time)) if case.time is not None else None
            status = c.netlib_tls_context_verify_chain(
                context, chain, len(chain), case.purpose, name, time, ctypes.byref(error)
            )
        c.netlib_tls_context_free(context)
        return self.status_and_message(status, error)


def elements(der):
    """Yields (tag, content, whole element) for each of the consecutive DER elements."""
    at = 0
    while at < len(der):
        tag, length, start = der[at], der[at + 1], at + 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(der[at + 2 : start], "big")
        yield tag, der[start : start + length], der[at : start + length]
        at = start + length


def name_of(der):
    """Returns a Name in a form for comparison, which ignores the case of letters, spaces, and string types."""
    values = []
    for _, attributes, _ in elements(der):
        for _, attribute, _ in elements(attributes):
            (_, kind, _), (_, value, _) = elements(attribute)
            values.append((kind, b" ".join(value.lower().split())))
    return tuple(values)


def signed_fields(der):
    """Returns the fields of the signed part of a certificate or CRL."""
    fields = list(elements(next(elements(next(elements(der))[1]))[1]))
    return fields


def names_of(der):
    """Returns the issuer and the subject of a certificate."""
    fields = [field for field in signed_fields(der) if field[0] != 0xA0]
    return name_of(fields[2][1]), name_of(fields[4][1])


def list_issuer(der):
    return name_of([field for field in signed_fields(der) if field[0] == 0x30][1][1])


SECTIONS = [
    ("4.15 delta lists", "deltaCRL"),
    ("4.14 distribution points", "istributionPoint|onlyContains|onlySomeReasons|indirectCRL|cRLIssuer"),
    ("4.13 name constraints", "nameConstraints"),
    ("4.8-4.12 policies", "Polic|Qualifier"),
    ("4.7 key usage", "keyUsage"),
    ("4.6 basic constraints", "basicConstraints|cAFalse|pathLen"),
    ("4.5 self-issued certificates", "BasicSelfIssued"),
    ("4.4 revocation", "CRL|Revoked|SerialNumber"),
    ("4.3 names of issuers", "NameChaining|NameUIDs|RFC3280|Rollover|UTF8String"),
    ("4.2 validity", "not(Before|After)"),
    ("4.16 private extensions", "CertificateExtension"),
    ("4.1 signatures", "Signature|CertificatePath|DSAParameter"),
]


def pkits(folder):
    folder = pathlib.Path(folder)
    certificates = {path.stem: path.read_bytes() for path in sorted(folder.glob("certs/*.crt"))}
    lists = [path.read_bytes() for path in sorted(folder.glob("crls/*.crl"))]
    authorities = collections.defaultdict(list)
    for stem, der in certificates.items():
        if not stem.endswith("EE") and not stem.startswith("TrustAnchor"):
            authorities[names_of(der)[1]].append(der)
    anchor = certificates["TrustAnchorRootCertificate"]
    for stem, leaf in certificates.items():
        match = re.fullmatch("(Valid|Invalid)(.*)EE", stem)
        if not match:
            continue
        chain, wanted, seen = [leaf], [names_of(leaf)[0]], set()
        while wanted:
            name = wanted.pop()
            if name in seen:
                continue
            seen.add(name)
            chain += authorities[name]
            wanted += [names_of(der)[0] for der in authorities[name]]
        category = next(section for section, pattern in SECTIONS if re.search(pattern, stem))
        relevant_lists = [crl for crl in lists if list_issuer(crl) in seen]
        # The time is 2026-01-01. No host name is compared, because the certificates have only email addresses.
        yield Case(stem, category, match[1] == "Valid", [anchor], chain, relevant_lists, SERVER, None, 1767225600.0)


def limbo(file):
    for test in json.loads(pathlib.Path(file).read_text())["testcases"]:
        pem = lambda name: [text.encode() for text in test.get(name) or []]
        wanted = test.get("expected_peer_name") or {}
        time = test.get("validation_time")
        if time is not None:
            time = datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()
        category = "::".join(test["id"].split("::")[:-1]) or test["id"]
        name = wanted.get("value") if wanted.get("kind") in ("DNS", "IP") else None
        purpose = SERVER if test["validation_kind"] == "SERVER" else CLIENT
        chain = [test["peer_certificate"].encode(), *pem("untrusted_intermediates")]
        valid = test["expected_result"] == "SUCCESS"
        yield Case(test["id"], category, valid, pem("trusted_certs"), chain, pem("crls"), purpose, name, time)


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in ("pkits", "limbo"):
        sys.exit(__doc__)
    library = Library(sys.argv[1])
    counts, disagreements = collections.defaultdict(collections.Counter), []
    for case in {"pkits": pkits, "limbo": limbo}[sys.argv[2]](sys.argv[3]):
        status, message = library.verify(case)
        accepted = status == "NETLIB_OK"
        counts[case.category]["agree" if accepted == case.valid else "accepts" if accepted else "refuses"] += 1
        if accepted != case.valid:
            disagreements.append((case.category, case.id, "accepted" if accepted else f"{status}: {message}"))
    total = collections.Counter()
    for category, count in sorted(counts.items()):
        total += count
        print(f"{category}: {sum(count.values())} cases, {count['agree']} agree, accepted although invalid {count['accepts']}, "
              f"refused although valid {count['refuses']}")
    for category, case, outcome in sorted(disagreements):
        print(f"  {category}: {case}: {outcome}")
    print(f"{sum(total.values())} cases: {total['agree']} agree, {total['accepts']} accepted although invalid, "
          f"{total['refuses']} refused although valid")


if __name__ == "__main__":
    main()
