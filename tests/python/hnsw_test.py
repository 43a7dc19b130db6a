"""The paged HNSW: built, changed, searched beside a model in Python, opened again."""

import random
import threading

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, neighbours, vectors

ROWS = 3000


@pytest.fixture(scope="module")
def rows():
    return vectors(ROWS, seed=3)


@pytest.fixture()
def path(tmp_path, rows):
    facts = farvec.build_hnsw(rows, tmp_path / "set", m=12, ef_construction=60, progress=False,
                              partition_nodes=16, insert_share=0.5)
    assert (facts["count"], facts["dimension"], facts["m"]) == (ROWS, DIMENSION, 12)
    assert facts["insert_pages"] > 0 and facts["most_insert_pages"] == 0.1
    return tmp_path / "set"


def recall(found, live, data, queries, metric="l2"):
    true = live[neighbours(metric, queries, data, 10)]
    return sum(len(set(a) & set(b)) for a, b in zip(found.ids.tolist(), true.tolist())) / true.size


@pytest.mark.parametrize("search", ["sync", "parallel", "pipelined"])
def test_every_way_of_reading_answers_the_same(path, rows, search):
    queries = vectors(40, seed=4)
    with farvec.PagedHnsw(path, buffer="20%", search=search, slots=2) as graph:
        found = graph.search(queries, k=10, list=80)
        assert recall(found, np.arange(ROWS), rows, queries) > 0.95
        assert found.counts.reads > 0 and found.counts.distances > 10 * len(queries)
        assert np.array_equal(found.ids[0], graph.search(queries[0], list=80).ids)
        exact = ((queries[:, None] - rows[found.ids]) ** 2).sum(-1)
        assert np.allclose(found.distances, exact, rtol=1e-4)


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_changes_beside_a_model(tmp_path, metric):
    dice, queries = random.Random(2), vectors(30, seed=4)
    data = vectors(4000, seed=5)
    farvec.build_hnsw(data[:1000], tmp_path / "set", metric=metric, m=12, ef_construction=60,
                      progress=False)
    live = set(range(1000))
    with farvec.PagedHnsw(tmp_path / "set", buffer="100%", durability="none") as graph:
        for step in range(3):
            ids = np.arange(1000 * (step + 1), 1000 * (step + 2))
            assert graph.insert(ids.astype(np.uint64), data[ids], order="pca") == 1000
            live.update(ids.tolist())
            gone = np.array(dice.sample(sorted(live), 300) + [10**6], np.uint64)
            assert graph.delete(gone) == 300
            live.difference_update(gone.tolist())
            kept = np.array(sorted(live))
            found = graph.search(queries, k=10, list=100)
            assert np.isin(found.ids, kept).all() and len(graph) == len(kept)
            assert recall(found, kept, data[kept], queries, metric) > 0.9
        there, stored = graph.get(range(4000))
        assert np.flatnonzero(there).tolist() == sorted(live)
        assert np.allclose(stored, data[kept] if metric != "cosine" else
                           data[kept] / np.linalg.norm(data[kept], axis=1, keepdims=True))
        assert graph.describe()["marked"] == 900 and graph.vacuum() == 900
        assert graph.describe()["marked"] == 0 and len(graph) == len(kept)
        before = graph.search(queries, k=10, list=100)
    with farvec.PagedHnsw(tmp_path / "set", buffer="100%") as graph:
        after = graph.search(queries, k=10, list=100)
        assert np.array_equal(before.ids, after.ids) and len(graph) == len(kept)
        with pytest.raises(farvec.Error, match="being written by another process"):
            farvec.PagedHnsw(tmp_path / "set")


def test_what_is_inserted_on_pages_during_a_build(tmp_path, rows):
    facts = farvec.build_hnsw(rows, tmp_path / "set", m=12, ef_construction=60, memory_rows=2500,
                              order="kmeans", buffer="100%", progress=False)
    assert facts["inserted"] == 500 and facts["count"] == ROWS
    with farvec.PagedHnsw(tmp_path / "set", slots=2) as graph:
        queries = vectors(30, seed=4)
        assert recall(graph.search(queries, list=80), np.arange(ROWS), rows, queries) > 0.95


