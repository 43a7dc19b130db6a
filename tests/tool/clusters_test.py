"""Cluster indexes: built, inspected, searched, regrouped, served, placed, and refused."""
import json
import math
import subprocess
import time
import unittest

import numpy as np

from farvec_tool import (BIN, TIMEOUT_S, DaemonTest, ToolTest, farvec, read_neighbours,
                         write_vectors)

LAYOUTS = ("coupled", "decoupled", "grouped", "grouped-inline", "coded")
# Whatever a coded index reads at most: its answers are then those of the others.
ALL_VECTORS = ("--list", 1500)
COUNT, QUERIES, DIMENSION, K, PROBE = 1500, 25, 24, 10, 6


class ClusterTest(ToolTest):
    """Vectors around 40 centres, and queries from the same."""

    def setUp(self):
        super().setUp()
        centres = self.rows(40, DIMENSION).astype(np.int32)
        def around(count):
            noise = self.random.integers(-30, 30, (count, DIMENSION))
            picks = self.random.integers(0, len(centres), count)
            return np.clip(centres[picks] + noise, 0, 255).astype(np.uint8)
        self.base = write_vectors(self.folder / "base", around(COUNT))
        self.queries = write_vectors(self.folder / "queries", around(QUERIES))

    def cluster(self, *options, data=None, out="clusters"):
        return farvec("build", "cluster", "--data", data or self.base, "--metric", "l2", "--quiet",
                      "--out", self.folder / out, *options)

    def cluster_all(self, *options):
        self.must_pass(self.cluster("--clusters", 30, "--replicas", 5, "--layout", "all", *options))
        return self.folder / "clusters"

    def all_vectors(self, layout):
        return ALL_VECTORS if layout == "coded" else ()

    def search(self, *options):
        out = self.folder / "found.ibin"
        report = self.must_pass(farvec("search", "--queries", self.queries, "--k", K, "--json",
                                       "--out", out, *options))
        return json.loads(report.stdout), read_neighbours(out)

    def groundtruth(self):
        truth = self.folder / "truth.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                              self.queries, "--metric", "l2", "--k", K, "--out", truth))
        return truth

    def sweep(self, index, truth, *options):
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", index, "--queries", self.queries,
                              "--groundtruth", truth, "--k", K, "--passes", 1, "--pass-ms", 1,
                              "--slots", 3, "--json", out, "--overwrite", *options))
        return [json.loads(line) for line in out.read_text().splitlines()]


