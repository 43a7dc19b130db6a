"""What nodes and servers do around a search: other indexes, encodings, other sessions, lost clients."""
import json
import subprocess
import time
import unittest

import numpy as np

import search_test
from farvec_tool import TIMEOUT_S, farvec, write_vectors
from postgres_server import SqlError
from search_test import FIRST, K, ROWS, passed, text_of

SILENT = "SELECT * FROM farvec_search('{}', '[1]', deadline => '10 minutes');"


class Indexes(search_test.SearchTest):
    """A node whose index is replaced while a backend has a connection to it."""

    @classmethod
    def make_nodes(cls):
        cls.node = None

    def serve(self, name, rows):
        folder = self.nodes.folder
        index = folder / f"{name}-{len(rows)}-{rows.shape[1]}.index"
        passed(farvec("build", "graph", "--data", write_vectors(folder / f"{name}-data", rows), "--metric",
                      "l2", "--degree", 12, "--list", 40, "--quiet", "--out", index))
        return self.nodes.start(name, "--index", index)

    def until(self, statements, is_expected):
        """Asks in one session again and again, until it gets the answer or the error."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            try:
                said = "\n".join(self.sql(statements))
            except SqlError as error:
                said = error.text
            if is_expected(said):
                return
            self.assertLess(time.monotonic(), end, said)
            time.sleep(0.2)

    def test_a_larger_index(self):
        node = self.serve("larger", self.data[:20])
        query = f"SELECT count(*) FROM farvec_search('{node}', '{text_of(self.data[3])}', 1000);"
        self.assertEqual(self.one(query), "20")
        self.nodes.stop("larger")
        self.serve("larger", self.data)
        self.until(query, lambda said: said == str(ROWS))

    def test_a_new_connection_that_fails(self):
        node = self.serve("narrow", self.data[:50])
        query = "SELECT id FROM farvec_search('{}', '{}', 1, deadline => '20 s');"
        wide = query.format(node, text_of(self.data[9]))
        narrow = query.format(node, text_of(self.data[9, :4]))
        self.assertEqual(self.sql(wide), ["9"])
        self.nodes.stop("narrow")
        self.serve("narrow", self.data[:50, :4].copy())
        # The open connection answers, and another one cannot be made with these files.
        broken = "".join(f"SET farvec.tls_{what} = '/nowhere/{what}';"
                         for what in ("certificate", "key", "authority"))
        self.until(broken + narrow, lambda said: "/nowhere/" in said)
        self.until(narrow, lambda said: said == "9")
        self.refused(wide, "22023")


class Texts(search_test.SearchTest):
    SECTIONS = ("é", "日")

    @classmethod
    def make_nodes(cls):
        folder = cls.nodes.folder
        (folder / "texts.jsonl").write_text("".join(
            json.dumps({"price": 1, "section": section}, ensure_ascii=False) + "\n"
            for section in cls.SECTIONS), encoding="utf-8")
        base = write_vectors(folder / "texts-data", cls.data[:len(cls.SECTIONS)])
        passed(farvec("collection", "create", "--collection", folder / "texts", "--metric", "l2", "--like",
                      base, "--schema", search_test.SCHEMA))
        passed(farvec("collection", "insert", "--collection", folder / "texts", "--data", base,
                      "--attributes", folder / "texts.jsonl", "--quiet"))
        cls.node = cls.nodes.start("texts", "--collection", folder / "texts")
        for name in ("latin1", "utf8"):
            cls.server.sql(f"CREATE DATABASE texts_{name} TEMPLATE template0 ENCODING '{name}' "
                           "LC_COLLATE 'C' LC_CTYPE 'C';")
            cls.server.sql("CREATE EXTENSION farvec;", database=f"texts_{name}")

    def test_attributes_and_conditions(self):
        query = (f"SELECT id, attributes->>'section', length(attributes->>'section') FROM "
                 f"farvec_search('{self.node}', '{text_of(self.data[0])}', columns => '{{section}}', ")
        for name in ("latin1", "utf8"):
            options = {"database": f"texts_{name}", "settings": {"client_encoding": "UTF8"}}
            self.assertEqual(self.sql(query + "filter => 'section = ''é''');", **options), ["0|é|1"])
            said = self.refused(query + "filter => 'café = 1');", "22023", **options)
            self.assertIn("farvec_node", said)
            self.assertNotIn("Ã", said)
            self.refused(f"SELECT * FROM farvec_search('{self.node}', '{text_of(self.data[0])}', columns => "
                         "'{café}');", "22023", **options)
        # LATIN1 has no such character.
        self.refused(query + "k => 2);", "22P05", database="texts_latin1")
        self.assertEqual(self.sql(query + "k => 2);", database="texts_utf8",
                                  settings={"client_encoding": "UTF8"}), ["0|é|1", "1|日|1"])


class Within(search_test.SearchTest):
    def test_rows_are_within_the_distance_shown(self):
        arguments = f"'{self.node}', '{text_of(np.full(self.data.shape[1], 0.25))}', {ROWS}, exact => true"
        self.assertEqual(self.one(f"SELECT count(*) FROM farvec_search({arguments});"), str(ROWS))
        self.assertEqual(self.sql(
            f"SELECT r.id FROM farvec_search({arguments}) r WHERE r.distance IS DISTINCT FROM (SELECT "
            f"max(s.distance) FROM farvec_search({arguments}, within => r.distance) s);"), [])

    def test_infinity(self):
        query = f"'{text_of(self.data[3])}'"
        self.assertEqual(len(self.found(query, "within => 'infinity'")), ROWS)
        self.assertEqual(len(self.found(query, str(K), "within => 'infinity'")), K)
        self.assertEqual(len(self.found(query, "within => 3e38")), ROWS)
        self.assertEqual(self.found(query, "within => 1e-45"), [[str(FIRST + 3), "0"]])


class OtherSessions(search_test.SearchTest):
    def begin(self, statements, settings=""):
        """A client whose search is under way."""
        waiting = self.server.begin(settings + statements)
        self.addCleanup(waiting.communicate)
        self.addCleanup(waiting.kill)
        self.await_searches(1)
        return waiting

    def searches(self):
        return self.sql("SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> "
                        "pg_backend_pid() AND query LIKE '%FROM farvec_search%';")

    def await_searches(self, count):
        end = time.monotonic() + TIMEOUT_S
        while len(self.searches()) != count:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_a_database_is_dropped_while_one_waits(self):
        with search_test.Silence() as address:
            waiting = self.begin(SILENT.format(address))
            for name in ("first", "second"):
                self.sql(f"CREATE DATABASE {name};")
                self.sql(f"SET statement_timeout = '60 s'; DROP DATABASE {name};")
            [pid] = self.searches()
            self.assertEqual(self.one(f"SELECT pg_cancel_backend({pid});"), "t")
            self.assertIn("57014", waiting.communicate(timeout=TIMEOUT_S)[1])

    def test_the_client_goes(self):
        with search_test.Silence() as address:
            waiting = self.begin(SILENT.format(address),
                                 "SET client_connection_check_interval = '50 ms';")
            waiting.kill()
            self.await_searches(0)

    def test_a_search_comes_to_its_end_although_it_is_interrupted(self):
        """Each interruption repeats the call; attempts get longer, so that one of them ends."""
        query = (f"SELECT id FROM farvec_search('{self.node}', '{text_of(self.data[3])}', 1, "
                 f"deadline => '{TIMEOUT_S} s');")
        process = self.nodes.processes["set"]
        process.send_signal(search_test.signal.SIGSTOP)
        try:
            waiting = self.begin(query, "SET client_connection_check_interval = '1 ms';")
            self.assertRaises(subprocess.TimeoutExpired, waiting.communicate, timeout=0.5)
        finally:
            process.send_signal(search_test.signal.SIGCONT)
        output, errors = waiting.communicate(timeout=TIMEOUT_S)
        self.assertEqual((output.split(), errors), ([str(FIRST + 3)], ""))


if __name__ == "__main__":
    unittest.main()
