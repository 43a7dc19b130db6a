#!/usr/bin/env python3
"""Runs the tests of a build folder BUILD and leaves ctest's JUnit report there.

    scripts/run_ctest.py BUILD/REPORT.xml SECONDS [CTEST ARGUMENT...]

Tests with the label rdma that failed run once more, one at a time: they boot guests, which a busy
machine can make late. No other test has such an excuse. What the second run gave is in
BUILD/REPORT-again.xml; scripts/test_report.py names what passed only there. Exit status 1 when a
test failed (rdma: twice), when no test ran, and when SECONDS were not enough.
"""

import pathlib
import re
import subprocess
import sys

import test_report

EXCUSED = "rdma"
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
    passed = ctest(report, seconds, *sys.argv[3:])
    return 0 if passed or second_chance(report, again) else 1


if __name__ == "__main__":
    sys.exit(main())
