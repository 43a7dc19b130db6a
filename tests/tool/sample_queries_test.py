"""`build graph --sample-queries`: edges for queries that are not like the vectors; and the degree of
graphs of which nobody says it."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, write_vectors

ROWS, DIMENSION, AXES, QUERIES = 3000, 24, 4, 200


class SampleQueries(ToolTest):
    def setUp(self):
        super().setUp()
        rows = self.rows(ROWS, DIMENSION, np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        axes = self.rows(AXES, DIMENSION, np.float32)
        queries = 0.02 * self.rows(1000 + QUERIES, AXES, np.float32) @ axes
        self.base = write_vectors(self.folder / "base", rows)
        self.sample = write_vectors(self.folder / "sample", queries[:1000])
        self.queries = write_vectors(self.folder / "queries", queries[1000:])

    def built(self, *options, out, metric="l2"):
        report = self.must_pass(self.build(self.base, "--code-bits", 8, "--json", *options,
                                           out=out, metric=metric))
        return json.loads(report.stdout)

    def recall(self, index, metric, tier="dram"):
        truth = self.folder / f"{metric}.ibin"
        if not truth.exists():
            self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                                  self.queries, "--metric", metric, "--k", 10, "--out", truth))
        report = self.must_pass(farvec("search", "--index", self.folder / index, "--queries",
                                       self.queries, "--k", 10, "--list", 10, "--json", "--tier",
                                       tier, "--groundtruth", truth))
        return json.loads(report.stdout)["recall"]

    def test_what_is_nearest_is_found_by_shorter_lists(self):
        for metric in ("l2", "ip", "cosine"):
            plain = self.built(out=f"plain-{metric}", metric=metric)
            sampled = self.built("--sample-queries", self.sample, out=f"sampled-{metric}",
                                 metric=metric)
            self.assertEqual(plain["edges_added_for_queries"], 0)
            self.assertGreater(sampled["edges_added_for_queries"], 0)
            self.assertLessEqual(sampled["average_degree"], 8)
            self.assertGreater(self.recall(f"sampled-{metric}", metric),
                               self.recall(f"plain-{metric}", metric) + 0.1)

    def test_every_layout_has_the_edges(self):
        for layout in ("packed", "inline", "padded", "slotted"):
            bits = () if layout == "slotted" else ("--code-bits", 4)
            tier = "ssd" if layout == "slotted" else "dram"
            for name, sample in (("plain", ()), ("sampled", ("--sample-queries", self.sample))):
                self.must_pass(self.build(self.base, "--layout", layout, *bits, *sample,
                                          out=f"{name}-{layout}"))
            self.assertGreater(self.recall(f"sampled-{layout}", "l2", tier),
                               self.recall(f"plain-{layout}", "l2", tier) + 0.05, layout)

    def test_the_same_bytes_for_any_number_of_threads(self):
        for threads in (1, 3):
            self.built("--sample-queries", self.sample, "--threads", threads, out=f"of{threads}")
        for name in ("records.csr", "offsets.bin", "codes.bin"):
            self.assertEqual((self.folder / "of1" / name).read_bytes(),
                             (self.folder / "of3" / name).read_bytes(), name)

    def test_it_is_said_how_many(self):
        text = self.must_pass(self.build(self.base, "--sample-queries", self.sample)).stdout
        self.assertIn("edges added for queries like those of", text)
        self.assertIn(str(self.sample), text)

    def test_samples_that_cannot_be(self):
        def sample(name, rows):
            return write_vectors(self.folder / name, rows)
        holed = self.rows(5, DIMENSION, np.float32)
        holed[3, 2] = np.nan
        cases = ((self.folder / "nowhere.fbin", "nowhere.fbin"),
                 (sample("short", self.rows(5, DIMENSION - 1, np.float32)), "dimension 23"),
                 (sample("bytes", self.rows(5, DIMENSION)), "u8"),
                 (sample("none", self.rows(0, DIMENSION, np.float32)), "no rows"),
                 (sample("holed", holed), "3"))
        for path, word in cases:
            for layout in ("csr", "slotted"):
                self.must_refuse_build(self.base, word, options=(
                    "--sample-queries", path, "--layout", layout))


class UsualDegree(ToolTest):
    def degree(self, metric, *options):
        base = write_vectors(self.folder / "base", self.rows(60, 8, np.float32))
        self.must_pass(farvec("build", "graph", "--data", base, "--metric", metric, "--quiet",
                              "--overwrite", "--out", self.folder / "index", *options))
        manifest = json.loads((self.folder / "index" / "manifest.json").read_text())
        return manifest["build"]["degree"]

    def of_segments(self, metric, *options):
        name = self.folder / f"collection-{metric}-{len(options)}"
        self.must_pass(farvec("collection", "create", "--collection", name, "--metric", metric,
                              "--type", "f32", "--dimension", 8, *options))
        facts = self.must_pass(farvec("collection", "inspect", "--collection", name, "--json"))
        return json.loads(facts.stdout)["degree"]

    def test_of_inner_product_more(self):
        for of in (self.degree, self.of_segments):
            self.assertEqual([of(metric) for metric in ("l2", "cosine", "ip")], [32, 32, 48])
            self.assertEqual(of("ip", "--degree", 20), 20)
        self.assertEqual(self.degree("ip", "--layout", "slotted"), 48)


if __name__ == "__main__":
    unittest.main()
