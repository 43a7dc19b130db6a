"""`farvec bench memory`: one true JSON line per combination, refusals, and an end by a signal."""
import json
import signal
import subprocess
import unittest

from farvec_tool import BIN, TIMEOUT_S, ToolTest, farvec

FIELDS = {"pages", "huge_share", "threads", "ask", "set_bytes", "lines_per_s", "lines_per_s_min",
          "lines_per_s_max", "ns_per_line", "gb_per_s", "passes", "pass_ms", "processor",
          "instructions", "l3_bytes", "commit", "host"}


def bench(*options):
    quick = {"--bytes": "1MiB", "--passes": 2, "--ms": 0.1}
    words = [word for name, value in quick.items() if name not in options for word in (name, value)]
    return farvec("bench", "memory", *words, *options)


class BenchMemory(ToolTest):
    def lines(self, *options):
        out = self.folder / "memory.json"
        result = self.must_pass(bench(*options, "--json", out))
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        for row in rows:
            self.assertLessEqual(FIELDS, row.keys())
            self.assertEqual("inflight" in row, row["ask"] != "sequential")
            self.assertGreater(row["lines_per_s_min"], 0)
            self.assertLessEqual(row["lines_per_s_min"], row["lines_per_s"])
            self.assertLessEqual(row["lines_per_s"], row["lines_per_s_max"])
            self.assertAlmostEqual(row["gb_per_s"], row["lines_per_s"] * 64e-9)
            self.assertAlmostEqual(row["ns_per_line"] * row["lines_per_s"], 1e9 * row["threads"],
                                   delta=1)
        return rows, result.stdout.splitlines()

    def test_every_combination_has_its_line(self):
        rows, shown = self.lines("--threads", "1,2", "--inflight", "1,5,64")
        found = {(row["pages"], row["threads"], row["ask"], row.get("inflight")) for row in rows}
        self.assertEqual(len(rows), 2 * 2 * (3 * 3 + 1))
        self.assertEqual(found, {(pages, threads, ask, inflight) for pages in ("4k", "huge")
                                 for threads in (1, 2)
                                 for ask, inflight in [("sequential", None)] +
                                 [(ask, n) for ask in ("load", "l1", "l2") for n in (1, 5, 64)]})
        self.assertEqual({(row["set_bytes"], row["passes"]) for row in rows}, {(1 << 20, 2)})
        self.assertEqual({row["huge_share"] for row in rows if row["pages"] == "4k"}, {0})
        # The machine, the table with its titles, and a summary of each kind.
        self.assertEqual(len(shown), 2 + len(rows) + 4)
        self.assertIn("L3", shown[0])
        self.assertIn(rows[0]["host"], shown[0])
        self.assertIn("latency", shown[-1])

    def test_bytes_are_rounded_down(self):
        rows, _ = self.lines("--bytes", "3MB", "--inflight", 2, "--threads", 1, "--ask", "l1")
        self.assertEqual({row["set_bytes"] for row in rows}, {1 << 21})

    def test_bad_input(self):
        for options, words in [
                (("--bytes", 100), ("100", "too small")),
                (("--bytes", 0), ("too small",)),
                (("--bytes", 1 << 60), ("--bytes", str(1 << 60))),
                (("--inflight", 0), ("--inflight",)),
                (("--inflight", 5000), ("--inflight", "5000", "1024")),
                (("--threads", 0), ("--threads",)),
                (("--threads", 5000), ("--threads", "5000")),
                (("--threads", 32, "--inflight", 1024), ("--bytes", "32768")),
                (("--pages", "1g"), ("--pages", "'1g'", "huge")),
                (("--ask", "l3"), ("--ask", "'l3'", "l2")),
                (("--passes", 0), ("--passes",)),
                (("--ms", 0), ("--ms",)),
                (("--ms", 1e9), ("--ms",)),
                (("--json", "/nonexistent/a.json"), ("/nonexistent/a.json",))]:
            with self.subTest(options):
                self.must_refuse(bench(*options), *words)

    def test_a_signal_ends_it_with_what_it_has(self):
        out = self.folder / "memory.json"
        with subprocess.Popen([BIN / "farvec", "bench", "memory", "--bytes", "1MiB", "--ms", "100",
                               "--passes", "20", "--inflight", "1", "--threads", "1", "--json",
                               out], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            seen = ""
            while "pass 3 of" not in seen:
                character = process.stderr.read(1)
                self.assertNotEqual(character, "", seen)
                seen += character
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        self.assertEqual({row["pages"] for row in rows}, {"4k"})


if __name__ == "__main__":
    unittest.main()
