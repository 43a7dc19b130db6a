"""Indexes in slotted pages: built, inspected, refused where nothing reads them."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, read_neighbours, write_vectors

REFUSAL = "layout slotted is searched with --tier ssd"


class Slotted(ToolTest):
    def build_slotted(self, data, *options, out="index", **process_options):
        return self.build(data, "--layout", "slotted", *options, out=out, **process_options)

    def inspect(self, out="index"):
        return json.loads(self.must_pass(
            farvec("inspect", self.folder / out, "--json", "--verify")).stdout)

    def data(self, count=2000, dimension=24, dtype=np.float32):
        return write_vectors(self.folder / "base", self.rows(count, dimension, dtype))

    def test_every_placement_holds_everything(self):
        data = self.data()
        for placement in ("affinity", "bnf", "id"):
            self.must_pass(self.build_slotted(data, "--placement", placement, out=placement))
            facts = self.inspect(placement)
            pages = facts["slotted"]
            self.assertTrue(facts["verified"])
            self.assertEqual(facts["graph"]["slotted"]["placement"], placement)
            self.assertEqual(pages["pages"] * 4096, sum(
                pages[name] for name in ("header_bytes", "slot_bytes", "payload_bytes",
                                         "neighbor_bytes", "free_bytes")))
            self.assertGreater(pages["page_utilisation"], 0.9)
            self.assertEqual(facts["layouts"]["slotted"]["records_bytes"],
                             4096 + 4096 * pages["pages"])
            self.assertIn("records_bytes", facts["layouts"]["padded"])

    def test_the_same_bytes_for_any_number_of_threads(self):
        data = self.data()
        for placement in ("affinity", "bnf"):
            folders = []
            for threads in (1, 3):
                out = f"{placement}{threads}"
                self.must_pass(self.build_slotted(data, "--placement", placement, "--threads",
                                                  threads, "--payload", "code", out=out))
                folders.append(self.folder / out)
            for name in ("records.slotted", "codes.bin", "pages.bin", "entries.bin",
                         "vectors.bin"):
                self.assertEqual(*((folder / name).read_bytes() for folder in folders), name)

    def test_payloads_page_sizes_and_metrics(self):
        data = self.data(500, 24, np.uint8)
        for options in (("--payload", "vector", "--code-bits", 8), ("--payload", "code", "--bits", 1),
                        ("--payload", "code", "--bits", 7, "--rerank", "off"),
                        ("--page-bytes", 16384), ("--entry-vertices", 1),
                        ("--entry-vertices", 1000)):
            self.must_pass(self.build_slotted(data, *options, "--overwrite"))
            self.inspect()
        for metric in ("ip", "cosine"):
            self.must_pass(self.build_slotted(data, "--overwrite", metric=metric))
            self.inspect()

    def test_warns_of_codes_that_lead_astray(self):
        options = ("--overwrite", "--payload", "code")
        few = self.must_pass(self.build_slotted(self.data(100, 24), *options))
        self.assertIn("1-bit codes of 24 dimensions", few.stderr)
        many = self.must_pass(self.build_slotted(self.data(100, 400), *options))
        self.assertNotIn("1-bit codes", many.stderr)

    def test_few_vectors(self):
        for count in (1, 2, 3):
            data = self.data(count)
            self.must_pass(self.build_slotted(data, "--overwrite", "--payload", "code"))
            self.assertEqual(self.inspect()["slotted"]["pages"], 1)
            out = self.folder / f"{count}.ibin"
            self.must_pass(self.search(data, "--k", count, "--rerank", 40, "--out", out))
            found, distances = read_neighbours(out)
            self.assertEqual(found[:, 0].tolist(), list(range(count)))
            self.assertEqual(distances[:, 0].tolist(), [0] * count)

    def test_people_read_it_too(self):
        self.must_pass(self.build_slotted(self.data()))
        text = self.must_pass(farvec("inspect", self.folder / "index")).stdout
        for word in ("fragmentation", "records per page", "affine pairs share a page", "OR(G)",
                     "neighbours", "slotted (this)"):
            self.assertIn(word, text)

    def test_large_records_name_the_page_size_that_would_do(self):
        data = self.data(20, 4096, np.uint8)
        self.must_refuse_build(data, "does not fit pages of 4096: use --page-bytes 8192",
                               options=("--layout", "slotted", "--payload", "vector"))
        self.must_pass(self.build_slotted(data, "--payload", "vector", "--page-bytes", 8192))
        self.inspect()

    def test_refuses_options_that_make_no_sense(self):
        data = self.data(50)
        for options, word in ((("--payload", "code", "--bits", 0), "1 to 7"),
                              (("--payload", "code", "--bits", 8), "1 to 7"),
                              (("--page-bytes", 5000), "4096, 8192 or 16384"),
                              (("--placement", "best"), "affinity, bnf or id"),
                              (("--payload", "words"), "code or vector"),
                              (("--payload", "code", "--rerank", "maybe"), "on, off or auto"),
                              (("--entry-vertices", 2000000), "1 to 1048576"),
                              (("--record-checksum",), "checksum of its own")):
            self.must_refuse_build(data, word, options=("--layout", "slotted", *options))
        self.must_refuse_build(data, "csr, packed, inline, padded or slotted", options=("--layout", "heap"))

    def test_nothing_else_reads_it(self):
        data = self.data(100)
        self.must_pass(self.build_slotted(data))
        index, queries = self.folder / "index", data
        truth = self.folder / "gt.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", data, "--queries", queries,
                              "--metric", "l2", "--k", 10, "--out", truth))
        self.must_refuse(farvec("search", "--index", index, "--queries", queries, "--k", 10),
                         REFUSAL)
        self.must_refuse(farvec("sweep", "--index", index, "--queries", queries, "--groundtruth",
                                truth, "--k", 10, "--list", 20, "--tier", "dram"), REFUSAL)
        self.must_refuse(farvec("place", "--index", index, "--nodes", 2), REFUSAL)

    def queries_and_truth(self, data, dtype=np.float32, metric="l2"):
        truth = self.folder / f"{metric}-{np.dtype(dtype).name}.ibin"
        queries = write_vectors(self.folder / "queries", self.rows(60, 24, dtype))
        self.must_pass(farvec("dataset", "groundtruth", "--data", data, "--queries", queries,
                              "--metric", metric, "--k", 10, "--out", truth))
        return queries, truth

    def search(self, queries, *options, index="index"):
        return farvec("search", "--index", self.folder / index, "--queries", queries, "--tier",
                      "ssd", "--slots", 4, *options)

    def test_recall_does_not_believe_the_distances_of_codes(self):
        data = self.data()
        self.must_pass(self.build_slotted(data, "--payload", "code", "--bits", 1, "--rerank", "off"))
        queries, truth = self.queries_and_truth(data)
        out = self.folder / "found.ibin"
        report = json.loads(self.must_pass(farvec(
            "search", "--index", self.folder / "index", "--queries", queries, "--groundtruth",
            truth, "--tier", "ssd", "--slots", 1, "--out", out, "--json")).stdout)
        found, distances = read_neighbours(out)
        true, true_distances = read_neighbours(truth)
        shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), true.tolist())]
        self.assertAlmostEqual(report["recall"], sum(shared) / found.size, 6)
        nearer = (distances <= true_distances[:, -1:]).sum()
        self.assertNotEqual(nearer, sum(shared), "estimates would tell another recall")

    def test_ranking_again_finds_what_codes_mix_up(self):
        data = self.data()
        self.must_pass(self.build_slotted(data, "--payload", "code", "--bits", 1))
        queries, truth = self.queries_and_truth(data)
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", self.folder / "index", "--queries", queries,
                              "--groundtruth", truth, "--tier", "ssd", "--slots", 1, "--pool",
                              "none", "--list", 100, "--rerank", "0,10,50", "--passes", 1,
                              "--json", out))
        none, k, more = (json.loads(line) for line in out.read_text().splitlines())
        self.assertEqual([line["rerank"] for line in (none, k, more)], [0, 10, 50])
        self.assertEqual(none["rerank_reads_per_query"], 0)
        self.assertAlmostEqual(k["recall"], none["recall"], 6)
        self.assertGreater(more["recall"], none["recall"] + 0.1)
        for line in (k, more):
            self.assertGreater(line["rerank_reads_per_query"], 1)
            self.assertLessEqual(line["rerank_reads_per_query"], line["rerank"])
            self.assertAlmostEqual(line["io_reads_per_query"], none["io_reads_per_query"] +
                                   line["rerank_reads_per_query"], 6)
            self.assertGreaterEqual(line["io_bytes_per_query"], none["io_bytes_per_query"] +
                                    512 * line["rerank_reads_per_query"])
            self.assertGreater(line["memory_bytes"], none["memory_bytes"])

    def test_ranking_again_gives_true_distances(self):
        for metric, dtype in (("l2", np.uint8), ("ip", np.float32), ("cosine", np.float32),
                              ("cosine", np.int8)):
            data = self.data(1000, 24, dtype)
            self.must_pass(self.build_slotted(data, "--payload", "code", "--bits", 2, "--overwrite",
                                              metric=metric))
            queries, truth = self.queries_and_truth(data, dtype, metric)
            out = self.folder / "found.ibin"
            self.must_pass(self.search(queries, "--list", 200, "--rerank", 200, "--out", out))
            found, distances = read_neighbours(out)
            true, true_distances = read_neighbours(truth)
            same = found == true
            self.assertGreater(same.mean(), 0.3, metric)  # a small graph for inner products
            np.testing.assert_allclose(distances[same], true_distances[same], rtol=1e-2, atol=1e-3)
            self.assertTrue((np.diff(distances) >= 0).all())

    def test_refuses_to_rank_again_what_it_cannot(self):
        data = self.data(500)
        for out, options in (("codes", ("--payload", "code", "--rerank", "off")),
                             ("vectors", ("--payload", "vector")),
                             ("index", ("--payload", "code"))):
            self.must_pass(self.build_slotted(data, *options, out=out))
        self.must_pass(self.build(data, "--layout", "padded", out="padded"))
        for index, options, words in (
                ("codes", ("--rerank", 20), ("no vectors", "--rerank on")),
                ("vectors", ("--rerank", 20), ("ranked already",)),
                ("padded", ("--rerank", 20), ("--layout slotted", "padded")),
                ("index", ("--rerank", 9), ("use 10 (--k) to 40 (--list)",)),
                ("index", ("--rerank", 41), ("use 10 (--k) to 40 (--list)",)),
                ("index", ("--rerank", "many"), ("--rerank", "many")),
                ("index", ("--rerank", "10,20"), ("farvec sweep",)),
                ("index", ("--rerank", 20, "--memory-budget", 1000), ("too small",))):
            self.must_refuse(self.search(data, "--list", 40, *options, index=index), *words)
        (self.folder / "index" / "vectors.bin").unlink()
        self.must_refuse(self.search(data, "--list", 40, "--rerank", 20), "vectors.bin")

    def test_a_pool_has_not_seen_what_a_sweep_measures(self):
        data = self.data()
        self.must_pass(self.build_slotted(data))
        queries, truth = self.queries_and_truth(data)
        out = self.folder / "sweep.jsonl"

        def sweep(*options):
            self.must_pass(farvec("sweep", "--index", self.folder / "index", "--queries", queries,
                                  "--groundtruth", truth, "--tier", "ssd", "--slots", 1,
                                  "--list", 20, "--page-search", "off", "--json", out, "--overwrite",
                                  *options))
            return json.loads(out.read_text())

        cold = sweep("--queries-range", ":60", "--passes", 1)
        self.assertEqual(cold["warm_queries"], 0)
        self.assertGreater(cold["io_reads_per_query"], 0)
        warm = sweep("--queries-range", "20:30", "--passes", 1)
        self.assertEqual(warm["warm_queries"], 50)
        self.assertLess(warm["io_reads_per_query"], cold["io_reads_per_query"])
        again = sweep("--queries-range", "20:30", "--passes", 3)
        for name in ("io_reads_per_query", "pool_hit_rate", "recall", "warm_queries"):
            self.assertEqual(again[name], warm[name])

    def test_verify_finds_a_changed_byte(self):
        self.must_pass(self.build_slotted(self.data()))
        path = self.folder / "index" / "records.slotted"
        content = bytearray(path.read_bytes())
        content[4096 + 2000] ^= 1
        path.write_bytes(content)
        self.must_refuse(farvec("inspect", self.folder / "index", "--verify"), "records.slotted",
                         "damaged")


if __name__ == "__main__":
    unittest.main()
