"""What may stand for vectors: arrays of our types and lists of numbers; what would lose something of
what was said is refused."""

import warnings

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, vectors

TYPES = [np.float32, np.float16, np.uint8, np.int8]


def masked(rows):
    return np.ma.array(rows, mask=np.arange(rows.size).reshape(rows.shape) == 3)


class GivesMasked:
    """An object whose array is masked."""

    def __init__(self, rows):
        self.rows = masked(rows)

    def __array__(self, dtype=None, copy=None):
        return self.rows


@pytest.fixture(scope="module")
def openings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arrays")
    farvec.build_graph(vectors(60), folder / "g", progress=False)
    farvec.build_clusters(vectors(60), folder / "k", clusters=20, progress=False)
    farvec.build_hnsw(vectors(60), folder / "h", progress=False)
    farvec.Collection.create(folder / "c", DIMENSION)
    with farvec.open(folder / "g") as graph, farvec.open(folder / "k") as clusters, \
            farvec.PagedHnsw(folder / "h", buffer="4MiB") as pages, \
            farvec.Collection(folder / "c", durability="none") as things:
        things.insert(range(60), vectors(60))
        yield {"graph": graph, "clusters": clusters, "pages": pages, "things": things,
               "faiss": farvec.faiss_like(graph)}


def ids_of(found):
    return (found[1] if isinstance(found, tuple) else found.ids)


