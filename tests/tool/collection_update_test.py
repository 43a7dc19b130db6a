"""`farvec collection update`: rows get other attributes and keep their vectors, here and through a
node."""
import json
import unittest

import numpy as np

from collection_service_test import DIMENSION, ROWS, ServiceTest
from farvec_tool import ToolTest, farvec, write_vectors
from hnsw_tool import write_neighbours

SCHEMA = "price: i64, section: string not null, tags: set, at: timestamp, rating: f64, new: bool"


class Updates:
    """What a test of one place is; `update` says how the place is named."""

    def prepare(self):
        self.attributes = [{"price": row, "section": f"s{row % 3}", "tags": [f"t{row % 5}"],
                            "at": "2024-01-01T00:00:00Z", "rating": row / 4, "new": row % 2 == 0}
                           for row in range(ROWS)]
        self.jsonl = self.folder / "base.jsonl"
        self.jsonl.write_text("".join(json.dumps(a) + "\n" for a in self.attributes))

    def run_at(self, command, *options):
        return farvec("collection", command, *self.place, *options)

    def updated(self, *options):
        """The report: how many rows have new values, and how many ids were not there."""
        report = json.loads(self.must_pass(self.run_at("update", *options, "--quiet",
                                                       "--json")).stdout)
        self.assertEqual(report["replaced"], 0)
        self.assertEqual(report["now"]["vectors"], ROWS)
        return report["updated"], report["missing"]

    def assert_rows(self):
        """All rows have the attributes that the test remembers."""
        listed = self.must_pass(self.run_at("list", "--most", ROWS, "--json"))
        lines = [json.loads(line) for line in listed.stdout.splitlines()]
        self.assertEqual([line.pop("id") for line in lines], list(range(ROWS)))
        for row, (line, expected) in enumerate(zip(lines, self.attributes)):
            self.assertEqual(line, expected, row)

    def change(self, rows, **values):
        for row in rows:
            self.attributes[row].update(values)

    def ids_file(self, ids):
        path = self.folder / "ids.ibin"
        with path.open("wb") as out:
            out.write(np.array([len(ids), 1], np.uint32).tobytes())
            out.write(np.array(ids, np.uint32).tobytes())
        return path

    def refused(self, *options, words):
        self.must_refuse(self.run_at("update", *options), *words)

    def test_one_value_for_a_range_and_for_ids(self):
        self.assertEqual(self.updated("--range", "10:20", "--set", "price = 3"), (10, 0))
        self.change(range(10, 20), price=3)
        self.assertEqual(self.updated("--range", f"{ROWS - 5}:{ROWS + 5}", "--set", "price=null",
                                      "--set", "section = 'it''s'"), (5, 5))
        self.change(range(ROWS - 5, ROWS), price=None, section="it's")
        ids = self.ids_file([7, 300, 7, 100_000])
        self.assertEqual(self.updated("--ids", ids, "--set", "tags = ['a', \"b\"]", "--set",
                                      "at = '2024-05-01'", "--set", "rating = -1.5e3", "--set",
                                      "new = null"), (2, 2))
        self.change((7, 300), tags=["a", "b"], at="2024-05-01T00:00:00Z", rating=-1500, new=None)
        self.assert_rows()
        self.must_pass(self.run_at("compact", "--quiet"))
        self.assert_rows()

    def test_a_value_for_each_id(self):
        lines = self.folder / "new.jsonl"
        lines.write_text("".join(json.dumps({"rating": row / 8, "price": None}) + "\n"
                                 for row in range(100, 400)))
        self.assertEqual(self.updated("--range", "100:400", "--attributes", lines), (300, 0))
        for row in range(100, 400):
            self.change([row], rating=row / 8, price=None)
        table = self.folder / "new.csv"
        table.write_text('tags,section\nx|y,one\n"",two\n,three\nz,none\n')
        self.assertEqual(self.updated("--ids", self.ids_file([5, 2, 3, 100_000]), "--attributes",
                                      table), (3, 1))
        self.change([5], tags=["x", "y"], section="one")
        self.change([2], tags=[], section="two")
        self.change([3], tags=None, section="three")
        self.assert_rows()
        one = self.folder / "one.csv"
        one.write_text("price\n77\n")
        self.assertEqual(self.updated("--range", "9:10", "--attributes", one), (1, 0))
        self.change([9], price=77)
        self.assert_rows()
        self.refused("--range", "0:3", "--attributes", one, words=["the values of 1 vectors for 3"])

    def test_rows_that_meet_a_condition(self):
        self.assertEqual(self.updated("--filter", "section = 's1' and price < 100", "--set",
                                      "price = 5000"), (33, 0))
        self.change(range(1, 100, 3), price=5000)
        self.assertEqual(self.updated("--filter", "price = 123456", "--set", "new = true"), (0, 0))
        self.assertEqual(self.updated("--filter", "id in (4, 100000)", "--set", "new = null"), (1, 0))
        self.change([4], new=None)
        self.assert_rows()
        self.assertEqual(self.updated("--filter", "true", "--set", "section = 'all'"), (ROWS, 0))
        self.change(range(ROWS), section="all")
        self.assert_rows()

    def test_searches_see_new_values_and_the_same_vectors(self):
        before = self.must_pass(self.run_at("count", "--filter", "price = 3"))
        self.assertEqual(int(before.stdout), 1)
        self.updated("--range", "0:50", "--set", "price = 3")
        asked = write_vectors(self.folder / "asked", self.data[:50])
        truth = write_neighbours(self.folder / "truth.ibin", np.arange(50)[:, None],
                                 np.zeros((50, 1)))
        self.assertEqual(self.recall("--queries", asked, "--k", 1, "--list", 300, "--filter",
                                     "price = 3", "--groundtruth", truth), 1)

    def test_what_is_wrong_is_said_and_nothing_changes(self):
        rows = ["--range", "0:10"]
        for options, words in [
                (["--set", "price = 3"], ["--ids", "--range", "--filter"]),
                ([*rows, "--filter", "true", "--set", "price = 3"], ["--ids", "--range"]),
                (["--filter", "", "--set", "price = 3"], ["--ids", "--range", "--filter"]),
                (rows, ["--set", "--attributes"]),
                ([*rows, "--set", "price = 3", "--attributes", self.jsonl], ["--set"]),
                (["--filter", "true", "--attributes", self.jsonl], ["--attributes", "--ids"]),
                ([*rows, "--set", "prise = 3"], ["--set", "no column 'prise'"]),
                ([*rows, "--set", "price = 1.5"], ["--set", "'price' is i64"]),
                ([*rows, "--set", "price = 'cheap'"], ["'price' is i64"]),
                ([*rows, "--set", "price = cheap"], ["is no value"]),
                ([*rows, "--set", "price"], ["COLUMN = VALUE"]),
                ([*rows, "--set", "price = 1", "--set", "price = 2"], ["'price'"]),
                ([*rows, "--set", "section = null"], ["'section' is null"]),
                ([*rows, "--set", "at = 5"], ["'at' is timestamp"]),
                (["--filter", "prise = 1", "--set", "price = 1"], ["'prise'", "column 1"]),
                ([*rows, "--attributes", self.jsonl], [f"{ROWS} vectors for 10 ids"]),
                ([*rows, "--attributes", self.folder / "x.txt"], [".jsonl"]),
                (["--ids", self.folder / "none.ibin", "--set", "price = 1"], ["none.ibin"])]:
            self.refused(*options, words=words)
        lines = self.folder / "odd.jsonl"
        lines.write_text('{"price": 1}\n{"price": 2, "new": true}\n')
        self.refused("--range", "0:2", "--attributes", lines, words=["line 2", "other columns"])
        self.assert_rows()

    def test_help_teaches(self):
        text = self.must_pass(farvec("collection", "update", "--help")).stdout
        for word in ("--set", "--attributes", "--filter", "Example", "price = 3"):
            self.assertIn(word, text)
        text = self.must_pass(self.run_at("update", "--range", "0:3", "--set", "price = 1")).stdout
        self.assertTrue(text.startswith("updated 3 in "), text)