def test_threads_take_turns(path, rows):
    queries, wrong = vectors(20, seed=4), []
    with farvec.PagedHnsw(path, buffer="100%", concurrency=2) as graph:
        expected = graph.search(queries, list=60).ids

        def ask():
            for _ in range(5):
                if not np.array_equal(graph.search(queries, list=60).ids, expected):
                    wrong.append("another answer")

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_more_than_there_are(tmp_path):
    farvec.build_hnsw(vectors(3), tmp_path / "set", progress=False)
    with farvec.PagedHnsw(tmp_path / "set") as graph:
        found = graph.search(vectors(2), k=5)
        assert sorted(found.ids[0, :3]) == [0, 1, 2] and np.isinf(found.distances[:, 3:]).all()


@pytest.mark.parametrize("ids, shape, word", [
    ([5], (1, DIMENSION), "id 5"), ([2**32 - 1], (1, DIMENSION), "below"),
    ([ROWS], (2, DIMENSION), "2 rows and 1 ids"), ([ROWS], (1, DIMENSION + 1), "do not fit"),
])
def test_inserts_that_cannot_be(path, ids, shape, word):
    with farvec.PagedHnsw(path) as graph:
        with pytest.raises(farvec.Error, match=word):
            graph.insert(np.array(ids, np.uint64), np.zeros(shape, np.float32))
        for call in (graph.delete, graph.get):
            with pytest.raises(farvec.InvalidArgument, match="below 4294967295"):
                call([2**32])
        with pytest.raises(farvec.InvalidArgument, match="comes twice"):
            graph.insert([ROWS, ROWS], np.zeros((2, DIMENSION), np.float32))
        with pytest.raises(farvec.InvalidArgument, match="NaN or infinity"):
            graph.insert(np.array([ROWS], np.uint64), np.full((1, DIMENSION), np.nan, np.float32))
        assert len(graph) == ROWS
    with pytest.raises(farvec.FailedPrecondition, match="closed"):
        graph.search(np.zeros(DIMENSION, np.float32))


@pytest.mark.parametrize("arguments, word", [
    (dict(search="quick"), "quick"), (dict(buffer="many"), "buffer"), (dict(slots=0), "slots"),
    # One insert with m 12 may change 6 + 24 + 9 * 12 pages, and 16 stay clean.
    (dict(buffer="1MiB"), f"buffer 1MiB .* 138 at once: use at least {154 * 8192} bytes"),
    (dict(durability="soon"), "soon"),
])
def test_openings_that_cannot_be(path, arguments, word):
    with pytest.raises(farvec.Error, match=word):
        farvec.PagedHnsw(path, **arguments)


def test_the_buffer_has_room_for_every_change_unless_it_is_chosen(path, rows):
    change = 138
    for arguments, pages in ((dict(), 8 * change + 32), (dict(slots=2, threads=3), 6 * change + 32),
                             (dict(concurrency=4), 32 * change + 32),
                             (dict(buffer="10%"), 2 * change + 32),
                             (dict(buffer=str(154 * 8192)), 154)):
        with farvec.PagedHnsw(path, durability="none", **arguments) as graph:
            assert graph.describe()["buffer_bytes"] == pages * 8192
            if "concurrency" not in arguments:
                ids = np.arange(len(graph), len(graph) + 100).astype(np.uint64)
                assert graph.insert(ids, rows[:100]) == 100


def test_builds_that_cannot_be(path, tmp_path, rows):
    with pytest.raises(farvec.Error, match="overwrite"):
        farvec.build_hnsw(rows, path, progress=False)
    with pytest.raises(farvec.Error, match="no HNSW graph"):
        farvec.PagedHnsw(tmp_path / "nowhere")
    for bad, word in ((dict(m=1), "m"), (dict(page_bytes=5000), "page"), (dict(order="x"), "x"),
                      (dict(insert_share=2), "insert_share"),
                      (dict(insert_pages=-0.1), "insert_pages")):
        with pytest.raises(farvec.Error, match=word):
            farvec.build_hnsw(rows, tmp_path / "other", progress=False, **bad)
    assert farvec.build_hnsw(rows[:50], path, overwrite=True, progress=False)["count"] == 50
