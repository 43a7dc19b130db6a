"""Tests of indexes that lie in the server's engine, and of the engine's ends."""
import itertools
import os
import pathlib
import signal
import subprocess
import time
import unittest

from engine_base import AWAY, QUERY, ROWS, EngineTest, is_running, is_stopped, wait_until
from index_base import BY_INDEX, BY_TABLE, CLASSES
from postgres_server import SqlError


class Indexes(EngineTest):
    def test_answers_as_the_table_does_after_each_change(self):
        self.make_items()
        self.assert_answers()
        self.sql(f"INSERT INTO items {ROWS.format(2001, 2500)};")
        self.assert_answers()
        self.sql("DELETE FROM items WHERE id % 3 = 0; UPDATE items SET v = '[9,9,9,9]' WHERE id < 50;")
        self.assert_answers()
        self.sql("VACUUM items;")
        self.assert_answers()
        self.assert_sound("items_v")
        count = "SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> '[0,0,0,0]') rows;"
        self.assertEqual(self.one(BY_INDEX + count), self.one(BY_TABLE + count))

    def test_every_class_of_operators(self):
        for name, (kind, operator, _, _) in CLASSES.items():
            with self.subTest(name):
                bits = kind == "bit"
                rows = ("SELECT i, (i * 7919 % 65536)::bit(16) FROM generate_series(1, 300) i"
                        if bits else ROWS.format(1, 300))
                query = "B'1011001110001111'" if bits else "'[1,2,3,4]'"
                self.sql("DROP TABLE IF EXISTS kinds;"
                         f"CREATE TABLE kinds (id int, v {kind}({16 if bits else 4}));"
                         f"INSERT INTO kinds {rows};")
                self.patiently(f"CREATE INDEX kinds_v ON kinds USING farvec (v {name});")
                # Several rows may be at one distance.
                found = self.both(f"SELECT v {operator} {query} FROM kinds "
                                  f"ORDER BY v {operator} {query} LIMIT 20;")
                self.assertEqual(len(found), 20)
                self.assert_uses("kinds_v", "SELECT id FROM kinds "
                                 f"ORDER BY v {operator} {query} LIMIT 5;")

    def test_the_longest_vectors(self):
        self.sql("CREATE TABLE long (id int, v vector(16000)); INSERT INTO long "
                 "SELECT i, array_fill(sin(i)::real, ARRAY[16000])::vector FROM generate_series(1, 40) i;")
        self.patiently("CREATE INDEX long_v ON long USING farvec (v vector_l2_ops);")
        self.both("SELECT id FROM long ORDER BY v <-> (SELECT v FROM long WHERE id = 7) LIMIT 5;")
        self.assert_sound("long_v")

    def test_a_dropped_index_leaves_nothing(self):
        self.make_items(100)
        before = self.folders()
        self.sql("CREATE TABLE gone (v vector(4)); INSERT INTO gone VALUES ('[1,2,3,4]');"
                 "CREATE INDEX ON gone USING farvec (v vector_l2_ops);")
        self.assertEqual(len(self.folders() - before), 1)
        self.sql("BEGIN; CREATE INDEX ON gone USING farvec (v vector_l2_ops); ROLLBACK;")
        self.sql("TRUNCATE gone;")
        self.sql("DROP TABLE gone;")
        wait_until("the folders are gone", lambda: self.folders() <= before)
        self.assert_answers()

    def test_a_dropped_database_leaves_nothing(self):
        self.make_items(100)
        before = self.folders()
        self.sql("CREATE DATABASE other;")
        self.sql("CREATE EXTENSION farvec; CREATE TABLE t (v vector(4));"
                 "INSERT INTO t VALUES ('[1,2,3,4]');"
                 "CREATE INDEX ON t USING farvec (v vector_l2_ops);", database="other")
        self.assertEqual(len(self.folders() - before), 1)
        self.server.sessions.pop("other").close()
        wait_until("nobody is connected", lambda: self.one(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = 'other';") == "0")
        self.sql("DROP DATABASE other;")
        wait_until("the folder is gone", lambda: self.folders() <= before)

    def test_a_temporary_table_keeps_its_index(self):
        self.sql("CREATE TEMP TABLE mine (id int, v vector(4));"
                 f"INSERT INTO mine {ROWS.format(1, 200)};"
                 "CREATE INDEX mine_v ON mine USING farvec (v vector_l2_ops);"
                 "SELECT pg_sleep(4);" + BY_INDEX +
                 "SELECT id FROM mine ORDER BY v <-> '[1,0,0,0]' LIMIT 3;")


class Ends(EngineTest):
    def test_a_killed_engine_is_started_again_and_the_server_is_not(self):
        self.make_items()
        self.sql("VACUUM items;")
        self.sql(f"INSERT INTO items {ROWS.format(2001, 2100)};")
        postmaster, backend = self.postmaster(), self.one("SELECT pg_backend_pid();")
        for _ in range(3):
            engine = self.engine()
            os.kill(engine, signal.SIGKILL)
            wait_until("it has ended", lambda: not is_running(engine))
            self.assert_answers()
            self.assertNotEqual(self.engine(), engine)
        self.assertEqual(self.postmaster(), postmaster)
        self.assertEqual(self.one("SELECT pg_backend_pid();"), backend)
        self.assertIn("was ended by signal 9", self.server.log.read_text())
        self.assert_sound("items_v")

    def test_what_was_flushed_is_not_told_again(self):
        self.make_items()
        self.sql("VACUUM items;")
        os.kill(self.engine(), signal.SIGKILL)
        stored = "SELECT farvec_stats('items_v')->'store'->>'stored';"
        # It is asked what it has before any search catches up.
        wait_until("the engine has the rows", lambda: self.one(stored) == "2000")
        self.assert_answers()
        self.assert_sound("items_v")

    def test_rows_that_come_while_the_engine_is_away_are_found_later(self):
        self.make_items(500)
        for first in range(501, 801, 50):
            os.kill(self.engine(), signal.SIGKILL)
            self.sql(f"INSERT INTO items {ROWS.format(first, first + 49)};")
        self.assert_answers()
        self.assert_sound("items_v")

    def test_while_the_engine_is_away_searches_end_with_an_error_and_inserts_do_not(self):
        self.make_items(500)
        self.assert_answers()  # so this session has asked the engine that runs now
        query = QUERY.format(0.3, 10)
        worker = self.worker()
        os.kill(worker, signal.SIGSTOP)  # so that nothing starts the engine again
        try:
            engine = self.engine()
            os.kill(engine, signal.SIGKILL)
            wait_until("it has ended", lambda: not is_running(engine))
            # This session has seen the engine: it knows at once, and plans without the index.
            self.assertEqual(self.sql(BY_INDEX + query), self.sql(BY_TABLE + query))
            self.server.end_sessions()
            # A new one believes the worker, and its search finds that nothing answers.
            text = self.refused(BY_INDEX + query, AWAY)
            self.assertIn("engine", text)
            self.sql(f"INSERT INTO items {ROWS.format(501, 600)};")
        finally:
            os.kill(worker, signal.SIGCONT)
        self.assert_answers()
        self.assert_sound("items_v")

    def test_a_statement_is_cancelled_while_the_engine_does_not_answer(self):
        self.make_items(300)
        self.assert_answers()
        engine = self.engine()
        os.kill(engine, signal.SIGSTOP)
        try:
            wait_until("the engine is stopped", lambda: is_stopped(engine))
            self.refused("SET statement_timeout = 300;" + BY_INDEX + QUERY.format(0.1, 10), "57014")
        finally:
            os.kill(engine, signal.SIGCONT)
        self.assert_answers()
        self.assert_sound("items_v")

    def test_statements_that_are_cancelled_leave_the_engine_free(self):
        self.make_items(5000)
        self.assert_answers()
        for limit_ms in range(1, 25):
            try:
                self.sql(f"SET statement_timeout = {limit_ms}; {BY_INDEX}{QUERY.format(0.1, 2000)}")
            except SqlError as error:
                self.assertEqual(error.state, "57014")
        self.assert_answers()
        self.assert_sound("items_v")

    def test_the_server_stopped_in_the_middle_of_inserts(self):
        self.make_items(500)
        first = 501
        for mode in ("immediate", "fast", "immediate"):
            engine = self.engine()
            inserting = self.server.begin("SELECT 1;" if mode == "fast" else "".join(
                f"INSERT INTO items {ROWS.format(i, i)};" for i in range(first, first + 400)))
            first += 400
            time.sleep(0.2)
            self.restart(mode)
            inserting.communicate()
            self.assertFalse(is_running(engine), "the engine ends with the server")
            self.assert_answers()
            self.assert_sound("items_v")

    def test_a_stopped_server_leaves_no_segment(self):
        self.make_items(50)
        engine = self.engine()
        segment = (self.server.folder / "farvec" / "segment").read_text()
        self.assertTrue(pathlib.Path(segment).exists())
        self.restart("fast")
        self.assertFalse(pathlib.Path(segment).exists())
        self.assertFalse(is_running(engine))
        segment = (self.server.folder / "farvec" / "segment").read_text()
        os.kill(self.worker(), signal.SIGKILL)  # the server starts all of its processes again
        self.server.end_sessions()
        wait_until("the server is back", lambda: self.is_back())
        self.assert_answers()
        self.assertFalse(pathlib.Path(segment).exists())
        self.assert_sound("items_v")

    def test_a_killed_postmaster_takes_the_engine_along(self):
        self.make_items(300)
        self.sql(f"INSERT INTO items {ROWS.format(301, 400)};")
        engine, worker = self.engine(), self.worker()
        self.server.end_sessions()
        os.kill(self.postmaster(), signal.SIGKILL)
        wait_until("both have ended", lambda: not is_running(engine) and not is_running(worker))
        wait_until("the server starts again", lambda: self.server.control(
            "start", "--log", self.server.log) == 0)
        self.assert_answers()
        self.assert_sound("items_v")

    def is_back(self):
        try:
            return self.sql("SELECT 1;") == ["1"]
        except SqlError:
            return False


class Crowd(EngineTest):
    """Many clients insert and search at the same time while the engine is killed."""

    CLIENTS = 6
    ROWS = 120  # of a client
    numbers = itertools.count()

    def test_each_client_has_its_own_answers_and_no_row_is_lost(self):
        self.make_items(1000)
        self.wait_for_plan()
        inserting = [self.begin(self.inserts(client)) for client in range(self.CLIENTS)]
        searching = [self.begin(self.searches(client)) for client in range(self.CLIENTS)]
        for _ in range(5):
            os.kill(self.engine(), signal.SIGKILL)
            time.sleep(0.5)
        for process in inserting:
            _, errors = process.communicate()
            self.assertEqual(errors, "", "an insert does not need the engine")
        answered = sum(self.check_searches(process) for process in searching)
        self.assertGreater(answered, 0)
        self.assertEqual(self.one("SELECT count(*) FROM items;"),
                         str(1000 + self.CLIENTS * self.ROWS))
        self.assert_answers()
        self.assert_sound("items_v")

    def begin(self, statements):
        """A psql that runs statements, each in a transaction of its own, and goes on after errors."""
        file = self.server.top / f"statements-{next(self.numbers)}.sql"
        file.write_text("\n".join(statements))
        return subprocess.Popen(self.server.command("postgres", "--file", str(file)), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.server.environment({}))

    def first(self, client):
        return 1001 + client * self.ROWS

    def inserts(self, client):
        return [f"INSERT INTO items {ROWS.format(i, i)};" for i in
                range(self.first(client), self.first(client) + self.ROWS)]

    def searches(self, client):
        """Each asks for the row that is nearest to one that is there, which is this row."""
        rows = range(1 + client, 1000, self.CLIENTS)
        return ["SET farvec.search_list = 1000;", "SET enable_seqscan = off;"] + [
            f"SELECT {i}, (SELECT id FROM items ORDER BY v <-> (SELECT v FROM items WHERE id = {i}) "
            "LIMIT 1);" for i in rows]

    def check_searches(self, process):
        """How many searches were answered; the others said that the engine is away."""
        lines, errors = process.communicate()
        for line in lines.splitlines():
            asked, found = line.split("|")
            self.assertEqual(found, asked)
        for line in errors.splitlines():
            if "ERROR:" in line:
                self.assertRegex(line, "ERROR:  (57P03|55000):")
        return len(lines.splitlines())


if __name__ == "__main__":
    unittest.main()
