"""The engines of standbys and of restored servers, their memory, and a server without one."""
import os
import re
import shutil
import signal
import unittest

from engine_base import AWAY, ROWS, SETTINGS, EngineTest, wait_until
from postgres_server import Postgres, SqlError


class StandbyTest(EngineTest):
    """Has standbys of its server."""

    @staticmethod
    def wait_until_replayed(standby, position):
        wait_until("the standby has followed", lambda: standby.one(
            f"SELECT pg_last_wal_replay_lsn() >= '{position}';") == "t")

    def start_standby(self, options=(), **settings):
        """A standby made by pg_basebackup, with more options for that."""
        folder = self.server.top / f"standby-{len(list(self.server.top.glob('standby-*')))}"
        folder.mkdir(mode=0o700)
        self.server.own(folder)
        self.server.run("pg_basebackup", "--pgdata", folder, "--host", self.server.sockets,
                        "--username", "postgres", "--write-recovery-conf", "--checkpoint", "fast",
                        *options, **self.server.as_user)
        standby = Postgres.__new__(Postgres)
        standby.__dict__.update(self.server.__dict__)
        standby.folder, standby.log, standby.sessions = folder, folder.with_suffix(".log"), {}
        standby.start({**SETTINGS, "hot_standby": "on",
                       "primary_conninfo": f"host={self.server.sockets} user=postgres", **settings})
        self.addCleanup(standby.control, "stop", "--mode", "immediate")
        self.addCleanup(standby.end_sessions)
        return standby

    def wait_for_replay(self, standby):
        self.wait_until_replayed(standby, self.one("SELECT pg_current_wal_insert_lsn();"))

    def follower_of(self, standby):
        """What the tests do, on the standby."""
        class Follower(EngineTest):
            server = standby

            def runTest(self):
                pass

        return Follower()


class Standby(StandbyTest):
    """A standby has an engine of its own, which follows the pages that were replayed."""

    def test_a_standby_answers_follows_and_is_promoted(self):
        self.make_items(600)
        self.assert_answers()
        standby = self.start_standby()
        follower = self.follower_of(standby)
        follower.assert_answers()
        # The copy's engine begins with the note of the primary's, which others still need.
        self.server.end_sessions()
        self.assert_answers()
        self.sql(f"INSERT INTO items {ROWS.format(601, 700)};"
                 "DELETE FROM items WHERE id < 100; VACUUM items;")
        self.wait_for_replay(standby)
        follower.assert_answers()
        os.kill(follower.engine(), signal.SIGKILL)
        follower.assert_answers()
        # The data directory has a copy of the primary's engine, which is not taken for its own.
        self.assertIn("begins anew", standby.log.read_text())
        self.server.end_sessions()
        self.server.control("stop", "--mode", "immediate")
        self.assertEqual(standby.control("promote"), 0)
        follower.sql(f"INSERT INTO items {ROWS.format(701, 800)};")
        follower.assert_answers()
        follower.assert_sound("items_v")


