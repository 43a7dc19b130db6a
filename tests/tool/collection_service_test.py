"""`farvec collection ... --connect`: a collection that a compute node serves, as numpy has it."""
import json
import subprocess
import time
import unittest

import numpy as np

from daemons_test import scrape
from farvec_tool import (BIN, TIMEOUT_S, DaemonTest, farvec, free_port, read_neighbours,
                         write_vectors)
from hnsw_tool import nearest, write_neighbours

DIMENSION, ROWS, QUERIES, K = 9, 700, 20, 5


class ServiceTest(DaemonTest):
    """A collection that a compute node serves."""

    # What segments are, what the node allows, and what a search that finds all asks for.
    SHAPE = ["--degree", 12, "--list", 24]
    NODE = []
    SEARCH = ["--list", 500]

    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        self.folders_of_daemons.append(self.set)
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        self.must_pass(farvec("collection", "create", "--collection", self.set, "--metric", "l2",
                              "--like", self.base, "--memtable-rows", 128, *self.SHAPE))
        self.address = f"unix:{self.folder}/c"
        self.start_others()
        self.start("farvec-compute-node", "--collection", self.set, "--listen", self.address,
                   *self.NODE)
        self.await_status(self.address)

    def start_others(self):
        """What the node needs."""

    def change(self, command, *options):
        result = farvec("collection", command, "--connect", self.address, *options)
        return json.loads(self.must_pass(result).stdout)


class Connected(ServiceTest):
    def assert_found(self, live):
        """That a search of the node finds the nearest of rows `live`, whose ids are their own."""
        places, distances = nearest(self.data[live], self.asked, k=K)
        truth = write_neighbours(self.folder / "truth.ibin", live[places], distances)
        result = farvec("search", "--connect", self.address, "--queries", self.queries, "--k", K,
                        *self.SEARCH, "--groundtruth", truth, "--out",
                        self.folder / "found.ibin", "--json")
        self.assertEqual(json.loads(self.must_pass(result).stdout)["recall"], 1)
        self.assertTrue(set(read_neighbours(self.folder / "found.ibin")[0].ravel()) <= set(live))

    def test_k_may_be_more_than_there_are(self):
        found = farvec("search", "--connect", self.address, "--queries", self.queries, "--k", K,
                       *self.SEARCH, "--json")
        self.assertEqual(json.loads(self.must_pass(found).stdout)["queries"], QUERIES)
        load = farvec("bench", "service", "--connect", self.address, "--queries", self.queries,
                      "--k", K, *self.SEARCH, "--clients", 1, "--seconds", 0.2)
        self.must_pass(load)

    def test_changes_are_found(self):
        report = self.change("insert", "--data", self.base, "--range", "0:600", "--quiet", "--json")
        self.assertEqual((report["inserted"], report["replaced"]), (600, 0))
        report = self.change("insert", "--data", self.base, "--range", "500:650", "--quiet",
                             "--json")
        self.assertEqual((report["inserted"], report["replaced"]), (150, 100))
        report = self.change("delete", "--range", "40:90", "--json")
        self.assertEqual((report["deleted"], report["missing"], report["version"]), (50, 0, 800))
        report = self.change("delete", "--range", "80:100", "--json")
        self.assertEqual((report["deleted"], report["missing"]), (10, 10))
        live = np.asarray([*range(40), *range(100, 650)])
        self.assert_found(live)
        report = self.change("compact", "--json")
        self.assertEqual((report["compacted"], report["now"]["segments"]), (len(live), 1))
        self.assert_found(live)
        facts = self.change("inspect", "--json")
        self.assertEqual((facts["vectors"], facts["segments"], facts["memtable_vectors"],
                          facts["out_rows"]), (len(live), 1, 0, 0))

    def test_ids_that_a_file_of_results_cannot_hold_are_named(self):
        self.change("insert", "--data", self.base, "--first-id", 2**40, "--quiet", "--json")
        self.change("compact", "--json")  # no segment is being built any more
        self.must_refuse(farvec("search", "--connect", self.address, "--queries", self.queries,
                                "--k", K, *self.SEARCH), "64 bits", "user_ids")

    def test_a_second_node_follows(self):
        follower = f"unix:{self.folder}/f"
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen",
                   follower)
        self.await_status(follower)
        self.change("insert", "--data", self.base, "--quiet", "--json")
        seen = self.await_status(follower)
        while seen["index"]["vectors"] < ROWS:  # ended by the test's own time limit
            seen = self.await_status(follower)
        self.assertGreaterEqual(seen["index"]["freshness_ms"], 0)
        self.change("compact", "--json")  # no segment is being built any more
        self.must_refuse(farvec("collection", "delete", "--connect", follower, "--range", "0:1"),
                         "takes no changes", "--follow")

    def test_options_of_nodes_that_do_not_fit(self):
        def refused(*options, words):
            self.must_refuse(subprocess.run(
                [str(BIN / "farvec-compute-node"), *map(str, options)], capture_output=True,
                text=True, timeout=60, check=False), *words)

        refused("--follow", "--index", self.set, words=["--follow", "--collection"])
        refused("--follow", "--collection", self.set, "--durability", "none",
                words=["--durability", "--follow"])
        refused("--follow", "--collection", self.folder / "none", "--listen",
                f"unix:{self.folder}/other", words=["none"])

    def test_what_does_not_fit_is_refused(self):
        def refused(command, *options, words):
            self.must_refuse(farvec("collection", command, "--connect", self.address, *options),
                             *words)

        wide = write_vectors(self.folder / "wide", self.rows(5, DIMENSION + 1, np.float32))
        refused("insert", "--data", wide, words=[str(DIMENSION + 1)])
        broken = self.data[:300].copy()
        broken[299, 3] = np.nan
        broken = write_vectors(self.folder / "broken", broken)
        refused("insert", "--data", broken, words=["finite"])
        refused("insert", "--data", self.base, "--durability", "none",
                words=["--durability", "--collection"])
        refused("insert", "--data", self.base, "--import", words=["--import", "--collection"])
        refused("insert", "--data", self.base, "--collection", self.set, words=["one of"])
        self.must_refuse(farvec("collection", "compact", "--collection", self.set, "--retries", 3),
                         "--retries", "--connect")
        self.must_refuse(farvec("collection", "compact", "--connect",
                                f"unix:{self.folder}/nobody"), "nobody")
        self.assertEqual(self.change("inspect", "--json")["vectors"], 0)


