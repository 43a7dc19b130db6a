"""A server with tables that clients change, which is killed in the middle."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

from engine_base import SETTINGS, children_of, is_running, title_of, wait_until
from kills_tables import ALLOWED, Client, Comparison, MOST_ROWS, Table
from postgres_server import Postgres, SqlError
from server import adopt_orphans, wait_for_orphans

KILLED_SETTINGS = {**SETTINGS, "farvec.engine_memory": "64MB", "max_prepared_transactions": "40",
                   "max_wal_size": "64MB", "shared_buffers": "2MB", "deadlock_timeout": "100ms",
                   "wal_consistency_checking": "generic", "bgwriter_delay": "10ms",
                   "checkpoint_timeout": "30s", "restart_after_crash": "on", "wal_log_hints": "on",
                   "autovacuum": "on", "autovacuum_naptime": "1s", "lock_timeout": "5s",
                   "client_connection_check_interval": "100ms", "max_connections": "100"}
TABLES = (
    Table("items", "vector", "<->", "vector_l2_ops", filters=", section, price"),
    Table("halves", "halfvec", "<=>", "halfvec_cosine_ops", where="price < 50"),
    Table("bits", "bit", "<~>", "bit_hamming_ops", filters=", price"),
    Table("loose", "vector", "<#>", "vector_ip_ops", options="UNLOGGED", filters=", section"),
)
SCHEMA = "section: string, price: i64"
CLIENTS = 4
STATEMENTS = 60
START_S = 60
LOAD_S = 180


def table_on(node):
    """A table whose index lies on a compute node."""
    return Table("noded", "vector", "<->", "vector_l2_ops", filters=", section, price",
                 place=f"WITH (node = '{node}')")


def descendants(pid):
    found = [pid]
    for child in children_of(pid):
        found += descendants(child)
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Killed:
    """A server with the tables. What is wrong is raised as AssertionError."""

    def __init__(self, server, tables):
        self.server, self.tables = server, tables
        self.makes_unlogged = True  # whether clients make indexes of unlogged tables

    @staticmethod
    def make(pg_config, extension, node=None, **settings):
        """A server of its own, in which the tables are made."""
        adopt_orphans()
        tables = TABLES + ((table_on(node),) if node else ())
        made = Killed(Postgres(pg_config, extension, **{**KILLED_SETTINGS, **settings}), tables)
        made.server.sql("CREATE EXTENSION farvec;")
        made.patiently("".join(f"DROP TABLE IF EXISTS {table.name};" + table.create() for table in tables))
        return made

    def member(self, folder):
        """A server of the same programs over another data directory, which is not started yet."""
        server = Postgres.__new__(Postgres)
        server.__dict__.update(self.server.__dict__)
        server.folder, server.log = folder, folder.with_name(folder.name + ".log")
        server.sessions, server.sockets = {}, None
        other = Killed(server, self.tables)
        other.makes_unlogged = self.makes_unlogged
        return other

    def start(self, **settings):
        self.server.start({**KILLED_SETTINGS, "fsync": "off", "log_min_messages": "warning", **settings})

    def close(self):
        self.server.close()

    def end_for_good(self):
        """Of a member, whose folder goes too."""
        self.server.end_sessions()
        self.server.control("stop", "--mode", "immediate")
        self.server.remove_segment()
        shutil.rmtree(self.server.folder, ignore_errors=True)
        if self.server.sockets is not None:
            shutil.rmtree(self.server.sockets, ignore_errors=True)

    # ---- Clients ----

    def begin_clients(self, number, generator, clients=CLIENTS, statements=STATEMENTS):
        """Processes that change the tables until they are told to end."""
        begun = []
        for client in range(clients):
            first = (number * clients + client) * 100_000 + 1
            one = Client(self.tables, client, first, generator)
            one.makes_unlogged = self.makes_unlogged
            file = self.server.top / f"client-{client}.sql"
            file.write_text(one.script(statements))
            begun.append(subprocess.Popen(
                self.server.command("postgres", "--file", str(file)), text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                env=self.server.environment({})))
        return begun

    def end_clients(self, begun):
        """Waits for them. Statements may end with errors that others cause, and with no other ones."""
        wrong = []
        for process in begun:
            try:
                _, errors = process.communicate(timeout=LOAD_S)
            except subprocess.TimeoutExpired:
                process.kill()
                _, errors = process.communicate()
                wrong.append(f"a statement had no end within {LOAD_S} s")
            for line in errors.splitlines():
                found = re.search(r"(?:ERROR|FATAL|PANIC|WARNING):  ([0-9A-Z]{5}): (.*)", line)
                if found is None:
                    continue
                if found.group(1) not in ALLOWED:
                    wrong.append(line)
        return wrong

    # ---- Ends of the server ----

    def postmaster(self):
        return int((self.server.folder / "postmaster.pid").read_text().split()[0])

    def engine(self):
        """The engine's process; None where there is none now."""
        for child in children_of(self.postmaster()):
            for process in children_of(child):
                if "farvec-postgres-engine" in title_of(process):
                    return process
        return None

    def wait_for_end(self, processes):
        wait_until("the processes have ended", lambda: not any(map(is_running, processes)))
        wait_for_orphans(processes)

    def kill_postmaster(self, generator):
        processes = descendants(self.postmaster())
        kill(processes[0])
        self.wait_for_end(processes[:1])

    def kill_all(self, generator):
        processes = descendants(self.postmaster())
        for process in processes:
            kill(process)
        self.wait_for_end(processes)

    def kill_backend(self, generator):
        """The postmaster then ends all other processes, and recovers."""
        kill(generator.choice(children_of(self.postmaster()) or [0]) or self.postmaster())

    def kill_engine(self, generator):
        engine = self.engine()
        if engine is not None:
            kill(engine)

    def stop_immediately(self, generator):
        self.server.control("stop", "--mode", "immediate")

    def stop_fast(self, generator):
        self.server.control("stop", "--mode", "fast")

    def kill_in_recovery(self, generator):
        """Once more, at some moment of the start."""
        self.kill_all(generator)
        starting = subprocess.Popen(
            [self.server.bin / "pg_ctl", "start", "--pgdata", self.server.folder, "--log", self.server.log],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **self.server.as_user)
        time.sleep(generator.uniform(0.01, 0.4))
        try:
            self.kill_all(generator)
        except (OSError, ValueError, IndexError):
            pass  # it has not begun yet
        starting.wait(timeout=START_S)
        # A postmaster that began after the look.
        if (self.server.folder / "postmaster.pid").exists():
            self.server.control("stop", "--mode", "immediate")

    # (how often, how)
    KINDS = {"postmaster": (4, kill_postmaster), "all": (6, kill_all), "backend": (3, kill_backend),
             "engine": (3, kill_engine), "immediate": (4, stop_immediately), "fast": (1, stop_fast),
             "recovery": (2, kill_in_recovery)}

    def end(self, kind, generator):
        self.KINDS[kind][1](self, generator)

    def choose(self, generator):
        names = list(self.KINDS)
        [kind] = generator.choices(names, [self.KINDS[name][0] for name in names])
        return kind

    # ---- Afterwards ----

    def is_up(self, is_standby=False):
        try:
            return self.server.sql("SELECT pg_is_in_recovery();") == ["t" if is_standby else "f"]
        except SqlError:
            return False

    def wait_until_up(self):
        wait_until("the server answers", self.is_up)

    def start_again(self, is_standby=False):
        """Starts it where it does not run, and waits until it answers."""
        self.server.end_sessions()

        def is_started():
            if self.is_up(is_standby):
                return True
            if not self.runs():
                self.wait_for_postmaster()
                self.server.control("start", "--timeout", str(START_S), "--log", self.server.log)
            return self.is_up(is_standby)

        wait_until("the server is back", is_started)

    def wait_for_postmaster(self):
        """One that was killed before pg_ctl had ended was pg_ctl's child then, and is this process's now."""
        with contextlib.suppress(OSError, IndexError, ValueError):
            wait_for_orphans([self.postmaster()])

    def runs(self):
        try:
            pid = self.postmaster()
        except (OSError, IndexError, ValueError):
            return False
        return is_running(pid) and "postgres" in title_of(pid)

    def patiently(self, statements):
        """What statements answer when the engine, or the node, is there again."""
        found = []

        def is_answered():
            try:
                found[:] = [self.server.sql(statements)]
            except SqlError as error:
                if error.state not in ("57P03", "08006", "55000"):
                    raise
                return False
            return True

        wait_until("the statements are answered", is_answered)
        return found[0]

    def settle(self, generator):
        """Transactions that were prepared come to an end, and indexes that were not finished go."""
        for name in self.server.sql("SELECT gid FROM pg_prepared_xacts;"):
            self.server.sql(f"{generator.choice(('COMMIT', 'ROLLBACK'))} PREPARED '{name}';")
        for index in self.server.sql("SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid "
                                     "AND indexrelid > 16383;"):
            self.server.sql(f"DROP INDEX {index};")

    def compare(self, generator, logged_alone=False):
        """On a standby, unlogged tables cannot be read: `logged_alone` leaves them out."""
        tables = [table for table in self.tables if not (logged_alone and table.options)]
        faults = Comparison(self.patiently, generator).check(tables)
        if faults:
            raise AssertionError("\n".join(faults))

    def cut(self):
        """Tables stay small, so that the store alone can give nearly all of their rows."""
        for table in self.tables:
            self.patiently(f"DELETE FROM {table.name} WHERE id IN (SELECT id FROM {table.name} "
                           f"ORDER BY id DESC OFFSET {MOST_ROWS // 3}) "
                           f"AND (SELECT count(*) FROM {table.name}) > {MOST_ROWS}; VACUUM {table.name};")

    def log(self):
        return self.server.log.read_text(errors="replace")
