"""Rows of a collection are given other attributes, and keep their vectors."""

import datetime

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, open_soon, vectors

ROWS = 300
SCHEMA = {"price": "i64", "section": "string not null", "tags": "set", "at": "timestamp",
          "rating": "f64", "raw": "bytes"}


@pytest.fixture(params=["here", "node"])
def collection(request, tmp_path, serve):
    path = tmp_path / "set"
    farvec.Collection.create(path, DIMENSION, memtable_rows=100, schema=SCHEMA)
    if request.param == "node":
        address = serve("--collection", path, "--durability", "none")
        opened = open_soon(address, farvec.Collection)
    else:
        opened = farvec.Collection(path, durability="none")
    with opened:
        ids = np.arange(ROWS)
        opened.insert(ids, vectors(ROWS, seed=3),
                      attributes={"price": ids, "section": ["old"] * ROWS})
        yield opened


def values(collection, ids, column):
    return collection.attributes(ids, select=[column])[column]


@pytest.mark.parametrize("when", ["fresh", "compact"])
def test_each_id_has_its_own_values(collection, when):
    if when == "compact":
        collection.compact()
    before = collection.get(np.arange(ROWS))[1]
    told = collection.update([7, 120, 1000], {
        "price": [70, None, 1], "tags": [["a", "b"], [], None],
        "at": np.array(["2024-05-01", "NaT", "2024-05-02"], "datetime64[s]"),
        "rating": np.array([0.5, 1.5, 2.5], np.float32), "raw": [b"\x00", None, b""]})
    assert (told.done, told.replaced, told.missing) == (2, 0, 1)
    assert told.version > ROWS
    for _ in range(2):
        found = collection.attributes([7, 120, 8])
        assert found["price"] == [70, None, 8]
        assert found["section"] == ["old"] * 3
        assert found["tags"] == [["a", "b"], [], None]
        assert found["at"][0] == np.datetime64("2024-05-01") and np.isnat(found["at"][1])
        assert found["rating"] == [0.5, 1.5, None]
        assert found["raw"] == [b"\x00", None, None]
        there, rows = collection.get(np.arange(ROWS))
        assert there.all() and np.array_equal(rows, before)
        assert list(collection.search(vectors(ROWS, seed=3)[7], k=1, filter="price = 70").ids) == [7]
        collection.compact()
    assert len(collection) == ROWS


def test_one_value_is_that_of_all(collection):
    told = collection.update(np.arange(20), {
        "price": None, "section": "new", "tags": {"x", "y"}, "rating": 3,
        "at": datetime.datetime(2024, 5, 1), "raw": b"ab"})
    assert told.done == 20
    found = collection.attributes([0, 19])
    assert (found["price"], found["section"]) == ([None, None], ["new", "new"])
    assert (found["tags"], found["rating"]) == ([["x", "y"]] * 2, [3.0, 3.0])
    assert (found["at"] == np.datetime64("2024-05-01")).all() and found["raw"] == [b"ab"] * 2
    collection.update([1, 2], {"price": [5, 6], "section": "mixed"})
    assert values(collection, [1, 2, 3], "price") == [5, 6, None]
    assert values(collection, [1, 2, 3], "section") == ["mixed", "mixed", "new"]


def test_rows_that_meet_a_condition(collection):
    told = collection.update(filter="price between 10 and 19", attributes={
        "price": 1000, "tags": ["a", "b"], "rating": np.float64(2)})
    assert (told.done, told.missing) == (10, 0)
    assert collection.count("price = 1000 and tags contains all ('a', 'b') and rating = 2") == 10
    assert collection.update(filter="price = 12", attributes={"price": 1}).done == 0
    assert collection.update(filter="true", attributes={"section": "all"}).done == ROWS
    assert collection.count("section = 'all'") == ROWS


def test_the_first_of_an_id_holds(collection):
    told = collection.update([5, 6, 5], {"price": [50, 60, 51]})
    assert (told.done, told.missing) == (2, 1)
    assert values(collection, [5, 6], "price") == [50, 60]
    many = np.arange(200_000) % ROWS
    told = collection.update(many, {"price": np.arange(200_000)})
    assert (told.done, told.missing) == (ROWS, 200_000 - ROWS)
    assert values(collection, [0, 299], "price") == [0, 299]


def test_a_dict_for_each_row_is_taken_too(collection):
    collection.update([1, 2], [{"price": 5, "section": "a"}, {"section": "b", "price": None}])
    assert values(collection, [1, 2], "price") == [5, None]
    assert values(collection, [1, 2], "section") == ["a", "b"]


def test_no_rows_are_no_change(collection):
    assert collection.update([], {"price": []}).done == 0
    assert collection.update([], {"price": 3}).done == 0
    assert collection.update([5000], {"price": 3}).missing == 1


def test_a_large_update_comes_in_parts(collection):
    told = collection.update(np.arange(60), {"section": [f"{i}" + "n" * 60_000 for i in range(60)]})
    assert told.done == 60
    assert collection.count("section prefix '59n'") == 1


def test_what_cannot_be_is_refused_and_nothing_changes(collection):
    ids = [1, 2]
    for attributes, word in [
        (None, "attributes"), ({}, "no column came"), ({"colour": 1}, "colour"),
        ({"price": [1]}, "price"), ({"price": [1, 1.5]}, "price"), ({"price": "cheap"}, "price"),
        ({"section": None}, "section"), ({"section": ["a", None]}, "row 1.*section"),
        ({"tags": [["x"], ["y", ""]]}, "tags"), ({"section": ["a", "x" * 70_000]}, "65536"),
        ([{"price": 1}, {"section": "a"}], "row 1 has other columns"),
        ([{"price": 1}], "1 dicts for 2 rows"), ({1: [1, 2]}, "no str"), ("price", "str"),
    ]:
        with pytest.raises((farvec.InvalidArgument, farvec.errors.WrongType), match=word):
            collection.update(ids, attributes)
    for wrong in ({"attributes": {"price": 1}}, {"ids": ids, "filter": "true"}, {"filter": ""},
                  {"filter": "prise = 1", "attributes": {"price": 1}},
                  {"filter": "true", "attributes": [{"price": 1}]},
                  {"filter": "true", "attributes": {"price": [1, 2]}}):
        with pytest.raises((farvec.InvalidArgument, farvec.errors.WrongType)):
            collection.update(**wrong)
    assert values(collection, [1, 2], "price") == [1, 2]
    assert collection.count("section = 'old'") == ROWS


def test_a_collection_without_a_schema_has_no_columns(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with farvec.Collection(tmp_path / "set", durability="none") as collection:
        collection.insert([1], vectors(1))
        with pytest.raises(farvec.InvalidArgument, match="price"):
            collection.update([1], {"price": 1})


def test_columns_that_came_meanwhile_are_known(tmp_path, serve):
    farvec.Collection.create(tmp_path / "set", DIMENSION, schema={"price": "i64"})
    address = serve("--collection", tmp_path / "set", "--durability", "none")
    with open_soon(address, farvec.Collection) as one, farvec.Collection(address) as other:
        one.insert([1, 2], vectors(2))
        other.add_columns({"rating": "f64"})
        assert one.update([1], {"rating": 0.5}).done == 1
        assert other.attributes([1, 2], select=["rating"]) == {"rating": [0.5, None]}
