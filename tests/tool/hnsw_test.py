"""HNSW graphs on pages: built, changed, searched and looked at. The oracle is numpy."""
import unittest

import numpy as np

from farvec_tool import farvec, write_vectors
from hnsw_tool import DIMENSION, QUERIES, HnswTest

RECALL = 0.95
EXACT_COUNTS = ("visited_per_query", "distances_per_query", "pages_per_query", "recall")


class Searches(HnswTest):
    def test_every_way_of_reading_and_every_buffer_finds_and_counts_the_same(self):
        self.made()
        rows = self.swept(self.write_truth(), "--list", "10,60", "--slots", "1,4", "--buffer",
                          "10%,100%,4MiB", "--min-complete", 2)
        self.assertEqual(len(rows), 3 * 2 * 2 * 3)
        self.assertEqual({row["search"] for row in rows}, {"sync", "parallel", "pipelined"})
        for wanted in (10, 60):
            counts = {tuple(row[name] for name in EXACT_COUNTS)
                      for row in rows if row["list"] == wanted}
            self.assertEqual(len(counts), 1, counts)
        for row in rows:
            self.assertGreaterEqual(row["recall"], RECALL if row["list"] == 60 else 0.5)
            self.assertLessEqual(row["visited_per_query"], len(self.data))
            self.assertEqual(row["queries"], QUERIES)
            self.assertEqual(row["min_complete"], 2)

    def test_recall_is_what_numpy_says(self):
        """Of a truth whose every second neighbour is nobody's, half is found."""
        self.made()
        truth = self.write_truth()
        raw = np.fromfile(truth, dtype="<u4")
        cells = QUERIES * 10
        raw[2:2 + cells:2] += 1_000_000
        raw[2 + cells:].view("<f4")[:] = -1  # no found distance ties with these
        raw.tofile(truth)
        (row,) = self.swept(truth, "--list", 400, "--search", "sync", "--buffer", "100%")
        self.assertEqual(row["recall"], 0.5)

    def test_types_and_metrics(self):
        whole = self.random.integers(-60, 60, (500, DIMENSION))
        asked = self.random.integers(-60, 60, (QUERIES, DIMENSION))
        for dtype, metric in ((np.float32, "ip"), (np.float32, "cosine"), (np.float16, "l2"),
                              (np.uint8, "l2"), (np.uint8, "cosine"), (np.int8, "ip"),
                              (np.int8, "l2"), (np.float16, "cosine")):
            with self.subTest(dtype=dtype.__name__, metric=metric):
                shift = 60 if dtype == np.uint8 else 0
                self.data, self.asked = ((of + shift).astype(dtype) for of in (whole, asked))
                paths = [self.folder / "typed.npy", self.folder / "typed-queries.npy"]
                for path, of in zip(paths, (self.data, self.asked)):
                    np.save(path, of)
                facts = self.made("--overwrite", "--memory-rows", 350, data=paths[0],
                                  metric=metric)
                self.assertEqual((facts["count"], facts["metric"]), (500, metric))
                self.assertGreaterEqual(self.recall(metric=metric, queries=paths[1]), RECALL)
                self.verified()


