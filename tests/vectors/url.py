"""Records every field and property of the results of parse_url.

A case is a text. If netlib differs on purpose, urllib3 parses the text again in the form that netlib reads. Function
`expected` has one paragraph for each class of docs/reference/differences.md.
"""

import ipaddress
import random
import re
import unicodedata

import idna
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from common import UNKNOWN, failed, word, words

ABOUT = ["scheme auth host port path query fragment authority netloc request_uri url; or ! where it is refused."]

SCHEMES = ["http://", "http://", "http://", "https://", "HTTP://", "//", "", "", "ftp://", "FTP://", "a+b-c://", "a.b://",
           "http:", "mailto:", "x:", "1a://", "http:/", "http:///", "ws://", "://", ":", "h+://"]
AUTHS = ["", "", "", "", "u@", "u:p@", "u:@", ":@", "@", "a@b@", "u%41:%zz@", "u%2f@", "ü:é@", "u ser@", "u\t@", "[@", "u/@", "u?@",
         "u#@", "u\\@", "u;=@", "U:P:Q@", "%@", "a|b@"]
HOSTS = ["example.com", "EXAMPLE.Com", "localhost", "h", "a_b.c", "a-b", "1.2.3.4", "127.0.0.1", "256.1.1.1", "1.2.3", "0x7f.1",
         "2130706433", "[::1]", "[::]", "[FE80::1%25eth0]", "[fe80::1%eth0]", "[fe80::1%25]", "[fe80::1%2525]",
         "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[1::2::3]",
         "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:1.2.3.4]", "[12345::]", "[::1", "::1]", "::1", "[v1.a]", "[]", "[::1]x", "x[::1]",
         "[::1%]", "[::1%25a%2f]", "[::1%a/b]", "[G::1]", "[::1.2.3]", "", "", ".", "..", "a..b", "a.", ".a", "h%41", "h%2d%2E",
         "h%20", "h%2f", "h%e9", "%", "h%4", "h%zz", "a b", "a\tb", "a\nb", "a\x00b", "a\x7fb", "a%00", "a%7F", "münchen.de",
         "MÜNCHEN.DE", "faß.de", "例え.jp", "é.É", "xn--mnchen-3ya.de", "XN--A", "é-", "a!$&'()*+,;=b", "a<b>", "a|b", "a\"b",
         "a{b}", "a^b`", "a~b", "-a-", "*.a", "é%41", "a'b", "www.EXAMPLE.com.", "a" * 70, "☃.net"]
PORTS = ["", "", "", "", ":", ":80", ":443", ":0", ":00", ":0080", ":65535", ":65536", ":99999", ":100000", ":000000000080", ":x", ":8x",
         ":-1", ":+1", ":8 0", ":80:80", ":٣", ":１", ": 80", ":80 "]
SEGMENTS = ["a", "b", "c", ".", "..", "", "%2e", "%2E%2e", "...", ".a", "a.", "..a", "é", "a b", "%zz", "%", "%2f", "%aB", "a;b=c", "@", ":",
            "a:b", "|", "\\", "[x]", "\x00", "\r\n", "~_-", "!$&'()*+,", "\"<>^`{}", "\x7f", "日本"]
QUERIES = ["", "", "", "?", "?q", "?a=b&c=d", "?a b", "?é", "?%zz", "?%2f", "?/?:@", "?[]", "?|", "??", "?\\", "?\n", "?%"]
FRAGMENTS = ["", "", "", "#", "#f", "#a#b", "#é", "#%zz", "#%2f", "#?/", "#a b", "#[", "#\x01"]
ALPHABET = "ab1:/?#@[]%.\\ é-\t2fF~+;"

BY_HAND = [
    "http://0X7F.0X1:80/", "http://u@0XaB", "http://[::256.1.1.1]", "http://[1::255.255.255.1000]", "http://[::1.2.3.04%25e]:80",
    "", "/", "//", "///", "////x", "///x", "?", "#", "?q#f", "#f?q", "google.com:80", "/foo?bar", "http://google.com/mail/",
    "google.com/mail", "localhost:80", "localhost:8080/x", "localhost:99999", "tel:5551234", "http:80", "g:h", "user:pw@h",
    "user@h:80/p", "http://:80", "http://@", "http://u@", "http:..", "http:a/..", "http:../a", "http:./a", "..", ".", "./a",
    "http://a\\b@c", "http://h\\..\\x", "javascript:alert(1)", "data:,x", "mailto:me@example.org", "file:///etc/passwd",
    "http://user:pa@ss@h/p", "http://h/a/../../..//b/./c/..", "http://h//..", "http://h//../..", "http://h/..//..//a",
    "HTTP://EXAMPLE.COM/%7Euser/%7euser", "http://[::1]:65536", "http://1.2.3.4.5", "\ufeffhttp://a", " http://a", "http://a ",
    "http://a/ ", "\nhttp://a", "http://a\n", "http://a/\n", "http//a", "http:/a", "http:\\\\a", "http://h/%25%2%41", "é", "é:80",
    "http://é:80/é?é#é", "[::1]", "[::1]:80", "[::1]/x", "a:b:c", "a:1:2", "a:", "a:/", "a:?", "a://", "a:///", "a://?", "a://:1",
    "http://0X7F.1", "http://[::999.1.2.3]", "http://[::01.2.3.4]", "http://[1:2:3:4:5:6:7::8]", "http://[::1.2.3.4%25a]",
    "http://[::1%2541]", "http://[::1%25%41]", "http://[::1%25%00]", "http://[::1%00]", "ftp://[::1%25%00]", "http://[::1%252541]",
    "http://εΣ.gr", "http://ab--é", "http://é_é", "http://a。b", "http://ｈ", "http://\xad", "http://" + "é" * 60,
]


