"""A memory node and a compute node as processes: what they tell Prometheus after a search."""
import re
import subprocess
import time
import unittest
import urllib.request

import numpy as np

from farvec_tool import (BIN, TIMEOUT_S, DaemonTest, farvec, free_port, read_neighbours,
                         write_vectors)

QUERIES, K, LIST = 9, 5, 20


def scrape(port):
    """{"name": value} and {'name{labels}': value} of a node's metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as page:
        text = page.read().decode()
    pairs = re.findall(r"^([a-z_]+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in pairs}


class Daemons(DaemonTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(400))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        self.must_pass(self.build(self.base))

    def start_both(self, *compute_options):
        """(memory node's metrics port, compute node's metrics port, compute node's address)."""
        memory, compute = free_port(), free_port()
        self.start("farvec-memory-node", "--index", self.folder / "index", "--listen",
                   f"unix:{self.folder}/m", "--metrics", f"127.0.0.1:{memory}")
        self.start("farvec-compute-node", "--memory-node", f"unix:{self.folder}/m", "--listen",
                   f"unix:{self.folder}/c", "--metrics", f"127.0.0.1:{compute}", *compute_options)
        return memory, compute, f"unix:{self.folder}/c"

    def search(self, address):
        end = time.monotonic() + TIMEOUT_S
        while True:
            result = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                            "--list", LIST, "--out", self.folder / "found.ibin")
            if result.returncode == 0 or time.monotonic() > end:
                return self.must_pass(result)
            time.sleep(0.05)

    def test_metrics_count_the_searches(self):
        memory_port, compute_port, address = self.start_both()
        self.search(address)
        compute = scrape(compute_port)
        self.assertEqual(compute['farvec_compute_queries_total{status="OK"}'], QUERIES)
        self.assertEqual(compute["farvec_compute_query_latency_seconds_count"], QUERIES)
        self.assertGreaterEqual(compute["farvec_compute_reads_total"], QUERIES * LIST)
        self.assertGreaterEqual(compute["farvec_compute_hops_total"], QUERIES)
        memory = scrape(memory_port)
        self.assertEqual(memory["farvec_memory_node_serving"], 1)
        self.assertEqual(memory["farvec_memory_node_leases"], 1)
        self.assertEqual(memory["farvec_memory_node_regions"], 3)

    def test_what_the_node_does_not_allow_is_refused_by_the_option(self):
        _, port, address = self.start_both("--max-k", 50, "--max-list", 80)
        self.search(address)

        def ask(*options):
            return farvec("search", "--connect", address, "--queries", self.queries, *options)
        self.must_refuse(ask("--k", 0), "--k: 0", "1 to 50")
        self.must_refuse(ask("--k", 51), "--k: 51", "the node allows")
        self.must_refuse(ask("--list", 0), "--list: 0")
        self.must_refuse(ask("--list", 81), "--list: 81", "1 to 80")
        self.must_refuse(ask("--width", 0), "--width: 0")
        asked = scrape(port)['farvec_compute_queries_total{status="INVALID_ARGUMENT"}']
        self.assertEqual(asked, 0, "a query was sent")

    def test_retries_wait_for_a_node_without_an_index(self):
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--memory-node", f"unix:{self.folder}/m", "--listen",
                   address)
        self.await_status(address, code=3)
        ask = ("search", "--connect", address, "--queries", self.queries, "--k", K)
        self.must_refuse(farvec(*ask), "UNAVAILABLE", "waiting for")
        self.must_refuse(farvec(*ask, "--retries", 2), "UNAVAILABLE", "waiting for")
        with subprocess.Popen([str(BIN / "farvec"), *map(str, ask), "--retries", "300",
                               "--deadline-ms", "20000"], stdout=subprocess.PIPE) as patient:
            self.start("farvec-memory-node", "--index", self.folder / "index", "--listen",
                       f"unix:{self.folder}/m")
            out, _ = patient.communicate(timeout=TIMEOUT_S)
        self.assertEqual(patient.returncode, 0)
        self.assertIn(f"{QUERIES} queries", out.decode())

    def test_what_needs_a_node_is_refused_without_one(self):
        def local(*options):
            return farvec("search", "--index", self.folder / "index", "--queries", self.queries,
                          *options)
        self.must_refuse(local("--retries", 3), "--retries", "--connect")
        self.must_refuse(local("--deadline-ms", 50), "--deadline-ms", "--connect")
        self.must_refuse(farvec("search", "--connect", "127.0.0.1:1", "--queries", self.queries,
                                "--deadline-ms", 0), "--deadline-ms")

    def test_same_answers_through_every_path(self):
        _, _, address = self.start_both("--tier", "emulated:rdma")
        self.search(address)
        remote = read_neighbours(self.folder / "found.ibin")
        out = self.folder / "local.ibin"
        self.must_pass(farvec("search", "--index", self.folder / "index", "--queries", self.queries,
                              "--k", K, "--list", LIST, "--out", out))
        local = read_neighbours(out)
        np.testing.assert_array_equal(remote[0], local[0])
        np.testing.assert_array_equal(remote[1], local[1])


if __name__ == "__main__":
    unittest.main()
