"""Indexes with fewer bits than their data: searches rank candidates again by a second copy."""
import numpy as np
import pytest

import farvec

ROWS, DIMENSION, K = 400, 21, 5


@pytest.fixture(name="rows")
def random_rows():
    return np.random.default_rng(1).standard_normal((ROWS, DIMENSION)).astype(np.float32)


@pytest.fixture(name="queries")
def random_queries():
    return np.random.default_rng(2).standard_normal((7, DIMENSION)).astype(np.float32)


def nearest(rows, queries):
    distances = np.square(queries[:, None] - rows[None]).sum(axis=2)
    return np.argsort(distances, axis=1, kind="stable")[:, :K]


@pytest.mark.parametrize("options", [
    {"store": "b1"}, {"store": "b1", "by": "median", "bits_metric": "jaccard"},
    {"store": "i8"}, {"store": "f16"}])
def test_results_are_those_of_the_whole_vectors(tmp_path, rows, queries, options):
    farvec.build_graph(rows, tmp_path / "index", progress=False, **options)
    for tier in {}, {"tier": "ssd"}, {"second_tier": "ssd"}, {"tier": "emulated:rdma"}:
        with farvec.open(tmp_path / "index", **tier) as index:
            found = index.search(queries, K, list=ROWS)
            np.testing.assert_array_equal(found.ids, nearest(rows, queries))
            assert found.counts.rerank_reads == len(queries) * ROWS
            assert index.describe()["metric"] == "l2"
            assert index.describe()["type"] == "f32"


def test_a_recall_chooses_the_arguments(tmp_path, rows, queries):
    farvec.build_graph(rows, tmp_path / "bits", store="b1", degree=12, progress=False)
    farvec.build_clusters(rows, tmp_path / "clusters", clusters=10, progress=False)
    for name, keys in {"bits": {"list"}, "clusters": {"probe"}}.items():
        with farvec.open(tmp_path / name) as index:
            chosen = index.choose(queries, K, recall=0.9)
            assert set(chosen) == keys
            found = index.search(queries, K, **chosen)
            assert farvec.recall(found.ids, nearest(rows, queries)) >= 0.9
            few = index.choose(queries[0], K, recall=0.01)
            assert list(few.values()) <= list(chosen.values())
            with pytest.raises(farvec.InvalidArgument, match="recall"):
                index.choose(queries, K, recall=1.5)
    with farvec.open(tmp_path / "bits", max_list=K) as index:
        with pytest.raises(farvec.Error, match="out of reach: with list = 5"):
            index.choose(queries, K, recall=1)


def test_pages_and_their_second_copy(tmp_path, rows, queries):
    farvec.build_slotted(rows, tmp_path / "index", store="b1", progress=False)
    with farvec.open(tmp_path / "index", tier="ssd") as index:
        np.testing.assert_array_equal(index.search(queries, K, list=ROWS).ids, nearest(rows, queries))


def test_clusters_and_their_second_copy(tmp_path, rows, queries):
    farvec.build_clusters(rows, tmp_path / "index", clusters=10, store="b1", progress=False)
    with farvec.open(tmp_path / "index") as index:
        found = index.search(queries, K, probe=10, list=ROWS)
        np.testing.assert_array_equal(found.ids, nearest(rows, queries))


def test_refine_says_how_many_are_ranked_again(tmp_path, rows, queries):
    farvec.build_graph(rows, tmp_path / "index", store="b1", progress=False)
    with farvec.open(tmp_path / "index") as index:
        assert index.search(queries, K, list=100, refine=3).counts.rerank_reads == len(queries) * 3 * K
        assert index.search(queries, K, list=100, candidates=True).counts.rerank_reads == 0
        bits = index.search(queries, K, list=ROWS, candidates=True)
        differ = ((rows > 0)[bits.ids] != (queries > 0)[:, None]).sum(axis=2)
        np.testing.assert_array_equal(bits.distances, differ)
        for wrong in {"refine": 0}, {"list": 10, "refine": 3}, {"refine": 2, "candidates": True}:
            with pytest.raises(farvec.InvalidArgument, match="refine|candidates"):
                index.search(queries, K, **wrong)
    farvec.build_graph(rows, tmp_path / "plain", progress=False)
    with farvec.open(tmp_path / "plain") as index:
        with pytest.raises(farvec.InvalidArgument, match="no second copy"):
            index.search(queries, K, refine=2)


