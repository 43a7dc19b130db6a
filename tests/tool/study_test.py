"""The study of the papers: its numbers stand in the papers' text, its sentences follow from what was
measured, and a tiny run writes a page and goes on where it was ended."""
import json
import pathlib
import subprocess
import sys
import unittest

import numpy as np

from farvec_tool import BIN, ToolTest, farvec, write_vectors

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ROOT.parent / "shared" / "papers"
sys.path.insert(0, str(ROOT / "scripts"))
from study import lab, papers, pool_policies, registry, store, verdict  # noqa: E402  (found once the path is there)


def plain(text):
    return " ".join(text.split())


def number(low, high=None, unit="times", here="", there=""):
    return papers.Number("a", "the rate", here, there, low, low if high is None else high, unit,
                         "Evaluation", "")


class PapersNumbers(unittest.TestCase):
    def setUp(self):
        self.papers = papers.load()

    def test_every_item_has_its_figure(self):
        for item in registry.chosen([]):
            paper = self.papers[item.paper]
            self.assertIn(item.name.split("-")[1], paper.figures, item.name)
        named = {item.name for item in registry.chosen([])}
        for name, paper in self.papers.items():
            self.assertEqual({f"{name}-{figure}" for figure in paper.figures} - named, set())

    def test_every_number_is_whole(self):
        for paper in self.papers.values():
            for figure in paper.figures.values():
                self.assertTrue(figure.label.startswith(("Figure", "Table", "Section")), figure.label)
                for some in figure.numbers.values():
                    self.assertLessEqual(some.low, some.high, some)
                    self.assertTrue(some.what and some.section and some.quote, some)

    @unittest.skipUnless(TEXTS.exists(), f"no data: {TEXTS} is not there")
    def test_the_quotes_stand_in_the_papers_text(self):
        for paper in self.papers.values():
            text = plain((TEXTS / paper.file).read_text())
            for figure in paper.figures.values():
                for some in figure.numbers.values():
                    self.assertIn(plain(some.quote), text, some.name)
                    self.assertIn(some.section, text, some.name)

    def test_a_number_of_a_table_stands_in_its_column(self):
        tables = 0
        for paper in self.papers.values():
            text = plain((TEXTS / paper.file).read_text()) if TEXTS.exists() else None
            for figure in paper.figures.values():
                self.assertEqual(bool(figure.columns), bool(figure.table), figure.label)
                if not figure.table:
                    continue
                tables += 1
                columns, row = figure.table["columns"], figure.table["row"]
                self.assertEqual(len(columns), len(row))
                for name, column in figure.columns.items():
                    value = float(row[columns.index(column)])
                    self.assertEqual((figure.numbers[name].low, figure.numbers[name].high), (value, value))
                if text is not None:
                    self.assertIn("".join(columns), text)
                    self.assertIn("".join(row), text)
        self.assertEqual(tables, 1)

    def test_a_broken_file_is_named(self):
        with self.assertRaisesRegex(Exception, "none.json"):
            papers.load(pathlib.Path("none.json"))


