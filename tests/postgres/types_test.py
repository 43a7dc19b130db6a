"""The types of the extension where pgvector is not: text, bytes, casts, operators, order, aggregates."""
import math
import struct
import unittest

import numpy as np

from postgres_server import PostgresTest

KINDS = {"vector": np.float32, "halfvec": np.float16}
SYNTAX, DATA, RANGE, LIMIT = "22P02", "22000", "22003", "54000"


def text_of(row):
    return "[" + ",".join(repr(float(number)) for number in row) + "]"


def rows(count, dimension, kind, seed=1):
    """Numbers that have the type exactly, so that what SQL computes has an answer."""
    numbers = np.random.default_rng(seed).normal(size=(count, dimension))
    return numbers.astype(KINDS[kind]).astype(np.float64)


class Text(PostgresTest):
    def test_numbers_come_back_as_they_are(self):
        for kind in KINDS:
            for given, shown in (("[1]", "[1]"), (" [ 1 ,\t-2.50,\n3e2 ] ", "[1,-2.5,300]"),
                                 ("[-0,0.0]", "[-0,0]"), ("[1e-3,0x10]", None)):
                answer = self.one(f"SELECT $${given}$$::{kind};")
                if shown is not None:
                    self.assertEqual(answer, shown)
        self.assertEqual(self.one("SELECT '[0.1,1e-40,3.4028235e38]'::vector;"),
                         "[0.1,1e-40,3.4028235e+38]")
        # A half is shown as the float that it is.
        self.assertEqual(self.one("SELECT '[0.1,65504,6e-8,65519.9]'::halfvec;"),
                         "[0.099975586,65504,5.9604645e-08,65504]")

    def test_every_half_comes_back(self):
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        finite = halves[np.isfinite(halves)].astype(np.float64)
        for part in np.array_split(finite, 8):
            answer = self.one(f"SELECT '{text_of(part)}'::halfvec::text;")
            read = np.asarray(answer[1:-1].split(","), np.float32)
            np.testing.assert_array_equal(read, part)
            np.testing.assert_array_equal(np.signbit(read), np.signbit(part))

    def test_floats_are_rounded_to_halves_as_numpy_does(self):
        generator = np.random.default_rng(3)
        bits = generator.integers(0, 1 << 32, 8000, np.uint32)
        # Exponents of halves, and what lies in the middle between two of them.
        bits = np.concatenate([bits, (bits & 0x80FFFFFF) | 0x38000000,
                               (bits & 0xBFFFE000) | 0x1000 | 0x30000000])
        floats = bits.view(np.float32)
        with np.errstate(over="ignore"):
            halves = floats.astype(np.float16)
        kept = np.isfinite(floats) & np.isfinite(halves)
        for part in np.array_split(np.flatnonzero(kept), 2):
            answer = self.one(f"SELECT '{text_of(floats[part])}'::vector::halfvec::text;")
            read = np.asarray(answer[1:-1].split(","), np.float32)
            np.testing.assert_array_equal(read, halves[part].astype(np.float64))

    def test_what_is_no_vector(self):
        for kind in KINDS:
            for text, state in (("", SYNTAX), ("1,2", SYNTAX), ("[", SYNTAX), ("[1", SYNTAX),
                                ("[1,", SYNTAX), ("[1,]", SYNTAX), ("[,1]", SYNTAX),
                                ("[1 2]", SYNTAX), ("[1,2]]", SYNTAX), ("[1,2] x", SYNTAX),
                                ("{1,2}", SYNTAX), ("[one]", SYNTAX), ("[1;2]", SYNTAX),
                                ("[]", DATA), ("[ ]", DATA), ("[NaN]", DATA), ("[1,nan]", DATA),
                                ("[inf]", DATA), ("[-Infinity]", DATA), ("[1e400]", RANGE),
                                ("[4e38]", RANGE)):
                self.refused(f"SELECT $${text}$$::{kind};", state)
        self.refused("SELECT '[65520]'::halfvec;", RANGE)
        self.assertIn("65504", self.refused("SELECT '[1e5]'::vector::halfvec;", RANGE))
        said = self.refused("SELECT '[1,x]'::vector;", SYNTAX)
        self.assertIn("At byte 3: a number is expected", said)
        self.assertIn("element 2", self.refused("SELECT '[1,NaN]'::vector;", DATA))

    def test_dimensions(self):
        for kind in KINDS:
            most = text_of(np.ones(16_000))
            self.assertEqual(self.one(f"SELECT vector_dims('{most}'::{kind});"), "16000")
            self.refused(f"SELECT '{text_of(np.ones(16_001))}'::{kind};", LIMIT)
            self.assertEqual(self.one(f"SELECT '[1,2]'::{kind}(2);"), "[1,2]")
            self.refused(f"SELECT '[1,2]'::{kind}(3);", DATA)
            self.refused(f"SELECT '[1,2]'::{kind}::{kind}(3);", DATA)
            for wrong in ("0", "-1", "16001", "1,2"):
                self.refused(f"SELECT '[1]'::{kind}({wrong});", "22023")
            self.assertEqual(
                self.one(f"SELECT format_type('{kind}'::regtype, 3);"), f"{kind}(3)")
            self.refused(f"CREATE TEMP TABLE t (v {kind}(2)); INSERT INTO t VALUES ('[1]');", DATA)


