"""A collection: changes, searches beside a model in Python, opening again."""

import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, distances, vectors


def nearest(model, query, k):
    ids = np.array(list(model), np.uint64)
    far = distances("l2", query[None], np.stack(list(model.values())))[0]
    return ids[np.argsort(far, kind="stable")[:k]]


@pytest.fixture()
def path(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION, memtable_rows=300)
    return tmp_path / "set"


def test_it_agrees_with_a_model_through_changes(path):
    dice, model = random.Random(1), {}
    with farvec.Collection(path, durability="none") as collection:
        for step in range(12):
            rows = vectors(100, seed=10 + step)
            ids = np.array(dice.sample(range(2000), 100), np.uint64)
            receipt = collection.insert(ids, rows)
            assert receipt.done == 100 and receipt.replaced == sum(int(i) in model for i in ids)
            model.update((int(i), row) for i, row in zip(ids, rows))
            gone = np.array(dice.sample(range(2000), 60), np.uint64)
            receipt = collection.delete(gone)
            assert receipt.done == sum(model.pop(int(i), None) is not None for i in gone)
            assert receipt.missing == 60 - receipt.done
            assert len(collection) == len(model)
            query = vectors(1, seed=100 + step)[0]
            found = collection.search(query, k=5, list=200)
            assert found.ids.dtype == np.uint64
            assert len(set(found.ids) & set(nearest(model, query, 5))) >= 4
        collection.compact()
        assert collection.describe()["segments"] == 1
        some = np.array([1, 5, 2**63, *list(model)[:3]], np.uint64)
        there, found = collection.get(some)
        assert there.tolist() == [int(i) in model for i in some]
        assert np.array_equal(found, np.stack([model[int(i)] for i in some[there]]))


def test_slotted_pages_share_a_budget(tmp_path):
    dice, model = random.Random(1), {}
    path = tmp_path / "pages"
    farvec.Collection.create(path, DIMENSION, memtable_rows=100, layout="slotted")
    opening = dict(durability="none", slots=2, concurrency=1, max_list=200, max_width=2)
    with farvec.Collection(path, memory_budget="20MB", **opening) as collection:
        for step in range(6):
            rows = vectors(100, seed=10 + step)
            ids = np.array(dice.sample(range(2000), 100), np.uint64)
            collection.insert(ids, rows)
            model.update((int(i), row) for i, row in zip(ids, rows))
            gone = list(model)[:20]
            collection.delete(gone)
            for i in gone:
                del model[i]
            query = vectors(1, seed=100 + step)[0]
            found = collection.search(query, k=5, list=200)
            assert set(found.ids) == set(nearest(model, query, 5))
        collection.compact()
        facts = collection.describe()
        assert (facts["layout"], facts["tier"], facts["segments"]) == ("slotted", "ssd", 1)
        some = np.array(list(model)[:3], np.uint64)
        assert np.array_equal(collection.get(some)[1], np.stack([model[int(i)] for i in some]))
    with pytest.raises(farvec.InvalidArgument, match="ssd"):
        farvec.Collection(path, tier="dram")
    with pytest.raises(farvec.InvalidArgument, match="say bytes"):
        farvec.Collection(path, memory_budget="20%")


def test_a_budget_is_for_slotted_pages(path):
    with pytest.raises(farvec.InvalidArgument, match="slotted"):
        farvec.Collection(path, memory_budget="20MB")


