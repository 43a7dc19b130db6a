"""bench/vectordbbench, its client loaded by its name below the benchmark's clients and driven as the
benchmark does: made with drop_old, filled, optimised and searched by other objects."""

import importlib
import importlib.util
import pathlib
import pickle
import shutil
import subprocess
import sys
import types

import numpy as np
import pytest

import farvec
from conftest import neighbours, open_soon, vectors

FOLDER = pathlib.Path(__file__).parents[2] / "bench" / "vectordbbench"
ROWS, DIMENSION = 10_000, 16

API = """
import enum
class MetricType(str, enum.Enum):
    L2 = "L2"
    COSINE = "COSINE"
    IP = "IP"
    DP = "DP"
    HAMMING = "HAMMING"
class DBCaseConfig: pass
class DBConfig: pass
class VectorDB: pass
"""
PACKAGE = {
    "backend/clients/__init__.py": '''from enum import Enum
class DB(Enum):
    Zvec = "Zvec"

    @property
    def init_cls(self):
        msg = f"Unknown DB: {self.name}"
        raise ValueError(msg)

    @property
    def config_cls(self):
        msg = f"Unknown DB: {self.name}"
        raise ValueError(msg)

    def case_config_cls(self, index_type=None):
        # DB.Pinecone, DB.Redis
        return None
''',
    "backend/clients/api.py": API,
    "cli/vectordbbench.py": "from .batch_cli import BatchCli\ncli.add_command(Zvec)\n",
}


class FakeModel:
    """pydantic's, as far as the client needs it."""

    def __init__(self, **fields):
        vars(self).update(fields)


@pytest.fixture()
def package(tmp_path, monkeypatch):
    folder = tmp_path / "a_vdb"
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for _ in range(2):  # again: nothing more
        subprocess.run([sys.executable, FOLDER / "install.py", folder], check=True)
    for name in ("Farvec", "Library"):
        assert (folder / "backend/clients/__init__.py").read_text().count(f"    {name} = ") == 1
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "pydantic", types.SimpleNamespace(BaseModel=FakeModel))
    yield importlib.import_module("a_vdb.backend.clients")
    for name in [name for name in sys.modules if name.split(".")[0] == "a_vdb"]:
        del sys.modules[name]


def client_of(package, address, case, **options):
    return package.DB.Farvec.init_cls(DIMENSION, {"address": address.removeprefix("grpc://")}, case,
                                      **options)


def test_insert_optimize_and_search(package, serve, tmp_path):  # noqa: F811
    farvec.Collection.create(tmp_path / "set", DIMENSION, metric="cosine", memtable_rows=3000)
    address = serve("--collection", str(tmp_path / "set"))
    open_soon(address, farvec.Collection).close()
    case = package.DB.Farvec.case_config_cls()(metric_type="COSINE", list=120)
    data, queries = vectors(ROWS, dimension=DIMENSION, seed=8), vectors(40, dimension=DIMENSION, seed=9)
    loader = client_of(package, address, case, drop_old=True)
    with loader.init():
        for begin in range(0, ROWS, 2500):
            batch = data[begin:begin + 2500].tolist()
            assert loader.insert_embeddings(batch, list(range(begin, begin + 2500))) == (2500, None)
        loader.optimize(ROWS)
    searcher = client_of(package, address, case)
    true = neighbours("cosine", queries, data, 10)
    with searcher.init():
        found = [searcher.search_embedding(query.tolist(), 10) for query in queries]
        count, error = searcher.insert_embeddings([[0.0] * 3], [1])
    assert count == 0 and isinstance(error, farvec.InvalidArgument)
    assert sum(len(set(a) & set(b)) for a, b in zip(found, true.tolist())) / true.size > 0.95
    with pytest.raises(ValueError, match="10000 vectors already"):
        client_of(package, address, case, drop_old=True)


def test_a_collection_that_is_another(package, serve, tmp_path):  # noqa: F811
    farvec.Collection.create(tmp_path / "set", 8, metric="l2")
    address = serve("--collection", str(tmp_path / "set"))
    open_soon(address, farvec.Collection).close()
    case = package.DB.Farvec.case_config_cls()
    with pytest.raises(ValueError, match="8 x f32"):
        client_of(package, address, case(metric_type=None))
    with pytest.raises(ValueError, match="no metric"):
        client_of(package, address, case(metric_type="HAMMING"))