class Clusters(ClusterTest):
    def test_all_layouts_give_the_same_answers(self):
        indexes = self.cluster_all()
        reference = None
        for layout in LAYOUTS:
            for tier in ("dram", "shm", "emulated:rdma", "emulated:cxl"):
                report, found = self.search("--index", indexes / layout, "--probe", PROBE,
                                            "--tier", tier, *self.all_vectors(layout))
                self.assertEqual(report["incomplete"], 0)
                reference = reference or found
                np.testing.assert_array_equal(found[0], reference[0])
                np.testing.assert_array_equal(found[1], reference[1])

    def test_all_clusters_are_all_vectors(self):
        indexes = self.cluster_all()
        truth = read_neighbours(self.groundtruth())
        for layout in LAYOUTS:
            _, found = self.search("--index", indexes / layout, "--probe", 30,
                                   *self.all_vectors(layout))
            np.testing.assert_array_equal(found[1], truth[1])

    def test_a_sweep_tells_what_was_read(self):
        indexes = self.cluster_all()
        truth = self.groundtruth()
        rows = {layout: self.sweep(indexes / layout, truth, "--probe", "2,6", "--dedup", "on,off",
                                   "--tier", "dram,emulated:rdma", *self.all_vectors(layout))
                for layout in LAYOUTS}
        for layout, table in rows.items():
            self.assertEqual(len(table), 8)
            for row in table:
                self.assertEqual(row["layout"], layout)
                self.assertEqual(row["clusters_probed"], row["probe"])
                # So few are all compared.
                self.assertEqual(row["centroid_distances_per_query"], row["clusters"])
                reads = (row["group_reads_per_query"] + row["list_reads_per_query"] +
                         row["stray_reads_per_query"])
                self.assertAlmostEqual(reads, row["reads_per_query"], places=6)
            self.assertEqual([row["recall"] for row in table],
                             [row["recall"] for row in rows["coupled"]])
        by = {(layout, row["probe"], row["dedup"], row["tier"]): row
              for layout, table in rows.items() for row in table}
        tier = "emulated:rdma"
        self.assertEqual(by["coupled", 6, True, tier]["stray_reads_per_query"], 0)
        self.assertEqual(by["decoupled", 6, False, tier]["group_reads_per_query"], 0)
        self.assertLess(by["grouped", 6, True, tier]["reads_per_query"],
                        0.6 * by["decoupled", 6, False, tier]["reads_per_query"])
        self.assertEqual(by["grouped-inline", 6, True, tier]["list_reads_per_query"], 0)
        self.assertLess(by["grouped", 6, True, tier]["amplification"], 1.6)
        self.assertGreater(by["coupled", 6, True, tier]["amplification"], 2.0)

    def test_codes_choose_the_vectors_that_are_read(self):
        self.cluster_all("--code-bits", 1)
        one = self.folder / "clusters" / "coded"
        counts = self.folder / "probes.json"
        self.search("--index", one, "--probe", PROBE, "--probe-counts", counts)
        four = self.folder / "four"
        self.must_pass(farvec("regroup", "--index", one, "--frequencies", counts, "--code-bits", 4,
                              "--quiet", "--out", four))
        truth = self.groundtruth()
        rows = {bits: self.sweep(index, truth, "--probe", 30, "--list", "20,100", "--tier",
                                 "dram,emulated:rdma")
                for bits, index in ((1, one), (4, four))}
        for bits, table in rows.items():
            self.assertEqual(len(table), 4)
            for row in table:
                self.assertEqual(row["code_bits"], bits)
                # What was estimated in two clusters may have taken two places.
                self.assertLessEqual(row["distances_per_query"], row["list"])
                self.assertGreater(row["distances_per_query"], 0.9 * row["list"])
                self.assertLessEqual(row["stray_reads_per_query"], row["list"])
                self.assertGreater(row["estimates_per_query"], COUNT - 1)
                self.assertEqual(row["group_reads_per_query"], 0)
            self.assertGreater(table[-1]["recall"], table[0]["recall"] - 1e-9)
        self.assertGreater(rows[4][0]["recall"], rows[1][0]["recall"])
        self.assertGreater(rows[4][0]["bytes_per_query"], rows[1][0]["bytes_per_query"])

    def test_options_of_codes_are_refused_without_them(self):
        self.must_refuse(self.cluster("--clusters", 5, "--code-bits", 2), "--code-bits", "coded")
        self.must_refuse(self.cluster("--clusters", 5, "--code-bits", 5, "--layout", "coded"),
                         "--code-bits")
        self.must_pass(self.cluster("--clusters", 5))
        self.must_refuse(farvec("search", "--index", self.folder / "clusters", "--queries",
                                self.queries, "--list", 20), "--list", "coded")

    def test_inspect_adds_up(self):
        indexes = self.cluster_all()
        for layout in LAYOUTS:
            facts = json.loads(self.must_pass(
                farvec("inspect", indexes / layout, "--json", "--verify")).stdout)
            replication = facts["cluster"]["replication"]
            self.assertEqual(sum(replication), COUNT)
            members = sum((i + 1) * n for i, n in enumerate(replication))
            self.assertEqual(members, facts["cluster"]["members"])
            self.assertAlmostEqual(facts["clusters_per_vector"], members / COUNT)
            self.assertIn("strays", self.must_pass(farvec("inspect", indexes / layout)).stdout)

    def test_regrouping_keeps_the_answers_and_saves_requests(self):
        indexes = self.cluster_all()
        counts = self.folder / "probes.json"
        _, before = self.search("--index", indexes / "grouped", "--probe", PROBE,
                                "--probe-counts", counts)
        report = self.must_pass(farvec("regroup", "--index", indexes / "coupled", "--frequencies",
                                       counts, "--layout", "grouped", "--quiet", "--json", "--out",
                                       self.folder / "regrouped"))
        facts = json.loads(report.stdout)
        self.assertLessEqual(facts["requests_after"], facts["requests_before"])
        _, after = self.search("--index", self.folder / "regrouped", "--probe", PROBE)
        np.testing.assert_array_equal(before[0], after[0])
        self.must_pass(farvec("inspect", self.folder / "regrouped", "--verify"))

    def test_the_same_seed_gives_the_same_bytes(self):
        self.must_pass(self.cluster("--clusters", 20, "--threads", 1, out="one"))
        self.must_pass(self.cluster("--clusters", 20, "--threads", 2, out="two"))
        for name in ("records.grouped", "centroids.bin", "clusters.bin"):
            self.assertEqual((self.folder / "one" / name).read_bytes(),
                             (self.folder / "two" / name).read_bytes(), name)

    def test_vectors_may_stay_in_their_file(self):
        self.must_pass(self.cluster("--clusters", 20, out="loaded"))
        self.must_pass(self.cluster("--clusters", 20, "--map", out="mapped"))
        for name in ("records.grouped", "centroids.bin", "clusters.bin"):
            self.assertEqual((self.folder / "loaded" / name).read_bytes(),
                             (self.folder / "mapped" / name).read_bytes(), name)
        rows = self.rows(50, DIMENSION, np.float32)
        rows[7, 3] = np.nan
        bad = write_vectors(self.folder / "bad", rows)
        self.must_refuse(self.cluster("--clusters", 5, "--map", data=bad), "row 7")
        self.must_refuse(farvec("build", "cluster", "--data", self.base, "--metric", "cosine",
                                "--clusters", 5, "--map", "--out", self.folder / "no"), "cosine")

    def test_fewer_than_k_are_told(self):
        few = write_vectors(self.folder / "few", self.rows(7, DIMENSION))
        self.must_pass(self.cluster("--clusters", 3, data=few))
        result = farvec("search", "--index", self.folder / "clusters", "--queries", self.queries,
                        "--k", 10, "--probe", 3)
        self.must_refuse(result, "--k")

    def test_heads_and_closures(self):
        truth = self.groundtruth()
        copies = {}
        for heads in ("means", "vectors"):
            for closure in ("fitted", "spann", "sptag"):
                out = f"{heads}-{closure}"
                report = self.must_pass(self.cluster("--head-ratio", 0.05, "--heads", heads,
                                                     "--closure", closure, "--json", out=out))
                facts = json.loads(report.stdout)
                self.assertEqual(facts["clusters"], math.ceil(0.05 * COUNT))
                copies[out] = facts["clusters_per_vector"]
                manifest = json.loads((self.folder / out / "manifest.json").read_text())
                self.assertEqual((manifest["build"]["heads"], manifest["build"]["closure"]),
                                 (heads, closure))
                inspected = self.must_pass(farvec("inspect", self.folder / out))
                self.assertIn(f"heads {heads}", inspected.stdout)
                rows = self.sweep(self.folder / out, truth, "--probe", facts["clusters"])
                self.assertEqual(rows[0]["recall"], 1)
        # The candidate before is one of many that may cover.
        self.assertGreaterEqual(copies["vectors-spann"], copies["vectors-sptag"])

    def test_a_number_of_clusters_need_not_be_said(self):
        facts = json.loads(self.must_pass(self.cluster("--json")).stdout)
        self.assertEqual(facts["clusters"], math.ceil(0.16 * COUNT))
        self.must_pass(self.cluster("--clusters", 30, out="few"))
        for index, words in (("clusters", ("vectors", "sptag")), ("few", ("means", "fitted"))):
            manifest = json.loads((self.folder / index / "manifest.json").read_text())
            self.assertEqual((manifest["build"]["heads"], manifest["build"]["closure"]), words)

    def test_a_sample_of_queries(self):
        """Grouping by what the queries probe is the same in one step and in three."""
        grouping = ("--clusters", 30, "--replicas", 5, "--layout", "grouped")
        self.must_pass(self.cluster(*grouping, "--sample-queries", self.queries, "--sample-probe",
                                    PROBE, out="sampled"))
        self.must_pass(self.cluster(*grouping, out="plain"))
        counts = self.folder / "probes.json"
        self.search("--index", self.folder / "plain", "--probe", PROBE, "--probe-counts", counts)
        self.must_pass(farvec("regroup", "--index", self.folder / "plain", "--frequencies", counts,
                              "--out", self.folder / "regrouped", "--quiet"))
        truth = self.groundtruth()
        plain, sampled, regrouped = (
            self.sweep(self.folder / index, truth, "--probe", PROBE, "--dedup", "off")[0]
            for index in ("plain", "sampled", "regrouped"))
        self.assertLess(sampled["stray_reads_per_query"], plain["stray_reads_per_query"])
        self.assertEqual(sampled["stray_reads_per_query"], regrouped["stray_reads_per_query"])
        self.assertEqual(sampled["recall"], plain["recall"])

    def test_centroids_are_counted(self):
        rows = self.sweep(self.cluster_all() / "grouped", self.groundtruth(), "--probe", PROBE)
        self.assertEqual(rows[0]["centroid_distances_per_query"], 30)  # few: all are compared
        self.assertEqual(rows[0]["estimates_per_query"], 0)

    def test_heads_that_are_vectors_give_the_same_answers_in_all_layouts(self):
        indexes = self.cluster_all("--heads", "vectors", "--closure", "sptag")
        _, expected = self.search("--index", indexes / "decoupled", "--probe", 30)
        for layout in LAYOUTS:
            _, found = self.search("--index", indexes / layout, "--probe", 30,
                                   *(("--list", COUNT) if layout == "coded" else ()))
            np.testing.assert_array_equal(found[1], expected[1])

    def test_equal_vectors(self):
        same = write_vectors(self.folder / "same", np.full((300, DIMENSION), 9, np.uint8))
        self.must_pass(self.cluster("--clusters", 5, "--layout", "all", data=same))
        for layout in LAYOUTS:
            _, found = self.search("--index", self.folder / "clusters" / layout, "--probe", 1)
            for ids in found[0]:
                self.assertEqual(len(set(ids)), K)

    def test_metrics_and_types(self):
        rows = write_vectors(self.folder / "floats", self.rows(600, DIMENSION, np.float32))
        for metric in ("ip", "cosine"):
            out = f"clusters-{metric}"
            self.must_pass(farvec("build", "cluster", "--data", rows, "--metric", metric,
                                  "--cluster-bytes", 2000, "--quiet", "--out", self.folder / out))
            truth = self.folder / f"{metric}.ibin"
            self.must_pass(farvec("dataset", "groundtruth", "--data", rows, "--queries", rows,
                                  "--metric", metric, "--k", K, "--out", truth))
            result = self.must_pass(farvec("search", "--index", self.folder / out, "--queries",
                                           rows, "--k", K, "--probe", 30, "--json",
                                           "--groundtruth", truth))
            self.assertGreater(json.loads(result.stdout)["recall"], 0.99)


