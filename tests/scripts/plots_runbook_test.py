import json
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "plots" / "runbook.py"


def run_script(*arguments):
    return subprocess.run(["/usr/bin/python3", "-B", SCRIPT, *arguments], text=True, timeout=110,
                          capture_output=True, check=False)


def lines():
    for number in range(1, 13):
        search = number % 2 == 0
        line = {"step": number, "operation": "search" if search else "insert",
                "live": 100 * number, "per_second": 1000 + number}
        if search:
            line["recall"] = 0.95 + number / 1000
        if number % 4 == 0:
            line["rebuilt"] = {"recall": 0.97, "per_second": 900, "build_seconds": 1}
        yield line
    yield {"runbook": "x", "mean_recall": 0.95}


class PlotsRunbook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def write(self, rows):
        path = self.out / "run.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def test_draws_recall_and_rates(self):
        result = run_script(self.write(lines()), "--out", self.out / "run.png", "--title", "t")
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = (self.out / "run.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 10_000)

    def test_says_what_is_missing(self):
        result = run_script(self.write(list(lines())[:1]), "--out", self.out / "run.png")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no step that searched", result.stderr)
        self.assertFalse((self.out / "run.png").exists())


if __name__ == "__main__":
    unittest.main()
