#!/usr/bin/env python3
"""Ways to make clusters beside each other: what heads are, which closure, how many, R from 1 to 8.

Two tables in Markdown. The first has counts from `cluster_recall`, which makes no index: clusters
per vector, distances, and requests of addresses alone, of deduplication, of grouping, and of both.
The second has every variant as indexes that `farvec sweep` searches: sizes, requests, bytes and
rates on every tier. Clusters to probe are chosen on the first half of the queries, vectors are
grouped by what that half probes, and all figures are of the second half. Indexes that are in
--work are used again; rates want a quiet machine.

Example:
    scripts/bench/cluster_variants.py --set sift1m=DATA/sift1m --work /tmp/variants \\
        --variant means,fitted,0.016 --variant vectors,sptag,0.16 --json variants.jsonl
"""
import argparse
import json
import pathlib
import sys

from sweeps import Sweeps, least, read_rows, run, spread

VARIANTS = ("means,fitted,0.016", "means,sptag,0.16", "vectors,fitted,0.16", "vectors,spann,0.16",
            "vectors,sptag,0.16", "vectors,sptag,0.016")
LAYOUTS = ("coupled", "decoupled", "grouped", "sampled")
GROUPINGS = ("members", "sample", "itself")


class Variant:
    """HEADS,CLOSURE,RATIO"""

    def __init__(self, text):
        self.name = text
        self.heads, self.closure, ratio = text.split(",")
        self.ratio = float(ratio)


class DataSet:
    """NAME=FOLDER"""

    def __init__(self, text):
        self.name, folder = text.split("=", 1)
        files = sorted(pathlib.Path(folder).iterdir())
        self.base = next(p for p in files if p.stem == "base")
        self.queries = next(p for p in files if p.stem == "query")
        self.truth = pathlib.Path(folder) / "gt100.ibin"
        self.count = int.from_bytes(self.base.open("rb").read(4), "little")


def count(arguments, data, variant):
    """Rows of cluster_recall, for every R and recall."""
    out = arguments.work / f"{data.name}-{variant.name.replace(',', '-')}.jsonl"
    if not out.exists():
        print(f"counting {out}", file=sys.stderr)
        run([arguments.farvec.parent / "cluster_recall", "--data", data.base, "--queries",
             data.queries, "--truth", data.truth, "--clusters", round(variant.ratio * data.count),
             "--heads", variant.heads, "--closure", variant.closure, "--replicas",
             ",".join(map(str, arguments.replicas)), "--recall",
             ",".join(map(str, arguments.recalls)), "--json", out])
    return read_rows(out)


def print_counts(data, variants):
    """`variants` are pairs of a variant and its rows."""
    print(f"\n### {data.name}: counts\n")
    print("| heads, closure, ratio | R | recall@10 | clusters per vector | largest | probed "
          "| distances | centroids compared | centroids estimated | addresses | dedup alone "
          "| grouping alone: members | sample | itself | both: members | sample | itself |")
    print("|---" * 17 + "|")
    for variant, rows in variants:
        for row in sorted(rows, key=lambda row: (row["wanted"], row["replicas"])):
            requests = [row["plain"], row["dedup"], *(row[f"grouped_{g}"] for g in GROUPINGS),
                        *(row[f"both_{g}"] for g in GROUPINGS)]
            print(f"| {variant.name} | {row['replicas']} | {row['recall']:.4f} "
                  f"| {row['copies']:.2f} | {row['largest']} | {row['probe']} "
                  f"| {row['distinct']:,.0f} | {row['centroid_distances']:,.0f} "
                  f"| {row['centroid_estimates']:,.0f} | {requests[0]:,.0f} | "
                  + " | ".join(f"{r:,.0f} ({r / requests[0] - 1:+.0%})" for r in requests[1:])
                  + " |")
    sys.stdout.flush()


