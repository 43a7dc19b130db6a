"""Compares the queries per second of one slot and of the most slots in a sweep's JSON lines.

    pipelining.py JSON LEAST

Ends with an error when a tier has not at least LEAST times as many with the most, or when recall and
counts differ between lines.
"""
import json
import sys

EXACT = ("recall", "reads_per_query", "bytes_per_query", "hops_per_query")


def main(path, least):
    with open(path) as lines:
        rows = [json.loads(line) for line in lines]
    if len({tuple(row[key] for key in EXACT) for row in rows}) != 1:
        sys.exit(f"recall or counts differ between the lines of {path}")
    for tier in dict.fromkeys(row["tier"] for row in rows):
        rates = {row["slots"]: row["qps"] for row in rows if row["tier"] == tier}
        most = max(rates)
        ratio = rates[most] / rates[1]
        print(f"{tier}: {rates[1]:.1f} queries/s at 1 slot, {rates[most]:.1f} at {most}: "
              f"{ratio:.1f} times")
        if ratio < float(least):
            sys.exit(f"{tier}: less than {least} times")


if __name__ == "__main__":
    main(*sys.argv[1:])
