"""Libraries that search codes or short vectors and score the nearest again; interface as in
adapters.py."""
import json
import math
import os

import numpy as np

from adapters import BUILD_THREADS, Peer


class ScaNN(Peer):
    """A tree, 4-bit product codes, rows scored again. The effort is the leaves; how many rows are
    scored again is chosen beside it."""

    label = "ScaNN (tree of 2 sqrt n leaves, AH of 2 dimensions a block)"
    settings = [{"reorder": rows} for rows in (30, 60, 120, 250, 500)]
    reorder = 100

    def leaves(self):
        return round(2 * math.sqrt(self.workload.rows))

    @property
    def efforts(self):
        return range(1, self.leaves() + 1)

    def use(self, reorder):
        self.reorder = reorder

    def build(self):
        from scann.scann_ops.py import scann_ops_pybind
        l2 = self.workload.metric == "l2"
        builder = scann_ops_pybind.builder(self.workload.base, 10,
                                           "squared_l2" if l2 else "dot_product")
        builder = builder.tree(num_leaves=self.leaves(), num_leaves_to_search=self.leaves() // 20,
                               training_sample_size=min(self.workload.rows, 250_000))
        # The anisotropic loss is for inner products.
        builder = builder.score_ah(2, anisotropic_quantization_threshold=math.nan if l2 else 0.2)
        builder = builder.reorder(self.reorder).set_n_training_threads(BUILD_THREADS)
        builder.build().serialize(str(self.folder), relative_path=True)

    def load(self):
        from scann.scann_ops.py import scann_ops_pybind
        self.index = scann_ops_pybind.load_searcher(str(self.folder))

    def search(self, queries, k, effort):
        return self.index.search_batched(queries, k, max(k, self.reorder), effort)[0].astype(
            np.int64)


class Glass(Peer):
    """f32: the searchers of FP16, BF16, SQ8, SQ8U and SQ4U of wheel 2.1.0 found nothing (EPYC)."""

    label = "pyglass (HNSW, R=32, L={list}, f32)"

    def metric(self):
        return "L2" if self.workload.metric == "l2" else "IP"

    def build(self):
        import glass
        glass.set_num_threads(BUILD_THREADS)
        index = glass.Index("HNSW", self.metric(), "FP32", R=32, L=self.build_list)
        index.build(self.workload.base).save(self.path)
        # The searcher has the rows too: counted as bytes, and read from here.
        np.save(self.folder / "rows.npy", self.workload.base)

    def load(self):
        import glass
        glass.set_num_threads(1)
        self.graph = glass.Graph(self.path)
        self.index = glass.Searcher(self.graph, np.load(self.folder / "rows.npy"), self.metric(),
                                    "FP32")
        self.index.set_ef(64)
        self.index.optimize(1)

    def search(self, queries, k, effort):
        self.index.set_ef(effort)
        found = self.index.batch_search(queries, k, 1)[0]
        return np.asarray(found).reshape(len(queries), k).astype(np.int64)


class Vsag(Peer):
    label = "VSAG (HGraph, degree 32, ef_construction={list}, sq8 and f32)"

    def new_index(self):
        import pyvsag
        pyvsag.set_logger_off()
        return pyvsag.Index("hgraph", json.dumps({
            "dtype": "float32", "metric_type": "l2" if self.workload.metric == "l2" else "ip",
            "dim": self.dimension,
            "index_param": {"base_quantization_type": "sq8", "use_reorder": True,
                            "precise_quantization_type": "fp32", "max_degree": 32,
                            "ef_construction": self.build_list, "build_thread_count": BUILD_THREADS}}))

    def build(self):
        index = self.new_index()
        index.build(vectors=self.workload.base, ids=np.arange(self.workload.rows, dtype=np.int64),
                    num_elements=self.workload.rows, dim=self.dimension)
        index.save(self.path)

    def load(self):
        self.index = self.new_index()
        self.index.load(self.path)

    def search(self, queries, k, effort):
        parameters = json.dumps({"hgraph": {"ef_search": effort}})
        found = np.full((len(queries), k), -1, np.int64)
        for row, query in zip(found, queries):
            ids = self.index.knn_search(vector=query, k=k, parameters=parameters)[0]
            row[:len(ids)] = ids
        return found


class AlayaLite(Peer):
    """f32: in a trial sq8 was slower; the wheel says that its RaBitQ runs without AVX-512."""

    label = "AlayaLite (HNSW, 32 neighbours, ef_construction={list}, f32)"

    def build(self):
        from alayalite import Index
        from alayalite.schema import IndexParams, save_schema
        index = Index("index", IndexParams(
            index_type="hnsw", data_type=np.float32, id_type=np.uint32, quantization_type="none",
            metric="l2" if self.workload.metric == "l2" else "ip",
            capacity=self.workload.rows, max_nbrs=32))
        index.fit(self.workload.base, ef_construction=self.build_list, num_threads=BUILD_THREADS)
        save_schema(os.path.join(self.path, "schema.json"), index.save(self.path))

    def load(self):
        from alayalite import Index
        self.index = Index.load(str(self.folder), "index")

    def search(self, queries, k, effort):
        return np.asarray(self.index.batch_search(queries, k, effort, 1)).astype(np.int64)


PEERS = {"scann": ScaNN, "pyglass": Glass, "vsag": Vsag, "alayalite": AlayaLite}
