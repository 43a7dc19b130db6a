"""Attributes of an index that memory nodes serve by itself: searches through a compute node, and
with tiers over the nodes."""
import json
import time
import unittest

import numpy as np

from farvec_tool import TIMEOUT_S, DaemonTest, farvec, write_vectors
from hnsw_tool import nearest, write_neighbours

ROWS, DIMENSION, QUERIES, K = 600, 12, 15, 5
SCHEMA = "price: i64, section: string not null"


class IndexOnNodesTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        self.prices = np.arange(ROWS) * 7 % 100
        self.index = self.folder / "index"

    def build(self, schema=SCHEMA, kind="graph", *options):
        attributes = self.folder / "base.jsonl"
        attributes.write_text("".join(
            json.dumps({"price": int(price), "section": "odd" if price % 2 else "even"}) + "\n"
            for price in self.prices))
        self.must_pass(farvec("build", kind, "--data", self.base, "--metric", "l2", "--quiet",
                              "--schema", schema, "--attributes", attributes, "--out", self.index,
                              *options))

    def serve(self, nodes=1, tier="shm", *options):
        """The address of a compute node over memory nodes."""
        self.nodes = [f"unix:{self.folder}/m{node}" for node in range(nodes)]
        fabric = ["--fabric", "tcp:127.0.0.1"] if tier.startswith("fabric") else []
        self.memory = [
            self.start("farvec-memory-node", "--index", self.index, "--listen", address,
                       "--lease-seconds", 2, *fabric, *(["--node", node] if nodes > 1 else []))
            for node, address in enumerate(self.nodes)]
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--memory-node", ",".join(self.nodes), "--tier", tier,
                   "--listen", address, *options)
        return address

    def truth(self, meets):
        ids = np.flatnonzero(meets)
        places, distances = nearest(self.data[ids], self.asked, k=K)
        return write_neighbours(self.folder / "truth.ibin", ids[places], distances)

    def recall(self, place, condition, meets, *options):
        found = farvec("search", *place, "--queries", self.queries, "--k", K, "--groundtruth",
                       self.truth(meets), "--filter", condition, "--json", *options)
        return json.loads(self.must_pass(found).stdout)["recall"]

    def test_a_compute_node_takes_conditions(self):
        self.build()
        for tier in "shm", "fabric:tcp":
            address = self.serve(tier=tier)
            self.assertEqual(self.await_status(address)["index"]["schema"], SCHEMA)
            few = (self.prices < 30) & (self.prices % 2 == 1)
            self.assertEqual(self.recall(["--connect", address], "section = 'odd' and price < 30",
                                         few, "--list", 600), 1)
            self.must_refuse(farvec("search", "--connect", address, "--queries", self.queries,
                                    "--filter", "prise = 1"), "no column 'prise'")
            # A tier over the same node, for processes that see the folder.
            over = "shm" if tier == "shm" else f"{tier}:{self.nodes[0]}"
            here = ["--index", self.index, "--tier", over, "--quiet"]
            self.assertEqual(self.recall(here, "price < 30", self.prices < 30, "--list", 600), 1)
            self.processes.close()

    def test_a_sweep_over_a_node_has_a_filter(self):
        self.build()
        self.await_status(self.serve(tier="fabric:tcp"))
        out = self.folder / "sweep.jsonl"
        few = self.prices < 30
        self.must_pass(farvec(
            "sweep", "--index", self.index, "--queries", self.queries, "--groundtruth",
            self.truth(few), "--k", K, "--list", "600", "--tier", f"fabric:tcp:{self.nodes[0]}",
            "--passes", 1, "--pass-ms", 1, "--filter", "price < 30", "--json", out))
        row = json.loads(out.read_text())
        self.assertEqual((row["recall"], row["matches"]), (1, int(few.sum())))

    def test_placed_nodes_lose_one(self):
        self.build()
        self.must_pass(farvec("place", "--index", self.index, "--nodes", 2, "--replicas", 2))
        address = self.serve(nodes=2)
        self.await_status(address)
        place, few = ["--connect", address], self.prices < 30
        self.assertEqual(self.recall(place, "price < 30", few, "--list", 600), 1)
        self.memory[0].kill()
        self.memory[0].wait()
        end = time.monotonic() + TIMEOUT_S
        while True:  # the death is not noticed at once
            try:
                self.assertEqual(self.recall(place, "price < 31", self.prices < 31, "--list", 600),
                                 1)
                return
            except AssertionError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

    def test_tenants_have_to_be_named(self):
        self.build("price: i64, section: string tenant", "cluster", "--clusters", 20)
        address = self.serve()
        self.await_status(address)
        search = ["search", "--connect", address, "--queries", self.queries, "--probe", 20]
        self.must_refuse(farvec(*search), "belong to tenants")
        self.must_refuse(farvec(*search, "--filter", "price < 9"), "belong to tenants")
        odd = self.prices % 2 == 1
        self.assertEqual(self.recall(["--connect", address], "section = 'odd'", odd, "--probe", 20),
                         1)

    def test_attributes_that_come_later_are_published(self):
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--quiet",
                              "--out", self.index))
        address = self.serve()
        self.await_status(address)
        refused = farvec("search", "--connect", address, "--queries", self.queries, "--filter",
                         "price < 30")
        self.must_refuse(refused, "have no attributes")
        price = self.folder / "price.npy"
        np.save(price, self.prices)
        self.must_pass(farvec("attributes", "--index", self.index, "--schema", "price: i64",
                              "--attributes", f"price={price}"))
        self.must_pass(farvec("publish", "--index", self.index, "--memory-node", self.nodes[0]))
        end = time.monotonic() + TIMEOUT_S
        while self.await_status(address)["index"].get("schema") != "price: i64":
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertEqual(self.recall(["--connect", address], "price < 30", self.prices < 30,
                                     "--list", 600), 1)

    def test_what_is_damaged_is_not_served(self):
        self.build()
        path = self.index / "attributes.bin"
        bytes_ = bytearray(path.read_bytes())
        bytes_[-1] ^= 1
        path.write_bytes(bytes_)
        node = self.start("farvec-memory-node", "--index", self.index, "--listen",
                          f"unix:{self.folder}/m")
        self.assertNotEqual(node.wait(timeout=TIMEOUT_S), 0)
        log = (self.folder / "farvec-memory-node.log").read_text()
        self.assertIn("damaged", log)


if __name__ == "__main__":
    unittest.main()
