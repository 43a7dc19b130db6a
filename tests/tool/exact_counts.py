"""What a search costs, counted: compared with the reviewed figures of tests/baselines.

A change of build or search that moves a count fails here. When the change is meant, write the new
figures, read the difference, and commit it with the change:

    FARVEC_BIN_DIR=build/release/bin FARVEC_DATA=DIR FARVEC_UPDATE_BASELINE=1 \\
        /usr/bin/python3 tests/tool/graph_counts_test.py   (or cluster_, slotted_counts_test.py)
"""
import json
import os
import pathlib
import unittest

from farvec_tool import DEEP20K, FASHION, TEXT300K, ToolTest, farvec, needs_data

BASELINES = pathlib.Path(__file__).parents[1] / "baselines"
UPDATE = os.environ.get("FARVEC_UPDATE_BASELINE") == "1"
DECIMALS = 6


# Sums of floats depend on the width of the kernels, and a count on the last bit of a sum: figures hold
# for one instruction set, which FARVEC_ISA forces. The names are those of /proc/cpuinfo.
ISAS = {"avx2": {"avx2", "fma", "f16c"}, "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq"}}
PROCESSOR = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split())

needs_fashion = needs_data(FASHION)
needs_deep20k = needs_data(DEEP20K)
needs_text300k = needs_data(TEXT300K)
DEEP20K_FILES = DEEP20K / "base.fbin", DEEP20K / "query.fbin"


class ExactCounts(ToolTest):
    def compare(self, name, measure):
        """What measure() returns, with each instruction set that this processor has."""
        self.maxDiff = None
        folder = self.folder
        self.addCleanup(os.environ.__setitem__, "FARVEC_ISA", os.environ.get("FARVEC_ISA", ""))
        for isa, flags in ISAS.items():
            with self.subTest(isa):
                if not flags <= PROCESSOR:
                    self.skipTest(f"this processor has no {isa}")
                os.environ["FARVEC_ISA"] = isa
                self.folder = folder / isa
                self.folder.mkdir()
                figures = measure()
                path = BASELINES / isa / f"{name}.json"
                if UPDATE:
                    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
                self.assertEqual(figures, json.loads(path.read_text(encoding="utf-8")),
                                 f"see {__file__}")

    def build(self, kind, data, *options):
        """The index's folder and what the build reports of each layout."""
        out = self.folder / "-".join([kind, *map(str, options)])
        result = self.must_pass(farvec("build", kind, "--data", data, "--metric", "l2", "--quiet",
                                       "--json", "--out", out, *options))
        return out, [json.loads(line) for line in result.stdout.splitlines()]

    def sweep(self, index, queries, truth, *options):
        out = self.folder / "sweep.jsonl"
        self.must_pass(farvec("sweep", "--index", index, "--queries", queries, "--groundtruth",
                              truth, "--k", 10, "--passes", 1, "--pass-ms", 1, "--json", out,
                              "--overwrite", *options))
        return [json.loads(line) for line in out.read_text().splitlines()]

    @staticmethod
    def count_of(line, name):
        """"lines_per_query.codes" is that of the object with the first name."""
        for part in name.split("."):
            line = line[part]
        return round(line, DECIMALS)

    def points(self, lines, keys, counts):
        """One entry per values of `keys`: tiers and slots must not differ in any count."""
        points = {}
        for line in lines:
            name = ", ".join(f"{key} {line[key]}" for key in keys)
            values = {count: self.count_of(line, count) for count in counts}
            self.assertEqual(points.setdefault(name, values), values,
                             f"{name}: {line['tier']} with {line['slots']} slots")
        return points

    def cut(self, suffix, base, queries):
        """Base, queries and their true neighbours; `base` and `queries` are a file and its rows."""
        outs = self.folder / f"base.{suffix}", self.folder / f"query.{suffix}"
        for (path, rows), out in zip((base, queries), outs):
            self.must_pass(farvec("dataset", "sample", path, out, "--rows", rows, "--quiet"))
        truth = self.folder / "gt10.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", outs[0], "--queries", outs[1],
                              "--metric", "l2", "--k", 10, "--quiet", "--out", truth))
        return *outs, truth

    def fashion_mnist_10k(self, base_rows="0:9000", query_rows="9000:10000"):
        """Cut from the 10,000 test images."""
        return self.cut("u8bin", (FASHION, base_rows), (FASHION, query_rows))

    def text20k(self):
        return self.cut("i8bin", (TEXT300K / "base.i8bin", "0:20000"),
                        (TEXT300K / "query.i8bin", "0:200"))

    @staticmethod
    def deep20k():
        return *DEEP20K_FILES, DEEP20K / "gt100.ibin"
