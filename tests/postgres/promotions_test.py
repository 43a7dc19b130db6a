#!/usr/bin/env python3
"""Standbys that are killed and promoted while the primary has clients, and base backups under load. Each
server answers as its own table says, whatever it has lost of the other's.

Example of a long run, which goes on where it stopped:
    tests/postgres/promotions_test.py --rounds 100 --state build/promotions.json
"""
import os
import shutil
import sys
import time
import unittest

import rounds

OPTIONS = rounds.options_by_hand(sys.argv[1:], __doc__)

import index_base  # noqa: E402
from engine_base import wait_until  # noqa: E402
from kills_base import Killed  # noqa: E402
from postgres_server import SqlError  # noqa: E402
from server import ServerError  # noqa: E402

ROUNDS_PER_PAIR = 20
SETTINGS = {"wal_keep_size": "512MB", "max_standby_streaming_delay": "0", "hot_standby": "on",
            "wal_receiver_status_interval": "1s", "wal_retrieve_retry_interval": "100ms"}


# What PostgreSQL's own comparison of pages ends with where pg_rewind left a file out, because it was
# dropped on the new primary: it is made again while its WAL is replayed, up to the record that drops
# it, and a page of zeros is in the place of one that comes in no image.
NO_PAGE = "invalid page pd_lower 0 pd_upper 0 pd_special 0"


