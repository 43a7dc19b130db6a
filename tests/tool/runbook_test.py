"""`farvec runbook`: recall of every search against the vectors that numpy says are there then."""
import json
import signal
import subprocess
import unittest

import numpy as np

from farvec_tool import BIN, DaemonTest, farvec, read_neighbours, rest_of
from hnsw_tool import DIMENSION, K, QUERIES, SMALL_GRAPH, HnswTest, nearest

STEPS = """
tiny:
  max_pts: 300
  gt_url: "nowhere"
  1: {operation: "insert", start: 0, end: 300}
  2: {operation: "search"}
  3: {operation: "delete", start: 50, end: 150}
  4: {operation: "search"}
  5: {operation: "replace", tags_start: 200, tags_end: 260, ids_start: 400, ids_end: 460}
  6: {operation: "search"}
"""
OPERATIONS = ["insert", "search", "delete", "search", "replace", "search"]


class RunbookTest(HnswTest):
    def setUp(self):
        super().setUp()
        self.book = self.folder / "book.yaml"
        self.book.write_text(STEPS)
        self.json = self.folder / "run.jsonl"
        self.truth = self.folder / "truth"

    def command(self, *options):
        return ["runbook", self.book, "--data", self.base, "--queries", self.queries, "--metric",
                "l2", "--index", self.graph, "--list", 100, *SMALL_GRAPH[:-1], "--json", self.json,
                "--durability", "none", *options]

    def run_book(self, *options):
        return farvec(*self.command(*options))

    def rows_of(self):
        return [json.loads(line) for line in self.json.read_text().splitlines()]

    def true_neighbours(self):
        """{step: the nearest ids} by numpy."""
        row_of = {id: id for id in range(300)}
        truth = {2: self.ids_of(row_of)}
        row_of = {id: row for id, row in row_of.items() if not 50 <= id < 150}
        truth[4] = self.ids_of(row_of)
        row_of.update({200 + i: 400 + i for i in range(60)})
        truth[6] = self.ids_of(row_of)
        return truth

    def ids_of(self, row_of):
        ids = np.asarray(list(row_of))
        return ids[nearest(self.data[list(row_of.values())], self.asked)[0]]


class Runs(RunbookTest):
    def test_recall_is_of_what_is_there_at_a_step(self):
        result = self.must_pass(self.run_book("--truth", self.truth, "--keep"))
        *steps, whole = self.rows_of()
        self.assertEqual([row["operation"] for row in steps], OPERATIONS)
        self.assertEqual([row["live"] for row in steps], [300, 300, 200, 200, 200, 200])
        self.assertEqual([row["operations"] for row in steps],
                         [300, QUERIES, 100, QUERIES, 60, QUERIES])
        for number, ids in self.true_neighbours().items():
            found, _ = read_neighbours(self.truth / f"step{number}.gt{K}")
            np.testing.assert_array_equal(np.sort(found), np.sort(ids))
            self.assertGreaterEqual(steps[number - 1]["recall"], 0.95)
        searches = [row["recall"] for row in steps if "recall" in row]
        self.assertEqual(len(searches), 3)
        self.assertAlmostEqual(whole["mean_recall"], np.mean(searches))
        for name in ("read_bytes", "written_bytes"):
            self.assertEqual(whole[name], sum(row[name] for row in steps))
        self.assertEqual((whole["dataset"], whole["steps"], whole["k"]), ("tiny", 6, K))
        self.assertEqual(len(result.stdout.splitlines()), 1 + 6 + 1)
        self.assertEqual(self.verified()["count"], 200)

    def test_the_truth_is_kept_and_taken_again(self):
        self.must_pass(self.run_book("--truth", self.truth))
        self.assertFalse(self.graph.exists())
        kept = {path.name: path.stat().st_mtime_ns for path in self.truth.iterdir()}
        self.assertEqual(set(kept), {f"step{number}.gt{K}" for number in (2, 4, 6)})
        first = self.rows_of()
        self.must_pass(self.run_book("--truth", self.truth, "--slots", 1))
        self.assertEqual(kept, {path.name: path.stat().st_mtime_ns
                                for path in self.truth.iterdir()})
        self.assertGreaterEqual(self.rows_of()[-1]["mean_recall"], 0.95)
        self.assertGreaterEqual(first[-1]["mean_recall"], 0.95)
        # What it says is taken for true: of a truth by other vectors nearly nothing is found.
        truth = self.truth / f"step4.gt{K}"
        raw = np.fromfile(truth, dtype="<u4")
        cells = QUERIES * K
        raw[2:2 + cells] = np.tile(np.arange(40, 50), QUERIES)
        raw[2 + cells:].view("<f4")[:] = -1
        raw.tofile(truth)
        self.must_pass(self.run_book("--truth", self.truth))
        self.assertLess(self.rows_of()[3]["recall"], 0.5)
        raw[2:2 + cells] = np.tile(np.arange(60, 70), QUERIES)
        raw.tofile(truth)
        self.must_refuse(self.run_book("--truth", self.truth), f"step4.gt{K}", "another runbook")


