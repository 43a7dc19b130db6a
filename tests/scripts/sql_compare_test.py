"""bench/postgres/compare.py without a server: what it computes, what it says, what it refuses."""
import pathlib
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "postgres" / "compare.py"
sys.path.insert(0, str(SCRIPT.parent))

import compare  # noqa: E402


def contender(kind, passes, length=40, recall=0.951):
    """One that was measured at a recall of 0.95 and never reached 0.99; `passes` are of microseconds."""
    return types.SimpleNamespace(kind=kind, times={0.95: passes}, lists={0.95: length, 0.99: None},
                                 recalls={0.95: recall}, seconds=2.0, bytes=1234)


class Tables(unittest.TestCase):
    def setUp(self):
        options = types.SimpleNamespace(recalls=[0.95, 0.99])
        self.rows = compare.rows_of([contender("pgvector", [[200] * 99 + [900], [400] * 100]),
                                     contender("farvec", [[100] * 100, [50] * 50 + [150] * 50])], options)

    def test_rates_are_of_the_mean_and_tails_of_the_slowest_hundredth(self):
        ours, = [row for row in self.rows if row["kind"] == "farvec" and row["target"] == 0.95]
        self.assertEqual(ours["rates"], [10_000, 10_000])
        self.assertEqual(ours["p99s_us"], [100, 150])
        theirs, = [row for row in self.rows if row["kind"] == "pgvector" and row["target"] == 0.95]
        self.assertEqual(theirs["rates"], [1e6 / 207, 2500])
        self.assertEqual(theirs["p99s_us"], [900, 400])

    def test_ratios_are_pass_by_pass(self):
        self.assertEqual(compare.ratios(self.rows, 0.95), {"farvec": [2.07, 4]})
        self.assertEqual(compare.ratios(self.rows, 0.99), {})
        without = [row for row in self.rows if row["kind"] != "pgvector"]
        self.assertEqual(compare.ratios(without, 0.95), {})

    def test_the_page(self):
        facts = {"name": "n", "recalls": [0.95, 0.99], "load": 1.0, "processor": "p", "processors": 2,
                 "server": "PostgreSQL 18", "pgvector": "0.8", "rows": 3, "dimension": 4, "type": "vector",
                 "metric": "l2", "queries": 6, "m": 16, "ef_construction": 64, "key_us": 20.4, "commit": "c",
                 "command": "compare"}
        page = compare.markdown(facts, self.rows)
        self.assertIn("| farvec | 0.95 | 40 | 0.9510 | 10,000 (10,000 to 10,000) | 125 (100 to 150) |", page)
        self.assertIn("| farvec | 0.99 | - | not reached | - | - | 2.0 | 1,234 |", page)
        self.assertIn("- At 0.95 farvec has 3.04 (2.07 to 4.00) times the rate of pgvector", page)
        self.assertIn("Ten rows by primary key take 20 us", page)
        self.assertNotIn("BUSY", page)
        self.assertIn("BUSY", compare.markdown({**facts, "load": 5.0}, self.rows))


class Arguments(unittest.TestCase):
    def test_refuses_what_it_does_not_know(self):
        for words, message in ((("--kinds", "faiss"), "invalid choice: 'faiss'"),
                               (("--recalls", "0.9,much"), "could not convert"),
                               (("--passes", "0"), "--passes is at least 1"),
                               (("--queries", "1"), "--queries is at least 2")):
            done = subprocess.run([sys.executable, "-B", SCRIPT, "--data", "d", "--metric", "l2", *words],
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
