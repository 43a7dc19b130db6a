"""faiss for the streaming track of big-ann-benchmarks, copied there beside farvec_streaming.py: the
benchmark's own faiss modules want a package that no registry has."""
import faiss
import numpy

from neurips23.streaming.base import BaseStreamingANN

METRICS = {"euclidean": faiss.METRIC_L2, "ip": faiss.METRIC_INNER_PRODUCT}
TYPES = ("float32", "uint8", "int8")


class FaissStreaming(BaseStreamingANN):
    """An inverted file of whole vectors, as faiss' HNSW cannot delete. Its lists are those of the
    first insert: data that move away from it are not followed."""

    def __init__(self, metric, build):
        """`build`: `nlist`, the number of lists (fewer if the first insert has fewer rows), and
        `threads`, of all faiss does; without it faiss' own number."""
        if metric not in METRICS:
            raise NotImplementedError(f"no metric '{metric}' here: {', '.join(METRICS)} only")
        self._metric, self._build = METRICS[metric], dict(build)
        self._lists = int(self._build.get("nlist", 64))
        if self._lists < 1:
            raise ValueError(f"nlist is {self._lists}, at least one list has to be there")
        if "threads" in self._build:
            faiss.omp_set_num_threads(int(self._build["threads"]))
        self._probes = 1
        self._index = self._dimension = self.res = None
        self._forget()
        self.name = f"faiss_ivf({build})"

    def _forget(self):
        self._searches = self._distances = 0

    def setup(self, dtype, max_pts, ndims):
        if str(dtype) not in TYPES:
            raise NotImplementedError(f"no type '{dtype}' here: {', '.join(TYPES)} only")
        self._dimension, self._index = ndims, None

    def _train(self, rows):
        """The map from ids to places makes a removal cost its own ids, not all rows."""
        lists = min(self._lists, len(rows))
        coarse = faiss.IndexFlat(self._dimension, self._metric)
        self._index = faiss.IndexIVFFlat(coarse, self._dimension, lists, self._metric)
        self._index.train(rows)
        self._index.set_direct_map_type(faiss.DirectMap.Hashtable)

    def insert(self, X, ids):
        """An id that is there takes its new vector, where faiss would keep both: for every query
        argument the runbook starts again on the same index."""
        if len(ids) == 0:
            return
        rows = numpy.ascontiguousarray(X, numpy.float32)
        if self._index is None:
            self._train(rows)
        self.delete(ids)
        self._index.add_with_ids(rows, numpy.asarray(ids, numpy.int64))

    def replace(self, X, ids):
        self.insert(X, ids)

    def delete(self, ids):
        """Ids that are not there are passed over."""
        if self._index is not None and len(ids) > 0:
            self._index.remove_ids(numpy.asarray(ids, numpy.int64))

    def set_query_arguments(self, query_args):
        """`nprobe`: lists that a search reads."""
        self._probes = int(query_args["nprobe"])
        if self._probes < 1:
            raise ValueError(f"nprobe is {self._probes}, a search reads at least one list")
        self._forget()
        self.name = f"faiss_ivf({self._build}, nprobe={self._probes})"

    def query(self, X, k):
        """Where the lists have fewer than k rows, the rest of the ids is -1, which is no row's."""
        if self._index is None:
            self.res = numpy.full((len(X), k), -1, numpy.int64)
            return
        self._index.nprobe = self._probes
        counts = faiss.cvar.indexIVF_stats
        counts.reset()
        self.res = self._index.search(numpy.ascontiguousarray(X, numpy.float32), k)[1]
        self._searches += 1
        self._distances += counts.ndis + len(X) * self._index.nlist

    def get_results(self):
        return self.res

    def get_additional(self):
        """Distances, those from the lists' centres too, per search since set_query_arguments(): the
        benchmark divides them by the queries."""
        return {"dist_comps": self._distances / max(1, self._searches)}

    def __str__(self):
        return self.name

    def done(self):
        self._index = None
