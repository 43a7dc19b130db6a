"""Tables with filters after a vector, and comparisons of their two plans."""
import json

import index_base
from engine_base import SETTINGS, EngineTest, wait_until
from index_base import BY_INDEX, BY_TABLE
from postgres_server import Postgres, SqlError

DIMENSION = 4
ALL = "SET farvec.search_list = 1000;"


class FiltersTest(index_base.IndexTest):
    @classmethod
    def place(cls, name, kind, schema):
        """(the node that serves an empty collection, the option that says so)"""
        node = cls.collection(name, DIMENSION, kind, "--schema", schema)
        return node, f"WITH (node = '{node}')"

    @classmethod
    def make(cls, name, columns, rows, schema, filters, kind="vector_l2_ops", how=""):
        """Answers the node."""
        node, option = cls.place(name, kind, schema)
        cls.sql(f"CREATE TABLE {name} (id int PRIMARY KEY, v vector({DIMENSION}), {columns});"
                f"INSERT INTO {name} {rows};"
                f"CREATE INDEX {name}_index ON {name} USING farvec (v {kind}, {filters}) "
                f"{option} {how}; ANALYZE {name};")
        return node

    def last_scan(self, query, setup=""):
        """(the rows of a query by the index, what farvec_last_scan() says of it)"""
        *rows, scan = self.sql(BY_INDEX + setup + query + "SELECT farvec_last_scan();")
        return rows, json.loads(scan)

    def compare(self, name, where, setup=""):
        """Each row comes that the table gives, and the nearest ones first. Answers what the scan of all
        rows did."""
        self.both(f"SELECT v <-> '[1,2,3,4]' FROM {name} WHERE {where} ORDER BY v <-> '[1,2,3,4]' LIMIT 5;",
                  ALL + setup)
        every = f"SELECT id FROM {name} WHERE {where} ORDER BY v <-> '[1,2,3,4]';"
        rows, scan = self.last_scan(every, setup)
        self.assertEqual(sorted(rows), sorted(self.sql(BY_TABLE + setup + every)), where)
        return scan


class InEngine:
    """The same tests over indexes that lie in the server's engine."""

    MOST_FOUND = 2048  # rows that the engine gives to one search

    @classmethod
    def start_server(cls, pg_config, folder):
        cls.server = Postgres(pg_config, folder, **SETTINGS)
        cls.addClassCleanup(cls.server.close)

    @classmethod
    def place(cls, name, kind, schema):
        wait_until("the engine serves", cls.is_served)
        return None, ""

    postmaster, worker, engine = EngineTest.postmaster, EngineTest.worker, EngineTest.engine

    @classmethod
    def is_served(cls):
        try:
            cls.sql("DROP TABLE IF EXISTS tried; CREATE TABLE tried (v vector(1)); "
                    "CREATE INDEX ON tried USING farvec (v vector_l2_ops); DROP TABLE tried;")
        except SqlError:
            return False
        return True
