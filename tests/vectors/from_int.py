"""Records the results of Retry.from_int for every combination of the old values.

A case consists of retries, redirect and default. A value that is a Retry already has total=7, connect=2 and read=False.
"""

import itertools

from urllib3.util.retry import Retry

from common import count, failed, number

ABOUT = ["> retries redirect default; R is a Retry. < six counts, raise_on_redirect, raise_on_status, is_exhausted."]

R = Retry(7, connect=2, read=False, raise_on_status=False)
RETRIES = [None, False, True, 0, 1, 3, 10, 2**31 - 1, -1, -5, R]
REDIRECT = [True, False, None, 0, 1, 5]
DEFAULT = [None, False, True, 0, 5, -1, R]


def cases():
    return itertools.product(RETRIES, REDIRECT, DEFAULT)


def case_input(case):
    return [" ".join("R" if value is R else "T" if value is True else count(value) for value in case)]


def result(case):
    retries, redirect, default = case
    try:
        retry = Retry.from_int(retries, redirect, default)
        limits = [retry.total, retry.connect, retry.read, retry.redirect, retry.status, retry.other]
        flags = [retry.raise_on_redirect, retry.raise_on_status, retry.is_exhausted()]
    except Exception as error:
        return failed(error)
    return [" ".join([*map(count, limits), *map(number, flags)])]


def expected(case, given):
    return [], given
