"""Any call, of whatever arguments, has an answer or an exception of ours or of Python's: builds,
collections, ground truth, recall, files (searches: errors_test.py)."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import farvec
from conftest import DIMENSION, vectors

TYPES = [np.float32, np.float16, np.uint8, np.int8]
FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=32)
NUMBERS = st.one_of(st.integers(-3, 70), st.integers(-2**70, 2**70))
METRICS = st.one_of(st.sampled_from(["l2", "ip", "cosine"]), st.text(max_size=5))
WORDS = st.one_of(st.sampled_from(["l2", "ip", "cosine", "csr", "packed", "padded", "grouped"]),
                  st.text(max_size=5))


def shapes(dimension):
    return st.tuples(st.integers(0, 40), st.one_of(st.just(dimension), st.integers(0, 5)))


def good(dtype, dimension, most=40):
    elements = st.floats(-100, 100, width=16) if np.issubdtype(dtype, np.floating) else None
    return hnp.arrays(dtype, st.tuples(st.integers(1, most), st.just(dimension)), elements=elements)


def arrays(dimension):
    """Of rows that may be searched, half of the time, and of everything else."""
    return st.one_of(
        *[good(dtype, dimension) for dtype in TYPES],
        hnp.arrays(st.sampled_from(TYPES[2:]), shapes(dimension)),
        hnp.arrays(np.float32, shapes(dimension), elements=FLOATS),
        hnp.arrays(st.sampled_from([np.float64, np.int32, np.int64, np.uint64, np.bool_, ">f4", "O"]),
                   hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6)),
        st.none(), st.text(max_size=4), st.lists(st.floats(), max_size=3))


def calls(examples):
    return settings(max_examples=examples, deadline=None, derandomize=True,
                    suppress_health_check=list(HealthCheck))


def answer(call, *arguments, **named):
    """What it returns, or None where it raises as it may."""
    try:
        return call(*arguments, **named)
    except (farvec.Error, TypeError):
        return None


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

BUILD = st.fixed_dictionaries({}, optional={
    "metric": METRICS, "layout": WORDS, "degree": st.one_of(st.none(), NUMBERS), "list": NUMBERS,
    "alpha": FLOATS, "sample_queries": st.one_of(st.none(), arrays(6)),
    "passes": st.integers(-2, 3), "code_bits": st.one_of(st.none(), NUMBERS), "seed": NUMBERS,
    "threads": st.integers(-1, 3), "record_checksum": st.booleans(), "name": st.text(max_size=9)})


@calls(120)
@given(data=arrays(6), arguments=BUILD)
def test_builds(tmp_path_factory, data, arguments):
    out = tmp_path_factory.mktemp("fuzz") / "index"
    built = answer(farvec.build_graph, data, out, progress=False, **arguments)
    assert (built is not None) == out.exists()
    if built is not None:
        with farvec.open(out) as index:
            assert index.describe()["count"] == built["count"] == len(np.atleast_2d(data))
    assert [path.name for path in out.parent.iterdir() if path != out] == []


@calls(120)
@given(pair=st.one_of(*[st.tuples(good(dtype, 6), good(dtype, 6)) for dtype in TYPES],
                      *[st.tuples(arrays(6), arrays(6))] * 3),
       k=st.one_of(st.integers(1, 5), NUMBERS), metric=METRICS)
def test_ground_truth_and_recall(pair, k, metric):
    data, queries = pair
    found = answer(farvec.ground_truth, data, queries, k, metric=metric)
    if found is None:
        return
    ids, distances = found
    assert ids.shape == distances.shape == (len(np.atleast_2d(queries)), k)
    if len(ids) > 0:
        assert farvec.recall(ids, ids) == 1


ID_ROWS = hnp.arrays(np.uint32, st.tuples(st.just(4), st.integers(0, 5)))
IDS = st.one_of(hnp.arrays(np.uint64, hnp.array_shapes(max_dims=2, min_side=0, max_side=8)),
                hnp.arrays(st.sampled_from([np.int64, np.uint32, np.float32, "O"]),
                           hnp.array_shapes(max_dims=2, min_side=0, max_side=8)),
                st.none(), st.lists(st.integers(-2, 2**65), max_size=4))


@calls(120)
@given(pair=st.one_of(st.tuples(ID_ROWS, ID_ROWS), st.tuples(IDS, IDS)),
       k=st.one_of(st.none(), st.integers(0, 5), NUMBERS))
def test_recall(pair, k):
    ids, true = pair
    share = answer(farvec.recall, ids, true, k)
    assert share is None or 0 <= share <= 1


@calls(100)
@given(rows=arrays(6), suffix=st.sampled_from([".fbin", ".u8bin", ".i8bin", ".npy", ".hdf5", ".x", ""]))
def test_files(tmp_path_factory, rows, suffix):
    path = tmp_path_factory.mktemp("fuzz") / f"rows{suffix}"
    answer(farvec.write_vectors, path, rows)
    if path.exists():
        said = np.atleast_2d(rows)
        if isinstance(rows, list):  # of numbers of 64 bits
            said = said.astype(np.float32)
        assert np.array_equal(farvec.read_vectors(path), said)


@calls(100)
@given(content=st.binary(max_size=200), suffix=st.sampled_from([".fbin", ".npy", ".fvecs", ".ibin"]))
def test_files_of_any_bytes(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("fuzz") / f"rows{suffix}"
    path.write_bytes(content)
    answer(farvec.read_vectors, path)
    answer(farvec.read_ground_truth, path)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "set"
    farvec.Collection.create(path, DIMENSION, memtable_rows=200)
    with farvec.Collection(path) as things:
        things.insert(np.arange(300, dtype=np.uint64), vectors(300))
        yield things


STEPS = st.one_of(
    st.tuples(st.just("insert"), st.just(np.arange(250, 254, dtype=np.uint64)),
              hnp.arrays(np.float32, (4, DIMENSION), elements=st.one_of(st.floats(-9, 9, width=16), FLOATS))),
    st.tuples(st.just("insert"), IDS, arrays(DIMENSION)), st.tuples(st.just("delete"), IDS),
    st.tuples(st.just("get"), IDS), st.tuples(st.just("search"), arrays(DIMENSION), NUMBERS))


@calls(200)
@given(step=STEPS)
def test_collections(collection, step):
    before = len(collection)
    name, *arguments = step
    result = answer(getattr(collection, name), *arguments)
    if result is None:
        assert len(collection) == before, "what is refused changes nothing"
    elif name == "search":
        assert np.atleast_2d(result.ids).shape == (len(np.atleast_2d(arguments[0])), arguments[1])
    queries = vectors(3, seed=9)
    assert collection.search(queries, k=2, list=400).ids.shape == (3, 2)  # it lives
