#!/usr/bin/env python3
"""Plans do not compute a distance that nobody reads, and compute each one that somebody does."""
import unittest

from engine_base import EngineTest
from index_base import BY_INDEX, BY_TABLE

Q = "'[0.1,0.2,-0.4,0.1]'"
NEAREST = f"SELECT id FROM items ORDER BY v <-> {Q}"
ORDERED = BY_INDEX + "SET enable_hashjoin = off; SET enable_mergejoin = off;"


class Plans(EngineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        test = cls("distances")
        test.make_items()
        test.wait_for_plan()

    def distances(self, statement):
        """(rows, how many distances were computed by the operator) of a statement by the index."""
        calls = ("SELECT 'calls ' || coalesce(sum(calls), 0) FROM pg_stat_xact_user_functions f "
                 "JOIN pg_operator o ON o.oprcode = f.funcid WHERE o.oprname = '<->';")
        lines = self.patiently(
            ORDERED + f"BEGIN; SET LOCAL track_functions = 'all'; {calls} {statement}; {calls} COMMIT;")
        before, after = (int(line.removeprefix("calls ")) for line in (lines[0], lines[-1]))
        return lines[1:-1], after - before

    def expect(self, statement, most):
        """The rows are the table's, and not more than `most` distances are computed."""
        rows, calls = self.distances(statement)
        self.assertEqual(rows, self.sql(BY_TABLE + statement + ";"), statement)
        self.assertLessEqual(calls, most, statement)
        return calls

    def test_an_order_alone_computes_none(self):
        self.expect(f"{NEAREST} LIMIT 10", 0)
        self.expect(f"{NEAREST} LIMIT 10 OFFSET 5", 0)
        self.expect(f"SELECT id, v FROM items ORDER BY v <-> {Q} LIMIT 10", 0)
        self.expect(f"SELECT id FROM items WHERE id % 2 = 0 ORDER BY v <-> {Q} LIMIT 10", 0)

    def test_queries_within_queries_compute_none(self):
        self.expect(f"SELECT array(SELECT id FROM items ORDER BY v <-> {Q} LIMIT 10)", 0)
        self.expect(f"WITH c AS MATERIALIZED ({NEAREST} LIMIT 10) SELECT * FROM c", 0)
        self.expect(f"SELECT max(id) FROM ({NEAREST} LIMIT 10) c", 0)
        self.expect(f"SELECT sum(id) FROM (({NEAREST} LIMIT 10) UNION ALL ({NEAREST} LIMIT 5)) c", 0)
        self.expect("SELECT q.id, c.id FROM (SELECT * FROM items WHERE id < 4) q CROSS JOIN LATERAL "
                    "(SELECT id FROM items i ORDER BY i.v <-> q.v LIMIT 3) c ORDER BY 1, 2", 0)

    def test_a_distance_that_is_read_is_computed(self):
        self.assertEqual(self.expect(f"SELECT id, v <-> {Q} FROM items ORDER BY v <-> {Q} LIMIT 10", 10), 10)
        self.assertEqual(self.expect(f"SELECT id FROM items ORDER BY v <-> {Q} FETCH FIRST 10 ROWS WITH TIES", 11),
                         11)

    def test_a_prepared_statement_keeps_the_order(self):
        prepared = ("PREPARE nearest(vector) AS SELECT id FROM items ORDER BY v <-> $1 LIMIT 10;"
                    "SET plan_cache_mode = force_generic_plan;")
        expected = self.sql(BY_TABLE + f"{NEAREST} LIMIT 10;")
        rows, calls = self.distances(f"{prepared} EXECUTE nearest({Q})")
        self.assertEqual((rows, calls), (expected, 0))

    def test_parts_of_a_table_are_merged_in_order(self):
        self.patiently("CREATE TABLE parts (id int, v vector(4)) PARTITION BY RANGE (id);"
                       "CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (1000);"
                       "CREATE TABLE high PARTITION OF parts FOR VALUES FROM (1000) TO (9999);"
                       "INSERT INTO parts SELECT * FROM items;"
                       "CREATE INDEX ON parts USING farvec (v vector_l2_ops); ANALYZE parts;")
        statement = f"SELECT id FROM parts ORDER BY v <-> {Q} LIMIT 20"
        plan = "\n".join(self.sql(ORDERED + f"EXPLAIN {statement};"))
        self.assertIn("Merge Append", plan)
        self.assertGreaterEqual(self.expect(statement, 100), 20)

    def test_explain_shows_it(self):
        plan = "\n".join(self.sql(ORDERED + f"EXPLAIN (VERBOSE, COSTS OFF) {NEAREST} LIMIT 10;"))
        self.assertIn("Output: id, NULL::double precision", plan)
        self.assertIn("Order By: (items.v <-> ", plan)

    def test_rows_are_updated_and_locked_as_before(self):
        expected = self.sql(BY_TABLE + f"{NEAREST} LIMIT 3;")
        self.assertEqual(self.sql(ORDERED + f"BEGIN; {NEAREST} LIMIT 3 FOR UPDATE; ROLLBACK;"), expected)
        self.assertEqual(self.sql(ORDERED + f"BEGIN; DECLARE c SCROLL CURSOR FOR {NEAREST}; FETCH 3 FROM c; "
                                  "MOVE BACKWARD ALL IN c; FETCH 1 FROM c; COMMIT;"), [*expected, expected[0]])


if __name__ == "__main__":
    unittest.main()
