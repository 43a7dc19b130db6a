"""Vector search over second-tier memory: build an index, open it on a tier, search.

    import farvec
    farvec.build_graph(vectors, "set.index", metric="l2")
    with farvec.open("set.index", tier="emulated:rdma") as index:
        ids, distances, counts = index.search(queries, k=10, list=40)

docs/use/python.md has the whole story.
"""

from farvec import _farvec
from farvec._faiss import FaissLike, faiss_like
from farvec._farvec import (
    Collection,
    Counts,
    Index,
    PagedHnsw,
    Receipt,
    Result,
    __commit__,
    advise,
    build_clusters,
    build_graph,
    build_hnsw,
    build_slotted,
    ground_truth,
    open,
    read_ground_truth,
    read_vectors,
    recall,
    sweep,
    write_attributes,
    write_ground_truth,
    write_vectors,
)
from farvec.errors import (
    DataLoss,
    DeadlineExceeded,
    Error,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
    WrongType,
)

__version__: str = getattr(_farvec, "__version__")  # which the stub generator leaves out

__all__ = [
    "Collection",
    "Counts",
    "DataLoss",
    "DeadlineExceeded",
    "Error",
    "FailedPrecondition",
    "FaissLike",
    "Index",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "PagedHnsw",
    "PermissionDenied",
    "Receipt",
    "ResourceExhausted",
    "Result",
    "Unavailable",
    "WrongType",
    "advise",
    "build_clusters",
    "build_graph",
    "build_hnsw",
    "build_slotted",
    "faiss_like",
    "ground_truth",
    "open",
    "read_ground_truth",
    "read_vectors",
    "recall",
    "sweep",
    "write_attributes",
    "write_ground_truth",
    "write_vectors",
]