class Verdicts(unittest.TestCase):
    def test_the_rule(self):
        for ours, low, high, tolerance, status in (
                (1.3, 1.2, 1.6, 0.1, "agree"), (1.09, 1.2, 1.6, 0.1, "agree"),
                (1.07, 1.2, 1.6, 0.1, "differ"), (1.77, 1.2, 1.6, 0.1, "differ"),
                ((0.1, 1.3, 9.0), 1.2, 1.6, 0.0, "agree"), ((1.3, 9.0, 9.0), 1.2, 1.6, 0.1, "differ"),
                (-5.2, -5, -5, 0.05, "agree"), (0.0, 0, 0, 0.1, "agree"),
                (verdict.Unseen("no disk"), 1, 1, 0.1, "unseen")):
            claim = verdict.Claim(number(low, high), ours, tolerance)
            self.assertEqual(claim.status(), status, (ours, low, high))

    def test_a_ratio_on_the_other_side_of_1_never_agrees(self):
        inf = float("inf")
        for ours, low, high, status in (
                (0.977, 1, inf, "differ"), (1.04, -inf, 1, "differ"), (0.95, 1, 1.7, "differ"),
                (1.05, 0.8, 0.99, "differ"), (1.0, 1, 1.2, "agree"), (1.25, 1, 1.2, "agree"),
                (0.97, 1, 1, "agree"), (1.05, 1, 1, "agree"), (0.85, 1, 1, "differ")):
            self.assertEqual(verdict.Claim(number(low, high), ours).status(), status, (ours, low, high))

    def test_what_noise_alone_can_reach_is_not_shown(self):
        inf = float("inf")
        for ours, low, high, unit, status in (
                (1.08, 1, inf, "times", "not shown"), (1.11, 1, inf, "times", "agree"),
                (0.95, -inf, 1, "times", "not shown"), (0.85, -inf, 1, "times", "agree"),
                (0.05, 0, inf, "", "not shown"), (0.67, 0, inf, "", "agree"),
                ((0.66, 0.97, 1.6), 1, 1, "times", "not shown"), ((0.95, 0.97, 1.6), 1, 1, "times", "agree")):
            self.assertEqual(verdict.Claim(number(low, high, unit), ours).status(), status, (ours, low, high))

    def test_a_model_agrees_by_construction_alone(self):
        claim = verdict.Claim(number(2, unit="GB/s"), 2.1, fitted=True)
        self.assertEqual(claim.status(), "by construction")
        self.assertTrue(verdict.sentence([claim]).startswith("By construction: "))
        self.assertEqual(verdict.Claim(number(2), 3, fitted=True).status(), "differ")
        self.assertTrue(verdict.sentence([claim, verdict.Claim(number(2), 2.1)]).startswith("Agree in part: "))

    def test_the_sentence_has_two_subjects(self):
        claim = verdict.Claim(number(2, here="ours on A", there="theirs on B"), 2.1)
        self.assertEqual(verdict.sentence([claim]),
                         "Agree: the rate is 2.1 (ours on A) where the paper has 2 times (theirs on B).")

    def test_what_was_not_seen_is_no_full_agreement(self):
        seen, unseen = verdict.Claim(number(2), 2.1), verdict.Claim(number(2), verdict.Unseen("no disk"))
        self.assertTrue(verdict.sentence([seen, unseen]).startswith("Agree in part: "))

    def test_the_sentence_says_which_and_why(self):
        good = verdict.Claim(number(2), 2.1)
        bad, worse = verdict.Claim(number(2), 1.5), verdict.Claim(number(2), 0.5)
        unseen = verdict.Claim(number(2), verdict.Unseen("no disk"))
        self.assertTrue(verdict.sentence([good]).startswith("Agree: the rate is 2.1 where"))
        self.assertIn("(same direction)", verdict.sentence([bad]))
        self.assertIn("(other direction)", verdict.sentence([worse]))
        self.assertTrue(verdict.sentence([good, worse, unseen]).startswith("Agree in part: "))
        self.assertEqual(verdict.sentence([unseen]),
                         "Cannot be seen here: the rate (no disk).")
        self.assertEqual(verdict.sentence([unseen, unseen]),
                         "Cannot be seen here: the rate, the rate (no disk).")
        self.assertEqual(verdict.sentence([]),
                         "Cannot be seen here: the text gives no number of it.")
        self.assertEqual(verdict.all_of([]).why, "nothing was measured for it")


