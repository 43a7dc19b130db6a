"""scripts/bench/bound_share.py: which rounds are quiet, and what it says of them."""
import pathlib
import subprocess
import sys
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"
sys.path.insert(0, str(BENCH))
import bound_share  # noqa: E402


class Sweeps:
    """Plays the rates of DRAM alone, and the shares of each round's tiers."""

    second_half = (1250, 2500)

    def __init__(self, alone, shares):
        self.alone, self.shares, self.asked = iter(alone), iter(shares), []

    def rows(self, index, half, options):
        self.asked.append((index, half, options))
        tiers = options[options.index("--tier") + 1].split(",")
        if tiers == ["dram"]:
            return [{"tier": "dram", "qps": next(self.alone)}]
        return [{"tier": "dram"}, *({"tier": tier, "compute_bound_share": share}
                                    for tier, share in zip(tiers[1:], next(self.shares)))]


class BoundShare(unittest.TestCase):
    def test_a_round_is_quiet_when_dram_alone_was_fast_before_and_after(self):
        sweeps = Sweeps([100, 95, 89, 100, 91], [(0.9, 1), (0.5, 1), (0.4, 1), (0.8, 1.1)])
        told = []
        shares, probes = bound_share.measure(sweeps, "index", ["--list", 10], ["a", "b"], 4, told.append)
        self.assertEqual(shares[3], {"a": 0.8, "b": 1.1})
        self.assertEqual(probes, [100, 95, 89, 100, 91])
        self.assertEqual(len(told), 4)
        self.assertTrue(all(half == (1250, 2500) for _, half, _ in sweeps.asked))
        quiet = bound_share.is_quiet(probes, 0.9)
        self.assertEqual(quiet, [True, False, False, True])
        lines = list(bound_share.table("index", ["a", "b"], shares, quiet))
        self.assertEqual(lines[0], "| index | a | 2 | 0.850 (0.800 to 0.900) | 2 | 0.450 (0.400 to 0.500) |")
        self.assertEqual(lines[1], "| index | b | 2 | 1.050 (1.000 to 1.100) | 2 | 1.000 (1.000 to 1.000) |")

    def test_no_quiet_round_has_no_share(self):
        (line,) = bound_share.table("index", ["a"], [{"a": 1}], [False])
        self.assertEqual(line, "| index | a | 0 | - | 1 | 1.000 (1.000 to 1.000) |")

    def test_what_cannot_be_is_refused(self):
        for options in (["--rounds", "0"], ["--quiet", "0"], ["--quiet", "1.5"]):
            done = subprocess.run([sys.executable, BENCH / "bound_share.py", "--index", "i", "--queries",
                                   "q", "--groundtruth", "g", "--list", "1", *options],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn("--rounds", done.stderr)


if __name__ == "__main__":
    unittest.main()
