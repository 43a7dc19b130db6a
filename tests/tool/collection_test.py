"""`farvec collection`: what is inserted, replaced and deleted, as numpy says it should be found."""
import json
import subprocess
import threading
import unittest

import numpy as np

from farvec_tool import BIN, ToolTest, farvec, write_vectors
from hnsw_tool import nearest, write_neighbours

DIMENSION, ROWS, QUERIES, K = 9, 700, 20, 5
SMALL = ["--memtable-rows", 128, "--merge-fanout", 2, "--degree", 12, "--list", 24]


class CollectionTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        self.base = write_vectors(self.folder / "base", self.data)
        self.asked = self.rows(QUERIES, DIMENSION, np.float32)
        self.queries = write_vectors(self.folder / "queries", self.asked)
        self.live = {}  # row by id

    def collection(self, command, *options):
        return farvec("collection", command, "--collection", self.set, *options)

    def report(self, command, *options):
        result = self.must_pass(self.collection(command, *options, "--json"))
        return json.loads(result.stdout)

    def made(self, *options):
        return self.report("create", "--metric", "l2", "--like", self.base, *SMALL, *options)

    def inserted(self, begin, end, first_id=0, *options):
        self.live.update({first_id + row: row for row in range(begin, end)})
        return self.report("insert", "--data", self.base, "--range", f"{begin}:{end}",
                           "--first-id", first_id, "--quiet", *options)

    def deleted(self, begin, end):
        gone = [self.live.pop(id) for id in range(begin, end) if id in self.live]
        report = self.report("delete", "--range", f"{begin}:{end}", "--quiet")
        self.assertEqual(report["deleted"], len(gone))
        self.assertEqual(report["missing"], end - begin - len(gone))
        return report

    def truth(self):
        """File of the K nearest live ids of every query."""
        ids = np.asarray(sorted(self.live))
        places, distances = nearest(self.data[[self.live[id] for id in ids]], self.asked, k=K)
        return write_neighbours(self.folder / "truth.ibin", ids[places], distances)

    def searched(self, *options):
        """Rows of the search's JSON."""
        out = self.folder / "search.jsonl"
        self.must_pass(self.collection("search", "--queries", self.queries, "--groundtruth",
                                       self.truth(), "--k", K, "--json", out, *options))
        return [json.loads(line) for line in out.read_text().splitlines()]

    def book(self):
        """File of a runbook that leaves 400 of 600 rows."""
        path = self.folder / "book.yaml"
        path.write_text("tiny:\n  max_pts: 600\n"
                        "  1: {operation: insert, start: 0, end: 600}\n"
                        "  2: {operation: search}\n"
                        "  3: {operation: delete, start: 50, end: 250}\n"
                        "  4: {operation: search}\n")
        return path

    def assert_found(self, *options):
        row, = self.searched("--list", 500, *options)
        self.assertEqual(row["recall"], 1)
        self.assertEqual(row["collection"]["vectors"], len(self.live))
        verified = self.report("verify")
        self.assertTrue(verified["sound"])
        self.assertEqual(verified["vectors"], len(self.live))


class Following(CollectionTest):
    def test_a_reader_sees_what_a_writer_does(self):
        self.made()
        watcher = subprocess.Popen(
            [str(BIN / "farvec"), "collection", "follow", "--collection", str(self.set), "--every",
             "0.02", "--seconds", "600", "--json"], stdout=subprocess.PIPE, text=True)
        try:
            first = json.loads(watcher.stdout.readline())
            self.assertEqual(first["vectors"], 0)
            self.inserted(0, 400)
            self.deleted(100, 150)
            self.report("compact")
            self.inserted(400, 500)
            for line in watcher.stdout:
                seen = json.loads(line)
                if seen["vectors"] == 450 and seen["segments"] > 0:
                    break
            self.assertEqual(seen["version"], 550)
            self.assertGreater(seen["switches"], 0)
            self.assertNotIn("failure", seen)
        finally:
            watcher.terminate()
            self.assertEqual(watcher.wait(60), 0)
            watcher.stdout.close()

    def test_none_is_refused(self):
        result = farvec("collection", "follow", "--collection", self.folder / "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none", result.stderr)


