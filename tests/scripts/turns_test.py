"""Which of its turns CI has for a commit (scripts/test.sh --which)."""
import collections
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "test.sh"
UNIT_TESTS = ROOT / "tests" / "unit" / "CMakeLists.txt"
OTHERS = {"asan-0", "asan-1", "asan-2", "asan-3",
          "tsan-0", "tsan-1", "tsan-2", "tsan-3", "fuzz"}


def turn_of(number):
    return subprocess.run([SCRIPT, "--which", f"{number:07x}" + 33 * "0"], capture_output=True,
                          text=True, timeout=60, check=True).stdout.strip()


class Turns(unittest.TestCase):
    def test_two_of_three_commits_have_a_half_of_release_and_every_turn_comes(self):
        seen = collections.Counter(turn_of(0xabc0000 + number) for number in range(54))
        self.assertEqual(seen, {"release-0": 18, "release-1": 18, **dict.fromkeys(OTHERS, 2)})

    def test_a_commit_that_is_none_has_the_first_half(self):
        done = subprocess.run([SCRIPT, "--which", "no-such-commit"], capture_output=True, text=True,
                              timeout=60, check=True)
        self.assertEqual(done.stdout.strip(), "release-0")

    def test_a_turn_that_is_none_is_refused(self):
        for turn in ("asan-4", "part-3", "", "release fuzz", "release-2"):
            done = subprocess.run([SCRIPT, "--turn", turn], capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"'{turn}' is neither commit nor one of release", done.stderr)

    def test_every_room_is_in_one_quarter(self):
        text = SCRIPT.read_text(encoding="utf-8")
        quarters = re.search(r"QUARTERS=\((.*?)\)", text, re.DOTALL)[1].replace('"', " ").split()
        self.assertEqual(len(quarters), len(set(quarters)))
        listed = re.search(r"foreach\(room (.*?)\)", UNIT_TESTS.read_text(encoding="utf-8"), re.DOTALL)[1]
        tested = {room.split("/")[-1] for room in listed.split()}
        self.assertEqual(set(quarters), tested - {"cli"})


if __name__ == "__main__":
    unittest.main()
