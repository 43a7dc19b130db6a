"""Indexes on pgvector's types, and on ours, in servers of the versions 16 and 18."""
import json
import os
import shutil
import unittest

import index_changes_test
import index_filter_plans_test
import index_filters_test
import index_scan_test
from index_base import BY_INDEX
from pgvector_installs import built_for


class With16:
    setup = "CREATE EXTENSION vector; CREATE EXTENSION farvec;"
    version = 16

    @classmethod
    def installation(cls):
        if "FARVEC_LIBRARY" not in os.environ:
            raise unittest.SkipTest("no libfarvec")
        pg_config, folder = built_for(cls, cls.version)
        shutil.copy(os.environ["FARVEC_LIBRARY"], folder / "libfarvec.so.0")
        return pg_config, folder


class With18(With16):
    version = 18


class Scans16(With16, index_scan_test.Scans):
    pass


class Scans18(With18, index_scan_test.Scans):
    pass


class Filters16(With16, index_filters_test.RandomConditions):
    pass


class Filters18(With18, index_filter_plans_test.Plans):
    pass


class Changes16(With16, index_changes_test.Rows):
    pass


class Definitions18(With18, index_changes_test.Definitions):
    pass


class Ours18(With18, index_changes_test.Rows):
    setup = "CREATE EXTENSION farvec;"


class Beside(With16, index_changes_test.ChangesTest):
    def test_options_and_classes_of_pgvector(self):
        """A statement of pgvector's needs another name of the method, and where the vectors are."""
        node = self.collection("beside", 3)
        self.sql("CREATE TABLE beside (id int, v vector(3)); INSERT INTO beside SELECT i, array[i, i, i] "
                 "FROM generate_series(1, 100) i; CREATE INDEX theirs ON beside USING hnsw (v vector_l2_ops) "
                 "WITH (m = 16, ef_construction = 64); CREATE INDEX beside_index ON beside USING farvec "
                 f"(v vector_l2_ops) WITH (m = 16, ef_construction = 64, node = '{node}');")
        self.sql("DROP INDEX theirs;")
        self.compare("beside")


class Explained18(With18, index_changes_test.ChangesTest):
    """From 18 on EXPLAIN (ANALYZE) has what a scan did."""

    def explained(self, query):
        [top] = json.loads("\n".join(self.sql(BY_INDEX + "EXPLAIN (ANALYZE, FORMAT JSON) " + query)))
        nodes, found = [top["Plan"]], []
        while nodes:
            node = nodes.pop()
            nodes += node.get("Plans", [])
            found += [node["Farvec"]] if "Farvec" in node else []
        return found

    def last_scan(self, query):
        *_, said = self.sql(BY_INDEX + query + "SELECT farvec_last_scan();")
        return {name: value for name, value in json.loads(said).items() if name != "index" and value is not None}

    def test_explain_says_what_a_scan_did(self):
        node = self.collection("explained", 3, "vector_l2_ops", "--schema", "n: i64")
        self.sql("CREATE TABLE explained (n int, v vector(3)); INSERT INTO explained SELECT i, "
                 "array[i % 7, i % 11, i] FROM generate_series(1, 200) i; CREATE INDEX explained_index "
                 f"ON explained USING farvec (v vector_l2_ops, n) WITH (node = '{node}');")
        query = "SELECT n FROM explained WHERE n > {} ORDER BY v <-> '[1,2,{}]' LIMIT 5;"
        one = self.last_scan(query.format(50, 90))
        self.assertGreater(one["distances"], 0)
        self.assertEqual(one["handed_down"], 1)
        self.assertEqual(self.explained(query.format(50, 90)), [one])
        text = "\n".join(self.sql(BY_INDEX + "EXPLAIN ANALYZE " + query.format(50, 90)))
        self.assertIn(f"distances={one['distances']} conditions=1 handed_down=1", text)
        # A plan that was not run has done nothing.
        self.assertNotIn("Farvec", "\n".join(self.sql(BY_INDEX + "EXPLAIN " + query.format(50, 90))))
        # An inner side that runs three times has done what three scans do.
        each = [self.last_scan(query.format(50, n)) for n in (10, 90, 170)]
        [sums] = self.explained("SELECT * FROM unnest(ARRAY[10, 90, 170]) q, LATERAL (SELECT n FROM explained "
                                "WHERE n > 50 ORDER BY v <-> ARRAY[1, 2, q]::vector LIMIT 5) r;")
        for name in ("batches", "found", "hops", "reads", "bytes", "distances"):
            self.assertEqual(sums[name], sum(scan[name] for scan in each), name)


if __name__ == "__main__":
    del index_scan_test.Scans, index_changes_test.Rows, index_changes_test.Definitions
    unittest.main()
