"""Kills of a compute node that serves a graph on pages, under inserts, deletes and searches: it
loses nothing that was acknowledged. FARVEC_KILLS=200 kills so often [6]."""
import json
import os
import subprocess
import threading
import time
import unittest

import numpy as np

from farvec_tool import BIN, TIMEOUT_S, DaemonTest, farvec, read_neighbours, write_vectors
from hnsw_tool import DIMENSION, SMALL_GRAPH, nearest, write_neighbours

KILLS = int(os.environ.get("FARVEC_KILLS", 6))
ROWS, FIRST, BATCH = 600, 100, 5
LONGEST_S = 1.0  # before a kill


class Changes(threading.Thread):
    """Inserts and deletes batches of ids of its own until the node is gone. After that `there` and
    `gone` have what was acknowledged, and `open` the ids of the call that was not."""

    def __init__(self, test, ids, live):
        super().__init__()
        self.test, self.ids, self.random = test, ids, np.random.default_rng(ids[0] + test.round)
        self.there, self.open = set(live) & set(ids), set()
        self.calls = 0

    def run(self):
        while not self.test.killed.is_set():
            begin = int(self.random.choice(self.ids[::BATCH]))
            batch = set(range(begin, begin + BATCH))
            insert = self.random.random() < 0.6
            command = (["insert", "--data", self.test.base, "--range", f"{begin}:{begin + BATCH}"]
                       if insert else ["delete", "--range", f"{begin}:{begin + BATCH}"])
            result = self.test.call("collection", *command, "--quiet")
            if result.returncode != 0:
                self.open = batch
                return
            self.there = self.there | batch if insert else self.there - batch
            self.calls += 1


class PagedServiceKills(DaemonTest):
    def setUp(self):
        super().setUp()
        self.graph = self.folder / "graph"
        self.folders_of_daemons.append(self.graph)
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        first = write_vectors(self.folder / "first", self.data[:FIRST])
        self.must_pass(farvec("build", "hnsw", "--data", first, "--metric", "l2", "--out",
                              self.graph, *SMALL_GRAPH))
        self.queries = write_vectors(self.folder / "queries", self.rows(1, DIMENSION, np.float32))
        self.address = f"unix:{self.folder}/c"
        self.killed = threading.Event()
        self.round, self.calls = 0, 0
        self.random = np.random.default_rng(11)

    def call(self, *words):
        """A call of the node, which is tried once."""
        return subprocess.run([str(BIN / "farvec"), *map(str, words), "--connect", self.address],
                              capture_output=True, text=True, timeout=TIMEOUT_S)

    def node(self):
        node = self.start("farvec-compute-node", "--paged", self.graph, "--listen", self.address,
                          "--threads", 2, "--slots", 4)
        self.await_status(self.address)
        return node

    def found(self):
        """All ids that a search of everything finds after a vacuum. Before it, one vertex of some
        ten thousand has no edge that leads to it: a full list dropped the last one."""
        self.must_pass(self.call("collection", "compact"))
        out = self.folder / "found.ibin"
        self.must_pass(self.call("search", "--queries", self.queries, "--k", ROWS, "--list", ROWS,
                                 "--out", out))
        ids = read_neighbours(out)[0].ravel()
        return {int(i) for i in ids if i != 0xffffffff}

    def kill_once(self, live):
        """Kills the node under changes; returns what is live afterwards."""
        self.killed.clear()
        node = self.node()
        half = ROWS // 2 // BATCH * BATCH
        changes = [Changes(self, list(range(half)), live),
                   Changes(self, list(range(half, ROWS)), live)]
        for one in changes:
            one.start()
        if self.round % 3 == 0:
            changes.append(threading.Thread(target=self.call, args=("collection", "compact")))
            changes[-1].start()
        time.sleep(self.random.uniform(0, LONGEST_S))
        node.kill()
        node.wait()
        self.killed.set()
        for one in changes:
            one.join()
        self.calls += changes[0].calls + changes[1].calls
        check = json.loads(self.must_pass(
            farvec("inspect", self.graph, "--verify", "--json")).stdout)["check"]
        self.assertTrue(check["ok"], check["problems"])
        node = self.node()
        now = self.found()
        there = changes[0].there | changes[1].there
        unknown = changes[0].open | changes[1].open
        self.assertEqual(now - unknown, there - unknown)
        self.assert_nearest(sorted(now))
        node.terminate()
        self.assertEqual(node.wait(TIMEOUT_S), 0)
        return now

    def assert_nearest(self, live):
        """The vectors that are there are those of their ids."""
        asked = self.data[live[:: max(1, len(live) // 20)]]
        places, distances = nearest(self.data[live], asked, k=1)
        truth = write_neighbours(self.folder / "truth.ibin", np.asarray(live)[places], distances)
        asked = write_vectors(self.folder / "asked", asked)
        result = self.call("search", "--queries", asked, "--k", 1, "--list", 200, "--groundtruth",
                           truth, "--json")
        self.assertEqual(json.loads(self.must_pass(result).stdout)["recall"], 1)

    def test_nothing_acknowledged_is_lost(self):
        live = set(range(FIRST))
        for self.round in range(KILLS):
            live = self.kill_once(live)
        print(f"{KILLS} kills, {self.calls} calls acknowledged, {len(live)} rows at the end")
        self.assertGreater(self.calls, 0)


if __name__ == "__main__":
    unittest.main()
