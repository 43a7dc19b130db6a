"""Attributes of indexes that stand by themselves, and searches of these that meet a condition."""
import json
import unittest

import numpy as np

from farvec_tool import DaemonTest, farvec, write_vectors
from hnsw_tool import nearest, write_neighbours

ROWS, DIMENSION, QUERIES, K = 600, 12, 15, 5
SCHEMA = "price: i64, section: string not null"
CONDITION = "section = 'libs' and price < 300"


class IndexFilterTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        self.attributes = self.folder / "base.jsonl"
        self.attributes.write_text("".join(
            json.dumps({"price": row, "section": "libs" if row % 3 == 0 else "doc"}) + "\n"
            for row in range(ROWS)))
        self.meet = np.array([row for row in range(ROWS) if row % 3 == 0 and row < 300])
        places, distances = nearest(self.data[self.meet], self.asked, k=K)
        self.truth = write_neighbours(self.folder / "truth.ibin", self.meet[places], distances)

    def made(self, kind, *options, out="index"):
        size = ["--degree", 12, "--list", 24] if kind == "graph" else ["--clusters", 20]
        return farvec("build", kind, "--data", self.base, "--metric", "l2", *size, "--quiet",
                      "--out", self.folder / out, *options)

    def with_attributes(self, kind, *options, out="index"):
        self.must_pass(self.made(kind, "--schema", SCHEMA, "--attributes", self.attributes,
                                 *options, out=out))

    def searched(self, *options, out="index"):
        found = self.must_pass(farvec(
            "search", "--index", self.folder / out, "--queries", self.queries, "--k", K,
            "--groundtruth", self.truth, "--filter", CONDITION, "--quiet", "--json", *options))
        report = json.loads(found.stdout)
        self.assertEqual(report["filter"], CONDITION)
        return report["recall"]

    def test_a_build_takes_attributes(self):
        self.with_attributes("graph")
        self.with_attributes("cluster", "--layout", "coded", out="clusters")
        self.with_attributes("graph", "--layout", "slotted", out="pages")
        for tier in "dram", "emulated:rdma":
            self.assertEqual(self.searched("--list", 300, "--tier", tier), 1)
            self.assertEqual(self.searched("--probe", 20, "--list", 600, "--tier", tier,
                                           out="clusters"), 1)
            self.assertEqual(self.searched("--exact", "--tier", tier), 1)
        self.assertEqual(self.searched("--list", 300, "--tier", "ssd", out="pages"), 1)
        facts = json.loads(self.must_pass(
            farvec("inspect", self.folder / "index", "--json", "--verify", "--quiet")).stdout)
        self.assertEqual([column["name"] for column in facts["schema"]], ["price", "section"])
        self.assertIn(SCHEMA, self.must_pass(farvec("inspect", self.folder / "pages")).stdout)

    def test_rows_within_a_distance(self):
        self.with_attributes("graph")
        _, near = nearest(self.data[self.meet], self.asked, k=60)
        all_near = np.sort(near.ravel())
        bound = float(all_near[300:302].mean())  # between two distances: rounding decides nothing
        wanted = float((near <= bound).sum(axis=1).mean())
        for options in ["--exact"], ["--list", 4000]:
            told = self.must_pass(farvec(
                "search", "--index", self.folder / "index", "--queries", self.queries, "--within",
                bound, "--filter", CONDITION, "--quiet", "--json", *options))
            report = json.loads(told.stdout)
            self.assertAlmostEqual(report["found_per_query"], wanted)
            self.assertEqual(report["k"], ROWS)
        told = self.must_pass(farvec("search", "--index", self.folder / "index", "--queries",
                                     self.queries, "--within", bound, "--quiet", "--k", 3))
        self.assertIn(f"{3:.1f} rows a query within", told.stdout)
        search = ["search", "--index", self.folder / "index", "--queries", self.queries]
        self.must_refuse(farvec(*search, "--within", bound, "--groundtruth", self.truth),
                         "--groundtruth", "--within")
        self.assertEqual(farvec(*search, "--within", "nan").returncode, 2)
        self.assertEqual(farvec(*search, "--within", "near").returncode, 2)

    def test_an_index_that_is_there_gets_attributes(self):
        self.must_pass(self.made("cluster"))
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries",
                                self.queries, "--filter", CONDITION),
                         "--filter", "have no attributes")
        give = ["attributes", "--index", self.folder / "index", "--schema", SCHEMA]
        told = self.must_pass(farvec(*give, "--attributes", self.attributes, "--json"))
        self.assertEqual(json.loads(told.stdout)["rows"], ROWS)
        self.assertEqual(self.searched("--probe", 20), 1)
        few = self.folder / "few.jsonl"
        few.write_text('{"section": "libs"}\n')
        self.must_refuse(farvec(*give, "--attributes", few), "few.jsonl", "1 rows for 600 vectors")
        self.assertEqual(self.searched("--probe", 20), 1)
        self.must_pass(self.made("cluster", "--overwrite"))
        self.assertFalse((self.folder / "index" / "attributes.bin").exists())

    def test_columns_come_as_npy(self):
        price = self.folder / "price.npy"
        np.save(price, np.arange(ROWS, dtype=np.int16))
        day = self.folder / "day.npy"
        np.save(day, np.datetime64("2024-01-01") + np.arange(ROWS))
        self.must_pass(self.made("graph", "--schema", "price: i64, day: timestamp, other: string",
                                 "--attributes", f"price={price},day={day}"))
        meet = np.arange(31, 40)
        places, distances = nearest(self.data[meet], self.asked, k=K)
        truth = write_neighbours(self.folder / "few.ibin", meet[places], distances)
        found = json.loads(self.must_pass(farvec(
            "search", "--index", self.folder / "index", "--queries", self.queries, "--k", K,
            "--filter", "price < 40 and day >= '2024-02-01' and other is null", "--quiet", "--json",
            "--exact", "--groundtruth", truth)).stdout)
        self.assertEqual(found["recall"], 1)
        np.save(price, np.arange(ROWS) + 0.5)
        give = ["attributes", "--index", self.folder / "index", "--schema", "price: i64"]
        self.must_refuse(farvec(*give, "--attributes", f"price={price}"), "price.npy", "row 0",
                         "0.5")
        np.save(price, np.arange(ROWS - 1))
        self.must_refuse(farvec(*give, "--attributes", f"price={price}"), "599 rows for 600")
        np.save(price, np.zeros(ROWS, dtype=[("a", "<i4"), ("b", "<i4")]))
        self.must_refuse(farvec(*give, "--attributes", f"price={price}"), "price.npy", "numpy type")
        self.must_refuse(farvec(*give, "--attributes", price), "price.npy", "name it")

    def test_what_is_written_again_keeps_them(self):
        self.with_attributes("graph")
        self.must_pass(farvec("convert", "--index", self.folder / "index", "--layout", "packed",
                              "--out", self.folder / "packed", "--quiet"))
        self.assertEqual(self.searched("--list", 300, out="packed"), 1)
        self.with_attributes("cluster", out="clusters")
        counts = self.folder / "counts.json"
        self.must_pass(farvec("search", "--index", self.folder / "clusters", "--queries",
                              self.queries, "--probe", 4, "--probe-counts", counts, "--quiet"))
        self.must_pass(farvec("regroup", "--index", self.folder / "clusters", "--frequencies",
                              counts, "--out", self.folder / "again", "--quiet"))
        self.assertEqual(self.searched("--probe", 20, out="again"), 1)

    def test_a_sweep_has_a_filter(self):
        self.with_attributes("graph")
        out = self.folder / "sweep.jsonl"
        sweep = ["sweep", "--index", self.folder / "index", "--queries", self.queries,
                 "--groundtruth", self.truth, "--k", K, "--list", "20,300", "--tier",
                 "dram,emulated:rdma", "--passes", 1, "--pass-ms", 1, "--json", out]
        self.must_pass(farvec(*sweep, "--filter", CONDITION))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual((row["filter"], row["matches"]), (CONDITION, len(self.meet)))
            self.assertEqual((row["walks_per_query"], row["scans_per_query"]), (0, 1))
        self.assertEqual({row["recall"] for row in rows if row["list"] == 300}, {1})
        # Rows of another filter are others.
        self.must_pass(farvec(*sweep, "--filter", "true", "--resume"))
        self.assertEqual(len(out.read_text().splitlines()), 8)

    def test_a_node_serves_them(self):
        self.with_attributes("graph")
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen", address)
        self.assertEqual(self.await_status(address)["index"]["schema"], SCHEMA)
        report = json.loads(self.must_pass(farvec(
            "search", "--connect", address, "--queries", self.queries, "--k", K, "--list", 300,
            "--groundtruth", self.truth, "--filter", CONDITION, "--json")).stdout)
        self.assertEqual(report["recall"], 1)
        self.must_refuse(farvec("search", "--connect", address, "--queries", self.queries,
                                "--filter", "prise = 1"), "filter", "no column 'prise'")

    def test_what_is_wrong_is_said(self):
        self.must_refuse(self.made("graph", "--schema", SCHEMA), "--attributes")
        self.must_refuse(self.made("graph", "--attributes", self.attributes), "--schema")
        self.must_refuse(self.made("graph", "--schema", "price: what", "--attributes",
                                   self.attributes), "--schema", "what")
        self.must_refuse(self.made("graph", "--schema", "price: i64", "--attributes",
                                   self.attributes), "base.jsonl", "section")
        self.assertFalse((self.folder / "index").exists())
        self.must_refuse(farvec("build", "hnsw", "--data", self.base, "--metric", "l2", "--out",
                                self.folder / "index", "--schema", SCHEMA), "--schema")
        self.with_attributes("graph")
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries",
                                self.queries, "--filter", "price = "), "--filter", "column 9")
        schema = self.folder / "index" / "schema.bin"
        schema.write_bytes(schema.read_bytes()[:-1])
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries",
                                self.queries), "schema.bin", "damaged")
        self.must_refuse(farvec("inspect", self.folder / "index"), "schema.bin")


if __name__ == "__main__":
    unittest.main()
