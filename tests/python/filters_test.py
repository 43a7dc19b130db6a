"""Attributes of a collection's rows, and searches among rows that meet a condition."""

import pickle

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, distances, open_soon, vectors

ROWS = 700
SCHEMA = {"price": "i64", "section": "string not null", "tags": "set", "at": "timestamp"}


def attributes_of(ids):
    return {
        "price": [None if i % 10 == 0 else int(i) - 100 for i in ids],
        "section": [("libs", "doc", "it's")[i % 3] for i in ids],
        "tags": [[f"t{i % 7}", "all"] for i in ids],
        "at": np.datetime64("2024-01-01", "D") + ids % 28,
    }


@pytest.fixture()
def collection(tmp_path):
    path = tmp_path / "set"
    farvec.Collection.create(path, DIMENSION, memtable_rows=200, schema=SCHEMA)
    with farvec.Collection(path, durability="none") as opened:
        ids = np.arange(ROWS)
        opened.insert(ids, vectors(ROWS, seed=3), attributes=attributes_of(ids))
        yield opened


CONDITIONS = [
    ("price < 50", lambda i: i % 10 != 0 and i - 100 < 50),
    ("section in ('doc', 'it''s') and not price between 0 and 400",
     lambda i: i % 3 != 0 and i % 10 != 0 and not 0 <= i - 100 <= 400),
    ("price is null and tags contains any ('t3')", lambda i: i % 10 == 0 and i % 7 == 3),
    ("at >= '2024-01-28'", lambda i: i % 28 == 27),
    ("id in (5, 699, 10000)", lambda i: i in (5, 699)),
    ("false", lambda i: False),
]


@pytest.mark.parametrize("condition,meets", CONDITIONS)
@pytest.mark.parametrize("when", ["fresh", "compact"])
def test_results_are_the_nearest_that_meet_the_condition(collection, condition, meets, when):
    if when == "compact":
        collection.compact()
    rows, queries = vectors(ROWS, seed=3), vectors(10, seed=9)
    wanted = np.array([i for i in range(ROWS) if meets(i)], int)
    found = collection.search(queries, k=6, list=300, filter=condition)
    for query, ids in zip(queries, found.ids):
        real = ids[ids != np.iinfo(np.uint64).max].astype(int)
        assert len(real) == min(6, len(wanted))
        assert all(meets(i) for i in real)
        if len(wanted) > 0:
            near = wanted[np.argsort(distances("l2", query[None], rows[wanted])[0], kind="stable")]
            assert len(set(real) & set(near[:6])) >= len(real) - 1


@pytest.mark.parametrize("condition,meets", CONDITIONS)
def test_an_exact_search_misses_nothing(collection, condition, meets):
    collection.flush()
    rows, queries = vectors(ROWS, seed=3), vectors(10, seed=9)
    wanted = np.array([i for i in range(ROWS) if meets(i)], int)
    found = collection.search(queries, k=6, filter=condition, exact=True)
    for query, ids in zip(queries, found.ids):
        near = np.argsort(distances("l2", query[None], rows[wanted])[0], kind="stable")[:6]
        real = ids[ids != np.iinfo(np.uint64).max].astype(int)
        assert sorted(real) == sorted(wanted[near])
    assert found.counts.walks == 0


@pytest.mark.parametrize("condition,meets", CONDITIONS)
def test_both_plans_find_the_same(collection, condition, meets):
    collection.compact()
    queries = vectors(10, seed=9)
    ways = {plan: collection.search(queries, k=6, list=ROWS, filter=condition, plan=plan)
            for plan in ("walk", "scan")}
    assert ways["walk"].ids.tolist() == ways["scan"].ids.tolist()
    if any(meets(i) for i in range(ROWS)):
        assert (ways["walk"].counts.walks, ways["walk"].counts.scans) == (10, 0)
        assert (ways["scan"].counts.walks, ways["scan"].counts.scans) == (0, 10)


def test_a_plan_that_is_not_known_is_refused(collection):
    with pytest.raises(farvec.InvalidArgument, match="plan: 'run' is no way to search"):
        collection.search(vectors(1), filter="true", plan="run")


