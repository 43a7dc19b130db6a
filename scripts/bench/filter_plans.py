#!/usr/bin/env python3
"""Whether filtered searches take about as long as the cheaper of two simple ways, by how many rows match.

One way compares all rows that match (plan "scan"). The other is a search without a condition, whose
list is long enough that it has k matches among its results. The rows, columns and conditions are
those of scripts/bench/filters.py. For each condition and way, the first half of the queries chooses
the least list with a recall of 0.95. The second half gives the rates: the median of PASSES passes, in
which the ways take turns. `ratio` is the time of farvec's own choice to that of the cheaper way.

Example (with the Python package of the build):
    PYTHONPATH=build/release/python scripts/bench/filter_plans.py --base base.u8bin --queries query.u8bin \\
        --rows 200000 --tier dram --json plans.jsonl
"""
import argparse
import functools
import statistics
import tempfile
import time

import numpy as np

import farvec
import filters

SHARES = (1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.07, 0.05, 0.04, 0.03, 0.02, 0.01, 0.003, 0.001, 0.0001)
LISTS = (10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640)
LONGER = (1280, 2560, 5120, 10_240, 20_480)
WAYS = ("chosen", "scan", "walk", "grown")


def arguments():
    parser = filters.parser_of(__doc__, 400)
    parser.add_argument("--tier", default="dram")
    parser.add_argument("--code-bits", type=int, help="of the segment; 0: vectors in place of codes")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--most-seconds", type=float, default=20,
                        help="a way whose pass takes longer is given up for the condition")
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="of the rows")
    given = parser.parse_args()
    given.clusters = given.sizes = None
    return given


def planned(collection, plan, query, condition, size):
    found = collection.search(query, k=filters.K, filter=condition, list=size, plan=plan)
    return found.ids, found.counts.scans


def grown(collection, query, matches, size):
    found = collection.search(query, k=size, list=size).ids
    found = found[found != np.iinfo(np.uint64).max]
    return found[matches[found]][:filters.K], 0


def searched(search, base, queries, asked, bounds, size):
    """Recall, seconds and how many searches were scans."""
    began = time.perf_counter()
    results = [search(query, one, size) for query, one in zip(queries, asked)]
    seconds = time.perf_counter() - began
    found = 0
    for (ids, _), query, (bound, _) in zip(results, queries, bounds):
        ids = ids[ids != np.iinfo(np.uint64).max]
        found += int((filters.squares(query[None], base[ids])[0] <= bound * (1 + 1e-6) + 1e-3).sum())
    return found / sum(there for _, there in bounds), seconds, sum(scans for _, scans in results)


def chosen_size(run, lists, most_seconds):
    """The least size with the recall that is wanted; None where there is none."""
    for size in lists:
        recall, seconds, _ = run(size)
        if recall >= filters.WANTED:
            return size
        if seconds > most_seconds:
            return None
    return None


def measured(searches, base, queries, asked, given):
    """For each way its size, recall, rates and scans."""
    half = len(queries) // 2
    members = [rows for _, rows in asked["chosen"]]
    bounds = filters.exact(base, queries, [(None, rows) for rows in members])
    rows = {}
    for way in given.ways:
        what = asked["grown"] if way == "grown" else [text for text, _ in asked["chosen"]]
        first = functools.partial(searched, searches[way], base, queries[:half], what[:half], bounds[:half])
        lists = tuple(size for size in LISTS + (LONGER if way == "grown" else ()) if size <= len(base))
        size = chosen_size(first, lists, given.most_seconds)
        if size is not None:
            rows[way] = {"list": size, "what": what, "rates": []}
    for _ in range(given.passes):
        for way, row in rows.items():
            row["recall"], seconds, row["scans"] = searched(
                searches[way], base, queries[half:], row["what"][half:], bounds[half:], row["list"])
            row["rates"].append((len(queries) - half) / seconds)
    for row in rows.values():
        del row["what"]
    return rows


def masks(conditions, rows):
    """What the grown search looks results up in: one array for each condition that comes."""
    made = {}
    for text, members in conditions:
        if text not in made:
            made[text] = np.zeros(rows, bool)
            made[text][members] = True
    return [made[text] for text, _ in conditions]


def line_of(name, matches, rows):
    line = {"condition": name, "matches": matches}
    for way, row in rows.items():
        line[way] = {"list": row["list"], "recall": row["recall"], "scans": row["scans"],
                     "qps": statistics.median(row["rates"]), "qps_min": min(row["rates"]),
                     "qps_max": max(row["rates"])}
    simple = [line[way]["qps"] for way in ("scan", "grown") if way in line]
    if "chosen" in line and simple:
        line["ratio"] = max(simple) / line["chosen"]["qps"]
    return line


def print_line(line, ways):
    cells = [f"{line[way]['qps']:8.0f} ({line[way]['recall']:.3f}, {line[way]['list']:5})"
             if way in line else f"{'never':>8}{'':15}" for way in ways]
    print(f"{line['condition']:18}{line['matches']:>10.0f}  " + "  ".join(cells) +
          (f"  {line['ratio']:6.2f}" if "ratio" in line else ""), flush=True)


def main():
    given = arguments()
    base = farvec.read_vectors(given.base)[:given.rows]
    queries = farvec.read_vectors(given.queries)[:given.asked]
    filters.SHARES = given.shares
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        collection, part, region, centres = filters.made(folder + "/set", base, given,
                                                        max_list=max(LONGER))
        searches = {plan: functools.partial(planned, collection, plan) for plan in WAYS[:3]}
        searches["grown"] = functools.partial(grown, collection)
        print(f"{'condition':18}{'matches':>10}  " + "  ".join(f"{way:23}" for way in given.ways) + "   ratio")
        for name, conditions in filters.conditions(len(base), queries, centres, part, region):
            asked = {"chosen": conditions, "grown": masks(conditions, len(base))}
            rows = measured(searches, base, queries, asked, given)
            line = line_of(name, float(np.mean([len(members) for _, members in conditions])), rows)
            line.update(tier=given.tier, rows=len(base))
            print_line(line, given.ways)
            lines.append(line)
        collection.close()
    filters.write_lines(given.json, lines)


if __name__ == "__main__":
    main()
