"""Indexes with fewer bits than their data, whose searches rank candidates by a second copy."""
import json
import unittest

import numpy as np

from farvec_tool import DaemonTest, farvec, read_neighbours, write_vectors
from hnsw_tool import nearest, write_neighbours

ROWS, DIMENSION, QUERIES, K = 500, 27, 12, 5


class SecondCopyTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32) - np.float32(0.5)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32) - np.float32(0.5)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        places, distances = nearest(self.data, self.asked, k=K)
        self.places = places
        self.truth = write_neighbours(self.folder / "truth.ibin", places, distances)
        self.index = self.folder / "index"

    def made(self, kind, *options, out="index", data=None, metric="l2"):
        size = ["--degree", 12, "--list", 24] if kind == "graph" else ["--clusters", 20]
        return farvec("build", kind, "--data", data or self.base, "--metric", metric, *size,
                      "--quiet", "--out", self.folder / out, *options)

    def stored(self, *options, kind="graph", out="index"):
        self.must_pass(self.made(kind, *options, out=out))

    def recall(self, *options, out="index"):
        found = farvec("search", "--index", self.folder / out, "--queries", self.queries, "--k", K,
                       "--groundtruth", self.truth, "--quiet", "--json", *options)
        return json.loads(self.must_pass(found).stdout)["recall"]

    def refused_search(self, *options, words):
        self.must_refuse(farvec("search", "--index", self.index, "--queries", self.queries, "--k", K,
                                *options), *words)

    def test_candidates_are_ranked_again(self):
        kinds = {"bits": ["--store", "b1"], "means": ["--store", "b1", "--by", "mean"],
                 "jaccard": ["--store", "b1", "--by", "median", "--bits-metric", "jaccard"],
                 "halves": ["--store", "b1", "--second-copy", "f16"], "bytes": ["--store", "i8"],
                 "packed": ["--store", "b1", "--layout", "packed"],
                 "pages": ["--store", "b1", "--layout", "slotted"]}
        for out, options in kinds.items():
            self.stored(*options, out=out)
            tiers = ["ssd"] if out == "pages" else ["dram", "emulated:rdma", "ssd"]
            for tier in tiers:
                self.assertEqual(self.recall("--list", ROWS, "--tier", tier, out=out), 1, out)
                self.assertEqual(self.recall("--exact", "--tier", tier, out=out), 1, out)
        self.assertEqual(self.recall("--list", ROWS, "--second-tier", "ssd", out="bits"), 1)
        few = self.recall("--list", ROWS, "--refine", 1, out="bits")
        self.assertLess(few, 1)
        self.assertLessEqual(few, self.recall("--list", ROWS, "--refine", 20, out="bits"))

    def searched(self, *options, out="index", queries=None):
        found = farvec("search", "--index", self.folder / out, "--queries", queries or self.queries,
                       "--k", K, "--groundtruth", self.truth, "--quiet", "--json", *options)
        return json.loads(self.must_pass(found).stdout)

    def test_a_recall_chooses_how_far_to_look(self):
        self.stored("--store", "b1", out="bits")
        self.stored(out="floats")
        self.stored("--store", "b1", kind="cluster", out="clusters")
        for out in "bits", "floats":
            row = self.searched("--recall", 0.9, out=out)
            self.assertEqual(row["sample_queries"], QUERIES // 2)
            self.assertGreaterEqual(row["sample_recall"], 0.9)
            again = self.searched("--list", row["list"], out=out)
            self.assertEqual(again["list"], row["list"])
            if row["list"] > K:
                # A list that is one shorter is too short for the queries that chose.
                shorter = self.searched("--list", row["list"] - 1, out=out,
                                        queries=self.first_half())
                self.assertLess(shorter["recall"], 0.9)
        self.assertGreater(self.searched("--recall", 0.9, out="bits")["list"],
                           self.searched("--recall", 0.9, out="floats")["list"])
        row = self.searched("--recall", 1, out="clusters")
        self.assertEqual(row["sample_recall"], 1)
        self.assertLessEqual(row["probe"], 20)
        self.refused_search_of("floats", "--recall", 0.9, "--list", 10,
                               words=["--recall and --list"])
        self.refused_search_of("floats", "--recall", 1.5, words=["--recall"])

    def first_half(self):
        return write_vectors(self.folder / "first", self.asked[:QUERIES // 2])

    def refused_search_of(self, out, *options, words):
        self.must_refuse(farvec("search", "--index", self.folder / out, "--queries", self.queries,
                                "--k", K, *options), *words)

    def test_candidates_themselves_come_by_the_distance_of_the_index(self):
        self.stored("--store", "b1")
        out = self.folder / "found.ibin"
        self.must_pass(farvec("search", "--index", self.index, "--queries", self.queries, "--k", K,
                              "--list", ROWS, "--candidates", "--out", out, "--quiet"))
        ids, distances = read_neighbours(out)
        bits, asked = self.data > 0, self.asked > 0
        for query, (rows, far) in enumerate(zip(ids, distances)):
            np.testing.assert_array_equal(far, (bits[rows] != asked[query]).sum(axis=1))

    def test_inspect_tells_and_verifies_it(self):
        self.stored("--store", "b1")
        facts = json.loads(self.must_pass(
            farvec("inspect", self.index, "--json", "--verify", "--quiet")).stdout)
        self.assertEqual(facts["second"]["type"], "f32")
        self.assertEqual(facts["second"]["metric"], "l2")
        self.assertEqual(facts["stored_type"], "b1")
        self.assertIn("second copy", self.must_pass(farvec("inspect", self.index)).stdout)
        path = self.index / "second.bin"
        whole = path.read_bytes()
        path.write_bytes(whole[:-9] + b"x" + whole[-8:])
        self.must_refuse(farvec("inspect", self.index, "--verify", "--quiet"), "row 499", "damaged")
        self.refused_search("--list", ROWS, "--tier", "ssd", words=["checksum"])
        path.write_bytes(whole[:-1])
        self.refused_search(words=["second.bin", "cut short"])
        path.unlink()
        self.refused_search(words=["second.bin", "missing"])

    def test_a_copy_goes_where_the_index_goes(self):
        self.stored("--store", "b1")
        self.must_pass(farvec("convert", "--index", self.index, "--layout", "packed", "--out",
                              self.folder / "packed", "--quiet"))
        self.assertEqual(self.recall("--list", ROWS, out="packed"), 1)

    def test_what_means_nothing_is_refused(self):
        self.must_refuse(self.made("graph", "--by", "mean"), "--by", "--store b1")
        self.must_refuse(self.made("graph", "--store", "i8", "--bits-metric", "jaccard"),
                         "--bits-metric", "--store b1")
        self.must_refuse(self.made("graph", "--second-copy", "f16"), "--second-copy", "--store")
        self.must_refuse(self.made("graph", "--store", "u8"), "u8", "i8")
        self.must_refuse(self.made("graph", "--store", "b1", "--sample-queries", self.queries),
                         "--sample-queries", "--store")
        self.must_refuse(self.made("graph", "--store", "b1", "--layout", "inline"), "inline", "b1")
        self.must_refuse(self.made("graph", "--store", "b1", "--code-bits", 2), "code-bits 2", "b1")
        self.must_refuse(self.made("graph", "--store", "b1", "--second-copy", "u8"), "u8", "f32")
        self.assertFalse(self.index.exists())
        self.stored("--store", "b1")
        self.refused_search("--refine", 0, words=["--refine"])
        self.refused_search("--list", 64, "--refine", 13, words=["--refine", "13 times 5", "64"])
        self.refused_search("--refine", 2, "--candidates", words=["leave one"])
        self.stored(out="plain")
        self.must_refuse(farvec("search", "--index", self.folder / "plain", "--queries",
                                self.queries, "--refine", 2), "--refine", "second copy")

    def test_a_node_ranks_again(self):
        self.stored("--store", "b1")
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", "--index", self.index, "--listen", address, "--max-list",
                   ROWS)
        self.await_status(address)
        search = ["search", "--connect", address, "--queries", self.queries, "--k", K, "--list",
                  ROWS, "--groundtruth", self.truth, "--quiet", "--json"]
        recall = [json.loads(self.must_pass(farvec(*search, *options)).stdout)["recall"]
                  for options in ([], ["--refine", 100], ["--refine", 1], ["--exact"])]
        self.assertEqual(recall[0], 1)
        self.assertEqual(recall[1], 1)
        self.assertLess(recall[2], 1)
        self.assertEqual(recall[3], 1)
        self.must_refuse(farvec(*search, "--refine", 101), "--refine", "101 times 5", "500")
        self.must_refuse(farvec(*search, "--refine", 2, "--candidates"), "refine", "candidates")

    def serve_by_memory(self, nodes, tier):
        """The address of a compute node over that many memory nodes, and theirs."""
        memory = [f"unix:{self.folder}/m{nodes}-{node}" for node in range(nodes)]
        fabric = ["--fabric", "tcp:127.0.0.1"] if tier.startswith("fabric") else []
        for node, address in enumerate(memory):
            self.start("farvec-memory-node", "--index", self.index, "--listen", address, *fabric,
                       *(["--node", node] if nodes > 1 else []))
        address = f"unix:{self.folder}/c{nodes}"
        self.start("farvec-compute-node", "--memory-node", ",".join(memory), "--tier", tier,
                   "--listen", address, "--max-list", ROWS)
        self.await_status(address)
        return address, memory

    def served_recall(self, address, *options):
        found = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                       "--list", ROWS, "--groundtruth", self.truth, "--quiet", "--json", *options)
        row = json.loads(self.must_pass(found).stdout)
        return row["recall"]

    def test_memory_nodes_hold_it(self):
        self.stored("--store", "b1")
        address, memory = self.serve_by_memory(1, "fabric:tcp")
        self.assertEqual(self.served_recall(address), 1)
        self.assertEqual(self.served_recall(address, "--exact"), 1)
        chosen = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                        "--recall", 0.9, "--quiet", "--json")
        self.assertGreaterEqual(json.loads(self.must_pass(chosen).stdout)["sample_recall"], 0.9)
        self.assertLess(self.served_recall(address, "--refine", 1), 1)
        over = f"fabric:tcp:{memory[0]}"
        for options in (["--tier", over], ["--second-tier", over],
                        ["--tier", over, "--second-tier", "ssd"]):
            self.assertEqual(self.recall("--list", ROWS, *options), 1, options)
        self.processes.close()
        self.must_pass(farvec("place", "--index", self.index, "--nodes", 3, "--replicas", 2,
                              "--extent-bytes", "4KiB"))
        address, _ = self.serve_by_memory(3, "shm")
        self.assertEqual(self.served_recall(address), 1)
        facts = json.loads(self.must_pass(farvec("inspect", self.index, "--json")).stdout)
        self.assertEqual(len(facts["placement"]["regions"]), 4)
        # Two copies of each byte: more than those of the second copy alone.
        self.assertGreater(sum(facts["placement"]["node_bytes"]), 2 * facts["second"]["bytes"])

    def test_a_second_copy_of_other_bits_is_refused(self):
        self.stored("--store", "b1", out="other")
        self.stored("--store", "b1", "--by", "mean")
        (self.index / "second.bin").write_bytes((self.folder / "other/second.bin").read_bytes())
        self.refused_search(words=["second.bin", "of another index"])


if __name__ == "__main__":
    unittest.main()
