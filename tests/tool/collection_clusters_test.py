"""`farvec collection` of segments that are clusters, as numpy says what should be found."""
import json
import unittest

import numpy as np

from collection_service_test import Connected
from collection_test import DIMENSION, K, CollectionTest
from farvec_tool import farvec

ALL = 2000  # more clusters than there are
CLUSTERS = ["--kind", "cluster", "--cluster-bytes", 4 * DIMENSION * 4, "--replicas", 3]


class Clusters(CollectionTest):
    def made(self, *options):
        return self.report("create", "--metric", "l2", "--like", self.base, "--memtable-rows", 128,
                           "--merge-fanout", 2, *CLUSTERS, *options)

    def assert_found(self, *options):
        row, = self.searched("--probe", ALL, *options)
        self.assertEqual(row["recall"], 1)
        self.assertEqual(row["collection"]["vectors"], len(self.live))
        self.assertEqual(self.report("verify")["vectors"], len(self.live))

    def test_what_lives_is_found_in_every_layout(self):
        for layout in ("coupled", "grouped"):
            self.set = self.folder / layout
            self.live = {}
            made = self.made("--layout", layout)
            self.assertEqual((made["kind"], made["layout"]), ("cluster", layout))
            self.inserted(0, 400, 0, "--import")
            self.inserted(350, 650)
            self.deleted(40, 90)
            self.assert_found()
            self.assert_found("--tier", "emulated:rdma")
            self.report("compact")
            self.assert_found()
            facts = self.report("inspect")
            self.assertEqual(facts["segments"], 1)
            self.assertEqual(facts["parts"][0]["layout"], layout)

    def test_more_clusters_find_more(self):
        self.made()
        self.inserted(0, 700)
        rows = self.searched("--probe", "1,8,64")
        self.assertEqual([row["probe"] for row in rows], [1, 8, 64])
        self.assertLess(rows[0]["recall"], rows[2]["recall"])
        self.assertLess(rows[0]["distances_per_query"], rows[2]["distances_per_query"])

    def test_options_of_the_other_kind_are_refused(self):
        for option in ("--degree", "--list", "--code-bits"):
            self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                             *CLUSTERS, option, 8), option, "graph")
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                         "--replicas", 3), "--replicas", "cluster")
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                         *CLUSTERS, "--layout", "csr"), "csr", "grouped")
        self.made()
        self.must_refuse(self.collection("search", "--queries", self.queries, "--list", 40),
                         "--list", "graphs")

    def test_steps_of_a_runbook(self):
        out = self.folder / "run.jsonl"
        run = ["runbook", self.book(), "--kind", "collection", "--segments", "cluster", "--probe", ALL,
               "--cluster-bytes", 144, "--data", self.base, "--queries", self.queries, "--metric",
               "l2", "--index", self.set, "--k", K, "--memtable-rows", 128, "--json", out]
        self.must_pass(farvec(*run))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(rows[-1]["mean_recall"], 1)
        self.assertEqual(rows[-1]["index"]["segments"], "cluster")
        self.must_refuse(farvec(*run, "--degree", 12), "--degree", "--segments graph")


class ServedClusters(Connected):
    SHAPE = CLUSTERS
    NODE = ["--max-probe", ALL]
    SEARCH = ["--probe", ALL]


class ClustersOnMemoryNodes(ServedClusters):
    def start_others(self):
        node = f"unix:{self.folder}/m"
        self.start("farvec-memory-node", "--segment-bytes", "64MiB", "--listen", node)
        self.NODE = [*ServedClusters.NODE, "--segment-nodes", node]


del CollectionTest, Connected

if __name__ == "__main__":
    unittest.main()