class Bytes(PostgresTest):
    def test_what_is_sent(self):
        self.assertEqual(self.one("SELECT vector_send('[1,-2]');"),
                         "\\x" + struct.pack(">hhff", 2, 0, 1, -2).hex())
        self.assertEqual(self.one("SELECT halfvec_send('[1,-2]');"),
                         "\\x" + struct.pack(">hhee", 2, 0, 1, -2).hex())

    def copy(self, kind, payload):
        """Rows that COPY reads from bytes of one column."""
        self.sql(f"DROP TABLE IF EXISTS copied; CREATE TABLE copied (v {kind}(2));")
        signature = b"PGCOPY\n\xff\r\n\0" + bytes(8)
        content = signature + struct.pack(">hi", 1, len(payload)) + payload + b"\xff\xff"
        return self.server.ask("COPY copied FROM STDIN (FORMAT binary)", rows=content)

    def test_what_is_received(self):
        for kind, code in (("vector", "f"), ("halfvec", "e")):
            self.copy(kind, struct.pack(f">hh2{code}", 2, 0, 1.5, -2))
            self.assertEqual(self.one("SELECT v FROM copied;"), "[1.5,-2]")

    def test_bytes_that_lie(self):
        for kind, code in (("vector", "f"), ("halfvec", "e")):
            bad = [struct.pack(f">hh2{code}", 2, 1, 1, 1), struct.pack(">hh", 0, 0),
                   struct.pack(">hh", -5, 0), struct.pack(f">hh2{code}", 2, 0, 1, math.nan),
                   struct.pack(f">hh2{code}", 2, 0, math.inf, 1),
                   struct.pack(f">hh{code}", 2, 0, 1), struct.pack(f">hh3{code}", 2, 0, 1, 1, 1),
                   struct.pack(f">hh{code}", 1, 0, 1), b"", b"\0"]
            for payload in bad:
                with self.assertRaises(Exception, msg=payload.hex()):
                    self.copy(kind, payload)
                self.assertEqual(self.one("SELECT count(*) FROM copied;"), "0")

    def test_large_values_are_compressed_and_read_back(self):
        for kind in KINDS:
            self.sql(f"CREATE TABLE wide_{kind} (id int, v {kind}(4000));")
            given = rows(3, 4000, kind)
            for number, row in enumerate(given):
                self.sql(f"INSERT INTO wide_{kind} VALUES ({number}, '{text_of(row)}');")
            found = self.one(f"SELECT v <-> '{text_of(given[1])}' FROM wide_{kind} WHERE id = 0;")
            self.assertAlmostEqual(float(found), np.linalg.norm(given[0] - given[1]), 3)


