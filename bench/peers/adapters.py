"""One class per library: build (all cores, once, kept on disk), load, search (one thread).

`effort` is what trades recall for speed: ef, search window or number of probed lists. A peer with a
second such number lists its values in `settings` and takes one by `use`.
"""
import math
import os
import pathlib

import numpy as np

BUILD_THREADS = os.cpu_count()


class Peer:
    efforts = range(10, 2001)
    settings = [{}]
    label = ""  # {list} stands for the list of a graph's search while it is built

    def __init__(self, workload, folder):
        self.workload = workload
        self.folder = pathlib.Path(folder)
        self.index = None

    def use(self):
        """Takes one of `settings` by keyword."""

    @property
    def path(self):
        return str(self.folder / "index")

    @property
    def build_list(self):
        return self.workload.build_list

    @property
    def queries(self):
        return self.workload.queries

    @property
    def dimension(self):
        return self.workload.dimension


class Hnswlib(Peer):
    label = "hnswlib (M=16, ef_construction={list})"

    def new_index(self):
        import hnswlib
        return hnswlib.Index(space="l2" if self.workload.metric == "l2" else "ip",
                             dim=self.dimension)

    def build(self):
        index = self.new_index()
        index.init_index(max_elements=self.workload.rows, M=16, ef_construction=self.build_list,
                         random_seed=1)
        index.add_items(self.workload.base, num_threads=BUILD_THREADS)
        index.save_index(self.path)

    def load(self):
        self.index = self.new_index()
        self.index.load_index(self.path)
        self.index.set_num_threads(1)

    def search(self, queries, k, effort):
        self.index.set_ef(effort)
        return self.index.knn_query(queries, k=k, num_threads=1)[0].astype(np.int64)


class Faiss(Peer):

    def factory(self):
        raise NotImplementedError

    def build(self):
        import faiss
        faiss.omp_set_num_threads(BUILD_THREADS)
        metric = faiss.METRIC_L2 if self.workload.metric == "l2" else faiss.METRIC_INNER_PRODUCT
        index = faiss.index_factory(self.dimension, self.factory(), metric)
        if not index.is_trained:
            index.train(self.workload.base)
        index.add(self.workload.base)
        faiss.write_index(index, self.path)

    def load(self):
        import faiss
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(self.path)


class FaissHnsw(Faiss):
    label = "faiss HNSW32 (efConstruction=40)"

    def factory(self):
        return "HNSW32,Flat"

    def search(self, queries, k, effort):
        self.index.hnsw.efSearch = effort
        return self.index.search(queries, k)[1]


class FaissIvf(Faiss):
    label = "faiss IVF,Flat (lists of 4 sqrt n)"

    def lists(self):
        return 1 << round(math.log2(4 * math.sqrt(self.workload.rows)))

    @property
    def efforts(self):
        return range(1, self.lists() + 1)

    def factory(self):
        return f"IVF{self.lists()},Flat"

    def search(self, queries, k, effort):
        self.index.nprobe = effort
        return self.index.search(queries, k)[1]


class Usearch(Peer):
    label = "usearch (f32, connectivity 16, expansion_add {list})"
    dtype = "f32"

    def new_index(self):
        from usearch.index import Index
        return Index(ndim=self.dimension, metric="l2sq" if self.workload.metric == "l2" else "ip",
                     dtype=self.dtype, connectivity=16, expansion_add=self.build_list)

    def build(self):
        index = self.new_index()
        index.add(np.arange(self.workload.rows), self.workload.base, threads=BUILD_THREADS)
        index.save(self.path)

    def load(self):
        self.index = self.new_index()
        self.index.load(self.path)

    def search(self, queries, k, effort):
        self.index.expansion_search = effort
        return self.index.search(queries, k, threads=1).keys.astype(np.int64)


class Svs(Peer):
    label = "scalable-vs (Vamana R=32, L={list}, LVQ8)"

    def parts(self):
        return [str(self.folder / part) for part in ("config", "graph", "data")]

    def distance(self):
        import svs
        return svs.DistanceType.L2 if self.workload.metric == "l2" else svs.DistanceType.MIP

    def parameters(self):
        import svs
        return svs.VamanaBuildParameters(
            alpha=1.2 if self.workload.metric == "l2" else 0.95, graph_max_degree=32,
            window_size=self.build_list)

    def build(self):
        import svs
        vectors = str(self.folder / "base.fvecs")
        svs.write_vecs(self.workload.base, vectors)
        loader = svs.LVQLoader(svs.VectorDataLoader(vectors, svs.DataType.float32), primary=8)
        index = svs.Vamana.build(self.parameters(), loader, self.distance(),
                                 num_threads=BUILD_THREADS)
        os.unlink(vectors)
        index.save(*self.parts())

    def load(self):
        import svs
        config, graph, data = self.parts()
        self.index = svs.Vamana(config, svs.GraphLoader(graph), svs.LVQLoader(data),
                                self.distance(), num_threads=1)

    def search(self, queries, k, effort):
        self.index.search_window_size = effort
        return self.index.search(queries, k)[0].astype(np.int64)


class SvsRaw(Svs):
    """The data's own element type: what SVS offers where LVQ is refused (it wants an Intel CPU)."""

    label = "scalable-vs (Vamana R=32, L={list}, data's own type)"

    @property
    def queries(self):
        return self.workload.raw_queries

    def build(self):
        import svs
        index = svs.Vamana.build(self.parameters(), np.ascontiguousarray(self.workload.raw_base),
                                 self.distance(), num_threads=BUILD_THREADS)
        index.save(*self.parts())

    def load(self):
        import svs
        config, graph, data = self.parts()
        element_type = svs.np_to_svs(self.workload.raw_queries.dtype)
        loader = svs.VectorDataLoader(data, element_type, dims=self.dimension)
        self.index = svs.Vamana(config, svs.GraphLoader(graph), loader, self.distance(),
                                query_type=element_type, num_threads=1)


class SymphonyQg(Peer):
    label = "rabitqlib SymphonyQG (degree 32, ef_construction={list})"

    def build(self):
        from rabitqlib import SymqgIndex
        # Normalised vectors by l2: the same order, and far better graphs than by inner product.
        index = SymqgIndex(self.dimension, 32, "ip" if self.workload.metric == "ip" else "l2")
        index.build(self.workload.base, self.build_list, BUILD_THREADS)
        index.save(self.path)

    def load(self):
        from rabitqlib import SymqgIndex
        self.index = SymqgIndex.load(self.path)

    def search(self, queries, k, effort):
        return np.asarray(self.index.search(queries, k, effort, 1)[0]).astype(np.int64)


PEERS = {"hnswlib": Hnswlib, "faiss-hnsw": FaissHnsw, "faiss-ivf": FaissIvf, "usearch": Usearch,
         "svs": Svs, "svs-raw": SvsRaw, "symphonyqg": SymphonyQg}
