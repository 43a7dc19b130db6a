"""What goes wrong is an exception with the tool's words, and never a crash."""

import os
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import farvec
from conftest import DIMENSION, ROWS, distances, vectors

SLOW = "emulated:latency=200us,bandwidth=1GB/s,rate=1M/s"


def test_exceptions_are_pythons_too():
    assert issubclass(farvec.InvalidArgument, (farvec.Error, ValueError))
    assert issubclass(farvec.DeadlineExceeded, TimeoutError)
    assert issubclass(farvec.Unavailable, ConnectionError)


@pytest.mark.parametrize("arguments, word", [
    (dict(k=0), "k"), (dict(k=-1), "k"), (dict(k=2**40), "k"), (dict(list=9), "list"),
    (dict(list=1025), "opened with"), (dict(width=0), "width"), (dict(width=9), "width"),
    (dict(deadline=0), "deadline"), (dict(deadline=float("nan")), "deadline"),
    (dict(deadline=-1), "deadline"), (dict(deadline=1e9), "deadline"),
])
def test_numbers_that_cannot_be(index, queries, arguments, word):
    with pytest.raises(farvec.InvalidArgument, match=word):
        index.search(queries, **arguments)


@pytest.mark.parametrize("bad, word", [
    (np.zeros((3, DIMENSION)), "float32"), (np.zeros((3, DIMENSION), np.int64), "int8"),
    (np.zeros((3, DIMENSION), np.uint8), "built from float32"),
    (np.zeros((3, DIMENSION + 1), np.float32), str(DIMENSION)),
    (np.zeros((1, 3, DIMENSION), np.float32), "dimensions"), (np.float32(1), "dimensions"),
    (np.full((3, DIMENSION), np.inf, np.float32), "row 0"),
])
def test_queries_that_cannot_be(index, bad, word):
    with pytest.raises(farvec.InvalidArgument, match=word):
        index.search(np.asarray(bad))


@pytest.mark.parametrize("bad", [None, "queries", 7, object()])
def test_queries_that_are_no_array(index, bad):
    with pytest.raises(TypeError):
        index.search(bad)


@pytest.mark.parametrize("arguments, word", [
    (dict(tier="tape"), "tape"), (dict(tier=""), "tier"), (dict(slots=0), "slots"),
    (dict(slots=65), "slots"), (dict(slots="many"), "many"), (dict(threads=-1), "threads"),
    (dict(concurrency=1 << 20), "concurrency"), (dict(max_list=0), "max_list"),
    (dict(max_width=65), "max_width"), (dict(tier="emulated:latency=x"), "latency"),
    (dict(tier="devdax:/there/is/no/such"), "such"), (dict(tier="numa:999"), "999"),
])
def test_openings_that_cannot_be(folder, arguments, word):
    with pytest.raises(farvec.Error, match=word):
        farvec.open(folder, **arguments)


def test_an_index_that_is_none(tmp_path, folder):
    with pytest.raises(farvec.Error, match="such"):
        farvec.open(tmp_path / "such")
    copy = tmp_path / "damaged"
    copy.mkdir()
    for file in folder.iterdir():
        content = bytearray(file.read_bytes())
        if file.name.startswith("records") or file.name.startswith("region0"):
            content[-1] ^= 1
        (copy / file.name).write_bytes(content)
    (copy / "manifest.json").write_text("{}")
    with pytest.raises(farvec.Error, match="manifest"):
        farvec.open(copy)


def test_nobody_listens(tmp_path, folder):
    with pytest.raises(farvec.Unavailable, match="nobody.sock"):
        farvec.open(folder, tier=f"fabric:tcp:unix:{tmp_path}/nobody.sock")
    with pytest.raises(farvec.Unavailable, match="nobody.sock"):
        farvec.open(f"grpc://unix:{tmp_path}/nobody.sock")
    with pytest.raises(farvec.InvalidArgument, match="tier"):
        farvec.open(f"grpc://unix:{tmp_path}/nobody.sock", tier="shm")
    with pytest.raises(farvec.Error, match="HOST:PORT"):
        farvec.open("grpc://")


def test_closed(folder, queries):
    index = farvec.open(folder)
    index.close()
    index.close()
    assert index.closed
    for call in (lambda: index.search(queries), index.describe, lambda: index.search_async(queries)):
        with pytest.raises(farvec.FailedPrecondition, match="closed"):
            result = call()
            if hasattr(result, "send"):
                import asyncio
                asyncio.run(result)


