#!/usr/bin/env python3
"""Conditions that are handed to the store: the plans, what a scan reads, and definitions of indexes with
filters."""
import json
import os
import re
import signal
import unittest

from engine_base import wait_until
from farvec_tool import farvec
from filters_base import ALL, DIMENSION, FiltersTest, InEngine
from index_base import BY_INDEX, BY_TABLE
from postgres_server import SqlError
from search_test import passed


class Plans(FiltersTest):
    ROWS = 4000
    MOST_FOUND = 1000  # a node gives no more to one search

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.node = cls.make("plain", "n int, price float8, section text, tags text[], active bool",
                            "SELECT i, array[sin(i), cos(i * 1.7), sin(i * 0.3), cos(i * 0.9)]::real[]::vector, "
                            "i, i / 4.0, 's' || i % 5, array['t' || i % 3, 'u' || i % 4], i % 2 = 0 "
                            f"FROM generate_series(1, {cls.ROWS}) i",
                            "n: i64, price: f64, section: string, tags: set, active: bool",
                            "n, price, section, tags, active")

    def test_rows_that_fail_are_not_fetched(self):
        for share in (0.5, 0.1, 0.01, 0.001):
            matches = int(self.ROWS * share)
            with self.subTest(share):
                where = f"n <= {matches}"
                scan = self.compare("plain", where)
                self.assertEqual(scan["matches"], matches)
                if matches <= self.MOST_FOUND:
                    self.assertEqual((scan["found"], scan["rest"]), (matches, 0))
                rows, scan = self.last_scan(f"SELECT id FROM plain WHERE {where} "
                                            "ORDER BY v <-> '[0.1,0.2,0.3,0.4]' LIMIT 3;", ALL)
                self.assertEqual(len(rows), 3)
                self.assertEqual(scan["handed_down"], 1)
                self.assertLessEqual(scan["found"], 40)

    def explain(self, where, setup=""):
        return "\n".join(self.sql(BY_INDEX + setup + f"EXPLAIN (COSTS OFF) SELECT id FROM plain WHERE {where} "
                                  "ORDER BY v <-> '[1,2,3,4]' LIMIT 3;"))

    def test_what_an_index_cannot_say_the_executor_checks(self):
        for where in ("n < 3 OR price > 900", "NOT (n < 3990)", "abs(n) < 5", "n + 0 < 5", "section LIKE 's1%'",
                      "n <> 5", "NOT tags && '{t1}'", "section > 's3'"):
            with self.subTest(where):
                self.compare("plain", where)
        plan = self.explain("n < 100 AND abs(n) > 5 AND section IN ('s1', 's2') AND active AND tags && '{t1}'")
        self.assertRegex(plan, r"Filter: \(abs\(n\) > 5\)")
        [condition] = re.findall("Index Cond: (.*)", plan)
        for column in ("n <", "section =", "active", "tags &&"):
            self.assertIn(column, condition)
        self.compare("plain", "n < 100 AND abs(n) > 5 AND section IN ('s1', 's2') AND active AND tags && '{t1}'")

    def test_lists_that_are_too_long_the_executor_checks(self):
        short, long = "ARRAY(SELECT generate_series(1, 300))", "ARRAY(SELECT generate_series(1, 6000))"
        for where, handed in ((f"n = ANY ({short})", 1), (f"n = ANY ({long})", 0),
                              (f"n = ANY ({long}) AND section = 's1'", 1)):
            self.assertEqual(self.compare("plain", where)["handed_down"], handed, where)

    def test_statements_that_are_prepared(self):
        for mode in ("force_generic_plan", "force_custom_plan"):
            setup = f"SET plan_cache_mode = {mode}; PREPARE p(int, text, text[]) AS SELECT id FROM plain WHERE " \
                    "n < $1 AND section = $2 AND tags && $3 ORDER BY v <-> '[1,2,3,4]'; "
            for arguments in ("100, 's1', '{t1,u2}'", "NULL, 's1', '{t1}'", "100, 'it''s', '{}'", "100, NULL, NULL",
                              "2000, 's2', '{t0}'"):
                run = f"EXECUTE p({arguments});"
                self.assertEqual(sorted(self.sql(BY_INDEX + setup + run)), sorted(self.sql(BY_TABLE + setup + run)))
            rows, scan = self.last_scan("EXECUTE p(100, 's1', '{t1}');", setup)
            self.assertEqual((scan["handed_down"], scan["found"]), (3, len(rows)))

    def test_joins_take_values_from_the_other_table(self):
        query = "SELECT q.i, found.id FROM generate_series(1, 20) q(i), LATERAL (SELECT id FROM plain WHERE " \
                "n < q.i * 10 AND section = 's' || q.i % 7 ORDER BY v <-> array[q.i,1,2,3]::vector(4) LIMIT 3) found;"
        self.both(query, ALL)

    def test_another_way_is_taken_where_it_is_cheaper(self):
        self.sql("CREATE INDEX plain_n ON plain (n);")
        plan = "\n".join(self.sql("EXPLAIN SELECT id FROM plain WHERE n = 7 ORDER BY v <-> '[1,2,3,4]' LIMIT 3;"))
        self.assertIn("plain_n", plan)
        plan = "\n".join(self.sql("EXPLAIN SELECT id FROM plain WHERE section = 's1' ORDER BY v <-> '[1,2,3,4]' "
                                  "LIMIT 3;"))
        self.assertIn("plain_index", plan)
        self.sql("DROP INDEX plain_n;")

    def test_row_security(self):
        self.make("secret", "owner text", "SELECT i, array[i,i%7,i%3,1], 'u' || i % 50 FROM generate_series(1,500) i",
                  "owner: string", "owner")
        self.sql("CREATE ROLE u7; GRANT SELECT ON secret TO u7; ALTER TABLE secret ENABLE ROW LEVEL SECURITY;"
                 "CREATE POLICY own ON secret USING (owner = current_user);")
        # The owner of the table sees all, so that both see what they may.
        query = "SELECT id FROM secret WHERE id > 10 ORDER BY v <-> '[1,2,3,4]' LIMIT 5;"
        rows, scan = self.last_scan(query, "SET ROLE u7;")
        self.assertEqual(rows, self.sql(BY_TABLE + "SET ROLE u7;" + query))
        self.assertTrue(all(int(row) % 50 == 7 for row in rows))
        self.assertEqual((scan["handed_down"], scan["found"]), (1, 10))