class Builds(HnswTest):
    def test_orders(self):
        for order in ("none", "first", "centroid", "random", "pca", "kmeans", "pca+kmeans"):
            with self.subTest(order):
                facts = self.made("--overwrite", "--order", order, "--memory-rows", 450)
                self.assertEqual(facts["order"], order)
                self.assertEqual(facts["inserts"]["done"], 150)
                self.assertEqual(self.verified()["count"], 600)
                self.assertGreaterEqual(self.recall(), RECALL)

    def test_partitions_and_pages_of_their_own(self):
        for nodes, share in ((1, "0%"), (8, "30%"), (64, "100%")):
            with self.subTest(nodes=nodes):
                facts = self.made("--overwrite", "--partition-nodes", nodes, "--insert-share",
                                  share, "--memory-rows", 450)
                inserts = facts["inserts"]
                self.assertEqual(inserts["placed_by_partition"] + inserts["placed_by_fallback"],
                                 inserts["done"])
                self.assertEqual(inserts["placed_by_partition"] > 0, share != "0%")
                self.assertEqual(facts["partition_pages"] > 0, share != "0%")
                self.verified()
                self.assertGreaterEqual(self.recall(), RECALL)

    def test_insert_pages_follow_the_inserts(self):
        self.base = write_vectors(self.folder / "first", self.data[:150])
        built = self.made("--partition-nodes", 8, "--insert-pages", "100%")
        self.assertEqual(built["insert_pages"], 0)
        self.base = write_vectors(self.folder / "base", self.data)
        facts = self.changed("insert", "--data", self.base, "--range", "150:600")
        self.assertGreater(facts["given_pages"], 0)
        self.assertGreaterEqual(facts["wished_pages"], facts["given_pages"])
        self.assertEqual(self.verified()["insert_pages"], facts["given_pages"])
        self.assertIn(f"{facts['given_pages']} partitions have one",
                      self.must_pass(farvec("inspect", self.graph)).stdout)
        self.assertGreaterEqual(self.recall(), RECALL)

    def test_insert_pages_stay_as_they_are_on_request(self):
        self.base = write_vectors(self.folder / "first", self.data[:150])
        facts = self.made("--partition-nodes", 8, "--insert-share", "50%", "--insert-pages", "0%")
        self.base = write_vectors(self.folder / "base", self.data)
        work = self.changed("insert", "--data", self.base, "--range", "150:600")
        self.assertEqual((work["wished_pages"], work["given_pages"]), (0, 0))
        self.assertEqual(self.changed("vacuum")["insert_pages_taken"], 0)
        self.assertGreater(facts["insert_pages"], 0)
        self.assertEqual(self.verified()["insert_pages"], facts["insert_pages"])

    def test_page_sizes(self):
        for page_bytes in (4096, 8192, 16384, 32768):
            with self.subTest(page_bytes):
                self.made("--overwrite", "--page-bytes", page_bytes, "--memory-rows", 500)
                self.assertEqual(self.verified()["page_bytes"], page_bytes)
                self.assertGreaterEqual(self.recall(), RECALL)


class Changes(HnswTest):
    def test_inserts_deletes_and_vacuums(self):
        self.base = write_vectors(self.folder / "first", self.data[:400])
        self.made()
        self.base = write_vectors(self.folder / "base", self.data)
        facts = self.changed("insert", "--data", self.base, "--range", "400:600", "--order", "pca")
        # Every page that is new was written when the command ends.
        self.assertGreaterEqual(facts["written_bytes"], 8192 * facts["pages_added"])
        self.assertGreater(facts["order_seconds"], 0)
        self.assertEqual((facts["done"], facts["graph"]["count"]), (200, 600))
        self.assertGreaterEqual(self.recall(), RECALL)

        facts = self.changed("delete", "--range", "100:300")
        self.assertEqual((facts["done"], facts["missing"], facts["graph"]["marked"]), (200, 0, 200))
        live = [*range(100), *range(300, 600)]
        self.assertGreaterEqual(self.recall(live), RECALL)
        self.assertEqual(self.verified()["marked"], 200)

        facts = self.changed("vacuum")
        self.assertEqual((facts["removed"], facts["graph"]["marked"]), (200, 0))
        self.assertGreaterEqual(self.recall(live), RECALL)
        pages = self.verified()["pages"]
        self.assertEqual(self.changed("vacuum")["removed"], 0)

        self.changed("insert", "--data", self.base, "--range", "100:300")
        self.assertLessEqual(self.verified()["pages"], pages + 1)
        self.assertGreaterEqual(self.recall(), RECALL)

    def test_an_empty_graph_takes_inserts_again(self):
        self.made()
        self.changed("delete", "--range", "0:600")
        self.changed("vacuum")
        facts = self.verified()
        self.assertEqual((facts["count"], facts["marked"]), (0, 0))
        self.changed("insert", "--data", self.base, "--first-id", 5000, "--range", "0:50")
        self.assertEqual(self.verified()["count"], 50)
        self.changed("delete", "--range", "5000:5050")

    def test_deleted_ids_are_never_found(self):
        """Recall of the nearest that were deleted is nothing: they are all that the truth has."""
        self.made()
        gone = np.unique(np.fromfile(self.write_truth(), dtype="<u4")[2:2 + QUERIES * 10])
        truth = self.write_truth(gone)
        raw = np.fromfile(truth, dtype="<u4")
        raw[2 + QUERIES * 10:].view("<f4")[:] = -1
        raw.tofile(truth)
        np.concatenate([np.asarray([len(gone), 1], "<u4"), gone.astype("<u4"),
                        np.zeros(len(gone), "<u4")]).astype("<u4").tofile(self.folder / "gone.ibin")
        facts = self.changed("delete", "--ids", self.folder / "gone.ibin")
        self.assertEqual(facts["done"], len(gone))
        for row in self.swept(truth, "--list", "10,400", "--buffer", "100%"):
            self.assertEqual(row["recall"], 0)


if __name__ == "__main__":
    unittest.main()
