"""Indexes whose records stay on disk: `--tier ssd` for graphs and clusters."""
import json
import pathlib
import re
import shutil
import tempfile
import time
import unittest

import numpy as np

from farvec_tool import TIMEOUT_S, DaemonTest, ToolTest, farvec, read_neighbours, write_vectors

COUNT, QUERIES, DIMENSION, K, CLUSTERS = 2000, 30, 48, 10, 40
GRAPH = ("--list", 40, "--width", 2)
PROBE = ("--probe", 8)
# No reads are left out or joined, as the tiers would each in their way.
SINGLY = ("--dedup", "off")
SEARCHED = ("recall", "distances_per_query", "hops_per_query")
READ = ("reads_per_query", "bytes_per_query")
IN_MEMORY = pathlib.Path("/dev/shm")


class DiskTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(COUNT, DIMENSION))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES, DIMENSION))
        self.truth = self.folder / "truth.ibin"

    def graph(self, *options, out="graph"):
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "l2", "--degree",
                              16, "--list", 40, "--quiet", "--out", self.folder / out, *options))
        return self.folder / out

    def clusters(self):
        """Indexes of all layouts."""
        out = self.folder / "clusters"
        self.must_pass(farvec("build", "cluster", "--data", self.base, "--metric", "l2",
                              "--clusters", CLUSTERS, "--replicas", 4, "--layout", "all", "--quiet",
                              "--out", out))
        return sorted(out.iterdir())

    def cluster_index(self, layout):
        return next(index for index in self.clusters() if index.name == layout)

    def try_search(self, index, tier, *options):
        return farvec("search", "--index", index, "--queries", self.queries, "--k", K, "--tier",
                      tier, "--out", self.folder / "found.ibin", *options)

    def search(self, index, tier, *options):
        self.must_pass(self.try_search(index, tier, *options))
        return read_neighbours(self.folder / "found.ibin")

    def expect_as_in_memory(self, index, tier, *options):
        for here, there in zip(self.search(index, tier, *options),
                               self.search(index, "dram", *options)):
            np.testing.assert_array_equal(here, there)

    def sweep(self, index, *options):
        if not self.truth.exists():
            self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                                  self.queries, "--metric", "l2", "--k", K, "--out", self.truth))
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", index, "--queries", self.queries,
                              "--groundtruth", self.truth, "--k", K, "--passes", 2, "--pass-ms", 1,
                              "--json", out, "--overwrite", *options))
        return [json.loads(line) for line in out.read_text().splitlines()]

    def expect_same_counts(self, rows, counts):
        for row in rows[1:]:
            for count in counts:
                self.assertEqual(row[count], rows[0][count], f"{row['tier']}: {count}")

    def check_disk_facts(self, rows):
        """Every read of the transport is one of the disk, of whole blocks; the plan holds."""
        disk = [row for row in rows if row["tier"] == "ssd"]
        self.assertTrue(disk)
        for row in disk:
            self.assertAlmostEqual(row["io_reads_per_query"], row["reads_per_query"], places=9)
            blocks = row["io_bytes_per_query"] * QUERIES / 512
            self.assertAlmostEqual(blocks, round(blocks), places=6)
            self.assertGreaterEqual(row["io_bytes_per_query"], row["bytes_per_query"])
            self.assertLessEqual(row["io_bytes_per_query"],
                                 row["bytes_per_query"] + 2 * 4096 * row["reads_per_query"])
            self.assertLessEqual(row["compute_dram_bytes"], row["memory_bytes"])
            self.assertNotIn("pool", row)
        for row in rows:
            self.assertEqual("io_reads_per_query" in row, row["tier"] == "ssd")
        return disk


