"""Runs urllib3's own tests without netlib, and with the TLS, parse_url, Retry and Timeout of netlib, and prints each
test whose outcomes differ. Both runs take place at the same time. Tests whose outcomes differ without being listed in
urllib3-differences.txt run again, because some tests depend on time. Fails if their outcomes still differ, or if a
listed test has no difference, unless its reason begins with "Sometimes".

usage: compare_urllib3.py SOURCE_DISTRIBUTION [ARGUMENT_OF_PYTEST…]

pytest loads this file as a plugin.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

DIFFERENCES = Path(__file__).with_name("urllib3-differences.txt")
WORST_LAST = ["passed", "skipped", "failed"]


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--outcomes", help="the file to which a line is written for each test")
    parser.addoption("--netlib", action="store_true", help="inject netlib into urllib3")


def pytest_configure(config: Any) -> None:
    if config.getoption("--netlib"):
        import netlib.urllib3

        netlib.urllib3.inject_into_urllib3(parse_url=True, retry=True, timeout=True)
    config.pluginmanager.register(Recorder(config.getoption("--outcomes")))


def pytest_unconfigure() -> None:
    # A test that timed out leaves threads that never end, and Python would wait for them.
    sys.stdout.flush()
    os._exit(0)


class Recorder:
    def __init__(self, path: str) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        detail = report.longreprtext.strip().splitlines()[-1:] if report.failed else []
        with open(self.path, "a", encoding="utf-8") as file:
            print(report.nodeid, report.outcome, *detail, sep="\t", file=file)


Outcomes = dict[str, tuple[str, str]]
"""The outcome of each test, and the last line of the failure."""


def run(source: Path, arguments: list[str]) -> Outcomes:
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "compare_urllib3",
            "-p",
            "no:cacheprovider",
            "-q",
            "--no-header",
        ]
        command += ["--timeout=20", f"--outcomes={file.name}", "--tb=line", *(arguments or ["test"])]
        subprocess.run(command, cwd=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        found: Outcomes = {}
        for line in file:
            test, outcome, detail = (*line.rstrip("\n").split("\t"), "")[:3]
            if test not in found or WORST_LAST.index(outcome) > WORST_LAST.index(found[test][0]):
                found[test] = outcome, detail
    return found


def read_differences() -> dict[str, str]:
    """The reason for each allowed difference, by the beginning of the test's name."""
    reasons: dict[str, str] = {}
    waiting: list[str] = []
    for line in DIFFERENCES.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            reasons.update(dict.fromkeys(waiting, line.strip()))
        elif line and not line.startswith("#"):
            waiting = [*(waiting if waiting and waiting[-1] not in reasons else []), line]
    return reasons


def run_both(source: Path, arguments: list[str]) -> tuple[Outcomes, Outcomes]:
    with ThreadPoolExecutor() as threads:
        before = threads.submit(run, source, arguments)
        after = threads.submit(run, source, [*arguments, "--netlib"])
        return before.result(), after.result()


def differing(before: Outcomes, after: Outcomes) -> list[str]:
    missing = ("missing", "")
    tests = sorted(before.keys() | after.keys())
    return [test for test in tests if before.get(test, missing)[0] != after.get(test, missing)[0]]


def main() -> int:
    source, arguments = Path(sys.argv[1]), sys.argv[2:]
    before, after = run_both(source, arguments or ["test"])
    reasons = read_differences()
    again = [test for test in differing(before, after) if not test.startswith(tuple(reasons))]
    if again:
        for outcomes, repeated in zip((before, after), run_both(source, again)):
            outcomes.update(repeated)
    used, wrong = set(), 0
    for test in differing(before, after):
        old, new = before.get(test, ("missing", "")), after.get(test, ("missing", ""))
        name = next((name for name in reasons if test.startswith(name)), None)
        if name is None:
            wrong += 1
        else:
            used.add(name)
        reason = reasons[name] if name else "NOT ALLOWED"
        print(f"{test}\n    {old[0]} without netlib, {new[0]} with netlib: {reason}\n    {new[1] or old[1]}".rstrip())
    unused = (
        []
        if arguments
        else [name for name in reasons if name not in used and not reasons[name].startswith("Sometimes")]
    )
    for name in unused:
        print(f"{name}\n    listed as a difference, but there is none")
    equal = [before[test][0] for test in before if before[test][0] == after.get(test, ("",))[0]]
    counts = ", ".join(f"{equal.count(kind)} {kind}" for kind in WORST_LAST)
    print(f"{len(before)} tests: {counts} with and without netlib; {wrong} differences that are not allowed")
    return int(not before or wrong > 0 or bool(unused))


if __name__ == "__main__":
    sys.exit(main())
