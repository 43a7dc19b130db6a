"""`farvec collection` of segments in slotted pages, as numpy says what should be found."""
import json
import unittest

from collection_service_test import Connected, ServiceTest
from collection_test import K, CollectionTest
from farvec_tool import farvec

PAGES = ["--layout", "slotted"]


class Pages(CollectionTest):
    def filled(self):
        made = self.made(*PAGES)
        self.assertEqual((made["kind"], made["layout"]), ("graph", "slotted"))
        self.inserted(0, 400, 0, "--import")
        self.inserted(350, 650)
        self.deleted(40, 90)

    def test_what_lives_is_found(self):
        self.filled()
        self.assert_found()
        self.assert_found("--tier", "ssd", "--pool", "single", "--search", "beam", "--width", 2)
        self.report("compact")
        self.assert_found()
        facts = self.report("inspect")
        self.assertEqual(facts["segments"], 1)
        self.assertEqual(facts["parts"][0]["layout"], "slotted")

    def test_one_budget_is_for_the_pools_of_all_segments(self):
        self.filled()
        few, = self.searched("--list", 500, "--slots", 1, "--memory-budget", "3MB")
        all_of_them, = self.searched("--list", 500, "--slots", 1)
        self.assertEqual(few["recall"], 1)
        self.assertEqual(few["memory_budget"], 3_000_000)
        self.assertLessEqual(few["memory_bytes"], 3_000_000)
        self.assertNotIn("memory_budget", all_of_them)
        self.must_refuse(self.collection("search", "--queries", self.queries, "--memory-budget",
                                         "20KB"), "too small", "use --memory-budget")
        self.must_refuse(self.collection("search", "--queries", self.queries, "--memory-budget",
                                         "20%"), "say bytes")

    def test_other_tiers_and_layouts_are_refused(self):
        self.filled()
        self.must_refuse(self.collection("search", "--queries", self.queries, "--tier", "dram"),
                         "slotted", "--tier ssd")
        self.set = self.folder / "csr"
        self.live = {}
        self.made()
        for option in ("--memory-budget", "--pool"):
            self.must_refuse(self.collection("search", "--queries", self.queries, option, "none"),
                             option, "slotted")

    def test_steps_of_a_runbook(self):
        out = self.folder / "run.jsonl"
        run = ["runbook", self.book(), "--kind", "collection", "--segments", "slotted", "--data",
               self.base, "--queries", self.queries, "--metric", "l2", "--index", self.set, "--k", K,
               "--memtable-rows", 128, "--list", 500, "--memory-budget", "20MB", "--json", out]
        self.must_pass(farvec(*run))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual(rows[-1]["mean_recall"], 1)
        self.assertEqual(rows[-1]["index"]["layout"], "slotted")
        self.assertEqual(rows[-1]["index"]["tier"], "ssd")


class ServedPages(Connected):
    SHAPE = [*ServiceTest.SHAPE, *PAGES]
    NODE = ["--memory-budget", "60MB", "--slots", 4, "--max-list", 500]


class TooSmallABudget(ServiceTest):
    SHAPE = [*ServiceTest.SHAPE, *PAGES]
    NODE = ["--memory-budget", "300KB", "--slots", 1]

    def test_an_insert_that_waits_says_why_once(self):
        refused = farvec("collection", "insert", "--connect", self.address, "--data", self.base,
                         "--deadline-ms", 300, "--retries", 8, "--quiet")
        self.must_refuse(refused, "memory budget of 300000 bytes is too small")
        told = [line for line in refused.stderr.splitlines() if "is asked again: " in line]
        self.assertTrue(any("memory budget of 300000 bytes" in line for line in told), told)
        self.assertEqual(len(told), len(set(told)), "each reason once")


del CollectionTest, Connected, ServiceTest

if __name__ == "__main__":
    unittest.main()
