"""`farvec collection` of segments that are clusters, as numpy says what should be found."""
import json
import unittest

import numpy as np

from collection_service_test import QUERIES, Connected, ServiceTest
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


class ClustersThatAreFollowed(ServiceTest):
    SHAPE = CLUSTERS

    def start_others(self):
        self.follower = f"unix:{self.folder}/f"
        gone = f"unix:{self.folder}/gone"
        self.NODE = ["--followers", f"{self.follower},{gone}"]

    def segment(self):
        facts = farvec("collection", "inspect", "--collection", self.set, "--json")
        part, = json.loads(self.must_pass(facts).stdout)["parts"]
        return part["segment"]

    def probes(self, address, segment):
        """How often each cluster of the segment was probed by the node."""
        out = self.folder / "probes.json"
        self.must_pass(farvec("probe-counts", "--connect", address, "--segment", segment, "--out",
                              out))
        return np.asarray(json.loads(out.read_text())["counts"])

    def test_their_probes_group_what_is_merged(self):
        self.change("insert", "--data", self.base, "--range", "0:600", "--quiet", "--json")
        self.change("compact", "--json")
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen",
                   self.follower)
        self.await_status(self.follower)
        probe, times = 8, 3
        for _ in range(times):
            self.must_pass(farvec("search", "--connect", self.follower, "--queries", self.queries,
                                  "--k", K, "--probe", probe))
        first = self.segment()
        counts = self.probes(self.follower, first)
        self.assertEqual(counts.sum(), QUERIES * probe * times)
        self.assertEqual(self.probes(self.address, first).sum(), 0)
        self.change("insert", "--data", self.base, "--range", "600:640", "--quiet", "--json")
        self.change("compact", "--json")
        merged = self.probes(self.address, self.segment())
        self.assertGreater(len(merged), len(counts))
        # Half of what was counted; those that were split have it twice.
        self.assertTrue(set(merged) <= set(counts // 2))
        self.assertGreaterEqual(merged.sum(), (counts // 2).sum() * 0.9)

    def test_what_there_are_no_counts_of(self):
        def refused(*options, words):
            self.must_refuse(farvec("probe-counts", "--connect", self.address, "--out",
                                    self.folder / "no.json", *options), *words)

        refused(words=("by segment",))
        refused("--segment", 999, words=("no segment 999",))


del CollectionTest, Connected, ServiceTest

if __name__ == "__main__":
    unittest.main()