def test_a_version_that_is_not_known(tmp_path):
    (tmp_path / "backend/clients").mkdir(parents=True)
    (tmp_path / "backend/clients/__init__.py").write_text("class DB: pass\n")
    done = subprocess.run([sys.executable, FOLDER / "install.py", tmp_path], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "not known here" in done.stderr
    assert not (tmp_path / "backend/clients/farvec").exists()
    shutil.rmtree(tmp_path / "backend")
    done = subprocess.run([sys.executable, FOLDER / "install.py", tmp_path], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "no vectordb_bench" in done.stderr


class ScannedIndex:
    """Has of hnswlib's Index what the client calls, and compares every row: where hnswlib is not, which
    has no wheels."""

    def __init__(self, space, dim):
        self._space, self._dimension = space, dim
        self._rows = self._ids = None

    def init_index(self, max_elements, M, ef_construction):
        self._most = max_elements

    def add_items(self, rows, ids):
        assert rows.shape == (len(ids), self._dimension) and len(ids) <= self._most
        self._rows, self._ids = rows, ids

    def save_index(self, path):
        with open(path, "wb") as file:
            np.savez(file, rows=self._rows, ids=self._ids)

    def load_index(self, path):
        with np.load(path) as kept:
            self._rows, self._ids = kept["rows"], kept["ids"]

    def set_num_threads(self, count):
        assert count == 1

    def set_ef(self, ef):
        self._ef = ef

    def knn_query(self, query, k):
        assert k <= self._ef
        found = neighbours(self._space, query, self._rows, k)
        return self._ids[found].astype(np.uint64), None


@pytest.fixture()
def library(request, monkeypatch):
    if request.param == "hnswlib" and importlib.util.find_spec("hnswlib") is None:
        monkeypatch.setitem(sys.modules, "hnswlib", types.SimpleNamespace(Index=ScannedIndex))
    return request.param


def library_of(package, library, folder, metric, **options):
    case = package.DB.Library.case_config_cls()(metric_type=metric, ef=120)
    return package.DB.Library.init_cls(DIMENSION, {"library": library, "folder": str(folder)}, case,
                                       **options)


@pytest.mark.parametrize("metric", ["L2", "COSINE", "IP"])
@pytest.mark.parametrize("library", ["hnswlib", "faiss"], indirect=True)
def test_libraries_find_what_another_process_loaded(package, library, metric, tmp_path):
    data, queries = vectors(3000, dimension=DIMENSION, seed=8), vectors(40, dimension=DIMENSION, seed=9)
    loader = library_of(package, library, tmp_path / "set", metric, drop_old=True)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "note").write_text("the user's own")
    for round in range(2):  # what an earlier run left is gone, and nothing else
        with loader.init():
            for begin in range(0, 3000, 1500):
                batch = data[begin:begin + 1500].tolist()
                ids = list(range(7000 + begin, 7000 + begin + 1500))
                assert loader.insert_embeddings(batch, ids) == (1500, None)
            count, error = loader.insert_embeddings([[0.0] * 3], [1])
            assert count == 0 and isinstance(error, ValueError)
            loader.optimize(3000)
        if round == 0:
            loader = library_of(package, library, tmp_path / "set", metric, drop_old=True)
    true = neighbours(metric.lower(), queries, data, 10) + 7000
    searcher = pickle.loads(pickle.dumps(library_of(package, library, tmp_path / "set", metric)))
    with searcher.init():
        found = [searcher.search_embedding(query.tolist(), 10) for query in queries]
    assert all(len(set(some)) == 10 for some in found)
    assert sum(len(set(a) & set(b)) for a, b in zip(found, true.tolist())) / true.size > 0.95
    assert (tmp_path / "set" / "note").read_text() == "the user's own"


def test_a_library_that_is_not_known(package, tmp_path):
    with pytest.raises(ValueError, match="no library 'annoy': hnswlib, faiss"):
        library_of(package, "annoy", tmp_path, "L2")
    with pytest.raises(ValueError, match="HAMMING"):
        package.DB.Library.case_config_cls()(metric_type="HAMMING").metric()