@pytest.mark.parametrize("condition,meets", CONDITIONS)
def test_rows_are_counted_listed_and_deleted_by_a_condition(collection, condition, meets):
    wanted = [i for i in range(ROWS) if meets(i)]
    assert collection.count(condition) == len(wanted)
    pages = list(collection.scroll(condition, limit=50))
    assert [int(i) for ids, _ in pages for i in ids] == wanted
    assert all(ids.dtype == np.uint64 and 0 < len(ids) <= 50 for ids, _ in pages)
    expected = attributes_of(np.array(wanted, int))
    assert [p for _, columns in pages for p in columns["price"]] == expected["price"]
    assert collection.delete(filter=condition).done == len(wanted)
    assert collection.count() == len(collection) == ROWS - len(wanted)


def test_a_call_that_means_no_rows_is_refused(collection):
    for wrong in ({}, {"filter": ""}, {"ids": [1], "filter": "true"}):
        with pytest.raises(farvec.InvalidArgument, match="filter"):
            collection.delete(**wrong)
    for wrong in (0, -1, 10**9):
        with pytest.raises(farvec.InvalidArgument, match="limit"):
            next(collection.scroll(limit=wrong))
    with pytest.raises(farvec.InvalidArgument, match="prise"):
        collection.count("prise = 1")
    with pytest.raises(farvec.InvalidArgument, match="select"):
        next(collection.scroll(select=["prise"]))
    assert collection.delete(filter="true").done == ROWS and list(collection.scroll()) == []


@pytest.mark.parametrize("when", ["fresh", "compact"])
def test_selected_columns_come_with_the_results(collection, when):
    if when == "compact":
        collection.compact()
    queries = vectors(4, seed=9)
    found = collection.search(queries, k=5, filter="price < -95", select=["at", "price"])
    assert found.counts.attribute_reads == 4 * 4 or when == "fresh"
    for ids, columns in zip(found.ids, found.attributes):
        real = ids[:4].astype(int)
        assert sorted(real) == [1, 2, 3, 4]
        expected = attributes_of(real)
        assert list(columns) == ["at", "price"]
        assert columns["price"] == [*expected["price"], None]
        assert columns["at"][:4].tolist() == expected["at"].astype("datetime64[us]").tolist()
        assert np.isnat(columns["at"][4])
    one = collection.search(queries[0], k=1, select=["section"])
    assert one.attributes == {"section": [attributes_of(one.ids)["section"][0]]}
    assert collection.search(queries[0]).attributes is None
    assert pickle.loads(pickle.dumps(one)).attributes == one.attributes
    for wrong in (["prise"], ["price", "price"]):
        with pytest.raises(farvec.InvalidArgument, match="select"):
            collection.search(queries, select=wrong)


def test_attributes_come_back(collection):
    ids = np.array([0, 1, 12, 5000])
    expected = attributes_of(ids[:3])
    for _ in range(2):
        found = collection.attributes(ids)
        assert list(found) == list(SCHEMA)
        assert found["price"] == [*expected["price"], None]
        assert found["section"] == [*expected["section"], None]
        assert found["tags"] == [sorted(tags) for tags in expected["tags"]] + [None]
        assert found["at"].dtype == np.dtype("datetime64[us]")
        assert np.array_equal(found["at"][:3], expected["at"]) and np.isnat(found["at"][3])
        collection.compact()
    assert list(collection.attributes([3], select=["tags", "price"])) == ["tags", "price"]
    with pytest.raises(farvec.InvalidArgument, match="no column 'colour'"):
        collection.attributes([3], select=["colour"])


def test_a_replaced_row_has_the_new_attributes(collection):
    collection.insert([7], vectors(1, seed=50), attributes=[{"section": "new", "price": 7}])
    found = collection.attributes([7])
    assert (found["price"], found["section"], found["tags"]) == ([7], ["new"], [None])
    assert np.isnat(found["at"]).all()
    assert collection.search(vectors(1, seed=50)[0], k=1, filter="section = 'new'").ids[0] == 7


def test_what_cannot_be_is_refused_and_nothing_is_in(collection):
    rows = vectors(2, seed=4)
    for attributes, word in [
        (None, "section"),
        ({"section": ["a"]}, "2"),
        ({"section": ["a", "b"], "colour": [1, 2]}, "colour"),
        ({"section": ["a", "b"], "price": [1, 1.5]}, "price"),
        ({"section": ["a", None]}, "section"),
        ({"section": ["a", "b"], "tags": [["x"], ["y", ""]]}, "tags"),
        ({"section": ["a", "x" * 70_000]}, "65536"),
    ]:
        with pytest.raises(farvec.InvalidArgument, match=word):
            collection.insert([9001, 9002], rows, attributes=attributes)
    assert 9001 not in collection and 9002 not in collection
    for condition, word in [("colour = 1", "no column 'colour'"), ("price =", "column 8"),
                            ("price = 'a'", "price"), ("(" * 10_000, "column")]:
        with pytest.raises(farvec.InvalidArgument, match=word):
            collection.search(rows[0], filter=condition)


