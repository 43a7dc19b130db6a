"""Nodes and servers that end while rows are inserted: no row is missing and none is another's."""
import pathlib
import random
import shutil
import time
import unittest

import index_base
import postgres_server
from farvec_tool import TIMEOUT_S
from index_base import BY_INDEX, BY_TABLE
from index_changes_test import ChangesTest, VALUE

SETTINGS = {"fsync": "off", **index_base.PRELOAD}
INSERTS = ("DO $$ BEGIN FOR i IN {first}..{last} LOOP PERFORM pg_sleep(0.002); INSERT INTO {table} VALUES (i, array[i % 97, i % 13, i % 7]);"
           " COMMIT; IF i % 4 = 0 THEN DELETE FROM {table} WHERE id = i - 2; COMMIT; END IF; EXIT WHEN EXISTS (SELECT FROM {table} WHERE id = 0); END LOOP; END $$;")


class LivesTest(ChangesTest):
    def until(self, statement, is_expected):
        end = time.monotonic() + TIMEOUT_S
        while not is_expected(self.one(statement)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def serve_again(self, name):
        """Waits too: for a moment after a failure the library does not try to connect, and the second is
        over in which a node is taken for what it was."""
        self.serve(name)
        end = time.monotonic() + TIMEOUT_S
        time.sleep(1.1)
        while "error" in self.one(f"SELECT farvec_stats('{name}_index')->'store';"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def restart(self, mode):
        self.server.end_sessions()
        self.server.control("stop", "--mode", mode)
        self.start_again()


class Nodes(LivesTest):
    def test_a_node_is_killed_during_inserts(self):
        self.make("killed", 20)
        client = self.begin(INSERTS.format(first=100, last=100_000, table="killed"))
        for _ in range(3):
            count = int(self.one("SELECT count(*) FROM killed;"))
            self.until("SELECT count(*) FROM killed;", lambda said: int(said) > count + 40)
            self.nodes.stop("killed")
            # The planner does not know it yet, and the scan says what is wrong.
            self.refused(BY_INDEX + "SELECT id FROM killed ORDER BY v <-> '[1,2,3]' LIMIT 3;", "08006")
            self.until("SELECT count(*) FROM killed;", lambda said: int(said) > count + 60)
            self.serve_again("killed")
            self.sql("SELECT id FROM killed ORDER BY v <-> '[1,2,3]' LIMIT 3;")
            self.assert_sound("killed_index")
        self.sql("INSERT INTO killed VALUES (0, NULL);")
        self.assertEqual(client.communicate(timeout=TIMEOUT_S)[1], "")
        self.compare("killed")

    def test_vacuum_without_the_node(self):
        self.make("idle", 200)
        self.nodes.stop("idle")
        self.sql("DELETE FROM idle WHERE id < 100;")
        self.assertIn("later vacuum", self.server.session("postgres").run("VACUUM idle;", TIMEOUT_S)[1])
        self.serve_again("idle")
        self.sql("VACUUM idle;")
        self.compare("idle")

    def test_another_collection_is_served(self):
        address = self.make("moved", 150)
        self.nodes.stop("moved")
        shutil.rmtree(self.nodes.folder / "moved")
        self.assertEqual(self.collection("moved", 3), address)
        time.sleep(1.1)  # what a node serves is looked up each second
        self.compare("moved")
        other = self.make("foreign_one", 5)
        self.sql(f"ALTER INDEX moved_index SET (node = '{other}');")
        said = self.refused(BY_INDEX + "SELECT id FROM moved ORDER BY v <-> '[1,2,3]' LIMIT 3;", "55006")
        self.assertIn("not this index's", said)
        self.add("moved", 1000, 1005)
        self.compare("foreign_one")
        self.sql(f"ALTER INDEX moved_index SET (node = '{address}');")
        self.compare("moved")

    def test_an_index_that_comes_back_to_a_node_has_what_came_meanwhile(self):
        first = self.make("there", 100)
        second = self.collection("there_too", 3)
        self.sql(f"ALTER INDEX there_index SET (node = '{second}');")
        self.add("there", 1000, 1050)
        self.compare("there")
        self.sql(f"ALTER INDEX there_index SET (node = '{first}');")
        self.compare("there")
        self.sql("DELETE FROM there WHERE id < 1010;")
        self.sql("VACUUM there;")
        self.compare("there")


class Servers(LivesTest):
    def test_immediate_stops_during_inserts(self):
        generator = random.Random(index_base.SEED)
        self.make("stopped", 20)
        for number in range(4):
            first = 10_000 * (number + 1)
            clients = [self.begin(INSERTS.format(first=first + 3000 * client, table="stopped",
                                                        last=first + 3000 * client + 2999))
                       for client in range(3)]
            time.sleep(generator.uniform(0.1, 0.8))
            self.restart("immediate")
            for client in clients:
                client.communicate(timeout=TIMEOUT_S)
            self.compare("stopped")
            self.sql("VACUUM stopped;")
            self.compare("stopped")

    def test_unlogged_indexes_after_a_crash(self):
        self.make("lost", 100, options="UNLOGGED")
        for _ in range(2):
            self.add("lost", 200, 240)
            self.compare("lost")
            self.restart("fast")
            self.compare("lost")
            self.restart("immediate")
            self.assertEqual(self.one("SELECT count(*) FROM lost;"), "0")
            self.add("lost", 1, 30)
            self.compare("lost")
            self.sql("TRUNCATE lost;")

    def test_a_database_made_from_a_template(self):
        self.sql("CREATE DATABASE original;")
        before = self.server.sql
        address = self.collection("original", 3)
        self.sql("CREATE EXTENSION farvec; CREATE TABLE t (id int, v vector(3)); INSERT INTO t SELECT i, "
                 f"{VALUE.format('i')} FROM generate_series(1, 60) i; CREATE INDEX i ON t USING farvec "
                 f"(v vector_l2_ops) WITH (node = '{address}');", database="original")
        self.server.end_sessions()
        self.sql("CREATE DATABASE copied TEMPLATE original;")
        query = "SELECT id FROM t ORDER BY v <-> '[1,2,3]' LIMIT 3;"
        said = self.refused(BY_INDEX + query, "55006", database="copied")
        self.assertIn("not this index's", said)
        self.sql("INSERT INTO t VALUES (1000, '[1,2,3]');", database="copied")
        self.assertNotIn("1000", self.sql(BY_INDEX + query, database="original"))
        empty = self.collection("copied", 3)
        self.sql(f"ALTER INDEX i SET (node = '{empty}');", database="copied")
        for name in ("copied", "original"):
            self.assertEqual(self.sql(BY_INDEX + query.replace("id FROM", "v <-> '[1,2,3]' FROM"), database=name),
                             self.sql(BY_TABLE + query.replace("id FROM", "v <-> '[1,2,3]' FROM"), database=name))
            self.assertEqual(self.one("SELECT farvec_check('i')->>'sound';", database=name), "true")
        self.assertIsNotNone(before)


class Standby(LivesTest):
    def test_a_standby_answers_and_is_promoted(self):
        self.make("led", 100)
        folder = self.server.top / "standby"
        folder.mkdir()
        self.server.own(folder)
        folder.chmod(0o700)
        self.server.run("pg_basebackup", "--pgdata", folder, "--host", self.server.sockets, "--username",
                        "postgres", "--write-recovery-conf", "--checkpoint", "fast", **self.server.as_user)
        standby = Follower(self.server, folder)
        self.addCleanup(standby.close)
        self.add("led", 200, 260)
        self.sql("DELETE FROM led WHERE id < 20; VACUUM led;")
        standby.wait_for(self.one("SELECT pg_current_wal_insert_lsn();"))
        query = "SELECT v <-> '[1,2,3]' FROM led ORDER BY v <-> '[1,2,3]' LIMIT 100000;"
        expected = self.sql(BY_TABLE + query)
        self.assertEqual(standby.sql(BY_INDEX + query), expected)
        # The node lacks a row: the standby cannot mend that.
        self.nodes.stop("led")
        self.add("led", 300, 301)
        self.serve_again("led")
        standby.wait_for(self.one("SELECT pg_current_wal_insert_lsn();"))
        with self.assertRaises(postgres_server.SqlError) as caught:
            standby.sql(BY_INDEX + query)
        self.assertEqual(caught.exception.state, "55000", caught.exception.text)
        self.compare("led")
        standby.wait_for(self.one("SELECT pg_current_wal_insert_lsn();"))
        expected = self.sql(BY_TABLE + query)
        self.assertEqual(standby.sql(BY_INDEX + query), expected)
        self.server.end_sessions()
        self.server.control("stop", "--mode", "immediate")
        standby.control("promote")
        standby.sql(f"INSERT INTO led SELECT i, {VALUE.format('i')} FROM generate_series(400, 430) i;")
        self.assertEqual(standby.sql(BY_INDEX + query), standby.sql(BY_TABLE + query))
        self.assertEqual(standby.sql("SELECT farvec_check('led_index')->>'sound';"), ["true"])
        self.server.start(SETTINGS)


class Follower:
    """A standby of a server, with the same programs."""

    def __init__(self, primary, folder):
        self.server = postgres_server.Postgres.__new__(postgres_server.Postgres)
        self.server.__dict__.update(primary.__dict__)
        self.server.folder = pathlib.Path(folder)
        self.server.log = self.server.folder.with_name("standby.log")
        self.server.sessions = {}
        self.server.start({**SETTINGS, "primary_conninfo": f"host={primary.sockets} user=postgres"})

    def sql(self, statements):
        return self.server.sql(statements)

    def control(self, what):
        if self.server.control(what) != 0:
            raise AssertionError(self.server.log.read_text())

    def wait_for(self, position):
        end = time.monotonic() + TIMEOUT_S
        while self.sql(f"SELECT pg_last_wal_replay_lsn() >= '{position}';") != ["t"]:
            if time.monotonic() > end:
                raise AssertionError(self.server.log.read_text())
            time.sleep(0.05)

    def close(self):
        self.server.end_sessions()
        self.server.control("stop", "--mode", "immediate")


if __name__ == "__main__":
    unittest.main()