def test_what_means_nothing_is_refused(tmp_path, rows):
    for wrong, word in [({"store": "f64"}, "store"), ({"store": "b1", "by": "mode"}, "by"),
                        ({"store": "b1", "bits_metric": "l2"}, "hamming or jaccard"),
                        ({"second_copy": "f16"}, "second_copy"), ({"store": "u8"}, "u8"),
                        ({"store": "b1", "second_copy": "u8"}, "second copy"),
                        ({"store": "b1", "sample_queries": rows}, "sample_queries"),
                        ({"store": "b1", "layout": "inline"}, "inline")]:
        with pytest.raises(farvec.Error, match=word):
            farvec.build_graph(rows, tmp_path / "index", progress=False, **wrong)
        assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("options", [
    {"store": "b1"}, {"store": "b1", "by": "median", "bits_metric": "jaccard"}, {"store": "i8"},
    {"store": "b1", "kind": "cluster", "cluster_bytes": 30}])
def test_a_collection_has_segments_of_fewer_bits(tmp_path, rows, queries, options):
    path = tmp_path / "set"
    farvec.Collection.create(path, DIMENSION, memtable_rows=100, **options)
    for opening in {}, {"second_tier": "ssd"}, {"tier": "ssd"}:
        with farvec.Collection(path, **opening) as collection:
            collection.import_rows(np.arange(150), rows[:150])
            collection.insert(np.arange(120, ROWS), rows[120:])
            collection.flush()
            found = collection.search(queries, K, list=ROWS, probe=ROWS)
            np.testing.assert_array_equal(found.ids, nearest(rows, queries))
            assert found.counts.rerank_reads >= len(queries) * (ROWS - 100)
            there, same = collection.get(np.arange(ROWS))
            assert there.all()
            np.testing.assert_array_equal(same, rows)
            assert collection.describe()["store"] == options["store"]
            collection.compact()
            found = collection.search(queries, K, list=ROWS, probe=ROWS)
            np.testing.assert_array_equal(found.ids, nearest(rows, queries))
            few = collection.search(queries, K, list=100, probe=ROWS, refine=3)
            assert few.counts.rerank_reads == len(queries) * 3 * K
            with pytest.raises(farvec.InvalidArgument, match="refine"):
                collection.search(queries, K, list=10, refine=3)


def test_a_collection_may_keep_its_rows_in_halves(tmp_path, rows, queries):
    farvec.Collection.create(tmp_path / "set", DIMENSION, memtable_rows=100, store="b1",
                             second_copy="f16")
    halves = rows.astype(np.float16)
    with farvec.Collection(tmp_path / "set") as collection:
        collection.insert(np.arange(ROWS), rows)
        for _ in range(2):
            expected = np.square(queries.astype(np.float16).astype(np.float32)[:, None]
                                 - halves.astype(np.float32)[None]).sum(axis=2)
            found = collection.search(queries, K, list=ROWS)
            np.testing.assert_allclose(found.distances, np.sort(expected, axis=1)[:, :K], rtol=1e-5)
            np.testing.assert_array_equal(collection.get(np.array([3, 200]))[1], halves[[3, 200]])
            collection.compact()
        with pytest.raises(farvec.InvalidArgument, match="beyond 65504"):
            collection.insert(np.array([1]), np.full((1, DIMENSION), 70000, np.float32))


def test_what_means_nothing_to_a_collection_is_refused(tmp_path, rows, queries):
    for wrong, word in [({"by": "mode"}, "by"), ({"second_copy": "f16"}, "second_copy"),
                        ({"store": "f32"}, "fewer bits"), ({"store": "b1", "code_bits": 2}, "b1")]:
        with pytest.raises(farvec.Error, match=word):
            farvec.Collection.create(tmp_path / "set", DIMENSION, **wrong)
        assert not (tmp_path / "set").exists()
    farvec.Collection.create(tmp_path / "plain", DIMENSION)
    with pytest.raises(farvec.InvalidArgument, match="second_tier"):
        farvec.Collection(tmp_path / "plain", second_tier="ssd")
    with farvec.Collection(tmp_path / "plain") as collection:
        collection.insert(np.arange(ROWS), rows)
        with pytest.raises(farvec.InvalidArgument, match="no second copy"):
            collection.search(queries, K, refine=2)
    farvec.Collection.create(tmp_path / "set", DIMENSION, store="u8")
    with farvec.Collection(tmp_path / "set") as collection:
        with pytest.raises(farvec.InvalidArgument, match="below 0"):
            collection.insert(np.arange(ROWS), rows)
        assert len(collection) == 0
