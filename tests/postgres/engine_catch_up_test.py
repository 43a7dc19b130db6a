"""Tests of catching up: an engine that ended is told what it lacks, and is rid of what has no entry."""
import contextlib
import os
import random
import re
import signal
import time
import unittest

from engine_base import QUERY, ROWS, EngineTest, is_running, wait_until
from index_base import BY_INDEX, BY_TABLE, SEED
from postgres_server import SqlError

STORED = "SELECT farvec_stats('items_v')->'store'->>'stored';"
CAUGHT_UP = re.compile(r'index "items_v" has caught up in [\d.]+ ms: its store was asked in [\d.]+ ms, (\d+) '
                       r'pages were read in [\d.]+ ms and compared in [\d.]+ ms, (\d+) rows \((\d+) bytes of '
                       r'vectors\) were read in [\d.]+ ms and told in [\d.]+ ms')


class CatchUpTest(EngineTest):
    def setUp(self):
        super().setUp()
        self.restart("fast")  # each end of an engine makes the server wait longer before the next start

    @contextlib.contextmanager
    def without_engine(self):
        """The engine is killed, and comes back at the end."""
        worker = self.worker()
        os.kill(worker, signal.SIGSTOP)
        try:
            engine = self.engine()
            os.kill(engine, signal.SIGKILL)
            wait_until("it has ended", lambda: not is_running(engine))
            yield
        finally:
            os.kill(worker, signal.SIGCONT)

    def assert_finds(self, ids):
        """Rows of a large table are found by their own vectors; one may be told before it is asked."""
        self.wait_for_plan()
        for wanted in ids:
            found = ("SET farvec.search_list = 500;" + BY_INDEX + "SELECT id FROM items ORDER BY v <-> "
                     f"(SELECT v FROM items WHERE id = {wanted}) LIMIT 1;")
            self.assertEqual(self.patiently(found), [str(wanted)])

    def told(self):
        """(pages, rows, bytes) of each catching up that the server's log tells of."""
        return [tuple(map(int, found)) for found in CAUGHT_UP.findall(self.server.log.read_text())]

    def wait_for_answer(self, table):
        plan = BY_INDEX + f"EXPLAIN SELECT id FROM {table} ORDER BY v <-> '[0,0,0,0]' LIMIT 1;"
        wait_until("the index is planned",
                   lambda: f"Index Scan using {table}_v" in "".join(self.sql(plan)))


