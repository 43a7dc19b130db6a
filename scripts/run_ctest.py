#!/usr/bin/env python3
"""Runs the tests of a build folder BUILD and leaves ctest's JUnit report there.

    scripts/run_ctest.py BUILD/REPORT.xml SECONDS [--part K/N] [CTEST ARGUMENT...]

With --part run, of the tests that are not `long`, those with the label `unit` or `every-run`, and of all
others every Nth, from the Kth on (counted from 0): N runs have each of them once.

Tests with the label rdma that failed run once more, one at a time: they boot guests, which a busy
machine can make late. No other test has such an excuse. What the second run gave is in
BUILD/REPORT-again.xml; scripts/test_report.py names what passed only there. Exit status 1 when a
test failed (rdma: twice), when no test ran, and when SECONDS were not enough.
"""

import json
import pathlib
import re
import subprocess
import sys

import test_report

EXCUSED = "rdma"
ALWAYS, LONG = {"unit", "every-run"}, "long"
SECONDS_AGAIN = 1200
OUT_OF_TIME = 124  # of the command timeout
# Reasons of skipped tests are in the output of passing programs too.
REPORT_OPTIONS = ("--timeout", "300", "--no-tests=error", "--test-output-size-passed", "262144")


def ctest(report, seconds, *arguments):
    """Whether it ended in time with every test passed."""
    command = ["timeout", "--foreground", str(seconds), "ctest", "--test-dir", str(report.parent),
               *REPORT_OPTIONS, "--output-junit", str(report.resolve()), *arguments]
    status = subprocess.run(command, check=False).returncode
    if status == OUT_OF_TIME:
        print(f"error: the tests of {report} took more than {seconds} s", file=sys.stderr)
    return status == 0


def part_of(tests, number, count):
    """Numbers, as ctest counts, of the tests of a part; `tests` are (name, labels) in ctest's order."""
    kept, others = [], []
    for place, (_, labels) in enumerate(tests, 1):
        if labels & ALWAYS:
            kept.append(place)
        elif LONG not in labels:
            others.append(place)
    return sorted(kept + others[number::count])


def labelled_tests(build):
    listing = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                             capture_output=True, text=True, timeout=60, check=True)
    return [(test["name"], {label for some in test.get("properties", ()) if some["name"] == "LABELS"
                            for label in some["value"]}) for test in json.loads(listing.stdout)["tests"]]


def selection(build, part):
    """ctest's arguments for a part, "K/N"."""
    number, _, count = part.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise SystemExit(f"error: --part: '{part}' is not K/N with K from 0 to N - 1")
    places = part_of(labelled_tests(build), int(number), int(count))
    # Begin, end and stride are none: the numbers behind them are what runs.
    return ["-I", ",".join(["0", "0", "1", *map(str, places)])]


def excused_tests(build):
    listing = subprocess.run(["ctest", "--test-dir", str(build), "-N", "-L", f"^{EXCUSED}$"],
                             capture_output=True, text=True, timeout=60, check=True)
    return set(re.findall(r"^ *Test *#\d+: (\S+)", listing.stdout, re.MULTILINE))


def second_chance(report, again):
    """Whether everything that failed is excused and passed when run once more."""
    if not report.is_file():
        return False
    failed = {case.name for case in test_report.read_cases(report) if case.outcome == "failed"}
    excused = sorted(failed & excused_tests(report.parent))
    if not excused:
        return False
    print(f"once more: {' '.join(excused)}", flush=True)
    names = "|".join(map(re.escape, excused))
    passed = ctest(again, SECONDS_AGAIN, "-j", "1", "-R", f"^({names})$")
    return passed and set(excused) == failed


def main():
    if len(sys.argv) < 3 or not sys.argv[2].isdecimal():
        print(__doc__, file=sys.stderr)
        return 2
    report, seconds = pathlib.Path(sys.argv[1]), sys.argv[2]
    again = test_report.again_path(report)
    for old in (report, again):
        old.unlink(missing_ok=True)
    arguments = sys.argv[3:]
    if arguments[:1] == ["--part"] and len(arguments) > 1:
        arguments[:2] = selection(report.parent, arguments[1])
    passed = ctest(report, seconds, *arguments)
    return 0 if passed or second_chance(report, again) else 1


if __name__ == "__main__":
    sys.exit(main())
