"""Searches within a distance, near a row, and page after page."""

import itertools

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, ROWS, distances, open_soon, vectors

SCHEMA = {"price": "i64"}
NONE = np.iinfo(np.uint64).max
#: The first walk of a search within a distance has a thirtieth of it, which finds all rows.
MOST = 32 * ROWS


def set_of(path, rows, **options):
    """A collection whose row i has the id i + 7, and the price i."""
    farvec.Collection.create(path, DIMENSION, schema=SCHEMA, memtable_rows=300, **options)
    opened = farvec.Collection(path, durability="none", max_list=4096)
    ids = np.arange(len(rows))
    opened.insert(ids + 7, rows, attributes={"price": ids})
    return opened


@pytest.fixture()
def things(tmp_path, rows):
    with set_of(tmp_path / "set", rows[:800]) as opened:
        opened.flush()
        yield opened


@pytest.fixture()
def large_index(folder):
    with farvec.open(folder, max_list=MOST) as opened:
        yield opened


def between(sorted_distances, rows):
    """A distance that `rows` rows are within."""
    least = sorted_distances[rows - 1] if rows else sorted_distances[0] - 1
    return (least + sorted_distances[rows]) / 2


@pytest.mark.parametrize("count", [0, 1, 32, 33, 250])
def test_results_are_within_a_distance(large_index, rows, queries, count):
    all_distances = distances("l2", queries[:1], rows)[0]
    order = np.argsort(all_distances, kind="stable")
    bound = between(all_distances[order], count)
    for options in ({"list": MOST}, {"exact": True}):
        found = large_index.search(queries[0], within=bound, **options)
        assert found.ids.tolist() == order[:count].tolist()
        assert np.all(found.distances <= bound) and found.distances.shape == (count,)
    few = large_index.search(queries[0], k=20, within=bound, list=MOST)
    assert few.ids.tolist() == order[:min(20, count)].tolist()


def test_arrays_are_as_wide_as_the_most_results(large_index, rows, queries):
    bound = float(np.quantile(distances("l2", queries, rows), 0.02))
    found = large_index.search(queries, within=bound, list=MOST)
    counts = (distances("l2", queries, rows) <= bound).sum(axis=1)
    assert found.ids.shape == (len(queries), counts.max()) and counts.min() < counts.max()
    assert np.isfinite(found.distances).sum(axis=1).tolist() == counts.tolist()
    assert np.all((found.ids == np.iinfo(np.uint32).max) == np.isinf(found.distances))
    for bound in (-1, -np.inf):
        assert large_index.search(queries, within=bound).ids.shape == (len(queries), 0)
    assert large_index.search(queries, k=3, within=np.inf).ids.shape == (len(queries), 3)


def test_few_that_are_near_cost_little(large_index, queries):
    near = large_index.search(queries, k=1000, within=0.001)
    assert near.counts.walks == len(queries)
    assert near.counts.reads * 4 < large_index.search(queries, k=1000, list=1000).counts.reads


@pytest.mark.parametrize("wrong", [float("nan")])
def test_a_bound_is_a_number(large_index, things, queries, wrong):
    for searched in (large_index, things):
        with pytest.raises(farvec.InvalidArgument, match="within"):
            searched.search(queries, within=wrong)


@pytest.mark.parametrize("kind", ["graph", "cluster", "slotted"])
def test_collections_find_attributes_within_a_distance(tmp_path, rows, queries, kind):
    options = {"graph": {}, "cluster": {"kind": "cluster"}, "slotted": {"layout": "slotted"}}[kind]
    some = rows[:600]
    with set_of(tmp_path / "set", some, **options) as opened:
        opened.flush()
        all_distances = distances("l2", queries[:1], some)[0]
        meet = np.arange(100, 600)
        order = meet[np.argsort(all_distances[meet], kind="stable")]
        bound = between(all_distances[order], 40)
        found = opened.search(queries[0], within=bound, filter="price >= 100", select=["price"],
                              exact=True)
        assert found.ids.tolist() == (order[:40] + 7).tolist()
        assert list(found.attributes["price"]) == order[:40].tolist()
        several = opened.search(queries[:3], within=bound, select=["price"])
        for ids, columns in zip(several.ids, several.attributes):
            assert [None if i == NONE else int(i) - 7 for i in ids] == list(columns["price"])


