#!/usr/bin/env python3
"""Conditions on columns after the vector: rows by the index are those of the table, for random
conditions on random values of each type."""
import random
import threading
import unittest

import index_base
from farvec_tool import farvec
from filters_base import DIMENSION, FiltersTest, InEngine
from index_base import BY_INDEX, BY_TABLE
from search_test import passed


def text(value):
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def array(values):
    return "ARRAY[" + ",".join(text(value) for value in values) + "]::text[]"


WORDS = ["", "a", "A", "b", "ab", "it's", "''", "\\", "\\'", "x' or true --", "') or ('", '"', "Ж", "漢字",
         "é", "É", "e", "😀", "%", "_", "a\nb", "a\tb", "null", "NaN", "farvec: any", "a" * 1846,
         "a" * 1846 + "b", "a" * 1845 + "é", "a" * 1845 + "éz", "a" * 1845 + "z", "a" * 1844 + "😀",
         "é" * 3000, "x" * 5000, "x" * 5000 + "y"]
INTEGERS = [-32768, 32767, -1, 0, 1, 2, 3, 5, 8, 13]
TAGS = [[], [None], [""], ["a"], ["a", "b"], ["b", "a", "a"], ["it's", "\\"], ["Ж", "漢字", None], ['"'],
        ["farvec: any"], ['""'], ["x" * 3000], ["x" * 2999], [f"label {i}" for i in range(400)], ["a", ""]]

# column: (type, schema's type, values as SQL has them)
COLUMNS = {
    "small": ("int2", "i64", [str(value) for value in INTEGERS]),
    "number": ("int4", "i64", [str(value) for value in [*INTEGERS, -2147483648, 2147483647]]),
    "big": ("int8", "i64", [str(value) for value in [*INTEGERS, 2**63 - 1, -2**63 + 1, 2**53 + 1]]),
    "single": ("float4", "f64", ["'NaN'", "'Infinity'", "'-Infinity'", "0", "'-0'", "0.1", "1.5", "-1.5",
                                 "1e-40", "3e38", "16777217"]),
    "double": ("float8", "f64", ["'NaN'", "'Infinity'", "'-Infinity'", "0", "'-0'", "0.1", "0.3", "-2.5",
                                 "5e-324", "1.7976931348623157e308", "9007199254740993", "1e20"]),
    "flag": ("bool", "bool", ["true", "false"]),
    "day": ("date", "timestamp", [text(value) for value in (
        "infinity", "-infinity", "4713-01-01 BC", "0001-01-01", "0001-01-01 BC", "9999-12-31", "10000-01-01",
        "5874897-12-31", "2000-01-01", "1970-01-01", "1969-12-31")]),
    "at": ("timestamp", "timestamp", [text(value) for value in (
        "infinity", "-infinity", "4713-01-01 BC", "0001-01-01", "9999-12-31 23:59:59.999999", "10000-01-01",
        "294276-12-31", "2000-01-01", "1999-12-31 23:59:59.999999", "1970-01-01 00:00:00.5")]),
    "moment": ("timestamptz", "timestamp", [text(value) for value in (
        "infinity", "-infinity", "0001-01-01+00", "9999-12-31 23:59:59+00", "2000-01-01 01:00+02",
        "2024-02-29 12:00:00.000001-11")]),
    "word": ("text", "string", [text(value) for value in WORDS]),
    "code": ('text COLLATE "C"', "string", [text(value) for value in WORDS]),
    "name": ("varchar", "string", [text(value) for value in WORDS]),
    "tags": ("text[]", "set", [array(value) for value in TAGS]),
}
SCHEMA = ", ".join(f"{name}: {kind}" for name, (_, kind, _) in COLUMNS.items())
COMPARISONS = ("<", "<=", "=", ">=", ">")