class InsertItems(unittest.TestCase):
    """What the items of the paged HNSW's inserts make of rows that were measured."""

    def ours(self, name, rows):
        (item,) = registry.chosen([name])
        return item.ours(rows)

    def orders(self, *lines):
        names = ("reordered", "order", "search", "slots", "seconds", "hit_ratio", "written_bytes")
        return [dict(zip(names, line)) for line in lines]

    def test_what_orders_save(self):
        part, whole = "incremental", "full"
        ours = self.ours("000-F7", self.orders(
            (part, "none", "sync", 1, 100, 0.25, 1000), (part, "pca", "sync", 1, 90, 0.5, 800),
            (part, "kmeans", "sync", 1, 80, 0.75, 700), (whole, "pca", "sync", 1, 40, 0.8, 500),
            (part, "none", "pipelined", 1, 50, 0.25, 900), (part, "pca", "pipelined", 1, 45, 0.5, 1),
            (whole, "pca", "pipelined", 1, 10, 0.8, 1), (part, "none", "sync", 5, 60, 0.2, 1),
            (whole, "pca", "pipelined", 5, 6, 0.8, 1)))
        for name, value in (("hits_none", 25), ("hits_kmeans", 75), ("saved_pca", 10),
                            ("saved_kmeans", 20), ("written", 30), ("saved_pca_full", 60),
                            ("saved_with_reads", 90), ("five_in_flight", 10)):
            self.assertAlmostEqual(ours[name], value, msg=name)

    def test_a_quick_run_says_what_it_leaves_out(self):
        ours = self.ours("000-F7", self.orders(("incremental", "none", "pipelined", 1, 100, 0.25, 1000),
                                               ("incremental", "pca", "pipelined", 1, 90, 0.5, 800)))
        self.assertAlmostEqual(ours["written"], 20)
        for name in ("hits_kmeans", "saved_pca_full", "saved_with_reads", "five_in_flight"):
            self.assertIn("--quick", ours[name].why)

    def test_insert_pages(self):
        row = lambda inserted, nodes, share, pages, hits: {
            "inserted": inserted, "nodes": nodes, "share": share, "pages": pages, "per_second": pages,
            "hit_ratio": hits, "insert_hits": 0}
        ours = self.ours("000-F9", [row("10%", 64, "0%", 100, 0.5), row("10%", 64, "90%", 110, 0.6),
                                    row("90%", 1, "0%", 100, 0.2), row("90%", 64, "0%", 100, 0.3),
                                    row("90%", 64, "90%", 120, 0.5)])
        for name, value in (("more_pages", 10), ("insert_rate", 1.1), ("hits_gain", 2.5)):
            self.assertAlmostEqual(ours[name], value, msg=name)

    def test_beside_diskann_and_pgvector(self):
        rates = [("paged HNSW, 1 in flight", 300), ("DiskANN 0.7.0, R 48", 600), ("pgvector 0.8.1", 50)]
        rows = [{"label": label, "qps": rate} for label, rate in rates]
        ours = self.ours("000-F11", [*rows, {"label": "LASER", "failure": "no processor for it"}])
        self.assertAlmostEqual(ours["speedup"], 6)
        self.assertAlmostEqual(ours["gap"], 12)
        ours = self.ours("000-F11", [*rows[:2], {"label": "pgvector 0.8.1", "failure": "none"}])
        self.assertIn("pgvector has no rate", ours["gap"].why)
        self.assertIn("pgvector has no rate", ours["speedup"].why)


def naive(things, capacity, drop):
    """Hits of a pool that keeps a list, oldest first; drop(kept, hit) says what a hit does to it."""
    kept, hits = [], []
    for thing in things:
        hits.append(thing in kept)
        if hits[-1]:
            drop(kept, thing)
            continue
        if len(kept) == capacity:
            kept.pop(0)
        kept.append(thing)
    return hits


class Policies(unittest.TestCase):
    def setUp(self):
        self.things = np.random.default_rng(3).zipf(1.3, 3000).clip(max=200).tolist()

    def hits(self, policy, capacity):
        pool = pool_policies.POLICIES[policy](capacity)
        return [pool.touch(thing) for thing in self.things]

    def test_lru_and_fifo_as_a_list_does_it(self):
        def to_the_end(kept, thing):
            kept.remove(thing)
            kept.append(thing)
        for capacity in (1, 2, 17, 500):
            self.assertEqual(self.hits("LRU", capacity), naive(self.things, capacity, to_the_end))
            self.assertEqual(self.hits("FIFO", capacity),
                             naive(self.things, capacity, lambda kept, thing: None))

    def test_the_clock_gives_a_second_chance(self):
        pool = pool_policies.POLICIES["clock"](2)
        self.assertEqual([pool.touch(thing) for thing in "abacab"],
                         [False, False, True, False, True, False])
        self.assertEqual([pool.touch("b")], [True])

    def test_all_of_it_in_the_pool_is_all_hits(self):
        for policy in pool_policies.POLICIES:
            hits = self.hits(policy, 500)
            self.assertEqual(hits.count(False), len(set(self.things)), policy)
            self.assertEqual(self.hits(policy, 7), self.hits(policy, 7), policy)
            self.assertEqual(pool_policies.hit_ratio(policy, [], 3), 0)
            self.assertEqual(pool_policies.hit_ratio(policy, [4, 4], 0), 1)


