"""pg_upgrade from the server of this machine to PostgreSQL 18, with tables of the extension's types."""
import os
import shutil
import subprocess
import unittest

from pgvector_installs import built_for
from postgres_server import Postgres, build_folder

TIMEOUT_S = 240
TABLES = """
CREATE EXTENSION farvec;
CREATE TABLE items (id int PRIMARY KEY, v vector(3), h halfvec(2), b bit(4));
INSERT INTO items SELECT i, ARRAY[i, -i, 0.5]::vector, ARRAY[i, 1]::halfvec, i::bit(4)
FROM generate_series(1, 500) i;
INSERT INTO items VALUES (0, NULL, NULL, NULL);
CREATE INDEX ON items (v);
CREATE VIEW near AS SELECT id, v <-> '[1,1,1]' AS distance FROM items ORDER BY v <-> '[1,1,1]', id;
"""
SHOWN = ("SELECT * FROM items ORDER BY id; SELECT * FROM near LIMIT 20; SELECT avg(v), avg(h) FROM items; "
         "SET enable_seqscan = off; SELECT id FROM items WHERE v > '[480,0,0]' ORDER BY v;")


class Upgrade(unittest.TestCase):
    def start(self, pg_config, folder, *options):
        running = Postgres(pg_config, folder, options=options)
        self.addCleanup(running.close)
        return running

    def test_tables_and_types_come_along(self):
        if build_folder() is None:
            self.skipTest("no PostgreSQL: CMake found no pg_config with headers")
        pg_config, folder = built_for(type(self), 18)
        old = self.start(os.environ["FARVEC_PG_CONFIG"], build_folder())
        if int(old.version().split(".")[0]) >= 18:
            self.skipTest("the server of this machine is not older than 18")
        new = self.start(pg_config, folder, "--no-data-checksums")
        old.sql(TABLES)
        # 15.20 writes an option of its own into columns, which pg_dump of 18.4 takes for the user's.
        old.sql("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}';")
        before = old.sql(SHOWN)
        self.assertGreater(len(before), 500)
        for one in (old, new):
            one.end_sessions()
            one.stop()
        work = new.top / "upgrade"
        work.mkdir()
        new.own(work)
        # Only this server's files are read, which its own settings would keep it from finding.
        for one in (old, new):
            (one.folder / "postgresql.auto.conf").write_text("")
        done = subprocess.run(
            [new.bin / "pg_upgrade", "--old-bindir", old.bin, "--new-bindir", new.bin, "--old-datadir",
             old.folder, "--new-datadir", new.folder, "--username", "postgres", "--socketdir", work],
            check=False, cwd=work, capture_output=True, text=True, timeout=TIMEOUT_S, **new.as_user)
        logs = [path.read_text(errors="replace")[-2000:]
                for path in new.folder.glob("pg_upgrade_output.d/*/log/*dump_*.log")]
        self.assertEqual(done.returncode, 0, "\n".join([done.stdout, done.stderr, *logs]))
        new.start({})
        self.assertEqual(new.sql(SHOWN), before)
        self.assertEqual(new.one("SELECT '[1,2]'::vector::halfvec;"), "[1,2]")
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
