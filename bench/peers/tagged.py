#!/usr/bin/env python3
"""Filtered searches of farvec and of faiss in the shapes of public benchmarks.

The shapes, the set and the collection are those of scripts/bench/tag_filters.py. Both have all rows in
memory of this process, and are asked one query a call, from Python, on one processor. The first half of the
queries of a shape chooses the least effort with a recall of 0.9 for each of them, and the second half gives
the rates, by how many rows match: the median of PASSES passes, in which they take turns. farvec gets the
text of a condition. faiss gets the rows that meet it, as a selector that is made before the clock starts:
what it would take to find them is not counted.

Example (in an environment with faiss-cpu; farvec from the build):
    PYTHONPATH=build/release/python bench/peers/tagged.py data/siftdense-1M --collection tagged \\
        --peers faiss-ivf --json tagged.jsonl
"""
import json
import os
import pathlib
import statistics
import sys
import types

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"))

import filtered  # noqa: E402
import tag_filters  # noqa: E402

K, WANTED = tag_filters.K, tag_filters.WANTED
FEW = 10_000  # rows that a list of ids is faster for than a bitmap


class Farvec:
    efforts = tag_filters.LISTS

    def __init__(self, collection):
        self.collection = collection

    def prepared(self, asked):
        return asked

    def search(self, asked, effort):
        found = self.collection.search(asked.vector, k=K, filter=asked.text, list=effort)
        return found.ids[np.isfinite(found.distances)].astype(np.int64)


class Faiss:
    """One of filtered.py's, asked with a list of ids or a bitmap."""

    def __init__(self, kind, rows):
        self.peer = filtered.PEERS[kind](rows, None, None, None)
        self.efforts = self.peer.efforts
        self.selectors = {}

    def prepared(self, asked):
        if asked.text not in self.selectors:
            self.selectors[asked.text] = self.selector(asked)
        return types.SimpleNamespace(vector=asked.vector.astype(np.float32),
                                     condition=self.selectors[asked.text])

    def selector(self, asked):
        if len(asked.rows) > FEW:
            return self.peer.prepared(asked.text, asked.rows)
        ids = np.ascontiguousarray(asked.rows, np.int64)
        return self.peer.faiss.IDSelectorBatch(len(ids), self.peer.faiss.swig_ptr(ids)), ids

    def search(self, query, effort):
        found = self.peer.search(query.vector, query.condition, effort)
        return found[found >= 0]


def arguments():
    parser = tag_filters.parser_of(__doc__)
    parser.add_argument("--peers", nargs="+", choices=[name for name in filtered.PEERS if "faiss" in name],
                        default=["faiss-ivf"])
    parser.add_argument("--most-seconds", type=float, default=60,
                        help="for one pass of one library; a higher effort is not tried after it")
    given = parser.parse_args()
    given.tier = "dram"
    given.clusters = given.degree = given.build_list = given.index = None
    return given


def one_pass(peer, told, effort):
    return tag_filters.one_pass(lambda asked: peer.search(asked, effort), told)


def recalls_of(queries, found, base):
    return np.array([tag_filters.recall_of(asked, ids, base) for asked, ids in zip(queries, found)])


def chosen_effort(peer, queries, told, base, most_seconds):
    """The least effort with the wanted recall; none where the time does not allow it."""
    for effort in peer.efforts:
        found, seconds = one_pass(peer, told, effort)
        if recalls_of(queries, found, base).mean() >= WANTED:
            return effort
        if seconds.sum() > most_seconds:
            return None
    return None


def compared(peers, queries, base, given):
    """Yields a row for each library and class of matches."""
    half = len(queries) // 2
    told = {name: [peer.prepared(asked) for asked in queries] for name, peer in peers.items()}
    efforts = {name: chosen_effort(peer, queries[:half], told[name][:half], base, given.most_seconds)
               for name, peer in peers.items()}
    queries = queries[half:]
    seconds, recalls = {name: [] for name in peers}, {}
    for _ in range(given.passes):
        for name, peer in peers.items():
            if efforts[name] is not None:
                found, times = one_pass(peer, told[name][half:], efforts[name])
                seconds[name].append(times)
                recalls[name] = recalls_of(queries, found, base)
    for matching, places in tag_filters.classes(queries):
        for name in peers:
            row = {"peer": name, "matching": matching, "queries": len(places), "effort": efforts[name]}
            if efforts[name] is not None:
                row |= {"recall": statistics.fmean(recalls[name][places]),
                        **tag_filters.rates(seconds[name], places)}
            yield row


def main():
    given = arguments()
    given.passes = max(1, given.passes)
    data = tag_filters.Set(given.folder)
    with tag_filters.opened(data, given) as collection, \
            open(given.json or "/dev/null", "w", encoding="utf-8") as lines:
        peers = {"farvec": Farvec(collection)}
        for name in given.peers:
            print(f"building {name}", file=sys.stderr, flush=True)
            peers[name] = Faiss(name, data.rows)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads of libraries, too
        for name, queries in data.shapes(given.shapes, given.asked):
            for row in compared(peers, queries, data.rows, given):
                row = {"shape": name, "rows": len(data.rows), **row}
                print(json.dumps({key: round(value, 3) if isinstance(value, float) else value
                                  for key, value in row.items()}), flush=True)
                lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
