"""farvec_search() over compute nodes: what it finds, what it refuses, and what ends its waits."""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

from postgres_server import ROOT, PostgresTest

sys.path.insert(0, str(ROOT / "tests" / "tool"))

import bits_test  # noqa: E402
from farvec_tool import BIN, TIMEOUT_S, farvec, write_vectors  # noqa: E402

ROWS, DIMENSION, K = 400, 9, 7
FIRST = 5_000_000_000  # ids have more than 32 bits
SCHEMA = "price: i64, section: string"


def text_of(row):
    return "[" + ",".join(repr(float(number)) for number in row) + "]"


def passed(result):
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result


class Nodes:
    """Compute nodes of one test class, in a folder that everyone may reach."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="farvec-nodes-")))
        self.folder.chmod(0o755)
        self.processes = {}

    def start(self, name, *source):
        """The address of a node that serves."""
        address = f"unix:{self.folder}/{name}.socket"
        log = self.stack.enter_context(open(self.folder / f"{name}.log", "a"))
        process = subprocess.Popen([str(BIN / "farvec-compute-node"), *map(str, source), "--listen",
                                    address, "--threads", "1"], stdout=log, stderr=log)
        self.stack.callback(process.wait, timeout=TIMEOUT_S)
        self.stack.callback(process.kill)
        self.processes[name] = process
        end = time.monotonic() + TIMEOUT_S
        while farvec("status", address, "--json").returncode != 0:
            if time.monotonic() > end or process.poll() is not None:
                raise AssertionError((self.folder / f"{name}.log").read_text())
            time.sleep(0.05)
        # The server is another user.
        os.chmod(self.folder / f"{name}.socket", 0o777)
        return address

    def stop(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def graph(self, name, data, metric, *options):
        """The address of a node of an index that is made of a file."""
        index = self.folder / f"{name}.index"
        passed(farvec("build", "graph", "--data", data, "--metric", metric, "--degree", 12, "--list", 40,
                      "--quiet", "--out", index, *options))
        return self.start(name, "--index", index)

    def close(self):
        self.stack.close()


class SearchTest(PostgresTest):
    """A server, and a collection that a node serves: ids are numbers of rows after FIRST."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nodes = Nodes()
        cls.addClassCleanup(cls.nodes.close)
        generator = np.random.default_rng(11)
        cls.data = generator.normal(size=(ROWS, DIMENSION)).astype(np.float32)
        cls.ids = np.arange(ROWS) + FIRST
        cls.prices = np.arange(ROWS) % 50
        folder = cls.nodes.folder
        cls.base = write_vectors(folder / "base", cls.data)
        (folder / "base.jsonl").write_text("".join(
            json.dumps({"price": int(price), "section": "ab"[price % 2]}) + "\n"
            for price in cls.prices))
        cls.make_nodes()

    @classmethod
    def make_nodes(cls):
        folder = cls.nodes.folder
        passed(farvec("collection", "create", "--collection", folder / "set", "--metric", "l2", "--like",
                      cls.base, "--schema", SCHEMA))
        passed(farvec("collection", "insert", "--collection", folder / "set", "--data", cls.base, "--first-id",
                      FIRST, "--attributes", folder / "base.jsonl", "--quiet"))
        cls.node = cls.nodes.start("set", "--collection", folder / "set")

    def found(self, query, *options, node=None, columns="id, distance", **settings):
        """Rows of a search, as lists of texts."""
        arguments = ", ".join([f"'{node or self.node}'", query, *options])
        lines = self.sql(f"SELECT {columns} FROM farvec_search({arguments});", **settings)
        return [line.split("|") for line in lines]

    def nearest(self, query, k=K, among=None):
        """(ids, distances) by numpy."""
        rows = np.arange(ROWS) if among is None else np.flatnonzero(among)
        distances = np.linalg.norm(self.data[rows].astype(np.float64) - query, axis=1)
        order = np.argsort(distances, kind="stable")[:k]
        return self.ids[rows[order]], distances[order]

    def assert_found(self, rows, ids, distances):
        self.assertEqual([int(row[0]) for row in rows], list(ids))
        np.testing.assert_allclose([float(row[1]) for row in rows], distances, rtol=1e-4, atol=1e-4)


