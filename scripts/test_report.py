#!/usr/bin/env python3
"""Prints what ctest's JUnit reports hold: what failed, with the end of its output, what passed only
when run again, what was skipped, by reason, and one line of counts per report.

    scripts/test_report.py [--failed-steps N] REPORT.xml...

scripts/test.sh ends with it, so that the last page of a long log says what to look at. Beside a
REPORT.xml stands REPORT-again.xml when scripts/run_ctest.py ran some of its tests once more. A test
that wants a data set which is not there says so with a reason that begins with "no data: ": the last
line then does not say that all passed.
"""

import argparse
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_OUTPUT = 30
TESTS_WITH_OUTPUT = 5
NO_DATA = "no data: "
NO_REASON = "no reason given"

# What GoogleTest, unittest (verbose) and the shell scripts print for each test that they skip.
SKIPS = (re.compile(r": Skipped\n(.*?)\n+\[  SKIPPED \]", re.DOTALL),
         re.compile(r"\.\.\. skipped (['\"])(?P<reason>.*)\1$", re.MULTILINE),
         re.compile(r"^skipped: (.*)$", re.MULTILINE))

Case = collections.namedtuple("Case", "name outcome output")


def outcome(element):
    """passed, skipped or failed: what could not be run for a broken fixture or program has failed."""
    if element.get("status") in ("run", "disabled"):
        return {"run": "passed", "disabled": "skipped"}[element.get("status")]
    skipped = element.find("skipped")
    asked_for = skipped is not None and skipped.get("message", "").startswith("SKIP_")
    return "skipped" if asked_for else "failed"


def read_cases(report):
    for element in ElementTree.parse(report).getroot().iter("testcase"):
        yield Case(element.get("name"), outcome(element), element.findtext("system-out") or "")


def again_path(report):
    return report.with_name(f"{report.stem}-again.xml")


def read_report(report):
    """{name: case} of a report, and the names of the tests that passed only when run again."""
    cases = {case.name: case for case in read_cases(report)}
    again = again_path(report)
    second = {case.name: case for case in read_cases(again)} if again.is_file() else {}
    failed = {name for name, case in cases.items() if case.outcome == "failed"}
    rescued = sorted(name for name in failed & second.keys() if second[name].outcome == "passed")
    return cases | {name: second[name] for name in rescued}, rescued


def skip_reasons(case):
    """One reason for each test that the program of this case left out: a passing one may, too."""
    reasons = [" ".join(match.groupdict().get("reason", match[1]).split())
               for pattern in SKIPS for match in pattern.finditer(case.output)]
    return reasons or ([NO_REASON] if case.outcome == "skipped" else [])


def print_failures(cases):
    failures = [case for case in cases if case.outcome == "failed"]
    for case in failures[:TESTS_WITH_OUTPUT]:
        lines = case.output.rstrip().splitlines()
        print(f"-- {case.name}: the last of {len(lines)} lines")
        print("\n".join(lines[-LINES_OF_OUTPUT:]))
    for case in failures[TESTS_WITH_OUTPUT:]:
        print(f"-- {case.name}")


def print_report(report):
    """Returns how many tests were skipped for each reason."""
    if not report.is_file():
        print(f"{report}: not written, the run ended before its tests did")
        return collections.Counter()
    cases, rescued = read_report(report)
    outcomes = collections.Counter(case.outcome for case in cases.values())
    print(f"{report}: {outcomes['failed']} failed, {outcomes['skipped']} skipped, "
          f"{outcomes['passed']} passed")
    print_failures(cases.values())
    if rescued:
        print(f"   passed only when run again: {' '.join(rescued)}")
    return collections.Counter(reason for case in cases.values() for reason in skip_reasons(case))


def closing_line(failed_steps, reasons):
    if failed_steps:
        return f"{failed_steps} step(s) failed."
    without = sum(count for reason, count in reasons.items() if reason.startswith(NO_DATA))
    if without:
        return f"Passed without data: {without} test(s) did not find theirs."
    return "All steps passed."


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--failed-steps", type=int, metavar="N",
                        help="of the whole run; the last line then says how it ended")
    parser.add_argument("reports", nargs="*", type=pathlib.Path, metavar="REPORT.xml")
    arguments = parser.parse_args()
    reasons = collections.Counter()
    for report in arguments.reports:
        reasons += print_report(report)
    if reasons:
        print("Skipped, by reason (whole tests and parts of passing ones):")
    for reason, count in reasons.most_common():
        print(f"{count:6d}  {reason}")
    if arguments.failed_steps is not None:
        print(closing_line(arguments.failed_steps, reasons))
    return 0


if __name__ == "__main__":
    sys.exit(main())