@pytest.mark.parametrize("call", ["get", "delete"])
def test_ctrl_c_ends_a_call_of_many_ids(path, call):
    """Whose last id is there, and not reached."""
    program = textwrap.dedent(f"""
        import os, signal, sys, threading, numpy, farvec
        ids = numpy.arange(12_000_000, dtype=numpy.uint64)
        with farvec.Collection(sys.argv[1], durability="none") as collection:
            collection.insert(ids[-1:], numpy.ones((1, {DIMENSION}), numpy.float32))
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                collection.{call}(ids)
                print("done")
            except KeyboardInterrupt:
                print("interrupted", len(collection))
    """)
    ended = subprocess.run([sys.executable, "-c", program, str(path)], text=True,
                           capture_output=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "interrupted 1"


def test_what_was_inserted_is_there_when_it_is_opened_again(path):
    rows, ids = vectors(50), np.arange(50, dtype=np.uint64) + 2**40
    with farvec.Collection(path) as collection:
        collection.insert(ids, rows)
    with farvec.Collection(path, tier="emulated:rdma") as collection:
        assert len(collection) == 50
        assert collection.search(rows[7], k=1).ids.tolist() == [2**40 + 7]
        collection.flush()
        assert collection.search(rows[7], k=1).ids.tolist() == [2**40 + 7]
        with pytest.raises(farvec.Error, match="set"):
            farvec.Collection(path)


def test_more_than_there_are(path):
    with farvec.Collection(path) as collection:
        none = np.iinfo(np.uint64).max
        assert collection.search(vectors(1)[0], k=3).ids.tolist() == [none] * 3
        collection.insert(np.array([4], np.uint64), vectors(1))
        found = collection.search(vectors(1), k=3)
        assert found.ids.tolist() == [[4, none, none]]
        assert np.isinf(found.distances[0, 1:]).all()


def test_threads_search_while_one_inserts(path):
    rows = vectors(1000)
    with farvec.Collection(path, durability="none") as collection:
        over, errors = threading.Event(), []

        def search():
            while not over.is_set():
                found = collection.search(rows[:10], k=3).ids
                if found.shape != (10, 3):
                    errors.append(found)

        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        for begin in range(0, 1000, 50):
            ids = np.arange(begin, begin + 50, dtype=np.uint64)
            collection.insert(ids, rows[begin:begin + 50])
        over.set()
        for thread in threads:
            thread.join()
        assert not errors and len(collection) == 1000
        found = collection.search(rows, k=1, list=100).ids[:, 0]
        assert np.mean(found == np.arange(1000)) > 0.99


@pytest.mark.parametrize("ids, rows, word", [
    ([1, 2], vectors(3), "2 ids"), ([1, 1], vectors(2), "1"),
    ([1], np.full((1, DIMENSION), np.nan, np.float32), "row 0"),
    ([1], np.zeros((1, DIMENSION + 1), np.float32), str(DIMENSION)),
    ([1], np.zeros((1, DIMENSION), np.uint8), "u8"),
])
def test_changes_that_cannot_be(path, ids, rows, word):
    with farvec.Collection(path) as collection:
        with pytest.raises(farvec.Error, match=word):
            collection.insert(np.array(ids, np.uint64), rows)
        assert len(collection) == 0
    with pytest.raises(farvec.FailedPrecondition, match="closed"):
        collection.delete(np.array([1], np.uint64))


@pytest.mark.parametrize("layout", ["", "coded"])
def test_segments_of_clusters(tmp_path, layout):
    """All clusters probed: the exact neighbours, through changes and a merge."""
    farvec.Collection.create(tmp_path / "set", DIMENSION, memtable_rows=200, kind="cluster",
                             layout=layout, cluster_bytes=1024, replicas=3)
    rows = vectors(900)
    model = dict(enumerate(rows))
    with farvec.Collection(tmp_path / "set", durability="none", max_probe=500) as collection:
        collection.insert(np.arange(900, dtype=np.uint64), rows)
        for gone in range(0, 900, 7):
            del model[gone]
        collection.delete(np.arange(0, 900, 7, dtype=np.uint64))
        for _ in range(2):
            for query in vectors(5, seed=9):
                found = collection.search(query, k=10, probe=500, list=300)
                assert found.ids.tolist() == nearest(model, query, 10).tolist()
                assert collection.search(query, k=1, probe=1).counts.distances < \
                    found.counts.distances
            collection.compact()
        facts = collection.describe()
        assert facts["segments"] == 1 and facts["kind"] == "cluster"
        with pytest.raises(farvec.InvalidArgument, match="probe.*500"):
            collection.search(rows[0], probe=501)
        with pytest.raises(farvec.InvalidArgument, match="prune_ratio"):
            collection.search(rows[0], prune_ratio=0.5)


@pytest.mark.parametrize("arguments, word", [
    (dict(dimension=3, kind="cluster", degree=8), "degree is for kind='graph'"),
    (dict(dimension=3, replicas=2), "replicas is for kind='cluster'"),
    (dict(dimension=3, kind="tree"), "tree"),
    (dict(dimension=3, kind="cluster", layout="csr"), "csr"),
    (dict(dimension=3, kind="cluster", replicas=9), "replicas"),
    (dict(dimension=3, kind="cluster", cluster_bytes=0), "cluster_bytes"),
    (dict(dimension=3, kind="cluster", balance=0.5), "balance"),
    (dict(dimension=0), "dimension"), (dict(dimension=3, type="f64"), "f64"),
    (dict(dimension=3, metric="x"), "x"), (dict(dimension=3, layout="padded"), "layout"),
    (dict(dimension=3, merge_fanout=1), "fanout"),
])
def test_collections_that_cannot_be(tmp_path, arguments, word):
    with pytest.raises(farvec.Error, match=word):
        farvec.Collection.create(tmp_path / "set", **arguments)
    assert not (tmp_path / "set").exists()
    with pytest.raises(farvec.Error, match="set"):
        farvec.Collection(tmp_path / "set")
