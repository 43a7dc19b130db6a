"""Kills of `farvec insert`, `delete` and `vacuum` at any moment: the graph holds together, has
everything that was acknowledged, and goes on. FARVEC_KILLS=1000 kills so often [12]."""
import json
import os
import re
import subprocess
import time
import unittest

import numpy as np

from farvec_tool import BIN, TIMEOUT_S, farvec, write_vectors
from hnsw_tool import DIMENSION, HnswTest

KILLS = int(os.environ.get("FARVEC_KILLS", 12))
ROWS, FIRST = 1500, 300
LONGEST_S = 0.6  # before a kill
RECOVERY = re.compile(r"was not closed; (\d+) records .*, (\d+) pages changed, .* in ([\d.]+) s")


class Kills(HnswTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32)
        first = write_vectors(self.folder / "first", self.data[:FIRST])
        self.made("--partition-nodes", 8, "--insert-pages", "100%", data=first)
        self.base = write_vectors(self.folder / "all", self.data)
        self.kills, self.finished, self.recovered_s = 0, 0, []

    def kill(self, command, *options):
        """Begins the command and kills it, unless it has ended."""
        process = subprocess.Popen(
            [str(BIN / "farvec"), command, "--index", str(self.graph), "--quiet", "--json",
             *map(str, options)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(self.random.uniform(0, LONGEST_S))
        process.kill()
        errors = process.communicate(timeout=TIMEOUT_S)[1]
        self.note_recovery(errors)
        self.assertIn(process.returncode, (0, -9), errors)
        self.kills += process.returncode == -9
        self.finished += process.returncode == 0

    def note_recovery(self, text):
        found = RECOVERY.search(text)
        if found:
            self.recovered_s.append(float(found[3]))

    def recovered(self):
        """The graph as `inspect --verify` finds it behind a kill."""
        result = self.must_pass(farvec("inspect", self.graph, "--verify", "--json"))
        self.note_recovery(result.stderr)
        check = json.loads(result.stdout)["check"]
        self.assertTrue(check["ok"], check["problems"])
        return check

    def report(self, what):
        times = sorted(self.recovered_s) or [0]
        print(f"{what}: {self.kills} kills, {self.finished} ended before; recovery median "
              f"{times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s of {len(self.recovered_s)}")

    def test_inserts_one_after_the_other_are_a_prefix(self):
        """With one slot of one thread an insert is in, as a whole, before the next one begins."""
        count = FIRST
        for _ in range(KILLS):
            if count == ROWS:  # begin again, with the room of the deleted
                self.changed("delete", "--range", f"{FIRST}:{ROWS}")
                self.changed("vacuum")
                count = FIRST
            self.kill("insert", "--data", self.base, "--range", f"{count}:{ROWS}", "--slots", 1)
            check = self.recovered()
            self.assertGreaterEqual(check["vertices"], count)
            count = check["vertices"]
            self.assert_prefix(count)
        if count < ROWS:
            self.changed("insert", "--data", self.base, "--range", f"{count}:{ROWS}")
        facts = self.verified()
        self.assertEqual(facts["count"], ROWS)
        self.assertGreater(facts["insert_pages"], 0)  # none at the build: inserts have brought them
        self.assertGreaterEqual(self.recall(), 0.95)
        self.report("inserts")

    def assert_prefix(self, count):
        """The last id that should be there is, the next one is not."""
        last, following = count - 1, count
        again = self.change("insert", "--data", self.base, "--range", f"{last}:{last + 1}")
        self.must_refuse(again, str(last))
        if following < ROWS:
            absent = self.change("delete", "--range", f"{following}:{following + 1}")
            self.must_refuse(absent, str(following))

    def test_deletes_and_vacuums_lose_and_leave_nothing(self):
        """Whatever a killed delete or vacuum has done, going on ends where it would have ended."""
        self.changed("insert", "--data", self.base, "--range", f"{FIRST}:{ROWS}")
        gone = range(FIRST, ROWS - FIRST)
        for _ in range(max(KILLS // 2, 1)):
            before = self.recovered()["vertices"]
            self.kill("delete", "--range", f"{gone.start}:{gone.stop}", "--missing-ok")
            check = self.recovered()
            self.assertLessEqual(check["vertices"], before)
            self.assertGreaterEqual(check["vertices"], ROWS - len(gone))
            self.changed("delete", "--range", f"{gone.start}:{gone.stop}", "--missing-ok")
            self.assertEqual(self.recovered()["vertices"], ROWS - len(gone))
            self.kill("vacuum")
            self.assertEqual(self.recovered()["vertices"], ROWS - len(gone))
            self.changed("vacuum")
            self.assertEqual(self.recovered()["marked"], 0)
            live = [*range(gone.start), *range(gone.stop, ROWS)]
            self.assertGreaterEqual(self.recall(live), 0.95)
            self.changed("insert", "--data", self.base, "--range", f"{gone.start}:{gone.stop}")
        self.assertGreaterEqual(self.recall(), 0.95)
        self.report("deletes and vacuums")


if __name__ == "__main__":
    unittest.main()
