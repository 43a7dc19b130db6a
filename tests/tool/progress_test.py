"""What long work says of itself on the standard error, where that is no terminal and where it is one,
and that --quiet turns it off. Slow reads make it long: a search waits for each of its hops."""
import os
import pty
import re
import subprocess
import unittest

import numpy as np

from farvec_tool import BIN, TIMEOUT_S, DaemonTest, farvec, write_vectors

# A hop waits 4 ms; a search of LIST goes over at least LIST of them, one after another.
SLOW = "emulated:latency=4ms,bandwidth=1GB/s,rate=1M/s"
LIST, SLOTS = 20, 16
QUERIES = 20 * SLOTS  # at least 20 * LIST * 4 ms of waiting


class Progress(DaemonTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(400))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES))

    def assert_told(self, stderr, label, total):
        """Lines for tenths of the work, and the last one."""
        self.assertRegex(stderr, rf"(?m)^{label}: \d+% \d+/{total} \d+/s, \d+ s left$")
        self.assertRegex(stderr, rf"(?m)^{label}: {total} in [\d.]+ s")
        self.assertLessEqual(len(stderr.splitlines()), 11, stderr)

    def check(self, command, label, total):
        self.assert_told(self.must_pass(farvec(*command)).stderr, label, total)
        self.assertEqual(self.must_pass(farvec(*command, "--quiet")).stderr, "")

    def index(self):
        self.must_pass(self.build(self.base))
        return self.folder / "index"

    def search(self, *options):
        return ("search", "--queries", self.queries, "--list", LIST, *options)

    def node(self):
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--index", self.index(), "--tier", SLOW, "--slots", SLOTS,
                   "--listen", address)
        self.await_status(address)
        return address

    def test_a_search_of_this_process(self):
        self.check(self.search("--index", self.index(), "--tier", SLOW, "--slots", SLOTS,
                               "--threads", 1), "queries", QUERIES)

    def test_a_search_of_a_node(self):
        self.check(self.search("--connect", self.node()), "queries", QUERIES)

    def test_a_load_of_a_node(self):
        load = ("bench", "service", "--connect", self.node(), "--queries", self.queries, "--rate",
                "20,30", "--seconds", 1)
        said = self.must_pass(farvec(*load))
        before, _, rest = said.stderr.partition("\n")
        self.assertEqual(before, "2 loads of 1 s each: about 2 s")
        self.assertRegex(rest, r"(?m)^milliseconds of load: \d+% \d+/2000 \d+/s, \d+ s left$")
        self.assertEqual(len(said.stdout.splitlines()), 3)
        self.assertEqual(self.must_pass(farvec(*load, "--quiet")).stderr, "")

    def collection(self):
        rows = write_vectors(self.folder / "rows", self.rows(400, dtype=np.float32))
        folder = self.folder / "set"
        self.must_pass(farvec("collection", "create", "--collection", folder, "--metric", "l2",
                              "--like", rows, "--degree", 8, "--list", 16))
        self.must_pass(farvec("collection", "insert", "--collection", folder, "--data", rows,
                              "--import", "--quiet"))
        return folder

    def collection_search(self):
        queries = write_vectors(self.folder / "asked", self.rows(QUERIES, dtype=np.float32))
        return ("collection", "search", "--collection", self.collection(), "--queries", queries,
                "--list", f"{LIST},{LIST + 5}", "--tier", SLOW, "--slots", SLOTS)

    def test_a_search_of_a_collection(self):
        self.check(self.collection_search(), "queries", 2 * QUERIES)

    def test_rows_stand_alone_on_a_terminal(self):
        ours, theirs = pty.openpty()
        command = [BIN / "farvec", *map(str, self.collection_search())]
        with subprocess.Popen(command, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            shown = b""
            while data := self.read(ours):
                shown += data
            self.assertEqual(process.wait(TIMEOUT_S), 0)
        os.close(ours)
        text = shown.decode().replace("\r\n", "\n")
        self.assertRegex(text, rf"\r\033\[Kqueries: \d+% \d+/{2 * QUERIES} \d+/s, \d+ s left")
        # A row begins its line, or one that has just been cleared.
        rows = re.findall(r"(?m)^(?:.*\r\033\[K)?(\d+) +-( +[\d.]+)+$", text)
        self.assertEqual([int(row[0]) for row in rows], [LIST, LIST + 5], text)

    @staticmethod
    def read(terminal):
        try:
            return os.read(terminal, 1 << 16)
        except OSError:  # nobody has its other end any more
            return b""


if __name__ == "__main__":
    unittest.main()
