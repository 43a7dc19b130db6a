"""A compute node by its address, beside the same index here."""

import os
import signal
import threading

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, ROWS, open_soon, vectors

def test_an_index(serve, folder, queries):
    with open_soon(serve("--index", str(folder))) as node, farvec.open(folder) as here:
        many = np.tile(queries, (4, 1))
        found, expected = node.search(many, k=5), here.search(many, k=5)
        assert np.array_equal(found.ids, expected.ids)
        assert np.array_equal(found.distances, expected.distances)
        assert found.counts.reads == expected.counts.reads
        assert node.search(queries[0]).ids.shape == (10,)
        facts = node.describe()
        assert (facts["kind"], facts["count"], facts["dimension"]) == ("graph", ROWS, DIMENSION)
        with pytest.raises(farvec.InvalidArgument, match="k: 0"):
            node.search(queries, k=0)
        with pytest.raises(farvec.InvalidArgument, match="elements"):
            node.search(queries[:, :3].copy())


def test_a_node_that_goes_away(serve, folder, queries):
    node = open_soon(serve("--index", str(folder)))
    assert node.search(queries[0]).ids.shape == (10,)
    serve.nodes[0].kill()
    serve.nodes[0].wait()
    with pytest.raises((farvec.Unavailable, farvec.DeadlineExceeded), match="node.sock"):
        node.search(queries, deadline=5)
    node.close()


def test_a_collection(serve, tmp_path):
    rows, ids = vectors(50), np.arange(50, dtype=np.uint64) + 2**40
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with farvec.Collection(tmp_path / "set") as collection:
        collection.insert(ids, rows)
    with open_soon(serve("--collection", str(tmp_path / "set"))) as node:
        found = node.search(rows, k=60)
        assert found.ids.dtype == np.uint64
        assert np.array_equal(found.ids[:, 0], ids)
        assert (found.ids[:, 50:] == np.iinfo(np.uint64).max).all()
        assert node.describe()["kind"] == "collection"


def test_attributes_of_a_collection(serve, tmp_path):
    rows, ids = vectors(300), np.arange(300, dtype=np.uint64) + 2**40
    farvec.Collection.create(tmp_path / "set", DIMENSION, memtable_rows=100,
                             schema={"price": "i64", "note": "string"})
    prices = [None if i % 4 == 0 else i % 10 for i in range(300)]
    notes = ["n" * (50_000 if i > 290 else i % 30) for i in range(300)]
    with open_soon(serve("--collection", str(tmp_path / "set")), farvec.Collection) as node:
        receipt = node.insert(ids, rows, attributes={"price": prices, "note": notes})
        assert receipt.done == 300
        assert node.attributes(ids) == {"price": prices, "note": notes}
        node.compact()
        back = node.attributes(np.append(ids[::-1], np.uint64(3)), select=["note"])
        assert back == {"note": notes[::-1] + [None]}
        wanted = [i for i in range(300) if i % 4 != 0 and i % 10 < 3]
        found = node.search(rows, k=300, list=400, filter="price < 3 and note is not null")
        assert found.counts.matches == 300 * len(wanted)
        for one in found.ids:
            assert set(one[one != np.iinfo(np.uint64).max]) == {2**40 + i for i in wanted}
        for plan, counts in (("walk", lambda c: c.walks), ("scan", lambda c: c.scans)):
            asked = node.search(rows[0], k=3, list=400, filter="price < 3", plan=plan).counts
            assert counts(asked) == asked.walks + asked.scans > 0
        assert node.count("price < 3 and note is not null") == len(wanted)
        assert node.count() == 300
        pages = list(node.scroll("price < 3", start=2**40 + 20, limit=7, select=["price"]))
        assert [int(i) - 2**40 for page, _ in pages for i in page] == [i for i in wanted if i >= 20]
        assert [p for _, page in pages for p in page["price"]] == [
            prices[i] for i in wanted if i >= 20]
        found = node.search(rows[:3], k=4, filter="price < 3", select=["note", "price"])
        assert [list(one) for one in found.attributes] == [["note", "price"]] * 3
        for ids_, columns in zip(found.ids, found.attributes):
            assert columns["price"] == [prices[int(i) - 2**40] for i in ids_]
            assert columns["note"] == [notes[int(i) - 2**40] for i in ids_]
        with pytest.raises(farvec.InvalidArgument, match="no column 'prise'"):
            node.search(rows, filter="prise = 1")
        with pytest.raises(farvec.InvalidArgument, match="price"):
            node.insert(ids[:1], rows[:1], attributes={"price": ["x"]})
        assert node.delete(filter="price = 9").done == prices.count(9)
        assert node.count("price = 9") == 0 and node.count() == 300 - prices.count(9)
        node.insert(ids, rows, attributes={"price": prices, "note": notes})
        # What searches alone serves filters too.
        with open_soon("grpc://" + node.describe()["collection"].removeprefix("grpc://")) as index:
            assert set(index.search(rows[0], k=3, filter="price = 9").ids) <= {
                2**40 + i for i in range(300) if prices[i] == 9}


