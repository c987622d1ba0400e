"""Writes header_defects.txt: header blocks and what the reference finds wrong with them.

Run with urllib3 2.8 on Python 3.11: python3 header_defects.py > header_defects.txt
Each line: the block, with Python's escapes; a tab; the names of the defects in alphabetical order, comma-separated.
"Unread" stands for unparsed data without a MissingHeaderBodySeparatorDefect.
With an argument: that many random blocks from the same pieces instead, for a longer comparison.
"""

import http.client
import io
import random
import sys

from urllib3.exceptions import HeaderParsingError
from urllib3.util.response import assert_header_parsing

PIECES = [
    "A: b", "Host:x", ":x", " c", "\tc", " ", "x", "x y: z", "X : y", "From me", "From: me", "From ", "é: x", "A: é",
    "a\x00b: c", "A: \x00", "Content-Type: multipart/mixed", "Content-Type: multipart/mixed; boundary=b",
    "content-type: MULTIPART/x; a=\"; boundary=c\"", "Content-Type: message/http", "Content-Type: text/plain",
    "Content-Type: message/delivery-status", "Content-Type:", " multipart/x", " ;boundary*0*=x",
    "Content-Type: multipart/a/b", "Content-Type: multipart/x;\xa0BOUNDARY\x85", "Content-Type: multipart/x;boundary*=x",
    "Content-Type: multipart/x; boundary*x=y", "Content-Type: multipart/x; xboundary=y", "Content-Type : multipart/x",
    "Content-Type: multipart/x; a=\"\\\";boundary=q\"", "Content-Transfer-Encoding: base64",
    "Content-Transfer-Encoding: 7BIT", "Content-Transfer-Encoding: binary ", "Content-Transfer-Encoding: \t8bit", "",
]
ENDS = ["\r\n"] * 6 + ["\n", "\n", "\r"]


def defects(block):
    message = http.client.parse_headers(io.BytesIO(block))
    try:
        assert_header_parsing(message)
    except HeaderParsingError:
        pass
    else:
        return []
    ignored = ("StartBoundaryNotFoundDefect", "MultipartInvariantViolationDefect")
    names = [type(defect).__name__ for defect in message.defects]
    names = [name for name in names if name not in ignored]
    payload = None if message.is_multipart() else message.get_payload()
    if payload and "MissingHeaderBodySeparatorDefect" not in names:
        names.append("Unread")
    return sorted(names)


def chosen():
    for piece in PIECES:
        for after in ("", "\r\n", "\r\n\r\n", "\n\n", "\r\r", "\r\nA: b\r\n\r\n", "\r\n c\r\n\r\n", "\r\rX: y\r\n\r\n"):
            yield piece + after
            yield "A: b\r\n" + piece + after
    for body in PIECES:
        yield "Content-Type: multipart/x; boundary=b\r\n" + body + "\r\n\r\n"


def mixed(count, seed):
    pick = random.Random(seed)
    for _ in range(count):
        pieces = pick.choices(PIECES, k=pick.randint(1, 7))
        yield "".join(piece + pick.choice(ENDS) for piece in pieces) + pick.choice(["", "\r\n"])


def main():
    blocks = mixed(int(sys.argv[1]), 2) if len(sys.argv) > 1 else [*chosen(), *mixed(1500, 1)]
    for text in dict.fromkeys(blocks):
        block = text.encode("latin-1")
        try:
            names = defects(block)
        except TypeError:  # Python's own: boundary* beside boundary*0
            continue
        print(text.encode("unicode_escape").decode() + "\t" + ",".join(names))


main()
