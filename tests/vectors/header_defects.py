"""Records which defects assert_header_parsing finds in a header block. A case is a header block.

"Unread" means that the parser left data unread without reporting a defect.
"""

import http.client
import io
import random
import re

from urllib3.exceptions import HeaderParsingError
from urllib3.util.response import assert_header_parsing

from common import failed, word

ABOUT = ["> the block. < ok, or the names of the defects in alphabetical order."]

PIECES = [
    "A: b", "Host:x", ":x", " c", "\tc", " ", "x", "x y: z", "X : y", "From me", "From: me", "From ", "é: x", "A: é",
    "a\x00b: c", "A: \x00", "Content-Type: multipart/mixed", "Content-Type: multipart/mixed; boundary=b",
    "content-type: MULTIPART/x; a=\"; boundary=c\"", "Content-Type: message/http", "Content-Type: text/plain",
    "Content-Type: message/delivery-status", "Content-Type:", " multipart/x", " ;boundary*0*=x",
    "Content-Type: multipart/a/b", "Content-Type: multipart/x;\xa0BOUNDARY\x85", "Content-Type: multipart/x;boundary*=x",
    "Content-Type: multipart/x; boundary*x=y", "Content-Type: multipart/x; xboundary=y", "Content-Type : multipart/x",
    "Content-Type: multipart/x; a=\"\\\";boundary=q\"", "Content-Transfer-Encoding: base64",
    "Content-Transfer-Encoding: 7BIT", "Content-Transfer-Encoding: binary ", "Content-Transfer-Encoding: \t8bit", "",
    "--b", "--b--",
]
ENDS = ["\r\n"] * 6 + ["\n", "\n", "\r"]


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


def cases():
    yield from chosen()
    yield from mixed(1500, 1)
    # Python reads the text after a bare CR as the body of a multipart message.
    pick = random.Random(2)
    for _ in range(60):
        body = "".join(pick.choice(["--b", "--b--", "A: b", "x", ""]) + "\r" for _ in range(pick.randint(1, 4)))
        yield f"Content-Type: multipart/mixed; boundary=b\r\r{body}\n\r\n"


def case_input(block):
    return [word(block.encode("latin-1"))]


def result(block):
    try:
        message = http.client.parse_headers(io.BytesIO(block.encode("latin-1")))
        assert_header_parsing(message)
        return ["ok"]
    except HeaderParsingError:
        pass
    except Exception as error:
        return failed(error)
    ignored = ("StartBoundaryNotFoundDefect", "MultipartInvariantViolationDefect")
    names = [type(defect).__name__ for defect in message.defects]
    names = [name for name in names if name not in ignored]
    payload = None if message.is_multipart() else message.get_payload()
    if payload and "MissingHeaderBodySeparatorDefect" not in names:
        names.append("Unread")
    return [" ".join(sorted(names))]


def expected(block, given):
    classes = []
    if given[0].startswith("raises "):
        # Python cannot read a parameter that occurs both whole and in parts, so one of the two gets another name.
        block = re.sub(r"boundary\*0", "x*0", block)
        given = result(block)
        classes.append("python-failures")
    other = result(re.sub(r"--b", "..b", block))
    if other != given:
        classes.append("bare-cr")
    return classes, other
