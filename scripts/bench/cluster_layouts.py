#!/usr/bin/env python3
"""The four layouts of a cluster index beside each other, as tables in Markdown.

Builds clusters with R = 8 and R = 1, chooses on the first half of the queries how many to probe for
each recall, and measures the second half in rounds in which every layout takes its turn. Run it on
a quiet machine; with faiss in --faiss-python it adds IVF-Flat with as many lists (--faiss-only:
nothing but that).
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from sweeps import Sweeps, least, run, spread

LAYOUTS = ("coupled", "decoupled", "grouped", "grouped-inline")
# Plain: what the decoupled layout reads when nothing is saved.
RUNS = (("coupled", "on"), ("decoupled", "off"), ("grouped", "on"), ("grouped-inline", "on"))
# What grouping and deduplication each save: counts only.
COUNTED = (("decoupled", "on"), ("grouped", "off"))


def build(arguments, replicas):
    out = arguments.out / f"r{replicas}"
    if not (out / "grouped" / "manifest.json").exists():
        print(f"building {out}", file=sys.stderr)
        extra = ["--closure-ratio", arguments.closure_ratio] if arguments.closure_ratio else []
        run([arguments.farvec, "build", "cluster", "--data", arguments.data, "--metric",
             arguments.metric, "--heads", arguments.heads, "--closure", arguments.closure,
             "--clusters", arguments.clusters, "--replicas", replicas, "--layout",
             "all", "--out", out, "--overwrite", "--quiet", *extra], stderr=subprocess.DEVNULL)
    return out


def choose(arguments, index, recall):
    """The fewest clusters to probe that reach the recall on the first half."""
    return least(lambda probe: arguments.sweeps.reaches(index, recall, ["--probe", probe]), 0, 1)


def measure(arguments, folder, probe):
    """{(layout, dedup, tier): rows of all rounds}"""
    found = {}
    for layout, dedup in COUNTED:
        for row in arguments.sweeps.rows(folder / layout, arguments.sweeps.second_half, [
                "--probe", probe, "--dedup", dedup, "--tier", arguments.tiers, "--passes", 1,
                "--pass-ms", 1]):
            found[layout, dedup, row["tier"]] = [row]
    for number in range(arguments.rounds):
        order = RUNS if number % 2 == 0 else RUNS[::-1]
        for layout, dedup in order:
            rows = arguments.sweeps.rows(folder / layout, arguments.sweeps.second_half, [
                "--probe", probe, "--dedup", dedup, "--slots", arguments.slots, "--tier",
                arguments.tiers, "--passes", 1, "--pass-ms", arguments.pass_ms])
            for row in rows:
                found.setdefault((layout, dedup, row["tier"]), []).append(row)
        print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    return found


def ratio(found, tier, over, under):
    pairs = [a["qps"] / b["qps"] for a, b in zip(found[(*over, tier)], found[(*under, tier)])]
    return f"{statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})"


def print_tables(arguments, recall, probe, found):
    tiers = list(dict.fromkeys(tier for _, _, tier in found))
    any_row = found["grouped", "on", tiers[0]][0]
    print(f"\n### Recall {recall}: {probe} of {arguments.clusters} clusters, recall@10 "
          f"{any_row['recall']:.4f}\n")
    print("| layout | dedup | tier | size | requests | groups + lists | strays | bytes | distances "
          "| QPS | p50 us | p99 us |")
    print("|---" * 12 + "|")
    for layout, dedup in RUNS:
        for tier in tiers:
            rows = found[layout, dedup, tier]
            row = rows[0]
            print(f"| {layout} | {dedup} | `{tier}` | {row['amplification']:.3f} "
                  f"| {row['reads_per_query']:,.1f} "
                  f"| {row['group_reads_per_query'] + row['list_reads_per_query']:,.1f} "
                  f"| {row['stray_reads_per_query']:,.1f} | {row['bytes_per_query']:,.0f} "
                  f"| {row['distances_per_query']:,.0f} "
                  f"| {spread([r['qps'] for r in rows])} "
                  f"| {statistics.median(r['p50_us'] for r in rows):.0f} "
                  f"| {statistics.median(r['p99_us'] for r in rows):.0f} |")
    print("\n| tier | grouped over plain decoupled | grouped over coupled | inline over coupled "
          "| requests saved | by grouping alone | by dedup alone |")
    print("|---" * 7 + "|")
    for tier in tiers:
        reads = lambda layout, dedup: found[layout, dedup, tier][0]["reads_per_query"]
        plain = reads("decoupled", "off")
        print(f"| `{tier}` | {ratio(found, tier, ('grouped', 'on'), ('decoupled', 'off'))} "
              f"| {ratio(found, tier, ('grouped', 'on'), ('coupled', 'on'))} "
              f"| {ratio(found, tier, ('grouped-inline', 'on'), ('coupled', 'on'))} "
              f"| {1 - reads('grouped', 'on') / plain:.1%} "
              f"| {1 - reads('grouped', 'off') / plain:.1%} "
              f"| {1 - reads('decoupled', 'on') / plain:.1%} |")


FAISS = """
import json, sys, time
import faiss, numpy as np
base, query, truth, lists, probe, first, last, rounds = sys.argv[1:9]
def read(path):
    kind = {"u8bin": np.uint8, "i8bin": np.int8, "fbin": np.float32}[path.rsplit(".", 1)[1]]
    n, d = np.fromfile(path, np.uint32, 2)
    return np.fromfile(path, kind, offset=8).reshape(n, d).astype(np.float32)
