"""A private PostgreSQL with the built extension: what the tests of the room `postgres` share.

Nothing is installed into the system. PostgreSQL looks for extensions beside its own program, so the
server runs from a folder of links to the installation's files, in which the programs are copies. It
listens on a Unix socket in a temporary folder, and runs as `nobody` where root runs the tests.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "hnsw"))

import server  # noqa: E402

TIMEOUT_S = 120
# Programs find each other, and the server its files, by where they really lie.
COPIED = {"postgres", "pg_ctl", "initdb"}


class SqlError(Exception):
    """What PostgreSQL refused: `state` is the SQLSTATE; `text` has message, detail and hint."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text
        found = re.search(r"(?:ERROR|FATAL):  ([0-9A-Z]{5})", text)
        self.state = found.group(1) if found else None


def config(pg_config, what):
    return subprocess.run([pg_config, f"--{what}"], check=True, capture_output=True, text=True,
                          timeout=TIMEOUT_S).stdout.strip()


def build_folder():
    """Where CMake put the extension for the server that it found; None where it found none."""
    folder = os.environ.get("FARVEC_POSTGRES_DIR")
    return pathlib.Path(folder) if folder else None


def mirror(source, target):
    """A tree of folders with links to the files of another one."""
    for folder, _, files in os.walk(source):
        here = target / pathlib.Path(folder).relative_to(source)
        here.mkdir(parents=True, exist_ok=True)
        for name in files:
            link = here / name
            if name in COPIED:
                shutil.copy2(pathlib.Path(folder) / name, link)
            elif not link.exists():
                link.symlink_to((pathlib.Path(folder) / name).resolve())


def private_install(pg_config, extension, folder):
    """Makes an installation in `folder` that has the extension of the folder `extension` too. Answers
    the folder with bin/ in it."""
    places = {what: pathlib.Path(config(pg_config, what)).resolve()
              for what in ("bindir", "pkglibdir", "sharedir")}
    top = pathlib.Path(os.path.commonpath([places["bindir"].parent, places["sharedir"]]))
    for source in (places["bindir"].parent, places["sharedir"]):
        mirror(source, folder / source.relative_to(top))
    place = {what: folder / path.relative_to(top) for what, path in places.items()}
    for file in extension.glob("*.so*"):
        shutil.copy2(file, place["pkglibdir"])
    for pattern in ("farvec.control", "farvec--*.sql"):
        for file in extension.glob(pattern):
            shutil.copy2(file, place["sharedir"] / "extension")
    return place["bindir"].parent


class Postgres(server.Server):
    """Started at once, with trust for everyone on its socket. close() ends it and removes its files."""

    def __init__(self, pg_config, extension, **settings):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="farvec-postgres-"))
        self.top.chmod(0o755)
        try:
            install = private_install(pg_config, extension, self.top / "install")
            super().__init__(install, self.top / "data")
            self.create()
            self.start({"fsync": "off", "max_wal_size": "256MB", "log_min_messages": "warning",
                        **settings})
        except Exception:
            shutil.rmtree(self.top, ignore_errors=True)
            raise

    def close(self):
        self.stop()
        shutil.rmtree(self.top, ignore_errors=True)

    def command(self, database, *arguments):
        return [str(self.bin / "psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
                "--set", "ON_ERROR_STOP=1", "--set", "VERBOSITY=verbose",
                "--dbname", database, *arguments]

    def begin(self, statements, database="postgres", settings=None):
        """A psql that runs statements and is not waited for."""
        return subprocess.Popen(self.command(database, "--command", statements), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(settings or {}))

    def sql(self, statements, database="postgres", settings=None, timeout=TIMEOUT_S):
        """Lines that the statements answer, through standard input of one psql. Throws SqlError."""
        done = subprocess.run(self.command(database), input=statements, text=True,
                              capture_output=True, timeout=timeout, check=False,
                              env=self.environment(settings or {}))
        if done.returncode != 0:
            raise SqlError(done.stderr)
        return done.stdout.splitlines()

    def one(self, statements, database="postgres", **options):
        lines = self.sql(statements, database, **options)
        if len(lines) != 1:
            raise AssertionError(f"one line is expected of {statements!r}, not {lines}")
        return lines[0]


class PostgresTest(unittest.TestCase):
    """Tests of one server, with the extension in the database postgres. Skipped without a server."""

    settings = {}
    extensions = ("farvec",)

    @classmethod
    def setUpClass(cls):
        folder = build_folder()
        if folder is None:
            raise unittest.SkipTest("no PostgreSQL: CMake found no pg_config with headers")
        cls.server = Postgres(os.environ["FARVEC_PG_CONFIG"], folder, **cls.settings)
        cls.addClassCleanup(cls.server.close)
        for name in cls.extensions:
            cls.server.sql(f"CREATE EXTENSION {name};")

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
