#!/usr/bin/env python3
"""Prints the rates of the kernels for bits as tables, of runs of distance_bench in turn.

    scripts/bench/bit_kernels.py --bench build/release/bin/distance_bench --passes 7
"""
import argparse
import collections
import json
import statistics
import subprocess

FORMS = {
    "pair": "a pair in the first-level cache, nanoseconds",
    "many": "random rows of 8 MiB, GB/s",
    "scan": "rows of 4 GiB in order, GB/s",
    "random": "random rows of 4 GiB, nanoseconds a row",
}
IDS = 32


def figure(form, entry):
    if form == "pair":
        return entry["cpu_time"]
    if form == "random":
        return entry["cpu_time"] / IDS
    return entry["bytes_per_second"] / 1e9


def one_pass(bench, chosen, seconds):
    command = [bench, f"--benchmark_filter={chosen}", "--benchmark_format=json",
               f"--benchmark_min_time={seconds}"]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(ran.stdout)["benchmarks"]


def cell(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def print_table(form, metric, figures):
    rows = [key for key in figures if key[0] == form and key[2] == metric]
    isas = list(dict.fromkeys(key[1] for key in rows))
    dimensions = list(dict.fromkeys(key[3] for key in rows))
    if not rows:
        return
    print(f"\n`{metric}`, {FORMS[form]}:\n")
    print("| bits | " + " | ".join(isas) + " |")
    print("|---|" + "---|" * len(isas))
    for dimension in dimensions:
        cells = [cell(figures[form, isa, metric, dimension]) for isa in isas]
        print(f"| {int(dimension):,} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True)
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.02, help="of each figure, in a pass")
    parser.add_argument("--filter", default="(pair|many|scan|random)/.*/(hamming|jaccard)/b1/"
                        "(128|384|768|1024|1536|16384)$")
    args = parser.parse_args()
    figures = collections.defaultdict(list)
    for _ in range(args.passes):
        for entry in one_pass(args.bench, args.filter, args.seconds):
            form, isa, metric, _, dimension = entry["name"].split("/")
            figures[form, isa, metric, dimension].append(figure(form, entry))
    for form in FORMS:
        for metric in ("hamming", "jaccard"):
            print_table(form, metric, figures)


if __name__ == "__main__":
    main()