class Modelled(DiskTest):
    """Requests end when a model says: what is found and read is that of the disk."""

    DISKS = "ssd,ssd,model=p5520-fast,ssd,model=ssd-d,cores=2,ssd,model=custom,read=20us,dies=4,page=4KiB"
    ONE_READ = ("--slots", 1, "--threads", 1)

    def check(self, rows):
        self.assertEqual([row["tier"] for row in rows],
                         ["ssd", "ssd,model=p5520-fast", "ssd,model=ssd-d,cores=2",
                          "ssd,model=custom,read=20us,dies=4,page=4KiB"])
        self.expect_same_counts(rows, SEARCHED + ("io_reads_per_query", "io_bytes_per_query"))
        self.assertNotIn("MODELLED", rows[0]["tier_model"])
        self.assertIn("MODELLED disk ssd-d: 7 dies", rows[2]["tier_model"])
        self.assertIn("2 cores alike", rows[2]["tier_model"])

    def test_graphs(self):
        for layout in ("csr", "padded"):
            self.check(self.sweep(self.graph("--layout", layout, out=layout), "--list", 40, "--width", 1,
                                  *self.ONE_READ, "--tier", self.DISKS))

    def test_clusters(self):
        self.check(self.sweep(self.cluster_index("grouped"), *PROBE, *SINGLY, *self.ONE_READ, "--tier", self.DISKS))

    def test_slotted_pages(self):
        index = self.graph("--layout", "slotted", out="slotted")
        self.check(self.sweep(index, "--list", 40, "--width", 1, *self.ONE_READ, "--memory-budget", "40MB",
                              "--tier", self.DISKS))

    def test_a_slow_disk_takes_its_time(self):
        """Each read waits for one die for a millisecond at least."""
        index = self.graph()
        (row,) = self.sweep(index, "--list", 40, "--width", 1, *self.ONE_READ, "--tier",
                            "ssd,model=custom,read=1ms,dies=1")
        self.assertLess(row["qps"] * row["reads_per_query"], 1000)
        self.expect_as_in_memory(index, "ssd,model=ssd-a", *GRAPH)

    def test_what_it_is_not_is_refused(self):
        index = self.graph()
        self.must_refuse(self.try_search(index, "ssd,model=nvme", *GRAPH), "no modelled disk 'nvme'", "ssd-a, ssd-b")
        self.must_refuse(self.try_search(index, "ssd,model=custom", *GRAPH), "needs read=TIME")


class Graphs(DiskTest):
    def test_are_found_as_in_memory(self):
        for layout in ("csr", "packed", "inline", "padded"):
            index = self.graph("--layout", layout, out=layout)
            for options in (("--slots", 1), ("--slots", 8, "--threads", 2), ()):
                self.expect_as_in_memory(index, "ssd", *GRAPH, *options)

    def test_a_sweep_counts_the_same_reads(self):
        for layout in ("csr", "packed", "inline", "padded"):
            rows = self.sweep(self.graph("--layout", layout, out=layout), "--list", 40, "--width",
                              2, "--slots", "1,8", "--threads", "1,2", "--tier", "dram,ssd")
            self.assertEqual(len(rows), 8)
            self.expect_same_counts(rows, SEARCHED + READ)
            self.check_disk_facts(rows)

    def test_a_cache_saves_reads_of_the_disk(self):
        rows = self.check_disk_facts(self.sweep(
            self.graph(), "--list", 40, "--slots", 1, "--tier", "ssd", "--cache-bytes",
            "0,200000"))
        without, cached = rows
        self.assertLess(cached["io_reads_per_query"], without["io_reads_per_query"])
        self.assertEqual(cached["memory_bytes"], without["memory_bytes"] + 200000)

    def test_a_budget_below_the_minimum_names_it(self):
        index = self.graph()
        one = ("--tier", "ssd", "--slots", 4, "--threads", 1, *GRAPH)
        (row,) = self.sweep(index, *one)
        least = row["memory_bytes"]
        self.must_refuse(farvec("search", "--index", index, "--queries", self.queries, "--k", K,
                                *one, "--memory-budget", least - 1),
                         "memory budget", f"{least} are needed", f"use --memory-budget {least}")
        rows = self.sweep(index, *one, "--memory-budget", f"{least},{2 * least}")
        self.assertEqual([row["memory_budget"] for row in rows], [least, 2 * least])
        self.search(index, *one[1:], "--memory-budget", least)

    def test_budgets_do_not_repeat_what_is_in_memory(self):
        rows = self.sweep(self.graph(), "--list", 40, "--slots", 1, "--tier", "dram,ssd",
                          "--memory-budget", "200MB,300MiB")
        self.assertEqual([row["tier"] for row in rows], ["dram", "ssd", "ssd"])

    def test_the_records_may_lie_elsewhere(self):
        index = self.graph()
        (self.folder / "elsewhere").mkdir()
        copy = self.folder / "elsewhere" / "records.csr"
        shutil.copy(index / "records.csr", copy)
        for place in (copy, copy.parent, index):
            self.expect_as_in_memory(index, f"ssd:{place}", *GRAPH)

    def test_refuses_what_is_not_there(self):
        index, other = self.graph(), self.graph("--seed", 2, out="other")
        short = self.folder / "short"
        short.write_bytes((index / "records.csr").read_bytes()[:-1])
        def refuse(tier, *words, options=()):
            self.must_refuse(self.try_search(index, tier, *GRAPH, *options), *words)
        refuse(f"ssd:{self.folder / 'absent'}", "absent")
        refuse(f"ssd:{short}", "short", "the index's records", "copy")
        refuse(f"ssd:{other}", "other")
        refuse("ssd:", "ssd[:PATH]")
        refuse("ssd", "--layout slotted", options=("--pool", "page"))

    @unittest.skipUnless(IN_MEMORY.is_dir(), "no file system in memory at /dev/shm")
    def test_a_file_system_in_memory_is_told(self):
        index = self.graph()
        with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
            shutil.copy(index / "records.csr", folder)
            result = self.must_pass(self.try_search(index, f"ssd:{folder}", *GRAPH))
        self.assertIn("page cache", result.stderr)


