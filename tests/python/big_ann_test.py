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
    shutil.copy(FOLDER / "farvec_streaming.py", streaming / "farvec")
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
