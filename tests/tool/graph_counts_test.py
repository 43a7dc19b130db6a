"""What a graph search costs, counted: compared with the reviewed figures of tests/baselines.

A change of build or search that moves a count fails here. When the change is meant, write the new
figures, read the difference, and commit it with the change:

    FARVEC_BIN_DIR=build/release/bin FARVEC_DATA=DIR FARVEC_UPDATE_BASELINE=1 \\
        /usr/bin/python3 tests/tool/graph_counts_test.py
"""
import json
import os
import pathlib
import unittest

from farvec_tool import ToolTest, farvec

BASELINES = pathlib.Path(__file__).parents[1] / "baselines"
UPDATE = os.environ.get("FARVEC_UPDATE_BASELINE") == "1"
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")
COUNTS = ("recall", "reads_per_query", "bytes_per_query", "hops_per_query", "estimates_per_query",
          "distances_per_query", "amplification")
DECIMALS = 6


# Sums of floats depend on the width of the kernels, and a count on the last bit of a sum.
ISA = "avx2"


@unittest.skipUnless(ISA in pathlib.Path("/proc/cpuinfo").read_text(), f"no {ISA} here")
class GraphCounts(ToolTest):
    def setUp(self):
        super().setUp()
        before = os.environ.get("FARVEC_ISA", "")
        os.environ["FARVEC_ISA"] = ISA
        self.addCleanup(os.environ.__setitem__, "FARVEC_ISA", before)

    def make_index(self, data, *options):
        out = self.folder / "-".join(["index", *map(str, options)])
        result = self.must_pass(farvec(
            "build", "graph", "--data", data, "--metric", "l2", "--degree", 32, "--list", 75,
            "--alpha", 1.15, "--seed", 1, "--quiet", "--json", "--out", out, *options))
        report = json.loads(result.stdout)
        return out, {name: round(report[name], DECIMALS)
                     for name in ("average_degree", "distances_per_vector")}

    def sweep(self, index, queries, truth, *options):
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", index, "--queries", queries, "--groundtruth",
                              truth, "--k", 10, "--list", "10,20,40,80", "--width", "1,4",
                              "--passes", 1, "--pass-ms", 1, "--json", out, *options))
        return [json.loads(line) for line in out.read_text().splitlines()]

    def figures(self, data, queries, truth):
        """{"csr, 4 bits": {"build": ..., "list 10, width 1": {count: value}}}"""
        figures = {}
        for layout, bits in (("csr", 2), ("csr", 4), ("padded", 4)):
            index, build = self.make_index(data, "--layout", layout, "--code-bits", bits)
            lines = self.sweep(index, queries, truth, "--tier", "dram,emulated:rdma", "--slots",
                               "1,16")
            figures[f"{layout}, {bits} bits"] = {"build": build, **self.points(lines)}
        return figures

    def points(self, lines):
        """One entry per list and width: tiers and slots must not differ in any count."""
        points = {}
        for line in lines:
            name = f"list {line['list']}, width {line['width']}"
            counts = {count: round(line[count], DECIMALS) for count in COUNTS}
            self.assertEqual(points.setdefault(name, counts), counts,
                             f"{name}: {line['tier']} with {line['slots']} slots")
        return points

    def compare(self, name, figures):
        path = BASELINES / f"{name}.json"
        if UPDATE:
            path.write_text(json.dumps(figures, indent=1) + "\n")
        self.maxDiff = None
        self.assertEqual(figures, json.loads(path.read_text()), f"see {__file__}")

    @unittest.skipUnless(FASHION.exists(), "the package dataset-fashion-mnist is not installed")
    def test_fashion_mnist_10k(self):
        base, queries = self.folder / "base.u8bin", self.folder / "query.u8bin"
        truth = self.folder / "gt10.ibin"
        self.must_pass(farvec("dataset", "sample", FASHION, base, "--rows", "0:9000", "--quiet"))
        self.must_pass(farvec("dataset", "sample", FASHION, queries, "--rows", "9000:10000",
                              "--quiet"))
        self.must_pass(farvec("dataset", "groundtruth", "--data", base, "--queries", queries,
                              "--metric", "l2", "--k", 10, "--quiet", "--out", truth))
        self.compare("graph-fashion-mnist-10k", self.figures(base, queries, truth))

    @unittest.skipUnless(os.environ.get("FARVEC_DATA"), "FARVEC_DATA names no folder of data sets")
    def test_deep20k(self):
        folder = pathlib.Path(os.environ["FARVEC_DATA"]) / "deep20k"
        self.compare("graph-deep20k", self.figures(folder / "base.fbin", folder / "query.fbin",
                                                   folder / "gt100.ibin"))


if __name__ == "__main__":
    unittest.main()