class Collections(SearchTest):
    def test_the_nearest_rows(self):
        query = np.full(DIMENSION, 0.25)
        for form in (f"'{text_of(query)}'::vector", f"'{text_of(query)}'::halfvec",
                     f"'{text_of(query)}'", f"'{text_of(query)}'::text", f"array_fill(0.25::real, "
                     f"ARRAY[{DIMENSION}])::vector"):
            self.assert_found(self.found(form, str(K), "list => 200"), *self.nearest(query))
        self.assertEqual(len(self.found(f"'{text_of(query)}'")), 10)
        self.assertEqual(len(self.found(f"'{text_of(query)}'", str(ROWS + 50))), ROWS)
        self.assertEqual(len(self.found(f"'{text_of(query)}'", "1")), 1)
        self.assertEqual(len(self.found(f"'{text_of(query)}'", "NULL")), 10)

    def test_prepared_and_joined(self):
        query = self.data[17]
        lines = self.sql(
            f"CREATE TABLE items AS SELECT i + {FIRST} AS id, 'item ' || i AS title "
            f"FROM generate_series(0, {ROWS - 1}) i; CREATE INDEX ON items (id); ANALYZE items; "
            f"PREPARE near AS SELECT i.title FROM farvec_search($1, $2, $3) s JOIN items i USING (id) "
            f"ORDER BY s.distance; EXECUTE near('{self.node}', '{text_of(query)}', 3);")
        ids, _ = self.nearest(query, 3)
        self.assertEqual(lines, [f"item {row - FIRST}" for row in ids])
        plan = self.sql(f"EXPLAIN SELECT i.title FROM farvec_search('{self.node}', "
                        f"'{text_of(query)}', 3) s JOIN items i USING (id);")
        self.assertRegex("\n".join(plan), r"Function Scan on farvec_search s .*rows=3 ")
        self.assertRegex("\n".join(plan), "Index")

    def test_once_for_every_row_of_a_table(self):
        self.sql("CREATE TABLE questions (id int, embedding vector);" + "".join(
            f"INSERT INTO questions VALUES ({row}, '{text_of(self.data[row])}');"
            for row in (3, 30, 300)) + "INSERT INTO questions VALUES (0, NULL);")
        lines = self.sql(f"SELECT q.id, s.id FROM questions q, farvec_search('{self.node}', q.embedding, "
                         "1, list => 100) s ORDER BY 1;")
        self.assertEqual(lines, [f"{row}|{row + FIRST}" for row in (3, 30, 300)])

    def test_conditions_and_columns(self):
        query = np.zeros(DIMENSION)
        ids, distances = self.nearest(query, among=(self.prices < 5))
        rows = self.found(f"'{text_of(query)}'", str(K), "'price < 5'", "list => 200",
                          "columns => ARRAY['section', 'price']", columns="id, distance, attributes")
        self.assert_found(rows, ids, distances)
        for row in rows:
            price = int(self.prices[int(row[0]) - FIRST])
            self.assertEqual(json.loads(row[2]), {"section": "ab"[price % 2], "price": price})
        self.assertEqual(self.one(
            f"SELECT attributes IS NULL FROM farvec_search('{self.node}', '{text_of(query)}', 1);"), "t")
        self.assertEqual(self.found(f"'{text_of(query)}'", "filter => 'price > 1000'"), [])
        self.refused(f"SELECT * FROM farvec_search('{self.node}', '{text_of(query)}', 1, 'colour = 3');",
                     "22023")
        self.refused(f"SELECT * FROM farvec_search('{self.node}', '{text_of(query)}', columns => "
                     "'{colour}');", "22023")
        self.refused(f"SELECT * FROM farvec_search('{self.node}', '{text_of(query)}', columns => "
                     "'{price,NULL}');", "22004")

    def test_within_exact_and_refined(self):
        query = np.zeros(DIMENSION)
        _, distances = self.nearest(query, ROWS)
        limit = float(distances[20] + distances[21]) / 2
        self.assertEqual(len(self.found(f"'{text_of(query)}'", "100", f"within => {limit}",
                                        "list => 300")), 21)
        self.assertEqual(self.found(f"'{text_of(query)}'", "within => 0"), [])
        self.assert_found(self.found(f"'{text_of(query)}'", str(K), "exact => true", "partial => true"),
                          *self.nearest(query))
        for wrong in ("within => -1", "within => 'NaN'", "k => 0", "k => -5", "list => 0", "refine => 0",
                      "probe => -1", "deadline => '0 s'", "deadline => '-1 s'", "deadline => '1 year'"):
            self.refused(f"SELECT * FROM farvec_search('{self.node}', '{text_of(query)}', {wrong});",
                         "22023")

    def test_nothing_is_near_nothing(self):
        for arguments in ("NULL::text, '[1]'", f"'{self.node}', NULL::vector", f"'{self.node}', NULL"):
            self.assertEqual(self.one(f"SELECT count(*) FROM farvec_search({arguments});"), "0")

    def test_queries_that_cannot_be(self):
        for query, state in (("'[1,2]'", "22023"), ("'[1,2]'::vector", "22023"), ("'oops'", "22P02"),
                             ("'[NaN]'", "22000"), ("B'101'", "42804"), ("'[]'", "22000")):
            self.refused(f"SELECT * FROM farvec_search('{self.node}', {query});", state)
        said = self.refused(f"SELECT * FROM farvec_search('{self.node}', '[1,2]');", "22023")
        self.assertIn("HINT:", said)
        self.assertIn(self.node, said)

    def test_ids_that_are_no_bigint(self):
        folder = self.nodes.folder / "far"
        passed(farvec("collection", "create", "--collection", folder, "--metric", "l2", "--like", self.base))
        passed(farvec("collection", "insert", "--collection", folder, "--data", self.base, "--range", "0:2",
                      "--first-id", (1 << 63) - 1, "--quiet"))
        node = self.nodes.start("far", "--collection", folder)
        self.assertEqual(self.found(f"'{text_of(self.data[0])}'", "1", node=node),
                         [[str((1 << 63) - 1), "0"]])
        self.refused(f"SELECT * FROM farvec_search('{node}', '{text_of(self.data[0])}', 2);", "22003")

    def test_a_node_that_stops_to_answer(self):
        query = f"SELECT id FROM farvec_search('{self.node}', '{text_of(self.data[3])}', 1"
        expected = [str(self.ids[3])]
        self.assertEqual(self.sql(f"{query});"), expected)
        process = self.nodes.processes["set"]
        process.send_signal(signal.SIGSTOP)
        try:
            self.assertIn("within 300 ms", self.refused(f"{query}, deadline => '300 ms');", "57014"))
            self.assertIn("statement timeout", self.refused(
                f"SET statement_timeout = '200 ms'; {query}, deadline => '10 minutes');", "57014"))
        finally:
            process.send_signal(signal.SIGCONT)
        self.assertEqual(self.sql(f"{query});"), expected)

    def test_more_nodes_than_connections(self):
        index = self.nodes.folder / "many.index"
        passed(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--degree", 12, "--list",
                      40, "--quiet", "--out", index))
        address = self.nodes.start("many", "--index", index)
        # One node has as many addresses as there are names of its socket.
        names = [f"unix:{self.nodes.folder}/{'./' * number}many.socket" for number in range(20)]
        self.assertEqual(names[0], address)
        for _ in range(2):
            self.assertEqual(self.sql("".join(
                f"SELECT id FROM farvec_search('{name}', '{text_of(self.data[7])}', 1);"
                for name in names)), ["7"] * 20)

    def test_what_a_node_says(self):
        state = json.loads(self.one(f"SELECT farvec_node('{self.node}');"))
        self.assertIn(str(DIMENSION), json.dumps(state))

    def test_many_clients_get_the_same_answers(self):
        queries = self.data[:40]
        script = "".join(f"SELECT id FROM farvec_search('{self.node}', '{text_of(query)}', 5, "
                         "list => 100);" for query in queries)
        expected = [str(row) for query in queries for row in self.nearest(query, 5)[0]]
        running = [self.server.begin(script) for _ in range(8)]
        for process in running:
            output, errors = process.communicate(timeout=TIMEOUT_S)
            self.assertEqual(errors, "")
            self.assertEqual(output.split(), expected)

    def test_a_node_that_comes_back(self):
        folder = self.nodes.folder
        index = folder / "again.index"
        passed(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--degree", 12, "--list",
                      40, "--quiet", "--out", index))
        node = self.nodes.start("again", "--index", index)
        process = subprocess.Popen(self.server.command("postgres"), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=self.server.environment({}))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)

        def ask(query):
            process.stdin.write(f"SELECT id, round(distance::numeric, 2) FROM farvec_search('{node}', "
                                f"'{text_of(query)}', 1, deadline => '2 s'); SELECT 'end';\n")
            process.stdin.flush()
            lines = []
            while not lines or lines[-1] != "end":
                line = process.stdout.readline()
                self.assertNotEqual(line, "", lines)
                lines.append(line.strip())
            return lines[:-1]

        query = self.data[9]
        self.assertEqual(ask(query), ["9|0.00"])
        self.nodes.stop("again")
        self.assertRegex(ask(query)[0], "ERROR:  (08006|57014)")
        # Indexes of another metric and of another dimension in its place.
        for name, rows in (("ip", self.data[:50]), ("narrow", self.data[:50, :4].copy())):
            index = folder / f"{name}.index"
            passed(farvec("build", "graph", "--data", write_vectors(folder / name, rows), "--metric", "ip",
                          "--degree", 12, "--list", 40, "--quiet", "--out", index))
            self.nodes.start("again", "--index", index)
            query = self.data[9, :rows.shape[1]]
            products = rows.astype(np.float64) @ query
            best = f"{np.argmax(products)}|{-products.max():.2f}"
            end = time.monotonic() + TIMEOUT_S
            while ask(query) != [best]:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.2)
            self.nodes.stop("again")