class OnMemoryNodes(ServiceTest):
    """Log and segments of a collection on three memory nodes, two of which die."""

    def start_memory_node(self, number):
        return self.start("farvec-memory-node", "--log-bytes", "32MiB", "--segment-bytes", "64MiB",
                          "--listen", f"unix:{self.folder}/m{number}")

    def start_others(self):
        self.memory = [self.start_memory_node(number) for number in range(3)]
        nodes = ",".join(f"unix:{self.folder}/m{number}" for number in range(3))
        self.metrics = free_port()
        self.NODE = ["--log-nodes", nodes, "--segment-nodes", nodes, "--metrics",
                     f"127.0.0.1:{self.metrics}"]

    def copies(self):
        """(nodes of the log, copies of it, copies of segments that are missing) as everything tells
        them; None when it changes meanwhile."""
        keys = ("log_nodes", "log_copies", "segment_copies_missing")
        status, facts = self.await_status(self.address), self.change("inspect", "--json")
        metrics = scrape(self.metrics)
        told = {tuple(status["collection"][key] for key in keys), tuple(facts[key] for key in keys),
                tuple(metrics[f"farvec_compute_collection_{key}"] for key in keys)}
        return told.pop() if len(told) == 1 else None

    def await_copies(self, *wanted):
        end = time.monotonic() + TIMEOUT_S
        while (told := self.copies()) != wanted:
            self.assertLess(time.monotonic(), end, told)
            time.sleep(0.05)

    def test_missing_copies_are_told(self):
        self.change("insert", "--data", self.base, "--quiet", "--json")
        self.change("compact", "--json")
        self.await_copies(3, 3, 0)
        for dead in self.memory[:2]:
            dead.kill()
        self.await_copies(3, 1, 1)  # of the one segment
        told = self.must_pass(farvec("status", self.address)).stdout
        self.assertIn("on 1 of 3 memory nodes", told)
        self.assertIn("copies missing on memory nodes: 1", told)
        self.start_memory_node(0)
        self.await_copies(3, 1, 0)  # too few are left for the log to go on


if __name__ == "__main__":
    unittest.main()