class ReplayedInPart(StandbyTest):
    """A standby gets its WAL from an archive, and stands still in the middle of it."""

    def test_rows_of_a_page_that_was_empty_when_it_caught_up_are_found(self):
        """That is between the record that begins a page and those that fill it."""
        self.make_items(600)
        archive = self.server.top / "archive"
        archive.mkdir()
        self.server.own(archive)
        # What the standby has fetched, it reads again until there is more.
        standby = self.start_standby(primary_conninfo="", wal_retrieve_retry_interval="100ms",
                                     restore_command=f'cp {archive}/%f "%p"')
        follower = self.follower_of(standby)
        self.server.end_sessions()
        self.server.control("stop", "--mode", "fast")
        self.server.start({**SETTINGS, "fsync": "off"})  # a start fills no page of an earlier one
        begin = self.one("SELECT pg_current_wal_insert_lsn();")
        self.sql(f"INSERT INTO items {ROWS.format(601, 700)};")
        end = self.one("SELECT pg_current_wal_insert_lsn();")
        self.sql("SELECT pg_switch_wal();")
        here = self.end_of_first_page_begun(begin, end)
        self.archive_until(archive, here)
        self.wait_until_replayed(standby, here)
        follower.assert_answers()
        self.assertEqual(follower.one("SELECT count(*) FROM items;"), "600")
        self.archive_until(archive, None)
        self.wait_until_replayed(standby, end)
        self.assertEqual(follower.one("SELECT count(*) FROM items;"), "700")
        follower.assert_sound("items_v")
        self.assertEqual(standby.control("promote"), 0)
        wait_until("it is promoted", lambda: standby.one("SELECT pg_is_in_recovery();") == "f")
        follower.assert_answers()
        follower.assert_sound("items_v")

    def end_of_first_page_begun(self, begin, end):
        """Where the WAL goes on after the record of the meta page and a page of the index."""
        dump = self.server.run("pg_waldump", "--path", self.server.folder / "pg_wal", "--start", begin,
                               "--end", end, **self.server.as_user)
        file = self.one("SELECT pg_relation_filenode('items_v');")
        records = iter(dump.stdout.decode().splitlines())
        for record in records:
            if "Generic" in record and re.search(rf"/{file} blk 0\b.*/{file} blk [1-9]", record):
                return re.search(r"lsn: (\S+),", next(records)).group(1)
        self.fail(dump.stdout.decode())

    def archive_until(self, archive, position):
        """The archive has the WAL before a position, and zeros after it; None: all that there is."""
        last = None if position is None else self.one(f"SELECT pg_walfile_name('{position}');")
        for path in sorted((self.server.folder / "pg_wal").glob("?" * 24)):
            data = path.read_bytes()
            if last is not None and path.name > last:
                break
            if path.name == last:
                offset = int(position.split("/")[1], 16) % len(data)
                data = data[:offset].ljust(len(data), b"\0")
            new = archive / "new"
            new.write_bytes(data)
            self.server.own(new)
            new.replace(archive / path.name)


class Restored(EngineTest):
    """The data directory goes back to a backup, and the engine's folder does not."""

    def test_what_was_erased_since_is_told_again(self):
        self.make_items(600)
        self.sql("VACUUM items;")
        label = self.back_up()
        self.sql("DELETE FROM items WHERE id < 300; VACUUM items;")
        wait_until("the rows are erased", lambda: self.one(
            "SELECT farvec_stats('items_v')->'store'->>'stored';") == "301")
        self.server.end_sessions()
        self.server.stop()
        self.restore(label)
        self.server.start({**SETTINGS, "fsync": "off"})
        self.assertEqual(self.one("SELECT count(*) FROM items;"), "600")
        self.assert_sound("items_v")
        self.assert_answers()

    def back_up(self):
        data, copy = self.server.folder, self.server.top / "backup"
        self.sql("SELECT pg_backup_start('here', true);")
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("farvec", "postmaster.*", "pg_wal"))
        label = "\n".join(self.sql("SELECT labelfile FROM pg_backup_stop(false);"))
        shutil.copytree(data / "pg_wal", copy / "pg_wal")
        return label

    def restore(self, label):
        data = self.server.folder
        for path in data.iterdir():
            if path.name == "farvec":
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.server.top / "backup", data, dirs_exist_ok=True)
        (data / "backup_label").write_text(label.strip() + "\n")
        for path in [data, *data.rglob("*")]:
            self.server.own(path)


class Memory(EngineTest):
    settings = {"farvec.engine_memory": "1MB"}

    def test_an_index_that_needs_more_is_refused_with_what_to_do(self):
        self.sql("CREATE TABLE wide (v vector(500));"
                 "INSERT INTO wide SELECT array_fill(i::real, ARRAY[500])::vector "
                 "FROM generate_series(1, 3000) i;")
        self.engine()
        wait_until("it serves", lambda: self.says("53000"))

    def says(self, state):
        try:
            self.sql("CREATE INDEX ON wide USING farvec (v vector_l2_ops);")
        except SqlError as error:
            self.assertIn(error.state, (state, AWAY), error.text)
            if error.state == state:
                self.assertIn("farvec.engine_memory", error.text)
                return True
        return False


class WithoutEngine(EngineTest):
    settings = {"farvec.engine": "/nowhere/engine"}

    def test_the_server_says_what_is_missing(self):
        self.sql("CREATE TABLE t (v vector(4)); INSERT INTO t VALUES ('[1,2,3,4]');")
        wait_until("the worker has tried",
                   lambda: "cannot be started from /nowhere/engine" in self.server.log.read_text())
        text = self.refused("CREATE INDEX ON t USING farvec (v vector_l2_ops);", AWAY)
        self.assertIn("/nowhere/engine", text)


if __name__ == "__main__":
    unittest.main()
