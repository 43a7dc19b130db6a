"""The types beside pgvector's: the same texts, bytes, results and SQLSTATEs, and dumps either way."""
import itertools
import os
import random
import struct
import subprocess
import unittest

import numpy as np

from pgvector_installs import built_for
from postgres_server import Postgres, SqlError

SEED = int(os.environ.get("FARVEC_SEED", "1"))
OUTCOME = """
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  result text;
BEGIN
  EXECUTE query INTO result;
  RETURN 'ok ' || coalesce(result, 'NULL');
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
"""
KINDS = ("vector", "halfvec")
NUMBERS = ("0", "-0", "1", "1.5", "-2.25", "3e2", "1e-7", "6e-8", "2.9e-8", "1e-40", "65504", "65519.9",
           "65520", "1e5", "3.4028235e38", "3.4028236e38", "4e38", "1e400", "-1e400", "1e-400", "NaN",
           "nan", "inf", "-Infinity", "0x1p3", "1.", ".5", "+4", "1e", "e1", "--1", "1_0", "١", "")
SPACES = ("", "", "", " ", "\t", "\n", "\v", "\f", "\r", " ", "\\")


def texts(generator, count):
    """Texts of vectors, many of which are none."""
    for _ in range(count):
        parts = [generator.choice(SPACES) + generator.choice(NUMBERS) + generator.choice(SPACES)
                 for _ in range(generator.randint(0, 5))]
        text = generator.choice(SPACES) + "[" + ",".join(parts) + "]" + generator.choice(SPACES)
        for _ in range(generator.choice((0, 0, 0, 1, 2))):
            place = generator.randint(0, len(text))
            text = text[:place] + generator.choice(("", ",", "[", "]", "1", "x", " ")) + \
                text[place + generator.randint(0, 1):]
        yield text


def literal(text):
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def vector_text(row):
    return "[" + ",".join(repr(float(number)) for number in row) + "]"


