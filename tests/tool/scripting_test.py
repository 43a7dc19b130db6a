"""What scripts rely on: exit codes, and JSON that is all there is on the standard output."""
import json
import re
import subprocess
import unittest

import numpy as np

from farvec_tool import BIN, TIMEOUT_S, ToolTest, farvec, free_port, write_vectors

# Their output is what others read: ids, rows, a file of counts; or they print no more than a table.
WITHOUT_JSON = set()


def program(name, *arguments):
    return subprocess.run([BIN / name, *map(str, arguments)], text=True, capture_output=True,
                          timeout=TIMEOUT_S, check=False)


def commands(*path):
    """The paths of all commands that do something."""
    listed = farvec(*path, "--help").stdout.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    names = re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)
    return [one for name in names for one in commands(*path, name)] if names else [path]


class ExitCodes(ToolTest):
    def test_every_program_has_2_for_a_command_line_that_makes_no_sense(self):
        for name in ("farvec", "farvec-memory-node", "farvec-compute-node"):
            for words in (["--nothing-like-it"], ["--listen"]):
                result = program(name, *words)
                self.assertEqual(result.returncode, 2, (name, words, result.stderr))
                self.assertTrue(result.stderr)
        for words in (["swep"], ["dataset", "info"], ["dataset", "sample", "a", "b", "--type", "f31"]):
            self.assertEqual(farvec(*words).returncode, 2, words)

    def test_every_program_has_1_for_what_fails(self):
        gone = self.folder / "gone"
        for name, words in (("farvec", ["inspect", gone]),
                            ("farvec-memory-node", ["--index", gone, "--listen", f"unix:{gone}.m"]),
                            ("farvec-compute-node", ["--index", gone, "--listen", f"unix:{gone}.c"])):
            result = program(name, *words)
            self.assertEqual(result.returncode, 1, (name, result.stderr))
            self.assertIn("gone", result.stderr)

    def test_help_and_version_have_0(self):
        for name in ("farvec", "farvec-memory-node", "farvec-compute-node"):
            for word in ("--help", "--version"):
                self.assertEqual(program(name, word).returncode, 0, (name, word))

    def test_a_node_that_is_not_there_is_a_failure(self):
        self.assertEqual(farvec("status", f"127.0.0.1:{free_port()}").returncode, 1)


class InJson(ToolTest):
    def value(self, *words):
        result = self.must_pass(farvec(*words, "--json"))
        return json.loads(result.stdout)

    def test_every_command_has_it(self):
        without = {" ".join(path) for path in commands() if "--json" not in farvec(*path, "--help").stdout}
        self.assertEqual(without, WITHOUT_JSON)

    def test_data_sets(self):
        base = write_vectors(self.folder / "base", self.rows(50))
        half, truth = self.folder / "half.fbin", self.folder / "gt.ibin"
        self.assertEqual(self.value("dataset", "sample", base, half, "--first", 25),
                         {"out": str(half), "rows": 25, "dimension": 16, "type": "f32", "dropped": 0})
        some = np.full((3, 4), np.nan, np.float32)
        some[1] = 7
        broken = write_vectors(self.folder / "broken", some)
        said = self.value("dataset", "convert", broken, self.folder / "rest.fbin", "--allow-nonfinite")
        self.assertEqual((said["rows"], said["dropped"]), (1, 2))
        self.assertEqual(self.value("dataset", "groundtruth", "--data", base, "--queries", base,
                                    "--metric", "l2", "--k", 3, "--out", truth),
                         {"out": str(truth), "queries": 50, "k": 3})
        copy = self.folder / "gt.ivecs"
        self.assertEqual(self.value("dataset", "convert", truth, copy)["queries"], 50)

    def test_devices(self):
        self.must_pass(self.build(write_vectors(self.folder / "base", self.rows(50))))
        device = self.folder / "device"
        self.assertIn("indexes", self.value("devices", "format", device, "--bytes", "16MiB"))
        self.value("devices", "load", device, "--index", self.folder / "index", "--quiet")
        found = self.value("devices", "check", device, "--quiet")
        self.assertEqual(found, {"indexes": [{"index": "index", "whole": True}], "damage": ""})
        removed, = self.value("devices", "remove", device, "index")
        self.assertEqual(removed["index"], "index")
        self.assertRegex(removed["generation"], "^[0-9a-f]{16}$")


if __name__ == "__main__":
    unittest.main()