# Unicode variants of ASCII letters, digits and dots.
FULL_WIDTH = [
    "http://ｅｘａｍｐｌｅ.com", "http://ＥＸＡＭＰＬＥ.com:80/", "http://１２７.0.0.1", "http://ⓐ.\u212a", "https://u@ａ-ｂ.ｃ/ｄ", "http://a.ｃ．d",
]


def inputs(count, seed):
    yield from BY_HAND
    pick = random.Random(seed)
    for number in range(count):
        if number % 5 == 4:
            yield "".join(pick.choice(ALPHABET) for _ in range(pick.randrange(1, 14)))
            continue
        path = "".join("/" + pick.choice(SEGMENTS) for _ in range(pick.choice([0, 0, 1, 1, 2, 3, 4, 6])))
        if pick.randrange(12) == 0:
            path = path[1:]
        yield (pick.choice(SCHEMES) + pick.choice(AUTHS) + pick.choice(HOSTS) + pick.choice(PORTS) + path
               + pick.choice(QUERIES) + pick.choice(FRAGMENTS))


# Bytes that no URL may contain. Cases have each of them at every position of these texts.
SEEDS = ["http://u:p@host/p?q#f", "ftp://u:p@host/p?q#f", "//h/p", "h:80/p", "http://[::1%25e]/", "HTTPS://h"]
CONTROLS = [*map(chr, range(0x21)), "\x7f"]


# Characters of many scripts: letters, marks, digits, joiners, dots, and mapped, ignored or forbidden characters.
SCRIPTS = [
    "aAzZ09-_", "àÀßẞÿŒœſ", "αΑςσΣΐ", "бБёЁ", "אבגד֑", "ابةت٠٣ۀ", "अआक्ष\u094d", "กขา", "한국ㄱ가", "日本語ー々", "ａＺ０．ー", "ⅣⅷK℃Ω",
    "☃♥→💩🏳", "\u0301\u0308\u0327", "\u200c\u200d\u00ad\u2060\ufe0f", "。．｡·・", "\u2028\u00a0\u3000", "㍿ﬁﬀﷺ", "\ufdd0\ue000\u0378",
]


def international(count, seed):
    pick = random.Random(seed)
    for _ in range(count):
        labels = []
        for _ in range(pick.choice([1, 1, 2, 3])):
            scripts = pick.choices(SCRIPTS, k=pick.choice([1, 1, 1, 2, 3]))
            labels.append("".join(pick.choice(pick.choice(scripts)) for _ in range(pick.choice([1, 2, 3, 4, 6, 20]))))
        yield "http://" + ".".join(labels)


def cases():
    yield from inputs(6800, 1)
    yield from international(600, 3)
    pick = random.Random(2)
    for seed in SEEDS:
        for control in CONTROLS:
            for at in sorted(pick.sample(range(len(seed) + 1), 3)):
                yield seed[:at] + control + seed[at:]
    yield from FULL_WIDTH


def case_input(text):
    return [word(text)]


def result(text):
    try:
        url = parse_url(text)
    except LocationParseError:
        return ["!"]
    except Exception as error:
        return failed(error)
    authority = words(getattr(url, "authority")) if hasattr(url, "authority") else UNKNOWN
    return [f"{words(*url)} {authority} {words(url.netloc, url.request_uri, url.url)}"]


def expected(text, given):
    classes, given = as_parsed(text, given)
    if given != ["!"]:
        fields = given[0].split(" ")
        written = form_that_parses_back(fields)
        if written != fields[-1]:
            classes.append("round-trip")
            given = [" ".join([*fields[:-1], written])]
    return classes, given


def form_that_parses_back(fields):
    """Returns the text as a word, in the first form that parses into the same parts. Without such a form, the text is
    unchanged."""
    scheme, _, host, _, path, _, _, authority, *_, written = fields
    forms = [written]
    if scheme in ("-", "http", "https") and "%25" in host:
        # A zone identifier is preceded by "%25" (RFC 6874).
        forms.append(written.replace(host, host.replace("%25", "%2525"), 1))
    if scheme == "-":
        # The authority may not look like a scheme, and the path may not look like an authority (RFC 3986 section 4.2).
        forms.append("/." + written if authority in ("-", "\\e") else "//" + written)
    for form in forms:
        text = plain(form)
        _, again = as_parsed(text, result(text))
        if parts(again[0].split(" ")) == parts(fields):
            return form
    return written