class BesidePgvector:
    """For one version of PostgreSQL. The database `ours` has farvec, and `theirs` has pgvector."""

    version = 0

    @classmethod
    def setUpClass(cls):
        pg_config, folder = built_for(cls, cls.version)
        cls.server = Postgres(pg_config, folder)
        cls.addClassCleanup(cls.server.close)
        for name, extension in (("ours", "farvec"), ("theirs", "vector")):
            cls.server.sql(f"CREATE DATABASE {name};")
            cls.server.sql(f"CREATE EXTENSION {extension}; {OUTCOME}", database=name)

    def outcomes(self, database, queries):
        path = self.server.top / "queries.sql"
        path.write_text("\n".join(f"SELECT encode(convert_to(outcome({literal(query)}), 'UTF8'), 'hex');"
                                  for query in queries))
        return [bytes.fromhex(line).decode() for line in
                self.server.sql(f"\\i {path}", database=database)]

    def compare(self, queries):
        ours, theirs = (self.outcomes(name, queries) for name in ("ours", "theirs"))
        self.assertEqual(len(ours), len(queries))
        for query, mine, other in zip(queries, ours, theirs):
            self.assertEqual(mine, other, query)
        return ours

    def test_texts(self):
        generator = random.Random(SEED)
        given = list(texts(generator, 1200)) + [vector_text([1] * 16_000), vector_text([1] * 16_001)]
        queries = [f"SELECT v::text || encode({kind}_send(v), 'hex') FROM (SELECT "
                   f"{literal(text)}::{kind} AS v) t" for text in given for kind in KINDS]
        outcomes = self.compare(queries)
        accepted = sum(outcome.startswith("ok") for outcome in outcomes)
        self.assertTrue(100 < accepted < len(outcomes) - 100, accepted)
        self.assertTrue({"22P02", "22000", "22003", "54000"} <= set(outcomes))

    def test_every_kind_of_float(self):
        generator = np.random.default_rng(SEED)
        bits = generator.integers(0, 1 << 32, 4000, np.uint32)
        near_halves = (bits & 0x8FFFF000) | 0x30000000
        for floats in (bits.view(np.float32), near_halves.view(np.float32)):
            rows = floats[np.isfinite(floats)][:3900].reshape(-1, 13)
            self.compare([f"SELECT v::text || coalesce(v::{to}::text, '') || "
                          f"encode({to}_send(v::{to}), 'hex') FROM (SELECT "
                          f"'{vector_text(row)}'::vector v) t" for row in rows for to in KINDS])

    def test_modifiers_and_casts(self):
        arrays = ["ARRAY[1,2]", "ARRAY[1.5,2]::real[]", "ARRAY[1e300,2]::float8[]", "ARRAY[1e5]::float8[]",
                  "ARRAY[1e40,2]::numeric[]", "ARRAY[0.1]::numeric[]", "ARRAY['NaN']::numeric[]",
                  "ARRAY[1,NULL]", "ARRAY[[1,2]]", "'{}'::int[]", "ARRAY['inf']::real[]",
                  "ARRAY[2147483647]", "array_fill(1, ARRAY[16001])", "'[2:3]={1,2}'::int[]",
                  "ARRAY['1']::text[]", "ARRAY[1]::bigint[]"]
        queries = [f"SELECT ({array})::{kind}{modifier}::text" for array in arrays for kind in KINDS
                   for modifier in ("", "(2)", "(3)")]
        queries += [f"SELECT '[1,2]'::{kind}{modifier}" for kind in KINDS
                    for modifier in ("(0)", "(16000)", "(16001)", "(1,2)", "('x')", "(2)")]
        queries += [f"SELECT '[1,2,70000]'::{one}::{other}{modifier}::text" for one in KINDS
                    for other in (*KINDS, "real[]", "vector(3)") for modifier in ("",)]
        self.compare(queries)

    def test_arithmetic_and_order(self):
        values = ["[1,2]", "[-1,0.5]", "[1,2,3]", "[60000,1]", "[3e38,1]", "[1e-30,6e-8]", "[-0,0]",
                  "[0,-0]", "[1]"]
        queries = []
        for left, right in itertools.product(values, repeat=2):
            for kind in KINDS:
                pair = f"FROM (SELECT '{left}'::{kind} a, '{right}'::{kind} b) t"
                queries += [f"SELECT (a {operator} b)::text {pair}" for operator in
                            ("+", "-", "*", "||", "<", "<=", "=", "<>", ">=", ">")]
                queries += [f"SELECT l2_normalize(a)::text || binary_quantize(b)::text || "
                            f"subvector(a, 1, 2)::text || vector_dims(b) {pair}",
                            f"SELECT avg(v)::text || sum(v)::text FROM (VALUES ('{left}'::{kind}), "
                            f"('{right}'), (NULL)) t(v)", f"SELECT {kind}_cmp(a, b)::text {pair}"]
        self.compare(queries)

    def test_bytes(self):
        generator = random.Random(SEED)
        os.chmod(self.server.top, 0o755)
        queries = []
        for number in range(200):
            kind = generator.choice(KINDS)
            code, size = ("f", 4) if kind == "vector" else ("e", 2)
            dimension = generator.randint(-1, 4)
            payload = bytearray(struct.pack(">hh", dimension, generator.choice((0, 0, 0, 0, 1, -1))))
            for _ in range(max(dimension, 0)):
                payload += generator.choice((struct.pack(f">{code}", generator.uniform(-9, 9)),
                                             generator.randbytes(size)))
            if generator.random() < 0.3:
                payload = payload[:generator.randint(0, len(payload))] + generator.randbytes(
                    generator.randint(0, 2))
            path = self.server.top / f"payload-{number}"
            path.write_bytes(b"PGCOPY\n\xff\r\n\0" + bytes(8) + struct.pack(">hi", 1, len(payload)) +
                             bytes(payload) + b"\xff\xff")
            queries += [f"COPY received_{kind} FROM '{path}' (FORMAT binary)"]
        for name in ("ours", "theirs"):
            self.server.sql("DROP TABLE IF EXISTS received_vector, received_halfvec; "
                            "CREATE TABLE received_vector (v vector); "
                            "CREATE TABLE received_halfvec (v halfvec);", database=name)
        outcomes = self.compare_commands(queries)
        self.assertIn("22000", outcomes)
        rows = [self.server.sql("SELECT v, vector_send(v) FROM received_vector; "
                                "SELECT v, halfvec_send(v) FROM received_halfvec;", database=name)
                for name in ("ours", "theirs")]
        self.assertEqual(*rows)
        self.assertGreater(len(rows[0]), 30)

    def compare_commands(self, queries):
        """As compare(), for commands, which answer no row."""
        text = OUTCOME.replace("outcome", "command_outcome").replace("EXECUTE query INTO result",
                                                                     "EXECUTE query")
        answers = []
        for name in ("ours", "theirs"):
            self.server.sql(text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"),
                            database=name)
            answers.append(self.server.sql(
                "\n".join(f"SELECT command_outcome({literal(query)});" for query in queries),
                database=name))
        for query, mine, other in zip(queries, *answers):
            self.assertEqual(mine, other, query)
        return answers[0]

    def test_distances(self):
        generator = np.random.default_rng(SEED)
        queries = []
        for dimension in (1, 2, 5, 16, 33, 300):
            rows = generator.normal(size=(8, dimension)).astype(np.float16)
            rows[0] = 0
            for left, right in itertools.product(rows[:4], rows):
                for kind in KINDS:
                    pair = (f"FROM (SELECT '{vector_text(left)}'::{kind} a, "
                            f"'{vector_text(right)}'::{kind} b) t")
                    length = "vector_norm" if kind == "vector" else "l2_norm"
                    queries.append(f"SELECT concat_ws(' ', a <-> b, a <#> b, a <=> b, a <+> b, "
                                   f"inner_product(a, b), {length}(b)) {pair}")
        for count in (1, 8, 13, 64, 200):
            bits = generator.integers(0, 2, (4, count))
            for left, right in itertools.product(bits, repeat=2):
                a, b = ("".join(map(str, row)) for row in (left, right))
                queries.append(f"SELECT concat_ws(' ', B'{a}' <~> B'{b}', B'{a}' <%> B'{b}')")
        # Squares of these are zero or infinite as floats.
        queries += [f"SELECT '[{left}]'::vector <=> '[{right}]'"
                    for left in ("1e-30", "1", "1e30") for right in ("-1e-30", "1e-30", "1e30")]
        queries += ["SELECT B'10' <~> B'1'", "SELECT '[1]'::vector <-> '[1,2]'",
                    "SELECT '[1]'::halfvec <=> '[1,2]'"]
        ours, theirs = (self.outcomes(name, queries) for name in ("ours", "theirs"))
        self.assertEqual(ours[-3:], ["22000"] * 3)
        for query, mine, other in zip(queries, ours, theirs):
            if not other.startswith("ok "):
                self.assertEqual(mine, other, query)
                continue
            numbers = [np.asarray(answer.split()[1:], np.float64) for answer in (mine, other)]
            np.testing.assert_allclose(*numbers, rtol=2e-5, atol=2e-5, err_msg=query)

    def members(self, database):
        """Functions, operators, casts and classes of the types and of bit, as texts."""
        return set(self.server.sql("""
SELECT pg_describe_object(classid, objid, objsubid) || coalesce(' ' || p.provolatile::text || p.proisstrict::text ||
         p.proparallel::text || p.prorettype::regtype::text, '') || coalesce(' ' || c.castcontext::text, '') ||
         coalesce(' ' || o.oprcom::regoper::text || o.oprnegate::regoper::text || o.oprrest::text ||
         o.oprjoin::text, '')
FROM pg_depend d
  LEFT JOIN pg_proc p ON p.oid = objid AND classid = 'pg_proc'::regclass
  LEFT JOIN pg_cast c ON c.oid = objid AND classid = 'pg_cast'::regclass
  LEFT JOIN pg_operator o ON o.oid = objid AND classid = 'pg_operator'::regclass
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND classid <> 'pg_type'::regclass;""", database=database))

    def test_what_pgvector_has_farvec_has(self):
        ours, theirs = self.members("ours"), self.members("theirs")
        absent = {text for text in theirs - ours if "sparsevec" not in text}
        left = {text for text in absent if not any(word in text for word in (
            "hnsw", "ivfflat", "spherical_distance", "operator <>"))}
        self.assertEqual(left, set())

    def test_where_pgvector_is_its_types_are_used(self):
        self.server.sql("CREATE DATABASE both_of_them;")
        self.server.sql("CREATE SCHEMA types; CREATE EXTENSION vector SCHEMA types; "
                        "CREATE EXTENSION farvec;", database="both_of_them")
        self.assertEqual(self.server.sql(
            "SELECT pg_get_function_arguments(oid) FROM pg_proc WHERE proname = 'farvec_search' "
            "ORDER BY 1;", database="both_of_them")[-1].split(",")[1].strip(), "query types.vector")
        self.assertEqual(self.server.one("SELECT count(*) FROM pg_type WHERE typname = 'vector';",
                                         database="both_of_them"), "1")
        with self.assertRaises(SqlError) as caught:
            self.server.sql("DROP EXTENSION vector;", database="both_of_them")
        self.assertEqual(caught.exception.state, "2BP01")

    def test_pgvector_does_not_come_after(self):
        with self.assertRaises(SqlError) as caught:
            self.server.sql("CREATE EXTENSION vector;", database="ours")
        self.assertEqual(caught.exception.state, "42710")

    def test_dumps_go_either_way(self):
        for source, target in (("ours", "theirs"), ("theirs", "ours")):
            self.server.sql(
                "DROP TABLE IF EXISTS items, kept; CREATE TABLE items (id int PRIMARY KEY, v vector(3), "
                "h halfvec(2), b bit(4)); CREATE INDEX ON items (v); "
                "INSERT INTO items VALUES (1, '[1,2.5,-3]', '[0.1,65504]', B'1010'), (2, NULL, NULL, "
                "NULL); CREATE VIEW near AS SELECT id, v <-> '[1,1,1]' AS d FROM items;",
                database=source)
            name = f"from_{source}"
            self.server.sql(f"CREATE DATABASE {name};")
            extension = {"ours": "farvec", "theirs": "vector"}[target]
            self.server.sql(f"CREATE EXTENSION {extension};", database=name)
            dump = subprocess.run([self.server.bin / "pg_dump", "--dbname", source], check=True,
                                  capture_output=True, text=True, timeout=60,
                                  env=self.server.environment({})).stdout
            if target == "ours":  # a server without pgvector knows nothing of it
                self.assertIn("CREATE EXTENSION IF NOT EXISTS vector", dump)
            dump = "\n".join(line for line in dump.splitlines()
                             if not line.startswith(("CREATE EXTENSION", "COMMENT ON EXTENSION")))
            self.server.sql(dump, database=name)
            shown = "SELECT * FROM public.items ORDER BY id; SELECT * FROM public.near ORDER BY id;"
            self.assertEqual(self.server.sql(shown, database=name),
                             self.server.sql(shown, database=source))

    def test_a_dump_with_both_is_restored(self):
        self.server.sql("CREATE DATABASE dumped; ")
        self.server.sql("CREATE EXTENSION vector; CREATE EXTENSION farvec; "
                        "CREATE TABLE t (v vector(2)); INSERT INTO t VALUES ('[1,2]');",
                        database="dumped")
        dump = subprocess.run([self.server.bin / "pg_dump", "--dbname", "dumped"], check=True,
                              capture_output=True, text=True, timeout=60,
                              env=self.server.environment({})).stdout
        self.server.sql("CREATE DATABASE restored;")
        self.server.sql(dump, database="restored")
        self.assertEqual(self.server.one("SELECT v FROM public.t;", database="restored"), "[1,2]")


class Beside16(BesidePgvector, unittest.TestCase):
    version = 16


class Beside18(BesidePgvector, unittest.TestCase):
    version = 18


if __name__ == "__main__":
    unittest.main()