class Kinds(SearchTest):
    """Indexes of other types and metrics."""

    @classmethod
    def make_nodes(cls):
        cls.node = None

    def test_cosine_and_products(self):
        cosine = self.nodes.graph("cosine", self.base, "cosine")
        product = self.nodes.graph("ip", self.base, "ip")
        query = self.data[5] * 3
        lengths = np.linalg.norm(self.data, axis=1) * np.linalg.norm(query)
        for node, operator, distances in ((cosine, "<=>", 1 - self.data @ query / lengths),
                                          (product, "<#>", -(self.data @ query))):
            row = int(np.argmin(distances))
            self.assertEqual(len(self.found(f"'{text_of(query)}'", str(ROWS + 1), node=node)), ROWS)
            [[found, distance]] = self.found(f"'{text_of(query)}'", "1", "list => 200", node=node)
            self.assertEqual(int(found), row)
            self.assertAlmostEqual(float(distance), float(distances[row]), 3)
            shown = self.one(f"SELECT '{text_of(self.data[row])}'::vector {operator} "
                             f"'{text_of(query)}'::vector;")
            self.assertAlmostEqual(float(distance), float(shown), 3)

    def test_bytes(self):
        for dtype, name in ((np.uint8, "u8"), (np.int8, "i8")):
            least = np.iinfo(dtype).min
            rows = np.random.default_rng(2).integers(least, least + 256, (200, 5)).astype(dtype)
            node = self.nodes.graph(name, write_vectors(self.nodes.folder / name, rows), "l2")
            [[found, distance]] = self.found(f"'{text_of(rows[33])}'::vector", "1", node=node)
            self.assertEqual((found, float(distance)), ("33", 0))
            [[found, _]] = self.found(f"'{text_of(rows[34])}'::halfvec", "1", node=node)
            self.assertEqual(found, "34")
            for wrong in (least - 1, least + 256, 0.5):
                self.refused(f"SELECT * FROM farvec_search('{node}', '[1,1,1,1,{wrong}]');", "22003")

    def test_half_floats(self):
        rows = self.data.astype(np.float16)
        np.save(self.nodes.folder / "half.npy", rows)
        node = self.nodes.graph("half", self.nodes.folder / "half.npy", "l2")
        for form in ("halfvec", "vector", "text"):
            [[found, distance]] = self.found(f"'{text_of(rows[77])}'::{form}", "1", node=node)
            self.assertEqual((found, float(distance)), ("77", 0))
        self.refused(f"SELECT * FROM farvec_search('{node}', "
                     f"'{text_of([1e6] * DIMENSION)}');", "22003")

    def test_bits(self):
        generator = np.random.default_rng(4)
        rows = generator.random((300, 21)) < 0.4
        data = bits_test.write_bits(self.nodes.folder / "bits.b1bin", rows)
        for metric in bits_test.METRICS:
            node = self.nodes.graph(metric, data, metric)
            query = rows[100] ^ (generator.random(21) < 0.1)
            text = "".join("01"[bit] for bit in query.astype(int))
            _, distances = bits_test.nearest(query[None], rows, metric, 5)
            for form in (f"B'{text}'", f"'{text}'", f"'{text}'::varbit::bit(21)"):
                found = self.found(form, "5", "list => 100", node=node)
                np.testing.assert_allclose([float(row[1]) for row in found], distances[0], atol=1e-6)
            self.refused(f"SELECT * FROM farvec_search('{node}', '[1,2]'::vector);", "42804")
            self.refused(f"SELECT * FROM farvec_search('{node}', B'101');", "22023")
            self.refused(f"SELECT * FROM farvec_search('{node}', '012');", "22P02")

    def test_a_second_copy(self):
        node = self.nodes.graph("second", self.base, "l2", "--store", "i8")
        query = self.data[8]
        rows = self.found(f"'{text_of(query)}'", "3", "list => 100", "refine => 4", node=node)
        self.assertEqual((rows[0][0], float(rows[0][1])), ("8", 0))

    def test_clusters(self):
        index = self.nodes.folder / "clusters.index"
        passed(farvec("build", "cluster", "--data", self.base, "--metric", "l2", "--clusters", 8,
                      "--quiet", "--out", index))
        node = self.nodes.start("clusters", "--index", index)
        rows = self.found(f"'{text_of(self.data[8])}'", "3", "probe => 8", node=node)
        self.assertEqual((rows[0][0], float(rows[0][1])), ("8", 0))


