"""pg_upgrade from the server of this machine to PostgreSQL 18, with tables of the extension's types."""
import os
import unittest

from pgvector_installs import built_for
from postgres_server import Postgres, build_folder, upgrade

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
        before = old.sql(SHOWN)
        self.assertGreater(len(before), 500)
        upgrade(self, old, new)
        new.start({})
        self.assertEqual(new.sql(SHOWN), before)
        self.assertEqual(new.one("SELECT '[1,2]'::vector::halfvec;"), "[1,2]")


if __name__ == "__main__":
    unittest.main()
