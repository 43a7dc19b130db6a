"""A server that preloads the extension, and nodes that serve the collections of its indexes."""
import os
import unittest

from postgres_server import Postgres, SqlError, build_folder
from search_test import Nodes, passed
from farvec_tool import farvec

SEED = int(os.environ.get("FARVEC_SEED", "1"))
PRELOAD = {"shared_preload_libraries": "farvec", "max_prepared_transactions": "2",
           "farvec.engine_memory": "0", "allow_in_place_tablespaces": "on"}
# A plan that takes the index, and one that does not.
BY_INDEX = "SET enable_seqscan = off; SET enable_sort = off;"
BY_TABLE = "SET enable_indexscan = off;"

# class: (type of the column, operator, type of the collection, metric)
CLASSES = {
    "vector_l2_ops": ("vector", "<->", "f32", "l2"),
    "vector_ip_ops": ("vector", "<#>", "f32", "ip"),
    "vector_cosine_ops": ("vector", "<=>", "f32", "cosine"),
    "halfvec_l2_ops": ("halfvec", "<->", "f16", "l2"),
    "halfvec_ip_ops": ("halfvec", "<#>", "f16", "ip"),
    "halfvec_cosine_ops": ("halfvec", "<=>", "f16", "cosine"),
    "bit_hamming_ops": ("bit", "<~>", "b1", "hamming"),
    "bit_jaccard_ops": ("bit", "<%>", "b1", "jaccard"),
}


class IndexTest(unittest.TestCase):
    """Each class of tests has a server of its own, because some of them stop it."""

    setup = "CREATE EXTENSION farvec;"
    preload = PRELOAD

    @classmethod
    def setUpClass(cls):
        pg_config, folder = cls.installation()
        cls.start_server(pg_config, folder)
        cls.server.sql(cls.setup)

    @classmethod
    def installation(cls):
        """(pg_config, the folder with the extension)."""
        folder = build_folder()
        if folder is None:
            raise unittest.SkipTest("no PostgreSQL: CMake found no pg_config with headers")
        return os.environ["FARVEC_PG_CONFIG"], folder

    @classmethod
    def start_server(cls, pg_config, folder):
        cls.server = Postgres(pg_config, folder, **cls.preload)
        cls.addClassCleanup(cls.server.close)
        cls.nodes = Nodes()
        cls.addClassCleanup(cls.nodes.close)

    @classmethod
    def sql(cls, statements, **options):
        return cls.server.sql(statements, **options)

    @classmethod
    def one(cls, statements, **options):
        return cls.server.one(statements, **options)

    @classmethod
    def begin(cls, statements):
        """A psql that runs statements and is not waited for."""
        return cls.server.begin(statements)

    def refused(self, statements, state, **options):
        """The text of the error that the statements end with; it has the SQLSTATE `state`."""
        with self.assertRaises(SqlError) as caught:
            self.server.sql(statements, **options)
        self.assertEqual(caught.exception.state, state, caught.exception.text)
        return caught.exception.text

    @classmethod
    def collection(cls, name, dimension, kind="vector_l2_ops", *options):
        """The address of a node that serves an empty collection for a class of operators."""
        folder = cls.nodes.folder / name
        _, _, of_collection, metric = CLASSES[kind]
        passed(farvec("collection", "create", "--collection", folder, "--metric", metric, "--type",
                      of_collection, "--dimension", dimension, "--degree", 16, "--list", 64, *options))
        return cls.serve(name)

    @classmethod
    def serve(cls, name):
        """Serves a collection that is there."""
        return cls.nodes.start(name, "--collection", cls.nodes.folder / name)

    def both(self, query, setup=""):
        """The rows of a query by the table, after it was found to be the same by the index."""
        expected = self.sql(BY_TABLE + setup + query)
        self.assertEqual(self.sql(BY_INDEX + setup + query), expected, query)
        return expected

    def assert_uses(self, index, query, setup=""):
        plan = "\n".join(self.sql(BY_INDEX + setup + "EXPLAIN " + query))
        self.assertIn(f"Index Scan using {index}", plan)

    def assert_sound(self, index):
        self.assertEqual(self.one(f"SELECT farvec_check('{index}')->>'sound';"), "true",
                         self.one(f"SELECT farvec_check('{index}');"))
