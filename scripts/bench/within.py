#!/usr/bin/env python3
"""Recall, reads and bytes of searches within a distance, and of rows that come page by page.

Builds a graph of the first ROWS vectors of a file. For each number of rows it gives each query the
bound that so many rows are within, and compares the search with one for the nearest 1,000, cut at
that bound. Then it takes the same number of rows in pages of ten. All numbers are per query and
exact: they are the same on every tier and machine, so that nothing here is timed.

Example (with the Python package of the build):
    PYTHONPATH=build/release/python scripts/bench/within.py --base base.u8bin --queries query.u8bin
"""
import argparse
import itertools
import json
import tempfile

import numpy as np

import farvec
from farvec._by_distance import pages

ROWS_WITHIN = (1, 10, 30, 100, 300, 900)
MOST, PAGE = 1000, 10


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=200, help="queries")
    parser.add_argument("--tier", default="emulated:rdma")
    parser.add_argument("--json", help="file for a JSON object per row")
    return parser.parse_args()


def share_found(found, true):
    return len(np.intersect1d(found, true)) / len(true)


def within(index, queries, bounds, truth):
    """Of each query the rows within its own bound."""
    found = [index.search(query, within=bound) for query, bound in zip(queries, bounds)]
    return {"recall": np.mean([share_found(one.ids, true) for one, true in zip(found, truth)]),
            "walks": np.mean([one.counts.walks for one in found]),
            "reads": np.mean([one.counts.reads for one in found]),
            "bytes": np.mean([one.counts.bytes for one in found])}


def cut(index, queries, bounds, truth):
    """The same by a search for the most rows there may be."""
    found = index.search(queries, k=MOST, list=MOST)
    inside = [ids[distances <= bound] for ids, distances, bound in zip(found.ids, found.distances, bounds)]
    return {"recall_cut": np.mean([share_found(ids, true) for ids, true in zip(inside, truth)]),
            "reads_cut": found.counts.reads / len(queries)}


def paged(index, queries, truth, count):
    """As many rows, in pages. `index` is open for this alone, and counts every read."""
    recalls, reads = [], []
    for query, true in zip(queries, truth):
        counted = Counted(index)
        taken = itertools.islice(pages(counted, query, page=PAGE), -(-count // PAGE))
        ids = [id for page in taken for id in page.ids]
        recalls.append(share_found(ids[:count], true))
        reads.append(counted.reads)
    return {"recall_pages": np.mean(recalls), "reads_pages": np.mean(reads)}


class Counted:
    """An index that adds up the reads of its searches."""

    def __init__(self, index):
        self._index, self.reads = index, 0

    def _bounds(self):
        return self._index._bounds()

    def search(self, *given, **options):
        found = self._index.search(*given, **options)
        self.reads += found.counts.reads
        return found


def main():
    given = arguments()
    base = np.ascontiguousarray(farvec.read_vectors(given.base)[:given.rows])
    queries = np.ascontiguousarray(farvec.read_vectors(given.queries)[:given.asked])
    ids, distances = farvec.ground_truth(base, queries, k=MOST)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        farvec.build_graph(base, folder + "/index", metric="l2")
        with farvec.open(folder + "/index", tier=given.tier, max_list=4 * MOST) as index:
            for count in ROWS_WITHIN:
                bounds = (distances[:, count - 1].astype(float) + distances[:, count]) / 2
                truth = [some[:count] for some in ids]
                rows.append({"within": count, "tier": given.tier, "rows": len(base)}
                            | within(index, queries, bounds, truth) | cut(index, queries, bounds, truth)
                            | paged(index, queries, truth, count))
                print(json.dumps(rows[-1]), flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
