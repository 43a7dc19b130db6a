#!/usr/bin/env python3
"""The shapes of two public benchmarks of filtered searches, asked of the set siftdense or hog576.

    held           a query takes one or two tags of a row that was held out (big-ann-benchmarks' filter track
                   of 2023); the query is that row's vector
    query          the same of a row of another photograph, whose tags have nothing to do with the vectors
    number         number >= N, so that 1% or 99% of the rows fall out (VectorDBBench's integer filter)
    label          label = '1%', a label that 1% of the rows have (VectorDBBench's label filter)

Makes a collection of one segment in --collection, or opens the one that is there. The first half of the
queries of a shape chooses the least list (or clusters to probe) with a recall@10 of 0.9, the filter
track's goal, and the second half gives what is printed, for all of them and by how many rows match: the
recall, counts per query, and queries a second of one thread, from Python, one query a call (the median of
PASSES passes, the least and the most). --passes 0 times nothing. It stops when a result does not meet its
condition, or when there are fewer than min(10, matches).

Example (with the Python package of the build, and pyarrow):
    scripts/datasets/get.sh siftdense-1M
    PYTHONPATH=build/release/python scripts/bench/tag_filters.py data/siftdense-1M --collection tagged
"""
import argparse
import dataclasses
import itertools
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import pyarrow

import farvec

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "datasets"))

import filters  # noqa: E402
import photograph_attributes  # noqa: E402

K, WANTED = 10, 0.9
LISTS = (10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640)
PROBES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CLASSES = (10, 100, 1_000, 10_000)
COUNTS = ("matches", "walks", "scans", "clusters", "hops", "bridges", "estimates", "distances", "reads",
          "bytes")
OUT = (0.01, 0.99)
LABELS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
SCHEMA = photograph_attributes.SCHEMA + ", number: i64 not null, label: string"
INSERTED, COMPARED = 100_000, 10_000
NO_LABEL = len(LABELS)


def parser_of(description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="a set of photographs, with attributes")
    parser.add_argument("--collection", type=pathlib.Path, required=True,
                        help="folder of the collection, made if it is not there")
    parser.add_argument("--shapes", nargs="+", default=["held", "query", "number", "label"])
    parser.add_argument("--asked", type=int, default=2_000,
                        help="queries of each shape, half of them to choose the effort")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--json", help="file for a JSON object per row")
    return parser


def arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--tier", default="dram")
    parser.add_argument("--clusters", metavar="LAYOUT", help="make segments of clusters, in this layout")
    parser.add_argument("--degree", type=int, help="of the graph")
    parser.add_argument("--index", help="graph of the set's rows that the segment is a copy of; it gets the "
                        "attributes")
    parser.add_argument("--build-list", type=int, help="of the build of the graph")
    parser.add_argument("--efforts", type=int, nargs="+",
                        help=f"lists to try, {LISTS}; of clusters how many to probe, {PROBES}")
    return parser.parse_args()


def vectors_of(folder, name):
    return farvec.read_vectors(next(path for suffix in ("u8bin", "fbin")
                                    if (path := folder / f"{name}.{suffix}").exists()))


@dataclasses.dataclass
class Asked:
    """One query: its vector and condition, the rows that meet it, and how far the last neighbour is."""

    vector: np.ndarray
    text: str
    rows: np.ndarray
    bound: float


