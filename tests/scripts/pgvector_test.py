"""bench/hnsw/pgvector.py: what it computes, and a small run where its environment has been made."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "hnsw" / "pgvector.py"
VENV = ROOT / "build" / "pgvector-venv"
sys.path.insert(0, str(SCRIPT.parent))

import measure  # noqa: E402
import pgvector  # noqa: E402
import server  # noqa: E402
import table  # noqa: E402


def write(path, rows):
    path.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
    return path


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True,
                          check=False, timeout=110)


class Parts(unittest.TestCase):
    def test_rows_are_as_copy_reads_them(self):
        rows = np.asarray([[1.5, -2], [0, 3]], np.float32)
        content = table.copy_bytes(7, rows, "vector")
        self.assertEqual(content[:19], b"PGCOPY\n\xff\r\n\0" + bytes(8))
        self.assertEqual(content[-2:], b"\xff\xff")
        self.assertEqual(struct.unpack(">hiiihhff", content[19:45]), (2, 4, 7, 12, 2, 0, 1.5, -2))
        self.assertEqual(struct.unpack(">hiiihhff", content[45:71]), (2, 4, 8, 12, 2, 0, 0, 3))
        self.assertEqual(len(table.copy_bytes(0, rows, "halfvec")), 19 + 2 * 22 + 2)

    def test_buffers(self):
        self.assertEqual(measure.buffer_of("10%", 100_000_000), ("10% (10.0 MB)", 9_994_240))
        self.assertEqual(measure.buffer_of("64M", 0)[1], 64 << 20)
        self.assertEqual(measure.buffer_of("1", 0)[1], 1 << 20)  # the least that works
        for text in ("", "%", "x", "10X", "infM", "nan"):
            with self.assertRaisesRegex(ValueError, "neither bytes nor a share"):
                measure.buffer_of(text, 1000)

    def test_least_ef(self):
        for least in (10, 11, 57, 999, 1000):
            self.assertEqual(measure.least_ef(lambda ef, least=least: float(ef >= least), 0.9, 10),
                             least)
        self.assertIsNone(measure.least_ef(lambda ef: 0.5, 0.9, 10))

    def test_summary(self):
        row = measure.Run.summary("10%", (40, None, 0.9), 5,
                                   [(10.0, [1, 2], 8, 2), (30.0, [3, 400], 12, 2)])
        self.assertEqual((row["qps"], row["qps_min"], row["qps_max"]), (20, 10, 30))
        self.assertEqual((row["p50_us"], row["p99_us"]), (3, 400))
        self.assertEqual((row["pages_hit"], row["pages_read"]), (5, 1))

    def test_a_build_is_kept_for_what_it_was_made_of(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "pg").mkdir()
            data = write(folder / "base.fbin", np.zeros((20, 4), np.float32))
            built = []

            class Fake(measure.Run):
                def start(self, size):
                    pass

                def load_and_build(self):
                    built.append(self.facts["m"])
                    return {"build_seconds": len(built)}

            def build(m):
                options = types.SimpleNamespace(data=data, queries=data, kind="vector", m=m,
                                                metric="l2", ef_construction=9, buffered=False,
                                                build_buffers=16)
                fake = types.SimpleNamespace(folder=folder / "pg", version=lambda: "18.4",
                                             create=lambda: None, stop=lambda: None)
                workload = types.SimpleNamespace(name="w", rows=20, dimension=4)
                run_of = Fake(options, workload, None, types.SimpleNamespace(server=fake))
                run_of.build()
                return run_of.facts["build_seconds"]

            self.assertEqual([build(24), build(24), build(16), build(16)], [1, 1, 2, 2])
            write(data, np.ones((21, 4), np.float32))
            self.assertEqual([build(16), build(16)], [3, 3])
            (folder / "pg" / "built.json").unlink()
            self.assertEqual(build(16), 4)
            self.assertEqual(built, [24, 16, 16, 16])

    def test_refuses_what_it_cannot_measure(self):
        needed = ("--data", "d", "--queries", "q", "--groundtruth", "g")
        for options, message in (
                (("--ef", "5"), "--ef is from k to 1000"),
                (("--connections", "0"), "--connections are from 1 to 32"),
                (("--buffers", "much"), "neither bytes nor a share"),
                (("--passes", "0"), "--passes is at least 1")):
            done = run("/usr/bin/python3", "-B", SCRIPT, *needed, *options)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_a_measurement_in_which_nothing_ends_is_repeated(self):
        tried = []

        def clients(script, count, limit, settings):
            tried.append((count, limit))
            return ([], 0.0) if len(tried) < ends_at else ([700], 0.1)

        some = table.Table(types.SimpleNamespace(clients=clients),
                           table.Index("vector", "l2", 24, 200))
        ends_at = 3
        self.assertEqual(some.run_queries(range(5, 10), 10, 40, 2, 3), ([700], 0.1))
        self.assertEqual(tried, [(2, ("--time", 3)), (2, ("--time", 6)), (2, ("--time", 12))])
        ends_at = 9
        with self.assertRaisesRegex(ValueError, "no query with ef_search 40 ended in 12 s"):
            some.run_queries(range(5, 10), 10, 40, 2, 3)

    def test_an_installation_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(server.ServerError, "bin/postgres does not run"):
                server.Server(folder, folder).version()


class SmallRun(unittest.TestCase):
    def setUp(self):
        self.installs = list(VENV.glob(pgvector.INSTALL))
        if not (VENV / "packages").exists() or not self.installs:
            self.skipTest("no build/pgvector-venv, which bench/hnsw/pgvector.py makes")
        folder = tempfile.TemporaryDirectory(dir=ROOT / "build")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        random = np.random.default_rng(1)
        rows = random.normal(size=(650, 24)).astype(np.float32)
        self.base, queries = rows[:600], rows[600:]
        distances = ((self.base[None] - queries[:, None])**2).sum(axis=2)
        order = np.argsort(distances, axis=1)[:, :10].astype("<u4")
        write(self.folder / "base.fbin", self.base)
        write(self.folder / "query.fbin", queries)
        (self.folder / "gt.ibin").write_bytes(
            np.asarray(order.shape, "<u4").tobytes() + order.tobytes() +
            np.take_along_axis(distances, order.astype(int), 1).astype("<f4").tobytes())

    def measure(self, *options):
        name = {part: self.folder / f"{part}.fbin" for part in ("base", "query")}
        return run("/usr/bin/python3", "-B", SCRIPT, "--data", name["base"], "--queries",
                   name["query"], "--groundtruth", self.folder / "gt.ibin", "--folder",
                   self.folder / "pg", "--out", self.folder / "out", "--build-buffers", 16,
                   "--build-memory", 64, "--buffers", "1M", "--connections", "1,2",
                   "--passes", 1, "--seconds", 1, *options)

    def test_measures_and_inserts(self):
        done = self.measure("--ef", "40", "--recalls", "0.9", "--insert",
                            self.folder / "query.fbin")
        self.assertEqual(done.returncode, 0, done.stderr)
        facts = json.loads((self.folder / "out.json").read_text())
        self.assertEqual((facts["rows"], facts["dimension"], facts["m"]), (600, 24, 24))
        self.assertRegex(facts["pgvector"], r"^0\.[0-9]+\.[0-9]+$")
        self.assertEqual([(row["target"], row["connections"]) for row in facts["queries"]],
                         [(None, 1), (None, 2), (0.9, 1), (0.9, 2)])
        for row in facts["queries"]:
            self.assertGreaterEqual(row["recall"], 0.85)
            self.assertGreater(row["qps"], 0)
            self.assertGreater(row["pages_hit"] + row["pages_read"], row["ef_search"] / 4)
        self.assertEqual([(row["rows"], row["together"]) for row in facts["inserts"]],
                         [(16, False), (16, False), (16, True)])
        self.assertIn("| 1M (1.0 MB) | 40 |", (self.folder / "out.md").read_text())
        self.assertFalse((self.folder / "pg" / "built.json").exists())

    def test_a_server_that_does_not_start_says_why(self):
        folder = self.folder / "pg"
        with server.Server(self.installs[0], folder) as running:
            running.create()
            with self.assertRaisesRegex(server.ServerError, "does not start: .*shared_buffers"):
                running.start({"shared_buffers": "much"})
            running.stop()
            running.start({"shared_buffers": "1MB"})
            self.assertEqual(running.ask("SELECT 6 * 7")[0], "42")
            with self.assertRaisesRegex(server.ServerError, "psql: .*no_such"):
                running.ask("SELECT * FROM no_such")

    def test_what_was_measured_outlives_an_error(self):
        write(self.folder / "few.fbin", self.base[:3])
        done = self.measure("--connections", 2, "--insert", self.folder / "few.fbin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: --insert: 3 rows are too few", done.stderr)
        facts = json.loads((self.folder / "out.json").read_text())
        self.assertEqual(len(facts["queries"]), 1)
        self.assertIn("Ended by an error: --insert", (self.folder / "out.md").read_text())

    def test_ground_truth_of_other_rows(self):
        write(self.folder / "base.fbin", self.base[:300])
        done = self.measure()
        self.assertEqual(done.returncode, 1)
        self.assertIn("names rows that", done.stderr)


if __name__ == "__main__":
    unittest.main()