class Promotions(index_base.IndexTest):
    setup = "SELECT 1;"

    @classmethod
    def start_server(cls, pg_config, folder):
        cls.primary = Killed.make(pg_config, folder, **SETTINGS)
        # A copy may have the file of an index that is made meanwhile, and not its init fork yet. Whatever
        # the index, PostgreSQL then cannot come to the end of recovery ("File exists").
        cls.primary.makes_unlogged = False
        cls.addClassCleanup(lambda: cls.primary.close())
        cls.server = cls.primary.server
        cls.standby = None
        cls.folders = 0
        cls.addClassCleanup(cls.drop_standby)
        cls.make_standby("backup")

    @classmethod
    def drop_standby(cls):
        if cls.standby is not None:
            cls.standby.end_for_good()
        cls.standby = None

    @classmethod
    def log(cls):
        return cls.primary.log() + "\n--- the other ---\n" + (cls.standby.log() if cls.standby else "")

    @classmethod
    def backup(cls):
        """A base backup of the primary, in a folder that is new."""
        cls.folders += 1
        folder = cls.primary.server.top / f"member-{cls.folders}"
        folder.mkdir(mode=0o700)
        cls.primary.server.own(folder)
        cls.primary.server.run("pg_basebackup", "--pgdata", folder, "--host", cls.primary.server.sockets,
                               "--username", "postgres", "--checkpoint", "fast",
                               **cls.primary.server.as_user)
        return cls.primary.member(folder)

    @classmethod
    def connection(cls):
        return f"host={cls.primary.server.sockets} user=postgres"

    @classmethod
    def make_standby(cls, how, former=None):
        """`former` is the old primary, which "rewind" takes as it is."""
        if how == "backup":
            if former is not None:
                former.end_for_good()
            cls.standby = cls.backup()
        else:
            cls.primary.server.sql("CHECKPOINT;")  # the timeline is known after it
            # For pg_rewind a killed server runs until init has waited for it, which may take long.
            if not former.runs():
                (former.server.folder / "postmaster.pid").unlink(missing_ok=True)
            former.server.run("pg_rewind", "--target-pgdata", former.server.folder, "--source-server",
                              cls.connection() + " dbname=postgres", "--no-sync",
                              **former.server.as_user)
            cls.standby = former
        signal = cls.standby.server.folder / "standby.signal"
        signal.touch()
        cls.standby.server.own(signal)
        try:
            cls.standby.start(primary_conninfo=cls.connection(), **SETTINGS)
        except ServerError:
            if how == "backup" or NO_PAGE not in cls.standby.log():
                raise
            cls.make_standby("backup", cls.standby)
        else:
            cls.restart_from_here()

    @classmethod
    def restart_from_here(cls):
        """A later start of the standby does not begin with WAL from before it was rewound: see NO_PAGE."""
        cls.standby.start_again(is_standby=True)
        cls.primary.server.sql("CHECKPOINT;")
        position = cls.primary.server.one("SELECT pg_current_wal_insert_lsn();")
        wait_until("the standby has followed", lambda: cls.standby.server.one(
            f"SELECT pg_last_wal_replay_lsn() >= '{position}';") == "t")
        cls.standby.server.sql("CHECKPOINT;")

    @classmethod
    def compare_while_paused(cls, generator):
        """The standby stands still at some moment of the replay, and compares. It may hold the lock of a
        TRUNCATE then, of which the end was not replayed yet, or cancel a statement for what it replayed."""
        standby = cls.standby
        standby.server.sql("SELECT pg_wal_replay_pause();")
        wait_until("the replay stands still", lambda: standby.server.one(
            "SELECT pg_get_wal_replay_pause_state();") == "paused")
        try:
            standby.compare(generator, logged_alone=True)
        except SqlError as error:
            if error.state not in ("55P03", "40001"):
                raise
        finally:
            cls.resume(standby)

    @staticmethod
    def resume(standby):
        """The statement may be cancelled for what it lets the standby replay."""
        try:
            standby.server.sql("SELECT pg_wal_replay_resume();")
        except SqlError as error:
            if error.state != "40001":
                raise
        wait_until("the replay goes on", lambda: standby.server.one(
            "SELECT pg_get_wal_replay_pause_state();") == "not paused")

    @classmethod
    def check_copy(cls, generator):
        """A base backup that is no standby, and goes on with a timeline of its own."""
        copy = cls.backup()
        try:
            copy.start(**SETTINGS)
            copy.wait_until_up()
            copy.settle(generator)
            copy.compare(generator)
        finally:
            copy.end_for_good()

    @classmethod
    def disturb(cls, counted, generator):
        """What happens before the promotion. The standby may lack the last WAL then, or be down."""
        what = generator.choice(("kill", "kill", "engine", "pause", "copy", "stop", "nothing"))
        counted.note(what)
        if what == "kill":
            cls.standby.kill_all(generator)
            time.sleep(generator.uniform(0, 0.3))
            cls.standby.start_again(is_standby=True)
        elif what == "engine":
            cls.standby.kill_engine(generator)
        elif what == "pause":
            cls.compare_while_paused(generator)
        elif what == "copy":
            cls.check_copy(generator)
        elif what == "stop":
            cls.standby.stop_immediately(generator)
        time.sleep(generator.uniform(0, 0.5))

    @classmethod
    def end_primary(cls, generator):
        kind = generator.choice(("all", "all", "immediate", "fast", "postmaster"))
        cls.primary.server.end_sessions()
        cls.primary.end(kind, generator)

    @classmethod
    def round(cls, counted, number, generator):
        clients = cls.primary.begin_clients(number, generator, statements=200)
        time.sleep(generator.uniform(0.05, 1.0))
        cls.disturb(counted, generator)
        cls.end_primary(generator)
        wrong = cls.primary.end_clients(clients)
        former, cls.primary = cls.primary, cls.standby
        cls.standby = former
        cls.primary.start_again(is_standby=True)
        cls.primary.server.end_sessions()
        if cls.primary.server.control("promote") != 0:
            raise AssertionError("it is not promoted")
        cls.primary.wait_until_up()
        cls.primary.settle(generator)
        cls.primary.compare(generator)
        if wrong:
            raise AssertionError("\n".join(wrong[:10]))
        cls.primary.cut()
        how = generator.choice(("rewind", "rewind", "backup"))
        counted.note(how)
        clients = cls.primary.begin_clients(1_000_000 + number, generator, clients=2, statements=20)
        cls.make_standby(how, former)
        cls.primary.end_clients(clients)
        counted.note("promotions")

    def test_a_promoted_standby_answers_as_its_table_says(self):
        for number, generator in rounds.Rounds(None, index_base.SEED, int(os.environ.get("FARVEC_KILLS", 2))):
            with self.subTest(seed=index_base.SEED, round=number):
                self.round(rounds.Rounds(None, index_base.SEED, 0), number, generator)

    def test_a_base_backup_under_load(self):
        [(number, generator)] = rounds.Rounds(None, index_base.SEED, 1)
        clients = self.primary.begin_clients(2_000_000, generator)
        time.sleep(0.5)
        self.check_copy(generator)
        self.assertEqual(self.primary.end_clients(clients), [])


if __name__ == "__main__":
    if OPTIONS is not None:
        sys.exit(1 if rounds.run_by_hand(OPTIONS, Promotions, ROUNDS_PER_PAIR) else 0)
    unittest.main()
