"""The packages from installation to purge, in a root of their own: users, units, the daemons with
their default configuration, an upgrade that keeps an edited one, and nothing left at the end."""
import pathlib
import shutil
import tempfile
import time
import unittest

import numpy as np

from daemon_runs import SECONDS, await_status, runs_in
from farvec_tool import read_neighbours, write_vectors
from packages_tool import DAEMONS, EXTENSION, NAMES, made, needs_dpkg, output
from private_root import private_root

MEMORY, COMPUTE = DAEMONS
ADDRESSES = {MEMORY: "127.0.0.1:7700", COMPUTE: "127.0.0.1:7711"}
CONFIG = "/etc/farvec/compute-node.conf"
# What dpkg and adduser write whatever is installed.
THEIRS = ("/var/lib/dpkg", "/var/cache", "/var/log", "/etc/passwd-", "/etc/group-", "/etc/shadow-",
          "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-", "/etc/.pwd.lock")
ROWS = 300


class RootTest(unittest.TestCase):
    """A root for each test, with the packages in /tmp/given."""

    BOOT = False

    def setUp(self):
        needs_dpkg()
        folder = tempfile.TemporaryDirectory(prefix="farvec-packages-")
        self.addCleanup(folder.cleanup)
        self.root = private_root(self, folder.name, self.BOOT)
        self.given = self.root.folder / "given"
        for name in NAMES:
            shutil.copy(made(name), self.given / f"{name}.deb")

    def dpkg(self, action, *names, options=()):
        words = [f"/tmp/given/{name}.deb" if action == "--install" else name for name in names]
        return self.root.output("dpkg", *options, action, *words)


