"""bench/postgres/compare.py without a server: what it computes, what it asks, what it says and refuses."""
import pathlib
import subprocess
import sys
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "postgres" / "compare.py"
sys.path.insert(0, str(SCRIPT.parent))

import sql_contenders  # noqa: E402
import sql_direct  # noqa: E402
import sql_page  # noqa: E402
from sql_contenders import KINDS, Choice  # noqa: E402
from sql_setup import Answers  # noqa: E402

FACTS = {"name": "n", "recalls": [0.95, 0.99], "load": 1.0, "processor": "p", "processors": 2,
         "server": "PostgreSQL 18", "pgvector": "0.8", "rows": 3, "dimension": 4, "metric": "l2", "queries": 6,
         "m": 16, "ef_construction": 64, "key_us": 20.4, "commit": "c", "command": "compare"}


def measured(kind, passes, length=40, recall=0.951, many=None):
    """One that was measured at a recall of 0.95 and never reached 0.99; `passes` are of microseconds."""
    return types.SimpleNamespace(kind=kind, times={0.95: passes}, choices={0.95: Choice(length), 0.99: None},
                                 recalls={0.95: recall}, seconds=2.0, bytes=1234, many=many or {})


class Tables(unittest.TestCase):
    def setUp(self):
        options = types.SimpleNamespace(recalls=[0.95, 0.99])
        self.rows = sql_page.rows_of([measured("pgvector", [[200] * 99 + [900], [400] * 100]),
                                      measured("farvec", [[100] * 100, [50] * 50 + [150] * 50],
                                               many={(0.95, 8): [(30_000, 700, 0), (20_000, 900, 2)]})], options)

    def test_rates_are_of_the_mean_and_tails_of_the_slowest_hundredth(self):
        ours, = [row for row in self.rows if row["kind"] == "farvec" and row["target"] == 0.95
                 and row["clients"] == 1]
        self.assertEqual(ours["rates"], [10_000, 10_000])
        self.assertEqual(ours["p99s_us"], [100, 150])
        theirs, = [row for row in self.rows if row["kind"] == "pgvector" and row["target"] == 0.95]
        self.assertEqual(theirs["rates"], [1e6 / 207, 2500])
        self.assertEqual(theirs["p99s_us"], [900, 400])

    def test_ratios_are_pass_by_pass(self):
        (ours, theirs), = sql_page.pairs(self.rows, 0.95)
        self.assertEqual((ours["kind"], theirs["kind"]), ("farvec", "pgvector"))
        self.assertEqual(sql_page.ratios(ours, theirs), [2.07, 4])
        self.assertEqual(sql_page.pairs(self.rows, 0.99), [])
        self.assertEqual(sql_page.pairs(self.rows, 0.95, 8), [])

    def test_each_kind_is_compared_with_its_own_form(self):
        rows = [{"kind": kind, "target": 0.9, "clients": 1, "rates": [1.0]} for kind in [*KINDS, "farvec-direct"]]
        pairs = {(ours["kind"], theirs["kind"]) for ours, theirs in sql_page.pairs(rows, 0.9)}
        self.assertEqual(pairs, set(sql_page.PAIRS))
        for form in ("halfvec", "bits"):
            self.assertIn((f"farvec-{form}", f"pgvector-{form}"), pairs)

    def test_the_page(self):
        page = sql_page.markdown(FACTS, self.rows)
        self.assertIn("| farvec | 0.95 | 40 | 0.9510 | 10,000 (10,000 to 10,000) | 125 (100 to 150) |", page)
        self.assertIn("| farvec | 0.99 | - | not reached | - | - | 2.0 | 1,234 |", page)
        self.assertIn("- At 0.95 farvec has 3.04 (2.07 to 4.00) times the rate of pgvector", page)
        self.assertIn("- farvec takes 1.00 of the time of pgvector to build, and 1.00 of its bytes.", page)
        self.assertIn("| farvec | 0.95 | 8 | 25,000 (20,000 to 30,000) | 800 (700 to 900) | 2 |", page)
        self.assertIn("Ten rows by primary key take 20 us", page)
        self.assertNotIn("BUSY", page)
        self.assertIn("BUSY", sql_page.markdown({**FACTS, "load": 5.0}, self.rows))

    def test_what_postgresql_adds_is_said_beside_the_engine_alone(self):
        rows = sql_page.rows_of([measured("farvec", [[300] * 10]), measured("farvec-direct", [[100] * 10])],
                                types.SimpleNamespace(recalls=[0.95]))
        said = sql_page.sayings(rows, [0.95])
        self.assertEqual(len(said), 1, said)
        self.assertIn("0.33 (0.33 to 0.33) times the rate of farvec-direct", said[0])
        self.assertIn("PostgreSQL adds 200 (200 to 200) us to a search", said[0])


class Workload:
    """Ten rows of four dimensions; a query's answer counts as found from an effort of 30 on."""

    dimension, rows, metric = 4, 10, "l2"
    queries = np.zeros((4, 4))

    def __init__(self, least=0.0):
        self.base_file = np.full((10, 4), least, np.float32) + np.arange(10, dtype=np.float32)[:, None]

    def halves(self):
        return range(0, 2), range(2, 4)

    def recall(self, ids, which, k):
        del which, k
        return 1.0 if (ids == 1).all() else 0.5