class PlansInEngine(InEngine, Plans):
    pass


class Lies(FiltersTest):
    def test_a_store_that_lies_is_not_believed(self):
        node = self.make("liar", "n int", "SELECT i, array[i,i%7,i%3,1], i FROM generate_series(1,200) i", "n: i64", "n")
        passed(farvec("collection", "update", "--connect", node, "--filter", "n > 100", "--set", "n = 5"))
        rows, scan = self.last_scan("SELECT id FROM liar WHERE n = 5 ORDER BY v <-> '[1,2,3,4]';")
        self.assertEqual(rows, ["5"])
        self.assertEqual(scan["found"], 101)
        check = json.loads(self.one("SELECT farvec_check('liar_index');"))
        self.assertEqual((check["sound"], check["other_values_in_store"]), (False, 100))
        # Its own values come back with its rows.
        passed(farvec("collection", "delete", "--connect", node, "--filter", "true"))
        self.compare("liar", "n = 5")
        self.assert_sound("liar_index")


class Definitions(FiltersTest):
    NAMES = 'id int, v vector(4), "Größe" int, "my col" text, "true" bool, "1st" int, "My Col" text, my_col text'

    def test_the_collection_has_to_have_the_columns(self):
        self.sql(f"CREATE TABLE names ({self.NAMES}); INSERT INTO names SELECT i, array[i,1,2,3], i, 'a' || i % 3, "
                 "i % 2 = 0, i, 'b' || i % 3, 'c' || i % 3 FROM generate_series(1, 100) i;")
        make = "CREATE INDEX {0} ON names USING farvec (v vector_l2_ops, id, \"Größe\", \"my col\", \"true\", " \
               "\"1st\", \"My Col\", my_col) WITH (node = '{1}');"
        said = self.refused(make.format("a", self.collection("bare", DIMENSION)), "55000")
        schema = re.search("--schema '(.*)'", said).group(1)
        self.assertEqual(len(schema.split(",")), 7)
        self.refused(make.format("a", self.collection("few", DIMENSION, "vector_l2_ops", "--schema", "id_: i64")),
                     "55000")
        other = schema.replace("id_: i64", "id_: f64")
        self.assertIn("id_: f64", self.refused(
            make.format("a", self.collection("other", DIMENSION, "vector_l2_ops", "--schema", other)), "55000"))
        strict = schema.replace("id_: i64", "id_: i64 not null")
        self.assertIn("null", self.refused(
            make.format("a", self.collection("strict", DIMENSION, "vector_l2_ops", "--schema", strict)), "55000"))
        more = self.collection("right", DIMENSION, "vector_l2_ops", "--schema", "other: bytes, " + schema)
        self.sql(make.format("names_index", more))
        for where in ('"Größe" < 20', "\"my col\" = 'a1'", '"true"', '"1st" > 90', "\"My Col\" = 'b1'",
                      "my_col = 'c2'", "id BETWEEN 3 AND 40"):
            self.assertGreater(self.compare("names", where)["handed_down"], 0, where)
        self.sql('ALTER TABLE names RENAME my_col TO renamed;')
        self.compare("names", "renamed = 'c2'")

    def test_what_is_no_filter_is_refused(self):
        node = self.collection("wrong", DIMENSION)
        self.sql("CREATE TABLE wrong (id int, v vector(4), j jsonb, n numeric);")
        self.refused(f"CREATE INDEX ON wrong USING farvec (id) WITH (node = '{node}');", "42P17")
        self.refused(f"CREATE INDEX ON wrong USING farvec (id, v vector_l2_ops) WITH (node = '{node}');", "42P17")
        self.refused(f"CREATE INDEX ON wrong USING farvec (v vector_l2_ops, v vector_l2_ops) WITH (node = '{node}');",
                     "0A000")
        self.refused(f"CREATE INDEX ON wrong USING farvec (v vector_l2_ops, j) WITH (node = '{node}');", "42704")
        self.assertEqual(self.sql("SELECT opcname FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod "
                                  "WHERE amname = 'farvec' AND NOT amvalidate(c.oid);"), [])

    def test_expressions_and_predicates(self):
        self.make("parts", "n int, word text", "SELECT i, array[i,i%7,i%3,1], i, 'Word ' || i % 20 "
                  "FROM generate_series(1, 400) i", "lower: string, expr: i64",
                  "lower(word), (n % 10)", how="WHERE n > 100")
        scan = self.compare("parts", "n > 100 AND lower(word) = 'word 3' AND n % 10 = 3")
        self.assertEqual((scan["handed_down"], scan["matches"]), (2, 15))
        self.sql("UPDATE parts SET word = 'WORD 3' WHERE n % 10 = 3; INSERT INTO parts SELECT i, array[i,1,1,1], i, "
                 "'word 3' FROM generate_series(401, 450) i;")
        self.compare("parts", "n > 100 AND lower(word) = 'word 3' AND n % 10 = 3")
        self.sql("VACUUM parts;")
        self.assert_sound("parts_index")

    def test_collations(self):
        try:
            self.sql("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);")
        except SqlError as error:
            if error.state != "0A000":
                raise
            self.skipTest("the server has no ICU")
        self.make("loose", "word text COLLATE loose, tags text[] COLLATE loose, plain text COLLATE \"C\", local text",
                  "SELECT i, array[i,i%7,i%3,1], (array['ab','AB','cd','CD'])[1 + i % 4], "
                  "array[(array['x','X'])[1 + i % 2]], (array['a','B','b','A'])[1 + i % 4], "
                  "(array['a','B','b','A'])[1 + i % 4] FROM generate_series(1, 200) i",
                  "word: string, tags: set, plain: string, local: string", "word, tags, plain, local")
        for where, handed in (("word = 'ab'", 0), ("word IN ('cd')", 0), ("tags && '{x}'", 0), ("word IS NULL", 1),
                              ("plain < 'a'", 1), ("local < 'a' COLLATE \"C\"", 1), ("local = 'a' COLLATE \"C\"", 1),
                              ("local = 'a' COLLATE loose", 0), ("word = 'ab' COLLATE \"C\"", 1), ("plain >= 'B'", 1), ("local = 'a'", 1)):
            self.assertEqual(self.compare("loose", where)["handed_down"], handed, where)

    def test_zero_vectors_and_nulls_meet_conditions_too(self):
        self.make("zeros", "n int", "SELECT i, CASE i % 3 WHEN 0 THEN '[0,0,0,0]'::vector WHEN 1 THEN NULL "
                  "ELSE array[i,1,1,1]::real[]::vector END, i % 10 FROM generate_series(1, 300) i", "n: i64", "n",
                  "vector_cosine_ops")
        for where in ("n = 3", "n < 5", "n IS NULL", "n = 3 AND v IS NOT NULL", "v IS NULL"):
            for value in ("'[1,2,3,4]'", "'[0,0,0,0]'", "NULL::vector"):
                query = f"SELECT id FROM zeros WHERE {where} ORDER BY v <=> {value};"
                self.assertEqual(sorted(self.sql(BY_INDEX + query)), sorted(self.sql(BY_TABLE + query)), where)

    def test_changes_in_one_transaction(self):
        self.make("kept", "n int, word text", "SELECT i, array[i,i%7,i%3,1], i, 'w' || i % 5 "
                  "FROM generate_series(1, 100) i", "n: i64, word: string", "n, word")
        changes = "BEGIN; INSERT INTO kept VALUES (201, '[1,1,1,1]', 5, 'x'), (202, NULL, 5, 'y'); SAVEPOINT a;" \
                  "INSERT INTO kept SELECT i, '[2,2,2,2]', 5, 'long ' || i FROM generate_series(300, 320) i; " \
                  "ROLLBACK TO a; INSERT INTO kept VALUES (203, '[3,3,3,3]', 5, 'z');"
        query = "SELECT id, n, word FROM kept WHERE n = 5 ORDER BY v <-> '[1,1,1,1]';"
        self.assertEqual(sorted(self.sql(BY_INDEX + changes + query + "COMMIT;")),
                         ["201|5|x", "202|5|y", "203|5|z", "5|5|w0"])
        for where in ("n = 5", "word = 'z'", "word = 'x'", "word = 'y'"):
            self.compare("kept", where)
        self.assert_sound("kept_index")

    def test_the_node_was_away(self):
        node = self.make("away", "n int, word text", "SELECT i, array[i,i%7,i%3,1], i, 'w' || i % 5 "
                         "FROM generate_series(1, 100) i", "n: i64, word: string", "n, word")
        self.nodes.stop("away")
        self.sql("INSERT INTO away SELECT i, array[i,1,1,1], i, 'it''s ' || i FROM generate_series(101, 150) i;")
        self.assertEqual(self.serve("away"), node)
        self.sql("SELECT pg_sleep(0.6);")  # the server waits so long before it asks again
        self.compare("away", "word = 'it''s 120'")
        self.compare("away", "n > 90")
        self.assert_sound("away_index")


