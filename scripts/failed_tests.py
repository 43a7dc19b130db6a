#!/usr/bin/env python3
"""Prints the failed tests of ctest's JUnit reports, each with the end of its output.

    scripts/failed_tests.py REPORT.xml...

scripts/test.sh ends with it, so that the last page of a long log says what to look at.
"""

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_OUTPUT = 30
TESTS_WITH_OUTPUT = 5


def failed_tests(report):
    """(name, output) of every failed test of a report."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        if case.get("status") == "fail":
            yield case.get("name"), case.findtext("system-out") or ""


def print_failures(report):
    failures = list(failed_tests(report))
    print(f"{report}: {len(failures)} failed")
    for name, output in failures[:TESTS_WITH_OUTPUT]:
        lines = output.rstrip().splitlines()
        print(f"-- {name}: the last of {len(lines)} lines")
        print("\n".join(lines[-LINES_OF_OUTPUT:]))
    for name, _ in failures[TESTS_WITH_OUTPUT:]:
        print(f"-- {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", nargs="+", type=pathlib.Path, metavar="REPORT.xml")
    for report in parser.parse_args().reports:
        if not report.is_file():
            print(f"{report}: not written, the run ended before its tests did")
            continue
        print_failures(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