class Casts(PostgresTest):
    def test_arrays(self):
        for kind in KINDS:
            for array in ("ARRAY[1,2,3]", "ARRAY[1,2,3]::real[]", "ARRAY[1,2,3]::float8[]",
                          "ARRAY[1,2,3]::numeric[]"):
                self.assertEqual(self.one(f"SELECT {array}::{kind}(3);"), "[1,2,3]")
            self.assertEqual(self.one(f"SELECT '[1.5,2]'::{kind}::real[];"), "{1.5,2}")
            self.assertEqual(self.one(f"SELECT '[4:6]={{1,2,3}}'::int[]::{kind};"), "[1,2,3]")
            self.refused(f"SELECT ARRAY[1,NULL]::{kind};", "22004")
            self.refused(f"SELECT ARRAY[[1],[2]]::{kind};", DATA)
            self.refused(f"SELECT '{{}}'::real[]::{kind};", DATA)
            self.refused(f"SELECT ARRAY[1,2]::{kind}(3);", DATA)
            self.refused(f"SELECT ARRAY['NaN']::real[]::{kind};", DATA)
            self.refused(f"SELECT ARRAY['infinity']::float8[]::{kind};", DATA)
            self.refused(f"SELECT ARRAY[1e300]::float8[]::{kind};", DATA)
            self.refused(f"SELECT array_fill(1, ARRAY[16001])::{kind};", LIMIT)
        self.refused("SELECT ARRAY[70000]::halfvec;", RANGE)

    def test_between_the_types(self):
        self.assertEqual(self.one("SELECT '[1.5,0.1]'::vector::halfvec;"), "[1.5,0.099975586]")
        self.assertEqual(self.one("SELECT '[1.5,2]'::halfvec::vector(2);"), "[1.5,2]")
        self.refused("SELECT '[1,2]'::halfvec::vector(3);", DATA)
        self.refused("SELECT '[1,2]'::vector::halfvec(3);", DATA)

    def test_null_is_null(self):
        for expression in ("NULL::vector", "NULL::vector <-> '[1]'", "NULL::real[]::halfvec",
                           "l2_normalize(NULL::halfvec)", "avg(NULL::vector)", "sum(NULL::halfvec)"):
            self.assertEqual(self.one(f"SELECT ({expression}) IS NULL;"), "t")


