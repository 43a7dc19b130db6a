"""A collection: one node changes it, the others follow."""
import json
import os
import signal
import time
import unittest

import namespaces_test
from farvec_tool import farvec
from launch_tool import LISTS, TIMEOUT_S, LaunchTest, processes_with


class Collections(LaunchTest):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        base = self.folder / "base.u8bin"
        self.must_pass(farvec("collection", "create", "--collection", self.set, "--metric", "l2",
                              "--like", base, "--memtable-rows", 100, "--degree", 16))
        for table in ("placement", "transport", "compute"):
            del self.tables[table]
        self.tables["collection"] = {"path": str(self.set), "writer": "c1"}
        self.tables["[node]"] = [self.node(name) for name in ("c0", "c1", "c2")]
        self.base = base

    def await_vectors(self, address, count, *tls):
        end = time.monotonic() + TIMEOUT_S
        while True:
            status = self.must_pass(farvec("status", address, "--json", *tls))
            if json.loads(status.stdout)["index"]["vectors"] == count:
                return
            self.assertLess(time.monotonic(), end, status.stdout)
            time.sleep(0.02)

    def test_up_changes_sweep_down(self):
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.assertIn("3 daemons serve", self.must_launch("up").stdout)
        first, writer, third = (f"127.0.0.1:{node['compute_port']}"
                                for node in self.tables["[node]"])
        asks, = processes_with(f"--followers {first},{third}")
        self.assertIn(f"--listen {writer}", asks)
        self.must_pass(farvec("collection", "insert", "--connect", writer, "--data", self.base,
                              "--quiet"))
        for node in self.tables["[node]"]:
            self.await_vectors(f"127.0.0.1:{node['compute_port']}", 600)
        self.must_launch("sweep", "--out", self.folder / "figures")
        lines = [json.loads(line) for line in
                 (self.folder / "figures/sweep.jsonl").read_text().splitlines()]
        self.assertEqual([line["list"] for line in lines], LISTS)
        for line in lines:
            self.assertEqual((line["layout"], line["compute_nodes"]), ("collection", 3))
            self.assertEqual(len(line["nodes"]), 3)
            # A list of few results finds fewer, here as in one index.
            self.assertGreater(line["recall"], self.local_recall(line["list"]) - 0.05)
        follower = f"127.0.0.1:{self.tables['[node]'][0]['compute_port']}"
        self.must_refuse(farvec("collection", "delete", "--connect", follower, "--range", "0:1"),
                         "--follow")
        self.assertIn("nothing is left running", self.must_launch("down").stdout)

    def hold(self, tier):
        """Its log and its segments on three memory nodes, read over TIER."""
        names = ["m0", "m1", "m2"]
        self.tables["[node]"] = [self.node(name) for name in [*names, "c0", "c1"]]
        self.tables["collection"] |= {
            "log_nodes": names, "log_tier": tier, "log_copies": 2, "log_bytes": "32MiB",
            "segment_nodes": names, "segment_tier": tier, "segment_copies": 2,
            "segment_bytes": "64MB"}

    def address(self, name):
        node = next(node for node in self.tables["[node]"] if node["name"] == name)
        return f"{node['host']}:{node['compute_port']}"

    def up_kill_down(self, *tls):
        """Log and segments on memory nodes: one dies, and `up` brings it back."""
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.assertIn("5 daemons serve", self.must_launch("up").stdout)
        self.must_pass(farvec("collection", "insert", "--connect", self.address("c1"), "--data",
                              self.base, "--quiet", *tls))
        self.must_pass(farvec("collection", "compact", "--connect", self.address("c1"), *tls))
        self.assertFalse((self.set / "log").exists(), "it is on the nodes")
        self.await_facts((3, 3, 0), *tls)
        self.await_vectors(self.address("c0"), 600, *tls)
        pid = int((self.run_dir / "m1.memory.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        self.await_facts((3, 2, None), *tls)
        self.assertIn("5 daemons serve", self.must_launch("up").stdout)
        self.await_facts((3, 3, 0), *tls)
        found = self.must_pass(farvec(
            "search", "--connect", self.address("c0"), "--queries",
            self.tables["sweep"]["queries"], "--groundtruth", self.tables["sweep"]["groundtruth"],
            "--k", 10, "--list", 200, "--json", *tls))
        self.assertGreater(json.loads(found.stdout)["recall"], 0.99)
        self.assertIn("nothing is left running", self.must_launch("down").stdout)
        self.assertEqual(processes_with(str(self.run_dir)), [])

    def await_facts(self, wanted, *tls):
        """(nodes of the log, copies of it, copies of segments that are missing), None: any."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            status = self.must_pass(farvec("status", self.address("c1"), "--json", *tls))
            facts = json.loads(status.stdout)["collection"]
            told = (facts["log_nodes"], facts["log_copies"], facts["segment_copies_missing"])
            if all(one in (None, other) for one, other in zip(wanted, told)):
                return
            self.assertLess(time.monotonic(), end, status.stdout)
            time.sleep(0.05)

    def test_log_and_segments_on_memory_nodes(self):
        self.hold("shm")
        self.up_kill_down()

    def test_in_namespaces(self):
        reason = namespaces_test.why_not()
        if reason:
            self.skipTest(reason)
        self.hold("fabric:tcp")
        self.tables[""]["name"] = "sets"
        tls = namespaces_test.isolate(self, "10.213.78")
        self.up_kill_down(*tls)

    def test_what_memory_nodes_hold(self):
        def refused(*words):
            self.must_refuse(self.launch("up"), "launch.toml: ", *words)

        self.hold("shm")
        collection = self.tables["collection"]
        collection["changers"] = ["client"]
        refused("collection.changers: ", "tls.directory")
        del collection["changers"]
        collection["log_nodes"] = ["m0", "c0"]
        refused("collection.log_nodes: 'c0'", "m0, m1, m2")
        collection["log_nodes"] = ["m0", "m0"]
        refused("collection.log_nodes: 'm0' is there twice")
        collection["log_nodes"] = ["m0"]
        refused("collection.log_copies: 2", "0 to 1")
        del collection["log_copies"]
        collection["segment_nodes"] = ["m0"]
        collection["segment_copies"] = 1
        refused("node 'm1': holds nothing")
        collection["segment_nodes"] = ["m1", "m2"]
        collection["segment_bytes"] = "much"
        refused("collection.segment_bytes: 'much'")
        collection["segment_bytes"] = "64MB"
        collection["log_tier"] = "ssd"
        refused("collection.log_tier: 'ssd'")
        del collection["log_nodes"]
        refused("collection.log_tier: ", "log_nodes")
        collection |= {"log_nodes": ["m0", "m1"], "log_tier": "fabric:tcp",
                       "segment_tier": "fabric:udp"}
        refused("node 'm1': ", "fabric:tcp", "fabric:udp")
        collection["segment_tier"] = "shm"
        self.tables["memory"] = {"backing": "devdax", "path": "/dev/dax0.0"}
        refused("memory.backing: 'devdax'")
        del self.tables["memory"]
        self.tables[""]["launcher"] = "ssh"
        self.tables["[node]"][1]["reach"] = "elsewhere"
        refused("node 'm1': is on elsewhere", "only log_nodes")

    def test_what_does_not_go_together(self):
        def refused(*words):
            result = self.launch("up")
            self.must_refuse(result, "launch.toml: ", *words)
            self.assertNotIn("Traceback", result.stderr)

        self.tables["placement"] = {"index": "/srv/index"}
        refused("placement: ", "[collection]")
        del self.tables["placement"]
        self.tables["compute"] = {"partial": True}
        refused("compute.partial: ")
        del self.tables["compute"]
        self.tables["collection"]["writer"] = "c7"
        refused("collection.writer: there is no node 'c7'", "there are c0, c1, c2")
        del self.tables["collection"]["writer"]
        self.tables["collection"]["path"] = str(self.folder / "none")
        refused("collection.path: node c0 has no collection", "farvec collection create")
        self.tables["[node]"].append(self.node("m0"))
        refused("node 'm0': holds nothing", "log_nodes")


if __name__ == "__main__":
    unittest.main()
