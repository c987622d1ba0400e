"""Runs urllib3's own tests with the TLS of the ssl module and with that of netlib, and prints each test whose outcomes
differ. Fails if a difference is not listed in urllib3-differences.txt, or if a listed test has no difference.

usage: compare_urllib3.py SOURCE_DISTRIBUTION [ARGUMENT_OF_PYTEST…]

pytest loads this file as a plugin.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DIFFERENCES = Path(__file__).with_name("urllib3-differences.txt")
WORST_LAST = ["passed", "skipped", "failed"]


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--outcomes", help="the file to which a line is written for each test")
    parser.addoption("--netlib", action="store_true", help="inject the TLS of netlib")


def pytest_configure(config: Any) -> None:
    if config.getoption("--netlib"):
        import netlib.urllib3

        netlib.urllib3.inject_into_urllib3()
    config.pluginmanager.register(Recorder(config.getoption("--outcomes")))


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
        command += ["--timeout=60", f"--outcomes={file.name}", "--tb=line", *(arguments or ["test"])]
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


def main() -> int:
    source, arguments = Path(sys.argv[1]), sys.argv[2:]
    before, after = run(source, arguments), run(source, [*(arguments or ["test"]), "--netlib"])
    reasons, used, wrong = read_differences(), set(), 0
    for test in sorted(before.keys() | after.keys()):
        old, new = before.get(test, ("missing", "")), after.get(test, ("missing", ""))
        if old[0] == new[0]:
            continue
        name = next((name for name in reasons if test.startswith(name)), None)
        if name is None:
            wrong += 1
        else:
            used.add(name)
        reason = reasons[name] if name else "NOT ALLOWED"
        print(f"{test}\n    {old[0]} with ssl, {new[0]} with netlib: {reason}\n    {new[1] or old[1]}".rstrip())
    unused = [] if arguments else [name for name in reasons if name not in used]
    for name in unused:
        print(f"{name}\n    listed as a difference, but there is none")
    equal = [before[test][0] for test in before if before[test][0] == after.get(test, ("",))[0]]
    counts = ", ".join(f"{equal.count(kind)} {kind}" for kind in WORST_LAST)
    print(f"{len(before)} tests: {counts} with ssl and with netlib; {wrong} differences that are not allowed")
    return int(not before or wrong > 0 or bool(unused))


if __name__ == "__main__":
    sys.exit(main())
