"""Vector and ground-truth files of the big-ann kind, and recall by distance."""
import dataclasses
import functools
import pathlib

import numpy as np

ELEMENT_TYPES = {".fbin": np.float32, ".u8bin": np.uint8, ".i8bin": np.int8}
# Relative room for rounding when a found distance equals the k-th true one.
TOLERANCE = 1e-6


def read_vectors(path):
    """Rows of a .fbin, .u8bin or .i8bin file, in its own element type."""
    element_type = ELEMENT_TYPES.get(pathlib.Path(path).suffix)
    if element_type is None:
        raise SystemExit(f"error: {path}: expected one of {', '.join(ELEMENT_TYPES)}")
    count, dimension = np.fromfile(path, np.uint32, 2).tolist()
    return np.memmap(path, element_type, "r", 8, (count, dimension))


def read_neighbour_ids(path):
    count, k = np.fromfile(path, np.uint32, 2).tolist()
    return np.memmap(path, np.uint32, "r", 8, (count, k))


def normalised(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


@dataclasses.dataclass
class Workload:
    """Base rows, queries and true neighbours. `base`, made when it is first asked for, is what most
    peers are given: f32, and for cosine normalised, so that an inner-product index serves.
    `raw_...` has the file's type."""

    name: str
    metric: str
    base_file: np.ndarray  # mapped
    queries: np.ndarray
    raw_queries: np.ndarray
    neighbours: np.ndarray
    build_list: int = 200  # of searches that build a graph: ef_construction, L, window
    memory_bytes: int = 0  # budget of peers that search from disk

    @staticmethod
    def load(data, queries, groundtruth, metric):
        base, raw_queries = read_vectors(data), read_vectors(queries)
        neighbours = read_neighbour_ids(groundtruth)
        if base.shape[1] != raw_queries.shape[1] or len(neighbours) != len(raw_queries):
            raise SystemExit(f"error: {data}, {queries} and {groundtruth} do not belong together")
        query_rows = np.ascontiguousarray(raw_queries, np.float32)
        if metric == "cosine":
            query_rows = raw_queries = normalised(query_rows)
        path = pathlib.Path(data).resolve()
        return Workload(f"{path.parent.name}-{path.stem}", metric, base, query_rows, raw_queries,
                        neighbours)

    @property
    def rows(self):
        return len(self.base_file)

    @property
    def dimension(self):
        return self.base_file.shape[1]

    @functools.cached_property
    def base(self):
        base = np.ascontiguousarray(self.base_file, np.float32)
        return normalised(base) if self.metric == "cosine" else base

    @property
    def raw_base(self):
        return self.base if self.metric == "cosine" else self.base_file

    def halves(self):
        middle = len(self.queries) // 2
        return range(0, middle), range(middle, len(self.queries))

    def distances(self, query, ids):
        rows = self.base_file[ids].astype(np.float64)
        if self.metric == "cosine":
            rows = normalised(rows)
        if self.metric == "l2":
            return np.square(rows - self.queries[query].astype(np.float64)).sum(axis=1)
        return -(rows @ self.queries[query].astype(np.float64))

    def recall(self, found, which, k):
        """Share of results no farther than the k-th true neighbour; `found` holds a row of k ids
        per query of `which`. A repeated id counts once."""
        hits = 0
        for row, query in zip(found, which):
            limit = self.distances(query, self.neighbours[query, :k]).max()
            distances = self.distances(query, np.unique(row[row >= 0]))
            hits += min(k, int((distances <= limit + TOLERANCE * abs(limit)).sum()))
        return hits / (k * len(which))
