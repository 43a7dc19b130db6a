"""`farvec bench transport`: one true JSON line per combination, and refusals of what cannot be
measured."""
import unittest

from farvec_tool import BenchTest, DaemonTest, farvec, free_port, write_vectors

FIELDS = {"tier", "tier_model", "region_bytes", "payload", "inflight", "batch", "mix", "threads",
          "reads_per_s", "reads_per_s_min", "reads_per_s_max", "gb_per_s", "mean_us", "p50_us",
          "p99_us", "passes", "pass_ms", "seed", "commit", "host"}

# Tiers whose memory the bench makes.
SIZED = ("dram", "shm", "emulated")
QUICK = {"--bytes": 1 << 20, "--passes": 2, "--pass-ms": 2}


def bench(*options):
    """With what makes it quick, unless the options say otherwise, or the tier has no size."""
    tier = options[options.index("--tier") + 1] if "--tier" in options else "dram"
    given = {*options, *(() if tier.startswith(SIZED) else ("--bytes",))}
    quick = [word for name, value in QUICK.items() if name not in given for word in (name, value)]
    return farvec("bench", "transport", *quick, *options)


class Bench(BenchTest):
    def lines(self, *options):
        rows = self.bench_lines(bench, *options)
        for row in rows:
            self.assertLessEqual(FIELDS, row.keys())
        return rows

    def test_every_combination_has_its_line(self):
        rows = self.lines("--tier", "dram,shm,emulated:rdma", "--payload", "64,256,4096",
                          "--inflight", "1,16,128", "--mix", "0%,50%,90%")
        found = {(row["tier"], row["payload"], row["inflight"], row["mix"]) for row in rows}
        self.assertEqual(len(rows), 3 * 3 * 3 * 3)
        self.assertEqual(found, {(tier, payload, inflight, mix)
                                 for tier in ("dram", "shm", "emulated:rdma")
                                 for payload in (64, 256, 4096) for inflight in (1, 16, 128)
                                 for mix in (0, 0.5, 0.9)})
        self.assertEqual({row["batch"] for row in rows}, {1, 8})
        self.assertEqual({(row["passes"], row["threads"], row["seed"], row["region_bytes"])
                          for row in rows}, {(2, 1, 1, 1 << 20)})
        models = {row["tier"]: row["tier_model"] for row in rows}
        self.assertIn("2.8 us", models["emulated:rdma"])

    def test_a_modelled_latency_is_what_a_read_takes_at_least(self):
        rows = self.lines("--tier", "emulated:latency=200us,bandwidth=10GB/s,rate=50M/s",
                          "--payload", 64, "--inflight", "1,4")
        for row in rows:
            self.assertGreaterEqual(row["p50_us"], 200 * 0.98)
            self.assertLessEqual(row["reads_per_s"], row["inflight"] * 5000 * 1.02)

    def test_the_rate_that_a_modelled_device_allows(self):
        # Of the part of a core, a read takes 40 us, and so does one that interrupts another.
        model = "emulated:latency=1us,bandwidth=1GB/s,rate=100K/s,interruption=10us,cores=4"
        rows = self.lines("--tier", f"{model},dram", "--payload", "256,4096", "--inflight", 64,
                          "--mix", "0%,50%,90%", "--pass-ms", 20, "--threads", "1,2")
        us = {(256, 0): 40, (256, 0.5): 40, (256, 0.9): 40,
              (4096, 0): 40, (4096, 0.5): 60, (4096, 0.9): 44}
        for row in rows:
            if row["tier"] == "dram":
                self.assertNotIn("device_bound_per_s", row)
                continue
            self.assertAlmostEqual(row["device_bound_per_s"],
                                   row["threads"] * 1e6 / us[row["payload"], row["mix"]], delta=1)
            self.assertLess(row["reads_per_s"], 1.25 * row["device_bound_per_s"])

    def test_batches_larger_than_the_reads_in_flight_are_measured_once(self):
        rows = self.lines("--payload", 64, "--inflight", "1,4", "--batch", "1,8,16")
        self.assertEqual([(row["inflight"], row["batch"]) for row in rows],
                         [(1, 1), (4, 1), (4, 4)])

    def test_threads(self):
        rows = self.lines("--payload", 64, "--inflight", 4, "--threads", "1,2", "--tier", "shm")
        self.assertEqual([row["threads"] for row in rows], [1, 2])

    def test_a_file_as_large_as_one_read(self):
        path = self.folder / "records"
        path.write_bytes(bytes(4096))
        row, = self.lines("--tier", f"file:{path}", "--payload", 4096, "--inflight", 2)
        self.assertEqual((row["tier"], row["region_bytes"]), (f"file:{path}", 4096))

    def test_bad_input(self):
        refused = self.must_refuse
        refused(bench("--payload", 0), "--payload", "0")
        refused(bench("--payload", "64,x"), "--payload", "'x'")
        refused(bench("--payload", (1 << 20) + 1), "1048577", "1048576")
        refused(bench("--payload", 64, "--bytes", 100, "--mix", "50%"), "128", "100")
        refused(bench("--payload", 3 << 30, "--bytes", 100), "3221225472")
        refused(bench("--inflight", 0), "--inflight")
        refused(bench("--inflight", 100_000), "100000 reads in flight", "1024")
        refused(bench("--mix", "150%"), "--mix", "150%")
        refused(bench("--mix", "-50%"), "--mix", "-50%")
        refused(bench("--mix", 0.5), "--mix", "0% to 100%")
        refused(bench("--mix", "nan"), "--mix", "nan")
        refused(bench("--mix", "half"), "--mix", "'half'")
        refused(bench("--batch", 0), "--batch")
        refused(bench("--threads", 0), "--threads")
        refused(bench("--passes", 0), "--passes")
        refused(bench("--pass-ms", 0), "--pass-ms")
        refused(bench("--bytes", 0), "--bytes")
        refused(bench("--signal", "none"), "--signal")
        refused(bench("--doorbell", "none"), "--doorbell")
        refused(bench("--json", "/nonexistent/a.json"), "/nonexistent/a.json")
        refused(farvec("bench"), "subcommand")

    def test_bad_tiers(self):
        self.must_refuse(bench("--tier", "tape"), "tape")
        self.must_refuse(bench("--tier", "file:/nonexistent/records"), "/nonexistent")
        self.must_refuse(bench("--tier", "emulated:latency=-1us"), "latency")
        self.must_refuse(bench("--tier", "verbs"), "name the memory node")

    def test_a_refused_run_leaves_the_file_as_it_was(self):
        path = self.folder / "bench.json"
        path.write_text("before")
        self.must_refuse(bench("--json", path, "--payload", 1 << 30))
        self.assertEqual(path.read_text(), "before")


class BenchOfAMemoryNode(DaemonTest):
    def test_nothing_listens(self):
        address = f"127.0.0.1:{free_port()}"
        self.must_refuse(bench("--tier", f"verbs:{address}"), address)

    def test_a_node_without_rdma(self):
        self.must_pass(self.build(write_vectors(self.folder / "base", self.rows(50))))
        address = f"127.0.0.1:{free_port()}"
        self.start("farvec-memory-node", "--index", self.folder / "index", "--listen", address,
                   "--grant", self.folder / "grant")
        self.must_refuse(bench("--tier", f"verbs:{address}"), address, "serves no RDMA")


if __name__ == "__main__":
    unittest.main()