class RandomConditions(FiltersTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = random.Random(index_base.SEED)

    def value(self, column):
        return self.random.choice(COLUMNS[column][2])

    def rows(self, first, count):
        lines = []
        for i in range(first, first + count):
            row = [str(i), f"'[{i % 17},{i % 13},{i % 7},{i % 3}]'" if i % 50 else "NULL"]
            row += ["NULL" if self.random.random() < 0.1 else self.value(column) for column in COLUMNS]
            lines.append("(" + ",".join(row) + ")")
        return "VALUES " + ",".join(lines)

    def list_of(self, column):
        return [self.value(column) if self.random.random() < 0.9 else "NULL"
                for _ in range(self.random.randrange(1, 5))]

    def one_condition(self, column):
        kind = COLUMNS[column][0].split()[0]
        drawn = self.random.random()
        if drawn < 0.1:
            return f"{column} IS {self.random.choice(['', 'NOT '])}NULL"
        if column == "tags":
            return f"tags {self.random.choice(['&&', '@>'])} {self.value(column)}"
        if column == "flag" and drawn < 0.7:
            return self.random.choice(["flag", "NOT flag", "flag IS TRUE", "flag IS FALSE", "flag IS NOT TRUE",
                                       "flag = true", "flag <> true"])
        if drawn < 0.2:
            return f"{column} IN ({','.join(self.list_of(column))})"
        if drawn < 0.3:
            return f"{column} {self.random.choice(COMPARISONS)} ANY " \
                   f"(ARRAY[{','.join(self.list_of(column))}]::{kind}[])"
        if drawn < 0.4:
            return f"{column} BETWEEN {self.value(column)} AND {self.value(column)}"
        if kind.startswith("int") and drawn < 0.6:
            return f"{column} {self.random.choice(COMPARISONS)} ({self.random.choice(INTEGERS)})" \
                   f"::{self.random.choice(['int2', 'int4', 'int8'])}"
        if kind.startswith("float") and drawn < 0.6:
            return f"{column} {self.random.choice(COMPARISONS)} {self.value('double')}::float8" \
                if kind == "float4" else f"{column} {self.random.choice(COMPARISONS)} 0.1::float4"
        return f"{column} {self.random.choice(COMPARISONS)} {self.value(column)}"

    def condition(self):
        parts = [self.one_condition(self.random.choice(list(COLUMNS)))
                 for _ in range(self.random.choice([1, 1, 1, 2, 3]))]
        drawn = self.random.random()
        if drawn < 0.1:
            return " OR ".join(parts)
        if drawn < 0.2:
            parts[0] = f"NOT ({parts[0]})"
        return " AND ".join(parts)

    def test_rows_are_those_of_the_table(self):
        columns = ", ".join(f"{name} {kind}" for name, (kind, _, _) in COLUMNS.items())
        node = self.make("odd", columns, self.rows(1, 400), SCHEMA, ", ".join(COLUMNS))
        self.assert_sound("odd_index")
        conditions = [self.one_condition(column) for column in COLUMNS for _ in range(8)]
        conditions += [self.condition() for _ in range(60)]
        handed = sum(self.compare("odd", where)["handed_down"] > 0 for where in conditions)
        self.assertGreater(handed, len(conditions) // 2)
        # The same once the rows lie in a segment, with others that came later and some that are gone.
        if node is not None:
            passed(farvec("collection", "compact", "--connect", node))
        self.sql(f"INSERT INTO odd {self.rows(401, 100)}; DELETE FROM odd WHERE id % 7 = 0;"
                 f"UPDATE odd SET word = {text(WORDS[4])}, number = 3 WHERE id % 11 = 0;")
        for where in conditions:
            self.compare("odd", where)
        self.sql("VACUUM odd;")
        self.assert_sound("odd_index")

    def test_each_value_finds_its_row(self):
        """Equality with each value of each type."""
        columns = ", ".join(f"{name} {kind}" for name, (kind, _, _) in COLUMNS.items())
        self.make("each", columns, self.rows(1, 300), SCHEMA, ", ".join(COLUMNS))
        for column, (_, _, values) in COLUMNS.items():
            for value in values:
                with self.subTest(f"{column}: {value[:40]}"):
                    scan = self.compare("each", f"{column} {'@>' if column == 'tags' else '='} {value}")
                    self.assertEqual(scan["handed_down"], 1)


class RandomConditionsInEngine(InEngine, RandomConditions):
    pass


class Writers(FiltersTest):
    """Others change the table meanwhile: what a snapshot sees is the same by both plans."""

    READS = 40

    def change(self, stop):
        turn = 0
        while not stop.is_set():
            turn += 1
            first = 1000 + turn * 10
            writer = self.server.begin(
                f"INSERT INTO busy SELECT i, array[i % 17,i % 5,1,1], i % 20 FROM generate_series({first}, "
                f"{first + 9}) i; UPDATE busy SET n = (n + 1) % 20 WHERE id % 37 = {turn % 37}; "
                f"DELETE FROM busy WHERE id % 41 = {turn % 41};")
            self.errors += writer.communicate()[1]
            if turn % 3 == 0:
                self.errors += self.server.begin("VACUUM busy;").communicate()[1]

    def test_a_snapshot_has_the_same_rows(self):
        self.make("busy", "n int", "SELECT i, array[i % 17,i % 5,1,1], i % 20 FROM generate_series(1, 800) i", "n: i64",
                  "n")
        self.errors = ""
        stop = threading.Event()
        writer = threading.Thread(target=self.change, args=(stop,))
        writer.start()
        try:
            for read in range(self.READS):
                rows = f"SELECT count(*), sum(id) FROM (SELECT id FROM busy WHERE n = {read % 20} " \
                       "ORDER BY v <-> '[1,2,3,4]') rows;"
                by_table, by_index = self.sql("BEGIN ISOLATION LEVEL REPEATABLE READ;" + BY_TABLE + rows +
                                              "SET enable_indexscan = on;" + BY_INDEX + rows + "COMMIT;")
                self.assertEqual(by_index, by_table)
        finally:
            stop.set()
            writer.join()
        self.assertEqual(self.errors, "")
        self.assert_sound("busy_index")


class WritersInEngine(InEngine, Writers):
    pass


class Encodings(FiltersTest):
    def test_texts_of_other_encodings(self):
        for encoding, words in (("LATIN1", "chr(233), 'e', chr(223)"), ("EUC_JP", "'a', 'e', 'i'"),
                                ("SQL_ASCII", "chr(233), convert_from('\\xc3a9', 'SQL_ASCII'), 'e'")):
            with self.subTest(encoding):
                database = "in_" + encoding.lower()
                self.sql(f"CREATE DATABASE {database} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' "
                         "LC_CTYPE 'C';")
                node = self.collection(database, DIMENSION, "vector_l2_ops", "--schema", "word: string, tags: set")
                run = lambda statements: self.sql(statements, database=database)  # noqa: E731
                run("CREATE EXTENSION farvec; SET client_encoding = SQL_ASCII;"
                    "CREATE TABLE words (id int, v vector(4), word text, tags text[]);"
                    f"INSERT INTO words SELECT i, array[i,1,1,1], w, array[w] FROM generate_series(1, 60) i, "
                    f"LATERAL (SELECT (array[{words}])[1 + i % 3]) AS words(w);"
                    f"CREATE INDEX words_index ON words USING farvec (v vector_l2_ops, word, tags) "
                    f"WITH (node = '{node}');")
                for where in ("word = (array[{0}])[{1}]", "tags && array[(array[{0}])[{1}]]",
                              "word < (array[{0}])[{1}]", "word > (array[{0}])[{1}]"):
                    for number in (1, 2, 3):
                        query = f"SELECT id FROM words WHERE {where.format(words, number)} " \
                                "ORDER BY v <-> '[1,2,3,4]';"
                        self.assertEqual(sorted(run(BY_INDEX + query)), sorted(run(BY_TABLE + query)), where)


if __name__ == "__main__":
    unittest.main()
