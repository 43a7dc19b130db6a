#!/usr/bin/env python3
"""Recall and counts of filtered searches of real texts with real attributes: the set debian-text.

Makes a collection of one segment. For each kind of condition every query has one of its own, and its
true neighbours among the rows that meet it come from comparing with all of them. The first half of
the queries chooses the least effort (list, or clusters to probe) with a recall of 0.95, and the second
half gives what is printed. It stops when a result does not meet its condition, or when there are fewer
than min(k, matches). Nothing is timed, so that a busy machine gives the same numbers.

    own tags          one or two tags of the package whose sentence the query is (correlated)
    others' tags      those of another query
    farthest tags     of all queries' tags those whose rows are farthest from the query on average
    own section       of the package
    size              packages above a size, so that a share of all rows matches
    rows              that many rows at random, by their ids

Example (with the Python package of the build):
    scripts/datasets/get.sh debian-text
    PYTHONPATH=build/release/python scripts/bench/text_filters.py data/debian-text --tier emulated:rdma
"""
import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile

import numpy as np

import farvec

K, WANTED = 10, 0.95
LISTS = (10, 20, 40, 80, 160, 320, 640)
PROBES = (2, 4, 8, 16, 32, 64, 128, 256)
SHARES = (0.5, 0.1, 0.01, 0.001, 0.0001)
ROWS = (0, 1, K - 1, K, K + 1)
COUNTS = ("matches", "walks", "scans", "clusters", "hops", "bridges", "estimates", "reads", "bytes")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tier", default="dram")
    parser.add_argument("--clusters", metavar="LAYOUT", help="make a segment of clusters, in this layout")
    parser.add_argument("--asked", type=int, default=400, help="queries, half of them to choose the effort")
    parser.add_argument("--json", help="file for a JSON object per row")
    return parser.parse_args()


class Texts:
    """The set: rows, queries, and which rows a condition means."""

    def __init__(self, folder, asked):
        self.rows = np.asarray(farvec.read_vectors(folder / "base.fbin"))
        self.queries = np.asarray(farvec.read_vectors(folder / "query.fbin"))[:asked]
        self.asked = read_lines(folder / "query.jsonl")[:len(self.queries)]
        self.attributes = read_lines(folder / "base.jsonl")
        self.schema = (folder / "schema.txt").read_text().strip()
        self.with_tag = {}
        for row, attributes in enumerate(self.attributes):
            for tag in attributes["tags"]:
                self.with_tag.setdefault(tag, set()).add(row)
        self.kilobytes = np.array([row["kilobytes"] if row["kilobytes"] is not None else -1
                                   for row in self.attributes])
        self.sections = np.array([row["section"] for row in self.attributes])
        self.row_of = {row["package"]: place for place, row in enumerate(self.attributes)}

    def tagged(self, text):
        sets = [self.with_tag.get(tag.replace("''", "'"), set()) for tag in re.findall(r"'((?:[^']|'')*)'", text)]
        return np.array(sorted(set.intersection(*sets)), int)

    def conditions(self):
        """{name: a list of (text, rows that meet it), one for each query}"""
        own = [(query["filter"], self.tagged(query["filter"])) for query in self.asked]
        half = len(own) // 2
        yield "own tags", own
        yield "others' tags", own[half:] + own[:half]
        yield "farthest tags", self.farthest(own)
        yield "own section", [self.in_section(self.sections[self.row_of[query["package"]]]) for query in self.asked]
        for share in SHARES:
            yield f"size: {share:.2%}", [self.larger(share)] * len(own)
        random = np.random.default_rng(1)
        for count in ROWS:
            chosen = [np.sort(random.choice(len(self.rows), count, replace=False)) for _ in own]
            yield f"rows: {count}", [(f"id in ({', '.join(map(str, rows))})", rows) for rows in chosen]

    def farthest(self, own):
        large = [one for one in {text: (text, rows) for text, rows in own}.values() if len(one[1]) >= K]
        means = np.array([self.rows[rows].mean(axis=0) for _, rows in large])
        return [large[place] for place in (self.queries @ means.T).argmin(axis=1)]

    def in_section(self, section):
        return f"section = '{section}'", np.flatnonzero(self.sections == section)

    def larger(self, share):
        bound = int(np.sort(self.kilobytes)[-1 - max(1, round(share * len(self.rows)))])
        return f"kilobytes > {bound}", np.flatnonzero(self.kilobytes > bound)


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def collection_of(texts, folder, given):
    farvec.Collection.create(folder, texts.rows.shape[1], metric="cosine", memtable_rows=len(texts.rows),
                             kind="cluster" if given.clusters else "graph", layout=given.clusters or "",
                             schema=texts.schema)
    opened = farvec.Collection(folder, tier=given.tier, durability="none", build_threads=0)
    ids = np.arange(len(texts.rows))
    for some in np.array_split(ids, max(1, len(ids) // 5_000)):
        opened.insert(some, texts.rows[some], attributes=[texts.attributes[row] for row in some], deadline=3600)
    opened.compact()
    return opened


def share_found(texts, query, rows, found):
    """Of the true neighbours, told by their distances: equal descriptions have equal vectors."""
    real = np.isfinite(found.distances)
    ids = found.ids[real].astype(int)
    if not np.isin(ids, rows).all():
        sys.exit(f"query {query}: a result does not meet its condition")
    wanted = min(K, len(rows))
    if len(ids) != wanted or len(set(ids)) != wanted:
        sys.exit(f"query {query}: {len(ids)} results, {len(rows)} rows match")
    if wanted == 0:
        return 1.0
    last = np.partition(1 - texts.rows[rows] @ texts.queries[query], wanted - 1)[wanted - 1]
    return float((found.distances[real] <= last + 1e-5).mean())


def ask(texts, collection, conditions, queries, effort):
    """Their recall, and counts per query."""
    recalls, counts = [], {name: [] for name in COUNTS}
    for query in queries:
        text, rows = conditions[query]
        found = collection.search(texts.queries[query], k=K, filter=text, **effort)
        recalls.append(share_found(texts, query, rows, found))
        for name in COUNTS:
            counts[name].append(getattr(found.counts, name))
        if found.counts.matches != len(rows):
            sys.exit(f"query {query}: {found.counts.matches} matches, and not {len(rows)}")
    return {"recall": statistics.fmean(recalls), "least_matches": min(counts["matches"]),
            "most_matches": max(counts["matches"])} | {name: statistics.fmean(of) for name, of in counts.items()}


def main():
    given = arguments()
    texts = Texts(given.folder, given.asked)
    half = len(texts.queries) // 2
    efforts = [{"probe": probe} for probe in PROBES] if given.clusters else [{"list": size} for size in LISTS]
    with tempfile.TemporaryDirectory() as folder, \
            collection_of(texts, folder + "/set", given) as collection, \
            open(given.json or "/dev/null", "w", encoding="utf-8") as lines:
        for name, conditions in texts.conditions():
            for effort in efforts:
                if ask(texts, collection, conditions, range(half), effort)["recall"] >= WANTED:
                    break
            row = {"condition": name, "rows": len(texts.rows), "tier": given.tier,
                   "layout": given.clusters or "csr", **effort,
                   **ask(texts, collection, conditions, range(half, 2 * half), effort)}
            print(json.dumps({key: round(value, 3) if isinstance(value, float) else value
                              for key, value in row.items()}), flush=True)
            lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
