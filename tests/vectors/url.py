"""Records what urllib3's parse_url answers, as the reference for netlib_parse_url.

    PYTHONPATH=<a urllib3 2.8.0 with idna> python3 tests/vectors/url.py > tests/vectors/url.tsv

A line of the output is the input, then scheme, auth, host, port, path, query, fragment, authority, netloc,
request_uri and url, with tabs between; or the input and "!" where the reference refuses it. A character that is not
printable ASCII stands as \\u{hex}, a backslash too; an absent component is \\-. The inputs come from a fixed seed.
"""

import random
import sys

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


def written(text):
    if text is None:
        return "\\-"
    return "".join(c if " " <= c <= "~" and c != "\\" else "\\u{%x}" % ord(c) for c in str(text))


def main():
    import idna
    import urllib3
    from urllib3.util import parse_url

    print("# urllib3 %s, idna %s, Python %s" % (urllib3.__version__, idna.__version__, sys.version.split()[0]))
    for text in inputs(3000, 1):
        try:
            url = parse_url(text)
            answer = [*url, url.authority, url.netloc, url.request_uri, url.url]
        except urllib3.exceptions.LocationParseError:
            answer = ["!"]
        print("\t".join([written(text)] + [written(part) for part in answer]))


if __name__ == "__main__":
    main()
