"""hnswlib and faiss for VectorDBBench, which has no clients of libraries: an HNSW graph in the
benchmark's own processes, each of which reads the index that the first one wrote."""
import importlib
import pathlib
from contextlib import contextmanager

import numpy

from ..api import VectorDB
from .config import LibraryIndexConfig


class Hnswlib:
    package = "hnswlib"

    def __init__(self, dimension: int, metric: str, case: LibraryIndexConfig):
        import hnswlib
        self._index = hnswlib.Index(space=metric, dim=dimension)
        self._case = case

    def build(self, rows, ids, path):
        self._index.init_index(max_elements=len(rows), M=self._case.m,
                               ef_construction=self._case.ef_construction)
        self._index.add_items(rows, ids)
        self._index.save_index(str(path))

    def load(self, path):
        self._index.load_index(str(path))
        self._index.set_num_threads(1)  # the benchmark has processes
        self._index.set_ef(self._case.ef)

    def search(self, query, k: int) -> list[int]:
        return self._index.knn_query(query, k=k)[0][0].tolist()


class Faiss:
    package = "faiss"

    def __init__(self, dimension: int, metric: str, case: LibraryIndexConfig):
        import faiss
        self._faiss, self._case = faiss, case
        self._dimension, self._unit = dimension, metric == "cosine"
        self._metric = faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT
        self._index = None

    def _vectors(self, rows):
        """Of length 1 for cosine, which faiss has not."""
        rows = numpy.array(rows, dtype=numpy.float32)
        if self._unit:
            self._faiss.normalize_L2(rows)
        return rows

    def build(self, rows, ids, path):
        graph = self._faiss.IndexHNSWFlat(self._dimension, self._case.m, self._metric)
        graph.hnsw.efConstruction = self._case.ef_construction
        index = self._faiss.IndexIDMap(graph)
        index.add_with_ids(self._vectors(rows), ids)
        self._faiss.write_index(index, str(path))

    def load(self, path):
        self._faiss.omp_set_num_threads(1)  # the benchmark has processes
        self._index = self._faiss.read_index(str(path))
        self._faiss.downcast_index(self._index.index).hnsw.efSearch = self._case.ef

    def search(self, query, k: int) -> list[int]:
        found = self._index.search(self._vectors(query), k)[1][0]
        return found[found >= 0].tolist()


LIBRARIES = {"hnswlib": Hnswlib, "faiss": Faiss}
FILES = ("rows", "ids", "index")  # of the folder


class Library(VectorDB):
    """Loading, building and searching are in processes of their own: files are what they share."""

    name = "Library"
    thread_safe = False

    def __init__(self, dim: int, db_config: dict, db_case_config: LibraryIndexConfig,
                 collection_name: str = "", drop_old: bool = False, **kwargs):
        self._dimension, self._library, self._case = dim, db_config["library"], db_case_config
        if self._library not in LIBRARIES:
            raise ValueError(f"no library {self._library!r}: {', '.join(LIBRARIES)}")
        self._folder = pathlib.Path(db_config["folder"])
        self._index = None
        if drop_old:
            for name in FILES:
                (self._folder / name).unlink(missing_ok=True)

    def __setstate__(self, state):
        """In a process that searches: the benchmark's clock does not run yet, as it does in init()."""
        self.__dict__.update(state)
        importlib.import_module(LIBRARIES[self._library].package)

    def _graph(self):
        return LIBRARIES[self._library](self._dimension, self._case.metric(), self._case)

    @contextmanager
    def init(self):
        path = self._folder / "index"
        if path.exists():
            self._index = self._graph()
            self._index.load(path)
        try:
            yield
        finally:
            self._index = None

    def insert_embeddings(self, embeddings, metadata, labels_data=None, tenant_labels_data=None,
                          **kwargs):
        rows = numpy.asarray(embeddings, dtype=numpy.float32)
        if rows.ndim != 2 or rows.shape != (len(metadata), self._dimension):
            return 0, ValueError(f"{rows.shape} vectors for {len(metadata)} ids of dimension "
                                 f"{self._dimension}")
        self._folder.mkdir(parents=True, exist_ok=True)
        with open(self._folder / "rows", "ab") as file:
            rows.tofile(file)
        with open(self._folder / "ids", "ab") as file:
            numpy.asarray(metadata, dtype=numpy.int64).tofile(file)
        return len(metadata), None

    def optimize(self, data_size: int | None = None):
        """Builds the graph of everything that went in."""
        rows = numpy.fromfile(self._folder / "rows", dtype=numpy.float32)
        self._graph().build(rows.reshape(-1, self._dimension),
                            numpy.fromfile(self._folder / "ids", dtype=numpy.int64),
                            self._folder / "index")

    def search_embedding(self, query, k: int = 100, payload_profile=None, tenant=None):
        return self._index.search(numpy.asarray(query, dtype=numpy.float32).reshape(1, -1), k)
