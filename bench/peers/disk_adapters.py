"""Libraries that search from disk, under a budget of memory; interface as in adapters.py.

`workload.memory_bytes` is the budget: what the library may keep of the index while it searches.
"""
import atexit
import math
import os
import pathlib

import numpy as np

from adapters import BUILD_THREADS, FaissIvf, Peer

GIB = 2**30
WORKING_MEMORY = 64 * 2**20  # of the interpreter and the search, beside the index


class DiskAnn(Peer):
    """Half of the budget for PQ codes, the rest for cached nodes. Reads with O_DIRECT (libaio)."""

    label = "DiskANN (disk index, R=64, L=100)"
    degree, complexity, beam_width = 64, 100, 4

    def code_bytes(self):
        """At most what DiskANN takes: a byte for each dimension."""
        return min(self.workload.memory_bytes // 2, self.workload.rows * self.dimension)

    def build(self):
        import diskannpy
        diskannpy.build_disk_index(
            np.ascontiguousarray(self.workload.raw_base), "l2", str(self.folder),
            complexity=self.complexity, graph_degree=self.degree,
            search_memory_maximum=self.code_bytes() / GIB,
            build_memory_maximum=8, num_threads=BUILD_THREADS)
        # What only the build needs: the vectors, twice more.
        for name in ("*_vectors.bin", "*_mem.index.data"):
            for path in self.folder.glob(name):
                path.unlink()

    def load(self):
        import diskannpy
        codes = sum(path.stat().st_size for path in self.folder.glob("*_pq_compressed.bin"))
        node_bytes = self.workload.raw_queries.itemsize * self.dimension + 4 * (self.degree + 1)
        cached = max(0, self.workload.memory_bytes - codes) // node_bytes
        # Two scratch spaces, though one thread searches: with one, loading waits for ever (0.7.0).
        self.index = diskannpy.StaticDiskIndex(str(self.folder), 2,
                                               min(cached, self.workload.rows))

    @property
    def queries(self):
        return self.workload.raw_queries

    def search(self, queries, k, effort):
        return self.index.batch_search(np.ascontiguousarray(queries), k, max(effort, k), 1,
                                       beam_width=self.beam_width).identifiers.astype(np.int64)


class DiskAnnLikeHnsw(DiskAnn):
    """With the edges and the list of an HNSW of m 24 and ef_construction 200."""

    label = "DiskANN (disk index, R=48, L=200)"
    degree, complexity = 48, 200


class Laser(Peer):
    """AlayaLite's LASER: a graph whose records have codes of the neighbours, read with O_DIRECT (libaio);
    the budget is for cached records. It wants floats of at least 128 dimensions."""

    label = "AlayaLite LASER (disk index, R=64, L=200)"
    degree, beam_width = 64, 16

    @property
    def prefix(self):
        return str(self.folder / "laser")

    @property
    def main_dimension(self):
        """Of the codes; the rest is a residue. 64 of 128 and 256 of 768, as its guide has them."""
        return 2 ** int(math.log2(self.dimension / 2))

    def build(self):
        from alayalite.laser import BuildParams, Index
        Index.fit(self.workload.base, str(self.folder), name="laser", num_threads=BUILD_THREADS,
                  build_params=BuildParams(main_dim=self.main_dimension, R=self.degree),
                  dram_budget_gb=8, auto_load=False)
        # What only the build needs: the vectors, twice more, and the graph.
        for name in ("raw.fbin", "pca_base.fbin", "vamana_graph.index"):
            pathlib.Path(f"{self.prefix}_{name}").unlink()

    def load(self):
        from alayalite.laser import RawIndex
        self.index = RawIndex(index_type="QG", metric="l2", num_elements=self.workload.rows,
                              main_dimension=self.main_dimension, dimension=self.dimension,
                              degree_bound=self.degree, rotator_seed=0, rotator_dump_path="")
        self.index.load(self.prefix, self.workload.memory_bytes / GIB)

    def search(self, queries, k, effort):
        self.index.set_params(ef_search=max(effort, k), num_threads=1, beam_width=self.beam_width)
        return self.index.batch_search(queries, k).astype(np.int64)


def own_group(version_1):
    """The folder of the control group that limits this process's memory now."""
    root = pathlib.Path("/sys/fs/cgroup/memory" if version_1 else "/sys/fs/cgroup")
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        ours = "memory" in controllers.split(",") if version_1 else not controllers
        if ours and (root / path[1:]).is_dir():
            return root / path[1:]
    return root


def leave_group(folder, home):
    (home / "cgroup.procs").write_text(str(os.getpid()))
    folder.rmdir()


def limit_memory(limit):
    """Joins a control group of its own until it exits: what this process touches from here on, page
    cache included, stays within the limit. What it had before does not count."""
    first = pathlib.Path("/sys/fs/cgroup/memory")
    version_1 = first.is_dir()
    folder = (first if version_1 else pathlib.Path("/sys/fs/cgroup")) / f"farvec-peer-{os.getpid()}"
    home = own_group(version_1)
    folder.mkdir()
    atexit.register(leave_group, folder, home)
    (folder / ("memory.limit_in_bytes" if version_1 else "memory.max")).write_text(str(limit))
    (folder / "cgroup.procs").write_text(str(os.getpid()))


class FaissOnDisk(FaissIvf):
    """The lists are mapped from a file, by whole pages of the page cache: the budget is a limit of
    the process, so this peer is measured alone."""

    label = "faiss IVF,Flat, OnDiskInvertedLists"

    def build(self):
        import faiss
        faiss.omp_set_num_threads(BUILD_THREADS)
        metric = faiss.METRIC_L2 if self.workload.metric == "l2" else faiss.METRIC_INNER_PRODUCT
        index = faiss.index_factory(self.dimension, self.factory(), metric)
        index.train(self.workload.base)
        index.add(self.workload.base)
        lists = faiss.OnDiskInvertedLists(index.nlist, index.code_size, str(self.folder / "lists"))
        built = faiss.InvertedListsPtrVector()
        built.push_back(faiss.extract_index_ivf(index).invlists)
        lists.merge_from(built.data(), built.size())
        index.replace_invlists(lists)
        faiss.write_index(index, self.path)

    def load(self):
        import faiss
        with open(self.folder / "lists", "rb") as lists:
            os.posix_fadvise(lists.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        limit_memory(self.workload.memory_bytes + WORKING_MEMORY)
        faiss.omp_set_num_threads(1)
        self.index = faiss.read_index(self.path, faiss.IO_FLAG_ONDISK_SAME_DIR)


PEERS = {"diskann": DiskAnn, "diskann-48": DiskAnnLikeHnsw, "laser": Laser,
         "faiss-ondisk": FaissOnDisk}
