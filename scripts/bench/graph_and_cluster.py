#!/usr/bin/python3
"""Graph against cluster index: throughput against size on every tier, and what a query costs.

Builds graphs of several degrees and clusters with several replications, chooses on the first half
of the queries each one's list or number of clusters for a recall, and measures the second half in
rounds in which every index takes its turn. Coded clusters have both: the clusters are SLACK times
those that reach the recall with a list of which nothing is left out, the list is the least that
reaches it with them. Prints tables in Markdown, and with --figure draws the
throughput against the size, a row per data set and a column per tier (the study of second-tier
memory, Figure 13 and Table 5). The tier ssd is the disk that the indexes of --work lie on. Run it on a quiet machine; indexes that are in --work are used again.

Example:
    scripts/bench/graph_and_cluster.py --set sift1m=DATA/sift1m,16000 --work /tmp/both \\
        --json both.jsonl --figure both.png
    scripts/bench/graph_and_cluster.py --from both.jsonl --figure both.png
"""
import argparse
import json
import math
import pathlib
import statistics
import sys

import matplotlib

from sweeps import Sweeps, least, read_rows, run, spread

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

TIERS = ("dram", "emulated:rdma", "emulated:cxl", "emulated:nvm", "emulated:ssd", "ssd")
DEGREES = (16, 32, 48)
REPLICAS = (1, 2, 4, 8)
WIDTH = 3
# Searches in flight: what hides the tier's latency without crowding the core's cache.
SLOTS = {"graph": 8, "cluster": 2}
SLOTS_OF_TIERS = {"emulated:ssd": 64, "ssd": 16}
# Okabe and Ito's palette.
COLOURS = {"graph": "#0072B2", "cluster, grouped": "#D55E00", "cluster, coupled": "#009E73",
           "cluster, coded": "#CC79A7"}
MARKERS = {"graph": "o", "cluster, grouped": "s", "cluster, coupled": "^", "cluster, coded": "D"}
LAYOUTS = ("grouped", "coupled", "coded")
# Clusters of a coded index over those that it would need if it read every vector.
SLACK = 1.15
LONGEST = 4096


class DataSet:
    def __init__(self, text):
        name, rest = text.split("=", 1)
        folder, clusters, *ratio = rest.split(",")
        self.name, self.clusters = name, int(clusters)
        self.closure_ratio = ratio[0] if ratio else None
        folder = pathlib.Path(folder)
        self.base = next(p for p in sorted(folder.iterdir()) if p.stem == "base")
        self.queries = next(p for p in sorted(folder.iterdir()) if p.stem == "query")
        self.truth = folder / "gt100.ibin"
        with self.base.open("rb") as file:
            self.dimension = int.from_bytes(file.read(8)[4:], "little")


def build(arguments, data):
    """[(kind, name, folder)]"""
    indexes = []
    (arguments.work / data.name).mkdir(parents=True, exist_ok=True)
    for degree in arguments.degrees:
        out = arguments.work / data.name / f"graph-{degree}"
        if not (out / "manifest.json").exists():
            print(f"building {out}", file=sys.stderr)
            run([arguments.farvec, "build", "graph", "--data", data.base, "--metric", "l2",
                 "--degree", degree, "--list", max(75, 2 * degree), "--alpha", 1.15, "--passes", 2,
                 "--code-bits", 4, "--out", out, "--quiet"])
        indexes.append(("graph", f"graph, degree {degree}", out))
    for replicas in arguments.replicas:
        out = arguments.work / data.name / f"r{replicas}"
        if not all((out / layout / "manifest.json").exists() for layout in arguments.layouts):
            print(f"building {out}", file=sys.stderr)
            ratio = ["--closure-ratio", data.closure_ratio] if data.closure_ratio else []
            run([arguments.farvec, "build", "cluster", "--data", data.base, "--metric", "l2",
                 "--heads", arguments.heads, "--closure", arguments.closure, "--clusters",
                 data.clusters, "--replicas", replicas, "--layout", "all", "--out", out,
                 "--code-bits", arguments.code_bits, "--overwrite", "--quiet", *ratio])
        for layout in arguments.layouts:
            indexes.append((f"cluster, {layout}", f"{layout}, R = {replicas}", out / layout))
    return indexes


