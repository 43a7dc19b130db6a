"""Streaming runbooks: their shape, their steps, the true neighbours of every search."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import yaml

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "runbooks"
FARVEC = pathlib.Path(os.environ.get("FARVEC_BIN_DIR", ROOT / "build/release/bin")) / "farvec"
sys.path.insert(0, str(SCRIPTS))

import make  # noqa: E402
import runbook  # noqa: E402
import truth  # noqa: E402
from runbook import Step  # noqa: E402


def run(script, *arguments):
    return subprocess.run(["/usr/bin/python3", "-B", SCRIPTS / script, *map(str, arguments)],
                          capture_output=True, text=True, check=False, timeout=110,
                          env={**os.environ, "FARVEC": str(FARVEC)})


def write_rows(path, rows):
    path.write_bytes(np.asarray(rows.shape, "<u4").tobytes() + rows.tobytes())
    return path


def read_rows(path, element_type):
    count, dimension = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, element_type, offset=8).reshape(count, dimension)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def write_book(self, text):
        path = self.out / "book.yaml"
        path.write_text(text)
        return path


class Reading(FolderTest):
    def test_the_tracks_own_shape(self):
        path = self.write_book("""
random-xs-clustered:
  max_pts: 600
  1:
    operation: "insert"
    start: 0
    end: 326
  3:
    operation: 'delete'
    end: 100
    start: 50
  2:
    operation: "search"
  gt_url: "https://example.org/gt"
other:
  1:
    operation: "search"