class Shares(unittest.TestCase):
    def pairs(self, share, slowed):
        """Rates of 1000 passes and of their bound; each is half as fast in some share of the passes."""
        random = np.random.default_rng(1)
        rates = np.where(random.random((1000, 2)) < slowed, 0.5, 1) * random.normal(1, 0.01, (1000, 2))
        return rates * [share, 1]

    def test_quiet_passes_are_those_in_which_neither_side_was_slowed(self):
        for share in (0.9, 1, 1.1):
            self.assertAlmostEqual(lab.quiet_share(self.pairs(share, 0.4)), share, delta=0.003 * share)
        # The side that neighbours slow more often does not look slower for it.
        self.assertAlmostEqual(lab.quiet_share(self.pairs(1, [0.2, 0.5])), 1, delta=0.003)

    def test_few_pairs_have_one_that_is_quiet(self):
        self.assertEqual(lab.quiet_share([(8, 10), (2, 10), (8, 4)]), 0.8)

    def test_rounds_are_taken_together(self):
        rounds = [{"qps": 1, "pairs": [(9, 10), (1, 10)]}, {"qps": 3, "pairs": [(2, 10), (10, 10)]}]
        row = lab.median_row(rounds)
        self.assertEqual((row["qps"], row["quiet_share"]), (2, 1))
        self.assertNotIn("quiet_share", lab.median_row([{"qps": 1, "pairs": []}]))


class Rows(ToolTest):
    def test_the_store_keeps_by_what_machine_and_commit(self):
        path = self.folder / "rows.jsonl"
        first = store.Store(path, "a", "1")
        self.assertEqual(first.get({"x": 1}, lambda: [5]), [5])
        self.assertEqual(first.get({"x": 1}, self.fail), [5])
        self.assertEqual(store.Store(path, "a", "1").get({"x": 1}, self.fail), [5])
        for machine, commit in (("b", "1"), ("a", "2")):
            self.assertEqual(store.Store(path, machine, commit).get({"x": 1}, lambda: [6]), [6])
        self.assertEqual(len(path.read_text().splitlines()), 3)


