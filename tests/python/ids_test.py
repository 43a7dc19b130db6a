"""Ids: integers of every width are taken exactly, and nothing else is."""

import asyncio
import warnings

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, vectors

LARGEST = 2**64 - 1
WIDTHS = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64,
          ">u4", ">i8", "<u2"]


class GivesMasked:
    """An object whose array is masked."""

    def __array__(self, dtype=None, copy=None):
        return np.ma.masked_array([1, 2], [0, 1])


NO_IDS = [
    GivesMasked(),
    np.array([1.0]), np.array([1.9]), np.array([np.inf]), np.array([np.nan], np.float32),
    np.array([True]), np.array([-1]), np.array([-1], np.int8), np.array([1], object),
    np.array(["1"]), np.array([b"1"]), np.array([1 + 0j]), np.array([1], "M8[s]"),
    np.ma.masked_values(np.array([1, 2]), 2), [np.ma.masked],
    [1.0], [True], [np.True_], [-1], [2**64], [None], ["1"], [object()], [np.float64(1)],
    [1, 1.5], [np.array(1.0)], 1.5, True, -1, 2**64, "1", b"1", bytearray(b"1"), object(),
    {1: 2}, {1}, [[1]], np.array([[1]]),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("ids") / "set"
    farvec.Collection.create(path, DIMENSION)
    return path


@pytest.fixture()
def things(path):
    with farvec.Collection(path, durability="none") as opened:
        yield opened
        opened.delete(list(range(300)))


def test_arrays_of_every_width(things):
    for dtype in WIDTHS:
        ids = np.array([1, 127], dtype)
        assert things.insert(ids, vectors(2)).done == 2
        assert things.get(ids)[0].tolist() == [True, True]
        assert things.get(ids[::-1])[0].tolist() == [True, True]
        assert 127 in things and np.array(127, dtype) in things
        assert things.delete(np.repeat(ids, 2)[::2]).done == 2


def test_large_ids_are_what_they_are(things):
    ids = [2**32 + 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2]
    things.insert(ids, vectors(5))
    assert all(id in things for id in ids)
    assert not any(id + off in things for id in ids[:2] for off in (-1, 1, 2))
    assert things.get(np.array(ids, np.uint64))[0].all()
    assert sorted(things.search(vectors(5), k=1).ids[:, 0].tolist()) == ids
    assert things.delete(tuple(ids)).done == 5


def test_lists_ranges_and_single_ones(things):
    things.insert(range(5), vectors(5))
    things.insert([np.uint8(5), np.int64(6), 7], vectors(3).tolist())
    things.insert(8, vectors(1)[0])
    there, rows = things.get([0, 7, 8, 9])
    assert there.tolist() == [True, True, True, False]
    assert np.array_equal(rows, np.stack([vectors(5)[0], vectors(3)[2], vectors(1)[0]]))
    assert things.get([])[0].tolist() == [] and things.delete([]).done == 0
    assert 8 in things and 9 not in things and np.uint16(8) in things
    assert things.delete(range(9)).done == 9


@pytest.mark.parametrize("bad", NO_IDS, ids=lambda bad: repr(bad)[:30])
def test_nothing_else_is_an_id(things, bad):
    things.insert([0, 1, 2], vectors(3))
    one = vectors(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in (lambda: things.insert(bad, one), lambda: things.delete(bad),
                     lambda: things.get(bad)):
            with pytest.raises(farvec.InvalidArgument, match="^ids: "):
                call()
    assert len(things) == 3 and np.array_equal(things.get([0, 1, 2])[1], vectors(3))


@pytest.mark.parametrize("bad", [1.0, 1.5, np.float32(1), True, np.True_, -1, 2**64, "1",
                                 object(), [1], np.array([1]), np.ma.masked])
def test_in_takes_an_id_alone(things, bad):
    with pytest.raises(farvec.InvalidArgument, match="^id: "):
        bad in things


def test_a_paged_graph_takes_the_same(tmp_path):
    farvec.build_hnsw(vectors(50), tmp_path / "h", progress=False)
    with farvec.PagedHnsw(tmp_path / "h", buffer="4MiB", durability="none") as graph:
        assert graph.insert([100, np.uint8(101)], vectors(2)) == 2
        assert graph.insert(np.array([102], np.int16), vectors(1)) == 1
        for bad in [*NO_IDS, [2**32 - 1], [2**32 + 5]]:
            for call in (lambda: graph.insert(bad, vectors(1)), lambda: graph.delete(bad)):
                with pytest.raises(farvec.InvalidArgument, match="^ids: "):
                    call()
        assert len(graph) == 53
        assert graph.delete(range(100, 103)) == 3


def test_recall_compares_ids_as_they_are():
    assert farvec.recall([[(7 << 32) | 1, (7 << 32) | 2]], [[(3 << 32) | 1, (3 << 32) | 2]]) == 0
    assert farvec.recall(np.array([[2**32 + 5, 9]], np.uint64), np.array([[5, 9]])) == 0.5
    assert farvec.recall(np.array([[2**63, 1]], np.uint64), [[1, 2**63]]) == 1
    assert farvec.recall([[2**32 - 1]], [[2**32 - 1]]) == 1
    assert farvec.recall(np.array([[1, 2]], np.int8), np.array([[2, 3]], ">u4")) == 0.5
    for dtype in (np.uint32, np.uint64):  # missing ones are found by nobody
        none = np.full((1, 2), np.iinfo(dtype).max, dtype)
        assert farvec.recall(none, none) == 0


@pytest.mark.parametrize("bad", [np.array([[1.7]]), np.array([[-1]]), np.array([[True]]), [[1.0]],
                                 [[-1]], [["1"]], [[2**64]], np.array([[1]], object), [[1], [1, 2]],
                                 [1], 1, "ids", np.ma.masked_values([[1]], 1)])
def test_recall_and_ground_truth_take_integers_alone(tmp_path, bad):
    good = np.array([[1]], np.uint32)
    for call, word in ((lambda: farvec.recall(bad, good), "ids"),
                       (lambda: farvec.recall(good, bad), "true_ids"),
                       (lambda: farvec.write_ground_truth(tmp_path / "t.ibin", bad), "ids")):
        with pytest.raises(farvec.InvalidArgument, match=f"^{word}: "):
            call()
    assert not (tmp_path / "t.ibin").exists()


def test_a_file_of_ground_truth_has_ids_of_32_bits(tmp_path):
    path = tmp_path / "t.ibin"
    for bad in ([[2**32]], np.array([[2**33 + 5]])):
        with pytest.raises(farvec.InvalidArgument, match="^ids: .*32 bits"):
            farvec.write_ground_truth(path, bad)
    farvec.write_ground_truth(path, [[1, 2**32 - 1]], [[0.5, np.inf]])
    ids, distances = farvec.read_ground_truth(path)
    assert ids.tolist() == [[1, 2**32 - 1]] and distances.tolist() == [[0.5, np.inf]]
    with pytest.raises(farvec.InvalidArgument, match="^distances: "):
        farvec.write_ground_truth(path, [[1]], [[1, 2]])


def test_none_is_no_argument(things):
    for call in (lambda: things.insert(None, vectors(1)), lambda: things.insert([1], None),
                 lambda: things.get(None), lambda: None in things,
                 lambda: farvec.recall(None, [[1]])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(farvec.InvalidArgument, match="ids, filter: give one of them"):
        things.delete(None)


def test_coroutines_refuse_the_same(things):
    with pytest.raises(farvec.InvalidArgument, match="queries"):
        asyncio.run(things.search_async("queries"))
