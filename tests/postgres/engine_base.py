"""What tests of the server's engine share: the engine's process, and a table with an index there."""
import os
import pathlib
import time

from index_base import BY_INDEX, BY_TABLE, PRELOAD, IndexTest
from postgres_server import Postgres, SqlError

ENGINE = pathlib.Path(os.environ.get("FARVEC_BIN_DIR", ".")) / "farvec-postgres-engine"
SETTINGS = {**PRELOAD, "farvec.engine": ENGINE, "farvec.engine_threads": 2,
            "farvec.engine_memory": "256MB", "farvec.engine_clean_interval": "1s"}
ROWS = """SELECT i, ARRAY[sin(i), cos(i * 1.7), sin(i * 0.3), cos(i * 0.9)]::real[]::vector
          FROM generate_series({0}, {1}) i"""
QUERY = "SELECT id FROM items ORDER BY v <-> '[{0},0.2,-0.4,0.1]' LIMIT {1};"
AWAY = "57P03"
PATIENCE_S = float(os.environ.get("FARVEC_PATIENCE_S", "30"))


def wait_until(what, holds):
    """Waits for what happens elsewhere; fails when it does not."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


def children_of(pid):
    try:
        return [int(word) for word in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def title_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def states_of(pid):
    """States of the threads of a process: its locks go with the last of them."""
    states = set()
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states.add(path.read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            pass
    return states


def is_running(pid):
    return not states_of(pid) <= {"Z", "X"}


def is_stopped(pid):
    """Whether each thread is: a signal to stop reaches one after the other."""
    return states_of(pid) == {"T"}


class EngineTest(IndexTest):
    settings = {}

    @classmethod
    def start_server(cls, pg_config, folder):
        cls.server = Postgres(pg_config, folder, **{**SETTINGS, **cls.settings})
        cls.addClassCleanup(cls.server.close)

    def worker(self):
        """The process of the background worker; None where there is none now."""
        return next((pid for pid in children_of(self.postmaster())
                     if "farvec engine" in title_of(pid)), None)

    def engine(self):
        """The engine's process."""
        found = []

        def is_there():
            worker = self.worker()
            found[:] = [pid for pid in children_of(worker)
                        if "farvec-postgres-engine" in title_of(pid)] if worker else []
            return found

        wait_until("the worker has a process", is_there)
        return found[0]

    def postmaster(self):
        return int((self.server.folder / "postmaster.pid").read_text().split()[0])

    def restart(self, mode):
        """Stops the server in some way, and starts it with its settings."""
        self.server.end_sessions()
        self.server.control("stop", "--mode", mode)
        self.server.control("start", "--log", self.server.log)

    def patiently(self, statements):
        """What statements answer once the engine is there: until then they say that it is not."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.sql(statements)
            except SqlError as error:
                if error.state != AWAY or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def make_items(self, rows=2000):
        self.sql("DROP TABLE IF EXISTS items; CREATE TABLE items (id int PRIMARY KEY, v vector(4));"
                 f"INSERT INTO items {ROWS.format(1, rows)};")
        self.patiently("CREATE INDEX items_v ON items USING farvec (v vector_l2_ops);")

    def wait_for_plan(self):
        """Waits until the planner knows that the engine is there: it takes the table before."""
        plan = BY_INDEX + "EXPLAIN " + QUERY.format(0, 10)
        wait_until("the index is planned",
                   lambda: "Index Scan using items_v" in "".join(self.sql(plan)))

    def assert_answers(self):
        self.wait_for_plan()
        for first in (-0.9, 0.0, 0.8):
            for limit in (1, 10, 100):
                query = QUERY.format(first, limit)
                self.assertEqual(self.patiently(BY_INDEX + query), self.sql(BY_TABLE + query), query)

    def assert_sound(self, index):
        self.assertEqual(self.patiently(f"SELECT farvec_check('{index}')->>'sound';"), ["true"],
                         self.patiently(f"SELECT farvec_check('{index}');"))

    def folders(self):
        return {path.name for path in (self.server.folder / "farvec").iterdir() if path.is_dir()}