def test_columns_that_another_client_adds(serve, tmp_path):
    rows, ids = vectors(20), np.arange(20)
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    address = serve("--collection", str(tmp_path / "set"))
    with open_soon(address, farvec.Collection) as one, open_soon(address, farvec.Collection) as other:
        searcher = open_soon(address)
        one.insert(ids, rows)
        one.add_columns({"price": "i64"})
        other.insert(ids[10:], rows[10:], attributes={"price": list(range(10, 20))})
        one.add_columns("note: string")
        one.insert(ids[15:], rows[15:], attributes={"note": ["x"] * 5})
        prices = [None] * 10 + list(range(10, 15)) + [None] * 5
        assert other.attributes(ids, select=["note"]) == {"note": [None] * 15 + ["x"] * 5}
        assert other.attributes(ids) == {"price": prices, "note": [None] * 15 + ["x"] * 5}
        assert [list(page["note"]) for _, page in other.scroll("id >= 14", select=["note"])] == [
            [None] + ["x"] * 5]
        found = searcher.search(rows[0], k=3, filter="note = 'x'", select=["note"])
        assert found.attributes == {"note": ["x"] * 3} and min(found.ids) >= 15
        with pytest.raises(farvec.InvalidArgument, match="'price'"):
            other.add_columns({"price": "f64"})
        with pytest.raises(farvec.InvalidArgument, match="no column 'prise'"):
            other.insert(ids[:1], rows[:1], attributes={"prise": [1]})
        searcher.close()


def test_an_index_takes_no_filter(serve, folder, queries):
    with open_soon(serve("--index", str(folder))) as node, farvec.open(folder) as here:
        for index in node, here:
            with pytest.raises(farvec.InvalidArgument, match="filter: "):
                index.search(queries, filter="id = 1")


def test_changes_of_a_collection(serve, tmp_path):
    path, dice, model = tmp_path / "set", np.random.default_rng(3), {}
    farvec.Collection.create(path, DIMENSION, memtable_rows=3000)
    address = serve("--collection", str(path))
    with open_soon(address, farvec.Collection) as node:
        for step in range(4):
            ids = dice.choice(20_000, 9000, replace=False).astype(np.uint64) + np.uint64(2**40)
            rows = vectors(9000, seed=20 + step)
            receipt = node.insert(ids, rows)
            assert receipt.done == 9000 and receipt.replaced == sum(int(i) in model for i in ids)
            model.update((int(i), row) for i, row in zip(ids, rows))
            gone = ids[:500] - np.uint64(step * 7)
            receipt = node.delete(gone)
            assert receipt.done == sum(model.pop(int(i), None) is not None for i in gone)
            assert receipt.missing == 500 - receipt.done
            assert len(node) == len(model) == node.describe()["vectors"]
        node.flush()
        asked = np.arange(2**40, 2**40 + 20_000, dtype=np.uint64)
        found, rows = node.get(asked)
        assert found.tolist() == [int(i) in model for i in asked]
        assert np.array_equal(rows, np.stack([model[int(i)] for i in asked[found]]))
        node.compact()
        assert node.describe()["segments"] == 1 and node.describe()["kind"] == "collection"
        answer = node.search(rows[:20], k=1, list=200)
        assert np.array_equal(answer.ids[:, 0], asked[found][:20])
    with pytest.raises(farvec.FailedPrecondition, match="closed"):
        node.insert(asked[:1], rows[:1])


def test_changes_that_a_node_refuses(serve, folder, tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    address = serve("--collection", str(tmp_path / "set"))
    ids, rows = np.arange(3, dtype=np.uint64), vectors(3)
    with pytest.raises(farvec.InvalidArgument, match="tier"):
        farvec.Collection(address, tier="shm")
    with open_soon(address, farvec.Collection) as node:
        for bad in (rows[:, :5].copy(), rows.astype(np.float16)):
            with pytest.raises(farvec.InvalidArgument, match="do not fit"):
                node.insert(ids, bad)
        with pytest.raises(farvec.Error, match="id 1 comes twice"):
            node.insert(np.array([0, 1, 1], np.uint64), rows)
        with pytest.raises(farvec.InvalidArgument, match="row 0 .* NaN"):
            node.insert(ids, np.where(rows == rows[0, 0], np.nan, rows))
        assert len(node) == 0
        serve.nodes[0].kill()
        serve.nodes[0].wait()
        with pytest.raises((farvec.Unavailable, farvec.DeadlineExceeded), match="node.sock"):
            node.insert(ids, rows, deadline=5)


def test_a_node_that_takes_no_changes(serve, folder):
    address = serve("--index", str(folder))
    open_soon(address).close()
    with pytest.raises(farvec.FailedPrecondition, match="takes no changes"):
        farvec.Collection(address)


def test_an_interrupt_is_raised_when_the_wait_for_a_node_ends(serve, tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with open_soon(serve("--collection", str(tmp_path / "set")), farvec.Collection) as node:
        serve.nodes[0].send_signal(signal.SIGSTOP)
        try:
            for call in (lambda: node.get([1], deadline=2),
                         lambda: node.insert([1], vectors(1), deadline=2)):
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
                with pytest.raises(KeyboardInterrupt):
                    call()
        finally:
            serve.nodes[0].send_signal(signal.SIGCONT)
