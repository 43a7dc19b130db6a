"""farvec for ann-benchmarks: this folder is copied to ann_benchmarks/algorithms/farvec/ there."""
import pathlib
import tempfile

import numpy

import farvec

from ..base.module import BaseANN

METRICS = {"angular": "cosine", "euclidean": "l2"}


class Farvec(BaseANN):
    """A graph in local DRAM, searched by one thread."""

    def __init__(self, metric, build):
        """`build`: arguments of farvec.build_graph()."""
        if metric not in METRICS:
            raise NotImplementedError(f"farvec has no metric '{metric}'")
        self._metric = METRICS[metric]
        self._build = dict(build)
        self._list = 0
        self._index = None
        self._folder = None
        self._results = None
        self._counts = None
        self.name = f"farvec({self._build})"

    def fit(self, X):
        self._folder = tempfile.TemporaryDirectory(prefix="farvec-")
        path = pathlib.Path(self._folder.name) / "index"
        data = numpy.ascontiguousarray(X, dtype=numpy.float32)
        farvec.build_graph(data, path, metric=self._metric, progress=False, **self._build)
        self._index = farvec.open(path, tier="dram", slots=16)

    def set_query_arguments(self, size):
        self._list = int(size)
        self.name = f"farvec({self._build}, list={size})"

    def _search(self, queries, n):
        queries = numpy.ascontiguousarray(queries, dtype=numpy.float32)
        result = self._index.search(queries, k=n, list=max(self._list, n))
        self._counts = (result.counts, len(numpy.atleast_2d(queries)))
        return result.ids

    def query(self, q, n):
        return self._search(q, n)

    def batch_query(self, X, n):
        self._results = self._search(X, n)

    def get_batch_results(self):
        return self._results

    def get_additional(self):
        """Of the last call, per query."""
        if self._counts is None:
            return {}
        counts, queries = self._counts
        return {"dist_comps": counts.distances / queries, "reads": counts.reads / queries,
                "bytes": counts.bytes / queries}

    def done(self):
        if self._index is not None:
            self._index.close()
            self._folder.cleanup()
