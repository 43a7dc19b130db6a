"""An index by the names that faiss has for it."""

from typing import Any

import numpy

from farvec._farvec import Index


class FaissLike:
    """An open index whose ``search`` answers as faiss' does; see :func:`faiss_like`."""

    def __init__(self, index: Index, **search: Any) -> None:
        self._index = index
        self._search = search
        facts = index.describe()
        self._metric: str = facts["metric"]
        self.ntotal: int = facts["count"]
        self.d: int = facts["dimension"]
        self.is_trained = True

    def search(self, x: numpy.ndarray, k: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """Find the k nearest vectors of every row.

        Args:
            x: ``(rows, d)`` of the element type that the index was built from, or lists of numbers.
            k: Neighbours wanted.

        Returns:
            D ``(rows, k)`` float32: squared distances (l2), distances (hamming, jaccard), inner
            products (ip) or cosines; and I int64, -1 for a neighbour that is missing.
        """
        found = self._index.search(x, k, **self._search)
        distances = numpy.atleast_2d(found.distances)
        ids = numpy.where(numpy.isinf(distances), -1,
                          numpy.atleast_2d(found.ids).astype(numpy.int64))
        if self._metric in ("l2", "hamming", "jaccard"):
            return distances, ids
        if self._metric == "ip":
            return -distances, ids
        return 1 - distances, ids


def faiss_like(index: Index, **search: Any) -> FaissLike:
    """Give an index the names of faiss: ``search(x, k) -> (D, I)``, ``ntotal``, ``d``.

    Args:
        index: An open index, which stays the caller's to close.
        search: Arguments of every ``Index.search()``: ``list=100``, ``probe=32``.
    """
    return FaissLike(index, **search)
