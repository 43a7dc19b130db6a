"""CREATE INDEX in the server's engine with parallel workers, cancelled, and with little memory."""
import re
import time
import unittest

from engine_base import BY_INDEX, BY_TABLE, ENGINE, EngineTest, wait_until

ROWS = 12000
QUERY = "SELECT id FROM wide ORDER BY v <-> '[{0},0.2,-0.4,0.1]' LIMIT 20;"
FILL = """INSERT INTO {0} SELECT i, i % 7, ARRAY[sin(i), cos(i * 1.7), sin(i * 0.3), cos(i * 0.9)]::real[]::vector
          FROM generate_series(1, {1}) i;"""
CANCELLED = "57014"


class Builds(EngineTest):
    settings = {"max_parallel_workers": 4, "max_worker_processes": 12}

    @classmethod
    def setUpClass(cls):
        if not ENGINE.exists():
            raise unittest.SkipTest(f"no {ENGINE}")
        super().setUpClass()
        cls.sql("CREATE TABLE wide (id int, part int, v vector(4));" + FILL.format("wide", ROWS) +
                "INSERT INTO wide VALUES (0, 0, NULL); ANALYZE wide;")

    def setUp(self):
        self.make_items(10)  # the engine is there then
        self.sql("DROP INDEX IF EXISTS wide_v; ALTER TABLE wide RESET (parallel_workers);")

    def build(self, workers, statement="CREATE INDEX wide_v ON wide USING farvec (v vector_l2_ops)",
              table="wide"):
        """Builds with this many workers, and answers how many there were."""
        self.sql(f"ALTER TABLE {table} SET (parallel_workers = {workers});")
        process = self.server.begin(statement, settings={
            "max_parallel_maintenance_workers": workers, "client_min_messages": "debug1"})
        _, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, said)
        found = re.search(r"is built with (\d+) workers", said)
        return int(found.group(1)) if found else 0

    def assert_whole(self, condition="true", index="wide_v"):
        exact = BY_INDEX + "SET farvec.search_list = 1000;"  # workers bring rows in any order
        for first in (-0.9, 0.1, 0.8):
            query = QUERY.format(first).replace("ORDER", f"WHERE {condition} ORDER")
            self.assertEqual(self.sql(exact + query), self.sql(BY_TABLE + query), query)
        self.assert_sound(index)

    def test_workers_bring_all_rows(self):
        for workers in (0, 1, 2):
            self.sql("DROP INDEX IF EXISTS wide_v;")
            self.assertEqual(self.build(workers), workers)
            self.assert_whole()
            counted = self.one("SELECT reltuples::int FROM pg_class WHERE relname = 'wide_v';")
            self.assertEqual(int(counted), ROWS + 1)

    def test_partial_indexes_expressions_and_filters(self):
        self.assertEqual(self.build(2, "CREATE INDEX wide_v ON wide USING farvec (v vector_l2_ops, part) "
                                    "WHERE id % 3 = 1"), 2)
        self.assert_whole("id % 3 = 1")
        self.assert_whole("id % 3 = 1 AND part = 2")
        self.sql("DROP INDEX wide_v;")
        self.assertEqual(self.build(1, "CREATE INDEX wide_v ON wide USING farvec "
                                    "((v::halfvec(4)) halfvec_l2_ops)"), 1)
        self.assert_sound("wide_v")

    def test_an_expression_that_is_not_safe_has_no_workers(self):
        self.sql("CREATE OR REPLACE FUNCTION alone(v vector) RETURNS vector LANGUAGE plpgsql IMMUTABLE PARALLEL "
                 "UNSAFE AS 'BEGIN RETURN v; END';")
        self.assertEqual(self.build(2, "CREATE INDEX wide_v ON wide USING farvec "
                                    "((alone(v)::vector(4)) vector_l2_ops)"), 0)
        self.assert_sound("wide_v")

    def test_concurrently_and_again(self):
        self.assertEqual(self.build(2, "CREATE INDEX CONCURRENTLY wide_v ON wide USING farvec "
                                    "(v vector_l2_ops)"), 2)
        self.assert_whole()
        self.assertEqual(self.build(2, "REINDEX INDEX wide_v"), 2)
        self.assert_whole()
        self.assertEqual(self.build(2, "REINDEX INDEX CONCURRENTLY wide_v"), 2)
        self.assert_whole()

    def test_a_table_that_is_emptied_has_no_workers(self):
        self.sql("CREATE TABLE emptied (id int, v vector(4)) WITH (parallel_workers = 2);" +
                 FILL.format("emptied (id, v)", 100).replace("i % 7, ", ""))
        self.build(2, "CREATE INDEX emptied_v ON emptied USING farvec (v vector_l2_ops)", "emptied")
        self.assertEqual(self.build(2, "TRUNCATE emptied", "emptied"), 0)
        self.sql("INSERT INTO emptied VALUES (1, '[1,2,3,4]');")
        self.assert_sound("emptied_v")

    def test_an_error_of_a_row_leaves_nothing(self):
        before = self.folders()
        for workers in (0, 2):
            self.sql(f"ALTER TABLE wide SET (parallel_workers = {workers});")
            self.refused("CREATE INDEX failing ON wide USING farvec (v vector_l2_ops) "
                         f"WHERE 1 / ({ROWS - 10} - id) IS NOT NULL;", "22012")
            wait_until("nothing is left", lambda: not self.folders() - before)  # others may go meanwhile
        self.assert_no_workers()

    def test_an_error_of_a_worker_for_which_the_build_only_waits(self):
        """The build sleeps in memory that goes with the workers."""
        self.sql("ALTER TABLE wide SET (parallel_workers = 2);")
        for _ in range(3):
            self.refused("SET parallel_leader_participation = off; CREATE INDEX failing ON wide "
                         f"USING farvec (v vector_l2_ops) WHERE 1 / ({ROWS - 10} - id) IS NOT NULL;", "22012")
        self.assert_no_workers()

    def assert_no_workers(self):
        wait_until("workers end", lambda: self.one(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker';") == "0")

    def test_long_vectors_beside_a_small_table_have_workers(self):
        self.sql("CREATE TABLE long (id int, v vector(1500));"
                 "INSERT INTO long SELECT i, (SELECT array_agg(sin(i * j)) FROM generate_series(1, 1500) j)"
                 "::real[]::vector FROM generate_series(1, 1500) i;")
        for most, memory, expected in ((2, "64MB", 1), (2, "1MB", 0), (0, "64MB", 0)):
            process = self.server.begin("CREATE INDEX long_v ON long USING farvec (v vector_l2_ops)",
                                        settings={"max_parallel_maintenance_workers": most,
                                                  "client_min_messages": "debug1",
                                                  "maintenance_work_mem": memory})
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, said)
            self.assertEqual(len(re.findall(f"is built with {expected} workers", said)),
                             1 if expected else 0, said)
            self.assert_sound("long_v")
            self.sql("DROP INDEX long_v;")

    def test_a_cancelled_build_ends_soon_and_leaves_nothing(self):
        self.sql("CREATE TABLE many (id int, part int, v vector(4));" + FILL.format("many", 150000) +
                 "ALTER TABLE many SET (parallel_workers = 1);")
        before = self.folders()
        for limit in (30, 200, 500, 900):  # while rows come, and while they are linked
            began = time.monotonic()
            self.refused(f"SET statement_timeout = {limit}; "
                         "CREATE INDEX many_v ON many USING farvec (v vector_l2_ops);", CANCELLED)
            self.assertLess(time.monotonic() - began, 20)
            wait_until("the folder goes", lambda: self.folders() <= before)
        self.assert_no_workers()
        time.sleep(0.5)
        self.assertEqual(self.folders() - before, set())

    def test_little_memory_of_a_backend(self):
        self.sql("SET maintenance_work_mem = '1MB'; ALTER TABLE wide SET (parallel_workers = 2);"
                 "CREATE INDEX wide_v ON wide USING farvec (v vector_l2_ops);")
        self.assert_whole()


class LittleMemory(EngineTest):
    """Rows of a table wait in a third of the engine's memory."""
    settings = {"farvec.engine_memory": "16MB", "max_parallel_workers": 4}

    def test_rows_that_have_no_room_become_several_segments(self):
        self.make_items(10)
        self.sql("CREATE TABLE long (id int, v vector(1000)) WITH (parallel_workers = 1);"
                 "INSERT INTO long SELECT i, (SELECT array_agg(sin(i * j)) FROM generate_series(1, 1000) j)"
                 "::real[]::vector FROM generate_series(1, 2400) i;")  # 9.6 MB
        before = self.folders()
        for most in (0, 1):
            self.sql(f"SET max_parallel_maintenance_workers = {most};"
                     "CREATE INDEX long_v ON long USING farvec (v vector_l2_ops);")
            self.assert_sound("long_v")
            query = "SELECT id FROM long ORDER BY v <-> (SELECT v FROM long WHERE id = {0}) LIMIT 5;"
            for row in (1, 700, 2399):
                self.assertEqual(self.sql(BY_INDEX + "SET farvec.search_list = 2000;" + query.format(row)),
                                 self.sql(BY_TABLE + query.format(row)))
            (folder,) = self.folders() - before
            segments = self.server.folder / "farvec" / folder / "collection" / "segments"
            numbers = [int(path.name) for path in segments.iterdir() if path.name.isdigit()]
            self.assertGreaterEqual(max(numbers), 1)  # they count from 0, and a merge makes a later one
            self.sql("DROP INDEX long_v;")
            wait_until("the folder goes", lambda: self.folders() <= before)


if __name__ == "__main__":
    unittest.main()
