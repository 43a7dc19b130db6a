#!/usr/bin/env python3
"""Kills of a server with farvec indexes: after each, tables and indexes have the same rows.

Example of a long run, which goes on where it stopped:
    tests/postgres/kills_test.py --rounds 1000 --state build/kills.json
"""
import os
import sys
import time
import unittest

import rounds

OPTIONS = rounds.options_by_hand(sys.argv[1:], __doc__)

import index_base  # noqa: E402
from kills_base import SCHEMA, Killed  # noqa: E402

ROUNDS_PER_SERVER = 50


class Kills(index_base.IndexTest):
    setup = "SELECT 1;"

    @classmethod
    def start_server(cls, pg_config, folder):
        cls.nodes = index_base.Nodes()
        cls.addClassCleanup(cls.nodes.close)
        node = cls.collection("noded", 8, "vector_l2_ops", "--schema", SCHEMA)
        cls.killed = Killed.make(pg_config, folder, node)
        cls.addClassCleanup(cls.killed.close)
        cls.server = cls.killed.server

    @classmethod
    def log(cls):
        return cls.killed.log()

    @classmethod
    def round(cls, counted, number, generator):
        killed = cls.killed
        clients = killed.begin_clients(number, generator)
        time.sleep(generator.uniform(0.05, 1.5))
        kind = killed.choose(generator)
        counted.note(kind)
        killed.end(kind, generator)
        # Clients of a server that is there go on.
        if kind == "engine":
            wrong = killed.end_clients(clients)
            killed.start_again()
        else:
            killed.start_again()
            wrong = killed.end_clients(clients)
        killed.settle(generator)
        killed.compare(generator)
        if wrong:
            raise AssertionError("\n".join(wrong[:10]))
        killed.cut()

    def test_tables_and_indexes_have_the_same_rows_after_each_kill(self):
        for number, generator in rounds.Rounds(None, index_base.SEED, int(os.environ.get("FARVEC_KILLS", 3))):
            with self.subTest(seed=index_base.SEED, round=number):
                self.round(rounds.Rounds(None, index_base.SEED, 0), number, generator)


if __name__ == "__main__":
    if OPTIONS is not None:
        sys.exit(1 if rounds.run_by_hand(OPTIONS, Kills, ROUNDS_PER_SERVER) else 0)
    unittest.main()
