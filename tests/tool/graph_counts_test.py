"""What a graph search costs, counted; exact_counts.py tells how to renew the figures."""
import unittest

from exact_counts import DECIMALS, ExactCounts, needs_deep20k, needs_fashion, needs_text300k
from farvec_tool import farvec

COUNTS = ("recall", "reads_per_query", "bytes_per_query", "hops_per_query", "estimates_per_query",
          "distances_per_query", "amplification",
          *(f"lines_per_query.{kind}" for kind in ("codes", "offsets", "visited", "records")))


class GraphCounts(ExactCounts):
    def searched(self, index, queries, truth):
        lines = self.sweep(index, queries, truth, "--list", "10,20,40,80", "--width", "1,4",
                           "--tier", "dram,emulated:rdma", "--slots", "1,16", "--line-ns", 10,
                           "--queries-range", "0:200")
        return self.points(lines, ("list", "width"), COUNTS)

    def convert(self, index, layout, bits):
        """The same graph in another layout."""
        out = self.folder / f"{layout}-{bits}"
        self.must_pass(farvec("convert", "--index", index, "--layout", layout, "--code-bits", bits,
                              "--quiet", "--out", out))
        return out

    def figures(self, data, queries, truth, others=(("csr", 4), ("padded", 4))):
        """{"csr, 4 bits": {"build": ..., "list 10, width 1": {count: value}}}: one build, whose graph is
        that of any layout and any bits of codes (graph_layouts_test.py)."""
        index, (report,) = self.build("graph", data, "--degree", 32, "--list", 75, "--alpha", 1.15,
                                      "--seed", 1, "--layout", "csr", "--code-bits", 2)
        build = {name: round(report[name], DECIMALS)
                 for name in ("average_degree", "distances_per_vector")}
        indexes = {"csr, 2 bits": index}
        for layout, bits in others:
            indexes[f"{layout}, {bits} bits"] = self.convert(index, layout, bits)
        figures = {name: {"build": build, **self.searched(folder, queries, truth)}
                   for name, folder in indexes.items()}
        packed = self.convert(index, "packed", 4)
        figures["packed, 4 bits"] = self.searched(packed, queries, truth)
        for bits in (1, 2):
            inline = self.convert(index, "inline", bits)
            figures[f"inline, {bits} bits"] = self.searched(inline, queries, truth)
        return figures

    @needs_fashion
    def test_fashion_mnist_10k(self):
        self.compare("graph-fashion-mnist-10k",
                     lambda: self.figures(*self.fashion_mnist_10k()))

    @needs_deep20k
    def test_deep20k(self):
        self.compare("graph-deep20k", lambda: self.figures(*self.deep20k()))

    @needs_text300k
    def test_text20k(self):
        """The first rows, as the whole takes minutes to build."""
        self.compare("graph-text20k",
                     lambda: self.figures(*self.text20k(), others=()))


if __name__ == "__main__":
    unittest.main()
