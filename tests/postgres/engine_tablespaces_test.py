"""Indexes of the engine lie in their tablespace, move with it, and leave nothing there."""
import os
import re
import shutil
import signal
import unittest

from engine_base import BY_INDEX, BY_TABLE, ENGINE, QUERY, ROWS, SETTINGS, EngineTest, wait_until
from engine_servers_test import StandbyTest
from postgres_server import Postgres

WITHIN = re.compile(r"farvec_PG_\d+_\d+")
CREATE = "CREATE INDEX items_v ON items USING farvec (v vector_l2_ops)"


class TablespaceTest(EngineTest):
    """Looks for gone indexes seldom, so that what a test finds was not removed by that."""

    settings = {"farvec.engine_clean_interval": "1h", "allow_in_place_tablespaces": "off"}

    @classmethod
    def setUpClass(cls):
        if not ENGINE.exists():
            raise unittest.SkipTest(f"no {ENGINE}")
        super().setUpClass()

    def tablespace(self, name):
        """The folder of a new tablespace, which is dropped at the end."""
        folder = self.server.top / name
        folder.mkdir()
        self.server.own(folder)
        self.sql(f"CREATE TABLESPACE {name} LOCATION '{folder}';")
        return folder

    @staticmethod
    def within(folder):
        """Names of indexes in a tablespace; None where it has nothing of the engine."""
        found = [path for path in folder.iterdir() if WITHIN.fullmatch(path.name)]
        if not found:
            return None
        return {path.name for path in found[0].iterdir()}

    def folder_name(self, index="items_v", database="postgres"):
        """The beginning of the name of its folder."""
        return "-".join(self.one(
            "SELECT COALESCE(NULLIF(c.reltablespace, 0), d.dattablespace), d.oid, pg_relation_filenode(c.oid) "
            f"FROM pg_class c, pg_database d WHERE relname = '{index}' AND datname = current_database();",
            database=database).split("|")) + "-"

    def assert_lies_in(self, folder, **options):
        name = self.folder_name(**options)
        self.assertEqual([one for one in self.within(folder) or () if one.startswith(name)][1:], [])
        self.assertTrue(any(one.startswith(name) for one in self.within(folder) or ()), self.within(folder))
        self.assertFalse(any(one.startswith(name) for one in self.folders()))

    def set_clean_interval(self, interval):
        self.sql(f"ALTER SYSTEM SET farvec.engine_clean_interval = '{interval}';")
        self.sql("SELECT pg_reload_conf();")


class Tablespaces(TablespaceTest):
    def test_create_move_and_drop(self):
        there = self.tablespace("there")
        self.make_items(300)
        self.sql(f"DROP INDEX items_v; {CREATE} TABLESPACE there;")
        self.assert_lies_in(there)
        self.assert_answers()
        self.assertIn("is not empty", self.refused("DROP TABLESPACE there;", "55000"))
        self.assert_answers()
        other = self.tablespace("other")
        for statement, folder in (
                ("ALTER INDEX items_v SET TABLESPACE other;", other),
                ("ALTER INDEX ALL IN TABLESPACE other SET TABLESPACE there;", there),
                ("REINDEX (TABLESPACE other) INDEX items_v;", other),
                ("REINDEX (TABLESPACE there, CONCURRENTLY) INDEX items_v;", there),
                ("ALTER TABLE items SET TABLESPACE other;", there),
                ("VACUUM FULL items;", there)):
            self.sql(statement)
            self.sql(f"INSERT INTO items {ROWS.format(1000, 1010)}; DELETE FROM items WHERE id < 20;")
            self.assert_answers()
            self.assert_lies_in(folder)
            self.assert_sound("items_v")
            self.sql("DELETE FROM items WHERE id >= 1000; VACUUM items;" + "INSERT INTO items " +
                     ROWS.format(1, 19) + " ON CONFLICT DO NOTHING;")
        # A move that is rolled back leaves the index where it was.
        self.sql("BEGIN; ALTER INDEX items_v SET TABLESPACE other;" + BY_INDEX + QUERY.format(0.1, 5) + "ROLLBACK;")
        self.assert_answers()
        self.assert_lies_in(there)
        self.sql("DROP TABLE items; DROP TABLESPACE there; DROP TABLESPACE other;")
        for folder in (there, other):
            self.assertEqual(list(folder.iterdir()), [])

    def test_a_tablespace_is_left_without_the_engine(self):
        there = self.tablespace("left_alone")
        self.make_items(100)
        self.sql("ALTER INDEX items_v SET TABLESPACE left_alone;")
        self.assert_answers()
        self.assert_lies_in(there)
        os.kill(self.engine(), signal.SIGSTOP)
        stopped = self.engine()
        try:
            self.sql("DROP TABLE items; DROP TABLESPACE left_alone;", timeout=60)
        finally:
            os.kill(stopped, signal.SIGCONT)
        self.assertEqual(list(there.iterdir()), [])

    def test_gone_indexes_leave_a_tablespace(self):
        there = self.tablespace("cleaned")
        self.make_items(100)
        self.sql("ALTER INDEX items_v SET TABLESPACE cleaned;")
        self.assert_answers()
        self.sql("ALTER INDEX items_v SET TABLESPACE pg_default;")
        self.assert_answers()
        self.assertTrue(self.within(there))
        self.set_clean_interval("1s")
        try:
            wait_until("it is left", lambda: self.within(there) is None)
        finally:
            self.set_clean_interval("1h")
        self.assert_answers()
        self.sql("DROP TABLESPACE cleaned;")

    def test_kills_and_starts(self):
        there = self.tablespace("lasting")
        self.make_items(3000)
        self.sql(f"DROP INDEX items_v; {CREATE} TABLESPACE lasting;")
        self.assert_answers()
        before = self.within(there)
        os.kill(self.engine(), signal.SIGKILL)
        self.assert_answers()
        for mode in ("fast", "immediate"):
            self.restart(mode)
            self.assert_answers()
            self.assert_sound("items_v")
        self.assertEqual(self.within(there), before)
        self.assertNotIn("begins anew", self.server.log.read_text())
        self.sql("DROP TABLE items; DROP TABLESPACE lasting;")
        self.assertEqual(list(there.iterdir()), [])

    def test_a_tablespace_that_cannot_be_written(self):
        there = self.tablespace("closed")
        self.make_items(100)
        self.sql("ALTER INDEX items_v SET TABLESPACE closed;")
        # Nobody has asked for the index there yet, and something else has the name of the folder.
        self.assertIsNone(self.within(there))
        within = there / f"farvec_{next(there.iterdir()).name}"
        within.write_text("no folder")
        self.assertIn(within.name, self.refused(BY_INDEX + QUERY.format(0.1, 5), "38000"))
        self.sql(f"INSERT INTO items {ROWS.format(101, 110)};")
        within.unlink()
        self.assert_answers()
        self.assert_lies_in(there)
        self.sql("DROP TABLE items; DROP TABLESPACE closed;")


