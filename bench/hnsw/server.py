"""A private PostgreSQL in a folder: started with given settings, asked through psql and pgbench.

It listens on a socket in a folder of its own and nowhere else. PostgreSQL refuses to run as root;
started by root, the server runs as `nobody`, who then must be able to reach the folders.
"""
import contextlib
import ctypes
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

SERVER_USER = "nobody"
START_TIMEOUT_S = 120
LOG_LINES = 5  # of the server's, beside a failure
ALWAYS = {"listen_addresses": "", "autovacuum": "off", "jit": "off", "fsync": "on",
          "max_wal_size": "16GB", "checkpoint_timeout": "1h", "track_io_timing": "on",
          "random_page_cost": "1.1", "max_connections": "40"}


def adopt_orphans():
    """Servers whose launcher has ended become children of this process, which can wait for them. A new
    server takes a killed one that nobody has waited for yet for one that runs, and refuses to start;
    the first process of a container may let it wait for seconds."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans(pids):
    """After they have ended. Those that are no children of this process are left to their parents."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


class ServerError(Exception):
    """What PostgreSQL or one of its tools said, in one line."""


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


class Server:
    """`install` has bin/ with initdb, pg_ctl, psql, pgbench; `folder` is made by create()."""

    def __init__(self, install, folder):
        self.bin = pathlib.Path(install).resolve() / "bin"
        self.folder = pathlib.Path(folder).resolve()
        self.log = self.folder.with_name(self.folder.name + ".log")
        self.sockets = None
        self.as_user = {}
        if os.geteuid() == 0:
            self.as_user = {"user": SERVER_USER, "group": pwd.getpwnam(SERVER_USER).pw_gid,
                            "extra_groups": []}

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()

    def own(self, path):
        if self.as_user:
            shutil.chown(path, SERVER_USER, self.as_user["group"])

    def run(self, name, *arguments, **options):
        """A tool of the installation; throws its last line when it fails."""
        command = [str(self.bin / name), *map(str, arguments)]
        try:
            done = subprocess.run(command, check=False, cwd="/", stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, **options)
        except OSError as error:
            raise ServerError(f"{command[0]} does not run: {error.strerror}") from error
        if done.returncode != 0:
            raise ServerError(f"{name}: {last_line(done.stderr.decode(errors='replace'))}")
        return done

    def version(self):
        return self.run("postgres", "--version").stdout.decode().split()[2]

    def create(self, *options):
        """`options` are further ones of initdb."""
        self.end_earlier()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.own(self.folder)
        self.run("initdb", "--pgdata", self.folder, "--username", "postgres", "--auth", "trust",
                 "--encoding", "UTF8", "--locale", "C", "--no-instructions", *options, **self.as_user)

    def control(self, *arguments):
        """pg_ctl without pipes, which the server that it leaves behind would hold open."""
        return subprocess.run([self.bin / "pg_ctl", *arguments, "--wait", "--pgdata", self.folder],
                              check=False, cwd="/", stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              **self.as_user).returncode

    def end_earlier(self):
        """A run that was killed has left its server, which serves this folder."""
        if (self.folder / "postmaster.pid").exists():
            self.control("stop", "--mode", "immediate")

    def start(self, settings):
        self.end_earlier()
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix="farvec-pg-"))
        self.sockets.chmod(0o755)
        self.own(self.sockets)
        self.log.write_text("")
        self.own(self.log)
        every = {**ALWAYS, "unix_socket_directories": self.sockets, **settings}
        (self.folder / "postgresql.auto.conf").write_text(
            "".join(f"{name} = '{value}'\n" for name, value in every.items()))
        if self.control("start", "--timeout", str(START_TIMEOUT_S), "--log", self.log) != 0:
            said = self.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
            raise ServerError("PostgreSQL does not start: " + "; ".join(said))

    def stop(self):
        """May be called again, and when nothing was started."""
        if self.sockets is not None:
            self.control("stop", "--mode", "fast")
            shutil.rmtree(self.sockets, ignore_errors=True)
            self.sockets = None

    def environment(self, settings):
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        return {**os.environ, "PGHOST": str(self.sockets), "PGUSER": "postgres",
                "PGDATABASE": "postgres", "PGOPTIONS": options}

    def ask(self, *statements, rows=b"", settings=None):
        """(what the statements answer, what was noted). `rows` feeds a COPY FROM STDIN."""
        commands = [part for statement in statements for part in ("--command", statement)]
        done = self.run("psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align",
                        "--set", "ON_ERROR_STOP=1", "--set", "VERBOSITY=terse", *commands,
                        input=rows, env=self.environment(settings or {}))
        return done.stdout.decode().strip(), done.stderr.decode(errors="replace").strip()

    def clients(self, script, count, limit, settings=None):
        """Lets `count` connections run a script of pgbench with prepared statements; `limit` is
        its options that say for how long. Answers the transactions' latencies, us, and how many
        there were a second; none, when the time was too short for one."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "script.sql").write_text(script)
            done = self.run("pgbench", "--no-vacuum", "--protocol", "prepared", "--log",
                            "--log-prefix", path / "log", "--random-seed", "1",
                            "--client", count, "--jobs", 1, *limit, "--file", path / "script.sql",
                            env=self.environment(settings or {}))
            latencies = [int(line.split()[2]) for log in path.glob("log.*")
                         for line in log.read_text().splitlines()]
        rate = next((float(line.split()[2]) for line in done.stdout.decode().splitlines()
                     if line.startswith("tps = ")), None)
        if rate is None:
            raise ServerError("pgbench: it tells no rate")
        return latencies, rate
