"""Searches of indexes some of whose rows are deleted, beside one of the live rows alone and a model.

Two clusterings of the same rows differ by more than what is compared here, so of clusters it is held
that all are found that there are, not how near they are."""

import numpy as np
import pytest

import farvec
from conftest import neighbours

ROWS, DIMENSION, K = 2500, 24, 10
NONE = np.iinfo(np.uint64).max
# Of codes with so many bits searches differ by where they go, and not by how well codes guess.
KINDS = {
    "memtable": {},
    "csr": dict(layout="csr", code_bits=8),
    "inline": dict(layout="inline", code_bits=4),
    "packed": dict(layout="packed", code_bits=8),
    "grouped": dict(kind="cluster", layout="grouped", cluster_bytes=4096),
    "coded": dict(kind="cluster", layout="coded", cluster_bytes=4096),
    "hnsw": {},
}
SIZES = (40, 100)


def rows_and_queries():
    """300 of the rows lie together, and so do half of the queries, among them.

    They lie as far from the mean as the other rows do. Queries that are far from every live row all take
    the same way to the same rows, and whether one of these is found differs between two builds."""
    dice = np.random.default_rng(5)
    rows = dice.normal(size=(ROWS, DIMENSION)).astype(np.float32)
    rows[:300] = rows[:300] * 0.2 + 1
    queries = dice.normal(size=(200, DIMENSION)).astype(np.float32)
    queries[:100] = queries[:100] * 0.2 + 1
    return rows, queries


def some(share):
    return np.flatnonzero(np.random.default_rng(6).random(ROWS) < share)


GONE = {
    "region": np.arange(300),
    "tenth": some(0.1),
    "most": some(0.9),
    "all but few": np.setdiff1d(np.arange(ROWS), [3, 400, 1777, 2499]),
    "all": np.arange(ROWS),
}


class Built:
    """An index of `rows` with these ids, from which some ids are deleted then."""

    def __init__(self, kind, path, ids, rows):
        self.kind = kind
        if kind == "hnsw":
            farvec.build_hnsw(rows, path, m=12, ef_construction=60, progress=False)
            self.index = farvec.PagedHnsw(path, buffer="100%", durability="none")
            self.ids = ids
            return
        farvec.Collection.create(path, DIMENSION, **KINDS[kind])
        self.index = farvec.Collection(path, durability="none")
        self.ids = np.arange(ROWS)
        self.index.insert(ids.astype(np.uint64), rows)
        if kind != "memtable":
            self.index.flush()

    def delete(self, ids):
        if len(ids) > 0:
            self.index.delete(ids.astype(np.uint64))

    def search(self, queries, size):
        """Rows of the model, -1 for none."""
        how = dict(probe=size // 4, list=100) if "cluster" in KINDS[self.kind].values() else \
            dict(list=size)
        if KINDS[self.kind].get("layout") == "grouped":
            del how["list"]
        found = self.index.search(queries, k=K, **how)
        none = found.ids.astype(np.uint64) >= ROWS
        return np.where(none, -1, self.ids[np.where(none, 0, found.ids).astype(np.int64)]), found

    def close(self):
        self.index.close()


def recall(found, live, rows, queries):
    true = live[neighbours("l2", queries, rows[live], K)]
    return sum(len(set(a) & set(b)) for a, b in zip(found.tolist(), true.tolist())) / true.size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gone", GONE)
def test_an_index_of_the_live_rows_alone_finds_no_more(tmp_path, kind, gone):
    rows, queries = rows_and_queries()
    gone = GONE[gone]
    live = np.setdiff1d(np.arange(ROWS), gone)
    whole = Built(kind, tmp_path / "whole", np.arange(ROWS), rows)
    whole.delete(gone)
    alone = Built(kind, tmp_path / "alone", live, rows[live]) if len(live) >= K else None
    for size in SIZES:
        found, answer = whole.search(queries, size)
        assert ((found >= 0).sum(axis=1) == min(K, len(live))).all()
        assert not set(found[found >= 0].tolist()) & set(gone.tolist())
        assert answer.counts.distances <= len(queries) * (ROWS * 12)
        if kind in ("grouped", "coded") and len(live) >= K:
            continue
        if alone is None:
            assert all(set(f[f >= 0].tolist()) == set(live.tolist()) for f in found)
        else:
            expected = recall(alone.search(queries, size)[0], live, rows, queries)
            assert recall(found, live, rows, queries) >= expected - 0.01
    whole.close()
    if alone is not None:
        alone.close()
