"""Collections whose segments have fewer bits than the rows, and second copies of these."""
import json
import unittest

import numpy as np

from farvec_tool import DaemonTest, farvec, write_vectors
from hnsw_tool import nearest, write_neighbours

ROWS, DIMENSION, QUERIES, K = 600, 27, 12, 5
SMALL = ["--memtable-rows", 128, "--degree", 12, "--list", 24]


class ReducedCollectionTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        self.folders_of_daemons.append(self.set)
        self.data = self.rows(ROWS, DIMENSION, np.float32) - np.float32(0.5)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32) - np.float32(0.5)
        self.queries = write_vectors(self.folder / "queries", self.asked)

    def collection(self, command, *options, out=None):
        return farvec("collection", command, "--collection", out or self.set, *options)

    def report(self, command, *options, out=None):
        return json.loads(self.must_pass(self.collection(command, *options, "--json", out=out)).stdout)

    def filled(self, *options, out=None):
        """A collection of the rows from 100 on, in segments and in a memtable."""
        made = self.report("create", "--metric", "l2", "--like", self.base, *options, out=out)
        insert = ["insert", "--data", self.base, "--quiet"]
        self.report(*insert, "--range", "0:300", "--import", out=out)
        self.report(*insert, "--range", "300:550", out=out)
        self.report(*insert, "--range", "550:600", out=out)
        self.report("delete", "--range", "0:100", "--quiet", out=out)
        return made

    def truth(self):
        places, distances = nearest(self.data[100:], self.asked, k=K)
        return write_neighbours(self.folder / "truth.ibin", places + 100, distances)

    def searched(self, *options, out=None):
        rows = self.folder / "rows.jsonl"
        self.must_pass(self.collection("search", "--queries", self.queries, "--groundtruth",
                                       self.truth(), "--k", K, "--json", rows, *options, out=out))
        row, = [json.loads(line) for line in rows.read_text().splitlines()]
        return row

    def test_results_are_those_of_the_whole_rows(self):
        kinds = {"bits": [*SMALL, "--store", "b1"],
                 "means": [*SMALL, "--store", "b1", "--by", "mean", "--layout", "packed"],
                 "pages": [*SMALL, "--store", "b1", "--bits-metric", "jaccard", "--by", "median",
                           "--layout", "slotted"],
                 "bytes": [*SMALL, "--store", "i8", "--second-copy", "f16"],
                 "clusters": ["--memtable-rows", 128, "--kind", "cluster", "--cluster-bytes", 64,
                              "--store", "b1", "--by", "mean"]}
        for name, options in kinds.items():
            out = self.folder / name
            self.filled(*options, out=out)
            many = ["--list", 600] + (["--probe", 600] if name == "clusters" else [])
            tiers = ["ssd"] if name == "pages" else ["dram", "emulated:rdma", "ssd"]
            for round_ in range(2):
                for tier in tiers:
                    found = self.searched(*many, "--tier", tier, out=out)
                    self.assertEqual(found["recall"], 1, (name, tier))
                    self.assertGreater(found["rerank_reads_per_query"], 300)
                self.assertEqual(self.searched(*many, "--second-tier", "ssd", "--tier", tiers[0],
                                               out=out)["recall"], 1)
                self.assertEqual(self.searched("--exact", out=out)["recall"], 1)
                self.assertTrue(self.report("verify", "--quiet", out=out)["sound"])
                if round_ == 0:
                    self.report("compact", "--quiet", out=out)

    def test_few_candidates_are_ranked_again_where_that_is_asked_for(self):
        self.filled(*SMALL, "--store", "b1")
        self.report("compact", "--quiet")
        few = self.searched("--list", 200, "--refine", 3)
        self.assertEqual(few["rerank_reads_per_query"], 3 * K)
        self.assertEqual(self.searched("--list", 200)["rerank_reads_per_query"], 200)
        self.assertLess(few["recall"], self.searched("--list", 400)["recall"])

    def test_what_it_is_can_be_seen(self):
        made = self.filled(*SMALL, "--store", "b1", "--by", "mean")
        for facts in made, self.report("inspect"):
            self.assertEqual((facts["store"], facts["by"], facts["bits_metric"]),
                             ("b1", "mean", "hamming"))
            self.assertEqual((facts["type"], facts["second_copy"]), ("f32", "f32"))
        for part in self.report("inspect")["parts"]:
            self.assertGreater(part["second_bytes"], part["rows"] * 4 * DIMENSION)

    def test_damage_is_found_by_name(self):
        self.filled(*SMALL, "--store", "b1")
        self.report("compact", "--quiet")
        path, = self.set.glob("segments/*/second.bin")
        whole = path.read_bytes()
        path.write_bytes(whole[:-9] + b"x" + whole[-8:])
        self.must_refuse(self.collection("verify", "--quiet"), "second.bin", "row 499")
        path.write_bytes(whole[:-1])
        self.must_refuse(self.collection("inspect"), "second.bin", "cut short")
        path.unlink()
        search = self.collection("search", "--queries", self.queries)
        self.must_refuse(search, "second.bin", "missing")

    def test_what_means_nothing_is_refused(self):
        create = ["create", "--metric", "l2", "--like", self.base]
        for options, words in [
                (["--by", "mean"], ["--by", "--store b1"]),
                (["--store", "i8", "--bits-metric", "jaccard"], ["--bits-metric", "--store b1"]),
                (["--second-copy", "f16"], ["--second-copy", "--store"]),
                (["--store", "b1", "--second-copy", "u8"], ["--store", "u8"]),
                (["--store", "b1", "--layout", "inline"], ["inline", "b1"]),
                (["--store", "b1", "--code-bits", 2], ["code-bits 2", "b1"])]:
            self.must_refuse(self.collection(*create, *options), *words)
            self.assertFalse(self.set.exists())
        self.filled(*SMALL, "--store", "b1")
        search = ["search", "--queries", self.queries, "--k", K]
        self.must_refuse(self.collection(*search, "--list", 64, "--refine", 13), "--refine",
                         "13 times 5", "64")
        self.must_refuse(self.collection(*search, "--second-tier", "file:/x"), "file:/x")
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--quiet",
                              "--degree", 12, "--list", 24, "--out", self.folder / "index"))
        self.must_refuse(self.collection("insert", "--index", self.folder / "index"),
                         "second copies")
        plain = self.folder / "plain"
        self.report(*create, out=plain)
        for option in ["--refine", 2], ["--second-tier", "ssd"]:
            self.must_refuse(self.collection(*search, *option, out=plain), option[0], "--store")

    def test_a_node_changes_and_searches_it(self):
        self.filled(*SMALL, "--store", "b1", "--by", "mean")
        address = f"unix:{self.folder}/node"
        node = ["farvec-compute-node", "--collection", self.set, "--listen", address]
        self.start(*node, "--max-list", ROWS, "--second-tier", "ssd")
        self.await_status(address)
        follower = f"unix:{self.folder}/follower"
        self.start("farvec-compute-node", "--collection", self.set, "--listen", follower, "--follow",
                   "--max-list", ROWS)
        self.await_status(follower)
        insert = farvec("collection", "insert", "--connect", address, "--data", self.base, "--range",
                        "90:110", "--quiet")
        self.must_pass(insert)
        self.must_pass(farvec("collection", "delete", "--connect", address, "--range", "90:100"))
        for at in address, follower:
            search = ["search", "--connect", at, "--queries", self.queries, "--k", K, "--list", ROWS,
                      "--groundtruth", self.truth(), "--quiet", "--json"]
            recall = [json.loads(self.must_pass(farvec(*search, *options)).stdout)["recall"]
                      for options in ([], ["--refine", 100], ["--exact"])]
            self.assertEqual(recall, [1, 1, 1])
            self.must_refuse(farvec(*search, "--refine", 121), "--refine", "121 times 5")
            self.must_refuse(farvec(*search, "--candidates"), "candidates")


if __name__ == "__main__":
    unittest.main()
