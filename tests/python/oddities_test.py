"""Random sets with the oddities that real ones have, in every kind of index. With a full list all of
the nearest are found. At a list of 100 as many are found as the paged HNSW finds, or as the same kind
of index finds in the set without its oddity."""

import functools
import os

import numpy as np
import pytest

import farvec

ROWS, QUERIES, DIMENSION, K, LIST = 2500, 200, 24, 10, 100
SEEDS = (1, 2, 3) if os.environ.get("FARVEC_LONG") else (1,)
METRICS = ("l2", "ip", "cosine")
GRAPHS = ("csr", "inline", "packed", "padded")
CLUSTERS = ("grouped", "coupled", "coded")
CHANGING = {"memtable": {}, "segment": {}, "cluster segment": dict(kind="cluster", layout="grouped")}
KINDS = (*GRAPHS, *CLUSTERS, *CHANGING)


def plain(dice):
    return dice.normal(size=(ROWS, DIMENSION)), dice.normal(size=(QUERIES, DIMENSION))


def clustered(dice):
    centers = dice.normal(size=(20, DIMENSION)) * 5

    def around(count):
        return centers[dice.integers(20, size=count)] + dice.normal(size=(count, DIMENSION))

    return around(ROWS), around(QUERIES)


def one_row_a_thousand_times(dice):
    rows, queries = plain(dice)
    rows[dice.choice(ROWS, 1000, replace=False)] = rows[0]
    queries[:5] = rows[0] + dice.normal(size=(5, DIMENSION)) * 0.1
    return rows, queries


def zero_rows(dice):
    rows, queries = plain(dice)
    rows[dice.choice(ROWS, 5, replace=False)] = 0
    return rows, queries


def hubs(dice):
    rows, queries = plain(dice)
    rows[7] = rows.mean(axis=0)
    rows[8] *= 0.1
    return rows, queries


def spread_lengths(dice):
    rows, queries = plain(dice)
    return rows * np.exp(0.3 * dice.normal(size=(ROWS, 1))), queries


def one_wide_coordinate(dice):
    rows, queries = plain(dice)
    rows[:, 3] *= 100
    queries[:, 3] *= 100
    return rows, queries


def deleted_region(dice):
    """The first 400 rows are deleted from what can delete."""
    rows, queries = plain(dice)
    rows[:400] = rows[:400] * 0.2 + 4
    queries[:20] = queries[:20] * 0.2 + 4
    return rows, queries


ODDITIES = {make.__name__: make for make in
            (plain, clustered, one_row_a_thousand_times, zero_rows, hubs, spread_lengths,
             one_wide_coordinate, deleted_region)}


@functools.cache
def data(oddity, seed):
    rows, queries = ODDITIES[oddity](np.random.default_rng(seed))
    return rows.astype(np.float32), queries.astype(np.float32)


def gone(oddity):
    return np.arange(400 if oddity == "deleted_region" else 0)


def distances(metric, queries, rows):
    q, x = queries.astype(np.float64), rows.astype(np.float64)
    if metric == "cosine":
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    if metric == "l2":
        return ((q[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    return -(q @ x.T)


def recall(ids, metric, queries, rows, live):
    """Of the K nearest, or of others that are as near as the last of these."""
    far = distances(metric, queries, rows)
    last = np.partition(far[:, live], K - 1, axis=1)[:, K - 1]
    margin = 1e-5 * np.abs(far).max(axis=1)
    assert ids.shape == (len(queries), K) and (ids < len(rows)).all()
    assert all(len(set(row)) == K for row in ids.tolist())
    assert not set(ids.ravel().tolist()) - set(live.tolist())
    near = np.take_along_axis(far, ids.astype(np.int64), axis=1) <= (last + margin)[:, None]
    return near.mean()


class Found:
    """Recall at LIST and at a list of everything, by kind."""

    def __init__(self, folder, metric):
        self.folder, self.metric = folder, metric
        self.known = {}

    def __call__(self, kind, oddity, seed):
        key = kind, oddity, seed
        if key not in self.known:
            path = self.folder / "-".join(map(str, key)).replace(" ", "-")
            self.known[key] = self.measure(kind, oddity, seed, path)
        return self.known[key]

    def measure(self, kind, oddity, seed, path):
        rows, queries = data(oddity, seed)
        out = gone(oddity)
        live = np.setdiff1d(np.arange(ROWS), out)
        if kind in GRAPHS or kind in CLUSTERS:
            rows, live = rows[live], np.arange(len(live))
        index, clusters = self.make(kind, rows, path)
        with index:
            if len(rows) == ROWS and len(out) > 0:
                index.delete(out.astype(np.uint64))
            return [recall(index.search(queries, k=K, **how).ids, self.metric, queries, rows, live)
                    for how in self.searches(kind, clusters)]

    def searches(self, kind, clusters):
        """Its usual search here, and one that looks at everything. A row that is near every query
        lies in few clusters: so three quarters of the clusters are usual."""
        if kind == "coded":
            return dict(probe=clusters * 3 // 4, list=LIST), dict(probe=clusters, list=ROWS)
        if kind in CLUSTERS:
            return dict(probe=clusters * 3 // 4), dict(probe=clusters)
        if kind == "cluster segment":
            return dict(probe=45), dict(probe=1024)
        return dict(list=LIST), dict(list=ROWS)

    def make(self, kind, rows, path):
        """The index, opened, and its number of clusters."""
        if kind == "hnsw":
            farvec.build_hnsw(rows, path, metric=self.metric, progress=False)
            return farvec.PagedHnsw(path, buffer="100%", durability="none"), None
        if kind in GRAPHS:
            farvec.build_graph(rows, path, metric=self.metric, layout=kind, progress=False)
            return farvec.open(path, max_list=ROWS), None
        if kind in CLUSTERS:
            facts = farvec.build_clusters(rows, path, metric=self.metric, layout=kind,
                                          cluster_bytes=4096, progress=False)
            return farvec.open(path, max_list=ROWS), facts["clusters"]
        farvec.Collection.create(path, DIMENSION, metric=self.metric, **CHANGING[kind])
        collection = farvec.Collection(path, durability="none", max_list=ROWS)
        collection.insert(np.arange(len(rows), dtype=np.uint64), rows)
        if kind != "memtable":
            collection.flush()
        return collection, None


@pytest.fixture(scope="module", params=METRICS)
def found(request, tmp_path_factory):
    return Found(tmp_path_factory.mktemp(request.param), request.param)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("oddity", ODDITIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_near_is_missed(found, kind, oddity, seed):
    at_list, at_all = found(kind, oddity, seed)
    assert at_all == 1.0, f"{at_all:.4f} with a full list"
    if at_list >= found(kind, "plain", seed)[0] - 0.01:
        return
    hnsw = found("hnsw", oddity, seed)[0]
    assert at_list >= hnsw - 0.01, f"{at_list:.4f}, the paged HNSW {hnsw:.4f}"