class Filters(RunbookTest, DaemonTest):
    """Rows have the attributes of the data's rows, and all searches one condition."""

    SCHEMA = "price: i64, name: string"

    def setUp(self):
        super().setUp()
        self.attributes = self.folder / "base.jsonl"
        self.attributes.write_text("".join(
            json.dumps({"price": row, "name": f"n{row % 3}"}) + "\n" for row in range(len(self.data))))

    def run_filtered(self, *options, kind=()):
        return farvec("runbook", self.book, "--data", self.base, "--queries", self.queries, "--metric",
                      "l2", "--list", 400, "--attributes", self.attributes, "--json", self.json,
                      *(kind or ("--kind", "collection", "--index", self.graph, "--schema", self.SCHEMA,
                                 "--memtable-rows", 64, "--durability", "none")), *options)

    def true_among(self, meets):
        """{step: the ids that meet the condition on their row}, each query's nearest first."""
        row_of = {id: id for id in range(300)}
        rows = {2: dict(row_of)}
        row_of = {id: row for id, row in row_of.items() if not 50 <= id < 150}
        rows[4] = dict(row_of)
        row_of.update({200 + i: 400 + i for i in range(60)})
        rows[6] = row_of
        return {step: self.ids_of({id: row for id, row in of.items() if meets(row)})
                for step, of in rows.items()}

    def test_recall_is_among_the_rows_that_meet_the_condition(self):
        self.must_pass(self.run_filtered("--filter", "price < 220 and name != 'n1'", "--truth",
                                         self.truth, "--rebuild-every", 1))
        *steps, whole = self.rows_of()
        self.assertEqual([row["recall"] for row in steps if "recall" in row], [1, 1, 1])
        self.assertEqual([row["rebuilt"]["recall"] for row in steps if "recall" in row], [1, 1, 1])
        self.assertEqual(whole["index"]["filter"], "price < 220 and name != 'n1'")
        for number, ids in self.true_among(lambda row: row < 220 and row % 3 != 1).items():
            found, _ = read_neighbours(self.truth / f"step{number}.gt{K}")
            np.testing.assert_array_equal(np.sort(found), np.sort(ids))
        # The same folder has no truth of another condition, nor of none.
        for options in (["--filter", "price < 200"], []):
            self.must_refuse(self.run_filtered(*options, "--truth", self.truth), "folder of its own")

    def test_fewer_than_k_may_meet_it(self):
        self.must_pass(self.run_filtered("--filter", "price in (3, 60, 205)", "--truth", self.truth))
        self.assertEqual([row["recall"] for row in self.rows_of() if "recall" in row], [1, 1, 1])
        self.assertEqual([path.name for path in self.truth.iterdir()], ["filter.txt"])

    def test_a_node_is_asked_so_too(self):
        folder = self.folder / "collection"
        self.must_pass(farvec("collection", "create", "--collection", folder, "--like", self.base,
                              "--metric", "l2", "--memtable-rows", 64, "--schema", self.SCHEMA))
        self.folders_of_daemons.append(folder)
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", "--collection", folder, "--listen", address, "--threads", 1)
        self.await_status(address)
        self.must_pass(self.run_filtered("--filter", "price < 220", kind=("--connect", address)))
        self.assertEqual([row["recall"] for row in self.rows_of() if "recall" in row], [1, 1, 1])

    def test_what_cannot_be_is_refused(self):
        hnsw = ("--index", self.graph)
        self.must_refuse(self.run_filtered(kind=hnsw), "--attributes", "--kind collection")
        bare = (*hnsw, "--kind", "collection")
        self.must_refuse(self.run_filtered(kind=bare), "--attributes", "--schema")
        self.must_refuse(self.run_filtered("--filter", "prise < 3"), "--filter", "prise")
        self.must_refuse(self.run_filtered("--filter", "price < 0"), "--filter", "no row")
        owned = (*bare, "--schema", "price: i64, name: string tenant")
        for wrong in ([], ["--filter", "price < 220"]):
            self.must_refuse(self.run_filtered(*wrong, kind=owned), "--filter", "names none")
        self.must_pass(self.run_filtered("--filter", "name = 'n1'", kind=owned))
        self.must_refuse(self.run_filtered(kind=(*bare, "--schema", "price: i65")), "--schema", "i65")
        self.attributes.write_text('{"price": 1}\n')
        self.must_refuse(self.run_filtered(), "base.jsonl", "1 rows")


