"""Every graph that `farvec build hnsw` makes takes as many rows again with the defaults."""
import json
import unittest

import numpy as np

from farvec_tool import farvec, write_vectors
from hnsw_tool import HnswTest, nearest, write_neighbours

PAGE = 8192
WIDE = ("--page-bytes", "32KiB")
LOCAL = ("--partition-nodes", 16, "--insert-share", "50%")
# Rows that are built, dimension, options of the build, options of the insert.
SHAPES = (
    (1, 13, (), ()),
    (2, 13, (), ()),
    (10, 13, (), ()),
    (100, 13, (), ()),
    (1000, 13, (), ()),
    (1000, 13, LOCAL, ()),
    (200, 1024, (), ()),
    (200, 13, ("--m", 64), ()),
    (150, 1024, ("--m", 64, *WIDE), ()),
    (400, 13, (), ("--slots", 16, "--threads", 8)),
    (400, 13, LOCAL, ("--slots", 64, "--threads", 2)),
    (400, 13, (), ("--slots", 64, "--threads", 4, "--buffer", "1949696")),  # room for one insert
    (400, 13, (), ("--slots", 64, "--buffer", "10%")),
)


class Defaults(HnswTest):
    def build(self, rows, count, options):
        first = write_vectors(self.folder / "first", rows[:count])
        result = farvec("build", "hnsw", "--data", first, "--metric", "l2", "--out", self.graph,
                        "--overwrite", "--quiet", *options)
        self.must_pass(result)

    def insert(self, rows, count, options):
        more = write_vectors(self.folder / "more", rows)
        result = farvec("insert", "--index", self.graph, "--data", more, "--range",
                        f"{count}:{len(rows)}", "--quiet", "--durability", "none", *options)
        self.must_pass(result)

    def recall_near(self, rows, chosen):
        """Of queries that are near the chosen rows."""
        noise = 0.1 * self.random.standard_normal((len(chosen), rows.shape[1]))
        asked = (rows[chosen] + noise).astype(np.float32)
        queries = write_vectors(self.folder / "near", asked)
        k = min(10, len(rows))
        truth = write_neighbours(self.folder / "near.ibin", *nearest(rows, asked, k=k))
        out = self.folder / "near.jsonl"
        self.must_pass(farvec("sweep", "--index", self.graph, "--queries", queries,
                              "--groundtruth", truth, "--k", k, "--list", 100, "--search",
                              "pipelined", "--buffer", "50%", "--passes", 1, "--json", out,
                              "--overwrite"))
        (row,) = (json.loads(line) for line in out.read_text().splitlines())
        return row["recall"]

    def test_of_every_shape_takes_as_many_rows_again(self):
        for count, dimension, build_options, insert_options in SHAPES:
            with self.subTest(count=count, dimension=dimension, build=build_options,
                              insert=insert_options):
                rows = self.random.standard_normal((2 * count, dimension)).astype(np.float32)
                self.build(rows, count, build_options)
                self.insert(rows, count, insert_options)
                self.assertEqual(self.verified()["count"], 2 * count)
                some = np.arange(0, count, max(1, count // 20))
                built, inserted = (self.recall_near(rows, chosen) for chosen in (some, count + some))
                self.assertGreaterEqual(built, 0.9)
                self.assertGreaterEqual(inserted, built - 0.03)

    def test_a_buffer_that_is_too_small_for_one_insert_is_refused(self):
        rows = self.rows(300, 13, np.float32)
        self.build(rows, 200, ())
        least = (222 + 16) * PAGE
        for command, options in (("insert", ("--data", write_vectors(self.folder / "more", rows))),
                                 ("delete", ("--range", "0:1")), ("vacuum", ())):
            result = farvec(command, "--index", self.graph, "--buffer", least - 1, *options)
            self.must_refuse(result, "--buffer", "222 at once", str(least), "238 pages")
        self.insert(rows, 200, ("--buffer", least, "--slots", 8))
        self.assertEqual(self.verified()["count"], 300)

    def test_of_a_build_that_inserts_on_pages(self):
        rows = self.rows(300, 13, np.float32)
        data = write_vectors(self.folder / "all", rows)
        build = ("build", "hnsw", "--data", data, "--metric", "l2", "--out", self.graph, "--quiet",
                 "--overwrite")
        self.must_pass(farvec(*build, "--memory-rows", 1, "--slots", 64, "--threads", 2))
        self.assertEqual(self.verified()["count"], 300)
        self.must_refuse(farvec(*build, "--memory-rows", 299, "--buffer", "1MiB"), "--buffer",
                         "238 pages")
        # What is built in memory needs no room for inserts.
        self.must_pass(farvec(*build, "--buffer", "1MiB"))
        self.assertEqual(self.verified()["count"], 300)


if __name__ == "__main__":
    unittest.main()