@pytest.mark.parametrize("name", ["graph", "clusters", "pages", "things", "faiss"])
def test_searches_take_lists_and_no_mask(openings, name):
    opened, rows = openings[name], vectors(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for asked in (rows[:3].tolist(), tuple(map(tuple, rows[:3])), [row for row in rows[:3]],
                      rows[:3].astype(">f4")):
            assert ids_of(opened.search(asked, 1)).ravel().tolist() == [0, 1, 2]
        assert ids_of(opened.search(rows[4].tolist(), 1)).ravel().tolist() == [4]
    for bad in (masked(rows[:2]), [masked(rows[0]), rows[1]], masked(rows[0]),
                GivesMasked(rows[:2]), [GivesMasked(rows[0]), rows[1]]):
        with pytest.raises(farvec.InvalidArgument, match="queries: a masked array"):
            opened.search(bad, 1)
    for bad in ([rows[0].tolist(), [1.0]], [["a"] * DIMENSION], [[None] * DIMENSION],
                [[True] * DIMENSION], [[1e300] * DIMENSION], [[float("nan")] * DIMENSION],
                [[1e19] * DIMENSION], np.full((2, DIMENSION), -1e19, np.float32)):
        with pytest.raises(farvec.InvalidArgument, match="^queries: "):
            opened.search(bad, 1)


def test_changes_take_lists_and_no_mask(openings):
    things, pages = openings["things"], openings["pages"]
    rows = vectors(3, seed=5)
    things.insert([100, 101, 102], rows.tolist())
    assert np.array_equal(things.get([101])[1], rows[1:2])
    assert pages.insert([100, 101, 102], rows.tolist()) == 3
    for opened in (things, pages):
        for bad in (masked(rows), rows.astype(np.float64), rows.astype(np.int64), "rows",
                    np.full((3, DIMENSION), 1e19, np.float32), [[1e19] * DIMENSION] * 3):
            with pytest.raises(farvec.InvalidArgument):
                opened.insert([200, 201, 202], bad)
    assert 200 not in things and len(things) == 63 and len(pages) == 63
    with pytest.raises(farvec.InvalidArgument, match="row 1"):
        things.insert([200, 201], np.array([rows[0], np.full(DIMENSION, 1e19)], np.float32))


def test_a_list_becomes_the_type_that_is_searched(tmp_path):
    for dtype in TYPES:
        rows = vectors(40, dtype)
        path = tmp_path / np.dtype(dtype).name
        farvec.Collection.create(path, DIMENSION, type={np.float32: "f32", np.float16: "f16",
                                                        np.uint8: "u8", np.int8: "i8"}[dtype])
        with farvec.Collection(path, durability="none") as things:
            things.insert(range(40), rows.tolist())
            assert np.array_equal(things.get(range(40))[1], rows)
            assert things.search(rows[:5].tolist(), k=1).ids.ravel().tolist() == [0, 1, 2, 3, 4]
            if np.issubdtype(dtype, np.integer):
                for bad in (0.5, 256, -129):
                    with pytest.raises(farvec.InvalidArgument, match="vectors: "):
                        things.insert([1], [[bad] * DIMENSION])


BUILDS = [farvec.build_graph, farvec.build_clusters, farvec.build_hnsw, farvec.build_slotted]


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_builds(tmp_path, build):
    rows = vectors(80)
    with pytest.raises(farvec.InvalidArgument, match="data: a masked array"):
        build(masked(rows), tmp_path / "x", progress=False)
    with pytest.raises(farvec.InvalidArgument, match="data: row 7 is too long"):
        build(np.where(np.arange(80)[:, None] == 7, np.float32(1e19), rows), tmp_path / "x",
              progress=False)
    assert not (tmp_path / "x").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build(rows.tolist(), tmp_path / "listed", progress=False)["count"] == 80
    with pytest.warns(UserWarning, match="data is float64.*float32"):
        assert build(rows.astype(np.float64), tmp_path / "rounded", progress=False)["count"] == 80
    with pytest.raises(farvec.InvalidArgument, match="1e\\+300"), pytest.warns(UserWarning):
        build(np.full((3, 4), 1e300), tmp_path / "x", progress=False)
    for bad in (rows.astype(np.int64), rows.astype(bool), rows.astype(object), rows.astype(complex)):
        with pytest.raises(farvec.InvalidArgument, match="data: "):
            build(bad, tmp_path / "x", progress=False)


def test_ground_truth_and_files(tmp_path):
    rows = vectors(30)
    ids, _ = farvec.ground_truth(rows.tolist(), rows[:4].tolist(), k=1)
    assert ids.ravel().tolist() == [0, 1, 2, 3]
    for data, queries, word in ((masked(rows), rows, "data"), (rows, masked(rows), "queries")):
        with pytest.raises(farvec.InvalidArgument, match=f"{word}: a masked"):
            farvec.ground_truth(data, queries, k=1)
    long = np.full((1, DIMENSION), 1e19, np.float32)
    for data, queries, word in ((long, rows, "data"), (rows, long, "queries")):
        with pytest.raises(farvec.Error, match=f"'{word}'.*row 0 is too long"):
            farvec.ground_truth(data, queries, k=1)
    farvec.ground_truth(rows, long, k=1, metric="cosine")  # directions alone
    with pytest.raises(farvec.InvalidArgument, match="vectors: a masked"):
        farvec.write_vectors(tmp_path / "x.fbin", masked(rows))
    farvec.write_vectors(tmp_path / "y.fbin", rows.tolist())
    assert np.array_equal(farvec.read_vectors(tmp_path / "y.fbin"), rows)
    with pytest.raises(farvec.InvalidArgument, match="distances: a masked"):
        farvec.recall([[1]], [[1]], distances=np.ma.masked_values([[1.0]], 1), true_distances=[[1.0]])


def test_the_cosine_takes_integers_wherever_it_stores_halves(tmp_path):
    for dtype in (np.int8, np.uint8):
        rows = vectors(80, dtype)
        folder = tmp_path / np.dtype(dtype).name
        folder.mkdir()
        farvec.build_graph(rows, folder / "g", metric="cosine", progress=False)
        farvec.build_hnsw(rows, folder / "h", metric="cosine", progress=False)
        with farvec.open(folder / "g") as graph, \
                farvec.PagedHnsw(folder / "h", buffer="4MiB", durability="none") as pages:
            expected = graph.search(rows[:9], k=5, list=80).ids
            assert np.array_equal(pages.search(rows[:9], k=5, list=80).ids, expected)
            assert np.array_equal(pages.search(rows[:9].tolist(), k=5, list=80).ids, expected)
            assert pages.insert([200], rows[3:4]) == 1
            assert set(pages.search(rows[3], k=2).ids.tolist()) == {3, 200}
            with pytest.raises(farvec.InvalidArgument, match="queries: they are float32"):
                pages.search(vectors(1))


def test_the_list_of_a_paged_graph_grows_with_k(openings):
    assert openings["pages"].search(vectors(2), k=41).ids.shape == (2, 41)
    with pytest.raises(farvec.InvalidArgument, match="list: 40 .*k, which is 41"):
        openings["pages"].search(vectors(2), k=41, list=40)


@pytest.mark.parametrize("kind", ["graph", "cluster"])
@pytest.mark.parametrize("rows", [0, 30])
def test_a_k_above_the_bound_is_refused_by_name(tmp_path, kind, rows):
    farvec.Collection.create(tmp_path / "set", DIMENSION, kind=kind)
    with farvec.Collection(tmp_path / "set", durability="none", max_list=64) as things:
        things.insert(np.arange(rows), vectors(max(rows, 1))[:rows])
        assert things.search(vectors(2), k=64).ids.shape == (2, 64)
        for k in (65, 2**31, 2**32 - 1):
            with pytest.raises(farvec.InvalidArgument, match=f"k: {k} .* 1 to 64"):
                things.search(vectors(2), k=k)


def test_a_batch_that_another_thread_writes_to(tmp_path):
    """Whatever it has been meanwhile, what is kept has distances, and the log can be read."""
    import threading

    farvec.Collection.create(tmp_path / "set", 256)
    values, ids = np.zeros((4096, 256), np.float32), np.arange(4096, dtype=np.uint64)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            values[-1, 5], ids[-1] = np.nan, 0
            values[-1, 5], ids[-1] = 1e30, 1
            values[-1, 5], ids[-1] = 0, 4095

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with farvec.Collection(tmp_path / "set", durability="none") as things:
            for _ in range(20):
                try:
                    things.insert(ids, values)
                except farvec.InvalidArgument:
                    pass
                kept = things.get([0, 1, 4095])[1]
                assert np.isfinite(kept).all() and (kept < 1e20).all()
    finally:
        stop.set()
        writer.join()
    with farvec.Collection(tmp_path / "set") as things:
        assert "log_rows_left_out" not in things.describe()