def test_a_collection_without_a_schema_takes_ids_alone(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with farvec.Collection(tmp_path / "set", durability="none") as collection:
        collection.insert(np.arange(50), vectors(50, seed=3))
        found = collection.search(vectors(1, seed=1)[0], k=50, filter="id between 3 and 5")
        assert sorted(found.ids[:3]) == [3, 4, 5]
        assert collection.attributes([1]) == {}
        with pytest.raises(farvec.InvalidArgument, match="price"):
            collection.insert([60], vectors(1, seed=3), attributes={"price": [1]})
    with pytest.raises(farvec.InvalidArgument, match="number"):
        farvec.Collection.create(tmp_path / "other", DIMENSION, schema={"price": "number"})


def test_the_schema_is_described(collection):
    assert collection.describe()["schema"][1] == {"name": "section", "type": "string",
                                                  "nullable": False}


def test_columns_are_added(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with farvec.Collection(tmp_path / "set", durability="none") as opened:
        rows, ids = vectors(30), np.arange(30)
        opened.insert(ids, rows)
        with pytest.raises(farvec.InvalidArgument, match="price"):
            opened.insert(ids, rows, attributes={"price": ids})
        opened.add_columns({"price": "i64", "tags": "set"})
        opened.insert(ids[20:], rows[20:], attributes={"price": ids[20:]})
        assert opened.count("price is null") == 20
        assert opened.attributes([3, 25]) == {"price": [None, 25], "tags": [None, None]}
        for wrong, word in [({"price": "i64"}, "price"), ({"a": "i64 not null"}, "not null"),
                            ({}, "none came"), ({"a": "what"}, "column 'a'"), (5, "dict")]:
            with pytest.raises(farvec.InvalidArgument, match=word):
                opened.add_columns(wrong)
    with farvec.Collection(tmp_path / "set") as again:
        assert set(again.search(rows[0], k=30, filter="price >= 25").ids[:5]) == set(range(25, 30))


@pytest.mark.parametrize("kind", ["graph", "clusters"])
def test_an_index_has_attributes(tmp_path, kind):
    rows, queries, ids = vectors(ROWS, seed=3), vectors(10, seed=9), np.arange(ROWS)
    path = tmp_path / "index"
    if kind == "graph":
        farvec.build_graph(rows, path, metric="l2", degree=12, list=24)
        reach = {"list": 400}
    else:
        farvec.build_clusters(rows, path, metric="l2", clusters=20)
        reach = {"probe": 20}
    with farvec.open(path) as index:
        with pytest.raises(farvec.InvalidArgument, match="write_attributes"):
            index.search(queries, filter="price < 50")
    farvec.write_attributes(path, attributes_of(ids), SCHEMA)
    with farvec.open(path) as index:
        for condition, meets in CONDITIONS:
            wanted = [i for i in range(ROWS) if meets(i)]
            found = index.search(queries, k=6, filter=condition, select=["price", "tags"], **reach)
            for q, (query, found_ids) in enumerate(zip(queries, found.ids)):
                near = sorted(wanted, key=lambda i: ((rows[i] - query)**2).sum())[:6]
                real = [int(i) for i in found_ids if i != np.iinfo(np.uint32).max]
                assert real == near, condition
                own = attributes_of(np.array(real, int))
                assert found.attributes[q]["price"][:len(real)] == own["price"]
                assert [sorted(t) for t in found.attributes[q]["tags"][:len(real)]] == [
                    sorted(t) for t in own["tags"]]
        exact = index.search(queries[0], k=3, filter="price < 50", exact=True)
        assert exact.counts.matches == sum(meets(i) for i in range(ROWS)
                                           for meets in [CONDITIONS[0][1]])
        with pytest.raises(farvec.InvalidArgument, match="no column 'prise'"):
            index.search(queries, filter="prise < 3")
    for wrong, schema, word in [({"price": [1]}, SCHEMA, "price"), ({}, {}, "no columns"),
                                ({"price": ["x"] * ROWS}, {"price": "i64"}, "price")]:
        with pytest.raises(farvec.InvalidArgument, match=word):
            farvec.write_attributes(path, wrong, schema)


def test_a_sweep_has_a_filter(tmp_path):
    rows, queries = vectors(ROWS, seed=3), vectors(10, seed=9)
    farvec.build_graph(rows, tmp_path / "index", metric="l2", degree=12, list=24)
    farvec.write_attributes(tmp_path / "index", {"price": np.arange(ROWS)}, {"price": "i64"})
    with farvec.open(tmp_path / "index") as index:
        exact = index.search(queries, k=5, filter="price < 90", exact=True)
    common = {"groundtruth": (exact.ids, exact.distances), "k": 5, "passes": 1, "pass_ms": 1}
    for row in farvec.sweep(tmp_path / "index", queries, list=[20, 90], filter="price < 90", **common):
        assert (row["filter"], row["matches"], row["recall"]) == ("price < 90", 90, 1)
    with pytest.raises(farvec.InvalidArgument, match="no column 'prise'"):
        farvec.sweep(tmp_path / "index", queries, filter="prise = 1", **common)


def test_an_index_on_a_memory_node_takes_conditions(tmp_path, hold, serve):
    rows, queries, path = vectors(ROWS, seed=3), vectors(10, seed=9), tmp_path / "index"
    farvec.build_graph(rows, path, metric="l2", degree=12, list=24)
    farvec.write_attributes(path, attributes_of(np.arange(ROWS)), SCHEMA)
    memory = hold("--index", str(path), "--fabric", "tcp:127.0.0.1")
    with farvec.open(path) as index:
        expected = [index.search(queries, k=6, filter=condition, exact=True)
                    for condition, _ in CONDITIONS]
    node = serve("--memory-node", memory, "--tier", "fabric:tcp")
    for index in open_soon(node), farvec.open(path, tier=f"fabric:tcp:{memory}"):
        with index:
            for (condition, _), wanted in zip(CONDITIONS, expected):
                found = index.search(queries, k=6, list=ROWS, filter=condition, select=["price", "tags"])
                np.testing.assert_array_equal(found.ids, wanted.ids, condition)
                for ids, attributes in zip(found.ids, found.attributes):
                    real = ids[ids != np.iinfo(np.uint32).max].astype(int)
                    own = attributes_of(real)
                    assert attributes["price"][:len(real)] == own["price"]
                    assert [sorted(tags) for tags in attributes["tags"][:len(real)]] == [
                        sorted(tags) for tags in own["tags"]]


def test_searches_name_a_tenant(tmp_path, serve):
    farvec.Collection.create(tmp_path / "set", DIMENSION,
                             schema={"owner": "string tenant", "price": "i64"})
    rows, owners = vectors(90, seed=4), [f"o{i % 3}" for i in range(90)]
    with farvec.Collection(tmp_path / "set", durability="none") as things:
        with pytest.raises(farvec.InvalidArgument, match="owner"):
            things.insert([1], rows[:1], attributes={"price": [1]})
        things.insert(range(90), rows, attributes={"owner": owners, "price": range(90)})
        for wrong in (None, "price < 9", "owner != 'o1'"):
            for exact in (False, True):
                with pytest.raises(farvec.InvalidArgument, match="names none"):
                    things.search(rows[0], filter=wrong, exact=exact)
        with pytest.raises(farvec.InvalidArgument, match="names none"):
            things.search_near(3)
        found = things.search(rows[:3], k=90, filter="owner = 'o1'")
        assert {int(i) % 3 for i in found.ids[found.ids < 90]} == {1}
        assert sorted(things.search_near(4, k=90, filter="owner = 'o1'").ids[:29].tolist()) == \
            [i for i in range(1, 90, 3) if i != 4]
        assert things.count() == 90
    address = serve("--collection", str(tmp_path / "set"))
    with open_soon(address, farvec.Collection) as things:
        with pytest.raises(farvec.InvalidArgument, match="names none"):
            things.search(rows[0])
        assert things.search(rows[0], k=5, filter="owner in ('o0', 'o2')").ids[0] == 0
    farvec.build_graph(rows, tmp_path / "index", metric="l2", progress=False)
    farvec.write_attributes(tmp_path / "index", {"owner": owners}, {"owner": "string tenant"})
    with farvec.open(tmp_path / "index") as index:
        with pytest.raises(farvec.InvalidArgument, match="names none"):
            index.search(rows[0])
        assert index.search(rows[0], k=1, filter="owner = 'o0'").ids.tolist() == [0]
