#!/usr/bin/env python3
"""Graphs of the same data with fewer and fewer bits, at equal recall.

Each is built, and the first half of the queries chooses the least list with the wanted recall. The second
half gives recall, rate and latency on each tier: the median of the passes, with the least and the most.
Prints a table for docs/results.

Example:
    scripts/bench/few_bits.py --farvec build/release/bin/farvec --data data/text768-200K --metric cosine \\
        --tier dram --tier emulated:rdma
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

LISTS = (10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 56, 68, 80, 96, 113, 136, 160, 192, 226, 272, 320, 452, 640,
         1280)
KINDS = {
    "f32": [],
    "f32, RaBitQ codes of 1 bit": ["--code-bits", "1"],
    "f16": ["--store", "f16"],
    "i8": ["--store", "i8"],
    "b1 by sign, hamming": ["--store", "b1"],
    "b1 by mean, hamming": ["--store", "b1", "--by", "mean"],
    "b1 by mean, jaccard": ["--store", "b1", "--by", "mean", "--bits-metric", "jaccard"],
}
COLUMNS = ("index", "tier", "list", "recall", "rate", "p99 us", "reads", "of these ranked again", "KB read",
           "build s", "index bytes", "second copy bytes")


def run(farvec, *arguments):
    result = subprocess.run([farvec, *map(str, arguments)], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments[:2]))}: {result.stderr.strip()}")
    return result.stdout


def sweep(options, index, queries, lists, tier, passes):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        run(options.farvec, "sweep", "--index", index, "--queries", options.queries, "--groundtruth",
            options.truth, "--k", options.k, "--queries-range", queries, "--list", ",".join(map(str, lists)),
            "--tier", tier, "--passes", passes, "--pass-ms", options.pass_ms, "--json", lines.name,
            "--overwrite")
        return [json.loads(line) for line in pathlib.Path(lines.name).read_text().splitlines()]


def least_list(options, index):
    """The least list with which the first half of the queries reaches the recall; None: no list does."""
    for size in LISTS:
        line = sweep(options, index, f"0:{options.half}", [size], "dram", 1)[0]
        if line["recall"] >= options.recall:
            return size
    return None


def folder_bytes(index):
    sizes = {path.name: path.stat().st_size for path in index.iterdir()}
    second = sizes.pop("second.bin", 0)
    return sum(sizes.values()), second


def rows_of(options, name, extra, folder):
    index = folder / name.replace(" ", "-").replace(",", "")
    began = time.monotonic()
    run(options.farvec, "build", "graph", "--data", options.base, "--metric", options.metric, "--out", index,
        "--quiet", *extra)
    seconds = time.monotonic() - began
    records, second = folder_bytes(index)
    size = least_list(options, index)
    if size is None:
        yield [name, "", f"over {LISTS[-1]}", f"below {options.recall}", "", "", "", "", "",
               f"{seconds:.1f}", f"{records:,}", f"{second:,}"]
        return
    for tier in options.tier:
        line = sweep(options, index, f"{options.half}:{options.count}", [size], tier, options.passes)[0]
        yield [name, f"`{tier}`", size, f"{line['recall']:.4f}",
               f"{line['qps']:,.0f} ({line['qps_min']:,.0f} to {line['qps_max']:,.0f})",
               f"{line['p99_us']:,.0f}", f"{line['reads_per_query']:.1f}",
               f"{line.get('rerank_reads_per_query', 0):.1f}", f"{line['bytes_per_query'] / 1000:.1f}",
               f"{seconds:.1f}", f"{records:,}", f"{second:,}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--farvec", default="build/release/bin/farvec", help="the tool")
    parser.add_argument("--data", required=True, help="folder with base.*, query.* and gt100.ibin")
    parser.add_argument("--metric", required=True)
    parser.add_argument("--tier", action="append", help="several, each with its own --tier [dram]")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--pass-ms", type=int, default=1000)
    options = parser.parse_args()
    options.tier = options.tier or ["dram"]
    data = pathlib.Path(options.data)
    options.base = next(path for path in data.glob("base.*bin"))
    options.queries = next(path for path in data.glob("query.*bin"))
    options.truth = data / "gt100.ibin"
    options.count = json.loads(run(options.farvec, "dataset", "info", options.queries, "--json"))["count"]
    options.half = options.count // 2
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.kinds:
            for row in rows_of(options, name, KINDS[name], pathlib.Path(folder)):
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
