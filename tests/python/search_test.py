"""Searches: what they find, on every tier that a laptop has, and what they return."""

import asyncio
import json

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, QUERIES, ROWS, distances, neighbours, vectors

TIERS = ["dram", "shm", "numa:0", "ssd", "emulated:rdma", "emulated:cxl",
         "emulated:latency=5us,bandwidth=10GB/s,rate=50M/s"]


@pytest.mark.parametrize("tier", TIERS)
def test_every_tier_finds_the_same(folder, rows, queries, tier):
    with farvec.open(folder, tier=tier) as index, farvec.open(folder) as dram:
        result = index.search(queries, k=10, list=100)
        assert np.array_equal(result.ids, dram.search(queries, k=10, list=100).ids)
        assert index.describe()["tier"].split(":")[0] == tier.split(":")[0]
    exact = neighbours("l2", queries, rows, 10)
    hits = [len(set(found) & set(true)) for found, true in zip(result.ids.tolist(), exact.tolist())]
    assert sum(hits) / (10 * QUERIES) > 0.95
    assert result.counts.reads > 0


@pytest.mark.parametrize("tier", ["dram", "emulated:rdma"])
def test_an_exact_search_misses_nothing(folder, rows, queries, tier):
    with farvec.open(folder, tier=tier) as index:
        result = index.search(queries, k=10, list=10, exact=True)
    assert np.array_equal(np.sort(result.ids), np.sort(neighbours("l2", queries, rows, 10)))
    assert result.counts.distances == QUERIES * ROWS
    if tier == "dram":
        assert result.counts.reads == QUERIES * ROWS
    else:  # records side by side share reads
        assert 0 < result.counts.reads < QUERIES * ROWS / 10
    assert (result.counts.scans, result.counts.walks) == (QUERIES, 0)


def test_results_have_shapes_types_and_exact_distances(index, rows, queries):
    ids, found, counts = index.search(queries, k=7)
    assert ids.shape == found.shape == (QUERIES, 7)
    assert ids.dtype == np.uint32 and found.dtype == np.float32
    exact = np.take_along_axis(distances("l2", queries, rows), ids.astype(np.int64), axis=1)
    assert np.allclose(found, exact, rtol=1e-5)
    assert np.all(np.diff(found, axis=1) >= 0)
    assert counts.distances >= 7 * QUERIES and counts.bytes > 0


def test_one_query_is_a_row(index, queries):
    one = index.search(queries[3], k=5)
    assert one.ids.shape == one.distances.shape == (5,)
    assert np.array_equal(one.ids, index.search(queries, k=5).ids[3])


def test_no_queries_find_nothing(index):
    result = index.search(np.zeros((0, DIMENSION), np.float32))
    assert result.ids.shape == (0, 10)


def test_many_queries_and_threads_find_the_same(folder, queries):
    many = np.tile(queries, (20, 1))
    with farvec.open(folder, threads=2, slots=4) as two, farvec.open(folder) as one:
        assert np.array_equal(two.search(many).ids, one.search(many).ids)


def test_k_is_all_there_is(index, rows, queries):
    with pytest.raises(farvec.InvalidArgument, match="k"):
        index.search(queries, k=ROWS + 1)
    ids = index.search(queries[0], k=1000, list=1000).ids
    assert len(set(ids.tolist())) == 1000


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int8])
def test_metrics_and_types(tmp_path, metric, dtype):
    data, wanted = vectors(500, dtype, seed=3), vectors(10, dtype, seed=4)
    farvec.build_graph(data, tmp_path / "index", metric=metric, progress=False)
    with farvec.open(tmp_path / "index") as index:
        found = index.search(wanted, k=5, list=200)
        assert index.describe()["metric"] == metric
    true = neighbours(metric, wanted, data, 5)
    assert farvec.recall(found.ids, true.astype(np.uint32)) > 0.9


def test_a_copy_is_warned_of_and_right(index, queries):
    backwards = np.asfortranarray(queries)
    with pytest.warns(UserWarning, match="not C-contiguous"):
        found = index.search(backwards).ids
    assert np.array_equal(found, index.search(queries).ids)


def test_whatever_speaks_dlpack_or_has_a_buffer(index, queries):
    class Producer:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    expected = index.search(queries).ids
    assert np.array_equal(index.search(Producer(queries)).ids, expected)
    assert np.array_equal(index.search(memoryview(queries)).ids, expected)


