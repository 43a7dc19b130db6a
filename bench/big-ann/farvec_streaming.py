"""farvec for the streaming track of big-ann-benchmarks: this folder is copied to
neurips23/streaming/farvec/ there."""
import tempfile

import numpy

import farvec

from neurips23.streaming.base import BaseStreamingANN

METRICS = {"euclidean": "l2", "ip": "ip", "angular": "cosine"}
TYPES = {"float32": "f32", "uint8": "u8", "int8": "i8"}


class FarvecStreaming(BaseStreamingANN):
    """A collection in a temporary folder, whose segments are searched in local DRAM."""

    def __init__(self, metric, build):
        """`build`: arguments of farvec.Collection.create(), and of farvec.Collection() the number
        of `build_threads`, and `durability`."""
        if metric not in METRICS:
            raise NotImplementedError(f"farvec has no metric '{metric}'")
        self._metric = METRICS[metric]
        self._build = dict(build)
        self._open = {name: self._build.pop(name) for name in ("build_threads", "durability")
                      if name in self._build}
        self._list, self._width = 64, 1
        self._folder = self._collection = self.res = None
        self._forget()
        self.name = f"farvec({build})"

    def _forget(self):
        self._totals = dict.fromkeys(("searches", "queries", "reads", "bytes", "distances"), 0)

    def setup(self, dtype, max_pts, ndims):
        if str(dtype) not in TYPES:
            raise NotImplementedError(f"farvec has no elements of type '{dtype}'")
        self._folder = tempfile.TemporaryDirectory(prefix="farvec-")
        path = f"{self._folder.name}/collection"
        farvec.Collection.create(path, ndims, type=TYPES[str(dtype)], metric=self._metric,
                                 **self._build)
        self._collection = farvec.Collection(path, **self._open)

    def insert(self, X, ids):
        self._collection.insert(numpy.asarray(ids, numpy.uint64), numpy.ascontiguousarray(X))

    def replace(self, X, ids):
        """An id that is there takes its new vector."""
        self.insert(X, ids)

    def delete(self, ids):
        self._collection.delete(numpy.asarray(ids, numpy.uint64))

    def set_query_arguments(self, query_args):
        """`list` and `width` of a search."""
        self._list = int(query_args["list"])
        self._width = int(query_args.get("width", 1))
        self._forget()
        self.name = f"farvec({self._build}, list={self._list}, width={self._width})"

    def query(self, X, k):
        result = self._collection.search(numpy.ascontiguousarray(X), k=k,
                                         list=max(self._list, k), width=self._width)
        self.res = result.ids.astype(numpy.uint32)
        self._totals["searches"] += 1
        self._totals["queries"] += len(X)
        for name in ("reads", "bytes", "distances"):
            self._totals[name] += getattr(result.counts, name)

    def get_results(self):
        return self.res

    def get_additional(self):
        """Of the searches since set_query_arguments(): means per query, but `dist_comps` per search,
        which the benchmark divides by the queries."""
        searches, queries = max(1, self._totals["searches"]), max(1, self._totals["queries"])
        return {"mean_ios": self._totals["reads"] / queries,
                "mean_bytes": self._totals["bytes"] / queries,
                "dist_comps": self._totals["distances"] / searches}

    def __str__(self):
        return self.name

    def done(self):
        if self._collection is not None:
            self._collection.close()
            self._folder.cleanup()