class Refusals(ClusterTest):
    def test_builds_that_make_no_sense(self):
        cases = ((("--clusters", 5, "--cluster-bytes", 100), "one of --clusters, "),
                 (("--head-ratio", 0.1, "--cluster-bytes", 100), "one of --clusters, "),
                 (("--head-ratio", 1.5), "head ratio 1.5"),
                 (("--head-ratio", -0.5), "head ratio -0.5"),
                 (("--clusters", 5, "--heads", "medoids"), "means or vectors"),
                 (("--clusters", 5, "--closure", "open"), "fitted, spann or sptag"),
                 (("--clusters", 5, "--rng-factor", -1), "neighbourhood factor -1"),
                 (("--clusters", 5, "--sample-queries", "nowhere.u8bin"), "nowhere.u8bin"),
                 (("--clusters", 5, "--sample-queries", self.queries, "--sample-probe", 0),
                  "at least one cluster"),
                 (("--clusters", COUNT + 1), "clusters"),
                 (("--clusters", 5, "--replicas", 9), "replicas"),
                 (("--clusters", 5, "--replicas", 0), "replicas"),
                 (("--clusters", 5, "--layout", "spiral"), "spiral"),
                 (("--clusters", 5, "--balance", 0.5), "balance"))
        for options, word in cases:
            self.must_refuse(self.cluster(*options), word)
            self.assertFalse((self.folder / "clusters").exists(), options)

    def test_counts_of_other_clusters(self):
        indexes = self.cluster_all()
        counts = self.folder / "probes.json"
        self.search("--index", indexes / "grouped", "--probe", PROBE, "--probe-counts", counts)
        self.must_pass(self.cluster("--clusters", 31, out="other"))
        regroup = ("regroup", "--out", self.folder / "new", "--quiet", "--index")
        self.must_refuse(farvec(*regroup, self.folder / "other", "--frequencies", counts),
                         "other clusters")
        counts.write_text("{}")
        self.must_refuse(farvec(*regroup, indexes / "grouped", "--frequencies", counts), "format")
        counts.write_text("nonsense")
        self.must_refuse(farvec(*regroup, indexes / "grouped", "--frequencies", counts), "JSON")
        self.assertFalse((self.folder / "new").exists())

    def test_damaged_regions(self):
        self.must_pass(self.cluster("--clusters", 20))
        for name in ("records.grouped", "centroids.bin", "clusters.bin"):
            path = self.folder / "clusters" / name
            good = path.read_bytes()
            path.write_bytes(good[:4200] + bytes([good[4200] ^ 1]) + good[4201:])
            result = farvec("search", "--index", self.folder / "clusters", "--queries",
                            self.queries, "--probe", 4)
            self.must_refuse(result, name, "damaged")
            path.write_bytes(good[:-1])
            self.must_refuse(farvec("inspect", self.folder / "clusters"), name)
            path.write_bytes(good)


