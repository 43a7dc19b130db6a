"""examples/python/search.py with stubs made by the command that it documents."""
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import numpy as np

from farvec_tool import TIMEOUT_S, DaemonTest, write_vectors

try:
    import grpc  # noqa: F401: what the example needs
    MISSING = None
except ImportError:
    MISSING = "python3-grpcio is not installed: run scripts/install-deps.sh"

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "python" / "search.py"
K = 4


@unittest.skipIf(MISSING, MISSING)
class ClientExample(DaemonTest):
    def setUp(self):
        super().setUp()
        self.stubs = self.folder / "stubs"
        self.stubs.mkdir()
        text = EXAMPLE.read_text().replace("\\\\\n", "")
        command, = re.findall(r"^    (protoc .*?\.proto)$", text, re.MULTILINE | re.DOTALL)
        subprocess.run(["bash", "-c", command.replace("STUBS", str(self.stubs))], cwd=ROOT,
                       check=True, timeout=TIMEOUT_S)

    def run_example(self, *arguments):
        return subprocess.run([sys.executable, "-B", str(EXAMPLE), *map(str, arguments)], text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=False,
                              env={**os.environ, "PYTHONPATH": str(self.stubs)})

    def test_finds_what_brute_force_finds(self):
        base, asked = self.rows(300, dtype=np.float32), self.rows(70, dtype=np.float32)
        data = write_vectors(self.folder / "base", base)
        queries = write_vectors(self.folder / "queries", asked)
        self.must_pass(self.build(data))
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen", address)
        end = time.monotonic() + TIMEOUT_S
        while (result := self.run_example(address, queries, "--k", K)).returncode != 0:
            self.assertLess(time.monotonic(), end, result.stderr)
            time.sleep(0.1)
        header, *lines = result.stdout.splitlines()
        self.assertIn("300 vectors of dimension 16", header)
        self.assertEqual(len(lines), 70)
        # The default list finds nearly all; of what it finds every distance is exact.
        right = 0
        for q, line in enumerate(lines):
            number, *pairs = line.split()
            self.assertEqual((int(number), len(pairs)), (q, K))
            exact = ((base - asked[q]) ** 2).sum(axis=1)
            for pair in pairs:
                row, distance = pair.split(":")
                self.assertAlmostEqual(float(distance), exact[int(row)], delta=1e-3)
                right += exact[int(row)] <= np.sort(exact)[K - 1]
        self.assertGreaterEqual(right, 0.95 * 70 * K)
        bad = self.run_example(address, queries, "--k", 301)
        self.assertNotEqual(bad.returncode, 0)
        self.assertIn("k: 301 came", bad.stderr)


if __name__ == "__main__":
    unittest.main()
