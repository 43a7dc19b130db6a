"""The tests of indexes on a node, over the engine of the server: what a scan gives is the same."""
import os
import pathlib
import re
import time
import unittest

import index_changes_test
import index_lives_test
import index_scan_test
from farvec_tool import TIMEOUT_S
from index_base import PRELOAD
from postgres_server import Postgres, SqlError

ENGINE = pathlib.Path(os.environ.get("FARVEC_BIN_DIR", ".")) / "farvec-postgres-engine"
NO_NODE = "of the engine"
AWAY = "57P03"  # the engine has not started yet, or starts again


class InEngine:
    """Statements that name a node name none."""

    preload = {**PRELOAD, "farvec.engine": str(ENGINE), "farvec.engine_memory": "256MB",
               "farvec.engine_threads": "1"}

    @classmethod
    def start_server(cls, pg_config, folder):
        if not ENGINE.exists():
            raise unittest.SkipTest(f"no {ENGINE}")
        cls.server = Postgres(pg_config, folder, **cls.preload)
        cls.addClassCleanup(cls.server.close)

    @classmethod
    def collection(cls, *unused):
        return NO_NODE

    @classmethod
    def without_node(cls, statements):
        return re.sub(rf"WITH \(node ?= ?'{NO_NODE}'\)", "", statements)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wait_for_engine()

    @classmethod
    def wait_for_engine(cls):
        """The engine starts beside the server, and statements say so until it is there."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            try:
                cls.server.sql("BEGIN; CREATE TABLE first (v vector(2)); CREATE INDEX ON first USING farvec "
                               "(v vector_l2_ops); ROLLBACK;")
                return
            except SqlError as error:
                if AWAY not in error.text or time.monotonic() > end:
                    raise
                cls.server.end_sessions()
                time.sleep(0.05)

    def start_again(self, **settings):
        super().start_again(**settings)
        self.wait_for_engine()

    @classmethod
    def sql(cls, statements, **options):
        return cls.server.sql(cls.without_node(statements), **options)

    @classmethod
    def one(cls, statements, **options):
        return cls.server.one(cls.without_node(statements), **options)

    @classmethod
    def begin(cls, statements):
        return cls.server.begin(cls.without_node(statements))


class Scans(InEngine, index_scan_test.Scans):
    test_what_is_refused = None  # by nodes
    test_plans = None  # over a node that ends


class Rows(InEngine, index_changes_test.Rows):
    pass


class Definitions(InEngine, index_changes_test.Definitions):
    test_concurrently = None  # refused where two indexes share a collection


class Servers(InEngine, index_lives_test.Servers):
    test_a_database_made_from_a_template = None  # refused where two indexes share a collection


class Concurrently(InEngine, index_changes_test.ChangesTest):
    def test_indexes_are_built_again_beside_their_use(self):
        self.make("beside", 200)
        self.add("beside", 300, 320)
        self.sql("REINDEX INDEX CONCURRENTLY beside_index;")
        self.add("beside", 400, 420)
        self.compare("beside")


class Failures(InEngine, index_changes_test.ChangesTest):
    FOLDERS = "SELECT count(*) FROM pg_ls_dir('farvec') f WHERE f LIKE '%-%';"

    def test_a_build_that_fails_leaves_nothing_in_the_engine(self):
        self.make("failing", 2000)
        before = self.one(self.FOLDERS)
        # The engine has rows of the index by then.
        self.refused("CREATE INDEX other ON failing USING farvec (v vector_l2_ops) WHERE 1 / (1990 - id) IS NOT "
                     "NULL;", "22012")
        self.assertEqual(self.one(self.FOLDERS), before)
        self.compare("failing")


if __name__ == "__main__":
    del index_scan_test, index_lives_test, index_changes_test
    unittest.main()
