#!/usr/bin/env python3
"""A life of a server on a disk whose power goes: see cuts.sh. It recovers what the lives before it have
left, compares each table with its indexes, and looks for each row that was acknowledged. Then it changes
the tables, and notes in its journal what was acknowledged, until power goes.

    postgres_life.py DISK JOURNALS_BEFORE JOURNAL
"""
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "postgres"))
os.environ.setdefault("FARVEC_PATIENCE_S", "240")  # an emulated processor, on which a program starts in seconds

import kills_base  # noqa: E402
from index_base import BY_INDEX  # noqa: E402
from postgres_server import Postgres, SqlError  # noqa: E402
from private_install import private_install  # noqa: E402
from server import Server  # noqa: E402

kills_base.START_S = 240
TABLES = [table for table in kills_base.TABLES if table.name in ("items", "bits")]
# Rows whose commits are waited for.
KEPT = ("CREATE TABLE kept (id int PRIMARY KEY, v vector(8));"
        "CREATE INDEX kept_v ON kept USING farvec (v vector_l2_ops);")
KEPT_ROW = "ARRAY[" + ", ".join(f"sin(i * {1.1 + 0.37 * i:.2f})" for i in range(8)) + "]::real[]::vector"
KEPT_AT_ONCE = 20
SETTINGS = {**kills_base.KILLED_SETTINGS, "fsync": "on", "wal_consistency_checking": "",
            "log_min_messages": "warning"}


class OnDisk(Postgres):
    """A server whose data directory is on the disk, which may have it already."""

    def __init__(self, pg_config, extension, disk):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="farvec-postgres-"))
        self.top.chmod(0o755)
        self.sessions = {}
        install = private_install(pg_config, extension, self.top / "wheels/package/install")
        Server.__init__(self, install, disk / "data")
        self.log = self.top / "data.log"
        self.is_new = not (disk / "made").exists()
        if self.is_new:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.create()
        else:
            (self.folder / "postmaster.pid").unlink(missing_ok=True)
        self.start(SETTINGS)


def make(killed, disk):
    killed.server.sql("CREATE EXTENSION farvec;")
    killed.patiently("".join(table.create() for table in killed.tables) + KEPT)
    killed.server.sql("CHECKPOINT;")
    os.sync()
    (disk / "made").touch()
    os.sync()


def check_kept(killed, journal):
    """Each row that was acknowledged is there, by the index too."""
    acknowledged = [int(line) for line in journal.read_text().split()]
    found = set(map(int, killed.patiently(
        BY_INDEX + "SELECT id FROM kept ORDER BY v <-> '[0,0,0,0,0,0,0,0]';")))
    missing = [first for first in acknowledged if not {*range(first, first + KEPT_AT_ONCE)} <= found]
    if missing:
        raise AssertionError(f"rows of {missing[:5]} were acknowledged, and are not there")
    print(f"cut: {len(acknowledged) * KEPT_AT_ONCE} acknowledged rows are there, of {len(found)}", flush=True)
    return max(found, default=0) + 1


def keep(killed, journal, first):
    """Inserts and commits until power goes."""
    try:
        with open(journal, "w") as file:
            while True:
                killed.server.sql(f"INSERT INTO kept SELECT i, {KEPT_ROW} FROM generate_series({first}, "
                                  f"{first + KEPT_AT_ONCE - 1}) i;")
                print(first, file=file, flush=True)
                first += KEPT_AT_ONCE
    except BaseException as error:  # the other thread waits for clients
        print(f"error: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def main(disk, before, journal):
    generator = random.Random()
    server = OnDisk(os.environ["FARVEC_PG_CONFIG"], pathlib.Path(os.environ["FARVEC_POSTGRES_DIR"]), disk)
    killed = kills_base.Killed(server, TABLES)
    if server.is_new:
        make(killed, disk)
    killed.start_again()
    killed.settle(generator)
    began = time.monotonic()
    first = check_kept(killed, before)
    killed.compare(generator)
    killed.cut()
    print(f"cut: all indexes are as their tables, compared in {time.monotonic() - began:.0f} s", flush=True)
    print("checked", flush=True)
    threading.Thread(target=keep, args=(killed, journal, first), daemon=True).start()
    number = int(time.time()) % 1_000_000  # ids of each life are its own
    while True:
        wrong = killed.end_clients(killed.begin_clients(number, generator, clients=2, statements=1000))
        if wrong:
            raise AssertionError("\n".join(wrong[:5]))
        number += 1


if __name__ == "__main__":
    try:
        main(*map(pathlib.Path, sys.argv[1:]))
    except (AssertionError, SqlError) as error:
        sys.exit(f"error: {error}")