class Trace(ToolTest):
    def test_slotted_reads_write_what_they_expand(self):
        base = write_vectors(self.folder / "base", self.rows(300, 9, np.float32))
        queries = write_vectors(self.folder / "query", self.rows(5, 9, np.float32))
        truth, trace = self.folder / "gt.ibin", self.folder / "trace.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", base, "--queries", queries, "--metric",
                              "l2", "--k", 10, "--quiet", "--out", truth))
        self.must_pass(self.build(base, "--layout", "slotted"))
        command = [BIN / "slotted_reads", "--index", self.folder / "index", "--data", base, "--queries",
                   queries, "--groundtruth", truth, "--trace", trace, "--list"]
        done = self.must_pass(subprocess.run([*command, "12"], text=True, capture_output=True,
                                             timeout=60, check=False))
        count, width = np.fromfile(trace, np.uint32, count=2)
        pairs = np.fromfile(trace, np.uint32, offset=8).reshape(count, width)
        self.assertAlmostEqual(count / 5, float(done.stdout.splitlines()[-1].split()[3]), delta=0.01)
        self.assertEqual(pairs[:, 0].tolist(), sorted(pairs[:, 0]))
        self.assertEqual(set(pairs[:, 0]), {1, 2, 3, 4, 5})
        self.assertLess(pairs[:, 1].max(), 300)
        for search in range(1, 6):
            records = pairs[pairs[:, 0] == search, 1]
            self.assertEqual(len(set(records)), len(records))
        refused = subprocess.run([*command, "12,20"], text=True, capture_output=True, timeout=60,
                                 check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("--trace is of one --list", refused.stderr)


class TinyRun(ToolTest):
    """Figure 9 of a few hundred vectors of an odd dimension, some of them twice."""

    def setUp(self):
        super().setUp()
        rows = self.rows(400, 9)
        rows[1] = rows[0]
        for name in ("tiny", "other"):
            (self.folder / "data" / name).mkdir(parents=True)
            write_vectors(self.folder / "data" / name / "base", rows)
            write_vectors(self.folder / "data" / name / "query", self.rows(20, 9))

    def study(self, *options, sets="tiny"):
        return subprocess.run(
            [str(ROOT / "scripts" / "study" / "run.sh"), "--bin", str(BIN), "--data",
             str(self.folder / "data"), "--work", str(self.folder / "work"), "--out",
             str(self.folder / "out"), "--json", str(self.folder / "items.jsonl"), "--sets", sets,
             "--degrees", "4,8", "--cpu", "0", *options],
            text=True, capture_output=True, timeout=120, check=False)

    def measured(self):
        return (self.folder / "work" / "rows.jsonl").read_bytes()

    def test_it_writes_a_page_and_goes_on(self):
        done = self.must_pass(self.study("--only", "004-F9"))
        page = (self.folder / "out" / "004.md").read_text()
        self.assertIn(done.stdout.strip(), page)
        self.assertIn("rdma (modelled)", page)
        self.assertTrue((self.folder / "out" / "004-f9.png").exists())
        self.assertIn("(004.md#figure-9", (self.folder / "out" / "README.md").read_text())
        (item,) = map(json.loads, (self.folder / "items.jsonl").read_text().splitlines())
        self.assertEqual(item["item"], "004-F9")
        self.assertEqual({row["degree"] for row in item["rows"]}, {4, 8})
        self.recomputes(item)
        for row in item["rows"]:
            self.assertEqual("quiet_share" in row, row["tier"] != "dram")
        before = self.measured()
        again = self.must_pass(self.study("--only", "004-F9"))
        self.assertEqual((again.stdout, self.measured()), (done.stdout, before))
        # A line that was cut off is measured again, and that alone.
        (self.folder / "work" / "rows.jsonl").write_bytes(before[:-20])
        self.must_pass(self.study("--only", "004-F9"))
        self.assertEqual(len(self.measured().splitlines()), len(before.splitlines()))
        self.assertTrue(self.measured().startswith(before[:before.rfind(b"\n", 0, -1) + 1]))

    def recomputes(self, item):
        """The share of the lower bound, from the rows."""
        shares = sorted(row["compute_bound_share"]
                        if row["compute_bound_qps"] < row["device_bound_qps"]
                        else row["qps"] / row["device_bound_qps"]
                        for row in item["rows"] if row["tier"] in (
                            "emulated:rdma", "emulated:cxl", "emulated:nvm"))
        middle = (shares[2] + shares[3]) / 2  # of two degrees on three tiers
        (found,) = (some for some in item["numbers"] if some["name"] == "of_lower_bound")
        self.assertAlmostEqual(float(found["ours"].split()[0]), middle, delta=0.006 * middle)
        scattered = shares[0] < 0.9 and shares[-1] > 1.1
        self.assertEqual(found["status"], "differ" if not 0.9 <= middle <= 1.1 else
                         "not shown" if scattered else "agree")

    def test_sections_of_other_items_stay(self):
        self.must_pass(self.study("--only", "004-F9"))
        page = self.folder / "out" / "004.md"
        page.write_text(page.read_text().replace("## Figure 9: ", "## Figure 9: the old "))
        self.must_pass(self.study("--only", "004-F13"))
        self.assertIn("the old graphs", page.read_text())
        self.assertIn("## Figure 13", page.read_text())

    def test_errors_say_what_to_do(self):
        for options, words in ((["--only", "F99"], "--list names"), (["--bin", "/none"], "--bin"),
                               (["--only", "004-F9", "--data", "/none"], "no set tiny")):
            done = self.study(*options)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.study("--quick", "--full").returncode, 2)

    def test_no_minutes_measure_nothing(self):
        done = self.must_pass(self.study("--only", "004-F9", "--minutes", "0.000001"))
        self.assertIn("time is up: not measured: 004-F9", done.stderr)

    def test_the_list(self):
        self.assertIn("004-F9", self.must_pass(self.study("--list")).stdout)


if __name__ == "__main__":
    unittest.main()
