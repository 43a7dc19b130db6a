"""bench/hnsw/study.py: what its tables compute, that it goes on where it ended, and a small run."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "hnsw" / "study.py"
sys.path.insert(0, str(SCRIPT.parent))

import study  # noqa: E402
import study_tables  # noqa: E402
import workshop  # noqa: E402


def work(seconds, hits, **more):
    return {"done": 10, "seconds": seconds, "write_back_seconds": 1, "hit_ratio": hits,
            "read_bytes": 3 << 20, "written_bytes": 2 << 20, "log_bytes": 1 << 20, **more}


def write(path, rows):
    path.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
    return path


class Tables(unittest.TestCase):
    def test_saved_is_of_order_inserts_and_what_was_still_to_be_written(self):
        point = {"reordered": "incremental", "slots": 1}
        rows = [{"point": {**point, "order": "pca", "search": "pipelined"},
                 "found": work(2, 0.75, order_seconds=1.5)},
                {"point": {**point, "order": "none", "search": "sync"}, "found": work(8, 0.25)}]
        lines = study_tables.orders(rows).splitlines()
        self.assertIn("| incremental | pca | pipelined | 1 | 10 | 1.50 | 4.5 | -50% | 75.0% | 3 | 2 "
                      "| 1 |", lines)
        self.assertIn("| incremental | none | sync | 1 | 10 | 0.00 | 9.0 | +0% | 25.0% | 3 | 2 | 1 |",
                      lines)

    def test_ways_of_reading_are_held_against_sync_without_partitions(self):
        def found(search, qps):
            return {"buffer": "10%", "search": search, "recall": 0.9, "qps": qps, "qps_min": qps,
                    "qps_max": qps, "p50_us": 1000, "p99_us": 2000, "reads_per_query": 5,
                    "hit_ratio": 0.5, "miss_penalty_us": 70}
        rows = [{"point": {"nodes": 64, "slots": 1}, "found": [found("pipelined", 40)]},
                {"point": {"nodes": 1, "slots": 1}, "found": [found("sync", 10)]}]
        self.assertIn("| 4.00 times | 1.0 | 2.0 | 5 | 50.0% | 70 |", study_tables.reads(rows))

    def test_pages_that_were_added(self):
        found = {"pages_before": 200, "searches": {"hit_ratio": 0.5, "pages_per_query": 9},
                 "inserts": work(1, 0.5, per_second=10, graph={"pages": 214}, extended_pages=3,
                                 placed_by_partition=7, placed_by_fallback=2)}
        table = study_tables.shares([{"point": {"share": "90%"}, "found": found}])
        self.assertIn("| 90% | 200 | +7.0% | 7 | 3 | 2 | 10.0 | 50.0% | 50.0% | 9 |", table)


class Results(unittest.TestCase):
    def test_what_was_measured_is_not_measured_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path, calls = pathlib.Path(folder) / "study.jsonl", []
            for _ in range(2):
                results = study.Results(path)
                for point in ({"nodes": 1}, {"nodes": 8}):
                    results.take("pages", point, lambda point=point: calls.append(point) or 5)
            self.assertEqual(calls, [{"nodes": 1}, {"nodes": 8}])
            self.assertEqual([row["found"] for row in study.Results(path).of("pages")], [5, 5])
            self.assertEqual(study.Results(path).of("sizes"), [])


@unittest.skipUnless(os.environ.get("FARVEC_BIN_DIR"), "FARVEC_BIN_DIR has no farvec")
class SmallRun(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=ROOT / "build")  # O_DIRECT wants a disk
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        rows = np.random.default_rng(1).standard_normal((3000, 96), np.float32)
        self.data = write(self.path / "base.fbin", rows)
        self.queries = write(self.path / "query.fbin", rows[:40] + np.float32(0.01))

    def run_study(self, *words):
        return subprocess.run([sys.executable, str(SCRIPT), *words, "--data", self.data,
                               "--queries", self.queries, "--out", self.path / "out", "--bin",
                               os.environ["FARVEC_BIN_DIR"], "--measured", "20"],
                              capture_output=True, text=True, check=False, timeout=110)

    def test_sizes_and_resuming(self):
        first = self.run_study("sizes")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(len(first.stdout.splitlines()), 13)
        lines = (self.path / "out" / "study.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["point"]["rows"] for line in lines],
                         [300, 300, 900, 900, 3000, 3000])
        again = self.run_study("sizes", "--show")
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, first.stdout, ""))

    def test_points_can_be_chosen(self):
        done = self.run_study("sizes", "--where", "rows=300,900", "--where", "nodes=64")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = (self.path / "out" / "study.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["point"] for line in lines],
                         [{"rows": 300, "nodes": 64}, {"rows": 900, "nodes": 64}])
        self.assertIn("NAME=VALUE", self.run_study("sizes", "--where", "rows").stderr)

    def test_what_the_tool_refuses_ends_the_study(self):
        done = self.run_study("sizes", "--metric", "ip", "--list", "0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: farvec sweep ended with 1", done.stderr)

    def test_other_files(self):
        with self.assertRaisesRegex(SystemExit, r"are to be \.fbin"):
            workshop.Workshop("farvec", self.path / "out", self.data, "queries.u8bin", "l2")
        self.assertIn("no study 'size'", self.run_study("size").stderr)


if __name__ == "__main__":
    unittest.main()
