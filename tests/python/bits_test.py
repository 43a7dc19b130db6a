"""Vectors of bits: as bool, as numpy.packbits() packs them, and in files; numpy says what is near."""

import numpy as np
import pytest

import farvec
from conftest import open_soon, vectors

METRICS = ("hamming", "jaccard")
ROWS, QUERIES, K = 400, 20, 10


def bits(count, dimension, seed=1):
    random = np.random.default_rng(seed)
    values = random.random((count, dimension)) < random.random(dimension)
    values[::7] = values[count // 2]  # many rows are equal
    values[::50] = False
    return values


def distances(metric, queries, rows):
    queries, rows = queries.astype(np.int64), rows.astype(np.int64)
    both = queries @ rows.T
    either = queries.sum(axis=1)[:, None] + rows.sum(axis=1)[None, :] - both
    if metric == "hamming":
        return (either - both).astype(np.float32)
    share = (either - both).astype(np.float32) / np.maximum(either, 1).astype(np.float32)
    return np.where(either == 0, np.float32(1), share)


def assert_nearest(found, metric, queries, rows, ids_too=True):
    wanted = distances(metric, queries, rows)
    ids = np.argsort(wanted, axis=1, kind="stable")[:, :found.ids.shape[1]]
    assert np.array_equal(found.distances, np.take_along_axis(wanted, ids, axis=1))
    own = np.take_along_axis(wanted, found.ids.astype(np.int64), axis=1)
    assert np.array_equal(found.distances, own)
    if ids_too:
        assert np.array_equal(found.ids, ids)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """An index of 65 bits, with the rows and queries that it was made for."""
    path = tmp_path_factory.mktemp("bits") / "index"
    farvec.build_graph(bits(ROWS, 65), path, metric="hamming", progress=False)
    return path


@pytest.mark.parametrize("dimension", [1, 7, 9, 65, 1000])
@pytest.mark.parametrize("metric", METRICS)
def test_every_way_to_give_bits_builds_the_same(tmp_path, metric, dimension):
    rows, queries = bits(ROWS, dimension), bits(QUERIES, dimension, seed=2)
    for order in ("big", "little"):
        packed = np.packbits(rows, axis=1, bitorder=order)
        np.save(tmp_path / f"{order}.npy", packed)
        say = dict(metric=metric, type="b1", dimension=dimension, bitorder=order, progress=False)
        facts = farvec.build_graph(packed, tmp_path / order, **say)
        assert (facts["count"], facts["dimension"]) == (ROWS, dimension)
        farvec.build_graph(tmp_path / f"{order}.npy", tmp_path / f"{order}-file", **say)
    farvec.build_graph(rows, tmp_path / "bool", metric=metric, progress=False)
    farvec.write_vectors(tmp_path / "rows.b1bin", rows)
    farvec.build_graph(tmp_path / "rows.b1bin", tmp_path / "b1bin", metric=metric, progress=False)
    records = {name: (tmp_path / name / "records.csr").read_bytes()
               for name in ("big", "little", "big-file", "little-file", "bool", "b1bin")}
    assert len(set(records.values())) == 1
    for order in ("big", "little"):
        with farvec.open(tmp_path / order, bitorder=order) as index:
            asked = np.packbits(queries, axis=1, bitorder=order)
            assert_nearest(index.search(asked, K, list=ROWS), metric, queries, rows)
            assert_nearest(index.search(queries, K, exact=True), metric, queries, rows)
            assert index.search(asked[0], K).ids.shape == (K,)


@pytest.mark.parametrize("metric", METRICS)
def test_pages_and_clusters(tmp_path, metric):
    rows, queries = bits(ROWS, 9), bits(QUERIES, 9, seed=2)
    say = dict(metric=metric, type="b1", dimension=9, progress=False)
    packed, asked = np.packbits(rows, axis=1), np.packbits(queries, axis=1)
    farvec.build_slotted(packed, tmp_path / "slotted", **say)
    farvec.build_clusters(packed, tmp_path / "clusters", clusters=12, **say)
    farvec.build_hnsw(packed, tmp_path / "hnsw", **say)
    with farvec.open(tmp_path / "slotted", "ssd") as index:
        assert_nearest(index.search(asked, K, list=ROWS), metric, queries, rows, ids_too=False)
    with farvec.open(tmp_path / "clusters") as index:
        assert_nearest(index.search(asked, K, probe=12), metric, queries, rows)
    with farvec.PagedHnsw(tmp_path / "hnsw") as index:
        assert_nearest(index.search(asked, K, list=ROWS), metric, queries, rows, ids_too=False)
        found, kept = index.get([3, ROWS])
        assert found.tolist() == [True, False] and np.array_equal(kept, packed[3:4])
        index.delete(range(100))
        index.vacuum()
        assert index.insert(range(100), rows[:100]) == 100
        assert_nearest(index.search(queries, K, list=ROWS), metric, queries, rows, ids_too=False)


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("kind", ["graph", "cluster"])
def test_collections(tmp_path, kind, order):
    rows, queries = bits(ROWS, 9), bits(QUERIES, 9, seed=2)
    packed = np.packbits(rows, axis=1, bitorder=order)
    farvec.Collection.create(tmp_path / "set", 9, type="b1", metric="jaccard", kind=kind,
                             memtable_rows=100)
    search = dict(list=ROWS) if kind == "graph" else dict(probe=1000)
    with farvec.Collection(tmp_path / "set", bitorder=order) as collection:
        collection.insert(np.arange(200), packed[:200])
        collection.insert(np.arange(200, ROWS), rows[200:])
        collection.delete([5, 6])
        collection.insert([5, 6], packed[5:7])
        for step in (lambda: None, collection.flush, collection.compact):
            step()
            found = collection.search(np.packbits(queries, axis=1, bitorder=order), K, **search)
            # 5 and 6 came last, which counts among rows at the greatest distance.
            assert_nearest(found, "jaccard", queries, rows, ids_too=False)
            there, kept = collection.get([7, 10**6, 9])
            assert there.tolist() == [True, False, True]
            assert kept.dtype == np.uint8 and np.array_equal(kept, packed[[7, 9]])
        near = collection.search_near([1], 3)
        assert 1 not in near.ids and near.distances[0, 0] == np.sort(
            distances("jaccard", rows[1:2], np.delete(rows, 1, axis=0))[0])[0]


def test_a_node(serve, tmp_path):
    rows, queries = bits(ROWS, 9), bits(QUERIES, 9, seed=2)
    farvec.Collection.create(tmp_path / "set", 9, type="b1", metric="hamming", memtable_rows=100)
    where = serve("--collection", str(tmp_path / "set"))
    with open_soon(where, farvec.Collection) as node:
        node.insert(np.arange(ROWS), np.packbits(rows, axis=1))
        assert_nearest(node.search(np.packbits(queries, axis=1), K, list=ROWS), "hamming", queries,
                       rows)
        assert np.array_equal(node.get([3])[1], np.packbits(rows[3:4], axis=1))
        with pytest.raises(farvec.InvalidArgument, match="bytes in a row"):
            node.search(np.zeros((1, 3), np.uint8))
        with pytest.raises(farvec.InvalidArgument, match="bits set after its last element"):
            node.insert([1], np.full((1, 2), 255, np.uint8))


@pytest.mark.parametrize("metric", METRICS)
def test_truth_recall_and_sweep(tmp_path, graph, metric):
    rows, queries = bits(ROWS, 65), bits(QUERIES, 65, seed=2)
    say = dict(type="b1", dimension=65)
    packed, asked = np.packbits(rows, axis=1), np.packbits(queries, axis=1)
    truth = farvec.ground_truth(packed, asked, K, metric=metric, **say)
    wanted = distances(metric, queries, rows)
    assert np.array_equal(truth[0], np.argsort(wanted, axis=1, kind="stable")[:, :K])
    assert np.array_equal(farvec.ground_truth(rows, queries, K, metric=metric)[0], truth[0])
    if metric == "hamming":
        with farvec.open(graph) as index:
            found = index.search(asked, K, list=ROWS)
            assert farvec.recall(found.ids, truth[0], distances=found.distances,
                                 true_distances=truth[1]) == 1
        for given, bits_of in ((asked, say), (queries, {})):
            row, = farvec.sweep(graph, given, truth, k=K, list=ROWS, passes=1, pass_ms=20,
                                line_ns=50, **bits_of)
            assert row["recall"] == 1


def test_files(tmp_path):
    rows = bits(50, 9)
    for order in ("big", "little"):
        packed = np.packbits(rows, axis=1, bitorder=order)
        farvec.write_vectors(tmp_path / "a.b1bin", packed, type="b1", dimension=9, bitorder=order)
        for mmap in (True, False):
            read = farvec.read_vectors(tmp_path / "a.b1bin", mmap=mmap, bitorder=order)
            assert read.dtype == np.uint8 and np.array_equal(read, packed)
    assert np.array_equal(farvec.read_vectors(tmp_path / "a.b1bin"), np.packbits(rows, axis=1))
    raw = (tmp_path / "a.b1bin").read_bytes()
    assert np.array_equal(np.frombuffer(raw[:8], "<u4"), [50, 9])
    assert raw[8:] == np.packbits(rows, axis=1, bitorder="little").tobytes()


def test_other_containers_of_bits(tmp_path):
    rows = bits(40, 16)
    packed = np.packbits(rows, axis=1)
    farvec.build_graph(rows.tolist(), tmp_path / "lists", metric="hamming", progress=False)
    farvec.build_graph(packed.tolist(), tmp_path / "bytes", metric="hamming", type="b1",
                       progress=False)
    with pytest.warns(UserWarning, match="not C-contiguous"):
        farvec.build_graph(np.asfortranarray(packed), tmp_path / "columns", metric="hamming",
                           type="b1", progress=False)
    kept = packed.copy()
    assert len({(tmp_path / name / "records.csr").read_bytes()
                for name in ("lists", "bytes", "columns")}) == 1
    assert np.array_equal(packed, kept), "the caller's array is not changed"


@pytest.mark.parametrize("data, arguments, said", [
    (bits(20, 16), dict(metric="l2"), "l2 compares numbers.*use hamming or jaccard"),
    (bits(20, 16), dict(metric="cosine"), "use hamming or jaccard"),
    (vectors(20), dict(metric="hamming"), "hamming compares bits.*use l2, ip or cosine"),
    (vectors(20), dict(metric="jaccard"), "jaccard compares bits"),
    (vectors(20, np.uint8), dict(metric="hamming"), "vectors of u8"),
    (vectors(20), dict(metric="hamming", type="b1"), "float32, and bits .b1. come as uint8"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", type="b1", dimension=25),
     "3 bytes in a row, and vectors of 25 bits have 4"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", type="b1", dimension=16), "have 2"),
    (np.full((20, 3), 1, np.uint8), dict(metric="hamming", type="b1", dimension=20),
     "row 0 has bits set after its last element: are 20 the dimension, and bitorder"),
    (np.full((20, 3), 128, np.uint8),
     dict(metric="hamming", type="b1", dimension=20, bitorder="little"), "row 0 has bits set"),
    (bits(20, 16), dict(metric="hamming", type="b1", dimension=15), "vectors of 16 bits, where 15"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", type="b1", dimension=0), "dimension: 0"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", dimension=20), "is only for type='b1'"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", type="u8"), "type: 'u8' is not 'b1'"),
    (np.zeros((20, 3), np.uint8), dict(metric="hamming", type="b1", bitorder="middle"), "bitorder"),
    (np.zeros((2, 8193), np.uint8), dict(metric="hamming", type="b1"), "use 1 to 8192"),
    (bits(20, 16), dict(metric="hamming", layout="inline"), "layout inline"),
    (bits(20, 16), dict(metric="hamming", code_bits=2), "code_bits 2"),
])
def test_refusals(tmp_path, data, arguments, said):
    with pytest.raises(farvec.InvalidArgument, match=said):
        farvec.build_graph(data, tmp_path / "index", progress=False, **arguments)
    assert not list(tmp_path.iterdir())


def test_refusals_of_other_builds(tmp_path):
    rows = bits(20, 16)
    with pytest.raises(farvec.InvalidArgument, match="layout coded"):
        farvec.build_clusters(rows, tmp_path / "i", metric="hamming", layout="coded", progress=False)
    with pytest.raises(farvec.InvalidArgument, match="payload vector"):
        farvec.build_slotted(rows, tmp_path / "i", metric="hamming", payload="code", progress=False)
    with pytest.raises(farvec.InvalidArgument, match="use hamming or jaccard"):
        farvec.build_hnsw(rows, tmp_path / "i", metric="l2", progress=False)
    with pytest.raises(farvec.InvalidArgument, match="use hamming or jaccard"):
        farvec.Collection.create(tmp_path / "i", 16, type="b1", metric="ip")
    with pytest.raises(farvec.InvalidArgument, match="dimension: 65537"):
        farvec.Collection.create(tmp_path / "i", 65537, type="b1", metric="hamming")
    with pytest.raises(farvec.InvalidArgument, match="use hamming or jaccard"):
        farvec.ground_truth(rows, rows, 1, metric="cosine")
    with pytest.raises(farvec.Error, match="cannot hold bits"):
        farvec.write_vectors(tmp_path / "a.npy", rows)
    assert not list(tmp_path.iterdir())


def test_refusals_of_searches(graph):
    with farvec.open(graph) as index:
        for queries, said in ((vectors(2, np.float32), "float32, and bits"),
                              (np.zeros((2, 8), np.uint8), "8 bytes in a row, and vectors of 65"),
                              (np.full((2, 9), 255, np.uint8), "row 0 has bits set after"),
                              (bits(2, 64), "where 65 are wanted")):
            with pytest.raises(farvec.InvalidArgument, match=said):
                index.search(queries)
    with pytest.raises(farvec.InvalidArgument, match="bitorder"):
        farvec.open(graph, bitorder="none")


def test_bits_for_an_index_of_numbers(folder):
    with farvec.open(folder) as index:
        with pytest.raises(farvec.InvalidArgument, match="they are bits .b1., and what is searched"):
            index.search(bits(2, 24))


def test_by_the_names_of_faiss(graph):
    rows, queries = bits(ROWS, 65), bits(QUERIES, 65, seed=2)
    with farvec.open(graph) as index:
        near, ids = farvec.faiss_like(index, list=ROWS).search(np.packbits(queries, axis=1), K)
        wanted = distances("hamming", queries, rows)
        assert np.array_equal(near, np.sort(wanted, axis=1)[:, :K])
        assert np.array_equal(ids, np.argsort(wanted, axis=1, kind="stable")[:, :K])
