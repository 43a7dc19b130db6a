"""bench/postgres/where.py, changes.py and memory.py without a server: what they compute, say and refuse."""
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "bench" / "postgres"
sys.path.insert(0, str(FOLDER))

import changes  # noqa: E402
import memory  # noqa: E402
import where  # noqa: E402
from memory_group import MemoryGroup, NoGroup, version_of  # noqa: E402
from sql_compare_test import FACTS, Client, Workload  # noqa: E402


def made(script, kind, **more):
    options = types.SimpleNamespace(metric="l2", k=10, m=16, ef_construction=64, query_file="q", clients=[],
                                    recall=0.9, **more)
    return script.KINDS[kind](kind, options, Workload(), types.SimpleNamespace(ask=lambda *a, **b: ("", "")),
                              Client())


class Where(unittest.TestCase):
    def test_shares_are_what_they_say(self):
        buckets = where.bucket_of(np.arange(5000))
        for share, count in ((50, 2500), (10, 500), (1, 50), (0.1, 5)):
            self.assertEqual(int((buckets < round(share * 10)).sum()), count)
        self.assertEqual(where.condition(0.1), " WHERE bucket < 1")

    def test_the_column_is_in_farvecs_index(self):
        self.assertIn("(v vector_l2_ops, bucket)", made(where, "farvec").create_statement())
        self.assertIn("(v vector_l2_ops)", made(where, "pgvector-strict").create_statement())

    def test_pgvector_scans_on(self):
        for kind, mode in (("pgvector-strict", "strict_order"), ("pgvector-relaxed", "relaxed_order"),
                           ("pgvector-off", "off")):
            one = made(where, kind)
            settings = one.settings(one.choice(40, 1.0))
            self.assertEqual((one.table, settings["hnsw.iterative_scan"], settings["hnsw.ef_search"]),
                             ("items_pgvector", mode, 40))

    def test_a_plan_that_gives_other_rows_is_told(self):
        same = {"share": 1, "kind": "farvec", "index": [60], "seq scan": [60], "bitmap": []}
        self.assertEqual(where.differences([same]), [])
        said, = where.differences([same, {**same, "kind": "pgvector-off", "index": [40, 41]}])
        self.assertIn("pgvector-off", said)

    def test_the_page(self):
        rows = [{"kind": "farvec", "share": 0.1, "list": 40, "recall": 1.0, "given": 10.0,
                 "medians_us": [50.0, 70.0], "p99s_us": [90.0, 95.0]}]
        plans = [{"share": 0.1, "kind": "farvec", "wanted": 20, "index": [20], "seq scan": [20], "bitmap": []}]
        page = where.markdown({**FACTS, "k": 10, "recall": 0.95}, rows, plans)
        self.assertIn("| 0.1% | farvec | 40 | 1.0000 | 10.00 | 60 (50 to 70) | 92 (90 to 95) |", page)
        self.assertIn("| 0.1% | farvec | 20 | 20 | 20 | no such plan |", page)


class Changes(unittest.TestCase):
    def test_passes_change_other_rows(self):
        one = made(changes, "farvec", many=100, single=5, updates=2, passes=3)
        self.assertEqual([one.first_of(number) for number in range(3)], [10, 115, 220])

    def test_rows_that_the_file_lacks_are_its_own_moved_a_little(self):
        with tempfile.TemporaryDirectory() as name:
            rows = np.arange(48, dtype=np.float32).reshape(12, 4)
            file = pathlib.Path(name) / "base.fbin"
            file.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
            workload = types.SimpleNamespace(rows=10, base=rows[:10])
            options = types.SimpleNamespace(data=name, passes=1, many=4, single=1)
            fresh = changes.fresh_rows(options, workload)
        self.assertEqual(fresh.shape, (5, 4))
        np.testing.assert_array_equal(fresh[:2], rows[10:])
        self.assertTrue((fresh[2:] != rows[:3]).all())

    def test_the_page(self):
        sizes = {"table": 8192, "index": 100}
        rows = [{"kind": kind, "step": "update", "seconds": seconds, "before": sizes,
                 "after": {"table": 16384, "index": 200}}
                for kind, seconds in (("without", [0.01, 0.02]), ("farvec", [0.03, 0.03]),
                                      ("pgvector", [0.3, 0.3]))]
        page = changes.markdown({**FACTS, "updates": 10, "many": 1, "single": 1, "passes": 2}, rows)
        self.assertIn("| update | another column of 10 rows | farvec | 30 (30 to 30) | 8,192 | 16,384 | 100 | 200",
                      page)
        self.assertIn("- update: farvec takes 2.00 of the time without an index.", page)
        self.assertIn("- update: farvec takes 0.10 of the time with pgvector.", page)