class Silence:
    """A TCP port that takes connections and says nothing."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.taken = []
        self.thread = threading.Thread(target=self.take, daemon=True)
        self.thread.start()
        return f"127.0.0.1:{self.socket.getsockname()[1]}"

    def take(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.socket.accept()[0])

    def __exit__(self, *unused):
        self.socket.shutdown(socket.SHUT_RDWR)  # which ends the thread's accept()
        self.thread.join(TIMEOUT_S)
        self.socket.close()
        for taken in self.taken:
            taken.close()


class Waits(PostgresTest):
    """Nodes that do not answer. Each wait would take minutes if nothing ended it."""

    QUERY = "SELECT * FROM farvec_search('{}', '[1]', deadline => '{}');"

    def test_nothing_listens(self):
        with Silence() as address:
            pass
        said = self.refused(self.QUERY.format(address, "1 minute"), "08006")
        self.assertIn("HINT:  Is farvec-compute-node running", said)
        self.refused(self.QUERY.format("unix:/nowhere/at/all", "1 minute"), "08006")

    def test_addresses_that_are_none(self):
        self.refused(self.QUERY.format("", "1 s"), "22023")
        self.refused(self.QUERY.format("x" * 256, "1 s"), "22023")

    def test_a_deadline(self):
        with Silence() as address:
            said = self.refused(self.QUERY.format(address, "300 ms"), "57014")
            self.assertIn("300 ms", said)

    def test_a_timeout_of_the_statement(self):
        with Silence() as address:
            said = self.refused("SET statement_timeout = '200 ms';" +
                                self.QUERY.format(address, "10 minutes"), "57014")
            self.assertIn("statement timeout", said)

    def await_search(self):
        end = time.monotonic() + TIMEOUT_S
        while True:
            found = self.sql("SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE "
                             "'SELECT * FROM farvec_search%';")
            if found:
                return found[0]
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_cancelled_and_ended(self):
        with Silence() as address:
            for function, state in (("pg_cancel_backend", "57014"), ("pg_terminate_backend", "57P01")):
                waiting = self.server.begin(self.QUERY.format(address, "10 minutes"))
                self.addCleanup(waiting.kill)
                self.assertEqual(self.one(f"SELECT {function}({self.await_search()});"), "t")
                _, errors = waiting.communicate(timeout=30)
                self.assertIn(state, errors)

    def test_a_backend_goes_on_after_errors(self):
        with Silence() as address:
            lines, errors = self.server.session("postgres").run(
                "SET statement_timeout = '100 ms';" + self.QUERY.format(address, "10 minutes") * 3 +
                "BEGIN; SAVEPOINT a;" + self.QUERY.format(address, "10 minutes") +
                "ROLLBACK TO a; SELECT 'still here'; COMMIT;", TIMEOUT_S)
        self.assertEqual(lines, ["still here"])
        self.assertEqual(errors.count("ERROR:  57014"), 4)

    def test_the_server_stops_while_one_waits(self):
        with Silence() as address:
            waiting = self.server.begin(self.QUERY.format(address, "10 minutes"))
            self.addCleanup(waiting.kill)
            self.await_search()
            self.assertEqual(self.server.control("restart", "--mode", "fast", "--timeout", "60",
                                                 "--log", self.server.log), 0)
            waiting.communicate(timeout=30)
        self.server.end_sessions()


class Rights(PostgresTest):
    def test_who_may_name_what(self):
        self.sql("CREATE ROLE reader LOGIN;")
        query = "SET ROLE reader; SELECT * FROM farvec_search('{}', '[1]', deadline => '1 s');"
        said = self.refused(query.format("127.0.0.1:1"), "42501")
        self.assertIn("farvec.allowed_nodes", said)
        self.refused("SET ROLE reader; SELECT farvec_node('127.0.0.1:1');", "42501")
        self.refused("LOAD 'farvec'; SET ROLE reader; SET farvec.allowed_nodes = '*';", "42501")
        # Before the module is loaded, PostgreSQL takes the setting, and drops it then.
        self.refused("SET ROLE reader; SET farvec.allowed_nodes = '*';" +
                     query.format("127.0.0.1:1"), "42501")
        allowed = "SET farvec.allowed_nodes = '127.0.0.1:7, 127.0.0.1:1';"
        self.refused(allowed + query.format("127.0.0.1:1"), "08006")
        self.refused(allowed + query.format("127.0.0.1:2"), "42501")
        self.refused("SET farvec.allowed_nodes = '*';" + query.format("127.0.0.1:1"), "08006")

    def test_settings_that_are_none(self):
        self.refused("LOAD 'farvec'; SET farvec.colour = 'red';", "42602")


if __name__ == "__main__":
    unittest.main()
