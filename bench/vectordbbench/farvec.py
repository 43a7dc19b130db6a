"""farvec's client for VectorDBBench: a collection that a compute node serves, over gRPC."""
from contextlib import contextmanager

import numpy

import farvec

from ..api import VectorDB
from .config import FarvecIndexConfig


class Farvec(VectorDB):
    """Many processes and threads may each have one. It is not connected outside of init()."""

    name = "Farvec"
    thread_safe = True

    def __init__(self, dim: int, db_config: dict, db_case_config: FarvecIndexConfig,
                 collection_name: str = "", drop_old: bool = False, **kwargs):
        self._address = f"grpc://{db_config['address']}"
        self._case = db_case_config
        self._node = None
        with self._connect() as node:
            self._check(node, dim, drop_old)

    def _connect(self):
        return farvec.Collection(self._address, retries=self._case.retries)

    def _check(self, node, dim: int, drop_old: bool):
        """The service makes no collection and drops none: the node's must be the one wanted."""
        facts, metric = node.describe(), self._case.metric()
        if facts["dimension"] != dim or facts["type"] != "f32":
            raise ValueError(f"{self._address} has a collection of {facts['dimension']} x "
                             f"{facts['type']}, the data are {dim} x f32")
        if metric not in (None, facts["metric"]):
            raise ValueError(f"{self._address} has a collection of metric {facts['metric']}, the "
                             f"case wants {metric}")
        if drop_old and len(node) > 0:
            raise ValueError(f"{self._address} has {len(node)} vectors already: start the node on "
                             "an empty collection")

    @contextmanager
    def init(self):
        with self._connect() as self._node:
            try:
                yield
            finally:
                node, self._node = self._node, None
                node.close()

    def insert_embeddings(self, embeddings, metadata, labels_data=None, tenant_labels_data=None,
                          **kwargs):
        try:
            receipt = self._node.insert(metadata, numpy.asarray(embeddings, dtype=numpy.float32))
        except farvec.Error as error:
            return 0, error
        return receipt.done, None

    def search_embedding(self, query, k: int = 100, payload_profile=None, tenant=None):
        parameters = self._case.search_param()
        parameters["list"] = max(parameters["list"], k)
        found = self._node.search(numpy.asarray(query, dtype=numpy.float32), k=k, **parameters)
        return found.ids[found.ids != numpy.iinfo(numpy.uint64).max].tolist()

    def optimize(self, data_size: int | None = None):
        """Everything becomes one segment."""
        self._node.compact()