class WithoutSystemd(RootTest):
    """As in a container: the test starts what the units say."""

    def setUp(self):
        super().setUp()
        self.runs = runs_in(self.root)

    def everything(self):
        """All names below the folders of the system, all users and groups."""
        pruned = [word for path in THEIRS for word in ("-path", path, "-prune", "-o")]
        names = self.root.output("find", "/etc", "/usr", "/var", "/opt", "/home", "/srv",
                                 *pruned, "-print")
        return (set(names.splitlines()), self.root.output("getent", "passwd"),
                self.root.output("getent", "group"))

    def test_life(self):
        before = self.everything()
        self.dpkg("--install", "farvec", *DAEMONS)
        self.check_installed()
        self.check_units()
        self.build_index()
        self.check_search()
        if self.root.boot:
            self.check_failures()
        self.check_edited_configuration()
        self.check_upgrade()
        self.check_removal()
        self.dpkg("--purge", "farvec", *DAEMONS)
        after = self.everything()
        self.assertEqual(sorted(after[0] - before[0]), [])
        self.assertEqual(sorted(before[0] - after[0]), [])
        self.assertEqual(after[1:], before[1:])
        self.assertEqual(list(self.root.path("run").glob("farvec*")), [])

    def check_installed(self):
        for name in DAEMONS:
            user = self.root.output("getent", "passwd", name).strip().split(":")
            self.assertEqual(user[5:], [f"/var/lib/{name}", "/usr/sbin/nologin"])
            self.assertLess(int(user[2]), 1000)
            self.assertEqual(self.root.output("stat", "-c", "%U:%G %a", f"/var/lib/{name}"),
                             f"{name}:{name} 750\n")
            self.assertEqual(self.runs.pid(name), 0)
        said = self.root.run("systemctl", "is-enabled", *DAEMONS)
        self.assertEqual(said.stdout.split(), ["disabled", "disabled"], said.stderr)

    def check_units(self):
        if not shutil.which("systemd-analyze"):
            return
        for name in DAEMONS:
            unit = f"/lib/systemd/system/{name}.service"
            said = self.root.run("systemd-analyze", "verify", unit)
            lines = [line for line in (said.stdout + said.stderr).splitlines() if name in line]
            self.assertEqual((said.returncode, lines), (0, []))
            # 0 is the strictest, 100 a unit that restricts nothing; 20 is "OK".
            self.root.output("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)

    def build_index(self):
        rows = np.random.default_rng(7).integers(0, 256, (ROWS, 15)).astype(np.uint8)
        write_vectors(self.given / "base", rows)
        index = f"/var/lib/{MEMORY}/index"
        self.root.output("farvec", "build", "graph", "--data", "/tmp/given/base.u8bin", "--metric",
                         "l2", "--degree", "16", "--list", "32", "--quiet", "--out", index)
        self.root.output("chown", "-R", f"{MEMORY}:{MEMORY}", index)

    def check_search(self):
        """Each row is its own nearest."""
        for name in DAEMONS:
            self.runs.start(name)
            said = await_status(self.root, self.runs, ADDRESSES[name])
            self.assertIn("serving", said.lower())
            process = self.root.path(f"proc/{self.runs.pid(name)}")
            self.assertEqual(self.root.output("ps", "-o", "user:40=", "-p",
                                              process.name).strip(), name)
        self.root.output("farvec", "search", "--connect", ADDRESSES[COMPUTE], "--queries",
                         "/tmp/given/base.u8bin", "--k", "1", "--list", "40", "--out",
                         "/tmp/given/found.ibin")
        ids, distances = read_neighbours(self.given / "found.ibin")
        self.assertEqual(ids[:, 0].tolist(), list(range(ROWS)))
        self.assertFalse(distances.any())

    def check_failures(self):
        """A daemon that dies comes back; one whose configuration makes no sense stays down."""
        first = self.runs.pid(COMPUTE)
        self.root.output("kill", "-9", first)
        end = time.monotonic() + SECONDS
        while self.runs.pid(COMPUTE) in (0, first) and time.monotonic() < end:
            time.sleep(0.1)
        await_status(self.root, self.runs, ADDRESSES[COMPUTE])
        config = self.root.path(CONFIG)
        text = config.read_text()
        config.write_text(text + "slits = 4\n")
        self.root.run("systemctl", "restart", COMPUTE)
        while self.runs.show(COMPUTE, "ActiveState") != "failed" and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(self.runs.show(COMPUTE, "ExecMainStatus"), "2", self.runs.log())
        self.assertIn(f"{CONFIG}:{text.count(chr(10)) + 1}: there is no option 'slits'",
                      self.runs.log())
        config.write_text(text)
        self.root.output("systemctl", "reset-failed", COMPUTE)
        self.runs.start(COMPUTE)
        await_status(self.root, self.runs, ADDRESSES[COMPUTE])

    def check_edited_configuration(self):
        """What the administrator writes is read, and outlives a second installation."""
        self.runs.stop(COMPUTE)
        self.assertTrue(self.runs.ended_well(COMPUTE), self.runs.log())
        config = self.root.path(CONFIG)
        edited = config.read_text().replace('"127.0.0.1:7711"', '"127.0.0.1:7722"')
        config.write_text(edited)
        self.runs.start(COMPUTE)
        await_status(self.root, self.runs, "127.0.0.1:7722")
        self.dpkg("--install", COMPUTE)
        self.assertEqual(config.read_text(), edited)

    def check_upgrade(self):
        """To a version with another default configuration: the edited one stays, and the process."""
        folder = self.given / "newer"
        output("dpkg-deb", "--raw-extract", self.given / f"{COMPUTE}.deb", folder)
        control = folder / "DEBIAN/control"
        control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 9"))
        default = folder / CONFIG.lstrip("/")
        default.write_text(default.read_text() + "# newer\n")
        output("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", folder,
               self.given / "newer.deb")
        edited, pid = self.root.path(CONFIG).read_text(), self.runs.pid(COMPUTE)
        if self.root.boot:
            self.root.output("systemctl", "enable", COMPUTE)
        self.dpkg("--install", "newer", options=("--force-confold",))
        self.assertEqual(self.root.path(CONFIG).read_text(), edited)
        self.assertTrue(self.root.path(f"{CONFIG}.dpkg-dist").exists())
        self.assertEqual(self.runs.pid(COMPUTE), pid)
        await_status(self.root, self.runs, "127.0.0.1:7722")
        if self.root.boot:
            self.assertEqual(self.root.output("systemctl", "is-enabled", COMPUTE), "enabled\n")

    def check_removal(self):
        """The daemons end; configuration and state wait for a purge."""
        if not self.root.boot:
            for name in (COMPUTE, MEMORY):
                self.runs.stop(name)
                self.assertTrue(self.runs.ended_well(name), self.runs.log())
        self.dpkg("--remove", *DAEMONS)
        self.assertEqual(self.root.run("pgrep", "-f", "/usr/bin/farvec").stdout, "")
        for name in DAEMONS:
            self.assertFalse(self.root.path(f"lib/systemd/system/{name}.service").exists())
            self.assertFalse(self.root.path(f"usr/bin/{name}").exists())
        self.assertTrue(self.root.path(CONFIG).exists())
        self.assertTrue(self.root.path(f"var/lib/{MEMORY}/index").is_dir())


class WithSystemd(WithoutSystemd):
    """By a systemd of the test's own, so with all that the units forbid."""

    BOOT = True


class Library(RootTest):
    def test_a_program_is_built_with_the_installed_library(self):
        consumer = pathlib.Path(__file__).parents[1] / "install/consumer"
        shutil.copytree(consumer, self.given / "consumer")
        self.dpkg("--install", "libfarvec0", "libfarvec-dev")
        self.root.output("cmake", "-G", "Ninja", "-S", "/tmp/given/consumer", "-B", "/tmp/build")
        self.root.output("cmake", "--build", "/tmp/build", seconds=600)
        self.root.output("/tmp/build/consumer")
        self.dpkg("--purge", "libfarvec-dev", "libfarvec0")
        for left in ("usr/include/farvec", "usr/include/farvec.h", "usr/lib/libfarvec.so.0",
                     "usr/lib/cmake/farvec", "usr/share/doc/libfarvec-dev"):
            self.assertFalse(self.root.path(left).exists())


class Extension(RootTest):
    """In a server of the root's own, which `nobody` runs."""

    def as_nobody(self, *words, **options):
        return self.root.output("runuser", "-u", "nobody", "--", *words, **options)

    def sql(self, statements):
        return self.as_nobody("psql", "-h", "/tmp/pg", "-d", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1",
                              "-c", statements)

    def check_index(self):
        """The engine that was installed serves an index."""
        self.sql("CREATE TABLE items (id int, v vector(2)); "
                 "INSERT INTO items SELECT i, ARRAY[i, -i]::vector FROM generate_series(1, 500) i")
        end = time.monotonic() + SECONDS
        while True:
            done = self.root.run("runuser", "-u", "nobody", "--", "psql", "-h", "/tmp/pg", "-d", "postgres",
                                 "-v", "VERBOSITY=verbose", "-c",
                                 "CREATE INDEX ON items USING farvec (v vector_l2_ops)")
            # The server starts the engine after it has begun to serve.
            if done.returncode == 0 or "57P03" not in done.stderr or time.monotonic() > end:
                break
            time.sleep(0.2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.sql("SET enable_seqscan = off; SELECT id FROM items "
                                  "ORDER BY v <-> '[70.2,-70.2]' LIMIT 3"), "70\n71\n69\n")

    def test_a_server_has_it(self):
        if not EXTENSION:
            self.skipTest("no PostgreSQL: CMake found no pg_config with headers")
        self.dpkg("--install", "libfarvec0", EXTENSION)
        programs = pathlib.Path("/usr/lib/postgresql") / EXTENSION.split("-")[1] / "bin"
        self.root.output("install", "-d", "-o", "nobody", "/tmp/pg")
        self.as_nobody(programs / "initdb", "--no-sync", "-A", "trust", "-D", "/tmp/pg/data")
        control = (programs / "pg_ctl", "-D", "/tmp/pg/data", "-w", "-t", str(SECONDS))
        self.as_nobody(*control, "-l", "/tmp/pg/log", "-o",
                       "-k /tmp/pg -c listen_addresses= -c fsync=off -c shared_preload_libraries=farvec",
                       "start")
        self.addCleanup(self.root.run, "runuser", "-u", "nobody", "--", *control, "-m", "immediate", "stop")
        self.sql("CREATE EXTENSION farvec")
        self.assertEqual(self.sql("SELECT '[1,2,3]'::vector <-> '[1,2,1]'"), "2\n")
        self.check_index()
        # The library is found and loaded: the address is what is wrong.
        refused = self.root.run("runuser", "-u", "nobody", "--", "psql", "-h", "/tmp/pg", "-d", "postgres",
                                "-c", "SELECT farvec_node('unix:/tmp/none')")
        self.assertIn("/tmp/none", refused.stderr)
        self.assertNotIn("cannot be loaded", refused.stderr)
        self.dpkg("--purge", EXTENSION, "libfarvec0")
        self.assertEqual(list(self.root.path("usr/share/postgresql").rglob("farvec*")), [])


if __name__ == "__main__":
    unittest.main()
