"""bench/postgres/recovery.py without a server: what it reads, what it says, what it refuses."""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "bench" / "postgres" / "recovery.py"
sys.path.insert(0, str(SCRIPT.parent))

import recovery  # noqa: E402


class Reading(unittest.TestCase):
    def test_the_phases_of_the_servers_line(self):
        line = ('LOG:  index "items_v" has caught up in 312.4 ms: its store was asked in 5.1 ms, 9823 pages were '
                'read in 41.2 ms and compared in 88.0 ms, 100000 rows (51200000 bytes of vectors) were read in '
                '120.3 ms and told in 57.8 ms')
        found = dict(zip(recovery.PHASES, map(float, recovery.CAUGHT_UP.search(line).groups())))
        self.assertEqual(found, {"caught_up_ms": 312.4, "asked_ms": 5.1, "pages": 9823, "pages_ms": 41.2,
                                 "compared_ms": 88.0, "rows": 100000, "bytes": 51200000, "read_ms": 120.3,
                                 "told_ms": 57.8})

    def test_the_extension_says_this_line(self):
        source = (ROOT / "postgres" / "index" / "catch_up.c").read_text()
        for words in ("has caught up in %.1f ms", "its store was asked in %.1f ms", "compared in %.1f ms",
                      "bytes of vectors"):
            self.assertIn(words, source.replace('"\n                  "', ""))

    def test_rows_in_the_form_of_copy(self):
        for name, kind, numbers in (("base.fbin", "<4f", (1.5, -2, 0, 7)), ("base.u8bin", "4B", (1, 2, 255, 0))):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / name
                path.write_bytes(struct.pack("<ii", 2, 2) + struct.pack(kind, *numbers))
                vectors = recovery.Vectors(pathlib.Path(folder))
                self.assertEqual((len(vectors), vectors.dimension), (2, 2))
                row = struct.pack(">hiiihhff", 2, 4, 9, 12, 2, 0, *numbers[2:])
                self.assertEqual(vectors.copy_bytes(1, 1, 9)[19:], row + b"\xff\xff")
                vectors.file.close()

    def test_the_page(self):
        facts = {"processor": "p", "processors": 2, "load": 0.5, "server": "15", "rows": 5, "entries": 9,
                 "fresh": 3, "dimension": 2, "commit": "c", "command": "recovery"}
        page = recovery.markdown(facts, [{"pages": 3.0, "stored": 8}, {"pages": 4.5, "stored": 11}])
        self.assertIn("| pages | 3.0 | 4.5 |", page)
        self.assertIn("| stored | 8 | 11 |", page)
        self.assertIn("5 vectors of 2 dimensions and 4 null ones, then 3 fresh ones", page)


class Arguments(unittest.TestCase):
    def test_refuses_what_cannot_be(self):
        for words, message in ((("--rows", "0"), "--rows is at least 1"),
                               (("--rounds", "none"), "invalid int value"), ((), "--data")):
            with self.subTest(words):
                given = ["--data", "d", *words] if words else []
                done = subprocess.run([sys.executable, SCRIPT, *given], capture_output=True, text=True,
                                      check=False, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