class Distances(PostgresTest):
    def distances(self, kind, left, right):
        answer = self.one("SELECT a <-> b, a <#> b, a <=> b, a <+> b, l2_distance(a, b), "
                          "inner_product(a, b), cosine_distance(a, b), l1_distance(a, b) "
                          f"FROM (SELECT '{text_of(left)}'::{kind} a, '{text_of(right)}'::{kind} b) t;")
        return [float(number) for number in answer.split("|")]

    def test_as_numpy_computes_them(self):
        for kind in KINDS:
            for dimension in (1, 2, 3, 7, 15, 16, 17, 31, 33, 100, 255, 256, 257, 768, 1001):
                left, right = rows(2, dimension, kind, dimension)
                product = float(left @ right)
                cosine = product / math.sqrt(float(left @ left) * float(right @ right))
                l2, l1 = np.linalg.norm(left - right), np.abs(left - right).sum()
                expected = [l2, -product, 1 - cosine, l1, l2, product, 1 - cosine, l1]
                np.testing.assert_allclose(self.distances(kind, left, right), expected,
                                           rtol=1e-5, atol=2e-5 * math.sqrt(dimension))

    def test_edges(self):
        for kind in KINDS:
            zero, one = [0, 0, 0], [1, 2, 3]
            self.assertEqual(self.distances(kind, one, one)[:4], [0, -14, 0, 0])
            l2, product, cosine, l1 = self.distances(kind, zero, one)[:4]
            self.assertAlmostEqual(l2, math.sqrt(14), 6)
            self.assertEqual((product, l1), (0, 6))
            self.assertTrue(math.isnan(cosine))
            self.assertEqual(self.distances(kind, one, [-1, -2, -3])[2], 2)
            for operator in ("<->", "<#>", "<=>", "<+>"):
                said = self.refused(f"SELECT '[1]'::{kind} {operator} '[1,2]';", DATA)
                self.assertIn("of 1 dimensions meets one of 2", said)
        self.assertEqual(self.distances("vector", [3e38], [-3e38])[0], math.inf)

    def test_cosines_of_lengths_that_no_float_has(self):
        # Their squares are zero or infinite as floats. pgvector_test.py asks pgvector for the same.
        for left, right in (("1e-30", "1e30"), ("1e-30", "1e-30"), ("1e30", "1e30")):
            self.assertEqual(self.one(f"SELECT '[{left}]'::vector <=> '[{right}]';"), "NaN")

    def test_lengths(self):
        self.assertEqual(self.one("SELECT vector_norm('[3,4]'), l2_norm('[3,4]'::halfvec), "
                                  "vector_dims('[1,2]'::vector), vector_dims('[1]'::halfvec);"),
                         "5|5|2|1")
        for kind in KINDS:
            self.assertEqual(self.one(f"SELECT l2_normalize('[3,4]'::{kind}) <-> '[0.6,0.8]' < 1e-3, "
                                      f"l2_normalize('[0,0]'::{kind});"), "t|[0,0]")
        self.assertEqual(self.one("SELECT vector_norm(l2_normalize('[1e-40,0]'::vector));"), "1")

    def test_bits(self):
        generator = np.random.default_rng(5)
        for count in (1, 7, 8, 9, 63, 64, 65, 128, 1000):
            left, right = generator.integers(0, 2, (2, count))
            a, b = ("".join(map(str, bits)) for bits in (left, right))
            either = int((left | right).sum())
            jaccard = 1 - int((left & right).sum()) / either if either else 1
            hamming, found = map(float, self.one(
                f"SELECT B'{a}' <~> B'{b}', B'{a}' <%> B'{b}';").split("|"))
            self.assertEqual(hamming, int((left ^ right).sum()))
            self.assertAlmostEqual(found, jaccard, 12)
        self.assertEqual(self.one("SELECT B'00' <%> B'00', B'' <~> B'', jaccard_distance(B'11', B'11'), "
                                  "hamming_distance(B'10', B'01');"), "1|0|0|2")
        self.refused("SELECT B'10' <~> B'101';", DATA)
        self.refused("SELECT B'10' <%> B'1';", DATA)


class Vectors(PostgresTest):
    def test_arithmetic(self):
        for kind in KINDS:
            self.assertEqual(
                self.one(f"SELECT a + b, a - b, a * b, a || b, subvector(a || b, 2, 2) "
                         f"FROM (SELECT '[1,2]'::{kind} a, '[3,5]'::{kind} b) t;"),
                "[4,7]|[-2,-3]|[3,10]|[1,2,3,5]|[2,3]")
            self.refused(f"SELECT '[1]'::{kind} + '[1,2]';", DATA)
            wide = f"array_fill(1, ARRAY[16000])::{kind}"
            self.refused(f"SELECT {wide} || '[1]'::{kind};", LIMIT)
        for sql in ("'[3e38]'::vector + '[3e38]'", "'[-3e38]'::vector - '[3e38]'",
                    "'[1e30]'::vector * '[1e30]'", "'[1e-30]'::vector * '[1e-30]'",
                    "'[65504]'::halfvec + '[65504]'", "'[1e-5]'::halfvec * '[1e-5]'"):
            self.refused(f"SELECT {sql};", RANGE)

    def test_parts(self):
        for kind in KINDS:
            for start, count, shown in ((1, 3, "[1,2,3]"), (2, 100, "[2,3]"), (0, 2, "[1]"),
                                        (-1, 4, "[1,2]"), (3, 2147483647, "[3]")):
                self.assertEqual(
                    self.one(f"SELECT subvector('[1,2,3]'::{kind}, {start}, {count});"), shown)
            for start, count in ((1, 0), (4, 1), (-5, 2), (1, -2147483648), (2147483647, 1)):
                self.refused(f"SELECT subvector('[1,2,3]'::{kind}, {start}, {count});", DATA)
            self.assertEqual(self.one(
                f"SELECT binary_quantize('[1,0,-1,2,3,-0.5,1,1,4]'::{kind});"), "100110111")

    def test_order(self):
        for kind in KINDS:
            self.sql(f"CREATE TABLE ordered_{kind} (v {kind});")
            shown = ["[-1]", "[0]", "[0,0]", "[1]", "[1,-5]", "[1,2]", "[1,2,0]", "[2]"]
            values = ",".join(f"('{text}')" for text in shown[::-1] + shown[:3] + ["[-0]"])
            self.sql(f"INSERT INTO ordered_{kind} VALUES {values}, (NULL);")
            self.assertEqual(
                self.sql(f"SELECT v FROM (SELECT DISTINCT v + v - v AS v FROM ordered_{kind}) t "
                         "WHERE v IS NOT NULL ORDER BY v;"), shown)
            self.sql(f"CREATE INDEX ON ordered_{kind} (v);")
            self.assertEqual(
                self.sql(f"SET enable_seqscan = off; SELECT v FROM ordered_{kind} WHERE v > '[1]';"),
                ["[1,-5]", "[1,2]", "[1,2,0]", "[2]"])
            self.assertEqual(self.one(
                f"SELECT a < b, a <= b, a = b, a <> b, a >= b, a > b, a = a FROM "
                f"(SELECT '[1,2]'::{kind} a, '[1,3]'::{kind} b) t;"), "t|t|f|t|f|f|t")
            self.refused(f"CREATE UNIQUE INDEX ON ordered_{kind} (v);", "23505")

    def test_merge_join(self):
        self.assertEqual(self.one(
            "SET enable_hashjoin = off; SET enable_nestloop = off; SELECT count(*) FROM "
            "(VALUES ('[1]'::vector), ('[2]')) a(v) JOIN (VALUES ('[2]'::vector), ('[2]')) b(v) "
            "USING (v);"), "2")


