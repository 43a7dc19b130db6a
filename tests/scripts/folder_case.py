"""What tests of scripts that check a tree of files share: a tree of their own, and the script run on it."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class FolderCase(unittest.TestCase):
    SCRIPT = None  # its path, in a class that derives from this one

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def run_script(self, root=None):
        return subprocess.run([sys.executable, self.SCRIPT, root or self.root], text=True, timeout=60,
                              capture_output=True, check=False)