class Served(ClusterTest, DaemonTest):
    def wait_for(self, address):
        end = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return self.search("--connect", address, "--probe", PROBE)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def serve(self, index, tier, nodes=1, options=()):
        addresses = ",".join(f"unix:{self.folder}/m{node}" for node in range(nodes))
        fabric = ("--fabric", "tcp:127.0.0.1") if tier.startswith("fabric") else ()
        for node in range(nodes):
            number = ("--node", node) if nodes > 1 else ()
            self.start("farvec-memory-node", "--index", index, "--quiet", "--listen",
                       f"unix:{self.folder}/m{node}", *number, *fabric)
        self.start("farvec-compute-node", "--memory-node", addresses, "--listen",
                   f"unix:{self.folder}/c", "--tier", tier, *options)
        return f"unix:{self.folder}/c"

    def test_answers_through_a_memory_node_are_those_of_the_directory(self):
        indexes = self.cluster_all()
        for layout, tier in (("grouped", "shm"), ("grouped-inline", "fabric:tcp"),
                             ("coupled", "emulated:rdma"), ("decoupled", "fabric:tcp"),
                             ("coded", "fabric:tcp"), ("coded", "shm")):
            _, expected = self.search("--index", indexes / layout, "--probe", PROBE)
            address = self.serve(indexes / layout, tier)
            _, found = self.wait_for(address)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
            self.must_refuse(farvec("search", "--connect", address, "--queries", self.queries,
                                    "--k", K, "--probe", 5000), "probe")
            self.processes.close()

    def test_probes_of_live_nodes_feed_regroup(self):
        indexes = self.cluster_all()
        here, out = self.folder / "here.json", self.folder / "probes.json"
        self.search("--index", indexes / "grouped", "--probe", PROBE, "--probe-counts", here)
        expected = json.loads(here.read_text())
        address = self.serve(indexes / "grouped", "shm")
        searches = 0
        for wanted in (1, 3):  # the counts grow
            while searches < wanted:
                self.wait_for(address) if searches == 0 else self.search(
                    "--connect", address, "--probe", PROBE)
                searches += 1
            report = self.must_pass(farvec("probe-counts", "--connect", address, "--out", out,
                                           "--json"))
            found = json.loads(out.read_text())
            self.assertEqual(found["counts"], [wanted * n for n in expected["counts"]])
            self.assertEqual(json.loads(report.stdout)["probes"], wanted * PROBE * QUERIES)
        self.assertEqual({**found, "counts": 0}, {**expected, "counts": 0})
        self.must_pass(farvec("regroup", "--index", indexes / "grouped", "--frequencies", out,
                              "--quiet", "--out", self.folder / "regrouped"))
        _, answers = self.search("--index", self.folder / "regrouped", "--probe", PROBE)
        _, before = self.search("--index", indexes / "grouped", "--probe", PROBE)
        np.testing.assert_array_equal(answers[0], before[0])

    def await_regrouped(self, address, index, number):
        """Searches until the node has gone over to the index's regrouping of that number."""
        end = time.monotonic() + TIMEOUT_S
        made = index.with_name(f"{index.name}.regrouped-{number}")
        while json.loads(self.must_pass(farvec("status", address, "--json")).stdout)[
                "switches"] < number:
            self.assertLess(time.monotonic(), end, f"{made} is not served")
            self.search("--connect", address, "--probe", PROBE)
        return made

    def requests(self, index):
        """Of one pass over the queries, by the probes of this process."""
        counts, again = self.folder / "counts.json", self.folder / "again"
        self.search("--index", index, "--probe", PROBE, "--probe-counts", counts)
        report = self.must_pass(farvec("regroup", "--index", index, "--frequencies", counts,
                                       "--overwrite", "--quiet", "--json", "--out", again))
        return json.loads(report.stdout)["requests_before"]

    def test_a_node_groups_by_its_probes_itself(self):
        index = self.cluster_all() / "grouped"
        address = self.serve(index, "fabric:tcp", options=(
            "--regroup", index, "--regroup-gain", 0.02, "--regroup-seconds", 0.1))
        _, answers = self.wait_for(address)
        made = self.await_regrouped(address, index, 1)
        self.must_pass(farvec("inspect", made, "--verify"))
        _, found = self.search("--connect", address, "--probe", PROBE)
        np.testing.assert_array_equal(found[0], answers[0])
        self.assertLess(self.requests(made), self.requests(index))
        # What is asked for changes, and comes back.
        kept = self.queries
        for number in (2, 3):
            self.queries = write_vectors(self.folder / f"queries{number}", np.repeat(
                self.rows(1, DIMENSION), QUERIES, axis=0)) if number == 2 else kept
            self.await_regrouped(address, index, number)
        left = sorted(path.name for path in index.parent.glob("grouped.regrouped-*"))
        self.assertEqual(left, ["grouped.regrouped-2", "grouped.regrouped-3"])

    def test_what_cannot_be_regrouped_is_said(self):
        index = self.cluster_all() / "grouped"

        def refused(*options, words):
            self.must_refuse(subprocess.run(
                [str(BIN / "farvec-compute-node"), "--listen", f"unix:{self.folder}/no",
                 *map(str, options)], capture_output=True, text=True, timeout=TIMEOUT_S,
                check=False), *words)

        refused("--index", index, "--regroup", index, words=("--regroup", "--memory-node"))
        refused("--memory-node", "unix:/no", "--regroup-gain", 0.3, words=("--regroup-gain",))
        refused("--memory-node", "unix:/a,unix:/b", "--regroup", index, words=("farvec place",))
        self.must_pass(self.build(self.base))
        refused("--memory-node", "unix:/no", "--regroup", self.folder / "index",
                words=("clusters", "graph"))

    def test_probes_of_several_nodes_are_added_up(self):
        indexes = self.cluster_all()
        self.must_pass(self.cluster("--clusters", 20, out="other"))
        first, second, other = (f"unix:{self.folder}/c{number}" for number in range(3))
        for address, index in ((first, indexes / "grouped"), (second, indexes / "coupled"),
                               (other, self.folder / "other")):
            self.start("farvec-compute-node", "--index", index, "--listen", address)
            self.wait_for(address)
        out = self.folder / "probes.json"
        report = self.must_pass(farvec("probe-counts", "--connect", f"{first},{second}", "--out",
                                       out, "--json"))
        self.assertEqual(json.loads(report.stdout)["compute_nodes"], 2)
        self.assertEqual(sum(json.loads(out.read_text())["counts"]), 2 * PROBE * QUERIES)
        out.unlink()
        self.must_refuse(farvec("probe-counts", "--connect", f"{first},{other}", "--out", out),
                         "other clusters", other)
        self.assertFalse(out.exists())

    def test_a_graph_has_no_probes(self):
        self.must_pass(self.build(self.base))
        address = f"unix:{self.folder}/graph"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen", address)
        self.wait_for(address)
        self.must_refuse(farvec("probe-counts", "--connect", address, "--out",
                                self.folder / "no.json"), "serves a graph")
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries",
                                self.queries, "--probe-counts", self.folder / "no.json"), "graph")

    def test_answers_from_several_memory_nodes(self):
        indexes = self.cluster_all()
        for layout in ("grouped", "coupled", "coded"):
            _, expected = self.search("--index", indexes / layout, "--probe", PROBE)
            self.must_pass(farvec("place", "--index", indexes / layout, "--nodes", 3, "--replicas",
                                  2, "--extent-bytes", 16384))
            address = self.serve(indexes / layout, "fabric:tcp", nodes=3)
            _, found = self.wait_for(address)
            np.testing.assert_array_equal(found[0], expected[0])
            self.processes.close()


if __name__ == "__main__":
    unittest.main()
