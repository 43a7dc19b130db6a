"""`farvec collection` with a schema: attributes from files, and searches that meet a condition."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, write_vectors
from hnsw_tool import nearest, write_neighbours

DIMENSION, ROWS, QUERIES, K = 9, 900, 20, 5
SCHEMA = "price: i64, section: string not null, tags: set, at: timestamp"


class CollectionFilterTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        self.attributes = [self.attributes_of(row) for row in range(ROWS)]
        self.jsonl = self.folder / "base.jsonl"
        self.jsonl.write_text("".join(json.dumps(a) + "\n" for a in self.attributes))

    @staticmethod
    def attributes_of(row):
        some = {"section": ["libs", "doc", "it's"][row % 3], "tags": [f"t{row % 7}", "all"],
                "at": f"2024-01-{row % 28 + 1:02}"}
        return some if row % 10 == 0 else dict(some, price=row - 100)

    def collection(self, command, *options):
        return farvec("collection", command, "--collection", self.set, *options)

    def made(self, *options):
        self.must_pass(self.collection("create", "--metric", "l2", "--like", self.base,
                                       "--memtable-rows", 256, "--degree", 12, "--list", 24,
                                       "--schema", SCHEMA, *options))

    def searched(self, condition, meets, *options):
        """The row of the search's JSON, with recall by the rows that meet the condition."""
        ids = np.asarray([row for row in range(ROWS) if meets(self.attributes[row])])
        places, distances = nearest(self.data[ids], self.asked, k=K)
        truth = write_neighbours(self.folder / "truth.ibin", ids[places], distances)
        out = self.folder / "search.jsonl"
        self.must_pass(self.collection("search", "--queries", self.queries, "--groundtruth", truth,
                                       "--k", K, "--list", 200, "--filter", condition,
                                       "--json", out, *options))
        row = json.loads(out.read_text())
        self.assertEqual(row["filter"], condition)
        self.assertEqual(row["matches"], len(ids))
        return row

    def test_an_index_becomes_a_segment(self):
        self.made()
        index = self.folder / "index"
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--out", index, "--degree", 12,
                              "--list", 24, "--schema", SCHEMA, "--attributes", self.jsonl, "--quiet"))
        self.must_pass(self.collection("insert", "--index", index, "--quiet"))
        self.assertEqual(self.searched("price < 300", lambda a: a.get("price", 300) < 300)["recall"], 1)
        for options, message in [
                ([], "give one of --data and --index"),
                (["--index", index, "--data", self.base], "give one of --data and --index"),
                (["--index", self.folder / "nowhere"], "nowhere"),
                (["--index", index, "--import"], "--data"),
                (["--index", index, "--attributes", self.jsonl], "--data")]:
            self.must_refuse(self.collection("insert", *options), message)
        self.must_refuse(farvec("collection", "insert", "--connect", "127.0.0.1:1", "--index", index),
                       "--collection, not --connect")

    def test_results_meet_the_condition(self):
        self.made()
        self.must_pass(self.collection("insert", "--data", self.base, "--range", ":600",
                                       "--attributes", self.jsonl, "--quiet"))
        self.must_pass(self.collection("insert", "--data", self.base, "--range", "600:",
                                       "--attributes", self.jsonl, "--import", "--quiet"))
        for condition, meets in [
                ("price < 50", lambda a: a.get("price", 10**9) < 50),
                ("section in ('doc', 'it''s') and not price between 0 and 500",
                 lambda a: a["section"] != "libs" and "price" in a and not 0 <= a["price"] <= 500),
                ("price is null and tags contains any ('t3')",
                 lambda a: "price" not in a and "t3" in a["tags"]),
                ("at >= '2024-01-28'", lambda a: a["at"] >= "2024-01-28")]:
            self.assertGreaterEqual(self.searched(condition, meets)["recall"], 0.99, condition)
        # Few rows are compared one by one, and the graph is not walked.
        few = self.searched("price between 40 and 47", lambda a: 40 <= a.get("price", 0) <= 47)
        self.assertEqual(few["hops_per_query"], 0)
        self.assertEqual((few["walks"], few["scans"] > 0), (0, True))
        self.assertEqual(few["recall"], 1)
        walked = self.searched("price between 40 and 47", lambda a: 40 <= a.get("price", 0) <= 47,
                               "--plan", "walk")
        self.assertEqual((walked["walks"] > 0, walked["scans"]), (True, 0))
        exact = self.searched("price >= 0", lambda a: a.get("price", -1) >= 0, "--exact")
        self.assertEqual((exact["exact"], exact["walks"]), (True, 0))
        self.assertEqual(exact["recall"], 1)

    def test_columns_come_while_there_are_rows(self):
        self.must_pass(self.collection("create", "--metric", "l2", "--like", self.base,
                                       "--memtable-rows", 256, "--degree", 12, "--list", 24))
        self.must_pass(self.collection("insert", "--data", self.base, "--range", ":400", "--quiet"))
        rest = ["insert", "--data", self.base, "--range", "400:", "--attributes", self.jsonl,
                "--quiet"]
        self.must_refuse(self.collection(*rest), "--attributes", "add-columns")
        self.must_refuse(self.collection("add-columns", "--columns", SCHEMA), "'section' is not null")
        self.must_pass(self.collection("add-columns", "--columns", "price: i64, section: string"))
        told = self.must_pass(self.collection("add-columns", "--columns",
                                              "tags: set, at: timestamp", "--json"))
        facts = json.loads(told.stdout)
        self.assertEqual((facts["added"], len(facts["schema"])), (2, 4))
        self.must_refuse(self.collection("add-columns", "--columns", "at: i64"), "'at'")
        self.must_pass(self.collection(*rest))
        self.attributes[:400] = [{} for _ in range(400)]
        for _ in range(2):
            for condition, meets in [
                    ("price < 500", lambda a: a.get("price", 10**9) < 500),
                    ("section is null", lambda a: "section" not in a),
                    ("not tags contains any ('t3')", lambda a: "t3" not in a.get("tags", ["t3"])),
                    ("section = 'doc' or at is null",
                     lambda a: a.get("section") == "doc" or "at" not in a)]:
                self.assertGreaterEqual(self.searched(condition, meets)["recall"], 0.99, condition)
            self.must_pass(self.collection("compact", "--quiet"))

    def test_rows_are_counted_listed_and_deleted_by_a_condition(self):
        self.made()
        self.must_pass(self.collection("insert", "--data", self.base, "--attributes", self.jsonl,
                                       "--quiet"))
        meets = [row for row in range(ROWS) if self.attributes[row].get("price", 10**9) < 50]
        count = self.must_pass(self.collection("count", "--filter", "price < 50"))
        self.assertEqual(int(count.stdout), len(meets))
        listed = self.must_pass(self.collection("list", "--filter", "price < 50", "--from", 30,
                                                "--json"))
        lines = [json.loads(line) for line in listed.stdout.splitlines()]
        self.assertEqual([line["id"] for line in lines], [row for row in meets if row >= 30])
        for line in lines:
            row = self.attributes[line["id"]]
            self.assertEqual((line["price"], line["section"]), (row["price"], row["section"]))
            self.assertEqual(sorted(line["tags"]), sorted(row["tags"]))
        some = self.must_pass(self.collection("list", "--most", 3)).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in some], ["0", "1", "2"])
        self.assertEqual(json.loads(some[1].split(maxsplit=1)[1])["price"], -99)
        report = self.must_pass(self.collection("delete", "--filter", "price < 50", "--json"))
        self.assertEqual(json.loads(report.stdout)["deleted"], len(meets))
        facts = json.loads(self.must_pass(self.collection("count", "--json")).stdout)
        self.assertEqual(facts["matches"], ROWS - len(meets))
        self.must_refuse(self.collection("delete", "--filter", "true", "--range", "0:3"),
                         "--ids", "--range", "--filter")
        self.must_refuse(self.collection("delete", "--filter", "prise = 1"), "filter", "prise")
        self.must_refuse(self.collection("count", "--filter", "price ="), "filter", "column 8")
        self.must_refuse(self.collection("list", "--connect", "unix:/none"), "--connect")

    def test_csv_is_read_too(self):
        self.made()
        csv = self.folder / "base.csv"
        csv.write_text("section,price,tags\n" + "".join(
            f"{a['section']},{a.get('price', '')},{'|'.join(a['tags'])}\n" for a in self.attributes))
        self.must_pass(self.collection("insert", "--data", self.base, "--attributes", csv, "--quiet"))
        row = self.searched("tags contains all ('t1', 'all') and price > 300",
                            lambda a: "t1" in a["tags"] and a.get("price", 0) > 300)
        self.assertGreaterEqual(row["recall"], 0.99)

    def test_inspect_and_create_show_the_schema(self):
        self.made("--json")
        shape = json.loads(self.must_pass(self.collection("inspect", "--json")).stdout)
        self.assertEqual(shape["schema"][1],
                         {"name": "section", "type": "string", "nullable": False})

    def test_bad_input_is_refused_and_nothing_is_in(self):
        self.made()
        lines = self.jsonl.read_text().splitlines(keepends=True)
        bad = self.folder / "bad.jsonl"

        def refused(text, *words):
            bad.write_text(text)
            result = self.collection("insert", "--data", self.base, "--attributes", bad, "--quiet")
            self.must_refuse(result, *words)

        refused("".join(lines[:-1]), "bad.jsonl", "899", "900")
        refused("".join(lines) + lines[0], "901")
        refused(lines[0].replace("libs", "l\\u0000") + "".join(lines[1:]), "line 1", "section")
        refused(lines[0] + '{"section": "a", "prise": 1}\n', "line 2", "prise")
        refused(lines[0] + '{"section": "a", "price": 1.5}\n', "line 2", "price", "1.5")
        refused(lines[0] + '{"price": 1}\n', "line 2", "section", "null")
        shape = json.loads(self.must_pass(self.collection("inspect", "--json")).stdout)
        self.assertEqual(shape["vectors"], 0)
        for condition, word in [("prise = 1", "no column 'prise'"), ("price = ", "column 9"),
                                ("price = 'a'", "price"), ("section = 1", "section")]:
            result = self.collection("search", "--queries", self.queries, "--filter", condition)
            self.must_refuse(result, "--filter", word)

    def test_a_collection_without_a_schema_takes_none(self):
        self.must_pass(self.collection("create", "--metric", "l2", "--like", self.base))
        self.must_refuse(self.collection("insert", "--data", self.base, "--attributes", self.jsonl),
                       "--attributes", "no schema")
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                       "--schema", "price: number"), "'number' is no type")


if __name__ == "__main__":
    unittest.main()