def parameter(kind, number):
    if kind == "graph":
        return ["--list", number, "--width", WIDTH]
    if kind == "cluster, coded":
        probe, length = number
        return ["--probe", probe, "--list", length]
    return ["--probe", number]


def tiers_by_slots(tiers, kind):
    by_slots = {}
    for tier in tiers:
        slots = SLOTS_OF_TIERS.get(tier, SLOTS[kind.split(",")[0]])
        by_slots.setdefault(slots, []).append(tier)
    return by_slots


def choose(sweeps, kind, index, recall):
    """The least list or number of clusters that reaches the recall on the first half."""
    reach = lambda number: sweeps.reaches(index, recall, parameter(kind, number))
    if kind == "cluster, coded":
        clusters = least(lambda probe: reach((probe, LONGEST)), 0, 1, most=4096)
        if clusters is None:
            return None
        probe = math.ceil(SLACK * clusters)
        return probe, least(lambda length: reach((probe, length)), 9, 10, most=LONGEST)
    low = 9 if kind == "graph" else 0
    return least(reach, low, low + 1, most=4096)


def measure(arguments, data):
    """Rows of all rounds, marked with `series` and `name`."""
    sweeps = Sweeps(arguments.farvec, data.queries, data.truth, arguments.cpu)
    chosen = []
    for kind, name, index in build(arguments, data):
        for recall in arguments.recalls:
            number = choose(sweeps, kind, index, recall)
            print(f"{data.name}: {name}: recall {recall} with {number}", file=sys.stderr)
            if number is not None:
                chosen.append((kind, name, index, recall, number))
    rows = []
    for number_of_round in range(arguments.rounds):
        for kind, name, index, recall, number in (chosen if number_of_round % 2 == 0
                                                  else chosen[::-1]):
            for slots, tiers in tiers_by_slots(arguments.tiers, kind).items():
                for row in sweeps.rows(index, sweeps.second_half, [
                        *parameter(kind, number), "--slots", slots, "--tier", ",".join(tiers),
                        "--passes", arguments.passes, "--pass-ms", arguments.pass_ms]):
                    rows.append({**row, "set": data.name, "series": kind, "name": name,
                                 "dimension": data.dimension, "wanted": recall,
                                 "parameter": number})
        print(f"{data.name}: round {number_of_round + 1} of {arguments.rounds}", file=sys.stderr)
    return rows


def grouped_by(rows, *names):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def words(parameter):
    """3, or 3 / 40 of coded clusters."""
    return " / ".join(map(str, parameter if isinstance(parameter, (list, tuple)) else [parameter]))


def size(row):
    return row["index_bytes"] / row["dataset_bytes"]


def print_tables(rows):
    for (name, recall), group in grouped_by(rows, "set", "wanted").items():
        tiers = list(dict.fromkeys(row["tier"] for row in group))
        print(f"\n### {name}, recall@10 {recall}\n")
        print("| index | L or probes (and L) | recall | size | compute DRAM | requests | KB read "
              "| distances | estimates | operations per byte | "
              + " | ".join(f"QPS, `{tier}`" for tier in tiers) + " |")
        print("|---" * (10 + len(tiers)) + "|")
        for (index,), mine in grouped_by(group, "name").items():
            row = mine[0]
            work = row["distances_per_query"] + row["estimates_per_query"]
            rates = [spread([r["qps"] for r in mine if r["tier"] == tier]) for tier in tiers]
            print(f"| {index} | {words(row['parameter'])} | {row['recall']:.4f} | {size(row):.2f} "
                  f"| {row['compute_dram_bytes'] / row['dataset_bytes']:.2f} "
                  f"| {row['reads_per_query']:,.1f} | {row['bytes_per_query'] / 1000:,.1f} "
                  f"| {row['distances_per_query']:,.0f} | {row['estimates_per_query']:,.0f} "
                  f"| {work * row['dimension'] / row['bytes_per_query']:.1f} | "
                  + " | ".join(rates) + " |")


