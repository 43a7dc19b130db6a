"""A collection: one node changes it, the others follow."""
import json
import time
import unittest

from farvec_tool import farvec
from launch_tool import LISTS, TIMEOUT_S, LaunchTest


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

    def await_vectors(self, address, count):
        end = time.monotonic() + TIMEOUT_S
        while True:
            status = self.must_pass(farvec("status", address, "--json"))
            if json.loads(status.stdout)["index"]["vectors"] == count:
                return
            self.assertLess(time.monotonic(), end, status.stdout)
            time.sleep(0.02)

    def test_up_changes_sweep_down(self):
        self.addCleanup(self.launch, "down")
        self.must_launch("load")
        self.assertIn("3 daemons serve", self.must_launch("up").stdout)
        writer = f"127.0.0.1:{self.tables['[node]'][1]['compute_port']}"
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
        refused("collection.writer: there is no node 'c7'; there are c0, c1, c2")
        del self.tables["collection"]["writer"]
        self.tables["collection"]["path"] = str(self.folder / "none")
        refused("collection.path: node c0 has no collection", "farvec collection create")
        self.tables["[node]"].append(self.node("m0"))
        refused("node 'm0': ", "roles")


if __name__ == "__main__":
    unittest.main()