def first_half(arguments, data):
    """A file with the first half of the queries."""
    out = arguments.work / f"{data.name}-first{data.queries.suffix}"
    content = data.queries.read_bytes()
    queries = int.from_bytes(content[:4], "little")
    row_bytes = (len(content) - 8) // queries
    out.write_bytes((queries // 2).to_bytes(4, "little") + content[4:8 + queries // 2 * row_bytes])
    return out


def build(arguments, data, variant, replicas):
    out = arguments.work / f"{data.name}-{variant.name.replace(',', '-')}-r{replicas}"
    if not (out / "grouped" / "manifest.json").exists():
        print(f"building {out}", file=sys.stderr)
        run([arguments.farvec, "build", "cluster", "--data", data.base, "--metric", "l2",
             "--head-ratio", variant.ratio, "--heads", variant.heads, "--closure", variant.closure,
             "--replicas", replicas, "--layout", "all", "--out", out, "--overwrite", "--quiet"])
    return out


def regroup(arguments, data, out, probe):
    """The grouped index by the probes of the first half, as `sampled`."""
    counts = out / "probes.json"
    run([arguments.farvec, "search", "--index", out / "grouped", "--queries",
         first_half(arguments, data), "--probe", probe, "--probe-counts", counts])
    run([arguments.farvec, "regroup", "--index", out / "grouped", "--frequencies", counts, "--out",
         out / "sampled", "--overwrite", "--quiet"])


def measure(arguments, data, variant, replicas):
    """Rows of all layouts, tiers and rounds."""
    sweeps = Sweeps(arguments.farvec, data.queries, data.truth, arguments.cpu)
    out = build(arguments, data, variant, replicas)
    rows = []
    for recall in arguments.recalls:
        probe = least(lambda p: sweeps.reaches(out / "grouped", recall, ["--probe", p]), 0, 1,
                      most=4096)
        if probe is None:
            print(f"{out}: no recall of {recall}", file=sys.stderr)
            continue
        regroup(arguments, data, out, probe)
        for number in range(arguments.rounds):
            for layout in LAYOUTS if number % 2 == 0 else LAYOUTS[::-1]:
                for row in sweeps.rows(out / layout, sweeps.second_half, [
                        "--probe", probe, "--slots", arguments.slots, "--tier", arguments.tiers,
                        "--passes", 1, "--pass-ms", arguments.pass_ms]):
                    rows.append({**row, "set": data.name, "variant": variant.name,
                                 "wanted": recall, "kind": layout})
    return rows


def print_rates(data, measured):
    """`measured` are triples of a variant, its R, and its rows."""
    tiers = list(dict.fromkeys(row["tier"] for _, _, rows in measured for row in rows))
    print(f"\n### {data.name}: indexes\n")
    print("| heads, closure, ratio | R | layout | recall@10 | probed | size | compute DRAM "
          "| requests | KB read | distances | "
          + " | ".join(f"QPS, `{tier}`" for tier in tiers) + " |")
    print("|---" * (10 + len(tiers)) + "|")
    for variant, replicas, rows in measured:
        for recall, layout in dict.fromkeys((row["wanted"], row["kind"]) for row in rows):
            mine = [r for r in rows if (r["wanted"], r["kind"]) == (recall, layout)]
            row = mine[0]
            rates = [spread([r["qps"] for r in mine if r["tier"] == tier]) for tier in tiers]
            print(f"| {variant.name} | {replicas} | {layout} | {row['recall']:.4f} "
                  f"| {row['probe']} | {row['amplification']:.3f} "
                  f"| {row['compute_dram_bytes'] / row['dataset_bytes']:.2f} "
                  f"| {row['reads_per_query']:,.1f} | {row['bytes_per_query'] / 1000:,.1f} "
                  f"| {row['distances_per_query']:,.0f} | " + " | ".join(rates) + " |")
    sys.stdout.flush()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--farvec", type=lambda text: pathlib.Path(text).absolute(),
                        default=pathlib.Path("build/release/bin/farvec").absolute())
    parser.add_argument("--set", action="append", type=DataSet, required=True, dest="sets",
                        metavar="NAME=FOLDER",
                        help="folder with base.*, query.* and gt100.ibin; may be given again")
    parser.add_argument("--variant", action="append", type=Variant, dest="variants",
                        metavar="HEADS,CLOSURE,RATIO",
                        help=f"may be given again [{' '.join(VARIANTS)}]")
    comma = lambda kind: lambda text: [kind(word) for word in text.split(",")]
    parser.add_argument("--replicas", type=comma(int), default=range(1, 9))
    parser.add_argument("--recalls", type=comma(float), default=(0.90, 0.95))
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder of the indexes")
    parser.add_argument("--json", type=pathlib.Path, help="file for the rows of all rounds")
    parser.add_argument("--tiers", default="dram,emulated:rdma,emulated:cxl,emulated:nvm")
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pass-ms", type=int, default=200)
    parser.add_argument("--cpu", type=int, default=1, help="processor of the measurements")
    parser.add_argument("--counts-only", action="store_true", help="the first table alone")
    parser.add_argument("--indexes-only", action="store_true", help="the second table alone")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    variants = arguments.variants or [Variant(text) for text in VARIANTS]
    for data in arguments.sets:
        if not arguments.indexes_only:
            print_counts(data, [(v, count(arguments, data, v)) for v in variants])
        if arguments.counts_only:
            continue
        measured = [(v, r, measure(arguments, data, v, r))
                    for v in variants for r in arguments.replicas]
        print_rates(data, measured)
        if arguments.json:
            with arguments.json.open("a") as out:
                out.writelines(json.dumps(row) + "\n" for _, _, rows in measured for row in rows)


if __name__ == "__main__":
    main()
