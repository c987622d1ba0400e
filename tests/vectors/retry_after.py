"""Records how Retry-After is parsed: seconds, dates in every format, and malformed values.

A case consists of a value and whether the usual bound applies. The wall clock is that of retry.py.
"""

import math
import random
import re

from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from common import UNKNOWN, failed, number, word
from retry import NOW, retry_of

ABOUT = [f"> bounded or unbounded, the value. < seconds from {NOW}, or invalid."]

SEEDS = [
    "Sun, 06 Nov 2033 08:49:37 GMT", "Sunday, 06-Nov-33 08:49:37 GMT", "Sun Nov  6 08:49:37 2033",
    "Tue, 14 Nov 2023 22:13:50 +0000", "Tue, 14 Nov 2023 23:13:50 +0100", "Tue, 14 Nov 2023 17:13:50 EST",
    "Tue, 14 November 2023 22:13:50", "14 Nov 2023 22:13:50 Z", "Nov 14, 2023 22:14:00 GMT", "14 Nov 23 22:14 UT",
    "Tue, 14 Nov 2023 22.14.00 PDT", "14-Nov-2023 22:14:00 GMT", "Tue,14 Nov 2023 22:14:00-0000", "3600", "  15\t",
]
PIECES = ["", " ", ",", ":", "-", "+", ".", "0", "7", "Jan", "dec", "Mon,", "mon", "2044", "99", "69", "GMT", "+0530", "x", "12:30"]
BY_HAND = [
    "0", "00", "1", "21599", "21600", "21601", "86400", "2147483648", "9223372036854775807", "9223372036854775808",
    "99999999999999999999", "1" + "0" * 40, "-1", "+1", "1.5", "1e3", "0x10", "1 2", "", " ", "\t", "7\t ", "\x0c7", "\x0b8", "٣", "７",
    "7;", "7,", "7, 8", "GMT", "now", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1969 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Tue, 29 Feb 2028 00:00:00 GMT", "Tue, 29 Feb 2027 00:00:00 GMT",
    "Tue, 31 Nov 2026 00:00:00 GMT", "Tue, 14 Nov 2023 24:00:00 GMT", "Tue, 14 Nov 2023 22:13:60 GMT",
    "Tue, 14 Nov 2023 22:13:61 GMT", "Wed, 14 Nov 2023 22:13:50 GMT", "tue, 14 nov 2023 22:13:50 gmt",
    "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:21 GMT", "Tue, 14 Nov 99999 22:13:21 GMT",
    "Tue, 14 Nov 0001 22:13:21 GMT", "Tue, 14 Nov 0000 22:13:21 GMT", "Tue, 0 Nov 2023 22:13:21 GMT",
    "Tue, 14 Nov 2023 22:13:21 +9999", "Tue, 14 Nov 2023 22:13:21 -1200", "Tue, 14 Nov 2023 22:13:21 CET",
]


# The characters that Python's regular expressions treat as white space. They are put around a number and a date.
WHITE_SPACE = [form.replace("_", c) for c in "\xa0\x85\u1680\u2003\u2028\u202f\u205f\u3000\x1c\x1f\v\f" for form in
               ("120_", "_120", "_120_", "1_20", " _7", "_Tue, 14 Nov 2023 22:13:50 GMT", "Tue, 14 Nov 2023 22:13:50 GMT_")]


def mutated(pick, text):
    for _ in range(pick.choice([0, 1, 1, 2, 3])):
        parts = text.split(" ")
        at = pick.randrange(len(parts))
        do = pick.random()
        if do < 0.25:
            parts[at] = pick.choice(PIECES)
        elif do < 0.4:
            parts.insert(at, pick.choice(PIECES))
        elif do < 0.55:
            del parts[at]
        elif do < 0.7 and len(parts) > 1:
            other = pick.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
        else:
            letters = list(parts[at])
            if letters:
                letters[pick.randrange(len(letters))] = pick.choice("0123456789,:-+. aT")
            parts[at] = "".join(letters)
        text = " ".join(parts)
    return text


def cases():
    pick = random.Random(20261122)
    values = [*BY_HAND, *SEEDS, *(mutated(pick, pick.choice(SEEDS)) for _ in range(1000))]
    for value in values:
        yield "unbounded", value
    for value in values[:200]:
        yield "bounded", value
    for value in WHITE_SPACE:
        yield "unbounded", value


def case_input(case):
    return [f"{case[0]} {word(case[1])}"]


def result(case):
    bound, value = case
    try:
        if hasattr(Retry, "DEFAULT_RETRY_AFTER_MAX"):
            retry = Retry(retry_after_max=21600 if bound == "bounded" else math.inf)
        elif bound == "bounded":
            return [UNKNOWN]
        else:
            retry = Retry()
        return [number(retry.parse_retry_after(value))]
    except InvalidHeader:
        return ["invalid"]
    except Exception as error:
        return failed(error)


def expected(case, given):
    if given[0].startswith("raises "):
        return ["python-failures"], ["invalid"]
    if re.fullmatch(r"\s*[0-9]+\s*", case[1]) and not re.fullmatch(r"[\s\x1c-\x1f]*[0-9]+[\s\x1c-\x1f]*", case[1], re.A):
        return ["other-white-space"], ["invalid"]
    if case[0] == "unbounded" and case[1].isdigit() and case[1].isascii() and int(case[1]) >= 2**63:
        return ["huge-retry-after"], [number(2**63 - 1)]
    return [], given
