import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "plots" / "sweep.py"
FIXTURE = pathlib.Path(__file__).parent / "data" / "sweep.jsonl"
CLUSTERS = FIXTURE.with_name("clusters.jsonl")


def run_script(*arguments):
    return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *arguments], text=True, timeout=110,
                          capture_output=True, check=False)


class PlotsSweep(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)

    def test_draws_three_figures_and_prints_the_best_points(self):
        result = run_script(FIXTURE, "--out", self.out, "--summary", "--recalls", "0.95,0.999")
        self.assertEqual(result.returncode, 0, result.stderr)
        for kind in ("qps", "p99", "size"):
            picture = (self.out / f"fixture-{kind}.png").read_bytes()
            self.assertTrue(picture.startswith(b"\x89PNG"))
            self.assertGreater(len(picture), 10_000)
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("emulated")]
        # list 40 at width 4 is the fastest that reaches 0.95; none reaches 0.999.
        self.assertIn(["emulated:rdma", "csr", "16", "0.95", "0.9630", "40", "4", "13,897", "2,176",
                       "52.0"], rows)
        self.assertEqual(len(rows), 3)

    def test_draws_clusters_by_what_was_probed(self):
        result = run_script(CLUSTERS, "--out", self.out, "--summary", "--recalls", "0.95,0.999")
        self.assertEqual(result.returncode, 0, result.stderr)
        for kind in ("qps", "p99", "size"):
            picture = (self.out / f"fixture-{kind}.png").read_bytes()
            self.assertTrue(picture.startswith(b"\x89PNG"))
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("emulated")]
        self.assertIn(["emulated:rdma", "grouped", "2", "0.95", "0.9630", "16", "-", "4,200",
                       "1,440", "48.0"], rows)
        self.assertEqual(len(rows), 4)  # of two layouts, with and without deduplication
        self.assertIn("clusters.jsonl:33: left out", result.stderr)
        self.assertIn("budget", result.stderr)

    def test_a_line_of_neither_kind(self):
        line = json.loads(CLUSTERS.read_text().splitlines()[0])
        del line["probe"]
        broken = self.out / "broken.jsonl"
        broken.write_text(json.dumps(line) + "\n")
        result = run_script(broken, "--out", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("lacks probe", result.stderr)

    def test_names_the_line_that_lacks_a_field(self):
        line = json.loads(FIXTURE.read_text().splitlines()[0])
        del line["qps"]
        broken = self.out / "broken.jsonl"
        broken.write_text(json.dumps(line) + "\n")
        result = run_script(broken, "--out", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("broken.jsonl:1: lacks qps", result.stderr)

    def test_refuses_an_empty_file(self):
        empty = self.out / "empty.jsonl"
        empty.write_text("")
        result = run_script(empty, "--out", self.out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("did the sweep finish?", result.stderr)

    def test_help_has_an_example(self):
        self.assertIn("Example:", run_script("--help").stdout)


if __name__ == "__main__":
    unittest.main()
