#!/usr/bin/python3
"""What a tier has of the rate that computation allows, where neighbours of the machine come and go.

In each round sweeps DRAM and the tiers in turn, short pass by short pass, on the second half of the
queries, and DRAM alone before and after that. The rounds whose DRAM alone, on both sides, was at least
QUIET of the best that it ever was are the quiet ones: what is measured in a round has no part in
whether it counts. Prints the share pass by pass of both kinds of rounds, the median of each and the
least and most.

Example:
    scripts/bench/bound_share.py --index text300k-16 --queries query.i8bin --groundtruth gt100.ibin \\
        --list 42 --tiers emulated:rdma,emulated:cxl --json shares.jsonl
"""
import argparse
import json
import pathlib
import sys

from sweeps import Sweeps, spread

DRAM = "dram"
TIMEOUT_S = 300
PROBE = ("--tier", DRAM, "--passes", 10, "--pass-ms", 20)
PASSES = ("--passes", 25, "--pass-ms", 20)  # short, so that a round is all quiet or all busy


def is_quiet(probes, quiet):
    """Of each round, which lies between two probes."""
    least = quiet * max(probes)
    return [min(sides) >= least for sides in zip(probes, probes[1:])]


def measure(sweeps, index, options, tiers, rounds, told):
    """({tier: share} of each round, rates of DRAM alone before, between and after them)."""
    timed = ["--tier", ",".join([DRAM, *tiers]), *PASSES]

    def probe():
        (row,) = sweeps.rows(index, sweeps.second_half, [*options, *PROBE])
        return row["qps"]

    shares, probes = [], [probe()]
    for number in range(rounds):
        rows = sweeps.rows(index, sweeps.second_half, [*options, *timed])
        shares.append({row["tier"]: row["compute_bound_share"] for row in rows if row["tier"] != DRAM})
        probes.append(probe())
        told(f"round {number + 1} of {rounds}: dram alone {probes[-1]:,.0f} queries/s")
    return shares, probes


def table(name, tiers, shares, quiet):
    """A line of Markdown for each tier."""
    kinds = [[one for one, it in zip(shares, quiet) if it is kind] for kind in (True, False)]
    for tier in tiers:
        cells = [cell for some in kinds for cell in (
            len(some), spread([one[tier] for one in some], ".3f") if some else "-")]
        yield f"| {' | '.join(map(str, [name, tier, *cells]))} |"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=pathlib.Path, required=True, help="of a graph")
    parser.add_argument("--queries", type=pathlib.Path, required=True)
    parser.add_argument("--groundtruth", type=pathlib.Path, required=True)
    parser.add_argument("--list", type=int, required=True, help="L, candidates kept")
    parser.add_argument("--width", type=int, default=3)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--tiers", default="emulated:rdma", help="separated by commas")
    parser.add_argument("--rounds", type=int, default=60, help="of some 2 s")
    parser.add_argument("--quiet", type=float, default=0.9, help="of the best rate of DRAM alone")
    parser.add_argument("--farvec", type=pathlib.Path, default=root / "build/release/bin/farvec")
    parser.add_argument("--cpu", type=int, help="processor to search on")
    parser.add_argument("--json", type=pathlib.Path, help="a line for each round is added to this file")
    options = parser.parse_args()
    if options.rounds < 1 or not 0 < options.quiet <= 1:
        parser.error("--rounds is at least 1, --quiet between 0 and 1")

    sweeps = Sweeps(options.farvec, options.queries, options.groundtruth, options.cpu)
    sweeps.timeout_s = TIMEOUT_S
    tiers = options.tiers.split(",")
    search = ["--k", 10, "--list", options.list, "--width", options.width, "--slots", options.slots]
    shares, probes = measure(sweeps, options.index, search, tiers, options.rounds,
                             lambda line: print(line, file=sys.stderr))
    quiet = is_quiet(probes, options.quiet)
    if options.json:
        with options.json.open("a") as out:
            for i, share in enumerate(shares):
                out.write(json.dumps({"index": str(options.index), "round": i, "quiet": quiet[i],
                                      "dram_alone": probes[i:i + 2], **share}) + "\n")
    print("| index | tier | quiet rounds | share | other rounds | share |\n|---|---|---|---|---|---|")
    print("\n".join(table(options.index, tiers, shares, quiet)))


if __name__ == "__main__":
    main()
