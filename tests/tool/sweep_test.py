"""`farvec sweep`: rows as they are measured, files that lose nothing, sweeps that go on."""
import json
import os
import signal
import subprocess
import unittest

from farvec_tool import BIN, TIMEOUT_S, ToolTest, farvec, rest_of, write_vectors

QUERIES, K = 20, 5


class SweepTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(400))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        self.truth = self.folder / "truth.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                              self.queries, "--metric", "l2", "--k", K, "--quiet", "--out",
                              self.truth))
        self.must_pass(self.build(self.base))
        self.out = self.folder / "sweep.jsonl"

    def command(self, *options, index="index"):
        return ["sweep", "--index", self.folder / index, "--queries", self.queries,
                "--groundtruth", self.truth, "--k", K, "--slots", 1, *options]

    def sweep(self, *options, **where):
        return farvec(*self.command("--passes", 1, "--pass-ms", 1, *options, **where))

    def rows_of(self, path=None):
        return [json.loads(line) for line in (path or self.out).read_text().splitlines()]

    def start(self, *options):
        """A running sweep."""
        return subprocess.Popen([str(BIN / "farvec"), *map(str, self.command(*options))],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Rows(SweepTest):
    LISTS = ",".join(map(str, range(10, 40)))
    LONG = ("--passes", 2, "--pass-ms", 100)

    def interrupt(self, *options):
        """A sweep that is interrupted when its first row is printed. Its output."""
        with self.start("--list", self.LISTS, *self.LONG, *options) as process:
            lines = [process.stdout.readline() for _ in range(2)]
            self.assertIn("recall", lines[0])
            self.assertTrue(lines[1].startswith("dram"), lines)
            process.send_signal(signal.SIGINT)
            rest, errors = rest_of(process)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        return lines[1:] + rest.splitlines()

    def test_rows_come_as_they_are_measured_and_an_interrupt_keeps_them(self):
        printed = self.interrupt("--json", self.out)
        rows = self.rows_of()
        self.assertEqual(len(rows), len(printed))
        self.assertLess(len(rows), 30)
        self.interrupt()  # without a file

    def test_an_interrupted_sweep_goes_on(self):
        self.interrupt("--json", self.out)
        had = self.rows_of()
        result = self.must_pass(farvec(*self.command("--list", self.LISTS, *self.LONG, "--json",
                                                     self.out, "--resume")))
        rows = self.rows_of()
        self.assertEqual(rows[:len(had)], had)
        self.assertEqual([row["list"] for row in rows], list(range(10, 40)))
        self.assertEqual(len(result.stdout.splitlines()), 1 + 30 - len(had))
        self.assertIn(f"{len(had)} of 30 combinations are there already", result.stderr)

    def test_the_time_is_foretold(self):
        result = self.must_pass(self.sweep("--list", "10,20"))
        self.assertRegex(result.stderr, r"2 combinations of 20 queries, 1 passes of 1 ms: about \d")

    def test_recall_is_of_all_queries_whatever_a_pass_is(self):
        found = []
        for pass_ms in (0.001, 20):
            self.must_pass(farvec(*self.command(
                "--list", 12, "--tier", "dram,emulated:rdma", "--pass-ms", pass_ms, "--passes", 3,
                "--json", self.out, "--overwrite")))
            found += [(row["queries"], row["recall"], row["reads_per_query"], row["passes"])
                      for row in self.rows_of()]
        self.assertEqual(found, found[:1] * 4)
        self.assertEqual(found[0][0], QUERIES)


class Files(SweepTest):
    def test_an_old_file_is_not_replaced_unasked(self):
        self.must_pass(self.sweep("--list", 10, "--json", self.out))
        before = self.out.read_bytes()
        self.must_refuse(self.sweep("--list", 20, "--json", self.out), "exists", "--resume",
                         "--overwrite", self.out.name)
        self.must_refuse(self.sweep("--list", "x", "--json", self.out, "--overwrite"), "'x'")
        self.assertEqual(self.out.read_bytes(), before)
        self.must_pass(self.sweep("--list", 20, "--json", self.out, "--overwrite"))
        self.assertEqual([row["list"] for row in self.rows_of()], [20])
        self.assertNotEqual(self.sweep("--resume").returncode, 0)
        self.assertNotEqual(self.sweep("--json", self.out, "--resume", "--overwrite").returncode, 0)

    def test_lines_and_the_rate_that_memory_allows(self):
        self.must_pass(self.sweep("--list", 10, "--tier", "dram,emulated:rdma", "--line-ns", 10,
                                  "--threads", "1,2", "--json", self.out))
        rows = self.rows_of()
        self.assertEqual(len(rows), 4)
        for row in rows:
            lines = row["lines_per_query"]
            self.assertEqual(lines, rows[0]["lines_per_query"])
            self.assertGreaterEqual(lines["codes"], row["estimates_per_query"])
            self.assertGreaterEqual(lines["offsets"], row["reads_per_query"])
            self.assertGreaterEqual(lines["visited"], row["estimates_per_query"])
            self.assertGreater(lines["records"], row["bytes_per_query"] / 64)
            self.assertEqual((row["line_ns"], row["line_ns_source"]), (10, "--line-ns"))
            local = lines["codes"] + lines["offsets"]
            local += lines["records"] if row["tier"] == "dram" else 0
            self.assertAlmostEqual(row["memory_bound_qps"] * local * 10, 1e9 * row["threads"],
                                   delta=1)

    def test_the_rate_that_a_modelled_device_allows(self):
        # A read takes the device 100 us, and of the part that a core has five times that.
        model = "latency=1us,bandwidth=1GB/s,rate=10K/s"
        self.must_pass(self.sweep("--list", "10,20", "--tier",
                                  f"dram,emulated:{model},emulated:{model},cores=5,"
                                  f"emulated:{model},cores=5,latency=0.5us",
                                  "--threads", "1,2", "--json", self.out))
        rows = self.rows_of()
        self.assertEqual(len(rows), 16)
        for row in rows:
            if row["tier"] == "dram":
                self.assertNotIn("device_bound_qps", row)
                continue
            shared = "1/5 of it per core" in row["tier_model"]
            self.assertEqual(shared, "cores=5" in row["tier"])
            reads_a_second = 1e4 * row["threads"] / 5 if shared else 1e4
            self.assertAlmostEqual(row["device_bound_qps"] * row["reads_per_query"],
                                   reads_a_second, delta=1)
            # The first read of a pass finds the device free, and a short one is of few queries.
            self.assertLess(row["qps"], 1.25 * row["device_bound_qps"])

    def test_what_computation_allows_is_the_rate_on_dram(self):
        result = self.must_pass(self.sweep("--list", "10,20", "--tier", "emulated:rdma,dram,shm",
                                           "--threads", "1,2", "--json", self.out))
        header, *lines = (line.replace("QPS min..max", "spread").replace(" us", "us").split()
                          for line in result.stdout.splitlines())
        rows = self.rows_of()
        self.assertEqual(len(rows), 12)
        rates = {(row["list"], row["threads"]): row["qps"] for row in rows
                 if row["tier"] == "dram"}
        for row, line in zip(rows, lines):
            cell = dict(zip(header, line))["compute"]
            if row["tier"] == "dram":
                self.assertNotIn("compute_bound_qps", row)
                self.assertEqual(cell, "-")
                continue
            self.assertEqual(row["compute_bound_qps"], rates[row["list"], row["threads"]])
            self.assertAlmostEqual(float(cell), row["compute_bound_qps"], delta=0.51)
            self.assertEqual(row["compute_bound_share"], row["qps"] / row["compute_bound_qps"])

    def test_the_share_of_what_computation_allows_is_pass_by_pass(self):
        self.must_pass(farvec(*self.command("--list", 10, "--tier", "dram,emulated:rdma", "--passes",
                                            2, "--pass-ms", 5, "--json", self.out)))
        dram, rdma = self.rows_of()
        for row in dram, rdma:
            self.assertEqual(sorted(row["qps_passes"]), [row["qps_min"], row["qps_max"]])
        shares = [mine / bound for mine, bound in zip(rdma["qps_passes"], dram["qps_passes"])]
        self.assertAlmostEqual(rdma["compute_bound_share"], sum(shares) / 2)
        self.assertEqual(sorted(shares), [rdma["compute_bound_share_min"],
                                          rdma["compute_bound_share_max"]])

    def test_nothing_says_what_computation_allows_where_dram_is_not_measured(self):
        self.must_pass(self.sweep("--list", 10, "--tier", "emulated:rdma,shm", "--json", self.out))
        self.must_pass(self.sweep("--list", 10, "--tier", "dram,emulated:rdma", "--cache-bytes",
                                  "1MB", "--json", self.out, "--resume"))
        rows = self.rows_of()
        self.assertEqual([(row["tier"], row["cache_bytes"]) for row in rows],
                         [("emulated:rdma", 0), ("shm", 0), ("emulated:rdma", 1000000)])
        for row in rows:
            self.assertNotIn("compute_bound_qps", row)

    def test_the_time_of_a_line_is_measured_at_the_start(self):
        result = self.must_pass(self.sweep("--list", 10, "--json", self.out))
        row, = self.rows_of()
        self.assertEqual(row["line_ns_source"], "measured")
        self.assertGreater(row["line_ns"], 0)
        self.assertIn("a random cache line of", result.stderr)
        self.must_refuse(self.sweep("--line-ns", 0), "--line-ns")

    def test_a_sweep_that_cannot_begin_leaves_no_file(self):
        self.must_refuse(self.sweep("--list", "x", "--json", self.out), "'x'")
        self.assertFalse(self.out.exists())
        self.must_pass(self.sweep("--list", 10, "--json", self.out))

    def test_what_is_no_file_is_written_to(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        with open(pipe, "r+b", buffering=0) as reader:
            self.must_pass(self.sweep("--list", 10, "--json", pipe))
            self.assertEqual(json.loads(reader.readline())["list"], 10)
        self.assertTrue(pipe.is_fifo())
        self.must_refuse(self.sweep("--list", 10, "--json", pipe, "--resume"), str(pipe))
        self.must_refuse(self.sweep("--list", 10, "--json", self.folder), "folder")

    def test_rows_and_table_share_the_standard_output(self):
        """A file behind it is written through one descriptor: neither is written over."""
        printed = self.folder / "printed"
        with open(printed, "w", encoding="utf-8") as out:
            subprocess.run([BIN / "farvec", *map(str, self.command(
                "--passes", 1, "--pass-ms", 1, "--list", "10,20", "--json", "/dev/stdout"))],
                           stdout=out, check=True, timeout=TIMEOUT_S)
        lines = printed.read_text().splitlines()
        rows = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual([row["list"] for row in rows], [10, 20])
        self.assertEqual(sum("recall" in line and not line.startswith("{") for line in lines), 1)
        self.assertEqual(sum(line.startswith("dram") for line in lines), 2)
        self.must_refuse(self.sweep("--list", 10, "--json", "/dev/stdout", "--resume"),
                         "/dev/stdout")

    def resumed(self, *options, **where):
        """Lists of the rows, when the sweep of one more goes on."""
        self.must_pass(self.sweep("--list", "10,20", "--json", self.out, "--resume", *options,
                                  **where))
        return [row["list"] for row in self.rows_of()]

    def test_only_the_same_rows_count_as_there(self):
        self.must_pass(self.sweep("--list", "20", "--json", self.out))
        self.assertEqual(self.resumed(), [20, 10])
        self.assertEqual(self.resumed(), [20, 10])
        self.assertEqual(self.resumed("--queries-range", "5:"), [20, 10, 10, 20])
        self.must_pass(self.build(self.base, "--seed", 2, out="other"))
        self.assertEqual(len(self.resumed(index="other")), 6)
        self.queries = write_vectors(self.folder / "others", self.rows(QUERIES))
        self.assertEqual(len(self.resumed()), 8)

    def test_a_line_that_was_cut_off_is_measured_again(self):
        self.must_pass(self.sweep("--list", "10,20", "--json", self.out))
        whole = self.out.read_text()
        self.out.write_text(whole[:-30])
        self.assertEqual(self.resumed(), [10, 20])
        self.out.write_text("not a row\n" + whole)
        self.must_refuse(self.sweep("--json", self.out, "--resume"), "line 1", self.out.name)
        self.assertEqual(self.out.read_text(), "not a row\n" + whole)


class Failures(SweepTest):
    def test_a_combination_that_cannot_run_is_a_row(self):
        result = self.must_pass(self.sweep("--list", "3,10", "--json", self.out, "--tier",
                                           "dram,file:/nonexistent/records"))
        rows = self.rows_of()
        self.assertEqual([(row["list"], row["tier"]) for row in rows],
                         [(number, tier) for number in (3, 10)
                          for tier in ("dram", "file:/nonexistent/records")])
        self.assertIn("list must be at least k", rows[0]["error"])
        self.assertIn("/nonexistent/records", rows[1]["error"])
        self.assertNotIn("error", rows[2])
        self.assertEqual(result.stdout.count("cannot run: "), 3)
        self.assertNotIn("recall", rows[0])
        self.must_pass(self.sweep("--list", "3,10", "--json", self.out, "--resume"))
        self.assertEqual([row["list"] for row in self.rows_of() if "error" not in row], [10])

    def test_one_budget_that_is_too_small_ends_nothing(self):
        for layout in ("csr", "slotted"):
            self.must_pass(self.build(self.base, "--layout", layout, out=layout))
            self.must_pass(self.sweep("--list", 10, "--tier", "ssd", "--memory-budget",
                                      "1KB,100MB", "--json", self.out, "--overwrite",
                                      index=layout))
            small, enough = self.rows_of()
            self.assertIn("--memory-budget", small["error"])
            self.assertEqual(small["memory_budget"], 1000)
            self.assertGreater(enough["recall"], 0.5)

    def test_a_width_that_no_search_has_is_a_row_on_a_disk_too(self):
        for layout in ("csr", "slotted"):
            self.must_pass(self.build(self.base, "--layout", layout, out=layout))
            self.must_pass(self.sweep("--list", 10, "--width", "2,65", "--tier", "ssd", "--json",
                                      self.out, "--overwrite", index=layout))
            two, none = self.rows_of()
            self.assertGreater(two["recall"], 0.5)
            self.assertIn("width must be from 1 to 64", none["error"])

    def test_nothing_that_runs_is_a_failure(self):
        self.must_refuse(self.sweep("--list", "2,3", "--json", self.out), "none of", "list")
        self.assertEqual(len(self.rows_of()), 2)


class ClusterTable(SweepTest):
    def test_the_columns_of_reads_add_up(self):
        self.must_pass(farvec("build", "cluster", "--data", self.base, "--metric", "l2",
                              "--clusters", 16, "--replicas", 4, "--layout", "all", "--quiet",
                              "--out", self.folder / "clusters"))
        for layout in ("coupled", "decoupled", "grouped", "grouped-inline"):
            result = self.must_pass(self.sweep("--probe", 4, "--tier", "emulated:rdma", "--json",
                                               self.out, "--overwrite",
                                               index=f"clusters/{layout}"))
            header, row = (line.replace("QPS min..max", "spread").replace(" us", "us").split()
                           for line in result.stdout.splitlines())
            cells = dict(zip(header, row))
            (facts,) = self.rows_of()
            parts = 0
            for column, name in (("groups", "group"), ("lists", "list"), ("strays", "stray")):
                self.assertAlmostEqual(float(cells[column]), facts[f"{name}_reads_per_query"],
                                       delta=0.051)
                parts += facts[f"{name}_reads_per_query"]
            self.assertAlmostEqual(float(cells["reads"]), parts, delta=0.051)
            self.assertAlmostEqual(float(cells["bound"]), facts["device_bound_qps"], delta=0.51)
            self.assertEqual(cells["compute"], "-")


if __name__ == "__main__":
    unittest.main()
