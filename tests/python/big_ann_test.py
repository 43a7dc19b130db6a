"""bench/big-ann/farvec_streaming.py, loaded and driven as big-ann-benchmarks does: by its name below
`neurips23.streaming`, beside a base module, with the steps of a runbook."""

import importlib
import pathlib
import re
import shutil
import sys

import numpy as np
import pytest

from conftest import neighbours, vectors

FOLDER = pathlib.Path(__file__).parents[2] / "bench" / "big-ann"
ROWS = 10_000

BASE = """
class BaseStreamingANN:
    def track(self): return "stream"
    def fit(self, dataset): raise NotImplementedError
"""


@pytest.fixture()
def module(tmp_path, monkeypatch):
    streaming = tmp_path / "neurips23" / "streaming"
    (streaming / "farvec").mkdir(parents=True)
    (streaming / "base.py").write_text(BASE)
    for file in FOLDER.glob("*.py"):
        shutil.copy(file, streaming / "farvec")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("neurips23.streaming.farvec.farvec_streaming")
    for name in [name for name in sys.modules if name.split(".")[0] == "neurips23"]:
        del sys.modules[name]


def found_share(algorithm, metric, queries, data, live):
    """Recall@10 of a search, and that it answers with live ids alone."""
    algorithm.query(queries, 10)
    ids = algorithm.get_results()
    assert ids.shape == (len(queries), 10) and np.isin(ids, live).all()
    true = live[neighbours(metric, queries, data[live], 10)]
    return sum(len(set(a) & set(b)) for a, b in zip(ids.tolist(), true.tolist())) / true.size


@pytest.mark.parametrize("metric, ours", [("euclidean", "l2"), ("ip", "ip")])
def test_a_runbook(module, metric, ours):
    data, queries = vectors(ROWS, dimension=16, seed=8), vectors(50, dimension=16, seed=9)
    algorithm = module.FarvecStreaming(metric, {"degree": 24, "list": 48, "memtable_rows": 2000})
    algorithm.setup("float32", ROWS, 16)
    algorithm.set_query_arguments({"list": 100})
    assert "list=100" in str(algorithm) and algorithm.track() == "stream"
    live = np.empty(0, np.uint32)
    for begin in range(0, ROWS, 2500):
        ids = np.arange(begin, begin + 2500, dtype=np.uint32)
        algorithm.insert(data[ids, :], ids)
        live = np.append(live, ids)
        assert found_share(algorithm, ours, queries, data, live) > 0.9
    algorithm.delete(np.arange(1000, 6000, dtype=np.uint32))
    live = live[(live < 1000) | (live >= 6000)]
    assert found_share(algorithm, ours, queries, data, live) > 0.9
    data[:500] = data[5000:5500]
    algorithm.replace(data[:500], np.arange(500, dtype=np.uint32))
    assert found_share(algorithm, ours, queries, data, live) > 0.9
    additional = algorithm.get_additional()
    assert additional["mean_ios"] > 0 and additional["dist_comps"] >= 10
    algorithm.done()


def test_what_farvec_has_not(module):
    with pytest.raises(NotImplementedError):
        module.FarvecStreaming("jaccard", {})
    with pytest.raises(NotImplementedError):
        module.FarvecStreaming("ip", {}).setup("bits", 10, 4)


def test_the_configuration_names_what_there_is(module):
    text = (FOLDER / "config.yaml").read_text()
    constructors = set(re.findall(r"constructor: (\w+)", text))
    assert constructors and all(hasattr(module, name) for name in constructors)
    assert set(re.findall(r"module: (\S+)", text)) == {module.__name__}


@pytest.fixture()
def peer(module):
    """faiss beside farvec, where it is installed."""
    pytest.importorskip("faiss")
    return importlib.import_module("neurips23.streaming.farvec.faiss_streaming")


@pytest.mark.parametrize("metric, ours", [("euclidean", "l2"), ("ip", "ip")])
def test_a_runbook_of_faiss(peer, metric, ours):
    data, queries = vectors(ROWS, dimension=16, seed=8), vectors(50, dimension=16, seed=9)
    algorithm = peer.FaissStreaming(metric, {"nlist": 16, "threads": 1})
    algorithm.setup("float32", ROWS, 16)
    assert algorithm.track() == "stream"
    for probes, wanted in ((8, 0.7), (16, 0.999)):  # the runbook again on the same index; all lists
        algorithm.set_query_arguments({"nprobe": probes})
        assert f"nprobe={probes}" in str(algorithm)
        for begin in range(0, ROWS, 2500):
            ids = np.arange(begin, begin + 2500, dtype=np.uint32)
            algorithm.insert(data[ids, :], ids)
        live = np.arange(ROWS, dtype=np.uint32)
        assert found_share(algorithm, ours, queries, data, live) > wanted
        algorithm.delete(np.arange(1000, 6000, dtype=np.uint32))
        algorithm.delete(np.arange(1000, 1100, dtype=np.uint32))  # gone already
        live = live[(live < 1000) | (live >= 6000)]
        assert found_share(algorithm, ours, queries, data, live) > wanted
        data[:500] = vectors(500, dimension=16, seed=10 + probes)
        algorithm.replace(data[:500], np.arange(500, dtype=np.uint32))
        assert found_share(algorithm, ours, queries, data, live) > wanted
    every = 16 + (10_000 + 5000 + 5000) / 3  # centres, and rows of the three searches
    assert algorithm.get_additional()["dist_comps"] / len(queries) == pytest.approx(every)
    algorithm.done()


def test_faiss_finds_no_rows_that_are_not_there(peer):
    data = vectors(5, dimension=16)
    algorithm = peer.FaissStreaming("euclidean", {"nlist": 16})
    algorithm.setup("float32", 5, 16)
    algorithm.set_query_arguments({"nprobe": 16})
    algorithm.query(data, 10)
    assert (algorithm.get_results() == -1).all()
    algorithm.insert(data, np.arange(20, 25, dtype=np.uint32))
    algorithm.delete(np.array([22], np.uint32))
    algorithm.query(data, 10)
    ids = algorithm.get_results()
    assert ids.shape == (5, 10) and (ids[:, 4:] == -1).all()
    assert (np.sort(ids[:, :4]) == [20, 21, 23, 24]).all()


def test_what_faiss_has_not(peer):
    with pytest.raises(NotImplementedError):
        peer.FaissStreaming("angular", {})
    with pytest.raises(NotImplementedError):
        peer.FaissStreaming("ip", {}).setup("bits", 10, 4)
    with pytest.raises(ValueError):
        peer.FaissStreaming("ip", {"nlist": 0})
    with pytest.raises(ValueError):
        peer.FaissStreaming("ip", {}).set_query_arguments({"nprobe": 0})


def test_the_configuration_of_faiss_names_what_there_is(peer):
    text = (FOLDER / "faiss.yaml").read_text()
    constructors = set(re.findall(r"constructor: (\w+)", text))
    assert constructors and all(hasattr(peer, name) for name in constructors)
    assert set(re.findall(r"module: (\S+)", text)) == {peer.__name__}
