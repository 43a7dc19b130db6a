"""Indexes on pgvector's types, and on ours, in servers of the versions 16 and 18."""
import os
import shutil
import unittest

import index_changes_test
import index_filter_plans_test
import index_filters_test
import index_scan_test
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


if __name__ == "__main__":
    del index_scan_test.Scans, index_changes_test.Rows, index_changes_test.Definitions
    unittest.main()
