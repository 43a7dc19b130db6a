"""A private PostgreSQL with the built extension: what the tests of the room `postgres` share.

Nothing is installed into the system. PostgreSQL looks for extensions beside its own program, so the
server runs from a folder of links to the installation's files, in which the programs are copies. It
listens on a Unix socket in a temporary folder, and runs as `nobody` where root runs the tests.
"""
import atexit
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "hnsw"), str(ROOT / "bench" / "postgres")]

import server  # noqa: E402
from private_install import TIMEOUT_S, private_install  # noqa: E402

UPGRADE_TIMEOUT_S = 240


class SqlError(Exception):
    """What PostgreSQL refused: `state` is the SQLSTATE; `text` has message, detail and hint."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text
        found = re.search(r"(?:ERROR|FATAL):  ([0-9A-Z]{5})", text)
        self.state = found.group(1) if found else None


def build_folder():
    """Where CMake put the extension for the server that it found; None where it found none."""
    folder = os.environ.get("FARVEC_POSTGRES_DIR")
    return pathlib.Path(folder) if folder else None


class Session:
    """One psql that runs what it is given; each run begins with nothing set by those before it."""

    END = "-- the end of a run"

    def __init__(self, command, environment, errors):
        self.errors = open(errors, "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, env=environment)

    def run(self, statements, timeout):
        """(lines, errors). It goes on after errors, and both end where psql ends."""
        self.errors.seek(0)
        self.errors.truncate()
        deadline = threading.Timer(timeout, self.process.kill)
        deadline.start()
        lines = []
        try:
            self.process.stdin.write(f"DISCARD ALL;\n{statements}\n;\n\\echo {self.END}\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.rstrip("\n") == self.END:
                    break
                lines.append(line.rstrip("\n"))
        except BrokenPipeError:
            pass
        finally:
            deadline.cancel()
        self.errors.seek(0)
        return lines, self.errors.read()

    def is_open(self):
        return self.process.poll() is None

    def close(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(OSError):
                stream.close()


class Postgres(server.Server):
    """Started at once, with trust for everyone on its socket. close() ends it and removes its files.
    `options` are of initdb."""

    def __init__(self, pg_config, extension, options=(), **settings):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="farvec-postgres-"))
        self.top.chmod(0o755)
        self.sessions = {}
        try:
            install = private_install(pg_config, extension, self.top / "wheels/package/install")
            super().__init__(install, self.top / "data")
            self.create("--no-sync", *options)
            self.start({"fsync": "off", "max_wal_size": "256MB", "log_min_messages": "warning",
                        **settings})
        except Exception:
            shutil.rmtree(self.top, ignore_errors=True)
            raise

    def end_sessions(self):
        for session in self.sessions.values():
            session.close()
        self.sessions.clear()

    def remove_segment(self):
        """What an engine that was killed has left in memory: nobody starts this server again."""
        note = self.folder / "farvec" / "segment"
        with contextlib.suppress(OSError):
            path = pathlib.Path(note.read_text())
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # that of a running one is locked
                path.unlink()

    def close(self):
        self.end_sessions()
        self.stop()
        self.remove_segment()
        shutil.rmtree(self.top, ignore_errors=True)

    def command(self, database, *arguments):
        return [str(self.bin / "psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
                "--set", "VERBOSITY=verbose", "--dbname", database, *arguments]

    def begin(self, statements, database="postgres", settings=None):
        """A psql that runs statements and is not waited for."""
        return subprocess.Popen(self.command(database, "--command", statements), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(settings or {}))

    def session(self, database):
        """The open session with a database."""
        known = self.sessions.get(database)
        if known is None or not known.is_open():
            if known is not None:
                known.close()
            self.sessions[database] = Session(self.command(database), self.environment({}),
                                              self.top / f"errors-of-{database}")
        return self.sessions[database]

    def sql(self, statements, database="postgres", settings=None, timeout=TIMEOUT_S):
        """Lines that the statements answer, all of them in one session. Throws SqlError."""
        sets = "".join(f"SET {name} = '{value}';" for name, value in (settings or {}).items())
        session = self.session(database)
        lines, errors = session.run(sets + statements, timeout)
        if not session.is_open() or re.search("^(psql:.*)?(ERROR|FATAL|PANIC):", errors, re.MULTILINE):
            raise SqlError(errors or "psql has ended")
        return lines

    def one(self, statements, database="postgres", **options):
        lines = self.sql(statements, database, **options)
        if len(lines) != 1:
            raise AssertionError(f"one line is expected of {statements!r}, not {lines}")
        return lines[0]


def upgrade(test, old, new):
    """Stops both servers, and lets pg_upgrade bring the old one's databases into the new one."""
    # 15.20 writes an option of its own into columns, which pg_dump of 18.4 takes for the user's.
    old.sql("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}';")
    work = new.top / "upgrade"
    work.mkdir()
    new.own(work)
    for one in (old, new):
        one.end_sessions()
        one.stop()
        # Only this server's files are read, which its own settings would keep it from finding.
        (one.folder / "postgresql.auto.conf").write_text("")
    done = subprocess.run(
        [new.bin / "pg_upgrade", "--old-bindir", old.bin, "--new-bindir", new.bin, "--old-datadir",
         old.folder, "--new-datadir", new.folder, "--username", "postgres", "--socketdir", work],
        check=False, cwd=work, capture_output=True, text=True, timeout=UPGRADE_TIMEOUT_S, **new.as_user)
    logs = [path.read_text(errors="replace")[-2000:]
            for path in new.folder.glob("pg_upgrade_output.d/*/log/*dump_*.log")]
    test.assertEqual(done.returncode, 0, "\n".join([done.stdout, done.stderr, *logs]))


class PostgresTest(unittest.TestCase):
    """Tests with the extension in the database postgres. Classes of a process share one server, which is
    ended with the process. Skipped without a server."""

    shared = None

    @classmethod
    def setUpClass(cls):
        folder = build_folder()
        if folder is None:
            raise unittest.SkipTest("no PostgreSQL: CMake found no pg_config with headers")
        if PostgresTest.shared is None:
            PostgresTest.shared = Postgres(os.environ["FARVEC_PG_CONFIG"], folder)
            atexit.register(PostgresTest.shared.close)
            PostgresTest.shared.sql("CREATE EXTENSION farvec;")
        cls.server = PostgresTest.shared

    def one(self, statements, **options):
        return self.server.one(statements, **options)

    def sql(self, statements, **options):
        return self.server.sql(statements, **options)

    def refused(self, statements, state, **options):
        """The text of the error that the statements end with; it has the SQLSTATE `state`."""
        with self.assertRaises(SqlError) as caught:
            self.server.sql(statements, **options)
        self.assertEqual(caught.exception.state, state, caught.exception.text)
        return caught.exception.text
