"""A compute node that says what it likes: the tool names what was wrong, and lives."""
import concurrent.futures
import importlib
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np

from farvec_tool import TIMEOUT_S, ToolTest, farvec, write_vectors

try:
    import grpc
    MISSING = None
except ImportError:
    MISSING = "python3-grpcio is not installed: run scripts/install-deps.sh"

PROTOCOLS = pathlib.Path(__file__).resolve().parents[2] / "rpc"
DIMENSION, K = 16, 5


@unittest.skipIf(MISSING, MISSING)
class LyingNode(ToolTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["protoc", "-I", PROTOCOLS, f"--python_out={self.folder}",
                        PROTOCOLS / "compute_node.proto", PROTOCOLS / "collection.proto"],
                       check=True, timeout=TIMEOUT_S)
        with mock.patch.object(sys, "path", [str(self.folder), *sys.path]):
            self.search = importlib.import_module("compute_node_pb2")
            self.change = importlib.import_module("collection_pb2")
        self.description = {
            "attached": True, "type": 1, "stored_type": 1, "metric": 1, "dimension": DIMENSION,
            "count": 1000, "layout": "csr", "max_k": 1000, "max_list": 1024, "max_width": 8,
            "max_queries_per_call": 64}
        self.state = {"type": 1, "stored_type": 1, "dimension": DIMENSION, "max_rows": 500,
                      "max_ids": 500}
        self.result = {"ids": range(K), "distances": [0.5] * K, "coverage": 1}
        self.rows = write_vectors(self.folder / "rows", np.zeros((3, DIMENSION), "f4"))
        self.address = f"unix:{self.folder}/node"
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(2), handlers=self.handlers())
        server.add_insecure_port(self.address)
        server.start()
        self.addCleanup(lambda: server.stop(None).wait())

    def handlers(self):
        def of(service, calls):
            return grpc.method_handlers_generic_handler(service, {
                name: grpc.unary_unary_rpc_method_handler(
                    lambda request, _, answer=answer: answer(request),
                    response_serializer=lambda message: message.SerializeToString())
                for name, answer in calls.items()})

        def found(request):
            queries = self.search.SearchRequest.FromString(request).queries
            return self.search.SearchResponse(
                results=[self.search.QueryResult(**self.result) for _ in queries])

        return [of("farvec.compute_node.v1.ComputeNode", {
                    "Describe": lambda _: self.search.DescribeResponse(**self.description),
                    "Stats": lambda _: self.search.StatsResponse(attached=True,
                                                                 uptime_seconds=float("nan")),
                    "Search": found}),
                of("farvec.collection.v1.Collection", {
                    "Stats": lambda _: self.change.StatsResponse(**self.state),
                    "Delete": lambda _: self.change.DeleteResponse(missing=2 ** 64 - 1)})]

    def ask(self):
        return farvec("search", "--connect", self.address, "--queries", self.rows, "--k", K,
                      "--list", 20, "--quiet")

    def test_what_is_right_is_taken(self):
        self.must_pass(self.ask())

    def test_results_that_do_not_fit(self):
        for wrong in ({"user_ids": [2 ** 62] * 100_000}, {"ids": range(100_000)},
                      {"distances": [0.5] * 100_000}, {"coverage": 7.0}):
            with mock.patch.dict(self.result, wrong):
                self.must_refuse(self.ask(), self.address, next(iter(wrong)))

    def test_an_index_that_cannot_be(self):
        for wrong in ({"dimension": 0}, {"type": 99}, {"stored_type": 99}, {"metric": 99},
                      {"layout": "nonsense"}, {"max_k": 0}, {"count": 0}):
            with mock.patch.dict(self.description, wrong):
                field, value = next(iter(wrong.items()))
                self.must_refuse(self.ask(), self.address, f"{field} ", str(value))
                # What only shows it goes on.
                self.must_pass(farvec("status", self.address))

    def test_a_collection_that_cannot_be(self):
        delete = ("collection", "delete", "--connect", self.address, "--range", "0:3")
        self.must_refuse(farvec(*delete), self.address, "3 ids", str(2 ** 64 - 1))
        for wrong in ({"dimension": 0}, {"type": 99}, {"stored_type": 99}, {"max_rows": 0}):
            with mock.patch.dict(self.state, wrong):
                field, value = next(iter(wrong.items()))
                self.must_refuse(farvec(*delete), self.address, f"{field} {value}")


if __name__ == "__main__":
    unittest.main()