class Clusters(DiskTest):
    def test_are_found_as_in_memory(self):
        for index in self.clusters():
            for options in (("--slots", 1), ("--slots", 4, "--threads", 2)):
                self.expect_as_in_memory(index, "ssd", *PROBE, *options)

    def test_a_sweep_counts_the_same_reads(self):
        for index in self.clusters():
            chosen = ("--list", 20) if index.name == "coded" else ()
            rows = self.sweep(index, *PROBE, *chosen, *SINGLY, "--slots", "1,4", "--tier",
                              "dram,ssd")
            self.expect_same_counts(rows, SEARCHED + READ)
            self.check_disk_facts(rows)

    def test_a_coupled_cluster_is_one_read(self):
        rows = self.sweep(self.cluster_index("coupled"), *PROBE, "--slots", 2, "--tier", "dram,ssd")
        self.expect_same_counts(rows, SEARCHED + READ)
        (row,) = self.check_disk_facts(rows)
        self.assertEqual(row["io_reads_per_query"], row["clusters_probed"])
        # Clusters begin with a block: less than one more is read at their ends.
        self.assertLess(row["io_bytes_per_query"],
                        row["bytes_per_query"] + 4096 * row["io_reads_per_query"])

    def test_coupled_clusters_are_read_in_their_blocks(self):
        index = self.cluster_index("coupled")
        (row,) = self.sweep(index, "--probe", CLUSTERS, "--slots", 2, "--tier", "ssd")
        block = int(re.search(r"blocks of (\d+) bytes", row["tier_model"])[1])
        table = np.fromfile(index / "clusters.bin", offset=4096, dtype=[
            ("group", "<i8"), ("list", "<i8"), ("records", "<i4"), ("addresses", "<i4")])
        self.assertEqual(len(table), CLUSTERS)
        ends = table["group"] + table["records"] * (DIMENSION + 4)  # bytes and an id
        np.testing.assert_array_equal(table["group"] % 4096, 0)
        blocks = -(-ends // block) - table["group"] // block
        self.assertEqual(row["io_reads_per_query"], CLUSTERS)
        self.assertEqual(row["io_bytes_per_query"], int(blocks.sum()) * block)

    def test_near_strays_share_a_read(self):
        index = self.cluster_index("grouped")
        apart, near = (self.check_disk_facts(
            self.sweep(index, *PROBE, "--slots", 2, "--tier", "ssd", "--merge-gap", gap))[0]
            for gap in (0, 1 << 30))
        self.assertLess(near["io_reads_per_query"], apart["io_reads_per_query"])
        self.assertEqual(near["recall"], apart["recall"])

    def test_a_budget_below_the_minimum_names_it(self):
        index = self.cluster_index("coupled")
        one = ("--tier", "ssd", "--slots", 2, "--threads", 1, *PROBE)
        (row,) = self.sweep(index, *one)
        self.must_refuse(self.try_search(index, *one[1:], "--memory-budget",
                                         row["memory_bytes"] - 1),
                         f"{row['memory_bytes']} are needed", "centroids", "--slots")


class DiskDaemon(DaemonTest, DiskTest):
    def answers(self, address, *options):
        out = self.folder / "daemon.ibin"
        end = time.monotonic() + TIMEOUT_S
        while True:
            result = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                            "--out", out, *options)
            if result.returncode == 0 or time.monotonic() > end:
                break
            time.sleep(0.1)
        self.must_pass(result)
        return read_neighbours(out)

    def test_a_compute_node_searches_from_disk(self):
        for index, options in ((self.cluster_index("coupled"), PROBE), (self.graph(), GRAPH)):
            address = f"unix:{self.folder / index.name}.socket"
            self.start("farvec-compute-node", "--index", index, "--tier", "ssd", "--listen",
                       address, "--threads", 2)
            for here, there in zip(self.answers(address, *options),
                                   self.search(index, "dram", *options)):
                np.testing.assert_array_equal(here, there)


if __name__ == "__main__":
    unittest.main()