class Aggregates(PostgresTest):
    def test_means_and_sums(self):
        for kind in KINDS:
            given = rows(50, 5, kind)
            values = ",".join(f"('{text_of(row)}'::{kind})" for row in given)
            mean, total = self.one(f"SELECT avg(v), sum(v) FROM (VALUES {values}) t(v);").split("|")
            tolerance = 1e-6 if kind == "vector" else 3e-2
            np.testing.assert_allclose(np.asarray(mean[1:-1].split(","), float), given.mean(0),
                                       atol=tolerance)
            np.testing.assert_allclose(np.asarray(total[1:-1].split(","), float), given.sum(0),
                                       atol=100 * tolerance)
            self.assertEqual(self.one(f"SELECT avg(v) IS NULL AND sum(v) IS NULL FROM "
                                      f"(SELECT '[1]'::{kind} v) t WHERE false;"), "t")
            self.refused(f"SELECT avg(v) FROM (VALUES ('[1]'::{kind}), ('[1,2]')) t(v);", DATA)
            self.assertEqual(self.sql(
                f"SELECT avg(v) FROM (VALUES (1, '[1,2]'::{kind}), (2, '[5]'), (1, '[3,4]'), "
                "(1, NULL)) t(g, v) GROUP BY g ORDER BY g;"), ["[2,3]", "[5]"])

    def test_in_parallel(self):
        self.sql("CREATE TABLE many AS SELECT i, ARRAY[i, -i]::vector v, ARRAY[i % 7]::halfvec h "
                 "FROM generate_series(1, 20000) i; ANALYZE many;")
        settings = {"max_parallel_workers_per_gather": 2, "parallel_setup_cost": 0,
                    "parallel_tuple_cost": 0, "min_parallel_table_scan_size": 0}
        plan = "\n".join(self.sql("EXPLAIN SELECT avg(v) FROM many;", settings=settings))
        self.assertIn("Partial Aggregate", plan)
        self.assertEqual(self.one("SELECT avg(v), avg(h) FROM many;", settings=settings),
                         self.one("SELECT avg(v), avg(h) FROM many;"))

    def test_in_windows(self):
        for kind in KINDS:
            self.assertEqual(self.sql(
                f"SELECT avg(v) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), "
                f"avg(v) OVER (ORDER BY i), sum(v) OVER (ORDER BY i) FROM "
                f"(VALUES (1, '[1]'::{kind}), (2, '[3]'), (3, '[8]')) t(i, v);"),
                ["[1]|[1]|[1]", "[2]|[2]|[4]", "[5.5]|[4]|[12]"])

    def test_states_that_are_none(self):
        for state in ("'{}'::float8[]", "'{{1},{2}}'::float8[]", "ARRAY[1,NULL]::float8[]"):
            self.refused(f"SELECT vector_avg({state});", "22023")
            self.refused(f"SELECT vector_accum({state}, '[1]');", "22023")
            self.refused(f"SELECT halfvec_combine('{{0}}', {state});", "22023")
        self.refused("SELECT vector_avg('{1}');", DATA)
        self.refused("SELECT vector_avg('{1,NaN}');", DATA)
        self.refused("SELECT vector_combine('{1,2}', '{1,2,3}');", DATA)
        self.assertEqual(self.one("SELECT vector_accum('{1,2}', '[3]'), vector_combine('{0}', '{1,2}'), "
                                  "vector_combine('{1,2}', '{0}');"), "{2,5}|{1,2}|{1,2}")
        # A constant is not changed where it lies.
        self.assertEqual(self.sql("SELECT vector_accum('{1,2}', '[3]') FROM generate_series(1, 2);"),
                         ["{2,5}", "{2,5}"])