""")
        name, steps = runbook.read(path, "random-xs-clustered")
        self.assertEqual(name, "random-xs-clustered")
        self.assertEqual(steps, [Step("insert", 0, 326), Step("search"), Step("delete", 50, 100)])
        with self.assertRaisesRegex(ValueError, "runbooks of random-xs-clustered, other: name one"):
            runbook.read(path)
        with self.assertRaisesRegex(ValueError, "no runbook of third"):
            runbook.read(path, "third")

    def test_says_what_is_wrong(self):
        for text, message in (
                ("a: [", "is not YAML"), ("", "no data set in it"), ("a: 1", "no runbook of a"),
                ("a: {max_pts: 5}", "not numbered from 1 on"),
                ("a: {2: {operation: search}}", "not numbered from 1 on"),
                ("a: {1: {operation: replace}}", "step 1: no operation insert, delete or search"),
                ("a: {1: search}", "step 1: no operation"),
                ("a: {1: {operation: insert, start: 0}}", "step 1: end is not a whole number"),
                ("a: {1: {operation: insert, start: x, end: 2}}", "start is not a whole number")):
            with self.assertRaisesRegex(ValueError, message):
                runbook.read(self.write_book(text))

    def test_what_is_written_is_read(self):
        steps = [Step("insert", 0, 7), Step("search"), Step("delete", 2, 5), Step("insert", 3, 4)]
        runbook.write(self.out / "a.yaml", "set", steps, 7)
        self.assertEqual(runbook.read(self.out / "a.yaml"), ("set", steps))
        content = yaml.safe_load((self.out / "a.yaml").read_text())["set"]
        self.assertEqual(content["max_pts"], 7)
        self.assertEqual(content[2], {"operation": "search"})
        self.assertEqual(content[3], {"operation": "delete", "start": 2, "end": 5})


class Checking(unittest.TestCase):
    def test_counts_the_rows_that_are_in(self):
        self.assertEqual(runbook.check([Step("insert", 0, 6), Step("delete", 0, 4),
                                        Step("insert", 2, 4), Step("search")], 6), 6)

    def test_refuses_steps_that_make_no_sense(self):
        some = Step("insert", 0, 5)
        for steps, message in (
                ([Step("search")], "step 1 searches before anything is inserted"),
                ([some, Step("insert", 4, 6)], r"step 2 \(insert 4:6\): row 4 is in already"),
                ([some, Step("delete", 3, 6)], r"step 2 \(delete 3:6\): row 5 is not in"),
                ([Step("insert", 5, 11)], "the rows are from 0 to 9"),
                ([Step("insert", -1, 2)], "the rows are from 0 to 9"),
                ([Step("insert", 4, 4)], "the rows are from 0 to 9")):
            with self.assertRaisesRegex(ValueError, message):
                runbook.check(steps, 10)


class Making(FolderTest):
    def test_sliding_keeps_its_window(self):
        steps = make.sliding(1003, 100, 40)
        self.assertEqual(sum(step.operation == "insert" for step in steps), 100)
        self.assertEqual(sum(step.operation == "delete" for step in steps), 60)
        self.assertEqual(sum(step.operation == "search" for step in steps), 100)
        live = runbook.LiveRows(1003)
        for number, step in enumerate(steps, 1):
            live.apply(number, step)
        self.assertTrue(live.inside[-401:].all())
        self.assertFalse(live.inside[:601].any())

    def test_growing_puts_half_in_at_once(self):
        steps = make.growing(101, 3)
        self.assertEqual(steps[0], Step("insert", 0, 50))
        self.assertEqual([step.operation for step in steps], ["insert", "search"] * 4)
        self.assertEqual(runbook.check(steps, 101), 101)

    def test_clustered_goes_through_every_row(self):
        sizes = np.asarray([300, 1, 0, 50, 2000])
        steps = make.clustered(sizes, 3)
        live, seen = runbook.LiveRows(2351), np.zeros(2351, bool)
        for number, step in enumerate(steps, 1):
            live.apply(number, step)
            seen |= live.inside
        self.assertTrue(seen.all())
        self.assertLess(live.inside[:300].sum(), 300)
        self.assertEqual(steps, make.clustered(sizes, 3))
        self.assertNotEqual(steps, make.clustered(sizes, 4))

    def test_clustered_writes_rows_by_cluster(self):
        random = np.random.default_rng(1)
        centres = random.normal(size=(6, 9)) * 50
        rows = (centres[random.integers(0, 6, 900)] + random.normal(size=(900, 9))).astype("<f4")
        data = write_rows(self.out / "base.fbin", rows)
        done = run("make.py", "clustered", "--data", data, "--clusters", 6, "--name", "blobs",
                   "--permuted", self.out / "permuted.fbin", "--out", self.out / "c.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        permuted = read_rows(self.out / "permuted.fbin", "<f4")
        self.assertEqual(sorted(map(bytes, permuted)), sorted(map(bytes, rows)))
        name, steps = runbook.read(self.out / "c.yaml")
        self.assertEqual(name, "blobs-clustered")
        for step in steps:
            if step.operation == "insert":
                spread = permuted[step.start:step.end].std(axis=0).max()
                self.assertLess(spread, 60)

    def test_says_what_does_not_fit(self):
        data = write_rows(self.out / "base.u8bin", np.zeros((20, 4), np.uint8))
        for arguments, message in (
                (("--batches", 30), "30 batches, a window of 50"),
                (("--batches", 10, "--window", 0), "do not go together")):
            done = run("make.py", "sliding", "--data", data, "--out", self.out / "s.yaml",
                       *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
        data.write_bytes(data.read_bytes()[:-1])
        done = run("make.py", "sliding", "--data", data, "--out", self.out / "s.yaml")
        self.assertIn("not 20 rows of 4", done.stderr)
        self.assertFalse((self.out / "s.yaml").exists())


class Truth(FolderTest):
    def test_keys_keep_the_order(self):
        distances = np.asarray([-3.5, -0.0, 0.0, 1e-30, 2, 2, np.inf], np.float32)
        ids = np.asarray([9, 5, 6, 1, 2, 4_000_000_000, 0], np.uint32)
        keys = truth.keys_of(ids, distances)
        self.assertTrue((np.diff(keys.astype(object)) > 0).all())
        found = truth.ids_and_distances(keys)
        np.testing.assert_array_equal(found[0], ids)
        np.testing.assert_array_equal(found[1], distances)

    def test_segments(self):
        steps = [Step("insert", 0, 10), Step("search"), Step("delete", 3, 5), Step("insert", 4, 5)]
        self.assertEqual(truth.segments_of(steps), [(0, 3), (3, 4), (4, 5), (5, 10)])
        apart = [Step("insert", 0, 10), Step("insert", 90, 95)]
        self.assertEqual(truth.segments_of(apart), [(0, 10), (90, 95)])

    def check_steps(self, metric, suffix, rows, queries):
        data = write_rows(self.out / f"base.{suffix}", rows)
        write_rows(self.out / f"query.{suffix}", queries)
        steps = [Step("insert", 0, 230), Step("search"), Step("delete", 20, 90),
                 Step("insert", 400, 471), Step("search"), Step("insert", 50, 90), Step("search")]
        runbook.write(self.out / "book.yaml", "set", steps, len(rows))
        done = run("truth.py", self.out / "book.yaml", "--data", data, "--queries",
                   self.out / f"query.{suffix}", "--metric", metric)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.out / str(len(rows)) / "book.yaml"
        self.assertEqual({path.name for path in folder.iterdir()},
                         {f"step{number}.gt100" for number in (2, 5, 7)})
        exact, asked = rows.astype(np.float64), queries.astype(np.float64)
        if metric == "l2":
            distances = ((exact[None] - asked[:, None])**2).sum(axis=2)
        else:
            distances = -(asked @ exact.T)
        live = runbook.LiveRows(len(rows))
        for number, step in enumerate(steps, 1):
            live.apply(number, step)
            if step.operation == "search":
                raw = np.fromfile(folder / f"step{number}.gt100", "<u4")
                self.assertEqual(raw[:2].tolist(), [len(queries), 100])
                ids, found = raw[2:].reshape(2, len(queries), 100)
                inside = np.where(live.inside, distances, np.inf)
                expected = np.argsort(inside, axis=1, kind="stable")[:, :100]
                np.testing.assert_array_equal(ids, expected)
                np.testing.assert_allclose(found.view("<f4"),
                                           np.take_along_axis(inside, expected, 1), rtol=1e-5)

    def test_true_neighbours_of_every_search(self):
        if not FARVEC.exists():
            self.skipTest(f"{FARVEC} is not built")
        random = np.random.default_rng(2)
        small = random.integers(0, 9, (471, 7)).astype(np.uint8)  # many equal distances
        self.check_steps("l2", "u8bin", small, random.integers(0, 9, (600, 7)).astype(np.uint8))
        some = random.integers(-8, 8, (471, 5)).astype("<f4")
        self.check_steps("ip", "fbin", some, random.integers(-8, 8, (30, 5)).astype("<f4"))

    def test_goes_on_after_an_interruption(self):
        if not FARVEC.exists():
            self.skipTest(f"{FARVEC} is not built")
        random = np.random.default_rng(3)
        data = write_rows(self.out / "base.fbin", random.normal(size=(300, 4)).astype("<f4"))
        runbook.write(self.out / "book.yaml", "set", make.sliding(300, 3, 2), 300)
        arguments = [self.out / "book.yaml", "--data", data, "--queries", data, "--metric", "l2",
                     "--out", self.out / "gt"]
        self.assertEqual(run("truth.py", *arguments).returncode, 0)
        first = (self.out / "gt" / "step7.gt100").read_bytes()
        (self.out / "gt" / "step7.gt100").unlink()
        (self.out / "gt" / "step7.gt100").mkdir()  # in the way
        self.assertEqual(run("truth.py", *arguments).returncode, 1)
        self.assertEqual(len(list(self.out.glob("gt/parts-*/*.ibin"))), 3)
        (self.out / "gt" / "step7.gt100").rmdir()
        done = run("truth.py", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.out / "gt" / "step7.gt100").read_bytes(), first)
        self.assertFalse(list(self.out.glob("gt/parts*")))

    def test_says_what_is_wrong(self):
        data = write_rows(self.out / "base.fbin", np.zeros((200, 3), "<f4"))
        for text, message in (
                ("a: {1: {operation: insert, start: 0, end: 99}, 2: {operation: search}}",
                 "error: step 2 searches 99 rows, fewer than 100"),
                ("a: {1: {operation: insert, start: 0, end: 300}}", "the rows are from 0 to 199"),
                ("a: {}", "the steps of a are not numbered from 1 on")):
            done = run("truth.py", self.write_book(text), "--data", data, "--queries", data,
                       "--metric", "l2", "--out", self.out / "gt")
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertFalse(list(self.out.glob("gt/*")))


if __name__ == "__main__":
    unittest.main()
