"""What a graph search costs, counted; exact_counts.py tells how to renew the figures."""
import unittest

from exact_counts import DECIMALS, ExactCounts, needs_deep20k, needs_fashion

COUNTS = ("recall", "reads_per_query", "bytes_per_query", "hops_per_query", "estimates_per_query",
          "distances_per_query", "amplification")


class GraphCounts(ExactCounts):
    def figures(self, data, queries, truth):
        """{"csr, 4 bits": {"build": ..., "list 10, width 1": {count: value}}}"""
        figures = {}
        for layout, bits in (("csr", 2), ("csr", 4), ("padded", 4)):
            index, (report,) = self.build("graph", data, "--degree", 32, "--list", 75, "--alpha",
                                          1.15, "--seed", 1, "--layout", layout, "--code-bits",
                                          bits)
            lines = self.sweep(index, queries, truth, "--list", "10,20,40,80", "--width", "1,4",
                               "--tier", "dram,emulated:rdma", "--slots", "1,16",
                               "--queries-range", "0:200")
            build = {name: round(report[name], DECIMALS)
                     for name in ("average_degree", "distances_per_vector")}
            figures[f"{layout}, {bits} bits"] = {
                "build": build, **self.points(lines, ("list", "width"), COUNTS)}
        return figures

    @needs_fashion
    def test_fashion_mnist_10k(self):
        self.compare("graph-fashion-mnist-10k",
                     lambda: self.figures(*self.fashion_mnist_10k()))

    @needs_deep20k
    def test_deep20k(self):
        self.compare("graph-deep20k", lambda: self.figures(*self.deep20k()))


if __name__ == "__main__":
    unittest.main()