class Set:
    def __init__(self, folder):
        self.folder = folder
        self.rows = vectors_of(folder, "base")
        self.attributes = photograph_attributes.Attributes.of_folder(folder)
        order = np.random.default_rng(3).permutation(len(self.rows))
        ends = np.cumsum([int(share * len(order)) for share in LABELS[1:]])
        parts = np.split(order, ends)  # half of the rows are the last part, or so
        self.labelled = {LABELS[0]: parts[-1][:int(LABELS[0] * len(order))]} | dict(zip(LABELS[1:], parts))
        self.labels = np.full(len(self.rows), NO_LABEL, np.int8)
        for number, share in enumerate(LABELS):
            self.labels[self.labelled[share]] = number

    def batches(self):
        """Yields the attributes of all rows, some rows at a time."""
        names = pyarrow.array([label_of(share) for share in LABELS])
        for first in range(0, len(self.rows), INSERTED):
            last = min(first + INSERTED, len(self.rows))
            labels = self.labels[first:last]
            yield pyarrow.RecordBatch.from_pydict(self.attributes.arrow(first, last) | {
                "number": pyarrow.array(np.arange(first, last)),
                "label": pyarrow.DictionaryArray.from_arrays(
                    pyarrow.array(labels, mask=labels == NO_LABEL), names)})

    def stream(self):
        """The same as a stream of Arrow's, which needs one batch at a time."""
        batches = self.batches()
        first = next(batches)
        return pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))

    def shapes(self, wanted, asked):
        """Yields (name, queries)."""
        for name in "held", "query":
            if name in wanted:
                yield name, self.tagged(name, asked)
        others = vectors_of(self.folder, "query")[:asked]
        if "number" in wanted:
            for share in OUT:
                least = round(share * len(self.rows))
                yield f"number: {share:.0%} out", self.alike(others, f"number >= {least}",
                                                             np.arange(least, len(self.rows)))
        if "label" in wanted:
            for share, rows in self.labelled.items():
                yield f"label: {share:.1%}", self.alike(others, f"label = '{label_of(share)}'", np.sort(rows))

    def tagged(self, name, asked):
        """With the true neighbours that the set has in a file."""
        vectors = vectors_of(self.folder, name)[:asked]
        file = np.fromfile(self.folder / f"{name}.gt10.ibin", "<u4")
        bounds = file[2 + file[0] * K:].view("<f4").reshape(-1, K)
        queries = []
        with open(self.folder / f"{name}.jsonl", encoding="utf-8") as lines:
            for vector, near, line in zip(vectors, bounds, lines):
                text = json.loads(line)["filter"]
                tags = [int(word[1:]) for word in text.split("'")[1::2]]
                queries.append(Asked(vector, text, self.attributes.rows_with(tags),
                                     float(near[np.isfinite(near)][-1])))
        return queries

    def alike(self, vectors, text, rows):
        """All queries with one condition, by comparing with all rows that meet it."""
        return [Asked(vector, text, rows, bound)
                for vector, bound in zip(vectors, bounds_of(self.rows, rows, vectors))]


def label_of(share):
    return f"{share:.1%}"


