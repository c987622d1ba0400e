"""Records the results of one version of urllib3 for all areas, and netlib's results where netlib differs on purpose.

    PYTHONPATH=<folder with urllib3 2.8.0 and idna> python3 tests/vectors/make.py [area ...]
    PYTHONPATH=<folder with urllib3 1.26.20 and idna> python3 tests/vectors/make.py [area ...]

An area is another module of this folder; its cases come from a fixed seed. The first run writes
`urllib3-2.8.0/AREA.txt` and `differences/AREA.txt`: for each case that a class of docs/reference/differences.md
covers, the class and netlib's result, which is computed from urllib3's result and the rule of the class, never
by netlib. The second run writes `urllib3-1.26.20/AREA.txt`, with only those results that differ from the results of 2.8.0.
common.py describes the syntax.
"""

import importlib
import platform
import sys
import warnings

import idna
import urllib3

from common import BASE, OLDER, UNKNOWN, read, same, write

AREAS = ["url", "url_new", "get_host", "split_first", "redirect", "retry", "from_int", "retry_after", "decide", "header_defects", "make_headers", "timeout"]


def main():
    warnings.simplefilter("ignore")
    version = urllib3.__version__
    if version not in (BASE, OLDER):
        sys.exit(f"this is urllib3 {version}; the vectors are made from {BASE} and {OLDER}")
    made = f"urllib3 {version}, idna {idna.__version__}, Python {platform.python_version()}. Made by tests/vectors/make.py."
    for name in sys.argv[1:] or AREAS:
        area = importlib.import_module(name)
        base = read(f"urllib3-{BASE}", name) if version == OLDER else {}
        results, differences, seen = [], [], set()
        for case in area.cases():
            case_input = area.case_input(case)
            key = "\n".join(case_input)
            if key in seen:
                continue
            seen.add(key)
            result = area.result(case)
            if version == OLDER:
                if not same(result, base[key]) or result == [UNKNOWN]:
                    results.append((case_input, None, result))
                continue
            results.append((case_input, None, result))
            classes, expected = area.expected(case, result)
            if expected != result:
                assert classes, (case_input, result, expected)
                differences.append((case_input, classes, expected))
        write(f"urllib3-{version}", name, [made, *area.ABOUT], results)
        if version == BASE:
            write("differences", name, ["The results of netlib where they differ from those of urllib3. Made by tests/vectors/make.py."], differences)
        print(f"{name}: {len(seen)} cases, {len(results)} results, {len(differences)} differences")


if __name__ == "__main__":
    main()
