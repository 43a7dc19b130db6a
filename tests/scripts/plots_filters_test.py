import json
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "plots" / "filters.py"


def run_script(*arguments):
    return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *arguments], text=True, timeout=110,
                          capture_output=True, check=False)


def line(condition, tier, matches):
    return {"condition": condition, "tier": tier, "rows": 1000, "recall": 0.97, "matches": matches,
            "reads": 10 + matches / 10, "bridges": matches / 20, "bytes": 2000, "qps": 5000}


class PlotsFilters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def write(self, rows):
        path = self.out / "filters.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def test_draws_counts_and_rates(self):
        rows = [line("part: some", tier, matches) for tier in ("dram", "ssd") for matches in (1, 10, 100)]
        result = run_script(self.write(rows), "--out", self.out / "filters.png")
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = (self.out / "filters.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 10_000)

    def test_says_what_is_missing(self):
        for rows, missing in (([line("own region", "dram", 5)], "no line of a condition on `part`"),
                              ([{"condition": "part: all"}], "tier")):
            result = run_script(self.write(rows), "--out", self.out / "filters.png")
            self.assertEqual(result.returncode, 1)
            self.assertIn(missing, result.stderr)
            self.assertFalse((self.out / "filters.png").exists())


if __name__ == "__main__":
    unittest.main()
