"""Records the results of split_first, which only urllib3 1.26.20 has. A case consists of a text and delimiters."""

import random

from common import UNKNOWN, word, words

try:
    from urllib3.util.url import split_first
except ImportError:
    split_first = None

ABOUT = ["> the text, then the delimiters. < before, after, the delimiter that was found."]

TEXTS = ["", "a", "foo/bar?baz", "a::b", "aab", "xéy", "日本/日", "//", "a=b&c=d", "?#", "a\u0301b", "-", "a b\\c"]
DELIMITERS = ["?", "/", "=", "1", "", "::", "ab", "é", "日", "#", "-", " ", "\\", "a", "aa", "\u0301"]


def cases():
    pick = random.Random(7)
    for text in TEXTS:
        yield text, ()
        for delimiter in DELIMITERS:
            yield text, (delimiter,)
        for _ in range(20):
            yield text, tuple(pick.choices(DELIMITERS, k=pick.randrange(2, 5)))


def case_input(case):
    return [words(case[0], *case[1])]


def result(case):
    return [words(*split_first(*case)) if split_first else UNKNOWN]


def expected(case, given):
    return [], given
