"""Runbooks on other indexes, without any library: one that compares with every row stands in."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "peers" / "changing.py"
sys.path.insert(0, str(ROOT / "scripts" / "runbooks"))

import runbook  # noqa: E402
from runbook import Step  # noqa: E402

ROWS = 300
STEPS = [Step("insert", 0, 200), Step("search"), Step("delete", 0, 90), Step("insert", 200, 300),
         Step("search")]


def write_rows(path, rows):
    path.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
    return path


def write_truth(path, rows, queries, live):
    distances = ((rows[live][None].astype(float) - queries[:, None]) ** 2).sum(axis=2)
    order = distances.argsort(axis=1, kind="stable")[:, :100]
    path.write_bytes(np.asarray(order.shape, "<u4").tobytes() +
                     live[order].astype("<u4").tobytes() +
                     np.take_along_axis(distances, order, 1).astype("<f4").tobytes())


class PeersChanging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        random = np.random.default_rng(1)
        rows = random.integers(0, 20, (ROWS, 6), np.uint8)  # some distances are equal
        queries = random.integers(0, 20, (21, 6), np.uint8)
        self.data = write_rows(self.out / "base.u8bin", rows)
        self.queries = write_rows(self.out / "query.u8bin", queries)
        runbook.write(self.out / "book.yaml", "x", STEPS, ROWS)
        write_truth(self.out / "step2.gt100", rows, queries, np.arange(200))
        write_truth(self.out / "step5.gt100", rows, queries, np.arange(90, 300))

    def run_script(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", SCRIPT, self.out / "book.yaml", "--data", self.data, "--queries",
             self.queries, "--truth", self.out, "--out", self.out / "out.jsonl", *arguments],
            text=True, timeout=110, capture_output=True, check=False)

    def test_every_step_has_its_line(self):
        result = self.run_script("--peers", "exact")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in (self.out / "out.jsonl").read_text().splitlines()]
        self.assertEqual([line.get("operation") for line in lines],
                         [step.operation for step in STEPS] + [None], result.stderr)
        self.assertEqual([line["recall"] for line in lines if "recall" in line], [1.0, 1.0])
        self.assertEqual(lines[1]["operations"], 11)  # the second half
        self.assertEqual(lines[2]["operations"], 90)
        self.assertEqual(lines[-1]["mean_recall"], 1)
        self.assertGreater(lines[-1]["inserts_per_second"], 0)

    def test_what_fails_is_said(self):
        (self.out / "step5.gt100").unlink()
        result = self.run_script("--peers", "exact")
        self.assertIn("exact: FileNotFoundError", result.stderr)
        last = json.loads((self.out / "out.jsonl").read_text().splitlines()[-1])
        self.assertIn("step5.gt100", last["error"])


if __name__ == "__main__":
    unittest.main()
