"""Rows that come at once, as one segment, past the log."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, distances, open_soon, vectors

ROWS = 600
SCHEMA = {"price": "i64", "tags": "set"}


def attributes_of(ids):
    return {"price": [None if i % 10 == 0 else int(i) for i in ids],
            "tags": [[f"t{i % 7}", "all"] for i in ids]}


@pytest.mark.parametrize("kind", ["graph", "cluster"])
def test_an_import_replaces_rows_and_is_found_with_the_others(tmp_path, kind):
    path = tmp_path / "set"
    farvec.Collection.create(path, DIMENSION, kind=kind, memtable_rows=200, schema=SCHEMA)
    old, new = vectors(ROWS, seed=3), vectors(ROWS, seed=4)
    with farvec.Collection(path, durability="none") as collection:
        collection.insert(np.arange(ROWS), old, attributes=attributes_of(np.arange(ROWS)))
        ids = np.arange(ROWS // 2, ROWS // 2 + ROWS)
        told = collection.import_rows(ids, new, attributes=attributes_of(ids + 1))
        assert (told.done, told.replaced) == (ROWS, ROWS // 2)
        assert len(collection) == ROWS // 2 + ROWS
        segments = collection.describe()["segments"]
    rows = np.concatenate((old[:ROWS // 2], new))
    meets = np.array([i for i in range(len(rows)) if (i + (i >= ROWS // 2)) % 7 == 3])
    with farvec.Collection(path) as again:
        assert again.describe()["segments"] >= 1 and segments >= 1
        assert again.count("tags contains any ('t3')") == len(meets)
        for query in vectors(10, seed=9):
            found = again.search(query, k=6, filter="tags contains any ('t3')", exact=True)
            near = meets[np.argsort(distances("l2", query[None], rows[meets])[0], kind="stable")]
            assert found.ids.tolist() == near[:6].tolist()
        one, other = attributes_of(np.array([5])), attributes_of(np.array([ROWS + 1]))
        assert again.attributes([5, ROWS]) == {
            "price": one["price"] + other["price"],
            "tags": [sorted(tags) for tags in one["tags"] + other["tags"]]}


def test_without_attributes_and_without_rows(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION, schema=SCHEMA)
    with farvec.Collection(tmp_path / "set") as collection:
        assert collection.import_rows([], np.empty((0, DIMENSION), np.float32)).done == 0
        assert collection.import_rows([7], vectors(1)).done == 1
        assert collection.count("price is null and tags is null") == 1
        assert collection.describe()["memtable_vectors"] == 0


def test_what_cannot_be_is_refused_and_nothing_is_in(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION, schema={"price": "i64 not null"})
    bad = vectors(2)
    bad[1, 3] = np.nan
    with farvec.Collection(tmp_path / "set") as collection:
        for ids, rows, attributes, word in [
                ([1, 2], vectors(3), {"price": [1, 2, 3]}, "2 ids for 3 vectors"),
                ([1, 1], vectors(2), {"price": [1, 2]}, "1"),
                ([1, 2], bad, {"price": [1, 2]}, "row 1"),
                ([1, 2], np.ones((2, 5), np.float32), {"price": [1, 2]}, "5"),
                ([1, 2], vectors(2), {"price": [1, 1.5]}, "price"),
                ([1, 2], vectors(2), {"price": [1]}, "price"),
                ([1, 2], vectors(2), None, "price"),
        ]:
            with pytest.raises(farvec.Error, match=word):
                collection.import_rows(ids, rows, attributes=attributes)
        assert len(collection) == 0
        assert collection.import_rows([1, 2], vectors(2), attributes={"price": [1, 2]}).done == 2


@pytest.mark.parametrize("kind", ["graph", "cluster"])
def test_an_index_becomes_a_segment(tmp_path, kind):
    rows, index = vectors(ROWS, seed=3), tmp_path / "index"
    if kind == "graph":
        farvec.build_graph(rows, index, metric="l2", degree=12, list=24, progress=False)
    else:
        farvec.build_clusters(rows, index, metric="l2", clusters=20, progress=False)
    farvec.write_attributes(index, attributes_of(np.arange(ROWS)), SCHEMA)
    farvec.Collection.create(tmp_path / "set", DIMENSION, kind=kind, schema=SCHEMA | {"more": "f64"})
    with farvec.Collection(tmp_path / "set") as collection:
        with pytest.raises(farvec.Error, match="64 bits"):
            collection.import_index(index, first_id=2**64 - 5)
        with pytest.raises(farvec.Error, match="nowhere"):
            collection.import_index(tmp_path / "nowhere")
        assert collection.import_index(index, first_id=1000).done == ROWS
        for query in vectors(5, seed=9):
            found = collection.search(query, k=5, filter="price < 300", exact=True)
            meets = np.array([i for i in range(300) if i % 10 != 0])
            near = meets[np.argsort(distances("l2", query[None], rows[meets])[0], kind="stable")]
            assert found.ids.tolist() == (near[:5] + 1000).tolist()
        assert collection.attributes([1003]) == {"price": [3], "tags": [["all", "t3"]], "more": [None]}
    other = tmp_path / "other"
    farvec.Collection.create(other, DIMENSION, kind=kind, schema={"price": "string"})
    with farvec.Collection(other) as collection:
        with pytest.raises(farvec.Error, match="those of the collection are 'price: string'"):
            collection.import_index(index)
        assert len(collection) == 0


def test_a_node_takes_no_import(tmp_path, serve):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with open_soon(serve("--collection", str(tmp_path / "set")), farvec.Collection) as remote:
        with pytest.raises(farvec.errors.FailedPrecondition, match="of this machine"):
            remote.import_rows([1], vectors(1))
        with pytest.raises(farvec.errors.FailedPrecondition, match="of this machine"):
            remote.import_index(tmp_path)
        assert len(remote) == 0


INTERRUPTED = """
    import sys, threading, os, signal, time
    import numpy as np
    import farvec
    farvec.Collection.create(sys.argv[1], 64, list=400)
    rows = np.random.default_rng(1).normal(size=(60_000, 64)).astype(np.float32)
    with farvec.Collection(sys.argv[1]) as collection:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            collection.import_rows(np.arange(len(rows)), rows)
        except KeyboardInterrupt:
            print(len(collection), collection.import_rows([1], rows[:1]).done)
"""


def test_ctrl_c_ends_it_and_nothing_is_in(tmp_path):
    done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(INTERRUPTED), tmp_path / "set"],
                          capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("0 1\n", 0), done.stderr
