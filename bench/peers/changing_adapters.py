"""One class per library whose index takes inserts: ids are rows of the data, one thread at a time
calls. `effort` is what trades recall for speed: ef, or the list of a search."""
import pathlib

import numpy as np

K = 10
EFFORTS = (10, 12, 15, 18, 22, 27, 33, 40, 50, 60, 75, 90, 110, 140, 180, 240, 320)


class Exact:
    """Compares with every row: for tests of this script."""

    def __init__(self, options, rows, dimension):
        self.rows = np.zeros((rows, dimension), np.float32)
        self.inside = np.zeros(rows, bool)

    def insert(self, ids, rows):
        self.rows[ids], self.inside[ids] = rows, True

    def delete(self, ids):
        self.inside[ids] = False

    def search(self, queries, effort):
        ids = np.flatnonzero(self.inside)
        distances = ((self.rows[ids][None] - queries[:, None]) ** 2).sum(axis=2)
        return ids[distances.argsort(axis=1)[:, :K]]


class Hnswlib:
    """Rows that come take the places of those that were deleted."""

    label = "hnswlib, M=16, ef_construction={list}, f32"

    def __init__(self, options, rows, dimension):
        import hnswlib
        self.threads = options.threads
        self.index = hnswlib.Index(space="l2" if options.metric == "l2" else "ip", dim=dimension)
        self.index.init_index(max_elements=rows, M=16, ef_construction=options.build_list,
                              random_seed=1, allow_replace_deleted=True)

    def insert(self, ids, rows):
        self.index.add_items(rows, ids, num_threads=self.threads, replace_deleted=True)

    def delete(self, ids):
        for row in ids.tolist():
            self.index.mark_deleted(row)

    def search(self, queries, effort):
        self.index.set_ef(effort)
        return self.index.knn_query(queries, k=K, num_threads=self.threads)[0].astype(np.int64)


class Usearch:
    label = "usearch, connectivity 16, expansion_add {list}, f32"

    def __init__(self, options, rows, dimension):
        from usearch.index import Index
        self.threads = options.threads
        self.index = Index(ndim=dimension, metric="l2sq" if options.metric == "l2" else "ip",
                           dtype="f32", connectivity=16, expansion_add=options.build_list)

    def insert(self, ids, rows):
        self.index.add(ids, rows, threads=self.threads)

    def delete(self, ids):
        self.index.remove(ids, threads=self.threads)

    def search(self, queries, effort):
        self.index.expansion_search = effort
        return self.index.search(queries, K, threads=self.threads).keys.astype(np.int64)


class FaissHnsw:
    """Numbers its rows itself, and has no deletes."""

    label = "faiss HNSW32, efConstruction=40, f32"

    def __init__(self, options, rows, dimension):
        import faiss
        faiss.omp_set_num_threads(options.threads)
        metric = faiss.METRIC_L2 if options.metric == "l2" else faiss.METRIC_INNER_PRODUCT
        self.index = faiss.IndexHNSWFlat(dimension, 32, metric)
        self.ids = np.zeros(0, np.int64)

    def insert(self, ids, rows):
        self.index.add(rows)
        self.ids = np.concatenate([self.ids, ids])

    def delete(self, ids):
        raise NotImplementedError("faiss' HNSW has no deletes")

    def search(self, queries, effort):
        self.index.hnsw.efSearch = effort
        found = self.index.search(queries, K)[1]
        return np.where(found >= 0, self.ids[found], -1)


class DiskannDynamic:
    """Deleted rows are taken out of the graph at the end of the step that deletes them."""

    label = "diskannpy DynamicMemoryIndex, R=32, L={list}, alpha 1.2"

    def __init__(self, options, rows, dimension):
        import diskannpy
        self.threads = options.threads
        self.type = np.uint8 if pathlib.Path(options.data).suffix == ".u8bin" else np.float32
        self.index = diskannpy.DynamicMemoryIndex(
            distance_metric="l2" if options.metric == "l2" else "mips", vector_dtype=self.type,
            dimensions=dimension, max_vectors=rows, complexity=options.build_list, graph_degree=32,
            num_threads=options.threads, search_threads=options.threads,
            initial_search_complexity=max(EFFORTS))

    def insert(self, ids, rows):
        # There is no vector 0.
        self.index.batch_insert(np.ascontiguousarray(rows, self.type),
                                (ids + 1).astype(np.uint32), self.threads)

    def delete(self, ids):
        for row in ids.tolist():
            self.index.mark_deleted(np.uint32(row + 1))
        self.index.consolidate_delete()

    def search(self, queries, effort):
        found = self.index.batch_search(np.ascontiguousarray(queries, self.type), K,
                                        max(effort, K), self.threads)
        return found.identifiers.astype(np.int64) - 1


PEERS = {"exact": (Exact, ()), "hnswlib": (Hnswlib, ("hnswlib",)),
         "usearch": (Usearch, ("usearch",)), "faiss-hnsw": (FaissHnsw, ("faiss-cpu",)),
         "diskannpy": (DiskannDynamic, ("diskannpy",))}
# diskannpy wants an older numpy than the others.
ENVIRONMENTS = {"diskannpy": "peers-venv-diskann"}