class Client:
    program = None

    def __init__(self):
        self.asked = []

    def ask(self, statement, queries, which, passes=1, settings=None, clients=1):
        self.asked.append((statement, settings, clients))
        effort = next(iter(settings.values()))
        ids = np.full((len(which) * passes, 10), int(effort >= 30))
        return Answers(2.0, np.full(len(ids), 1000.0 / effort), ids)


def contender(kind, least=0.0, clients=(1,)):
    options = types.SimpleNamespace(metric="l2", k=10, m=16, ef_construction=64, recalls=[0.9], query_file="q",
                                    clients=list(clients))
    return KINDS[kind](kind, options, Workload(least), None, Client())


class Contenders(unittest.TestCase):
    def test_indexes(self):
        self.assertIn("USING hnsw (v vector_l2_ops) WITH (m = 16, ef_construction = 64)",
                      contender("pgvector").create_statement())
        self.assertIn("USING farvec ((v::halfvec(4)) halfvec_l2_ops)",
                      contender("farvec-halfvec").create_statement())
        self.assertIn("USING farvec ((binary_quantize(v)::bit(4)) bit_hamming_ops)",
                      contender("farvec-bits", -4.0).create_statement())
        self.assertIn("USING ivfflat (v vector_l2_ops) WITH (lists = 1)",
                      contender("pgvector-ivfflat").create_statement())

    def test_lists_are_pgvectors_advice(self):
        made = contender("pgvector-ivfflat")
        for rows, lists in ((999, 1), (50_000, 50), (1_000_000, 1000), (4_000_000, 2000)):
            made.workload.rows = rows
            self.assertEqual(made.parameters(), f"lists = {lists}")

    def test_a_build_gets_memory_by_its_rows(self):
        made = contender("pgvector")
        self.assertEqual(made.build_mib(), 64)
        made.workload.rows = 1_000_000_000
        self.assertEqual(made.build_mib(), sql_contenders.MEMORY_MIB)

    def test_candidates_of_bits_are_ranked_again(self):
        statement = contender("pgvector-bits", -4.0).statement(Choice(80, 40))
        self.assertIn("ORDER BY binary_quantize(v)::bit(4) <~> binary_quantize($1::vector)::bit(4) LIMIT 40) c "
                      "ORDER BY v <-> $1::vector LIMIT 10", statement)

    def test_bits_of_rows_without_signs_are_by_mean(self):
        self.assertIn("binary_quantize(v - '[4.5,4.5,4.5,4.5]'::vector)",
                      contender("farvec-bits").statement(Choice(9, 9)))

    def test_the_least_list_is_chosen(self):
        made = contender("farvec")
        made.choose()
        self.assertEqual(made.choices, {0.9: Choice(30)})
        made = contender("pgvector-ivfflat")
        made.choose()
        self.assertEqual(made.choices, {0.9: Choice(30)})
        self.assertEqual(made.client.asked[0][1]["ivfflat.probes"], 1)

    def test_of_shares_of_bits_the_fastest_is_chosen(self):
        made = contender("farvec-bits")
        made.choose()
        self.assertIn(made.choices[0.9], (Choice(30, 30), Choice(30, 15)))

    def test_clients_make_twenty_calls_each_and_are_compared_with_one(self):
        made = contender("farvec", clients=(1, 8))
        made.choose()
        made.measure()
        [(rate, p99, others)] = made.many[0.9, 8]
        self.assertEqual((rate, others), (160 / 2.0, 0))  # 8 x 20 calls of 2 queries in 2 s
        self.assertEqual(made.client.asked[-1][2], 8)
        made.measure_many(0.9, Choice(30), 8, np.zeros((2, 10), int))
        self.assertEqual(made.many[0.9, 8][-1][2], 160)


class Direct(unittest.TestCase):
    def test_asks_as_a_scan_does(self):
        self.assertEqual(sql_direct.as_scans_ask(10), (10, 15))
        self.assertEqual(sql_direct.as_scans_ask(64), (43, 64))
        self.assertEqual(sql_direct.as_scans_ask(300), (200, 300))

    def test_cosine_is_one_less_than_the_engines(self):
        self.assertEqual(sql_direct.distances_of(np.array([0.25]), "cosine"), [-0.75])
        self.assertEqual(sql_direct.distances_of(np.array([0.25]), "l2"), [0.25])


class Arguments(unittest.TestCase):
    def test_refuses_what_it_does_not_know(self):
        for words, message in ((("--kinds", "faiss"), "invalid choice: 'faiss'"),
                               (("--recalls", "0.9,much"), "could not convert"),
                               (("--clients", "1,x"), "--clients: invalid literal"),
                               (("--clients", "0"), "--clients are 1 to 1000"),
                               (("--passes", "0"), "--passes is at least 1"),
                               (("--queries", "1"), "--queries is at least 2")):
            done = subprocess.run([sys.executable, "-B", SCRIPT, "--data", "d", "--metric", "l2", *words],
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
