"""farvec for ann-benchmarks: this folder is copied to ann_benchmarks/algorithms/farvec/ there."""
import pathlib
import tempfile

import numpy

import farvec

from ..base.module import BaseANN

METRICS = {"angular": "cosine", "euclidean": "l2"}
MISSING = 2**32 - 1  # in place of a neighbour that was not found; the benchmark wants what was alone


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
        self._counts = []
        self._searched = 0
        self.name = f"farvec({self._build})"

    def fit(self, X):
        self._folder = tempfile.TemporaryDirectory(prefix="farvec-")
        path = pathlib.Path(self._folder.name) / "index"
        data = numpy.ascontiguousarray(X, dtype=numpy.float32)
        farvec.build_graph(data, path, metric=self._metric, progress=False, **self._build)
        self._index = farvec.open(path, tier="dram", slots=16)

    def set_query_arguments(self, size):
        self._list = int(size)
        self._counts, self._searched = [], 0
        self.name = f"farvec({self._build}, list={size})"

    def _search(self, queries, n):
        queries = numpy.ascontiguousarray(queries, dtype=numpy.float32)
        result = self._index.search(queries, k=n, list=max(self._list, n))
        self._counts.append(result.counts)
        self._searched += 1 if queries.ndim == 1 else len(queries)
        return result.ids

    def query(self, q, n):
        ids = self._search(q, n)
        return ids if ids[-1] != MISSING else ids[ids != MISSING]

    def batch_query(self, X, n):
        self._results = self._search(X, n)

    def get_batch_results(self):
        return [ids[ids != MISSING] for ids in self._results]

    def get_additional(self):
        """Of the searches since set_query_arguments(): their `dist_comps` in sum, which the benchmark
        divides by runs and queries; the rest per query."""
        if not self._counts:
            return {}
        distances, reads, size = (sum(getattr(counts, name) for counts in self._counts)
                                  for name in ("distances", "reads", "bytes"))
        return {"dist_comps": distances, "reads": reads / self._searched,
                "bytes": size / self._searched}

    def done(self):
        if self._index is not None:
            self._index.close()
            self._folder.cleanup()
