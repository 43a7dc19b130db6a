"""pg_upgrade from the server of this machine to PostgreSQL 18, with an index whose vectors a node has."""
import os
import shutil
import unittest

import index_base
from index_base import BY_INDEX, BY_TABLE
from pgvector_installs import built_for
from postgres_server import Postgres, upgrade


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
        upgrade(self, old, new)
        new.start(index_base.PRELOAD)
        query = "SELECT v <-> '[9,2,3]' FROM t ORDER BY v <-> '[9,2,3]' LIMIT 20;"
        for statement in ("", "INSERT INTO t SELECT i, array[i, i % 7, i % 5] FROM generate_series(401, 450) i; ",
                          "REINDEX INDEX t_index;"):
            new.sql(statement)
            self.assertEqual(new.sql(BY_INDEX + query), new.sql(BY_TABLE + query))
            self.assertEqual(new.one("SELECT farvec_check('t_index')->>'sound';"), "true")


if __name__ == "__main__":
    unittest.main()
