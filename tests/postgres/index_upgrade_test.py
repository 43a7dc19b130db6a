"""pg_upgrade from the server of this machine to PostgreSQL 18, with an index whose vectors a node has."""
import os
import shutil
import subprocess
import unittest

import index_base
from index_base import BY_INDEX, BY_TABLE
from pgvector_installs import built_for
from postgres_server import Postgres

TIMEOUT_S = 240


class Upgrade(index_base.IndexTest):
    def test_the_index_answers_afterwards(self):
        if "FARVEC_LIBRARY" not in os.environ:
            self.skipTest("no libfarvec")
        pg_config, folder = built_for(type(self), 18)
        shutil.copy(os.environ["FARVEC_LIBRARY"], folder / "libfarvec.so.0")
        old = self.server
        if int(old.version().split(".")[0]) >= 18:
            self.skipTest("the server of this machine is not older than 18")
        new = Postgres(pg_config, folder, options=("--no-data-checksums",), **index_base.PRELOAD)
        self.addCleanup(new.close)
        node = self.collection("upgraded", 3)
        old.sql("CREATE TABLE t (id int, v vector(3)); INSERT INTO t SELECT i, array[i, i % 7, i % 5] FROM "
                "generate_series(1, 400) i; CREATE INDEX t_index ON t USING farvec (v vector_l2_ops) "
                f"WITH (node = '{node}');")
        # 15.20 writes an option of its own into columns, which pg_dump of 18.4 takes for the user's.
        old.sql("UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}';")
        for one in (old, new):
            one.end_sessions()
            one.stop()
        work = new.top / "upgrade"
        work.mkdir()
        new.own(work)
        for one in (old, new):
            (one.folder / "postgresql.auto.conf").write_text("")
        done = subprocess.run(
            [new.bin / "pg_upgrade", "--old-bindir", old.bin, "--new-bindir", new.bin, "--old-datadir",
             old.folder, "--new-datadir", new.folder, "--username", "postgres", "--socketdir", work],
            check=False, cwd=work, capture_output=True, text=True, timeout=TIMEOUT_S, **new.as_user)
        self.assertEqual(done.returncode, 0, "\n".join([done.stdout, done.stderr]))
        new.start(index_base.PRELOAD)
        query = "SELECT v <-> '[9,2,3]' FROM t ORDER BY v <-> '[9,2,3]' LIMIT 20;"
        for statement in ("", "INSERT INTO t SELECT i, array[i, i % 7, i % 5] FROM generate_series(401, 450) i; ",
                          "REINDEX INDEX t_index;"):
            new.sql(statement)
            self.assertEqual(new.sql(BY_INDEX + query), new.sql(BY_TABLE + query))
            self.assertEqual(new.one("SELECT farvec_check('t_index')->>'sound';"), "true")


if __name__ == "__main__":
    unittest.main()
