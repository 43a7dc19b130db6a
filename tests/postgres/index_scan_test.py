"""Scans of farvec indexes give the rows that the table gives, for each type and metric."""
import json
import unittest

import numpy as np

import index_base
from index_base import BY_INDEX, BY_TABLE, CLASSES

ROWS, DIMENSION = 300, 20


def literal(row, column):
    if column == "bit":
        return "B'" + "".join(str(int(bit)) for bit in row) + "'"
    return "'[" + ",".join(f"{number:.4g}" for number in row) + "]'"


class Scans(index_base.IndexTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.generator = np.random.default_rng(index_base.SEED)

    def rows_of(self, column, count):
        if column == "bit":
            return self.generator.integers(0, 2, size=(count, DIMENSION))
        return self.generator.normal(size=(count, DIMENSION))

    def fill(self, table, column, count, first=0):
        values = ",".join(f"({first + number},{number % 10},{literal(row, column)})"
                          for number, row in enumerate(self.rows_of(column, count)))
        self.sql(f"INSERT INTO {table} VALUES {values};")

    def make(self, kind, table):
        column, _, _, _ = CLASSES[kind]
        self.sql(f"CREATE TABLE {table} (id int, section int, v {column}({DIMENSION}));")
        self.fill(table, column, ROWS)
        node = self.collection(table, DIMENSION, kind)
        self.sql(f"CREATE INDEX {table}_index ON {table} USING farvec (v {kind}) WITH (node = '{node}');")
        return node

    def query_of(self, kind, table, limit, where="true"):
        column, operator, _, _ = CLASSES[kind]
        [row] = self.rows_of(column, 1)
        distance = f"v {operator} {literal(row, column)}"
        return f"SELECT {distance} AS d FROM {table} WHERE {where} ORDER BY {distance} LIMIT {limit};"

    def compare(self, kind, table):
        """Lists as long as the table find all, so that answers are exact."""
        column, operator, _, _ = CLASSES[kind]
        exact = f"SET farvec.search_list = {ROWS * 4};"
        query = self.query_of(kind, table, 10)
        self.assert_uses(f"{table}_index", query)
        for limit, where in ((1, "true"), (10, "true"), (50, "true"), (10, "section = 3"), (1000, "true")):
            self.both(self.query_of(kind, table, limit, where), exact)
        found = self.sql(BY_INDEX + exact + f"SELECT id FROM (SELECT id FROM {table} ORDER BY v {operator} "
                         f"{literal(self.rows_of(column, 1)[0], column)} LIMIT 100000) t ORDER BY id;")
        self.assertEqual(found, self.sql(f"SELECT id FROM {table} ORDER BY id;"))
        self.assert_sound(f"{table}_index")

    def test_each_class(self):
        for kind, (column, _, _, _) in CLASSES.items():
            with self.subTest(kind):
                table = kind.removesuffix("_ops")
                self.make(kind, table)
                self.compare(kind, table)
                self.fill(table, column, ROWS, ROWS)
                self.compare(kind, table)
                self.sql(f"DELETE FROM {table} WHERE id % 3 = 0; "
                         f"UPDATE {table} SET v = (SELECT v FROM {table} WHERE id = 1) WHERE id % 5 = 0; ")
                self.compare(kind, table)
                self.sql(f"VACUUM {table};")
                self.compare(kind, table)

    def test_nulls_zeros_and_lengths_that_floats_cannot_square(self):
        for kind in ("vector_cosine_ops", "vector_l2_ops", "vector_ip_ops"):
            with self.subTest(kind):
                table = "odd_" + kind.removesuffix("_ops")
                _, operator, _, _ = CLASSES[kind]
                node = self.collection(table, 2, kind)
                self.sql(f"CREATE TABLE {table} (id serial, v vector(2)); INSERT INTO {table} (v) VALUES "
                         "('[1,2]'), (NULL), ('[0,0]'), ('[1e-30,0]'), ('[1e30,1e30]'), ('[-1,3]'), (NULL), "
                         "('[0,0]'), ('[3e38,3e38]');"
                         f"CREATE INDEX {table}_index ON {table} USING farvec (v {kind}) WITH (node='{node}');"
                         f"INSERT INTO {table} (v) VALUES ('[2,2]'), (NULL), ('[0,0]'), ('[1e-30,1e-30]');")
                for query in ("'[1,1]'", "'[0,0]'", "'[1e30,1]'", "'[1e-30,1]'", "NULL"):
                    text = (f"SELECT v {operator} {query}::vector AS d, count(*) OVER () FROM {table} "
                            f"ORDER BY v {operator} {query}::vector LIMIT 100;")
                    expected = self.sql(BY_TABLE + f"SELECT v {operator} {query}::vector AS d FROM {table} "
                                        "ORDER BY 1;")
                    found = self.sql(BY_INDEX + f"SELECT v {operator} {query}::vector AS d FROM {table} "
                                     f"ORDER BY v {operator} {query}::vector LIMIT 100;")
                    self.assertEqual(sorted(found), sorted(expected), (kind, query))
                    self.assertEqual(len(self.sql(BY_INDEX + text)), 13, (kind, query))
                self.assert_sound(f"{table}_index")

    def test_short_lists_still_give_every_row(self):
        table = "short"
        self.make("vector_l2_ops", table)
        for where in ("true", "section = 3", "id = 77"):
            query = (f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {where} ORDER BY v <-> "
                     f"{literal(self.rows_of('vector', 1)[0], 'vector')} LIMIT 100000) t;")
            self.both(query, "SET farvec.search_list = 2;")
        off = "SET farvec.iterative_scan = off; SET farvec.search_list = 7;"
        self.assertEqual(self.one(BY_INDEX + off + query.replace("id = 77", "true")), "7")

    def test_joins_scan_again(self):
        table = "joined"
        self.make("vector_l2_ops", table)
        query = (f"SELECT q.id, near.d FROM {table} q, LATERAL (SELECT t.v <-> q.v AS d FROM {table} t "
                 "ORDER BY t.v <-> q.v LIMIT 3) near WHERE q.id < 20 ORDER BY 1, 2;")
        self.both(query, f"SET farvec.search_list = {ROWS};")
        self.both(f"SELECT count(*) FROM (VALUES (NULL::vector)) q(v), LATERAL (SELECT 1 FROM {table} t "
                  "ORDER BY t.v <-> q.v LIMIT 7) near;")

    def test_plans(self):
        node = self.collection("planned", 3)
        self.sql("CREATE TABLE planned (id int PRIMARY KEY, v vector(3)); INSERT INTO planned SELECT i, "
                 "array[i, i, i] FROM generate_series(1, 5000) i; CREATE INDEX planned_index ON planned USING "
                 f"farvec (v vector_l2_ops) WITH (node = '{node}'); ANALYZE planned;")
        order = "ORDER BY v <-> '[1,2,3]'"
        for query, uses in ((f"SELECT id FROM planned {order} LIMIT 10;", True),
                            (f"SELECT id FROM planned WHERE id > 100 {order} LIMIT 10;", True),
                            (f"SELECT id FROM planned WHERE id < 9 {order} LIMIT 10;", False),
                            (f"SELECT id FROM planned {order};", False),
                            (f"SELECT id FROM planned {order} LIMIT 4500;", False),
                            ("SELECT count(*) FROM planned;", False),
                            ("SELECT id FROM planned ORDER BY v <=> '[1,2,3]' LIMIT 10;", False),
                            ("SELECT id FROM planned ORDER BY v <-> '[1,2,3]' DESC LIMIT 10;", False)):
            plan = "\n".join(self.sql("EXPLAIN " + query))
            self.assertEqual("planned_index" in plan, uses, query + plan)
        self.nodes.stop("planned")
        self.refused(f"SELECT id FROM planned {order} LIMIT 10;", "08006")
        # The session then does without it.
        self.assertEqual(len(self.sql(f"SELECT id FROM planned {order} LIMIT 10;")), 10)

    def test_many_clients_get_the_answers_that_one_gets(self):
        table = "asked"
        self.make("vector_l2_ops", table)
        queries = [literal(row, "vector") for row in self.rows_of("vector", 40)]
        ask = BY_INDEX + "".join(f"SELECT string_agg(id::text, ' ') FROM (SELECT id FROM {table} ORDER BY v <-> "
                                 f"{query} LIMIT 10) t; " for query in queries)
        expected = self.sql(ask)
        self.assertEqual(len(set(expected)), len(queries))
        clients = [self.begin(ask) for _ in range(12)]
        for client in clients:
            output, errors = client.communicate(timeout=100)
            self.assertEqual((output.splitlines(), errors), (expected, ""))

    def test_users_of_a_table_need_no_right_on_the_node(self):
        table = "shared"
        self.make("vector_l2_ops", table)
        self.sql(f"CREATE USER guest; GRANT SELECT, INSERT ON {table} TO guest;")
        [row] = self.rows_of("vector", 1)
        lines = self.sql(f"{BY_INDEX} SET ROLE guest; INSERT INTO {table} VALUES (5000, 0, "
                         f"{literal(row, 'vector')}); SELECT id FROM {table} ORDER BY v <-> "
                         f"{literal(row, 'vector')} LIMIT 1;")
        self.assertEqual(lines, ["5000"])
        self.refused(f"SET ROLE guest; SELECT farvec_check('{table}_index');", "42501")

    def test_cursors_and_last_scan(self):
        table = "walked"
        self.make("vector_l2_ops", table)
        lines = self.sql(BY_INDEX + f"BEGIN; DECLARE c CURSOR FOR SELECT id FROM {table} ORDER BY v <-> "
                         f"{literal(np.zeros(DIMENSION), 'vector')}; FETCH 30 FROM c; "
                         "DELETE FROM walked; FETCH ALL FROM c; COMMIT; SELECT farvec_last_scan();")
        self.assertEqual(sorted(map(int, lines[:-1])), list(range(ROWS)))
        said = json.loads(lines[-1])
        self.assertEqual(said["index"], "walked_index")
        self.assertEqual(said["found"] + said["rest"], ROWS)

    def test_what_is_refused(self):
        node = self.collection("refused", 3)
        self.sql("CREATE TABLE refused (v vector, w vector(3), h halfvec(3), f real[]);")
        for what, state in ((f"(v vector_l2_ops) WITH (node = '{node}')", "22023"),
                            (f"(w) WITH (node = '{node}')", "42704"),
                            (f"(w vector_l1_ops) WITH (node = '{node}')", "42704"),
                            (f"(f vector_l2_ops) WITH (node = '{node}')", "42804"),
                            (f"(w vector_cosine_ops) WITH (node = '{node}')", "55000"),
                            (f"(h halfvec_l2_ops) WITH (node = '{node}')", "55000"),
                            (f"((w::vector(4)) vector_l2_ops) WITH (node = '{node}')", "55000"),
                            ("(w vector_l2_ops) WITH (node = 'unix:/nowhere')", "08006"),
                            ("(w vector_l2_ops)", "55000"),  # the server has no engine
                            (f"(w vector_l2_ops) WITH (node = '{node}', tier = 'ssd')", "22023"),
                            (f"(w vector_l2_ops) WITH (node = '{node}', m = 4, degree = 8)", "22023"),
                            (f"(w vector_l2_ops) WITH (node = '{node}', other = 8)", "22023"),
                            (f"(w vector_l2_ops, h halfvec_l2_ops) WITH (node = '{node}')", "0A000")):
            with self.subTest(what):
                self.refused(f"CREATE INDEX ON refused USING farvec {what};", state)
        self.refused(f"CREATE UNIQUE INDEX ON refused USING farvec (w vector_l2_ops) WITH (node = '{node}');",
                     "0A000")
        self.sql(f"CREATE INDEX first ON refused USING farvec (w vector_l2_ops) WITH (node = '{node}');")
        self.refused("CREATE INDEX second ON refused USING farvec (w vector_l2_ops) "
                     f"WITH (node = '{node}');", "55006")
        self.refused("INSERT INTO refused (w) VALUES ('[1,2]');", "22000")
        self.refused("INSERT INTO refused (w) VALUES ('[1,2,NaN]');", "22000")
        self.sql("CREATE USER other; ALTER TABLE refused OWNER TO other; CREATE TABLE theirs (w vector(3)); "
                 "ALTER TABLE theirs OWNER TO other;")
        self.refused("SET ROLE other; CREATE INDEX ON theirs USING farvec (w vector_l2_ops) "
                     f"WITH (node = '{node}');", "42501")
        self.refused("SET ROLE other; SELECT farvec_check('scans_none');", "42P01")


if __name__ == "__main__":
    unittest.main()
