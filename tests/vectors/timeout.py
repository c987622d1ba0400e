"""Records the values of Timeout for every combination of arguments in every state of the clock, and those of from_float
and clone.

A case consists of a constructor and its arguments. The clock of each case starts at 100 and then shows each time of LATER.
"""

import itertools
import math
import re
from unittest import mock

from urllib3.exceptions import TimeoutStateError
from urllib3.util import Timeout

from common import failed, number

ABOUT = [
    "> new total connect read, or: float value; D is the sentinel DEFAULT_TIMEOUT, T and F are True and False",
    "< connect_timeout, read_timeout, get_connect_duration before the clock is started, where state is TimeoutStateError; what a",
    "<   second start_connect does; then the three after each of 0, 0.5, 4 and 1000 seconds; then read_timeout and",
    "<   get_connect_duration of a clone; or refused and the fields that were",
]

DEFAULT = Timeout.DEFAULT_TIMEOUT
VALUES = [None, DEFAULT, 0.25, 1, 3.5, 10, 1e9, math.inf, 0, -0.0, -1, -2.5, -math.inf, math.nan, True, False]
LATER = [0, 0.5, 4, 1000]


def cases():
    for values in itertools.product(VALUES, repeat=3):
        yield "new", *values
    for value in VALUES:
        yield "float", value


def written(value):
    if value is None or value is DEFAULT or isinstance(value, bool):
        return {None: "-", DEFAULT: "D", True: "T", False: "F"}[value]
    return "-0" if str(value) == "-0.0" else number(value)


def case_input(case):
    return [" ".join([case[0], *map(written, case[1:])])]


def made(case):
    return Timeout.from_float(case[1]) if case[0] == "float" else Timeout(*case[1:])


def bad_fields(case):
    """Returns the fields that urllib3 refuses. Each field is checked without the others."""
    fields = ("connect",) if case[0] == "float" else ("total", "connect", "read")
    bad = []
    for field, value in zip(fields, case[1:]):
        try:
            Timeout(**{field: value})
        except ValueError:
            bad.append("timeout" if case[0] == "float" else field)
    return bad


def read_property(timeout, name):
    try:
        value = getattr(timeout, name)
        return written(value() if callable(value) else value)
    except TimeoutStateError:
        return "state"
    except Exception as error:
        return failed(error)[0].replace(" ", "-")


def result(case):
    clock = [100.0]
    names = ("connect_timeout", "read_timeout", "get_connect_duration")
    with mock.patch("time.monotonic", lambda: clock[0]), mock.patch("urllib3.util.timeout.current_time", lambda: clock[0], create=True):
        try:
            timeout = made(case)
        except ValueError:
            return [" ".join(["refused", *bad_fields(case)])]
        lines = [" ".join(read_property(timeout, name) for name in names)]
        timeout.start_connect()
        try:
            timeout.start_connect()
            lines.append("started twice")
        except TimeoutStateError:
            lines.append("state")
        for later in LATER:
            clock[0] = 100.0 + later
            lines.append(" ".join(read_property(timeout, name) for name in names))
        copy = timeout.clone()
        lines.append(" ".join(read_property(copy, name) for name in names[1:]))
    return lines


def expected(case, given):
    classes, case = [], list(case)
    fields = ["timeout"] if case[0] == "float" else ["total", "connect", "read"]

    def apply_difference(name, change):
        nonlocal case, given
        before, case = given, [case[0], *map(change, case[1:])]
        given = result(case)
        if given != before:
            classes.append(name)

    # In C, True and False are numbers, -1 is the sentinel for the default, and infinity means None.
    apply_difference("numbers-in-c", lambda value: int(value) if isinstance(value, bool) else value)
    apply_difference("numbers-in-c", lambda value: DEFAULT if type(value) in (int, float) and value == -1 else value)
    apply_difference("numbers-in-c", lambda value: None if value == math.inf else value)
    # netlib refuses values without a meaning: NaN, and the sentinel for the default as total.
    refused = set(given[0].split(" ")[1:]) if given[0].startswith("refused") else set()
    also = {name for name, value in zip(fields, case[1:]) if value != value or name == "total" and value is DEFAULT}
    if also - refused:
        classes.append("refused-values")
    if also | refused:
        return list(dict.fromkeys(classes)), [" ".join(["refused", *(name for name in fields if name in also | refused)])]
    # The read timeout is unknown before the clock has started if there is a total. It is the sentinel for the default
    # if it was set to the sentinel.
    total, read = (None, case[1]) if case[0] == "float" else (case[1], case[3])
    before = given
    if total is not None:
        given = [re.sub(r"^(\S+) \S+", r"\1 state", given[0]), *given[1:-1], "state state"]
    elif read is DEFAULT:
        given = [given[0].replace(" - ", " D "), given[1], *(re.sub(r"^(\S+) -", r"\1 D", line) for line in given[2:-1]), "D state"]
    if given != before:
        classes.append("read-timeout")
    return list(dict.fromkeys(classes)), given
