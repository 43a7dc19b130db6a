"""The peers' harness without any library: a peer that compares with every row stands in for one."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
PEERS = ROOT / "bench" / "peers"
sys.path.insert(0, str(PEERS))

import report  # noqa: E402
import run as harness  # noqa: E402
import worker  # noqa: E402
from contenders import PagedContender, PeerContender, Point, with_version  # noqa: E402
from vectors import Workload  # noqa: E402

# Recall grows with the effort: it compares with the first `effort` percent of the rows.
FAKE = """
import sys
sys.path.insert(0, {peers!r})
import numpy as np, adapters, worker
from vectors import Workload

class Fake(adapters.Peer):
    label = "fake (slow)"
    efforts = range(1, 101)
    settings = [dict(fails=0), dict(fails={fails})]
    fails = 0

    def use(self, fails):
        self.fails = fails

    def load(self):
        print("a library that talks")
        if {fails} == 2:
            raise ValueError("no such instruction")

    def search(self, queries, k, effort):
        if self.fails:
            raise RuntimeError("one line\\nlast line")
        rows = self.workload.base[:len(self.workload.base) * effort // 100]
        if len(rows) < k:
            return np.full((len(queries), k), -1)
        if self.workload.metric == "l2":
            distances = ((rows[None] - queries[:, None]) ** 2).sum(axis=2)
        else:
            distances = -(queries @ rows.T)
        return distances.argsort(axis=1)[:, :k]

worker.serve(Fake(Workload.load(*{paths!r}, {metric!r}), "."), "numpy", Workload.load(
    *{paths!r}, {metric!r}), 10)
"""


def write(path, rows):
    path.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
    return str(path)


class Contender(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "build.json").write_text('{"build_seconds": 2.5, "bytes": 4000}')

    def start(self, metric="l2", fails=0):
        random = np.random.default_rng(1)
        base = random.normal(size=(200, 8)).astype("<f4")
        queries = random.normal(size=(20, 8)).astype("<f4")
        rows = base / np.linalg.norm(base, axis=1, keepdims=True)
        distances = (((base[None] - queries[:, None])**2).sum(axis=2) if metric == "l2"
                     else -(queries @ rows.T))
        paths = [write(self.folder / "base.fbin", base), write(self.folder / "query.fbin", queries),
                 write(self.folder / "gt.ibin", distances.argsort(axis=1)[:, :10].astype("<u4"))]
        self.workload = Workload.load(*paths, metric)
        code = FAKE.format(peers=str(PEERS), paths=paths, metric=metric, fails=fails)
        contender = PeerContender("fake", self.folder, 200, [sys.executable, "-B", "-c", code])
        self.addCleanup(contender.close)
        return contender

    def test_chooses_the_least_effort_on_one_half_and_measures_the_other(self):
        for metric in ("l2", "cosine"):
            contender = self.start(metric)
            parameters = contender.choose(0.8)
            point = contender.run(0, parameters)
            self.assertGreaterEqual(point.recall, 0.8)
            less = {**parameters, "effort": parameters["effort"] - 1}
            self.assertLess(contender.run(0, less).recall, 0.8)
            self.assertEqual(contender.run(1, {"effort": 100, "fails": 0}).recall, 1)
            self.assertGreater(contender.measure(parameters).p99_us, 0)
            self.assertIsNone(contender.choose(1.1))
            self.assertRegex(contender.label, r"^fake \d[0-9.]* \(slow\)$")

    def test_a_peer_that_fails_leaves_the_run_with_its_reason(self):
        good, bad = self.start(), self.start(fails=1)
        chosen, points, failures = harness.run_passes([good, bad], [0.5], 2)
        self.assertEqual(len(points[good, 0.5]), 2)
        self.assertEqual(failures[bad], "searching failed: last line")
        rows = harness.rows_of(chosen, points, failures)
        text = report.text(rows + harness.failed_rows({"gone": "pip said no", "fine": None}))
        self.assertIn("failed: searching failed: last line", text)
        self.assertIn("failed: pip said no", text)
        self.assertNotIn("fine", text)
        json.dumps(rows)

    def test_a_peer_that_does_not_load_says_why(self):
        with self.assertRaisesRegex(worker.PeerError, "ValueError: no such instruction"):
            self.start(fails=2)

    def test_a_process_that_ends_is_an_error(self):
        with self.assertRaisesRegex(worker.PeerError, r"its process ended \(3\)"):
            worker.Worker([sys.executable, "-c", "raise SystemExit(3)"])


@unittest.skipUnless(os.environ.get("FARVEC_BIN_DIR"), "FARVEC_BIN_DIR has no farvec")
class Paged(unittest.TestCase):
    """farvec's own paged HNSW among the peers that search from disk."""

    def test_chooses_the_shortest_list_and_measures_with_the_budget_as_its_buffer(self):
        folder = tempfile.TemporaryDirectory(dir=ROOT / "build")  # O_DIRECT wants a disk
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        random = np.random.default_rng(2)
        base = random.normal(size=(2000, 32)).astype("<f4")
        queries = random.normal(size=(60, 32)).astype("<f4")
        true = ((base[None] - queries[:, None])**2).sum(axis=2).argsort(axis=1)[:, :10]
        files = {"data": write(path / "base.fbin", base),
                 "queries": write(path / "query.fbin", queries),
                 "groundtruth": write(path / "gt.ibin", true.astype("<u4"))}
        farvec = str(pathlib.Path(os.environ["FARVEC_BIN_DIR"]) / "farvec")
        subprocess.run([farvec, "build", "hnsw", "--data", files["data"], "--metric", "l2", "--out",
                        path / "graph", "--m", "8", "--quiet"], check=True, timeout=100)
        options = argparse.Namespace(farvec=farvec, k=10, lists="5,10,20,40,80,160",
                                     memory_budget=1 << 20, **files)
        contender = PagedContender(f"{path / 'graph'}=7.5", 2, options,
                                   Workload.load(*files.values(), "l2"))
        self.assertEqual((contender.build_seconds, contender.tier), (7.5, "ssd"))
        self.assertGreater(contender.bytes_per_vector, 32 * 4)
        parameters = contender.choose(0.95)
        lists = [10, 20, 40, 80, 160]
        tried = {length: contender.sweep(range(30), length)[0] for length in lists}
        self.assertEqual({line["buffer"] for line in tried.values()}, {str(1 << 20)})
        self.assertEqual(parameters, {
            "list": next(length for length in lists if tried[length]["recall"] >= 0.95),
            "slots": 2})
        other, = contender.sweep(range(30, 60), parameters["list"])
        self.assertEqual(contender.measure(parameters).recall, other["recall"])
        self.assertIsNone(contender.choose(1.1))


class Table(unittest.TestCase):
    def test_median_of_rates_and_latencies(self):
        points = [Point(0.9, rate, {"effort": 1}, tail) for rate, tail in ((1, 9), (3, 7), (2, 8))]
        summary = report.summarise(points)
        self.assertEqual((summary["qps"], summary["p99_us"]), (2, 8))
        row = {"name": "a", "label": "a", "tier": None, "layout": None, "target": 0.9,
               "bytes_per_vector": 1, "build_seconds": None, **summary}
        self.assertEqual(len(report.cells([row], row)), len(report.HEAD))
        del row["qps"]
        self.assertEqual(len(report.cells([row], row)), len(report.HEAD))

    def test_ratios_are_to_farvecs_fastest_rows_on_dram(self):
        def row(label, tier, layout, qps, size):
            return {"name": label, "label": label, "tier": tier, "layout": layout, "target": 0.9,
                    "bytes_per_vector": size, "build_seconds": None, "qps": qps}
        rows = [row("large", None, None, 50, 900), row("small", None, None, 20, 90),
                row("farvec csr", "dram", "csr", 60, 100), row("avx2", "dram", "csr", 40, 100),
                row("farvec inline", "dram", "inline", 80, 400),
                row("model", "emulated:rdma", "csr", 99, 100)]
        self.assertEqual([report.ratio(rows, 0.9, layout, rows[0])
                          for layout in report.REFERENCES.values()], ["1.60", "1.20"])
        self.assertEqual(report.ratio(rows, 0.95, None, rows[0]), "-")
        best, csr = report.verdicts(rows)
        self.assertIn("farvec inline has 1.60 times the rate of the fastest peer of any size, large",
                      best)
        self.assertIn("farvec csr has 3.00 times the rate of the fastest peer of at most 100 bytes "
                      "per vector, small", csr)
        _, alone = report.verdicts([rows[0], rows[2]])
        self.assertIn("no peer of at most 100 bytes", alone)

    def test_reasons_and_labels_are_short(self):
        self.assertEqual(worker.reason_of("a\n b \n\n"), "b")
        self.assertEqual(len(worker.reason_of("x" * 999)), worker.LONGEST_REASON)
        self.assertEqual(with_version("name", ""), "name")
        self.assertEqual(with_version("name (what)", "1.2"), "name 1.2 (what)")


class Documents(unittest.TestCase):
    def test_every_peer_is_in_the_readme(self):
        text = (PEERS / "README.md").read_text()
        for name in {**harness.PACKAGES, **harness.DISK_PACKAGES, **harness.BIT_PACKAGES}:
            self.assertIn(f"`{name}`", text)


if __name__ == "__main__":
    unittest.main()
