"""The program of docs/use/c.md, built and run, and the page's other snippets, compiled."""
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np

from farvec_tool import TIMEOUT_S, DaemonTest, write_vectors

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "client/c"
LIBRARY = pathlib.Path(os.environ["FARVEC_C_LIBRARY"]).parent
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HEADERS}")

# What the snippets have from the text around them.
AROUND = """
#include <farvec.h>
#include <signal.h>
#include <stdio.h>
void around(farvec_connection* connection, farvec_vectors query, farvec_vectors queries,
            farvec_vectors rows, farvec_cursor* cursor, farvec_results* found, farvec_error error);
void around(farvec_connection* connection, farvec_vectors query, farvec_vectors queries,
            farvec_vectors rows, farvec_cursor* cursor, farvec_results* found, farvec_error error) {
  (void)connection, (void)query, (void)queries, (void)rows, (void)cursor, (void)found, (void)error;
"""


def snippets():
    page = (ROOT / "docs/use/c.md").read_text()
    return re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def compiled(source, *words):
    return subprocess.run(["cc", *FLAGS, source, *map(str, words)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)


class Page(DaemonTest):
    def write(self, text):
        source = self.folder / "snippet.c"
        source.write_text(text)
        return source

    def test_the_program_finds_the_rows_nearest_to_zeros(self):
        # cc is told to link what the text's pkg-config would say.
        program = self.folder / "nearest"
        link = (f"-L{LIBRARY}", "-lfarvec", f"-Wl,-rpath,{LIBRARY}", "-o", program)
        self.must_pass(compiled(self.write(snippets()[0]), *link))
        rows = self.rows(500, 12, np.float32)
        base = write_vectors(self.folder / "base", rows)
        self.must_pass(self.build(base))
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--tier", "dram",
                   "--listen", address)
        self.await_status(address)
        done = subprocess.run([program, address], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        self.must_pass(done)
        lines = [line.split(" at distance ") for line in done.stdout.splitlines()]
        expected = np.argsort((rows.astype(float) ** 2).sum(axis=1))[:10]
        self.assertEqual([int(line[0]) for line in lines], expected.tolist())
        for line in lines:
            self.assertAlmostEqual(float(line[1]), float((rows[int(line[0])] ** 2).sum()), places=3)
        refused = subprocess.run([program, "unix:/nowhere"], capture_output=True, text=True,
                                 timeout=TIMEOUT_S, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("UNAVAILABLE: nothing listens", refused.stderr)

    def test_the_other_snippets_compile(self):
        others = snippets()[1:]
        self.assertGreater(len(others), 3)
        for text in others:
            with self.subTest(text.splitlines()[0]):
                whole = AROUND + text + "}\n"
                if text.startswith("static "):
                    whole = "#include <signal.h>\n" + text
                self.must_pass(compiled(self.write(whole), "-Wno-unused-function", "-c", "-o",
                                        self.folder / "snippet.o"))


if __name__ == "__main__":
    unittest.main()
