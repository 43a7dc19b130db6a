"""bench/ann-benchmarks/module.py, loaded and driven as ann-benchmarks does: by its name below
`algorithms`, beside a base module, with the arguments of its configuration."""

import importlib
import pathlib
import shutil

import numpy as np
import pytest

from conftest import neighbours, vectors

FOLDER = pathlib.Path(__file__).parents[2] / "bench" / "ann-benchmarks"

BASE = """
class BaseANN:
    def done(self): pass
    def fit(self, X): pass
    def query(self, q, n): return []
    def batch_query(self, X, n): pass
    def get_batch_results(self): return None
    def get_additional(self): return {}
    def __str__(self): return self.name
"""


@pytest.fixture()
def module(tmp_path, monkeypatch):
    algorithms = tmp_path / "a_benchmark" / "algorithms"
    for name, text in (("base", BASE), ("farvec", (FOLDER / "module.py").read_text())):
        (algorithms / name).mkdir(parents=True)
        (algorithms / name / "module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("a_benchmark.algorithms.farvec.module")
    shutil.rmtree(tmp_path / "a_benchmark")


@pytest.mark.parametrize("metric, ours", [("euclidean", "l2"), ("angular", "cosine")])
def test_fit_and_query(module, metric, ours):
    data, queries = vectors(10_000, dimension=16, seed=8), vectors(50, dimension=16, seed=9)
    algorithm = module.Farvec(metric, {"degree": 24, "list": 40})
    algorithm.fit(data.astype(np.float64))
    algorithm.set_query_arguments(80)
    assert "80" in str(algorithm)
    true = neighbours(ours, queries, data, 10)
    one_by_one = np.stack([algorithm.query(q, 10) for q in queries])
    algorithm.batch_query(queries, 10)
    assert np.array_equal(one_by_one, algorithm.get_batch_results())
    hits = sum(len(set(a) & set(b)) for a, b in zip(one_by_one.tolist(), true.tolist()))
    assert hits / true.size > 0.9
    additional = algorithm.get_additional()
    assert additional["dist_comps"] >= 10 and additional["reads"] > 0
    algorithm.set_query_arguments(3)  # fewer than are asked for
    assert len(algorithm.query(queries[0], 10)) == 10
    algorithm.done()


def test_a_metric_that_is_none(module):
    with pytest.raises(NotImplementedError):
        module.Farvec("hamming", {})


def test_the_configuration_names_what_there_is(module):
    text = (FOLDER / "config.yml").read_text()
    assert "constructor: Farvec\n" in text and hasattr(module, "Farvec")
