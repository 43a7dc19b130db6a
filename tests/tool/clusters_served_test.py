"""Cluster indexes behind daemons: searched, regrouped by their probes, placed on several nodes."""
import json
import shutil
import subprocess
import time
import unittest

import numpy as np

from cluster_fixture import DIMENSION, PROBE, QUERIES, ClusterTest, K
from farvec_tool import BIN, TIMEOUT_S, DaemonTest, farvec, write_vectors


class Served(ClusterTest, DaemonTest):
    def wait_for(self, address):
        end = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return self.search("--connect", address, "--probe", PROBE)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def serve(self, index, tier, nodes=1, options=()):
        addresses = ",".join(f"unix:{self.folder}/m{node}" for node in range(nodes))
        fabric = ("--fabric", "tcp:127.0.0.1") if tier.startswith("fabric") else ()
        for node in range(nodes):
            number = ("--node", node) if nodes > 1 else ()
            self.start("farvec-memory-node", "--index", index, "--quiet", "--listen",
                       f"unix:{self.folder}/m{node}", *number, *fabric)
        self.start("farvec-compute-node", "--memory-node", addresses, "--listen",
                   f"unix:{self.folder}/c", "--tier", tier, *options)
        return f"unix:{self.folder}/c"

    def test_answers_through_a_memory_node_are_those_of_the_directory(self):
        indexes = self.cluster_all()
        for layout, tier in (("grouped", "shm"), ("grouped-inline", "fabric:tcp"),
                             ("coupled", "emulated:rdma"), ("decoupled", "fabric:tcp"),
                             ("coded", "fabric:tcp"), ("coded", "shm")):
            _, expected = self.search("--index", indexes / layout, "--probe", PROBE)
            address = self.serve(indexes / layout, tier)
            _, found = self.wait_for(address)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
            self.must_refuse(farvec("search", "--connect", address, "--queries", self.queries,
                                    "--k", K, "--probe", 5000), "probe")
            self.processes.close()

    def test_probes_of_live_nodes_feed_regroup(self):
        indexes = self.cluster_all()
        here, out = self.folder / "here.json", self.folder / "probes.json"
        self.search("--index", indexes / "grouped", "--probe", PROBE, "--probe-counts", here)
        expected = json.loads(here.read_text())
        address = self.serve(indexes / "grouped", "shm")
        searches = 0
        for wanted in (1, 3):  # the counts grow
            while searches < wanted:
                self.wait_for(address) if searches == 0 else self.search(
                    "--connect", address, "--probe", PROBE)
                searches += 1
            report = self.must_pass(farvec("probe-counts", "--connect", address, "--out", out,
                                           "--json"))
            found = json.loads(out.read_text())
            self.assertEqual(found["counts"], [wanted * n for n in expected["counts"]])
            self.assertEqual(json.loads(report.stdout)["probes"], wanted * PROBE * QUERIES)
        self.assertEqual({**found, "counts": 0}, {**expected, "counts": 0})
        self.must_pass(farvec("regroup", "--index", indexes / "grouped", "--frequencies", out,
                              "--quiet", "--out", self.folder / "regrouped"))
        _, answers = self.search("--index", self.folder / "regrouped", "--probe", PROBE)
        _, before = self.search("--index", indexes / "grouped", "--probe", PROBE)
        np.testing.assert_array_equal(answers[0], before[0])

    def await_regrouped(self, address, index, number):
        """Searches until the node has gone over to the index's regrouping of that number."""
        self.await_switches(address, number)
        return index.with_name(f"{index.name}.regrouped-{number}")

    def await_switches(self, address, count):
        end = time.monotonic() + TIMEOUT_S
        while json.loads(self.must_pass(farvec("status", address, "--json")).stdout)[
                "switches"] < count:
            self.assertLess(time.monotonic(), end, "no other index is served")
            self.search("--connect", address, "--probe", PROBE)

    def requests(self, index):
        """Of one pass over the queries, by the probes of this process."""
        counts, again = self.folder / "counts.json", self.folder / "again"
        self.search("--index", index, "--probe", PROBE, "--probe-counts", counts)
        report = self.must_pass(farvec("regroup", "--index", index, "--frequencies", counts,
                                       "--overwrite", "--quiet", "--json", "--out", again))
        return json.loads(report.stdout)["requests_before"]

    def test_a_node_groups_by_its_probes_itself(self):
        index = self.cluster_all() / "grouped"
        address = self.serve(index, "fabric:tcp", options=(
            "--regroup", index, "--regroup-gain", 0.02, "--regroup-seconds", 0.1))
        _, answers = self.wait_for(address)
        made = self.await_regrouped(address, index, 1)
        self.must_pass(farvec("inspect", made, "--verify"))
        _, found = self.search("--connect", address, "--probe", PROBE)
        np.testing.assert_array_equal(found[0], answers[0])
        self.assertLess(self.requests(made), self.requests(index))
        # What is asked for changes, and comes back.
        kept = self.queries
        for number in (2, 3):
            self.queries = write_vectors(self.folder / f"queries{number}", np.repeat(
                self.rows(1, DIMENSION), QUERIES, axis=0)) if number == 2 else kept
            self.await_regrouped(address, index, number)
        left = sorted(path.name for path in index.parent.glob("grouped.regrouped-*"))
        self.assertEqual(left, ["grouped.regrouped-2", "grouped.regrouped-3"])

    def test_what_only_has_such_a_name_is_passed_over_and_stays(self):
        index = self.cluster_all() / "grouped"
        broken, mine, other, link = (index.with_name(f"grouped.regrouped-{number}")
                                     for number in (1, 7, 8, "99999999999999999999"))
        broken.mkdir()
        (broken / "records.grouped").write_text("partial")
        mine.mkdir()
        (mine / "note").write_text("mine")
        shutil.copytree(index.parent / "coupled", other)
        link.mkdir()
        address = self.serve(index, "fabric:tcp", options=(
            "--regroup", f"{index}/", "--regroup-gain", 0.02, "--regroup-seconds", 0.1))
        self.wait_for(address)
        kept, before = self.queries, sorted(path.name for path in index.iterdir())
        for number in (9, 10, 11):
            self.queries = write_vectors(self.folder / f"queries{number}", np.repeat(
                self.rows(1, DIMENSION), QUERIES, axis=0)) if number == 10 else kept
            self.await_switches(address, number - 8)
        self.assertEqual(sorted(path.name for path in index.iterdir()), before)
        left = {path.name for path in index.parent.glob("grouped.regrouped-*")}
        self.assertEqual(left, {broken.name, mine.name, other.name, link.name,
                                "grouped.regrouped-10", "grouped.regrouped-11"})
        self.assertEqual((broken / "records.grouped").read_text(), "partial")
        self.assertEqual((mine / "note").read_text(), "mine")
        self.must_pass(farvec("inspect", other, "--verify"))

    def test_what_cannot_be_regrouped_is_said(self):
        index = self.cluster_all() / "grouped"

        def refused(*options, words):
            self.must_refuse(subprocess.run(
                [str(BIN / "farvec-compute-node"), "--listen", f"unix:{self.folder}/no",
                 *map(str, options)], capture_output=True, text=True, timeout=TIMEOUT_S,
                check=False), *words)

        refused("--index", index, "--regroup", index, words=("--regroup", "--memory-node"))
        refused("--memory-node", "unix:/no", "--regroup-gain", 0.3, words=("--regroup-gain",))
        refused("--memory-node", "unix:/a,unix:/b", "--regroup", index, words=("farvec place",))
        self.must_pass(self.build(self.base))
        refused("--memory-node", "unix:/no", "--regroup", self.folder / "index",
                words=("clusters", "graph"))

    def test_probes_of_several_nodes_are_added_up(self):
        indexes = self.cluster_all()
        self.must_pass(self.cluster("--clusters", 20, out="other"))
        first, second, other = (f"unix:{self.folder}/c{number}" for number in range(3))
        for address, index in ((first, indexes / "grouped"), (second, indexes / "coupled"),
                               (other, self.folder / "other")):
            self.start("farvec-compute-node", "--index", index, "--listen", address)
            self.wait_for(address)
        out = self.folder / "probes.json"
        report = self.must_pass(farvec("probe-counts", "--connect", f"{first},{second}", "--out",
                                       out, "--json"))
        self.assertEqual(json.loads(report.stdout)["compute_nodes"], 2)
        self.assertEqual(sum(json.loads(out.read_text())["counts"]), 2 * PROBE * QUERIES)
        out.unlink()
        self.must_refuse(farvec("probe-counts", "--connect", f"{first},{other}", "--out", out),
                         "other clusters", other)
        self.assertFalse(out.exists())

    def test_a_graph_has_no_probes(self):
        self.must_pass(self.build(self.base))
        address = f"unix:{self.folder}/graph"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen", address)
        self.wait_for(address)
        self.must_refuse(farvec("probe-counts", "--connect", address, "--out",
                                self.folder / "no.json"), "serves a graph")
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries",
                                self.queries, "--probe-counts", self.folder / "no.json"), "graph")

    def test_answers_from_several_memory_nodes(self):
        indexes = self.cluster_all()
        for layout in ("grouped", "coupled", "coded"):
            _, expected = self.search("--index", indexes / layout, "--probe", PROBE)
            self.must_pass(farvec("place", "--index", indexes / layout, "--nodes", 3, "--replicas",
                                  2, "--extent-bytes", 16384))
            address = self.serve(indexes / layout, "fabric:tcp", nodes=3)
            _, found = self.wait_for(address)
            np.testing.assert_array_equal(found[0], expected[0])
            self.processes.close()


if __name__ == "__main__":
    unittest.main()