def draw(rows, path):
    recall = max(row["wanted"] for row in rows)
    rows = [row for row in rows if row["wanted"] == recall]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    tiers = list(dict.fromkeys(row["tier"] for row in rows))
    figure, grid = pyplot.subplots(len(sets), len(tiers), squeeze=False, sharex="row",
                                   sharey="row", layout="constrained",
                                   figsize=(2.5 * len(tiers) + 1, 2.3 * len(sets) + 0.7))
    for line, name in zip(grid, sets):
        for axes, tier in zip(line, tiers):
            panel = [row for row in rows if row["set"] == name and row["tier"] == tier]
            for (series,), mine in grouped_by(panel, "series").items():
                points = sorted((size(group[0]), statistics.median(r["qps"] for r in group))
                                for group in grouped_by(mine, "name").values())
                axes.plot(*zip(*points), label=series, color=COLOURS[series],
                          marker=MARKERS[series], markersize=4, linewidth=1.2)
            if not panel:
                axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center",
                          fontsize=7)
            axes.set_yscale("log")
            axes.grid(True, which="both", linewidth=0.4, alpha=0.4)
            axes.set_title(f"{name}, {tier}", fontsize=8)
            axes.tick_params(labelsize=7)
    for axes in grid[:, 0]:
        axes.set_ylabel("queries per second", fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("index size / data size", fontsize=8)
    grid[0][0].legend(fontsize=6, frameon=False)
    models = sorted({str(row["tier_model"]) for row in rows if row["tier"].startswith("emulated")})
    figure.supxlabel(f"one thread, recall@10 {recall}. Models: " + "; ".join(models), fontsize=6)
    figure.savefig(path, dpi=160)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--farvec", type=lambda text: pathlib.Path(text).absolute(),
                        default="build/release/bin/farvec")
    parser.add_argument("--set", action="append", type=DataSet, default=[], dest="sets",
                        metavar="NAME=FOLDER,CLUSTERS[,CLOSURE_RATIO]",
                        help="folder with base.*, query.* and gt100.ibin; may be given again")
    parser.add_argument("--from", action="append", type=pathlib.Path, default=[], dest="files",
                        help="rows that --json wrote before, instead of measuring")
    parser.add_argument("--work", type=pathlib.Path, help="folder of the indexes")
    parser.add_argument("--json", type=pathlib.Path, help="file for the rows of all rounds")
    parser.add_argument("--figure", type=pathlib.Path)
    comma = lambda kind: lambda text: [kind(word) for word in text.split(",")]
    parser.add_argument("--tiers", type=comma(str), default=TIERS)
    parser.add_argument("--recalls", type=comma(float), default=(0.90, 0.95))
    parser.add_argument("--degrees", type=comma(int), default=DEGREES)
    parser.add_argument("--replicas", type=comma(int), default=REPLICAS)
    parser.add_argument("--layouts", type=comma(str), default=LAYOUTS, help="of clusters")
    parser.add_argument("--code-bits", type=int, default=2, help="of coded clusters")
    parser.add_argument("--heads", default="means", help="of clusters: means, vectors, rounded")
    parser.add_argument("--closure", default="fitted", help="of clusters: fitted, spann, sptag")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=2, help="of one round")
    parser.add_argument("--pass-ms", type=int, default=100)
    parser.add_argument("--cpu", type=int, default=1, help="processor of the measurements")
    parser.add_argument("--build-only", action="store_true")
    arguments = parser.parse_args()
    if bool(arguments.sets) == bool(arguments.files) or (arguments.sets and not arguments.work):
        parser.error("either --set with --work, or --from")
    return arguments


def main():
    arguments = parse_arguments()
    rows = [row for path in arguments.files for row in read_rows(path)]
    for data in arguments.sets:
        if arguments.build_only:
            build(arguments, data)
            continue
        measured = measure(arguments, data)
        rows += measured
        if arguments.json:
            with arguments.json.open("a") as out:
                out.writelines(json.dumps(row) + "\n" for row in measured)
    if not rows:
        return
    print_tables(rows)
    if arguments.figure:
        draw(rows, arguments.figure)


if __name__ == "__main__":
    main()
