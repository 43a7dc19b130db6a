"""libfarvec.so shows what farvec.h declares, and nothing else; programs of C need no other header."""
import os
import pathlib
import re
import subprocess
import unittest

LIBRARY = os.environ["FARVEC_C_LIBRARY"]
HEADER = pathlib.Path(os.environ["FARVEC_C_HEADER"])


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=120).stdout


class Exports(unittest.TestCase):
    def test_what_is_declared_is_shown_and_nothing_else(self):
        lines = output("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        shown = {line.split()[-1].partition("@")[0] for line in lines if line.split()[-2] != "A"}
        declared = set(re.findall(r"\b(farvec_\w+)\(", HEADER.read_text()))
        self.assertEqual(shown, declared)
        self.assertGreater(len(declared), 30)

    def test_name_and_flags(self):
        dynamic = output("readelf", "--dynamic", "--wide", LIBRARY)
        self.assertRegex(dynamic, r"SONAME.*\[libfarvec\.so\.0\]")
        # Threads of gRPC may outlive dlclose().
        self.assertIn("NODELETE", dynamic)

    def test_the_header_needs_no_other_of_farvec(self):
        included = re.findall(r"#include (.*)", HEADER.read_text())
        self.assertEqual(included, ["<stddef.h>", "<stdint.h>"])
        for compiler, standard, language in (("cc", "c99", "c"), ("c++", "c++20", "c++")):
            with self.subTest(standard):
                subprocess.run([compiler, f"-std={standard}", "-x", language, "-Wall", "-Wextra",
                                "-Wpedantic", "-Werror", "-fsyntax-only", str(HEADER)],
                               check=True, timeout=120)


if __name__ == "__main__":
    unittest.main()