def test_a_search_outlives_a_close(folder, queries):
    many = np.tile(queries, (3, 1))
    index = farvec.open(folder, tier=SLOW)
    expected = index.search(many).ids
    started, found = threading.Event(), []

    def search():
        started.set()
        try:
            found.append(index.search(many).ids)
        except farvec.FailedPrecondition:
            found.append(expected)  # it came too late

    thread = threading.Thread(target=search)
    thread.start()
    started.wait()
    index.close()
    thread.join()
    assert np.array_equal(found[0], expected)


def test_a_deadline_that_is_over(folder, queries):
    with farvec.open(folder, tier=SLOW) as index:
        with pytest.raises(farvec.DeadlineExceeded):
            index.search(queries, deadline=1e-6)
        assert index.search(queries).ids.shape == (len(queries), 10)


@pytest.mark.parametrize("count", [40, 300])
def test_calls_run_at_once_and_wait_for_cores(folder, queries, count):
    """That a call finds the only core taken shows that another thread's is under way, in a call of
    few queries as of many: the interpreter was free."""
    many, over, refused = np.resize(queries, (count, DIMENSION)), threading.Event(), 0
    with farvec.open(folder, tier=SLOW, concurrency=1) as index:

        def search():
            while not over.is_set():
                index.search(many, deadline=600)

        thread = threading.Thread(target=search)
        thread.start()
        try:
            for _ in range(1000):
                try:
                    index.search(queries[:1], deadline=0.01)
                except farvec.DeadlineExceeded as error:
                    refused += "concurrency" in str(error)
                if refused > 3:
                    break
        finally:
            over.set()
            thread.join()
        assert refused > 3
        assert index.search(queries[:1]).ids.shape == (1, 10)


def in_child(call):
    """The exit status of a child of fork(), which makes the call."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(call())
        except BaseException:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_a_fork(folder, queries):
    with farvec.open(folder) as index:
        def search():
            nonlocal index
            try:
                index.search(queries)
                return 1
            except farvec.FailedPrecondition as error:
                if "fork" not in str(error):
                    return 2
            index.close()
            del index
            with farvec.open(folder) as own:
                return 0 if own.search(queries).ids.shape == (len(queries), 10) else 3

        assert in_child(search) == 0
        assert index.search(queries).ids.shape == (len(queries), 10)


NUMBERS = st.one_of(st.integers(-3, 70), st.integers(-2**70, 2**70))
FLOATS = st.floats(allow_nan=True, allow_infinity=True, width=32)
ARRAYS = st.one_of(
    hnp.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(DIMENSION)), elements=FLOATS),
    hnp.arrays(st.sampled_from([np.float32, np.float16, np.float64, np.uint8, np.int8, np.int32,
                                np.bool_, ">f4", "<U3", "O"]),
               hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=DIMENSION + 1)),
    st.one_of(st.none(), st.text(max_size=3), st.lists(st.floats(), max_size=3)))
ANYTHING = st.fixed_dictionaries({}, optional={
    "k": NUMBERS, "list": st.one_of(st.none(), NUMBERS), "width": NUMBERS, "probe": NUMBERS,
    "prune_ratio": st.one_of(st.none(), FLOATS), "partial": st.booleans(), "deadline": FLOATS})


@settings(max_examples=150, deadline=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(array=ARRAYS, arguments=ANYTHING, flip=st.booleans())
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_call_has_an_answer_or_an_exception(index, rows, array, arguments, flip):
    if flip and isinstance(array, np.ndarray) and array.ndim > 0:
        array = array[..., ::-1]
    try:
        result = index.search(array, **arguments)
    except (farvec.Error, TypeError):
        return
    k = arguments.get("k", 10)
    asked = np.atleast_2d(array)
    ids, found = np.atleast_2d(result.ids), np.atleast_2d(result.distances)
    assert ids.shape == found.shape == (len(asked), k) and np.all(ids < ROWS)
    with np.errstate(over="ignore"):
        exact = np.take_along_axis(distances("l2", asked, rows), ids.astype(np.int64), axis=1)
        assert np.allclose(found, exact.astype(np.float32), rtol=1e-3)
