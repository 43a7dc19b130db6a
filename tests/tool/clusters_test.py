"""Cluster indexes: built, inspected, searched, regrouped, and refused."""
import json
import math
import unittest

import numpy as np

from cluster_fixture import COUNT, DIMENSION, LAYOUTS, PROBE, ClusterTest, K
from farvec_tool import farvec, read_neighbours, write_vectors


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
        for heads in ("means", "vectors", "rounded"):
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
                 (("--clusters", 5, "--heads", "medoids"), "means, vectors or rounded"),
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


if __name__ == "__main__":
    unittest.main()
