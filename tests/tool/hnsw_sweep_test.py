"""`farvec sweep` of an HNSW graph on pages: combinations, buffers, sweeps that go on."""
import json
import signal
import subprocess
import unittest

import numpy as np

from farvec_tool import BIN, farvec, rest_of, write_vectors
from hnsw_tool import K, HnswTest

COLUMNS = ["search", "buffer", "list", "slots", "threads", "recall", "qps", "spread", "p50", "us",
           "p99", "us", "reads", "hits", "%"]


class SweepTest(HnswTest):
    def setUp(self):
        super().setUp()
        self.made()
        self.truth = self.write_truth()
        self.out = self.folder / "sweep.jsonl"

    def command(self, *options):
        return ["sweep", "--index", self.graph, "--queries", self.queries, "--groundtruth",
                self.truth, "--k", K, "--json", self.out, *options]

    def rows_of(self):
        return [json.loads(line) for line in self.out.read_text().splitlines()]


class Combinations(SweepTest):
    def test_a_buffer_that_is_too_small_ends_nothing(self):
        result = self.must_pass(self.sweep(self.truth, "--list", "10,20", "--buffer", "1KB,50%",
                                           "--search", "sync,pipelined"))
        rows = self.rows_of()
        self.assertEqual([(row["buffer"], row["list"], row["search"]) for row in rows],
                         [(buffer, number, search) for buffer in ("1KB", "50%")
                          for number in (10, 20) for search in ("sync", "pipelined")])
        header, *lines = result.stdout.splitlines()
        self.assertEqual(header.split(), COLUMNS)
        for row, line in zip(rows, lines, strict=True):
            self.assertEqual(line.split()[:3], [row["search"], row["buffer"], str(row["list"])])
            self.assertEqual("error" in row, row["buffer"] == "1KB")
            if "error" in row:
                self.assertIn("use at least", row["error"])
                self.assertTrue(line.endswith("cannot run: " + row["error"]), line)
                self.assertNotIn("recall", row)
                self.assertEqual(row["slots"], 8)
            else:
                self.assertGreater(row["recall"], 0.5)
                self.assertIn(f" {row['recall']:.4f} ", line)
                self.assertGreater(row["buffer_bytes"], 0)
        self.assertIn("8 combinations of 20 queries, 1 passes: about ", result.stderr)

    def test_nothing_that_runs_is_a_failure(self):
        self.must_refuse(self.sweep(self.truth, "--list", 10, "--buffer", "1KB,2KB"),
                         "none of the combinations can run", "--buffer 1KB", "use at least")
        self.assertEqual([row["buffer"] for row in self.rows_of()], ["1KB"] * 3 + ["2KB"] * 3)

    def test_words_that_no_graph_understands_are_refused_before_anything_runs(self):
        for options, word in ((("--buffer", "50%,half"), "half"), (("--buffer", "50%,101%"), "101%"),
                              (("--buffer", "50%", "--search", "sync,fast"), "fast")):
            self.must_refuse(self.sweep(self.truth, "--list", 10, *options), word)
            self.assertFalse(self.out.exists())


class Buffers(SweepTest):
    ONE = ("--list", 40, "--slots", 1, "--search", "sync")

    def test_every_combination_begins_with_an_empty_buffer(self):
        """Else the second of two that are the same would read less."""
        rows = self.swept(self.truth, "--list", "40,40", "--slots", 1, "--search", "sync,sync",
                          "--buffer", "100%")
        self.assertEqual(len(rows), 4)
        self.assertEqual(len({row["reads_per_query"] for row in rows}), 1)
        self.assertGreater(rows[0]["reads_per_query"], 0)

    def test_the_queries_outside_of_the_range_fill_the_buffer(self):
        """What they read is not read again by the same queries."""
        self.asked = np.concatenate([self.asked, self.asked])
        self.queries = write_vectors(self.folder / "twice", self.asked)
        truth = self.write_truth()
        half = len(self.asked) // 2
        (row,) = self.swept(truth, *self.ONE, "--buffer", "100%", "--queries-range", f"{half}:")
        self.assertEqual((row["first_query"], row["queries"]), (half, half))
        self.assertEqual((row["reads_per_query"], row["hit_ratio"]), (0, 1))
        (row,) = self.swept(truth, *self.ONE, "--buffer", "100%")
        self.assertGreater(row["reads_per_query"], 0)

    def test_a_pass_has_its_rate_and_the_counts_are_of_one(self):
        one, = self.swept(self.truth, *self.ONE, "--buffer", "50%")
        self.out.unlink()
        self.must_pass(farvec(*self.command(*self.ONE, "--buffer", "50%", "--passes", 3)))
        three, = self.rows_of()
        self.assertEqual((len(one["qps_passes"]), len(three["qps_passes"])), (1, 3))
        self.assertEqual([three["qps_min"], three["qps"], three["qps_max"]],
                         sorted(three["qps_passes"]))
        for name in ("recall", "reads_per_query", "pages_per_query", "visited_per_query"):
            self.assertEqual(one[name], three[name])


class GoingOn(SweepTest):
    LISTS = range(10, 30)
    MANY = ("--list", ",".join(map(str, LISTS)), "--search", "sync", "--buffer", "50%", "--slots", 1,
            "--passes", 30)

    def test_an_interrupted_sweep_goes_on(self):
        with subprocess.Popen([str(BIN / "farvec"), *map(str, self.command(*self.MANY))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(2)]
            self.assertTrue(lines[1].startswith("sync"), lines)
            process.send_signal(signal.SIGINT)
            _, errors = rest_of(process)
        self.assertEqual(process.returncode, 130, errors)
        had = self.rows_of()
        self.assertIn(f"interrupted: {len(had)} of 20 combinations are measured", errors)
        self.assertLess(len(had), 20)
        self.assertTrue(all(len(row["qps_passes"]) == 30 for row in had))
        result = self.must_pass(farvec(*self.command(*self.MANY, "--resume")))
        self.assertEqual(self.rows_of()[:len(had)], had)
        self.assertEqual([row["list"] for row in self.rows_of()], list(self.LISTS))
        self.assertIn(f"{len(had)} of 20 combinations are there already", result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 1 + 20 - len(had))

    def resumed(self, *options):
        self.must_pass(farvec(*self.command("--passes", 1, "--slots", 1, "--resume", *options)))
        return [(row["buffer"], row["search"], "error" in row) for row in self.rows_of()]

    def test_only_the_same_rows_count_as_there(self):
        first = [("1KB", "sync", True), ("50%", "sync", False)]
        self.assertEqual(self.resumed("--list", 10, "--search", "sync", "--buffer", "1KB,50%"), first)
        # A row with a reason is tried again, the other is there.
        second = [*first, ("1KB", "parallel", True), ("1KB", "sync", True), ("50%", "parallel", False)]
        self.assertEqual(self.resumed("--list", 10, "--search", "parallel,sync", "--buffer",
                                      "1KB,50%"), second)
        self.assertEqual(self.resumed("--list", 10, "--search", "sync", "--buffer", "50%"), second)
        self.changed("delete", "--range", "0:3")
        self.truth = self.write_truth(range(3, len(self.data)))
        self.assertEqual(self.resumed("--list", 10, "--search", "sync", "--buffer", "50%"),
                         [*second, ("50%", "sync", False)])


if __name__ == "__main__":
    unittest.main()