class UpdatesHere(Updates, ToolTest):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        self.place = ["--collection", self.set]
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        base = write_vectors(self.folder / "base", self.data)
        self.must_pass(self.run_at("create", "--metric", "l2", "--like", base, "--memtable-rows",
                                   128, "--degree", 12, "--list", 24, "--schema", SCHEMA))
        self.prepare()
        self.must_pass(self.run_at("insert", "--data", base, "--attributes", self.jsonl, "--quiet"))

    def recall(self, *options):
        out = self.folder / "search.jsonl"
        self.must_pass(self.run_at("search", *options, "--json", out))
        return json.loads(out.read_text())["recall"]

    def test_a_collection_without_a_schema_is_named(self):
        bare = self.folder / "bare"
        base = write_vectors(self.folder / "some", self.data[:10])
        self.must_pass(farvec("collection", "create", "--collection", bare, "--metric", "l2",
                              "--like", base))
        self.must_refuse(farvec("collection", "update", "--collection", bare, "--range", "0:3",
                                "--set", "price = 1"), "no schema", "add-columns")


class UpdatesOfANode(Updates, ServiceTest):
    SHAPE = [*ServiceTest.SHAPE, "--schema", SCHEMA]

    def setUp(self):
        super().setUp()
        self.place = ["--connect", self.address]
        self.prepare()
        self.must_pass(self.run_at("insert", "--data", self.base, "--attributes", self.jsonl,
                                   "--quiet"))

    def recall(self, *options):
        result = farvec("search", "--connect", self.address, *options, "--json")
        return json.loads(self.must_pass(result).stdout)["recall"]

    def test_large_values_come_in_several_calls(self):
        lines = self.folder / "large.jsonl"
        lines.write_text("".join(json.dumps({"section": str(row) + "n" * 60_000}) + "\n"
                                 for row in range(50)))
        self.assertEqual(self.updated("--range", "0:50", "--attributes", lines), (50, 0))
        count = self.run_at("count", "--filter", "section prefix '49n'")
        self.assertEqual(int(self.must_pass(count).stdout), 1)


del ServiceTest

if __name__ == "__main__":
    unittest.main()
