"""Slotted pages behind a compute node: the neighbours of a search in the tool, within a budget of
memory, and what is refused."""
import re
import subprocess
import unittest
import urllib.request

import numpy as np

from farvec_tool import (BIN, TIMEOUT_S, DaemonTest, farvec, free_port, read_neighbours,
                         write_vectors)

ROWS, QUERIES, DIMENSION, K, LIST = 4000, 60, 32, 10, 60
# What a search finds does not depend on what others have left in the pool.
FIXED = ("--search", "best-first", "--prefetch", "off", "--page-search", "off")
SMALL = ("--slots", 1, "--max-list", LIST, "--max-width", 4)


class SlottedServe(DaemonTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.query_rows = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.query_rows)
        self.address = f"unix:{self.folder}/c"
        self.metrics = free_port()

    def build_slotted(self, *options):
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--degree",
                              24, "--list", 60, "--layout", "slotted", "--quiet", "--out",
                              self.folder / "index", *options))

    def command(self, *options, index="index"):
        return ("--index", self.folder / index, "--listen", self.address, *options)

    def serve(self, *options):
        self.start("farvec-compute-node", *self.command("--tier", "ssd", "--metrics",
                                                        f"127.0.0.1:{self.metrics}", *options))
        return self.await_status(self.address)

    def search(self, *options, name="found"):
        out = self.folder / f"{name}.ibin"
        self.must_pass(farvec("search", "--queries", self.queries, "--k", K, "--list", LIST,
                              "--width", 4, "--out", out, *options))
        return read_neighbours(out)

    def remote(self, *options):
        return self.search("--connect", self.address, *options)

    def local(self, *options):
        return self.search("--index", self.folder / "index", "--tier", "ssd", "--threads", 1,
                           "--slots", 2, *options, name="local")

    def expect_same(self, one, other):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=20) as page:
            text = page.read().decode()
        return float(re.search(rf"^farvec_compute_{name} (\S+)$", text, re.MULTILINE).group(1))

    def test_the_same_neighbours_within_a_budget(self):
        self.build_slotted("--payload", "vector")
        facts = self.serve("--memory-budget", "40%", "--threads", 2, *SMALL, *FIXED)
        index = facts["index"]
        self.assertEqual(index["layout"], "slotted")
        self.assertIn("best-first, record pool", index["page_search"])
        self.assertEqual(index["memory_budget"], index["index_bytes"] * 4 // 10)
        self.assertLessEqual(index["compute_dram_bytes"], index["memory_budget"])
        local = self.local(*FIXED)
        self.expect_same(self.remote(), local)
        truth = ((self.query_rows[:, None, :] - self.data[None, :, :]) ** 2).sum(axis=2)
        nearest = np.argsort(truth, axis=1)[:, :K]
        hits = sum(len(set(a) & set(b)) for a, b in zip(local[0].tolist(), nearest.tolist()))
        self.assertGreater(hits / nearest.size, 0.8)
        np.testing.assert_allclose(local[1], np.take_along_axis(truth, local[0], axis=1), rtol=1e-4)
        self.expect_same(self.remote(), local)
        hits, misses = self.metric("cache_hits_total"), self.metric("pool_misses_total")
        self.assertGreater(hits, 0)
        self.assertGreater(misses, 0)
        self.assertLessEqual(self.metric("reads_total"), misses)
        self.assertEqual(self.metric("memory_budget_bytes"), index["memory_budget"])

    def test_codes_ranked_again(self):
        self.build_slotted("--payload", "code", "--rerank", "on")
        self.serve("--rerank", 20, *SMALL, *FIXED)
        self.expect_same(self.remote(), self.local("--rerank", 20, *FIXED))
        self.assertGreater(self.metric("rerank_reads_total"), 0)
        result = farvec("search", "--connect", self.address, "--queries", self.queries, "--k", 21,
                        "--list", LIST)
        self.must_refuse(result, "k")

    def test_codes_ranked_again_by_default(self):
        self.build_slotted("--payload", "code", "--rerank", "on")
        self.serve(*SMALL, *FIXED)
        self.expect_same(self.remote(), self.local("--rerank", 2 * K, *FIXED))
        self.assertGreater(self.metric("rerank_reads_total"), 0)
        result = farvec("search", "--connect", self.address, "--queries", self.queries, "--k",
                        2 * K + 1, "--list", LIST)
        self.must_pass(result)  # each request has twice its own k ranked again

    def test_as_it_is_by_default(self):
        self.build_slotted("--payload", "vector")
        self.serve()
        found, _ = self.remote()
        truth = ((self.query_rows[:, None, :] - self.data[None, :, :]) ** 2).sum(axis=2)
        nearest = np.argsort(truth, axis=1)[:, :K]
        hits = sum(len(set(a) & set(b)) for a, b in zip(found.tolist(), nearest.tolist()))
        self.assertGreater(hits / nearest.size, 0.8)

    def must_not_serve(self, *options, words, index="index"):
        result = subprocess.run(
            [str(BIN / "farvec-compute-node"), *map(str, self.command(*options, index=index))],
            text=True, capture_output=True, timeout=TIMEOUT_S, check=False)
        self.must_refuse(result, *words)

    def test_refuses_what_does_not_fit(self):
        self.build_slotted()
        self.must_pass(self.build(self.base, out="csr"))
        self.must_not_serve("--tier", "ssd", "--memory-budget", "10KB",
                            words=("10000 bytes is too small", "--memory-budget", "--slots"))
        self.must_not_serve(words=("layout slotted is searched with --tier ssd",))
        self.must_not_serve("--tier", "emulated:ssd",
                            words=("layout slotted is searched with --tier ssd",))
        for budget in ("101%", "0%", "lots", "-1"):
            self.must_not_serve("--tier", "ssd", "--memory-budget", budget,
                                words=("--memory-budget",))
        self.must_not_serve("--memory-budget", "20%", index="csr",
                            words=("--memory-budget", "--tier is dram"))
        self.must_not_serve("--search", "beam", index="csr", words=("--search", "--tier is dram"))
        self.must_not_serve("--tier", "ssd", "--pool", "page", index="csr",
                            words=("--pool", "slotted pages", "csr"))
        self.must_not_serve("--tier", "ssd", "--memory-budget", "1KB", index="csr",
                            words=("1000 bytes is too small",))
        self.must_not_serve("--tier", "ssd", "--cache-bytes", "1MB",
                            words=("--cache-bytes", "--memory-budget"))
        self.must_not_serve("--tier", "ssd", "--search", "worst-first", words=("worst-first",))
        self.must_not_serve("--tier", "ssd", "--rerank", 20, words=("--rerank 20", "hold the vectors"))
        self.must_not_serve("--tier", "ssd", "--rerank", 2000, words=("--rerank 2000", "--max-list"))

    def test_a_memory_node_says_what_to_do_instead(self):
        self.build_slotted()
        result = subprocess.run(
            [str(BIN / "farvec-memory-node"), "--index", str(self.folder / "index"), "--listen",
             f"unix:{self.folder}/m"], text=True, capture_output=True, timeout=TIMEOUT_S,
            check=False)
        self.must_refuse(result, "farvec-compute-node --index DIR --tier ssd")


if __name__ == "__main__":
    unittest.main()