faiss.omp_set_num_threads(2)
x, q = read(base), read(query)[int(first):int(last)]
n, k = np.fromfile(truth, np.uint32, 2)
ids = np.fromfile(truth, np.uint32, int(n) * int(k), offset=8).reshape(n, k)[int(first):int(last)]
dist = np.fromfile(truth, np.float32, int(n) * int(k), offset=8 + 4 * int(n) * int(k))
dist = dist.reshape(n, k)[int(first):int(last)]
index = faiss.index_factory(x.shape[1], f"IVF{lists},Flat")
index.train(x); index.add(x)
faiss.omp_set_num_threads(1)
index.nprobe = int(probe)
rates = []
for _ in range(int(rounds)):
    start = time.perf_counter(); _, found = index.search(q, 10)
    rates.append(len(q) / (time.perf_counter() - start))
bound = dist[:, 9:10] * (1 + 1e-6)
exact = ((x[found] - q[:, None, :]) ** 2).sum(-1)
print(json.dumps({"recall": float((exact <= bound).mean()), "qps": rates}))
"""


def beside_faiss(arguments, folder, probe):
    """IVF-Flat and our R = 1 with as many lists and probes, on one thread."""
    result = subprocess.run(["taskset", "-c", str(arguments.cpu or 0), arguments.faiss_python, "-c",
                             FAISS, arguments.data, arguments.queries, arguments.groundtruth,
                             str(arguments.clusters), str(probe),
                             *map(str, arguments.sweeps.second_half),
                             str(arguments.rounds)],
                            check=True, capture_output=True, text=True)
    theirs = json.loads(result.stdout.splitlines()[-1])
    ours = [arguments.sweeps.rows(folder / "grouped", arguments.sweeps.second_half, [
        "--probe", probe, "--slots", 2, "--tier", "dram", "--passes", 1, "--pass-ms",
        arguments.pass_ms])[0] for _ in range(arguments.rounds)]
    rates = [row["qps"] for row in ours]
    print(f"| {probe} | {theirs['recall']:.4f} | {spread(theirs['qps'])} "
          f"| {ours[0]['recall']:.4f} | {spread(rates)} "
          f"| {statistics.median(rates) / statistics.median(theirs['qps']):.2f} |")


def compare_layouts(arguments, recalls):
    eight, one = build(arguments, 8), build(arguments, 1)
    print("| recall | probed, R = 8 | probed, R = 1 | fewer |\n|---|---|---|---|")
    probes = {}
    for recall in recalls:
        probes[recall] = choose(arguments, eight / "grouped", recall)
        of_one = choose(arguments, one / "grouped", recall)
        print(f"| {recall} | {probes[recall]} | {of_one} | {of_one / probes[recall]:.1f} times |")
    sys.stdout.flush()
    for recall in recalls:
        print_tables(arguments, recall, probes[recall], measure(arguments, eight, probes[recall]))
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--farvec", default="build/release/bin/farvec")
    parser.add_argument("--data", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--groundtruth", required=True)
    parser.add_argument("--metric", default="l2")
    parser.add_argument("--clusters", type=int, required=True)
    parser.add_argument("--heads", default="means")
    parser.add_argument("--closure", default="fitted")
    parser.add_argument("--closure-ratio", type=float, help="of R = 8 and R = 1 alike")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the indexes")
    parser.add_argument("--tiers", default="emulated:rdma,emulated:cxl,emulated:nvm")
    parser.add_argument("--recall", default="0.90,0.95")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pass-ms", type=int, default=200)
    parser.add_argument("--cpu", type=int, default=1, help="processor of the measurements")
    parser.add_argument("--faiss-python", help="a Python with faiss")
    parser.add_argument("--faiss-only", action="store_true")
    arguments = parser.parse_args()
    arguments.sweeps = Sweeps(arguments.farvec, arguments.queries, arguments.groundtruth,
                              arguments.cpu, subprocess.DEVNULL)

    recalls = [float(text) for text in arguments.recall.split(",")]
    if not arguments.faiss_only:
        compare_layouts(arguments, recalls)
    if arguments.faiss_python:
        one = build(arguments, 1)
        print("\n| probed | faiss recall | faiss QPS | recall | QPS, `dram` | ratio |\n"
              "|---|---|---|---|---|---|")
        for recall in recalls:
            beside_faiss(arguments, one, choose(arguments, one / "grouped", recall))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