class Catalogue(PostgresTest):
    def test_the_extension_goes_as_a_whole(self):
        self.server.sql("CREATE DATABASE other;")
        self.sql("CREATE EXTENSION farvec; CREATE TABLE t (v vector(2));", database="other")
        self.refused("DROP EXTENSION farvec;", "2BP01", database="other")
        self.sql("DROP EXTENSION farvec CASCADE; CREATE EXTENSION farvec;", database="other")

    def test_a_schema_of_its_own(self):
        self.server.sql("CREATE DATABASE apart;")
        self.sql("CREATE SCHEMA far; CREATE EXTENSION farvec SCHEMA far;", database="apart")
        self.refused("SELECT '[1]'::vector;", "42704", database="apart")
        self.assertEqual(self.one(
            "SET search_path = pg_catalog; SELECT '[1,2]'::far.vector OPERATOR(far.<->) '[1,4]', "
            "far.avg(v) FROM (VALUES ('[1,2]'::far.vector)) t(v);", database="apart"), "2|[1,2]")

    def test_schemas_with_names_like_words_of_the_script(self):
        self.server.sql("CREATE DATABASE named;")
        for name in ("KIND_x", "my_LENGTH", "a SCHEMA", "%s", "KIND"):
            self.sql(f'CREATE SCHEMA "{name}"; CREATE EXTENSION farvec SCHEMA "{name}";', database="named")
            self.assertEqual(self.one(
                f"""SELECT '[3,4]'::"{name}".vector OPERATOR("{name}".<->) '[0,0]', """
                f"""'[1]'::"{name}".halfvec OPERATOR("{name}".<) '[2]', "{name}".l2_norm("""
                f"""'[3,4]'::"{name}".halfvec);""", database="named"), "5|t|5")
            self.assertEqual(self.one(
                "SELECT count(DISTINCT connamespace) FROM (SELECT oprnamespace AS connamespace FROM "
                "pg_operator o JOIN pg_depend d ON d.objid = o.oid AND d.refobjid = (SELECT oid FROM "
                "pg_extension WHERE extname = 'farvec')) t;", database="named"), "1")
            self.sql("DROP EXTENSION farvec;", database="named")

    def test_without_plpgsql(self):
        self.server.sql("CREATE DATABASE bare;")
        self.sql("DROP EXTENSION plpgsql;", database="bare")
        said = self.refused("CREATE EXTENSION farvec;", "42704", database="bare")
        self.assertIn('required extension "plpgsql" is not installed', said)
        self.sql("CREATE EXTENSION farvec CASCADE; SELECT '[1]'::vector;", database="bare")


if __name__ == "__main__":
    unittest.main()