def test_near_a_row_are_the_others(things, rows):
    some = rows[:800]
    order = np.argsort(distances("l2", some[5:6], some)[0], kind="stable")
    assert order[0] == 5
    found = things.search_near(12, k=6, list=800)
    assert found.ids.tolist() == (order[1:7] + 7).tolist()
    several = things.search_near([12, 13, 12], k=6, list=800, filter="price != 5 or true",
                                 select=["price"])
    assert several.ids[0].tolist() == several.ids[2].tolist() == found.ids.tolist()
    assert 13 not in several.ids[1] and len(several.attributes) == 3
    assert list(several.attributes[0]["price"]) == (several.ids[0] - 7).tolist()
    bound = between(np.sort(distances("l2", some[5:6], some)[0]), 4)
    assert things.search_near(12, within=bound, list=800).ids.tolist() == (order[1:4] + 7).tolist()
    # A twin is another row.
    things.insert([5000], some[5:6], attributes={"price": [5]})
    assert things.search_near(12, k=1).ids.tolist() == [5000]


def test_near_has_room_for_one_less(tmp_path, rows, serve):
    set_of(tmp_path / "set", rows[:300]).close()
    with farvec.Collection(tmp_path / "set", max_list=500) as things:
        assert things.search_near(7, within=1e9).ids.shape == (299,)
        assert things.search_near(7, k=499).ids.shape == (499,)
        for wrong in (0, 500, 2**32 - 1):
            with pytest.raises(farvec.InvalidArgument, match="k: .*use 1 to 499"):
                things.search_near(7, k=wrong)
    with farvec.Collection(tmp_path / "set", max_list=1) as things:
        with pytest.raises(farvec.InvalidArgument, match="max_list: 1"):
            things.search_near(7)
    with open_soon(serve("--collection", str(tmp_path / "set")), farvec.Collection) as things:
        assert things.search_near(7, within=1e9).ids.shape == (299,)


def test_near_what_is_not_there(things):
    with pytest.raises(farvec.NotFound, match="ids: 3 is not there"):
        things.search_near([12, 3])
    assert things.search_near([], k=3).ids.shape == (0, 3)
    with pytest.raises(farvec.InvalidArgument):
        things.search_near([1.5])


def test_a_set_of_one_has_nothing_near(tmp_path, rows):
    with set_of(tmp_path / "one", rows[:1]) as opened:
        found = opened.search_near(7, k=2)
        assert found.ids.tolist() == [NONE, NONE] and np.all(np.isinf(found.distances))
    farvec.Collection.create(tmp_path / "bytes", 4, metric="cosine", type="i8")
    with farvec.Collection(tmp_path / "bytes") as opened:
        opened.insert([1], np.ones((1, 4), np.int8))
        with pytest.raises(farvec.InvalidArgument, match="stored at length one"):
            opened.search_near(1)


@pytest.mark.parametrize("page", [1, 7, 100, 900])
def test_pages_bring_each_row_once(things, rows, queries, page):
    some = rows[:800]
    pages = list(things.rows_by_distance(queries[0], page=page, list=800, select=["price"]))
    assert [len(ids) for ids, _, _ in pages[:-1]] == [page] * (len(pages) - 1)
    ids = np.concatenate([ids for ids, _, _ in pages])
    assert sorted(ids.tolist()) == list(range(7, 807))
    order = np.argsort(distances("l2", queries[:1], some)[0], kind="stable") + 7
    assert (ids == order).mean() > 0.95
    assert [price for _, _, columns in pages for price in columns["price"]] == (ids - 7).tolist()


def test_pages_meet_a_condition_and_a_bound(things, rows, queries):
    bound = float(np.median(distances("l2", queries[:1], rows[:800])))
    pages = list(things.rows_by_distance(queries[0], page=30, filter="price < 300", within=bound,
                                         list=800))
    found = sorted(int(i) for ids, _, _ in pages for i in ids)
    near = distances("l2", queries[:1], rows[:300])[0] <= bound
    assert found == (np.flatnonzero(near) + 7).tolist()
    assert all(attributes is None for _, _, attributes in pages)


