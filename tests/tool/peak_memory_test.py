"""The memory that a build says it took is its own, whatever the program that started it holds."""
import json
import pathlib
import tempfile
import unittest

import numpy as np

from farvec_tool import farvec, write_vectors

HELD = 400_000_000  # bytes; a small build takes some tens of millions
BUILDS = {"graph": ["graph"], "slotted": ["graph", "--layout", "slotted"],
          "cluster": ["cluster", "--clusters", 4], "hnsw": ["hnsw"]}


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


if __name__ == "__main__":
    unittest.main()
