"""Many clients ask at the same time, and each gets the answers that one client gets alone."""
import os
import pathlib
import subprocess
import unittest

from engine_base import ROWS, EngineTest
from index_base import BY_INDEX

ROWS_IN_TABLE = 4000
QUERIES = 40
CLIENTS = tuple(int(word) for word in os.environ.get("FARVEC_CLIENTS", "8,32").split(","))
TIMEOUT_S = 240
SETS = BY_INDEX + "SET farvec.search_list = 100; SET extra_float_digits = 3;"
# Queries of several kinds: nearest rows, with a condition, of a later batch, and of all rows.
SHAPES = (
    "SELECT {n}, id, v <-> {q} FROM crowd ORDER BY v <-> {q} LIMIT 10;",
    "SELECT {n}, id, v <-> {q} FROM crowd WHERE price < {p} ORDER BY v <-> {q} LIMIT 10;",
    "SELECT {n}, id, v <-> {q} FROM crowd WHERE section = 's{s}' AND price >= {p} ORDER BY v <-> {q} LIMIT 5;",
    "SELECT {n}, id, v <-> {q} FROM crowd ORDER BY v <-> {q} LIMIT 50 OFFSET 60;",
)


def query(number):
    vector = f"'[{(number * 37 % 100) / 50 - 1},{(number * 13 % 100) / 50 - 1},0.25,{number % 7 / 7}]'"
    return SHAPES[number % len(SHAPES)].format(n=number, q=vector, p=number % 50 + 1, s=number % 5)


class Clients(EngineTest):
    settings = {"max_connections": "200", "farvec.engine_threads": "2"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rows = ROWS.format(1, ROWS_IN_TABLE).replace("SELECT i, ", "SELECT i, i % 100, 's' || i % 5, ")
        cls.sql("CREATE TABLE crowd (id int PRIMARY KEY, price int, section text, v vector(4));"
                f"INSERT INTO crowd {rows};"
                "CREATE INDEX crowd_v ON crowd USING farvec (v vector_l2_ops, price, section); ANALYZE crowd;")

    def begin_client(self, number):
        """Asks all queries, each client beginning with another one."""
        order = [(number * 7 + i) % QUERIES for i in range(QUERIES)]
        file = pathlib.Path(self.server.top / f"crowd-{number}.sql")
        file.write_text(SETS + "\n".join(query(one) for one in order))
        return subprocess.Popen(self.server.command("postgres", "--file", str(file)), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.server.environment({}))

    def answers(self, process):
        """{number of the query: its rows} of a client."""
        lines, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(errors, "")
        found = {}
        for line in lines.splitlines():
            found.setdefault(line.split("|")[0], []).append(line)
        return found

    def test_each_of_many_clients_gets_the_answers_of_one(self):
        self.assert_uses("crowd_v", query(1))
        alone = self.answers(self.begin_client(0))
        self.assertEqual(len(alone), QUERIES)
        for count in CLIENTS:
            with self.subTest(clients=count):
                clients = [self.begin_client(number) for number in range(count)]
                for number, process in enumerate(clients):
                    self.assertEqual(self.answers(process), alone, f"client {number} of {count}")


if __name__ == "__main__":
    unittest.main()