class FewerBits(RunbookTest):
    """Segments that have fewer bits than the data."""

    def run_reduced(self, *options, kind=("--kind", "collection", "--memtable-rows", 64)):
        return farvec("runbook", self.book, "--data", self.base, "--queries", self.queries, "--metric",
                      "l2", "--index", self.graph, "--durability", "none", "--json", self.json,
                      *kind, *options)

    def test_a_second_copy_ranks_again(self):
        for options in (["--store", "b1", "--by", "mean", "--second-tier", "ssd"],
                        ["--store", "i8", "--segments", "cluster", "--probe", 400],
                        ["--store", "f16", "--segments", "slotted"]):
            with self.subTest(options):
                self.must_pass(self.run_reduced("--list", 400, *options, "--rebuild-every", 1))
                *steps, whole = self.rows_of()
                self.assertEqual([row["recall"] for row in steps if "recall" in row], [1, 1, 1])
                self.assertEqual([row["rebuilt"]["recall"] for row in steps if "recall" in row],
                                 [1, 1, 1])
                self.assertEqual(whole["index"]["store"], options[1])
                self.assertIn("second_tier", whole["index"])

    def test_refine_ranks_fewer(self):
        recall = {}
        for refine in (1, 30):
            self.must_pass(self.run_reduced("--list", 400, "--store", "b1", "--refine", refine))
            *steps, whole = self.rows_of()
            self.assertEqual(whole["index"]["refine"], refine)
            recall[refine] = [row["recall"] for row in steps if "recall" in row]
        self.assertLess(max(recall[1]), min(recall[30]))

    def test_what_would_be_ignored_is_refused(self):
        self.must_refuse(self.run_reduced("--refine", 2), "--refine", "--store")
        self.must_refuse(self.run_reduced("--second-tier", "ssd"), "--second-tier", "--store")
        self.must_refuse(self.run_reduced("--store", "i8", "--by", "mean"), "--by", "b1")
        self.must_refuse(self.run_reduced("--segments", "cluster", "--list", 40), "--list", "--store")
        self.must_refuse(self.run_reduced("--store", "b1", kind=()), "--store", "--kind collection")
        self.assertFalse(self.graph.exists())