class DefinitionsInEngine(InEngine, FiltersTest):
    def test_the_most_columns_and_the_longest_rows(self):
        """Vectors of 64 kB, and 31 columns of texts, of which a store has the first bytes."""
        count = 31
        names = [f"c{number}" for number in range(count, 0, -1)]  # those of the engine, in another order
        columns = ", ".join(f"{name} text" for name in names)
        long = "repeat('é' || i % 3, 3000)"
        self.sql(f"CREATE TABLE wide (id int, v vector(16000), {columns}); INSERT INTO wide SELECT i, "
                 f"array_fill(i::real, ARRAY[16000])::vector, {', '.join([long] * count)} "
                 "FROM generate_series(1, 12) i;")
        self.place("wide", "vector_l2_ops", "")
        self.sql(f"CREATE INDEX wide_index ON wide USING farvec (v vector_l2_ops, {', '.join(names)});")
        where = " AND ".join(f"{name} = repeat('é1', 3000)" for name in names)
        query = f"SELECT id FROM wide WHERE {where} ORDER BY v <-> array_fill(3::real, ARRAY[16000])::vector;"
        rows, scan = self.last_scan(query)
        self.assertEqual(rows, self.sql(BY_TABLE + query))
        self.assertEqual((len(rows), scan["conditions"]), (4, count))
        self.assertGreater(scan["handed_down"], 20)
        self.assert_sound("wide_index")

    def test_a_column_keeps_its_values_when_it_is_renamed(self):
        self.make("named", "a int, b int", "SELECT i, array[i,1,1,1], i, -i FROM generate_series(1, 100) i", "", "a, b")
        self.sql("ALTER TABLE named RENAME a TO c; ALTER TABLE named RENAME b TO a; ALTER TABLE named RENAME c TO b;")
        self.assertEqual(self.compare("named", "a < -90 AND b > 0")["matches"], 10)

    def test_an_engine_that_was_ended_has_the_values_again(self):
        self.make("again", "n int, word text", "SELECT i, array[i,1,1,1], i, 'w' || i % 10 "
                  "FROM generate_series(1, 500) i", "", "n, word")
        self.sql("VACUUM again; INSERT INTO again SELECT i, array[i,1,1,1], i, 'late' FROM generate_series(501, 520) i;")
        engine = self.engine()
        os.kill(engine, signal.SIGKILL)
        wait_until("another engine serves", lambda: self.engine() != engine and self.is_served())
        for where in ("word = 'late'", "n < 10", "word = 'w3' AND n > 400"):
            self.assertEqual(self.compare("again", where)["rest"], 0)
        self.assert_sound("again_index")

    def test_a_column_of_another_type(self):
        self.make("changed", "n int", "SELECT i, array[i,1,1,1], i FROM generate_series(1, 100) i", "", "n")
        self.sql("ALTER TABLE changed ALTER n TYPE text USING 'n' || n;")
        self.assertEqual(self.compare("changed", "n IN ('n5', 'n6')")["matches"], 2)
        stats = json.loads(self.one("SELECT farvec_stats('changed_index');"))
        self.assertEqual(stats["columns"], "c1: string")


if __name__ == "__main__":
    unittest.main()