def bounds_of(base, rows, queries):
    """The distance of the K-th of these rows, or of the last, from each query."""
    near = np.empty((len(queries), 0), np.float32)
    for some in np.array_split(rows, max(1, len(rows) // COMPARED)):
        near = np.concatenate((near, filters.squares(queries, base[some])), axis=1)
        near = np.partition(near, min(K, near.shape[1]) - 1, axis=1)[:, :K]
    return near.max(axis=1)


def opened(data, given):
    """The collection, made of one segment where it is not there."""
    own = {"tier": given.tier, "durability": "none", "build_threads": 0, "slots": 1, "concurrency": 1}
    if given.collection.exists():
        return farvec.Collection(given.collection, **own)
    kind = "cluster" if given.clusters else "graph"
    farvec.Collection.create(given.collection, data.rows.shape[1], kind=kind,
                             type=filters.farvec_type(data.rows), layout=given.clusters or "",
                             degree=given.degree, list=given.build_list, schema=SCHEMA)
    collection = farvec.Collection(given.collection, **own)
    began = time.perf_counter()
    if given.index:
        farvec.write_attributes(given.index, data.stream(), SCHEMA)
        print(f"{time.perf_counter() - began:.0f} s for the attributes", file=sys.stderr, flush=True)
        collection.import_index(given.index)
    else:
        collection.import_rows(np.arange(len(data.rows)), data.rows, attributes=data.stream())
    print(f"{time.perf_counter() - began:.0f} s for a segment of {len(data.rows):,} rows", file=sys.stderr,
          flush=True)
    return collection


def recall_of(asked, ids, base):
    """Of the true neighbours; it ends the program where a result is wrong, or missing."""
    wanted = min(K, len(asked.rows))
    places = np.minimum(np.searchsorted(asked.rows, ids.astype(asked.rows.dtype)), len(asked.rows) - 1)
    if not (asked.rows[places] == ids).all():
        sys.exit(f"{asked.text}: a result does not meet it")
    apart = base[ids].astype(np.float32) - asked.vector.astype(np.float32)
    near = (apart * apart).sum(1) <= asked.bound * (1 + 1e-5) + 1e-3
    return min(int(near.sum()), wanted) / wanted


def farvec_recall(asked, found, base):
    ids = found.ids[np.isfinite(found.distances)].astype(np.int64)
    if len(set(ids.tolist())) != min(K, len(asked.rows)) or len(ids) > K:
        sys.exit(f"{asked.text}: {len(ids)} results, and {len(asked.rows)} rows match")
    if found.counts.matches != len(asked.rows):
        sys.exit(f"{asked.text}: {found.counts.matches} matches, and {len(asked.rows)} rows match")
    return recall_of(asked, ids, base)


def one_pass(search, queries):
    """(what each query found, the seconds that each took)"""
    found, seconds = [], np.empty(len(queries))
    for place, asked in enumerate(queries):
        began = time.perf_counter()
        found.append(search(asked))
        seconds[place] = time.perf_counter() - began
    return found, seconds


def classes(queries):
    """Yields (name, places of the queries) by how many rows match."""
    matches = np.array([len(asked.rows) for asked in queries])
    yield "all", np.arange(len(queries))
    kind = np.searchsorted(CLASSES, matches)
    if len(set(kind.tolist())) > 1:
        for place, (least, most) in enumerate(zip((0, *CLASSES), (*CLASSES, len(str(matches.max())) * "9"))):
            if (kind == place).any():
                name = f"{least + 1:,} to {most:,}" if place < len(CLASSES) else f"above {least:,}"
                yield name, np.flatnonzero(kind == place)


def rates(seconds, places):
    """Queries a second in each pass, the median first, then the least and the most."""
    each = [len(places) / times[places].sum() for times in seconds]
    return {"qps": statistics.median(each), "qps_min": min(each), "qps_max": max(each)} if each else {}


def measured(collection, data, queries, efforts, passes):
    """Yields a row for all of the second half, and one for each class."""
    half = len(queries) // 2
    for effort in efforts:
        def search(asked, effort=effort):
            return collection.search(asked.vector, k=K, filter=asked.text, **effort)
        found, _ = one_pass(search, queries[:half])
        recall = statistics.fmean(map(farvec_recall, queries[:half], found, [data.rows] * half))
        if recall >= WANTED:
            break
    queries = queries[half:]
    found, _ = one_pass(search, queries)
    recalls = np.array(list(map(farvec_recall, queries, found, [data.rows] * len(queries))))
    counts = {name: np.array([getattr(one.counts, name, 0) for one in found]) for name in COUNTS}
    seconds = [one_pass(search, queries)[1] for _ in range(passes)]
    for name, places in classes(queries):
        yield {"matching": name, "queries": len(places), **effort, "recall": float(recalls[places].mean()),
               "least_matches": int(counts["matches"][places].min()),
               "most_matches": int(counts["matches"][places].max()), **rates(seconds, places),
               **{count: float(values[places].mean()) for count, values in counts.items()}}


def main():
    given = arguments()
    data = Set(given.folder)
    effort, usual = ("probe", PROBES) if given.clusters else ("list", LISTS)
    efforts = [{effort: size} for size in given.efforts or usual]
    with opened(data, given) as collection, \
            open(given.json or "/dev/null", "w", encoding="utf-8") as lines:
        for name, queries in data.shapes(given.shapes, given.asked):
            for row in measured(collection, data, queries, efforts, given.passes):
                row = {"shape": name, "rows": len(data.rows), "tier": given.tier,
                       "layout": given.clusters or "csr", **row}
                print(json.dumps({key: round(value, 3) if isinstance(value, float) else value
                                  for key, value in row.items()}), flush=True)
                lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
