#!/usr/bin/env python3
"""A table whose index lies on a compute node: with its segment in the node's own memory, and on a memory
node that is read over an RDMA device at FARVEC_LAB_SELF (scripts/lab/lab.sh run gives one). Rows and
counts are the same, and both are those of an exact scan while the table changes."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "postgres"))

from index_base import BY_INDEX, BY_TABLE, IndexTest  # noqa: E402
from search_test import BIN, TIMEOUT_S, farvec, passed  # noqa: E402

SELF = os.environ.get("FARVEC_LAB_SELF")
DIMENSION, ROWS = 24, 1500
SCHEMA = "price: i64"
ROW = ("ARRAY[" + ", ".join(f"sin({{0}} * {1.1 + 0.37 * i:.2f})" for i in range(DIMENSION)) + "]::real[]::vector")
COUNTS = ("found", "hops", "reads", "bytes", "estimates", "distances", "matches", "walks", "scans")


class OverRdma(IndexTest):
    """Each step needs the ones before it: they are one test."""

    def memory_node(self):
        """The address of a memory node for segments."""
        address = f"unix:{self.nodes.folder}/memory.socket"
        log = open(self.nodes.folder / "memory.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen([str(BIN / "farvec-memory-node"), "--segment-bytes", "64MB", "--listen", address,
                                    "--rdma", SELF, "--load-from", str(self.nodes.folder)], stdout=log, stderr=log)
        self.addCleanup(process.wait, timeout=TIMEOUT_S)
        self.addCleanup(process.kill)
        end = time.monotonic() + TIMEOUT_S
        while farvec("status", address).returncode != 0:
            if time.monotonic() > end or process.poll() is not None:
                raise AssertionError((self.nodes.folder / "memory.log").read_text())
            time.sleep(0.1)
        return address

    @classmethod
    def serve(cls, name, *options):
        return cls.nodes.start(name, "--collection", cls.nodes.folder / name, *options)

    def searches(self):
        """Rows and counts of searches, with and without a condition."""
        found = []
        for number in range(8):
            where = "WHERE price < 30" if number % 2 else ""
            query = (f"SELECT id FROM far {where} ORDER BY v <-> {ROW.format(number * 31.7 + 0.5)} LIMIT 10;")
            *rows, said = self.sql(BY_INDEX + query + "SELECT farvec_last_scan();")
            said = json.loads(said)
            if where:  # a list of rows is read in pieces whose gaps follow the tier
                del said["reads"], said["bytes"]
            found.append((rows, {name: said[name] for name in COUNTS if name in said}))
        return found

    def compare(self):
        """All rows by the index are those of the table, and nothing is wrong with the index."""
        for where in ("", "WHERE price < 30"):
            query = f"SELECT id FROM far {where} ORDER BY v <-> {ROW.format(7.3)} LIMIT 100000;"
            self.assertEqual(sorted(self.sql(BY_INDEX + query)), sorted(self.sql(BY_TABLE + query)))
        self.assert_sound("far_v")

    def test_an_index_over_rdma_has_the_rows_and_the_counts_of_one_in_memory(self):
        address = self.collection("far", DIMENSION, "vector_l2_ops", "--schema", SCHEMA)
        self.sql(f"CREATE TABLE far (id int PRIMARY KEY, price int, v vector({DIMENSION}));"
                 f"INSERT INTO far SELECT i, i % 100, {ROW.format('i')} FROM generate_series(1, {ROWS}) i;"
                 f"CREATE INDEX far_v ON far USING farvec (v vector_l2_ops, price) WITH (node = '{address}');")
        self.nodes.stop("far")
        # One segment of all rows, whoever reads it.
        passed(farvec("collection", "compact", "--collection", self.nodes.folder / "far"))
        self.serve("far")
        in_memory = self.searches()
        self.assertGreater(in_memory[0][1]["reads"], 0)
        self.nodes.stop("far")
        self.assertEqual(self.serve("far", "--segment-nodes", self.memory_node(), "--segment-tier", "verbs"), address)
        self.assertEqual(self.searches(), in_memory)
        self.compare()
        self.sql("DELETE FROM far WHERE id % 3 = 0; UPDATE far SET price = price + 40 WHERE id % 7 = 0;"
                 f"INSERT INTO far SELECT i, i % 100, {ROW.format('i')} FROM generate_series(2001, 2300) i;"
                 "VACUUM far;")
        self.compare()


if __name__ == "__main__":
    if SELF is None:
        sys.exit("FARVEC_LAB_SELF is not set: run this program through scripts/lab/lab.sh run")
    unittest.main()
