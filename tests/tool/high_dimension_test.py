"""Vectors of 7,168 and of 16,384 dimensions in everything that holds vectors, beside brute force."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, read_neighbours, write_vectors
from hnsw_tool import write_neighbours

DIMENSIONS, MOST = (7168, 16384), 16384
ROWS, QUERIES, K = 130, 6, 5
LIST = ("--list", ROWS)  # whatever codes say: every row is met
CLUSTER_LAYOUTS = ("coupled", "decoupled", "grouped", "grouped-inline", "coded")


class HighDimension(ToolTest):
    def make(self, dimension, dtype=np.float32, rows=ROWS):
        """Rows around a few centres, and queries that are rows with a little noise."""
        scale = 1.0 if np.dtype(dtype) == np.float32 else 20.0
        centres = self.random.normal(size=(12, dimension)) * scale
        base = centres[self.random.integers(0, 12, rows)]
        base = base + self.random.normal(size=(rows, dimension)) * scale / 2
        asked = base[:QUERIES] + self.random.normal(size=(QUERIES, dimension)) * scale / 8
        if np.dtype(dtype) != np.float32:
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            middle = (low + high) / 2
            base, asked = (np.clip(np.rint(part + middle), low, high) for part in (base, asked))
        self.base, self.asked = base.astype(dtype), asked.astype(dtype)
        self.data = write_vectors(self.folder / "base", self.base)
        self.queries = write_vectors(self.folder / "queries", self.asked)

    def nearest(self, metric="l2", rows=None):
        rows = (self.base if rows is None else rows).astype(np.float64)
        asked = self.asked.astype(np.float64)
        if metric == "cosine":
            rows, asked = (part / np.linalg.norm(part, axis=1, keepdims=True)
                           for part in (rows, asked))
        products = asked @ rows.T
        distances = -products
        if metric == "l2":
            distances = (rows**2).sum(1) - 2 * products + (asked**2).sum(1)[:, None]
        return np.argsort(distances, axis=1, kind="stable")[:, :K]

    def found(self, *where):
        out = self.folder / "found.ibin"
        self.must_pass(farvec("search", "--queries", self.queries, "--k", K, "--out", out,
                              *where))
        return read_neighbours(out)[0]

    def assert_nearest(self, *where, metric="l2"):
        np.testing.assert_array_equal(self.found(*where), self.nearest(metric))

    def test_graphs(self):
        for dimension in DIMENSIONS:
            self.make(dimension)
            for layout in ("csr", "packed", "padded", "inline"):
                index = self.folder / layout
                self.must_pass(self.build(self.data, "--layout", layout, "--overwrite", out=layout))
                self.assert_nearest("--index", index, *LIST)
                self.must_pass(farvec("inspect", index, "--verify"))

    def test_codes_of_all_bits(self):
        self.make(MOST)
        for bits in (1, 2, 4, 5, 8):
            self.must_pass(self.build(self.data, "--code-bits", bits, "--overwrite"))
            self.assert_nearest("--index", self.folder / "index", *LIST)

    def test_other_types_and_metrics(self):
        for dtype in (np.float32, np.uint8, np.int8):
            self.make(MOST, dtype)
            for metric in ("l2", "ip"):
                self.must_pass(self.build(self.data, "--overwrite", metric=metric))
                self.assert_nearest("--index", self.folder / "index", *LIST, metric=metric)
        self.make(MOST)
        self.must_pass(self.build(self.data, "--overwrite", metric="cosine"))
        self.assert_nearest("--index", self.folder / "index", *LIST, metric="cosine")

    def test_halves(self):
        self.make(MOST)
        halves = self.folder / "halves.f16bin"
        self.must_pass(farvec("dataset", "convert", self.data, halves, "--type", "f16", "--quiet"))
        self.must_pass(self.build(halves))
        self.queries = self.folder / "asked.f16bin"
        self.must_pass(farvec("dataset", "convert", self.folder / "queries.fbin", self.queries, "--type",
                              "f16", "--quiet"))
        self.base, self.asked = (part.astype(np.float16) for part in (self.base, self.asked))
        self.assert_nearest("--index", self.folder / "index", *LIST)

    def test_clusters(self):
        for dimension in DIMENSIONS:
            self.make(dimension)
            self.must_pass(farvec("build", "cluster", "--data", self.data, "--metric", "l2", "--quiet",
                                  "--clusters", 6, "--layout", "all", "--overwrite", "--out",
                                  self.folder / "clusters"))
            for layout in CLUSTER_LAYOUTS:
                more = LIST if layout == "coded" else ()
                self.assert_nearest("--index", self.folder / "clusters" / layout, "--probe", 6, *more)

    def test_inner_products_of_clusters_take_one_dimension_less(self):
        self.make(MOST, rows=40)
        result = farvec("build", "cluster", "--data", self.data, "--metric", "ip", "--quiet",
                        "--clusters", 3, "--out", self.folder / "clusters")
        self.must_refuse(result, "at most 16383 dimensions, not 16384")

    def test_slotted_pages(self):
        for dimension, page in zip(DIMENSIONS, (4096, 16384)):
            self.make(dimension)
            if page > 4096:
                self.must_refuse_build(self.data, f"use --page-bytes {page}", options=("--layout", "slotted"))
            self.must_pass(self.build(self.data, "--layout", "slotted", "--page-bytes", page,
                                      "--overwrite", out="slotted"))
            self.assert_nearest("--index", self.folder / "slotted", "--tier", "ssd", *LIST, "--rerank",
                                ROWS)

    def test_vectors_that_no_page_holds_are_refused(self):
        self.make(MOST, rows=40)
        self.must_refuse_build(self.data, "fit", options=("--layout", "slotted", "--payload", "vector"))
        self.must_refuse(farvec("build", "hnsw", "--data", self.data, "--metric", "l2", "--quiet",
                                "--out", self.folder / "hnsw"), "16384 dimensions of f32", "fit on no page")

    def test_collections(self):
        for dimension in DIMENSIONS:
            self.make(dimension)
            self.check_collection(self.folder / f"set{dimension}")

    def check_collection(self, folder):
        def collection(command, *options):
            return self.must_pass(farvec("collection", command, "--collection", folder, *options))
        collection("create", "--metric", "l2", "--like", self.data, "--memtable-rows", 64,
                   "--merge-fanout", 2, "--degree", 12, "--list", 24)
        collection("insert", "--data", self.data, "--quiet")
        collection("delete", "--range", "30:60", "--quiet")
        kept = np.r_[0:30, 60:ROWS]
        places = self.nearest(rows=self.base[kept])
        truth = write_neighbours(self.folder / "truth.ibin", kept[places], np.zeros(places.shape))
        lines = self.folder / "search.jsonl"
        collection("search", "--queries", self.queries, "--groundtruth", truth, "--k", K, *LIST, "--json",
                   lines)
        self.assertEqual(json.loads(lines.read_text())["recall"], 1)
        report = json.loads(collection("verify", "--json").stdout)
        self.assertTrue(report["sound"])
        self.assertEqual(report["vectors"], len(kept))

    def test_one_dimension_more_is_refused(self):
        data = write_vectors(self.folder / "wide", np.ones((3, MOST + 1), np.float32))
        self.must_refuse_build(data, "16385", "16384")


if __name__ == "__main__":
    unittest.main()