class Changes(CollectionTest):
    def test_what_is_inserted_is_found(self):
        made = self.made()
        self.assertEqual((made["dimension"], made["type"]), (DIMENSION, "f32"))
        report = self.inserted(0, 100)
        self.assertEqual((report["inserted"], report["replaced"]), (100, 0))
        self.assert_found()

    def test_changes_one_after_the_other(self):
        self.made("--code-bits", 4)
        self.inserted(0, 400)
        self.assert_found()
        self.deleted(50, 90)
        self.inserted(400, 450)
        report = self.inserted(500, 600, 1000)
        self.assertEqual(report["version"], 400 + 40 + 50 + 100)
        self.assert_found()

    def test_an_id_that_is_there_gets_the_new_vector(self):
        self.made()
        self.inserted(0, 300)
        rows = write_vectors(self.folder / "other", self.data[300:350])
        report = self.report("insert", "--data", rows, "--first-id", 100, "--quiet")
        self.assertEqual((report["inserted"], report["replaced"]), (50, 50))
        self.live.update({100 + i: 300 + i for i in range(50)})
        self.assert_found()

    def test_imports_and_compaction(self):
        self.made("--layout", "packed")
        self.inserted(0, 500, 0, "--import")
        self.inserted(500, 560)
        self.deleted(0, 30)
        self.assert_found()
        self.report("compact", "--quiet")
        facts = self.report("inspect")
        self.assertEqual((facts["segments"], facts["out_rows"], facts["memtable_vectors"]),
                         (1, 0, 0))
        self.assert_found()
        self.assert_found("--tier", "emulated:rdma", "--width", 4)

    def test_cosine_of_bytes(self):
        self.data = self.rows(300, DIMENSION)
        base = write_vectors(self.folder / "bytes", self.data)
        self.must_pass(self.collection("create", "--metric", "cosine", "--type", "u8",
                                       "--dimension", DIMENSION, *SMALL))
        self.report("insert", "--data", base, "--quiet")
        self.assertEqual(self.report("verify")["vectors"], 300)

    def test_ids_of_a_file(self):
        self.made()
        self.inserted(0, 100)
        ids = self.folder / "ids.ibin"
        ids.write_bytes(np.asarray([3, 1, 5, 50, 5000], "<u4").tobytes())
        report = self.report("delete", "--ids", ids, "--quiet")
        self.assertEqual((report["deleted"], report["missing"]), (2, 1))
        del self.live[5], self.live[50]
        self.assert_found()


class VerifiedBeside(CollectionTest):
    def test_a_writer_that_merges_is_no_damage(self):
        self.made()
        self.inserted(0, 300)
        stop = threading.Event()

        def merge():
            while not stop.is_set():
                self.must_pass(self.collection("insert", "--data", self.base, "--range", "0:150",
                                               "--quiet"))
                self.must_pass(self.collection("compact", "--quiet"))

        writer = threading.Thread(target=merge)
        writer.start()
        try:
            for _ in range(25):
                self.assertEqual(self.report("verify", "--quiet")["vectors"], 300)
        finally:
            stop.set()
            writer.join()


class Refusals(CollectionTest):
    def test_what_makes_no_collection(self):
        self.must_refuse(self.collection("create", "--metric", "l2"), "--dimension", "--like")
        self.must_refuse(self.collection("create", "--metric", "l9", "--like", self.base), "l9")
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                         "--layout", "padded"), "padded")
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base,
                                         "--layout", "inline", "--code-bits", 8), "code")
        self.assertFalse(self.set.exists())
        self.made()
        self.must_refuse(self.collection("create", "--metric", "l2", "--like", self.base), "set")

    def test_rows_that_do_not_fit(self):
        self.must_refuse(self.collection("insert", "--data", self.base), "collection.json")
        self.made()
        wide = write_vectors(self.folder / "wide", self.rows(5, DIMENSION + 1, np.float32))
        self.must_refuse(self.collection("insert", "--data", wide), str(DIMENSION + 1))
        self.must_refuse(self.collection("insert", "--data", self.base, "--first-id", 2**64 - 5),
                         "--first-id")
        self.must_refuse(self.collection("delete"), "--ids", "--range")
        self.must_refuse(self.collection("delete", "--range", "5:"), "--range", "no end")
        self.must_refuse(self.collection("insert", "--data", self.base, "--range", "5:90000"),
                         "--range", str(ROWS))
        self.must_refuse(self.collection("search", "--queries", wide), str(DIMENSION + 1))
        self.must_refuse(self.collection("search", "--queries", self.queries, "--list", 3), "list")
        self.assertEqual(self.report("verify")["vectors"], 0)

    def test_damaged_files_are_named(self):
        self.made()
        self.inserted(0, 300)
        self.deleted(0, 10)
        # A process that ends beside a merge leaves segments that no manifest names.
        manifest = json.loads((self.set / "collection.json").read_text())
        named = {f"{segment['number']:012}" for segment in manifest["segments"]}
        files = [path for path in self.set.rglob("*") if path.is_file()
                 and (path.parent.parent.name != "segments" or path.parent.name in named)]
        self.assertGreater(len(files), 5)
        for path in files:
            if path.parent.name == "log":
                continue
            whole = path.read_bytes()
            damaged = bytearray(whole)
            # What a segment's manifest says of its writer has no checksum, and nothing relies on it.
            middle = len(damaged) // 2
            damaged[whole.index(b'"regions"') + 1 if path.name == "manifest.json" else middle] ^= 16
            path.write_bytes(damaged)
            with self.subTest(path=path):
                self.must_refuse(self.collection("verify", "--quiet"), "set")
            path.write_bytes(whole)
        self.assert_found()


class Runbook(CollectionTest):
    def test_steps_on_a_collection(self):
        out = self.folder / "run.jsonl"
        run = ["runbook", self.book(), "--kind", "collection", "--data", self.base, "--queries",
               self.queries, "--metric", "l2", "--index", self.set, "--k", K, "--list", 500,
               "--memtable-rows", 128, "--merge-fanout", 2, "--degree", 12, "--json", out]
        self.must_pass(farvec(*run))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual([row.get("recall") for row in rows[:4]], [None, 1, None, 1])
        self.assertEqual(rows[-1]["mean_recall"], 1)
        self.assertEqual(rows[-1]["index"]["now"]["vectors"], 400)
        self.assertFalse(self.set.exists())
        self.must_refuse(farvec(*run, "--buffer", "20%"), "--buffer")
        run[3] = "hnsw"
        self.must_refuse(farvec(*run), "--memtable-rows")


if __name__ == "__main__":
    unittest.main()
