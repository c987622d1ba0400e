"""Records which of netlib's six TLS 1.2 suites the openssl command selects for a cipher string, and in which order.

    python3 tests/vectors/ciphers.py

writes `openssl-3.0/ciphers.txt` in the syntax of common.py: the string, and the names of the suites; "none" if none of
the six is selected, "invalid" if OpenSSL refuses the string. TLS 1.3 suites and security levels above 2 are left out,
because netlib differs there: see the documentation of netlib_tls_options_set_ciphers.
"""

import random
import subprocess

from common import words, write

OURS = [
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
]
# OpenSSL accepts IANA's suite names since 3.2. An older release is called with the OpenSSL names instead.
REGISTRY = {
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
}
IANA = list(REGISTRY)
ALIASES = """
ALL COMPLEMENTOFALL DEFAULT COMPLEMENTOFDEFAULT HIGH MEDIUM LOW EXPORT EXP EXPORT40 EXPORT56 FIPS SSLv2 SSLv3 TLSv1 TLSv1.0
TLSv1.1 TLSv1.2 TLSv1.3 kRSA kEDH kDHE DH kDHr kDHd kDH kEECDH kECDHE ECDH kECDHr kECDHe kECDH kPSK kRSAPSK kECDHEPSK
kDHEPSK kSRP kGOST kGOST18 kKRB5 aRSA aDSS DSS aDH aECDH aNULL aECDSA ECDSA aPSK aSRP aGOST aGOST01 aGOST12 aKRB5 RSA EDH DHE
EECDH ECDHE ADH AECDH PSK SRP KRB5 NULL eNULL DES 3DES RC4 RC2 IDEA SEED AES AES128 AES256 AESGCM AESCCM AESCCM8 CAMELLIA
CAMELLIA128 CAMELLIA256 CHACHA20 ARIA ARIAGCM ARIA128 ARIA256 GOST89 CBC MD5 SHA SHA1 SHA256 SHA384 GOST94 GOST89MAC GOST12
""".split()
ABSENT = ["AES128-SHA", "DHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA256", "DES-CBC3-SHA", "ECDHE-ECDSA-AES128-CCM"]
UNKNOWN = ["ECHDE", "high", "TLS-CHACHA20", "x", "aes128"]
USEFUL = ["ALL", "HIGH", "ECDHE", "EECDH", "aRSA", "aECDSA", "ECDSA", "AES", "AES128", "AES256", "AESGCM", "CHACHA20", "FIPS", "TLSv1.2"]

REAL = [
    # The modern, intermediate and old strings that Mozilla's configuration generator for servers has written over the years.
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:"
    "ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:"
    "DHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:"
    "DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:"
    "ECDHE-RSA-AES128-SHA:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA256:AES256-SHA256:AES128-SHA:AES256-SHA:DES-CBC3-SHA",
    # The default cipher strings of urllib3 1.26 and 1.25, requests, and Python 3.6.
    "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:ECDH+AESGCM:DH+AESGCM:ECDH+AES:DH+AES:RSA+AESGCM:RSA+AES:!aNULL:"
    "!eNULL:!MD5:!DSS",
    "ECDH+AESGCM:DH+AESGCM:ECDH+AES256:DH+AES256:ECDH+AES128:DH+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!MD5:!DSS",
    "TLS13-AES-256-GCM-SHA384:TLS13-CHACHA20-POLY1305-SHA256:TLS13-AES-128-GCM-SHA256:ECDH+AESGCM:ECDH+CHACHA20:DH+AESGCM:"
    "DH+CHACHA20:ECDH+AES256:DH+AES256:ECDH+AES128:DH+AES:RSA+AESGCM:RSA+AES:!aNULL:!eNULL:!MD5:!3DES",
    # Cipher strings of Python 3.10 and later, curl, nginx, Apache, Postfix, Node.js, HAProxy, and Go.
    "@SECLEVEL=2:ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:DHE+AES:!aNULL:!eNULL:!aDSS:!SHA1:!AESCCM",
    "ALL:!EXPORT:!EXPORT40:!EXPORT56:!aNULL:!LOW:!RC4:@STRENGTH",
    "ALL!EXPORT!EXPORT40!EXPORT56!aNULL!LOW!RC4@STRENGTH",
    "DEFAULT@SECLEVEL=1",
    "DEFAULT:@SECLEVEL=0",
    "DEFAULT:!DH",
    "DEFAULT:!aNULL:!eNULL:!MD5:!3DES:!DES:!RC4:!IDEA:!SEED:!aDSS:!SRP:!PSK",
    "HIGH:!aNULL:!MD5",
    "HIGH:!aNULL:!kRSA:!PSK:!SRP:!MD5:!RC4",
    "aNULL:-aNULL:HIGH:MEDIUM:+RC4:@STRENGTH",
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:HIGH:!aNULL:!eNULL:!EXPORT:!DES:!RC4:"
    "!MD5:!PSK:!SRP:!CAMELLIA",
    "EECDH+ECDSA+AESGCM:EECDH+aRSA+AESGCM:EECDH+ECDSA+SHA384:EECDH+ECDSA+SHA256:EECDH+aRSA+SHA384:EECDH+aRSA+SHA256:EECDH+aRSA+"
    "RC4:EECDH:EDH+aRSA:!RC4:!aNULL:!eNULL:!LOW:!3DES:!MD5:!EXP:!PSK:!SRP:!DSS",
    "EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH",
    "ALL:!ADH:!EXPORT56:RC4+RSA:+HIGH:+MEDIUM:+LOW:+SSLv2:+EXP:+eNULL",
    "PROFILE=SYSTEM:HIGH",
    "kEECDH:+kEECDH+SHA:kEDH:+kEDH+SHA:+kEDH+CAMELLIA:kECDH:+kECDH+SHA:kRSA:+kRSA+SHA:+kRSA+CAMELLIA:!aNULL:!eNULL:!SSLv2:!RC4:"
    "!DES:!EXP:!SEED:!IDEA:+3DES",
]