def test_coroutines(index, queries):
    async def all_of_them():
        return await asyncio.gather(*(index.search_async(q, k=3) for q in queries))

    found = asyncio.run(all_of_them())
    assert np.array_equal(np.stack([r.ids for r in found]), index.search(queries, k=3).ids)


def test_describe(index):
    facts = index.describe()
    json.dumps(facts)
    assert (facts["kind"], facts["count"], facts["dimension"]) == ("graph", ROWS, DIMENSION)
    assert facts["model"] and facts["index_bytes"] > 0


def test_slotted_pages(tmp_path, rows, queries):
    facts = farvec.build_slotted(rows, tmp_path / "index", progress=False)
    assert facts["pages"] > 0
    with pytest.raises(farvec.Error, match="ssd"):
        farvec.open(tmp_path / "index")
    with farvec.open(tmp_path / "index", tier="ssd", memory_budget="64MiB", slots=4) as index:
        found = index.search(queries, list=100)
    assert farvec.recall(found.ids, neighbours("l2", queries, rows, 10).astype(np.uint32)) > 0.9
    for budget in (64 << 20, None):
        with farvec.open(tmp_path / "index", tier="ssd", memory_budget=budget, slots=4) as index:
            assert index.search(queries, k=10, list=100).ids.shape == (QUERIES, 10)
    with pytest.raises(farvec.Error, match="budget"):
        farvec.open(tmp_path / "index", tier="ssd", memory_budget="1KiB")


def test_clusters(tmp_path, rows, queries):
    facts = farvec.build_clusters(rows, tmp_path / "index", clusters=50, progress=False)
    assert facts["clusters"] == 50
    with farvec.open(tmp_path / "index", tier="emulated:rdma") as index:
        found = index.search(queries, probe=25)
        few = index.search(queries, probe=25, prune_ratio=1.0)
        with pytest.raises(farvec.InvalidArgument, match="probe"):
            index.search(queries, probe=51)
        with pytest.raises(farvec.InvalidArgument, match="prune_ratio"):
            index.search(queries, prune_ratio=0.5)
    assert few.counts.clusters < found.counts.clusters == 25 * QUERIES
    assert farvec.recall(found.ids, neighbours("l2", queries, rows, 10).astype(np.uint32)) > 0.9


def test_heads_closures_and_a_sample_of_queries(tmp_path, rows, queries):
    facts = farvec.build_clusters(rows, tmp_path / "index", head_ratio=0.1, heads="vectors",
                                  closure="sptag", sample_queries=queries, sample_probe=5,
                                  progress=False)
    assert facts["clusters"] == -(-ROWS // 10)
    with farvec.open(tmp_path / "index") as index:
        found = index.search(queries, probe=25)
    assert farvec.recall(found.ids, neighbours("l2", queries, rows, 10).astype(np.uint32)) > 0.9
    for arguments, word in (({"heads": "medoids"}, "means, vectors or rounded"),
                            ({"closure": "open"}, "spann"), ({"head_ratio": 0.1}, "one of"),
                            ({"sample_queries": queries[:, :3].copy()}, "queries"),
                            ({"sample_queries": queries.astype(np.float16)}, "sample_queries"),
                            ({"sample_queries": queries, "sample_probe": 0}, "one cluster")):
        with pytest.raises(farvec.Error, match=word):
            farvec.build_clusters(rows, tmp_path / "other", clusters=50, progress=False,
                                  **arguments)


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_the_names_of_faiss(tmp_path, metric):
    data, wanted = vectors(300, seed=3), vectors(10, seed=4)
    farvec.build_graph(data, tmp_path / "index", metric=metric, progress=False)
    with farvec.open(tmp_path / "index") as index:
        like = farvec.faiss_like(index, list=200)
        far, ids = like.search(wanted, 5)
        assert (like.ntotal, like.d) == (300, DIMENSION) and ids.dtype == np.int64
    exact = np.take_along_axis(distances(metric, wanted, data), ids, axis=1)
    as_faiss = {"l2": exact, "ip": -exact, "cosine": 1 - exact}[metric]
    assert np.allclose(far, as_faiss, atol=1e-4)
