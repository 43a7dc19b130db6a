"""Completion and man pages: what the build made of --help, in the shells themselves."""
import functools
import pathlib
import re
import shutil
import subprocess
import unittest

from farvec_tool import BIN, TIMEOUT_S, farvec

SHELL = BIN.parent / "shell"
BASH = """
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
$(complete -p "${1##*/}" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*command, **options):
    return subprocess.run(list(map(str, command)), text=True, capture_output=True,
                          timeout=TIMEOUT_S, check=False, **options)


@functools.cache
def help_of(*path):
    return farvec(*path, "--help").stdout


def commands(*path):
    """Every command of the tool below `path`, as its help has them."""
    listed = help_of(*path).partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)
    return [below for name in names for below in [(*path, name), *commands(*path, name)]]


class Bash(unittest.TestCase):
    def offered(self, *words):
        result = run("bash", "--norc", "-c", BASH, "bash", SHELL / "bash" / "farvec", *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_commands_at_every_depth(self):
        self.assertEqual(self.offered("farvec", "sw"), ["sweep"])
        self.assertEqual(set(self.offered("farvec", "build", "")), {"graph", "cluster", "hnsw"})
        self.assertEqual(self.offered("farvec", "build", "graph", ""), [])
        for path in [(), *commands()]:
            below = {one[-1] for one in commands(*path) if len(one) == len(path) + 1}
            self.assertEqual(set(self.offered("farvec", *path, "")), below, path)

    def test_options_and_their_values(self):
        self.assertEqual(self.offered("farvec", "build", "graph", "--deg"), ["--degree"])
        self.assertEqual(self.offered("farvec", "dataset", "sample", "--type", ""),
                         ["f32", "f16", "u8", "i8", "b1"])
        self.assertEqual(self.offered("/opt/bin/farvec-memory-node", "--log-l"), ["--log-level"])
        # Left to bash, which offers files.
        self.assertEqual(self.offered("farvec", "build", "graph", "--data", "ba"), [])

    def test_every_option_of_every_command(self):
        for path in commands():
            listed = help_of(*path).partition("\nOptions:\n")[2].partition("\n\n")[0]
            known = set(re.findall(r"^ {2,4}(?:-h,)?(--[a-z][\w-]*)", listed, re.MULTILINE))
            self.assertIn("--help", known)
            offered = set(self.offered("farvec", *path, "--"))
            self.assertEqual(known - offered, set(), path)


class OtherShells(unittest.TestCase):
    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        script = f"source {SHELL}/fish/farvec.fish; complete -C 'farvec build gr'"
        self.assertTrue(run("fish", "--no-config", "-c", script).stdout.startswith("graph\t"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        self.assertEqual(run("zsh", "-n", SHELL / "zsh" / "_farvec").stderr, "")


class Manual(unittest.TestCase):
    def test_every_command_has_a_page(self):
        pages = {path.name for path in (SHELL / "man1").glob("*.1")}
        wanted = {"-".join(["farvec", *path]) + ".1" for path in [(), *commands()]}
        self.assertEqual(wanted | {"farvec-memory-node.1", "farvec-compute-node.1"}, pages)

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "man-db is not installed")
    def test_pages_are_what_man_takes(self):
        for page in sorted((SHELL / "man1").glob("farvec*.1"))[:4]:
            result = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page, env={"PATH": "/usr/bin:/bin"})
            self.assertEqual((result.returncode, result.stderr), (0, ""), page)
            self.assertIn("EXIT STATUS", re.sub(r".\x08|\x1b\[[0-9;]*m", "", result.stdout))


if __name__ == "__main__":
    unittest.main()
