"""Filters over memory nodes alone: commands and a compute node that do not see the collection's
folder, beside a writer that changes it, with a node that dies."""
import json
import os
import subprocess
import time
import unittest

import numpy as np

from collection_service_test import K, ROWS, ServiceTest
from farvec_tool import BIN, TIMEOUT_S, farvec
from hnsw_tool import nearest, write_neighbours


class OnNodes(ServiceTest):
    """A writer whose log and segments are on two memory nodes, and readers that have only these."""

    SHAPE = [*ServiceTest.SHAPE, "--schema", "price: i64, section: string not null"]

    def start_others(self):
        self.sockets = [f"unix:{self.folder}/m{i}" for i in range(2)]
        self.memory = [self.start_memory(address) for address in self.sockets]
        nodes = ",".join(self.sockets)
        self.nodes = ["--log-nodes", nodes, "--segment-nodes", nodes]
        self.NODE = self.nodes

    def start(self, name, *options):
        process = super().start(name, *options)
        if name == "farvec-compute-node" and "--follow" not in options:
            self.writer = process
        return process

    def start_memory(self, address):
        process = self.start("farvec-memory-node", "--listen", address, "--log-bytes", "32MiB",
                             "--segment-bytes", "64MiB", "--lease-seconds", 2)
        self.await_memory(address)
        return process

    def await_memory(self, address):
        end = time.monotonic() + TIMEOUT_S
        while not os.path.exists(address.removeprefix("unix:")):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def setUp(self):
        super().setUp()
        self.prices = np.arange(ROWS) * 7 % 100
        self.sections = ["even" if price % 2 == 0 else "odd" for price in self.prices]
        self.jsonl = self.folder / "base.jsonl"
        self.jsonl.write_text("".join(
            json.dumps({"price": int(price), "section": section}) + "\n"
            for price, section in zip(self.prices, self.sections)))
        self.change("insert", "--data", self.base, "--attributes", self.jsonl, "--quiet", "--json")

    def follow(self):
        address = f"unix:{self.folder}/f"
        self.start("farvec-compute-node", "--collection", "nodes:set", "--follow", "--listen",
                   address, *self.nodes)
        self.await_status(address)
        return address

    def truth_of(self, meets):
        ids = np.flatnonzero(meets)
        places, distances = nearest(self.data[ids], self.asked, k=K)
        return write_neighbours(self.folder / "truth.ibin", ids[places], distances)

    def recall_at(self, address, condition, meets):
        found = farvec("search", "--connect", address, "--queries", self.queries, "--k", K,
                       *self.SEARCH, "--groundtruth", self.truth_of(meets), "--filter", condition,
                       "--json")
        return json.loads(self.must_pass(found).stdout)["recall"]

    def await_found(self, address, condition, meets):
        """That a follower finds what meets the condition, once it has seen the changes."""
        end = time.monotonic() + TIMEOUT_S
        while self.recall_at(address, condition, meets) < 1:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def there(self, command, *options):
        return self.must_pass(farvec("collection", command, "--collection", "nodes:set", *options,
                                     *self.nodes))

    def assert_listed(self):
        lines = [json.loads(line) for line in
                 self.there("list", "--filter", "price = 7", "--json").stdout.splitlines()]
        self.assertEqual(lines, [{"id": int(row), "price": 7, "section": self.sections[row]}
                                 for row in np.flatnonzero(self.prices == 7)])


class NodesFilterTest(OnNodes):
    def test_commands_and_followers_meet_the_condition(self):
        follower = self.follow()
        self.assertIn("price: i64", self.await_status(follower)["index"]["schema"])
        few = self.prices < 20
        self.await_found(follower, "price < 20", few)
        self.await_found(follower, "section = 'odd' and price > 50",
                         (self.prices % 2 == 1) & (self.prices > 50))
        count = self.there("count", "--filter", "price < 20")
        self.assertEqual(int(count.stdout), int(few.sum()))
        self.assert_listed()
        out = self.folder / "search.jsonl"
        self.there("search", "--queries", self.queries, "--groundtruth", self.truth_of(few), "--k",
                   K, "--list", 500, "--filter", "price < 20", "--json", out)
        row = json.loads(out.read_text())
        self.assertEqual((row["recall"], row["matches"]), (1, int(few.sum())))
        # Updates are seen through the log, from the catalogue, and in the merged segment.
        self.prices[:50] = 7
        self.sections[:50] = ["odd"] * 50
        self.change("update", "--range", "0:50", "--set", "price = 7", "--set", "section = 'odd'",
                    "--quiet", "--json")
        for step in [], ["insert", "--data", self.base, "--range", "300:500", "--attributes",
                         self.jsonl, "--quiet"], ["compact"]:
            if step:
                self.change(*step, "--json")
            self.await_found(follower, "price = 7", self.prices == 7)
            self.assert_listed()
        self.memory[0].kill()
        self.memory[0].wait()
        self.await_found(follower, "price >= 90", self.prices >= 90)

    def prices_there(self):
        """The price of each row as a reader has it that begins now."""
        lines = [json.loads(line) for line in self.there("list", "--json").stdout.splitlines()]
        self.assertEqual([line["id"] for line in lines], list(range(ROWS)))
        return np.asarray([line["price"] for line in lines])

    def assert_prices(self, under_way):
        """Each row has the price that was acknowledged, or the one that was under way."""
        found = self.prices_there()
        self.assertTrue(((found == self.prices) | (found == under_way)).all(), under_way)

    def test_a_killed_writer_leaves_what_it_acknowledged(self):
        for round_ in range(4):
            begin, now, next_ = 100 * round_, 1000 + round_, 2000 + round_
            self.change("update", "--range", f"{begin}:{begin + 150}", "--set", f"price = {now}",
                        "--quiet", "--json")
            self.prices[begin:begin + 150] = now
            under_way = subprocess.Popen(
                [str(BIN / "farvec"), "collection", "compact" if round_ % 2 else "update",
                 "--connect", self.address, "--quiet",
                 *([] if round_ % 2 else ["--range", f"0:{ROWS}", "--set", f"price = {next_}"])],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.random.uniform(0.01, 0.08))
            self.writer.kill()
            self.writer.wait()
            under_way.wait(timeout=TIMEOUT_S)
            self.assert_prices(next_)
            self.start("farvec-compute-node", "--collection", self.set, "--listen", self.address,
                       *self.nodes)
            self.await_status(self.address)
            self.assert_prices(next_)
            self.prices = self.prices_there()


class NodesTenantTest(OnNodes):
    SHAPE = [*ServiceTest.SHAPE, "--schema", "price: i64, section: string tenant"]

    def test_who_is_meant_has_to_be_said(self):
        follower = self.follow()
        refused = farvec("search", "--connect", follower, "--queries", self.queries, "--k", K,
                         *self.SEARCH, "--filter", "price < 20")
        self.must_refuse(refused, "the rows belong to tenants")
        self.must_refuse(farvec("collection", "search", "--collection", "nodes:set", "--queries",
                                self.queries, "--k", K, *self.nodes), "the rows belong to tenants")
        self.await_found(follower, "section = 'odd' and price < 20",
                         (self.prices % 2 == 1) & (self.prices < 20))



del ServiceTest

if __name__ == "__main__":
    unittest.main()
