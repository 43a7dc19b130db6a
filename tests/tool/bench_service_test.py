"""`farvec bench service`: every query that was offered is counted once, by what became of it."""
import json
import signal
import subprocess
import time
import unittest

from farvec_tool import BIN, BenchTest, DaemonTest, farvec, rest_of, write_vectors

COUNTS = ("in_time", "late", "refused", "failed", "unsent")
PERCENTILES = ("p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms")


class BenchService(DaemonTest, BenchTest):
    def setUp(self):
        super().setUp()
        self.queries = write_vectors(self.folder / "queries", self.rows(20))
        self.must_pass(self.build(write_vectors(self.folder / "base", self.rows(400))))
        self.address = f"unix:{self.folder}/c"

    def serve(self, *options):
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen",
                   self.address, *options)
        self.await_status(self.address)

    def bench(self, *options, queries=None):
        return farvec("bench", "service", "--connect", self.address, "--queries",
                      queries or self.queries, *options)

    def lines(self, *options):
        return self.bench_lines(self.bench, *options)

    def check_rates(self, row):
        self.assertEqual(row["offered"], sum(row[name] for name in COUNTS))
        self.assertEqual(row["refused"], row["refused_too_late"] + row["refused_queue_full"])
        self.assertAlmostEqual(row["goodput_per_s"] * row["seconds"], row["in_time"], delta=1e-3)
        percentiles = [row[name] for name in PERCENTILES]
        self.assertEqual(percentiles, sorted(percentiles))
        self.assertLessEqual(percentiles[-1], row["deadline_ms"])

    def test_rates(self):
        self.serve()
        slow, fast = self.lines("--rate", "200,400", "--seconds", 1, "--deadline-ms", 20_000)
        self.assertEqual((slow["rate"], fast["rate"], slow["loop"]), (200, 400, "open"))
        for row in (slow, fast):
            self.assertEqual(row["in_time"], row["offered"])
            # A Poisson process of this mean, seven standard deviations wide.
            self.assertLess(abs(row["offered"] - row["rate"]), 7 * row["rate"] ** 0.5)
            self.assertGreater(row["p50_ms"], 0)

    def test_the_same_seed_offers_the_same(self):
        self.serve()
        rows = [self.lines("--rate", 500, "--seconds", 0.3, "--deadline-ms", 20_000, "--seed", seed)
                for seed in (3, 3, 4)]
        offered = [row["offered"] for row, in rows]
        self.assertEqual(offered[0], offered[1])
        self.assertNotEqual(offered[1], offered[2])

    def test_clients(self):
        self.serve()
        row, = self.lines("--clients", 4, "--seconds", 0.5, "--deadline-ms", 20_000)
        self.assertEqual((row["loop"], row["clients"], row["rate"]), ("closed", 4, 0))
        self.assertGreater(row["in_time"], 4)
        self.assertEqual(row["in_time"], row["offered"])

    def test_refused_by_reason(self):
        # Searches that take their time, one after the other, and a queue of two.
        self.serve("--slots", 1, "--queue", 2, "--tier",
                   "emulated:latency=5ms,bandwidth=10GB/s,rate=1M/s")
        row, = self.lines("--rate", 400, "--seconds", 1, "--deadline-ms", 20_000)
        self.assertGreater(row["refused_queue_full"], 0)
        self.assertEqual(row["refused_too_late"], 0)
        row, = self.lines("--rate", 400, "--seconds", 1, "--deadline-ms", 1)
        self.assertEqual(row["in_time"], 0)

    def test_refused_because_too_late(self):
        self.serve("--slots", 1, "--tier", "emulated:latency=1ms,bandwidth=10GB/s,rate=1M/s")
        row, = self.lines("--rate", 300, "--seconds", 2, "--deadline-ms", 600)
        self.assertGreater(row["refused_too_late"], 0)
        self.assertEqual(row["refused_queue_full"], 0)

    def test_what_the_client_does_not_send_is_told(self):
        self.serve("--slots", 1, "--tier", "emulated:latency=5ms,bandwidth=10GB/s,rate=1M/s")
        row, = self.lines("--rate", 500, "--seconds", 1, "--deadline-ms", 20_000,
                          "--max-inflight", 1)
        self.assertGreater(row["unsent"], 0)
        self.assertEqual(row["in_time"] + row["unsent"], row["offered"], row)

    def test_failures_are_counted_and_the_first_is_told(self):
        self.serve()
        other = write_vectors(self.folder / "other", self.rows(3, 17))
        path = self.folder / "failed.json"
        result = self.must_pass(self.bench("--clients", 1, "--seconds", 0.2, "--json", path,
                                           queries=other))
        row = json.loads(path.read_text())
        self.check_rates(row)
        self.assertEqual(row["failed"], row["offered"])
        self.assertIn("dimension: 17 came, 16", result.stderr)
        self.assertIn("dimension: 17 came, 16", row["first_failure"])

    def test_an_interrupt_prints_what_there_is(self):
        self.serve()
        self.must_pass(self.bench("--rate", 100, "--seconds", 0.1))  # it listens
        for load in (("--rate", "200,300"), ("--clients", "2")):
            path = self.folder / "interrupted.json"
            with subprocess.Popen([str(BIN / "farvec"), "bench", "service", "--connect",
                                   self.address, "--queries", str(self.queries), *load,
                                   "--seconds", "3600", "--json", str(path)], text=True,
                                  stdout=subprocess.PIPE) as process:
                process.stdout.readline()  # the header: from here on signals are remembered
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                out, _ = rest_of(process)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(len(out.splitlines()), 1)
            row = json.loads(path.read_text())
            self.check_rates(row)
            self.assertLess(row["seconds"], 3600)
            path.unlink()

    def test_bad_options(self):
        self.serve("--max-k", 50)
        self.must_pass(self.bench("--rate", 100, "--seconds", 0.1))
        refused = self.must_refuse
        refused(self.bench(), "--rate", "--clients")
        refused(self.bench("--rate", 100, "--clients", 2), "--rate", "--clients")
        refused(self.bench("--rate", 0), "--rate")
        refused(self.bench("--rate", "100,x"), "--rate", "'x'")
        refused(self.bench("--clients", 0), "--clients")
        refused(self.bench("--rate", 100, "--seconds", 0), "--seconds")
        refused(self.bench("--rate", 100, "--deadline-ms", 0), "--deadline-ms")
        refused(self.bench("--rate", 100, "--max-inflight", 0), "--max-inflight")
        refused(self.bench("--rate", 100, "--k", 0), "--k: 0", "1 to 50")
        refused(self.bench("--rate", 100, "--k", 51), "--k: 51")
        refused(self.bench("--rate", 100, "--list", 0), "--list: 0")
        refused(self.bench("--rate", 100, "--width", 0), "--width: 0")
        refused(self.bench("--rate", 100, "--json", "/nonexistent/a.json"), "/nonexistent/a.json")
        refused(self.bench("--rate", 100, queries=self.folder / "none.u8bin"), "none.u8bin")


if __name__ == "__main__":
    unittest.main()
