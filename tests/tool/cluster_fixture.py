"""A small set of clustered vectors for tests of cluster indexes."""
import json

import numpy as np

from farvec_tool import ToolTest, farvec, read_neighbours, write_vectors

LAYOUTS = ("coupled", "decoupled", "grouped", "grouped-inline", "coded")
# Whatever a coded index reads at most: its answers are then those of the others.
ALL_VECTORS = ("--list", 1500)
COUNT, QUERIES, DIMENSION, K, PROBE = 1500, 25, 24, 10, 6


class ClusterTest(ToolTest):
    """Vectors around 40 centres, and queries from the same."""

    def setUp(self):
        super().setUp()
        centres = self.rows(40, DIMENSION).astype(np.int32)
        def around(count):
            noise = self.random.integers(-30, 30, (count, DIMENSION))
            picks = self.random.integers(0, len(centres), count)
            return np.clip(centres[picks] + noise, 0, 255).astype(np.uint8)
        self.base = write_vectors(self.folder / "base", around(COUNT))
        self.queries = write_vectors(self.folder / "queries", around(QUERIES))

    def cluster(self, *options, data=None, out="clusters"):
        return farvec("build", "cluster", "--data", data or self.base, "--metric", "l2", "--quiet",
                      "--out", self.folder / out, *options)

    def cluster_all(self, *options):
        self.must_pass(self.cluster("--clusters", 30, "--replicas", 5, "--layout", "all", *options))
        return self.folder / "clusters"

    def all_vectors(self, layout):
        return ALL_VECTORS if layout == "coded" else ()

    def search(self, *options):
        out = self.folder / "found.ibin"
        report = self.must_pass(farvec("search", "--queries", self.queries, "--k", K, "--json",
                                       "--out", out, *options))
        return json.loads(report.stdout), read_neighbours(out)

    def groundtruth(self):
        truth = self.folder / "truth.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                              self.queries, "--metric", "l2", "--k", K, "--out", truth))
        return truth

    def sweep(self, index, truth, *options):
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", index, "--queries", self.queries,
                              "--groundtruth", truth, "--k", K, "--passes", 1, "--pass-ms", 1,
                              "--slots", 3, "--json", out, "--overwrite", *options))
        return [json.loads(line) for line in out.read_text().splitlines()]