def parts(fields):
    """Returns the parts of a URL. A URL with an empty host is written as one without a host (RFC 3986 section 3.2.2)."""
    return [*fields[:2], ["-" if host == "\\e" else host for host in fields[2:3]], *fields[3:7]]


def plain(form):
    """Decodes a word into its text."""
    form = "" if form == "\\e" else form.replace("\\s", " ")
    data = re.sub(r"\\x(..)", lambda found: chr(int(found[1], 16)), form)
    return data.encode("latin-1").decode()


def as_parsed(text, given):
    """Returns the parts that netlib reads, with the whole text as urllib3 writes it."""
    classes = []

    def apply_difference(name, other):
        nonlocal text, given
        if other != text:
            before, text = given, other
            given = result(text)
            if given != before:
                classes.append(name)

    # Netlib reads <host>:<port> as a text without a scheme, but http and https stay schemes.
    found = re.match(r"([A-Za-z][A-Za-z0-9+-]*):([0-9]+)(?=[/?#]|\Z)", text)
    if found and found[1].lower() not in ("http", "https") and int(found[2]) <= 65535:
        apply_difference("host-and-port", "//" + text)
    # International host names are mapped by UTS 46.
    try:
        ascii_text = with_host(text, uts46)
        # These characters are variants of ASCII letters and digits, which map to ASCII.
        apply_difference("uts46" if "xn--" in ascii_text else "full-width-letters", ascii_text)
    except ValueError:
        if given != ["!"]:
            classes.append("uts46")
            given = ["!"]
    # netlib writes the host in lower case, even if it looks like a number.
    if given != ["!"] and "0X" in text:
        apply_difference("lower-case-host", with_host(text, str.lower))
    # netlib normalises the IPv4 address at the end of an IPv6 address.
    if given != ["!"] and (host := parse_url(text).host or "").startswith("["):
        try:
            ipaddress.IPv6Address(host[1:-1].partition("%")[0])
        except ValueError:
            given = ["!"]
            classes.append("ipv4-in-ipv6")
    # netlib refuses CR, LF and NUL, which urllib3 keeps in URLs of schemes other than http and https.
    if given != ["!"] and any(c in str(part) for part in parse_url(text) for c in "\r\n\0"):
        given = ["!"]
        classes.append("line-ends")
    return classes, given


def with_host(text, change):
    """Returns the text with its host changed, if the host is a name that is normalised."""
    scheme = re.match(r"([a-zA-Z][a-zA-Z0-9+-]*):", text)
    if scheme is None and not text.startswith("/"):
        text = "//" + text
    start = scheme.end() if scheme else 0
    if not text.startswith("//", start) or scheme and scheme[1].lower() not in ("http", "https"):
        return text
    end = re.compile(r"[\\/?#]|\Z").search(text, start + 2).start()
    start = max(start + 2, text.rfind("@", start + 2, end) + 1)
    name = text[start:end].partition(":")[0]
    return text if name.startswith("[") else text[:start] + change(name) + text[start + len(name):]


def uts46(host):
    """Applies the non-transitional ToASCII operation of UTS 46 to the labels that are not ASCII."""
    if host.isascii() or re.search(r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})", host):
        return host
    decoded = re.sub("%([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)) if chr(int(m[1], 16)) in UNRESERVED else m[0], host)
    return ".".join(label if label.isascii() else ascii_label(label) for label in decoded.split("."))


UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-~"


def ascii_label(text):
    # Characters that only the STD 3 rules of UTS 46 forbid are refused for other reasons.
    mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
    if re.search(r"[^a-z0-9.-]", re.sub(r"[^\x00-\x7f]", "", mapped)):
        raise ValueError("STD 3")
    labels = mapped.split(".")
    made = []
    for label in labels:
        if label and not label.startswith("xn--"):
            idna.check_hyphen_ok(label)
        if label.isascii() and not label.startswith("xn--"):
            made.append(label)
            continue
        if label.startswith("xn--"):
            label = label[4:].encode().decode("punycode")
            idna.check_hyphen_ok(label)
        idna.check_nfc(label)
        if unicodedata.category(label[0])[0] == "M":
            raise ValueError("a mark at the start")
        if any(c in "\u200c\u200d" and not idna.valid_contextj(label, i) for i, c in enumerate(label)):
            raise ValueError("a joiner")
        made.append("xn--" + label.encode("punycode").decode())
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in mapped):
        for label in filter(None, labels):
            idna.check_bidi(label, check_ltr=True)
    lengths = [len(label) for label in made]
    if any(length > 63 for length in lengths) or 0 in lengths[:-1] or not any(lengths):
        raise ValueError("a length")
    return ".".join(made)
