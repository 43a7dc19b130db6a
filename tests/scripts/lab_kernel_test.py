"""The lab's kernel where it has yet to be fetched: by commands of the test's own in place of apt's."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = {
    "apt-cache": "echo '  Depends: linux-image-9'",
    "apt-get": "echo 'Get:1 a mirror'; touch linux-image-9.deb",
    "dpkg": "mkdir -p \"$3/lib/modules/9\"",
    "depmod": "",
}
FETCH = """
source scripts/common.sh
source scripts/lab/guest.sh
LAB="$1"
unpack_kernel() { touch "$LAB/kernel/vmlinux"; }
fetch_kernel
"""


class FetchedKernel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, body in COMMANDS.items():
            command = self.folder / name
            command.write_text(f"#!/bin/sh\n{body}\n")
            command.chmod(0o755)

    def fetch(self):
        path = f"{self.folder}:{os.environ['PATH']}"
        return subprocess.run(["bash", "-euc", FETCH, "fetch", str(self.folder / "lab")], cwd=ROOT,
                              env={**os.environ, "PATH": path}, capture_output=True, text=True,
                              timeout=60, check=True)

    def test_is_no_output_of_what_runs_in_the_guest(self):
        fetched = self.fetch()
        self.assertEqual(fetched.stdout, "")
        self.assertIn("Fetching linux-image-9", fetched.stderr)
        self.assertTrue((self.folder / "lab" / "kernel" / "vmlinux").exists())

    def test_is_fetched_once(self):
        self.fetch()
        self.assertEqual(self.fetch().stderr, "")


if __name__ == "__main__":
    unittest.main()
