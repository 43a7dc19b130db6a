"""scripts/packages/make.sh makes the packages that the other tests here look into."""
import shutil
import tempfile
import unittest

from farvec_tool import BIN
from packages_tool import MADE, MAKE, NAMES, made, needs_dpkg, run


class Make(unittest.TestCase):
    def test_packages(self):
        needs_dpkg()
        shutil.rmtree(MADE, ignore_errors=True)
        done = run(MAKE, "--build", BIN.parent, MADE, seconds=800)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        files = sorted(str(made(name)) for name in NAMES)
        self.assertEqual(sorted(map(str, MADE.iterdir())), files)
        self.assertEqual([line for line in done.stdout.splitlines() if line.endswith(".deb")],
                         files)

    def test_wrong_command_lines(self):
        with tempfile.TemporaryDirectory(prefix="farvec-packages-") as folder:
            for words, status, said in ((("--nonsense",), 2, "--nonsense"),
                                        ((folder, "second"), 2, "second"),
                                        (("--build", folder), 1, "no configured build tree"),
                                        (("--build",), 1, "no configured build tree")):
                done = run(MAKE, *words)
                self.assertEqual(done.returncode, status, words)
                self.assertIn(said, done.stderr)
        done = run(MAKE, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("OUT is the folder", done.stdout)


if __name__ == "__main__":
    unittest.main()