def test_pages_are_searched_for_when_they_are_asked_for(large_index, queries, monkeypatch):
    pages = large_index.rows_by_distance(queries[0], page=10)
    assert len(list(itertools.islice(pages, 5))) == 5
    farther = next(pages)
    assert farther.distances.min() > 0 and farther.ids.dtype == np.uint32


def test_pages_of_clusters_come_to_the_last_row(tmp_path, rows, queries):
    farvec.build_clusters(rows, tmp_path / "index", metric="l2", clusters=60, progress=False)
    with farvec.open(tmp_path / "index") as index:
        ids = [int(i) for page in index.rows_by_distance(queries[0], page=300) for i in page.ids]
        assert sorted(ids) == list(range(ROWS))
        near = np.flatnonzero(distances("l2", queries[:1], rows)[0] <= 40)
        ids = [int(i) for page in index.rows_by_distance(queries[0], within=40) for i in page.ids]
        assert sorted(ids) == near.tolist() and 100 < len(ids) < ROWS
    with farvec.open(tmp_path / "index", max_probe=4) as index:
        pages, ids = index.rows_by_distance(queries[0], within=40), []
        with pytest.raises(farvec.ResourceExhausted, match="max_probe"):
            for page in pages:
                ids += page.ids.tolist()
        assert 0 < len(ids) < len(near) and set(ids) <= set(near.tolist())


def test_pages_of_a_paged_hnsw(tmp_path, rows, queries):
    farvec.build_hnsw(rows[:300], tmp_path / "pages", metric="l2", progress=False)
    with farvec.PagedHnsw(tmp_path / "pages") as pages:
        pages.delete(range(50))
        ids = [int(i) for page in pages.rows_by_distance(queries[0]) for i in page.ids]
        assert sorted(ids) == list(range(50, 300))
        all_distances = np.sort(distances("l2", queries[:1], rows[50:300])[0])
        found = pages.search(queries[0], within=between(all_distances, 60), list=1000)
        assert len(found.ids) == 60


def test_pages_end_where_searches_have_no_room(folder, queries):
    with farvec.open(folder, max_list=128) as index:
        pages = index.rows_by_distance(queries[0], page=50)
        assert [len(page.ids) for page in itertools.islice(pages, 3)] == [50, 50, 28]
        with pytest.raises(farvec.ResourceExhausted, match="max_list"):
            next(pages)


@pytest.mark.parametrize("wrong", [{"page": 0}, {"page": 1.5}, {"page": True}, {"k": 3}, {"list": 0},
                                   {"list": "x"}, {"probe": -3}, {"probe": 1.5}])
def test_pages_that_cannot_be(things, queries, wrong):
    with pytest.raises(farvec.InvalidArgument, match=next(iter(wrong))):
        things.rows_by_distance(queries[0], **wrong)
    with pytest.raises(farvec.InvalidArgument, match="query"):
        things.rows_by_distance(queries)
    assert len(next(things.rows_by_distance(queries[0], page=np.int64(5), list=np.int64(70))).ids) == 5


def test_a_node_does_the_same(tmp_path, serve, rows, queries):
    set_of(tmp_path / "set", rows[:800]).close()
    address = serve("--collection", str(tmp_path / "set"), "--max-list", "2000", "--max-k", "2000")
    some = rows[:800]
    order = np.argsort(distances("l2", queries[:1], some)[0], kind="stable")
    bound = between(np.sort(distances("l2", queries[:1], some)[0]), 50)
    with open_soon(address, farvec.Collection) as things:
        found = things.search(queries[0], within=bound, exact=True, select=["price"])
        assert found.ids.tolist() == (order[:50] + 7).tolist()
        assert list(found.attributes["price"]) == order[:50].tolist()
        assert things.search(queries[0], within=-np.inf).ids.shape == (0,)
        assert 12 not in things.search_near(12, k=9, list=800).ids
        ids = [int(i) for page in things.rows_by_distance(queries[0], page=200, list=800)
               for i in page.ids]
        assert sorted(ids) == list(range(7, 807))