class Databases(TablespaceTest):
    def sql_in(self, database, statements):
        return self.sql(statements, database=database)

    def same(self, database):
        for first in (-0.9, 0.0, 0.8):
            query = QUERY.format(first, 100)
            self.assertEqual(self.sql_in(database, BY_INDEX + query), self.sql_in(database, BY_TABLE + query))
        self.assertEqual(self.sql_in(database, "SELECT farvec_check('items_v')->>'sound';"), ["true"])

    def make_database(self, name, options=""):
        self.sql(f"CREATE DATABASE {name} {options};")
        self.sql_in(name, "CREATE EXTENSION farvec; CREATE TABLE items (id int PRIMARY KEY, v vector(4));"
                    f"INSERT INTO items {ROWS.format(1, 300)}; {CREATE};")
        self.same(name)

    def setUp(self):
        self.make_items(10)  # the engine is there then

    def test_a_database_moves_and_comes_back(self):
        """Its files keep their numbers, so the former index in the engine has the same name again."""
        there = self.tablespace("away")
        self.make_database("mover")
        for number in range(2):
            self.server.end_sessions()
            self.sql("ALTER DATABASE mover SET TABLESPACE away;")
            self.sql_in("mover", f"INSERT INTO items {ROWS.format(1000, 1100)};"
                        "DELETE FROM items WHERE id < 50; VACUUM items;")
            if number == 0:
                self.same("mover")
                self.assert_lies_in(there, database="mover")
            self.server.end_sessions()
            self.sql("ALTER DATABASE mover SET TABLESPACE pg_default;")
            self.same("mover")
            self.sql_in("mover", "DELETE FROM items WHERE id >= 1000;"
                        f"INSERT INTO items {ROWS.format(1, 49)}; VACUUM items;")
        self.server.end_sessions()
        self.sql("DROP DATABASE mover; DROP TABLESPACE away;")
        self.assertEqual(list(there.iterdir()), [])

    def test_copies_of_a_database(self):
        there = self.tablespace("copied")
        self.make_database("original", "TABLESPACE copied")
        self.assert_lies_in(there, database="original")
        self.server.end_sessions()
        for name, options in (("by_log", "STRATEGY wal_log"), ("by_file", "STRATEGY file_copy"),
                              ("elsewhere", "TABLESPACE pg_default")):
            self.server.end_sessions()
            self.sql(f"CREATE DATABASE {name} TEMPLATE original {options};")
            self.sql_in(name, f"INSERT INTO items {ROWS.format(2000, 2050)}; DELETE FROM items WHERE id < 50;")
            self.same(name)
            self.same("original")
        self.server.end_sessions()
        self.sql("DROP DATABASE original; DROP DATABASE by_log; DROP DATABASE by_file; DROP DATABASE elsewhere;"
                 "DROP TABLESPACE copied;")
        self.assertEqual(list(there.iterdir()), [])


