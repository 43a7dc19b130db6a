import pathlib
import struct
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "recall.py"


def neighbours(count, k, distances):
    ids = range(count * k)
    return struct.pack(f"<II{count * k}I{len(distances)}f", count, k, *ids, *distances)


class Recall(unittest.TestCase):
    def run_script(self, found, truth):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / name for name in ("found.ibin", "truth.ibin")]
            paths[0].write_bytes(found)
            paths[1].write_bytes(truth)
            return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *paths], text=True,
                                  capture_output=True, timeout=60, check=False)

    def test_counts_ties_and_misses(self):
        found = neighbours(2, 2, [1, 2, 1, 9])
        truth = neighbours(2, 3, [1, 2, 2, 1, 3, 4])
        self.assertEqual(self.run_script(found, truth).stdout, "0.7500\n")

    def test_not_found_does_not_count(self):
        found = neighbours(1, 2, [1, float("inf")])
        truth = neighbours(1, 2, [1, 2])
        self.assertEqual(self.run_script(found, truth).stdout, "0.5000\n")

    def test_refuses_files_that_do_not_fit(self):
        result = self.run_script(neighbours(2, 2, [1, 2, 1, 2]), neighbours(1, 2, [1, 2]))
        self.assertEqual(result.returncode, 1)
        self.assertIn("do not fit", result.stderr)

    def test_refuses_a_truncated_file(self):
        result = self.run_script(neighbours(1, 2, [1]), neighbours(1, 2, [1, 2]))
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 distances, expected 1 x 2", result.stderr)


if __name__ == "__main__":
    unittest.main()
