"""Attributes and filters of a collection that a compute node serves, and one that follows it."""
import json
import time
import unittest

import numpy as np

from collection_service_test import DIMENSION, K, QUERIES, ROWS, ServiceTest
from farvec_tool import TIMEOUT_S, farvec
from hnsw_tool import nearest, write_neighbours

SCHEMA = "price: i64, section: string not null"


class ServedFilterTest(ServiceTest):
    SHAPE = [*ServiceTest.SHAPE, "--schema", SCHEMA]

    def setUp(self):
        super().setUp()
        self.prices = np.arange(ROWS) * 7 % 100
        self.jsonl = self.folder / "base.jsonl"
        self.jsonl.write_text("".join(
            json.dumps({"price": int(price), "section": "even" if price % 2 == 0 else "odd"}) + "\n"
            for price in self.prices))

    def assert_found(self, address, condition, meets):
        ids = np.flatnonzero(meets)
        places, distances = nearest(self.data[ids], self.asked, k=K)
        truth = write_neighbours(self.folder / "truth.ibin", ids[places], distances)
        result = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                        *self.SEARCH, "--groundtruth", truth, "--filter", condition, "--json")
        report = json.loads(self.must_pass(result).stdout)
        self.assertEqual(report["recall"], 1)
        self.assertEqual(report["filter"], condition)

    def test_rows_bring_attributes_and_searches_name_them(self):
        follower = f"unix:{self.folder}/f"
        report = self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet",
                             "--json")
        self.assertEqual(report["inserted"], ROWS)
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen", follower)
        self.await_status(follower)
        for address in self.address, follower:
            facts = self.await_status(address)
            self.assertEqual(facts["index"]["schema"], SCHEMA)
            self.assert_found(address, "price < 20", self.prices < 20)
            self.assert_found(address, "section = 'odd' and price between 50 and 60",
                              (self.prices % 2 == 1) & (50 <= self.prices) & (self.prices <= 60))

    def test_rows_are_counted_listed_and_deleted(self):
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")
        count = farvec("collection", "count", "--connect", self.address, "--filter", "price = 7")
        self.assertEqual(int(self.must_pass(count).stdout), int((self.prices == 7).sum()))
        listed = farvec("collection", "list", "--connect", self.address, "--filter", "price = 7",
                        "--json")
        lines = [json.loads(line) for line in self.must_pass(listed).stdout.splitlines()]
        self.assertEqual(lines, [{"id": int(row), "price": 7, "section": "odd"}
                                 for row in np.flatnonzero(self.prices == 7)])
        report = self.change("delete", "--filter", "section = 'odd'", "--json")
        self.assertEqual(report["deleted"], int((self.prices % 2 == 1).sum()))

    def await_column(self, address, name):
        end = time.monotonic() + TIMEOUT_S
        while name not in self.await_status(address)["index"]["schema"]:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_columns_come_while_rows_are_searched(self):
        follower = f"unix:{self.folder}/f"
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen", follower)
        self.await_status(follower)
        report = self.change("add-columns", "--columns", "rating: f64", "--json")
        self.assertEqual([column["name"] for column in report["schema"]],
                         ["price", "section", "rating"])
        self.must_refuse(farvec("collection", "add-columns", "--connect", self.address, "--columns",
                                "rating: f64"), "columns", "'rating'")
        self.must_refuse(farvec("collection", "add-columns", "--connect", self.address, "--columns",
                                "a: what"), "columns")
        rated = self.folder / "rated.jsonl"
        rated.write_text("".join(
            json.dumps({"section": "rated", "rating": row / 10}) + "\n" for row in range(ROWS)))
        self.change("insert", "--data", self.base, "--range", ":100", "--attributes", rated,
                    "--quiet", "--json")
        meets = np.arange(ROWS) < 50
        for address in self.address, follower:
            self.await_column(address, "rating")
            self.assert_found(address, "rating < 5", meets)
        listed = farvec("collection", "list", "--connect", self.address, "--filter",
                        "rating = 0.5 or id = 200", "--json")
        lines = [json.loads(line) for line in self.must_pass(listed).stdout.splitlines()]
        self.assertEqual([line["rating"] for line in lines], [0.5, None])

    def test_a_load_has_a_filter(self):
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")
        out = self.folder / "load.jsonl"
        self.must_pass(farvec("bench", "service", "--connect", self.address, "--queries",
                              self.queries, "--k", K, *self.SEARCH, "--filter", "price = 7",
                              "--clients", 1, "--seconds", 0.2, "--json", out))
        self.assertEqual(json.loads(out.read_text())["filter"], "price = 7")

    def test_an_exact_search_misses_nothing(self):
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")
        for condition, meets in ("price < 90", self.prices < 90), ("", self.prices >= 0):
            ids = np.flatnonzero(meets)
            places, distances = nearest(self.data[ids], self.asked, k=K)
            truth = write_neighbours(self.folder / "truth.ibin", ids[places], distances)
            result = farvec("search", "--connect", self.address, "--queries", self.queries, "--k",
                            K, "--list", K, "--groundtruth", truth, "--filter", condition,
                            "--exact", "--json")
            self.assertEqual(json.loads(self.must_pass(result).stdout)["recall"], 1)

    def test_the_recall_in_service_is_told(self):
        address = f"unix:{self.folder}/sampled"
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen", address,
                   "--recall-sample", "1", "--recall-goal", "0.5")
        self.await_status(address)
        self.assertNotIn("recall", self.await_status(address))
        for _ in range(200):
            self.must_pass(farvec("search", "--connect", address, "--queries", self.queries, "--k",
                                  K, *self.SEARCH, "--filter", "price < 50", "--json"))
            told = self.await_status(address).get("recall")
            if told is not None:
                break
        self.assertEqual(told["recall"], 1)
        self.assertEqual({cell["filter"] for cell in told["cells"]}, {"0.1"})
        top = farvec("top", address, "--rounds", 1, "--every", 0.1, "--json")
        self.assertEqual(json.loads(self.must_pass(top).stdout)["recall"], 1)

    def test_what_is_wrong_is_said(self):
        self.must_refuse(farvec("collection", "insert", "--connect", self.address, "--data",
                                self.base, "--quiet"), "section", "null")
        for condition, word in [("prise = 1", "no column 'prise'"), ("price = ", "column 9")]:
            self.must_refuse(farvec("search", "--connect", self.address, "--queries", self.queries,
                                    "--filter", condition), "filter", word)
        graph = self.folder / "graph"
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--out",
                              graph, "--degree", 8, "--list", 16, "--quiet"))
        self.must_refuse(farvec("search", "--index", graph, "--queries", self.queries,
                                "--filter", "price = 1"), "--filter")


del ServiceTest

if __name__ == "__main__":
    unittest.main()
