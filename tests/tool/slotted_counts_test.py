"""What a search of slotted pages reads, counted; exact_counts.py tells how to renew the figures."""
import unittest

from exact_counts import DECIMALS, DEEP20K_FILES, ExactCounts, needs_deep20k, needs_fashion
from farvec_tool import farvec

COUNTS = ("recall", "io_reads_per_query", "io_bytes_per_query", "pool_hit_rate", "hops_per_query",
          "estimates_per_query", "distances_per_query")
# One search at a time without prefetches: what a pool holds depends on the queries alone then.
EXACT = ("--tier", "ssd", "--slots", 1, "--prefetch", "off", "--list", "20,60", "--width", 4)
# Every query reads the disk: few of them, on a set so small that pools lose records all the same.
BASE_ROWS = "0:5000"


class SlottedCounts(ExactCounts):
    def figures(self, data, queries, truth):
        """{"bnf": {"build": ..., "search beam, pool none, list 20": {count: value}}}"""
        figures = {}
        for placement in ("bnf", "id"):
            index, (report,) = self.build("graph", data, "--degree", 32, "--list", 75, "--alpha",
                                          1.15, "--seed", 1, "--layout", "slotted", "--payload",
                                          "code", "--rerank", "off", "--placement", placement)
            without = self.sweep(index, queries, truth, *EXACT, "--pool", "none", "--search",
                                 "best-first,beam", "--page-search", "on,off")
            for line in without:
                if line["page_search"]:
                    self.assertLess(line["io_reads_per_query"], line["distances_per_query"])
                elif line["search"] == "best-first":
                    self.assertEqual(line["io_reads_per_query"], line["distances_per_query"])
            pools = self.sweep(index, queries, truth, *EXACT, "--pool", "record,page", "--search",
                               "best-first", "--memory-budget", "40%")
            for line in pools:
                self.assertLessEqual(line["memory_bytes"], line["memory_budget"])
            build = {name: round(report[name], DECIMALS)
                     for name in ("average_degree", "pages", "affine_pairs_together")}
            figures[placement] = {
                "build": build,
                **self.points(without + pools, ("search", "pool", "page_search", "list"), COUNTS)}
        return figures

    @needs_fashion
    def test_fashion_mnist_5k(self):
        self.compare("slotted-fashion-mnist-5k",
                     lambda: self.figures(*self.fashion_mnist_10k(BASE_ROWS, "9000:9030")))

    @needs_deep20k
    def test_deep5k(self):
        base, queries = DEEP20K_FILES
        self.compare("slotted-deep5k", lambda: self.figures(
            *self.cut("fbin", (base, BASE_ROWS), (queries, "0:30"))))


class Defaults(ExactCounts):
    """What `build --layout slotted` and `search --tier ssd` do when nobody says more."""

    def recall(self, data, queries, truth):
        index, _ = self.build("graph", data, "--layout", "slotted")
        (line,) = self.sweep(index, queries, truth, "--tier", "ssd", "--slots", 1, "--list", 64)
        return line

    @needs_deep20k
    def test_deep20k(self):
        base, queries = DEEP20K_FILES
        line = self.recall(*self.cut("fbin", (base, "0:20000"), (queries, "0:200")))
        self.assertGreaterEqual(line["recall"], 0.99)
        self.assertEqual((line["code_bits"], line["rerank"]), (4, 0))

    @needs_fashion
    def test_fashion_mnist_of_bytes(self):
        line = self.recall(*self.fashion_mnist_10k(query_rows="9800:10000"))
        self.assertGreaterEqual(line["recall"], 0.99)
        self.assertEqual((line["code_bits"], line["rerank"]), (4, 0))

    @needs_fashion
    def test_fashion_mnist_of_floats(self):
        """Of a page's size: codes in the records, and vectors beside them to rank by."""
        floats = []
        data, queries, truth = self.fashion_mnist_10k(query_rows="9800:10000")
        for path in (data, queries):
            floats.append(path.with_suffix(".fbin"))
            self.must_pass(farvec("dataset", "convert", path, floats[-1], "--quiet"))
        line = self.recall(*floats, truth)
        self.assertGreaterEqual(line["recall"], 0.99)
        self.assertEqual((line["code_bits"], line["rerank"]), (1, 20))


if __name__ == "__main__":
    unittest.main()