ODD = [
    "", ":", " ", "AES ", " AES", "AES,RC4;HIGH", "AES::HIGH", "AES$", "NOPE$:HIGH", "NOPE!HIGH:AES", "AES!AES128", "AES-AES128",
    "AES+", "+", "!", "HIGH:-", "HIGH:!", "HIGH:+", "HIGH:!!AES", "HIGH:+-AES", "HIGH:!NOPE", "HIGH:!NOPE+AES", "HIGH:!AES+NOPE",
    "@STRENGTH", "@STRENGTH:AES128:AES256", "AES128:AES256:@STRENGTH", "AES128:AES256:@STRENGTHx", "HIGH:@", "HIGH:@FOO",
    "HIGH:@SECLEVEL=", "HIGH:@SECLEVEL=9", "HIGH:@SECLEVEL=12", "HIGH:@SECLEVEL=2+AES", "HIGH:@STRENGTH!AES", "DEFAULTX", "DEFAULT+AES",
    "DEFAULT:-ALL:AES128", "HIGH:DEFAULT", "AES128:DEFAULT", "!DEFAULT:HIGH", "HIGH:-AES:AES128", "HIGH:-AES:AES256:AES128",
    "HIGH:!AES:AES", "-AES:HIGH", "+AES:HIGH", "HIGH+FIPS", "FIPS+HIGH", "HIGH+MEDIUM", "ECDHE+kRSA", "AES128+AES256", "AES+AES128",
    "ECDHE-RSA-AES128-GCM-SHA256+TLSv1.0", "ECDHE-RSA-AES128-GCM-SHA256+AES", "ECDHE-RSA-AES128-GCM-SHA256+SHA256",
    "AES+ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256+ECDHE-ECDSA-AES128-GCM-SHA256", "HIGH:\t", "HIGH:\"", "HIGH:/",
    "ECDHE-RSA-AES128-GCM-SHA25", "ECDHE-RSA-AES128-GCM-SHA2566", "HIGH:=", "=", ".", "HIGH.", "caf\u00e9", "HIGH:caf\u00e9",
    "CHACHA20:AES128:-CHACHA20:AES256:CHACHA20", "ALL:+aRSA:+AES128", "ALL:-aRSA:aECDSA:aRSA:-AES:ALL",
]


def cases():
    yield from REAL
    yield from ODD
    yield from OURS + IANA + ABSENT + UNKNOWN
    for word in ALIASES:
        yield word
        for sign in "!-+":
            yield f"ALL:{sign}{word}"
        yield f"{word}:aRSA"
        yield f"aRSA+{word}"
        yield f"ALL:+{word}+AES128:!{word}+aECDSA"
    chance = random.Random(20261121)
    for _ in range(1500):
        words_of = []
        for _ in range(chance.randint(1, 9)):
            if chance.random() < 0.06:
                words_of.append(chance.choice(["@STRENGTH", "@SECLEVEL=1", "@SECLEVEL=2"]))
                continue
            pool = chance.choices([USEFUL, OURS + IANA, ALIASES, ABSENT, UNKNOWN], [10, 4, 4, 1, 0.5])[0]
            word = "+".join(chance.choice(pool if i == 0 else USEFUL) for i in range(chance.choice([1, 1, 1, 2, 2, 3])))
            words_of.append(chance.choice(["", "", "", "", "!", "-", "+"]) + word)
        yield chance.choice(["", "", "", "ALL:", "HIGH:", "DEFAULT:"]) + chance.choice(": ,;:::").join(words_of)


def result(string):
    # The leading separator prevents the openssl command from reading a "-" as an option. A string that starts with
    # "DEFAULT" gets no separator, because "DEFAULT" must stay at the start.
    command_string = string if string.startswith("DEFAULT") else ":" + string
    for theirs, ours in REGISTRY.items():
        command_string = command_string.replace(theirs, ours)
    done = subprocess.run(["openssl", "ciphers", "-s", "-tls1_2", command_string], capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return words(*[name for name in done.stdout.strip().split(":") if name in OURS] or ["none"])
    if "invalid command" in done.stderr:
        return "invalid"
    assert "no cipher match" in done.stderr, (string, done.stderr)
    return "none"


def main():
    version = subprocess.run(["openssl", "version"], capture_output=True, text=True, check=True).stdout.split()[1]
    assert version.startswith("3.0."), version
    blocks, seen = [], set()
    for string in cases():
        if string not in seen:
            seen.add(string)
            blocks.append(([words(string)], None, [result(string)]))
    about = [f"OpenSSL {version}. Made by tests/vectors/ciphers.py.", "The cipher string; the suites that it selects, in order."]
    write("openssl-3.0", "ciphers", about, blocks)
    print(f"{len(blocks)} strings")


if __name__ == "__main__":
    main()