class CatchUp(CatchUpTest):
    def test_many_rows_are_told_at_once_and_the_log_says_what_took_how_long(self):
        self.make_items(3000)
        with self.without_engine():
            self.sql(f"INSERT INTO items {ROWS.format(3001, 30000)};")
        self.assert_finds(range(1, 30000, 1500))
        pages, rows, size = self.told()[-1]
        self.assertEqual((rows, size), (27000, 27000 * 16))
        self.assertGreaterEqual(pages, 30)
        self.assertEqual(self.one(STORED), "30000")
        self.assert_sound("items_v")
        # A segment is made of them meanwhile, and then they do not lack any more.
        bytes_of = "SELECT (farvec_stats('items_v')->'store'->>'bytes')::bigint > 30000 * 16;"
        wait_until("the rows are in segments", lambda: self.one(bytes_of) == "t")
        self.assert_finds(range(1, 30000, 1500))
        self.assert_sound("items_v")

    def test_rows_that_were_vacuumed_while_the_engine_was_away_are_erased(self):
        self.make_items(3000)
        self.assert_answers()
        with self.without_engine():
            self.sql("DELETE FROM items WHERE id % 3 = 0;")
            self.sql("VACUUM items;")
        self.assert_answers()
        self.assertEqual(self.one(STORED), "2000")
        self.assert_sound("items_v")

    def test_rows_of_pages_that_are_used_again_are_erased(self):
        self.make_items(4000)
        self.assert_answers()
        self.sql("DELETE FROM items WHERE id > 10; VACUUM items;")
        with self.without_engine():
            self.sql("VACUUM items;")
            for first in range(5000, 9000, 1000):
                self.sql(f"INSERT INTO items {ROWS.format(first, first + 999)};")
        self.assert_answers()
        self.assertEqual(self.one(STORED), "4010")
        self.assert_sound("items_v")

    def test_a_rollback_and_a_dead_row_are_not_told(self):
        self.make_items(100)
        with self.without_engine():
            self.sql(f"BEGIN; INSERT INTO items {ROWS.format(101, 2000)}; ROLLBACK;")
            self.sql(f"INSERT INTO items {ROWS.format(2001, 2100)};")
        self.assert_answers()
        self.assert_sound("items_v")

    def test_filters_hold_in_rows_that_came_together(self):
        self.sql("DROP TABLE IF EXISTS things; CREATE TABLE things (id int, kind text, v vector(4));"
                 f"INSERT INTO things SELECT i, 'kind ' || i % 7, v FROM ({ROWS.format(1, 1000)}) AS r(i, v);")
        self.patiently("CREATE INDEX things_v ON things USING farvec (v vector_l2_ops, kind);")
        self.wait_for_answer("things")
        with self.without_engine():
            self.sql("INSERT INTO things SELECT i, 'kind ' || i % 7, v "
                     f"FROM ({ROWS.format(1001, 9000)}) AS r(i, v);")
        query = ("SELECT id FROM things WHERE kind = 'kind 3' "
                 "ORDER BY v <-> '[0.1,0.2,-0.4,0.1]' LIMIT 50;")
        self.wait_for_answer("things")
        self.assertEqual(self.patiently(BY_INDEX + query), self.sql(BY_TABLE + query))
        self.assert_sound("things_v")

    def test_statements_of_one_moment_catch_up_once(self):
        self.make_items(1000)
        with self.without_engine():
            self.sql(f"INSERT INTO items {ROWS.format(1001, 12000)};")
        self.wait_for_plan()
        before = len(self.told())
        vector = self.one("SELECT v FROM items WHERE id = 11111;")
        query = BY_INDEX + f"SELECT id FROM items ORDER BY v <-> '{vector}' LIMIT 1;"
        asking = [self.server.begin(query) for _ in range(4)]
        for process in asking:
            lines, errors = process.communicate()
            self.assertEqual((lines.split(), errors), (["11111"], ""))
        self.assertEqual([rows for _, rows, _ in self.told()[before:]], [11000])
        self.assert_sound("items_v")

    def test_kills_at_any_moment_while_it_catches_up(self):
        moments = random.Random(SEED)
        self.make_items(2000)
        last = 2000
        for _ in range(4):
            with self.without_engine():
                self.sql(f"INSERT INTO items {ROWS.format(last + 1, last + 8000)};")
                last += 8000
                self.sql(f"DELETE FROM items WHERE id % 29 = {moments.randrange(29)}; VACUUM items;")
            self.wait_for_plan()
            wanted = self.one("SELECT max(id) FROM items;")
            vector = self.one(f"SELECT v FROM items WHERE id = {wanted};")
            query = BY_INDEX + f"SELECT id FROM items ORDER BY v <-> '{vector}' LIMIT 1;"
            asking = [self.server.begin(query) for _ in range(2)]
            time.sleep(moments.random() * 0.4)
            os.kill(self.engine(), signal.SIGKILL)
            for process in asking:
                lines, errors = process.communicate()
                if lines.split():
                    self.assertEqual(lines.split(), [wanted])
                else:
                    self.assertRegex(errors, "57P03|55000")
            ids = self.sql("SELECT id FROM items ORDER BY id % 1009, id LIMIT 10;")
            self.assert_finds([wanted, *ids])
            self.assert_sound("items_v")
            self.assertEqual(self.one(STORED), self.one("SELECT count(*) FROM items;"))

    def test_a_killed_server_catches_up_after_its_wal(self):
        self.make_items(2000)
        for first in (2001, 4001):
            self.sql(f"INSERT INTO items {ROWS.format(first, first + 1999)};"
                     f"DELETE FROM items WHERE id % 17 = {first % 17};")
            self.restart("immediate")
            self.assert_answers()
            self.assert_sound("items_v")

    def test_a_cancelled_catching_up_is_begun_again(self):
        self.make_items(100)
        with self.without_engine():
            self.sql(f"INSERT INTO items {ROWS.format(101, 20000)};")
        self.wait_for_plan()
        engine = self.engine()
        for _ in range(5):
            os.kill(engine, signal.SIGSTOP)
            try:
                self.refused("SET statement_timeout = 100;" + BY_INDEX + QUERY.format(0.1, 10), "57014")
            finally:
                os.kill(engine, signal.SIGCONT)
        self.assert_finds(range(1, 20000, 1900))
        self.assert_sound("items_v")


class FewSlots(CatchUpTest):
    """The channel of the engine has a slot for each process that the server may have."""
    settings = {"max_connections": 6, "max_worker_processes": 2, "autovacuum_max_workers": 1, "max_wal_senders": 0}

    def state_of(self, statements):
        """The state with which statements end; empty where they succeed."""
        try:
            self.patiently(statements)
        except SqlError as error:
            return error.state
        finally:
            self.sql("SET statement_timeout = 0;")
        return ""

    def test_cancels_at_any_moment_give_back_their_slots(self):
        moments = random.Random(SEED)
        self.make_items(100)
        cancelled = 0
        for last in (40000, 80000, 120000):
            with self.without_engine():
                self.sql(f"INSERT INTO items {ROWS.format(last - 39899, last + 100)};")
            self.wait_for_plan()
            for _ in range(30):
                state = self.state_of(f"SET statement_timeout = {moments.randrange(1, 9)};"
                                      + BY_INDEX + QUERY.format(0.1, 10))
                if state == "":
                    break
                self.assertEqual(state, "57014")
                cancelled += 1
        self.assertGreater(cancelled, 10)
        self.assert_finds(range(1, 120000, 11900))
        self.assertEqual(self.one(STORED), "120100")
        self.assert_sound("items_v")


if __name__ == "__main__":
    unittest.main()