class Backups(TablespaceTest):
    def test_a_base_backup_maps_the_tablespace(self):
        there = self.tablespace("backed_up")
        self.make_items(300)
        self.sql("ALTER INDEX items_v SET TABLESPACE backed_up;")
        self.assert_answers()
        self.assert_lies_in(there)
        copy, mapped = self.server.top / "copy", self.server.top / "mapped"
        for folder in (copy, mapped):
            folder.mkdir(mode=0o700)
            self.server.own(folder)
        self.server.run("pg_basebackup", "--pgdata", copy, "--host", self.server.sockets, "--username",
                        "postgres", "--checkpoint", "fast", "--tablespace-mapping", f"{there}={mapped}",
                        **self.server.as_user)
        self.assertIsNone(self.within(mapped), "a backup has no files of the engine in a tablespace")
        restored = Postgres.__new__(Postgres)
        restored.__dict__.update(self.server.__dict__)
        restored.folder, restored.log, restored.sessions = copy, copy.with_suffix(".log"), {}
        self.server.end_sessions()
        self.server.control("stop", "--mode", "fast")
        restored.start({**SETTINGS, **self.settings})
        self.addCleanup(restored.control, "stop", "--mode", "immediate")
        self.addCleanup(restored.end_sessions)

        class Copy(TablespaceTest):
            server = restored

            def runTest(self):
                pass

        self.before = self.within(there)
        one = Copy()
        one.sql(f"INSERT INTO items {ROWS.format(1000, 1100)}; DELETE FROM items WHERE id < 50; VACUUM items;")
        one.assert_answers()
        one.assert_lies_in(mapped)
        one.assert_sound("items_v")
        self.assertEqual(self.within(there), self.before)


class Standbys(TablespaceTest, StandbyTest):
    def test_a_standby_has_its_own_files_and_leaves_them(self):
        there, mapped = self.tablespace("led"), self.server.top / "followed"
        mapped.mkdir(mode=0o700)
        self.server.own(mapped)
        self.make_items(300)
        self.sql("ALTER INDEX items_v SET TABLESPACE led;")
        self.assert_answers()
        standby = self.start_standby(("--tablespace-mapping", f"{there}={mapped}"), **self.settings)
        follower = self.follower_of(standby)
        follower.assert_answers()
        self.assertEqual(len(self.within(mapped)), 1)
        self.sql(f"INSERT INTO items {ROWS.format(301, 400)}; DELETE FROM items WHERE id < 50; VACUUM items;")
        self.wait_for_replay(standby)
        follower.assert_answers()
        self.sql("ALTER INDEX items_v SET TABLESPACE pg_default; DROP TABLESPACE led;")
        self.assertEqual(list(there.iterdir()), [])
        self.wait_for_replay(standby)
        follower.assert_answers()
        # A standby's backends see no such statement: its engine finds the tablespace gone.
        wait_until("it has left the tablespace", lambda: not list(mapped.iterdir()))


class Restored(TablespaceTest):
    def test_a_restore_in_place_leaves_the_engines_files_of_later(self):
        """Vectors that were erased after the backup come again, though the engine's folder is that of later."""
        there, data = self.tablespace("restored"), self.server.folder
        self.make_items(600)
        self.sql("ALTER INDEX items_v SET TABLESPACE restored; VACUUM items;")
        self.assert_answers()
        copy = self.server.top / "copied-by-hand"
        self.sql("SELECT pg_backup_start('here', true);")
        shutil.copytree(data, copy / "data", symlinks=True,
                        ignore=shutil.ignore_patterns("farvec", "postmaster.*", "pg_wal"))
        shutil.copytree(there, copy / "there", ignore=shutil.ignore_patterns("farvec*"))
        label = "\n".join(self.sql("SELECT labelfile FROM pg_backup_stop(false);"))
        shutil.copytree(data / "pg_wal", copy / "data" / "pg_wal")
        self.sql("DELETE FROM items WHERE id < 300; VACUUM items;")
        wait_until("the rows are erased", lambda: self.one(
            "SELECT farvec_stats('items_v')->'store'->>'stored';") == "301")
        self.server.end_sessions()
        self.server.stop()
        for folder in (data, there):
            for path in folder.iterdir():
                if path.name != "farvec" and not WITHIN.fullmatch(path.name):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(copy / "data", data, symlinks=True, dirs_exist_ok=True)
        shutil.copytree(copy / "there", there, dirs_exist_ok=True)
        (data / "backup_label").write_text(label.strip() + "\n")
        for path in [data, *data.rglob("*"), *there.rglob("*")]:
            if not path.is_symlink():
                self.server.own(path)
        self.server.start({**SETTINGS, **self.settings, "fsync": "off"})
        self.assertEqual(self.one("SELECT count(*) FROM items;"), "600")
        self.assert_sound("items_v")
        self.assert_answers()
        self.assert_lies_in(there)


if __name__ == "__main__":
    unittest.main()