class OverANode(RunbookTest, DaemonTest):
    """The index is what a compute node serves."""

    def serve(self, *source):
        self.folders_of_daemons.append(source[1])
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", *source, "--listen", address, "--threads", 1, "--slots", 4)
        self.await_status(address)
        return address

    def run_remote(self, address, *options):
        return farvec("runbook", self.book, "--data", self.base, "--queries", self.queries,
                      "--metric", "l2", "--connect", address, "--list", 100, "--slots", 3, "--json",
                      self.json, "--truth", self.truth, *options)

    def empty_collection(self, *options):
        folder = self.folder / "collection"
        self.must_pass(farvec("collection", "create", "--collection", folder, "--like", self.base,
                              "--metric", "l2", "--memtable-rows", 64, *options))
        return folder

    def check_rows(self):
        rows = self.rows_of()
        self.assertEqual([r["operation"] for r in rows[:-1]], OPERATIONS)
        self.assertEqual([r["live"] for r in rows[:-1]], [300, 300, 200, 200, 200, 200])
        self.assertEqual([r["recall"] for r in rows[:-1] if "recall" in r], [1, 1, 1])
        self.assertGreater(rows[0]["written_bytes"], 300 * DIMENSION * 4)
        self.assertGreater(rows[0]["stored_bytes"], 0)
        self.assertEqual(rows[-1]["index"]["kind"], "node")
        return rows

    def test_of_a_collection(self):
        address = self.serve("--collection", self.empty_collection())
        self.must_pass(self.run_remote(address))
        self.assertEqual(self.check_rows()[-1]["index"]["now"]["vectors"], 200)

    def test_of_a_graph_on_pages(self):
        self.made()
        self.changed("delete", "--range", "0:600")
        self.changed("vacuum")
        address = self.serve("--paged", self.graph)
        self.must_pass(self.run_remote(address, "--vacuum-share", "20%"))
        now = self.check_rows()[-1]["index"]["now"]
        self.assertEqual((now["vectors"], now["pages"]["vacuumed"]), (200, 160))
        self.processes.close()
        self.assertEqual(self.verified()["count"], 200)

    def test_rows_that_are_there_are_refused(self):
        address = self.serve("--collection", self.empty_collection())
        self.must_pass(self.run_remote(address))
        self.must_refuse(self.run_remote(address), address, "200 vectors already")

    def test_options_of_a_folder_are_refused(self):
        for options in (["--index", self.graph], ["--buffer", "1MiB"], ["--kind", "hnsw"],
                        ["--memory-budget", "1MiB"], ["--tier", "dram"], ["--replicas", 2],
                        ["--degree", 16], ["--durability", "none"]):
            self.must_refuse(self.run_remote("unix:/nowhere", *options), options[0])


class Failures(RunbookTest):
    def refuse(self, old, new, *words, options=()):
        self.book.write_text(STEPS.replace(old, new))
        self.must_refuse(self.run_book(*options), *words)
        self.assertFalse(self.graph.exists())
        self.assertFalse(self.json.exists())

    def test_bad_runbooks_are_refused_before_anything_is_built(self):
        self.refuse("50, end: 150", "50, end: 350", "step 3", "300", "not there")
        self.refuse("start: 0, end: 300", "start: 0, end: 700", "step 1", "700", "600")
        self.refuse('"replace"', '"swap"', "step 5", "swap", "replace")
        self.refuse("tags_end: 260", "tags_end: 261", "step 5", "61", "60")
        self.refuse("start: 50, end: 150", "start: 150, end: 50", "step 3", "no range")
        self.refuse("start: 50, end: 150", "start: -50, end: 150", "step 3", "start")
        self.refuse("  4:", "  7:", "steps are numbered")
        self.refuse("max_pts: 300", "max_pts: 299", "299", "max_pts")
        self.refuse(STEPS, STEPS.split("  2:")[0], "searches nothing")
        self.refuse("tiny:", "tiny: [", "book.yaml", "YAML")
        self.refuse(STEPS, "", "no runbook")
        self.refuse("max", "max", "other", "tiny", options=("--dataset", "other"))
        self.refuse("max", "max", "350 neighbours", "300", options=("--k", 350))

    def test_a_folder_with_something_in_it_is_kept(self):
        self.graph.mkdir()
        (self.graph / "thesis.txt").write_text("mine")
        self.must_refuse(self.run_book(), str(self.graph))
        self.assertEqual((self.graph / "thesis.txt").read_text(), "mine")

    def test_an_interrupt_keeps_what_was_measured(self):
        searches = "".join(f'  {number}: {{operation: "search"}}\n' for number in range(7, 20_000))
        self.book.write_text(STEPS + searches)
        process = subprocess.Popen([str(BIN / "farvec"), *map(str, self.command())],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        printed = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        rest, errors = rest_of(process)
        self.assertEqual(process.returncode, 130, errors)
        steps = self.rows_of()
        self.assertEqual(len(steps), len(printed) - 1 + len(rest.splitlines()))
        self.assertLess(len(steps), 19_999)
        self.assertEqual([row["operation"] for row in steps[:3]], OPERATIONS[:3])
        self.assertFalse(self.graph.exists())


if __name__ == "__main__":
    unittest.main()
