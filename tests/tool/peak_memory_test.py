"""The memory that a build says it took is its own, whatever the program that started it holds; and
half floats are built and searched without a copy of them as floats."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from farvec_tool import BIN, farvec, write_vectors

HELD = 400_000_000  # bytes; a small build takes some tens of millions
BUILDS = {"graph": ["graph"], "slotted": ["graph", "--layout", "slotted"],
          "cluster": ["cluster", "--clusters", 4], "hnsw": ["hnsw"]}

# A child begins with the peak of the process that starts it, so a small one does.
MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


class PeakMemory(unittest.TestCase):
    def peak(self, kind, folder):
        done = farvec("build", *BUILDS[kind], "--data", folder / "x.fbin", "--metric", "l2", "--out",
                      folder / kind, "--threads", 1, "--quiet", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["peak_memory_bytes"]

    def test_a_large_process_that_starts_a_build_is_not_in_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_vectors(folder / "x",
                          np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32))
            held = np.ones(HELD, np.uint8)
            for kind in BUILDS:
                peak = self.peak(kind, folder)
                self.assertGreater(peak, 1_000_000, kind)
                self.assertLess(peak, held.size, kind)


class HalfFloats(unittest.TestCase):
    """What twice the rows take more is in whole copies of them. A copy as floats would be two."""

    ASKED, FEW, ROWS, DIMENSION = 10, 3000, 6000, 4096
    OTHERS = 1.3  # copies: codes, and buffers that the smaller set did not fill

    def setUp(self):
        name = tempfile.TemporaryDirectory()
        self.addCleanup(name.cleanup)
        self.folder = pathlib.Path(name.name)
        rows = np.random.default_rng(1).normal(size=(self.ROWS, self.DIMENSION)).astype(np.float32)
        for count in (self.ASKED, self.FEW, self.ROWS):
            floats = write_vectors(self.folder / str(count), rows[:count])
            done = farvec("dataset", "convert", floats, self.data(count), "--type", "f16", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)

    def data(self, count):
        return self.folder / f"{count}.f16bin"

    def index(self, count):
        return self.folder / f"{count}.index"

    def build(self, count, layout):
        done = farvec("build", "graph", "--data", self.data(count), "--metric", "l2", "--layout", layout,
                      "--degree", 8, "--list", 16, "--out", self.index(count), "--threads", 1, "--quiet",
                      "--json", "--overwrite")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["peak_memory_bytes"]

    def search(self, count):
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, BIN / "farvec", "search", "--index", self.index(count),
             "--queries", self.data(self.ASKED), "--k", "5", "--list", "20", "--json"],
            text=True, capture_output=True, check=True)
        return int(done.stderr) * 1024

    def assert_copies(self, copies, measured):
        more = measured(self.ROWS) - measured(self.FEW)
        rows = (self.ROWS - self.FEW) * self.DIMENSION * np.dtype(np.float16).itemsize
        self.assertLess(more / rows, copies + self.OTHERS)

    def test_no_graph_makes_floats_of_them(self):
        # Packed records are made of a second copy, in another order. Inline ones have codes of 32
        # neighbours: a bit for each dimension of theirs is two copies more, which searches keep.
        for layout, built, searched in (("csr", 1, 1), ("packed", 2, 1), ("inline", 1, 3)):
            with self.subTest(layout):
                self.assert_copies(built, lambda count: self.build(count, layout))
                self.assert_copies(searched, self.search)


if __name__ == "__main__":
    unittest.main()
