#!/usr/bin/env python3
"""Recall, rate and counts of filtered searches of a collection, by how many rows match.

Makes a collection of one segment from the first ROWS vectors of a file, with two columns: `part`, a
number that says nothing of the vector, and `region`, the nearest of 100 rows. Conditions on `part`
are uncorrelated; of those on `region` one asks for the query's own, and one for the farthest. For
each, the first half of the queries chooses the least list of SIZES with a recall of 0.95, and the
second half gives what is printed: the median of PASSES passes, and counts per query. With --clusters
the segment is of clusters in that layout, and SIZES are the clusters to probe.

Example (with the Python package of the build):
    PYTHONPATH=build/release/python scripts/bench/filters.py --base base.u8bin --queries query.u8bin \\
        --rows 200000 --tier dram --json filters.jsonl
"""
import argparse
import json
import statistics
import tempfile
import time

import numpy as np

import farvec

K, REGIONS, WANTED = 10, 100, 0.95
LISTS = (10, 20, 40, 80, 160, 320)
PROBES = (8, 16, 32, 64, 128)
SHARES = (1, 0.5, 0.1, 0.01, 0.001, 0.0001)
COUNTS = ("matches", "clusters", "hops", "bridges", "estimates", "distances", "reads", "bytes")


def parser_of(description, asked):
    """The arguments that say what is searched, and how often."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--asked", type=int, default=asked,
                        help="queries, half of them to choose the list")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--json", help="file for a JSON object per row")
    return parser


def arguments():
    parser = parser_of(__doc__, 400)
    parser.add_argument("--tier", default="dram")
    parser.add_argument("--code-bits", type=int, help="of the segment; 0: vectors in place of codes")
    parser.add_argument("--clusters", metavar="LAYOUT", help="make a segment of clusters, in this layout")
    parser.add_argument("--sizes", type=int, nargs="+", help=f"usual: {LISTS}, and of clusters {PROBES}")
    return parser.parse_args()


def squares(a, b):
    a, b = a.astype(np.float32), b.astype(np.float32)
    return (a * a).sum(1)[:, None] - 2 * a @ b.T + (b * b).sum(1)[None]


def made(folder, base, given, **options):
    """The collection, and its columns."""
    part = np.random.default_rng(1).permutation(len(base))
    centres = base[np.random.default_rng(2).choice(len(base), REGIONS, replace=False)]
    region = np.concatenate([squares(some, centres).argmin(1)
                             for some in np.array_split(base, max(1, len(base) // 10_000))])
    farvec.Collection.create(folder, base.shape[1], type=farvec_type(base), memtable_rows=len(base),
                             code_bits=given.code_bits, kind="cluster" if given.clusters else "graph",
                             layout=given.clusters or "", schema={"part": "i64", "region": "i64"})
    collection = farvec.Collection(folder, tier=given.tier, durability="none", build_threads=0,
                                   slots=1, concurrency=1, **options)
    ids = np.arange(len(base))
    for some in np.array_split(ids, max(1, len(ids) // 10_000)):
        collection.insert(some, base[some], attributes={"part": part[some], "region": region[some]},
                          deadline=3600)
    collection.compact()
    return collection, part, region, centres


def farvec_type(rows):
    return {"uint8": "u8", "int8": "i8", "float32": "f32"}[rows.dtype.name]


def conditions(rows, queries, centres, part, region):
    """(name, a condition for each query, and the rows that meet it)."""
    for share in SHARES:
        below = max(1, int(share * rows))
        members = np.flatnonzero(part < below)
        yield f"part: {share:.2%}", [(f"part < {below}", members)] * len(queries)
    near = squares(queries, centres)
    for name, regions in (("own region", near.argmin(1)), ("farthest region", near.argmax(1))):
        of = {r: np.flatnonzero(region == r) for r in np.unique(regions)}
        yield name, [(f"region = {r}", of[r]) for r in regions]


def exact(base, queries, asked):
    """The k-th distance and the count of what there is, of each query."""
    bounds = []
    for query, (_, members) in zip(queries, asked):
        distances = np.sort(squares(query[None], base[members])[0])[:K]
        bounds.append((distances[-1], len(distances)))
    return bounds


def searched(collection, base, queries, asked, bounds, size):
    """Recall, seconds and the sum of counts of one pass."""
    found = wanted = 0
    counts = dict.fromkeys(COUNTS, 0)
    began = time.perf_counter()
    results = [collection.search(query, k=K, filter=condition, **size)
               for query, (condition, _) in zip(queries, asked)]
    seconds = time.perf_counter() - began
    for result, query, (bound, there) in zip(results, queries, bounds):
        ids = result.ids[result.ids != np.iinfo(np.uint64).max]
        found += int((squares(query[None], base[ids])[0] <= bound * (1 + 1e-6) + 1e-3).sum())
        wanted += there
        for name in COUNTS:
            counts[name] += getattr(result.counts, name)
    return found / wanted, seconds, counts


def measured(collection, base, queries, asked, given):
    half = len(queries) // 2
    bounds = exact(base, queries, asked)
    for length in given.sizes or (PROBES if given.clusters else LISTS):
        size = {"probe" if given.clusters else "list": length}
        recall, _, _ = searched(collection, base, queries[:half], asked[:half], bounds[:half], size)
        if recall >= WANTED:
            break
    runs = [searched(collection, base, queries[half:], asked[half:], bounds[half:], size)
            for _ in range(given.passes)]
    rates = [(len(queries) - half) / seconds for _, seconds, _ in runs]
    row = {"list": length, "recall": runs[0][0], "qps": statistics.median(rates),
           "qps_min": min(rates), "qps_max": max(rates)}
    row.update({name: total / (len(queries) - half) for name, total in runs[0][2].items()})
    return row


def write_lines(path, lines):
    """Writes a JSON object a line, where there is a path."""
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)


def main():
    given = arguments()
    base = farvec.read_vectors(given.base)[:given.rows]
    queries = farvec.read_vectors(given.queries)[:given.asked]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        collection, part, region, centres = made(folder + "/set", base, given)
        titles = ("list", "recall", "qps", "qps_min", "qps_max", *COUNTS)
        print(f"{'condition':18}" + "".join(f"{title:>11}" for title in titles))
        for name, asked in conditions(len(base), queries, centres, part, region):
            row = measured(collection, base, queries, asked, given)
            print(f"{name:18}" + "".join(f"{row[title]:11.4g}" for title in titles), flush=True)
            lines.append({"condition": name, "tier": given.tier, "rows": len(base), **row})
        collection.close()
    write_lines(given.json, lines)


if __name__ == "__main__":
    main()
