"""Libraries that search bits, or half floats, of the data's floats; interface as in adapters.py.

An index of bits finds candidates, and the whole rows, in memory beside it, rank these again. What the user
of such a library has to do for that is part of a search here: packing the query, and the second ranking,
which is faiss' own loop over rows of given numbers, on one thread.
"""
import functools

import numpy as np

from adapters import BUILD_THREADS, Peer, Usearch

MOST_EFFORT = 1000  # pgvector takes no more; so does nobody
# All candidates are ranked again, or the nearer half of a list that is twice as long.
SHARES = (1.0, 0.5)


def way_of(rows):
    """How floats become bits: by sign, or by mean where no float is negative and signs say nothing."""
    return "mean" if rows.min() >= 0 else "sign"


def thresholds_of(rows, way):
    if way == "sign":
        return np.zeros(rows.shape[1], np.float32)
    return rows.mean(axis=0, dtype=np.float64).astype(np.float32)


def packed(rows, thresholds):
    """Whole bytes, the first element in the highest bit; a row is filled with zeros."""
    return np.packbits(rows > thresholds, axis=1)


def rank_again(rows, queries, candidates, k, metric):
    """The k nearest of each query's candidates (-1: none), nearest first."""
    import faiss
    distances = np.empty(candidates.shape, np.float32)
    candidates = np.ascontiguousarray(candidates, np.int64)
    compare = faiss.fvec_L2sqr_by_idx if metric == "l2" else faiss.fvec_inner_products_by_idx
    compare(faiss.swig_ptr(distances), faiss.swig_ptr(queries), faiss.swig_ptr(rows),
            faiss.swig_ptr(candidates), rows.shape[1], *candidates.shape)
    if metric != "l2":
        np.negative(distances, out=distances)
    distances[candidates < 0] = np.inf
    if candidates.shape[1] > k:
        near = np.argpartition(distances, k - 1, axis=1)[:, :k]
        distances = np.take_along_axis(distances, near, axis=1)
        candidates = np.take_along_axis(candidates, near, axis=1)
    return np.take_along_axis(candidates, distances.argsort(axis=1), axis=1)


class Bits(Peer):
    """A library's index of bits, and the rows that rank again."""

    efforts = range(10, MOST_EFFORT + 1)
    settings = [{"again": share} for share in SHARES]
    again = SHARES[0]

    def use(self, again):
        self.again = again

    @functools.cached_property
    def thresholds(self):
        return thresholds_of(self.workload.base, way_of(self.workload.base))

    @property
    def bits(self):
        """An index has whole bytes."""
        return -(-self.dimension // 8) * 8

    @functools.cached_property
    def rows(self):
        """Made with the first search, after what the index takes was counted."""
        import faiss
        faiss.omp_set_num_threads(1)
        return self.workload.base

    def packed_base(self):
        return packed(self.workload.base, self.thresholds)

    def candidates(self, queries, count, effort):
        raise NotImplementedError

    def search(self, queries, k, effort):
        count = max(k, round(effort * self.again))
        found = self.candidates(packed(queries, self.thresholds), count, effort)
        return rank_again(self.rows, queries, found, k, self.workload.metric)


class FaissBitsHnsw(Bits):
    label = "faiss IndexBinaryHNSW (hamming, M=16, efConstruction={list}), ranked again"
    m = 16

    def build(self):
        import faiss
        faiss.omp_set_num_threads(BUILD_THREADS)
        index = faiss.IndexBinaryHNSW(self.bits, self.m)
        index.hnsw.efConstruction = self.build_list
        index.add(self.packed_base())
        faiss.write_index_binary(index, self.path)

    def load(self):
        import faiss
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index_binary(self.path)

    def candidates(self, queries, count, effort):
        self.index.hnsw.efSearch = effort
        return self.index.search(queries, count)[1]


class FaissBitsHnsw32(FaissBitsHnsw):
    label = "faiss IndexBinaryHNSW (hamming, M=32, efConstruction={list}), ranked again"
    m = 32


class FaissBitsFlat(FaissBitsHnsw):
    """Every row is compared; the effort is how many are ranked again."""

    label = "faiss IndexBinaryFlat (hamming, every row), ranked again"
    settings = [{"again": 1.0}]

    def build(self):
        import faiss
        index = faiss.IndexBinaryFlat(self.bits)
        index.add(self.packed_base())
        faiss.write_index_binary(index, self.path)

    def candidates(self, queries, count, effort):
        return self.index.search(queries, count)[1]


class UsearchBits(Bits):
    label = "usearch (b1, hamming, connectivity 16, expansion_add {list}), ranked again"
    metric, connectivity = "hamming", 16

    def new_index(self):
        from usearch.index import Index
        return Index(ndim=self.bits, metric=self.metric, dtype="b1", connectivity=self.connectivity,
                     expansion_add=self.build_list)

    def build(self):
        index = self.new_index()
        index.add(np.arange(self.workload.rows), self.packed_base(), threads=BUILD_THREADS)
        index.save(self.path)

    def load(self):
        self.index = self.new_index()
        self.index.load(self.path)

    def candidates(self, queries, count, effort):
        self.index.expansion_search = effort
        found = self.index.search(queries, count, threads=1).keys
        return found.reshape(len(queries), -1).astype(np.int64)  # of one query it is a plain row


class UsearchBits32(UsearchBits):
    label = "usearch (b1, hamming, connectivity 32, expansion_add {list}), ranked again"
    connectivity = 32


class UsearchJaccard(UsearchBits):
    label = "usearch (b1, jaccard, connectivity 16, expansion_add {list}), ranked again"
    metric = "tanimoto"


class UsearchHalf(Usearch):
    label = "usearch (f16, connectivity 16, expansion_add {list})"
    dtype = "f16"


PEERS = {"faiss-bits": FaissBitsHnsw, "faiss-bits-32": FaissBitsHnsw32, "faiss-bits-flat": FaissBitsFlat,
         "usearch-b1": UsearchBits, "usearch-b1-32": UsearchBits32, "usearch-b1-jaccard": UsearchJaccard,
         "usearch-f16": UsearchHalf}