class Memory(unittest.TestCase):
    def test_settings_of_a_tenth(self):
        options = types.SimpleNamespace(share=10)
        settings, most = memory.little("pgvector", options, 800 << 20)
        self.assertEqual((most, settings["shared_buffers"], settings["farvec.engine_memory"]),
                         (80 << 20, "81920kB", 0))
        settings, _ = memory.little("farvec", options, 800 << 20)
        self.assertEqual((settings["farvec.engine_memory"], settings["debug_io_direct"]), ("80MB", "data"))

    def test_a_tier_that_cannot_be_is_told(self):
        facts = {**FACTS, "most": 1000, "share": 10.0,
                 "kinds": {"pgvector": {"why": "", "peak": 5000},
                           "farvec": {"failure": "tier cannot be chosen yet"}}}
        page = memory.markdown(facts, [])
        self.assertIn("- farvec is left out: tier cannot be chosen yet", page)
        self.assertIn("- pgvector's server took 5,000 bytes at most.", page)
        facts["kinds"]["pgvector"]["why"] = "no controller"
        self.assertIn("- No cgroup bounds pgvector's server: no controller.", memory.markdown(facts, []))


class Groups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        self.roots = {1: top / "memory", 2: top}

    def test_versions(self):
        with self.assertRaises(NoGroup):
            version_of(self.roots)
        (self.roots[2] / "cgroup.controllers").write_text("cpu memory\n")
        self.assertEqual(version_of(self.roots), 2)
        self.roots[1].mkdir()
        (self.roots[1] / "memory.limit_in_bytes").write_text("1")
        self.assertEqual(version_of(self.roots), 1)

    def test_a_limit_is_written(self):
        (self.roots[2] / "cgroup.controllers").write_text("memory\n")
        group = MemoryGroup("g", 4096, self.roots)
        self.assertEqual((group.folder / "memory.max").read_text(), "4096")
        self.assertEqual(group.peak(), 0)
        (group.folder / "memory.peak").write_text("77\n")
        self.assertEqual(group.peak(), 77)

    def test_a_group_that_cannot_be_made_says_why(self):
        (self.roots[2] / "cgroup.controllers").write_text("memory\n")
        (self.roots[2] / "g").write_text("a file")
        with self.assertRaisesRegex(NoGroup, "cannot be made"):
            MemoryGroup("g", 4096, self.roots)


class Arguments(unittest.TestCase):
    def test_refuse_what_cannot_be(self):
        for script, words, message in (
                ("where.py", ("--shares", "0.01"), "--shares are 0.1 to 100"),
                ("where.py", ("--shares", "few"), "could not convert"),
                ("changes.py", ("--passes", "11"), "--passes are at most 10"),
                ("changes.py", ("--updates", "0"), "--updates is at least 1"),
                ("memory.py", ("--share", "0"), "--share is more than 0"),
                ("memory.py", ("--queries", "1"), "--queries is at least 2")):
            done = subprocess.run([sys.executable, "-B", FOLDER / script, "--data", "d", "--metric", "l2", *words],
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
