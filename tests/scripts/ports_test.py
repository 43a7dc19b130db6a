"""Commands in documents and in --help name the ports that the daemons listen on by themselves."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check_language  # noqa: E402  (found there)

DOCUMENTS = [*(ROOT / name for name in check_language.pages(ROOT)),
             *(path for room in ("cli", "compute_node", "memory_node")
               for path in sorted((ROOT / room).rglob("*.cc")))]
HOST = r"[\w.]+"


def default_port(path):
    return re.search(r'listen = "127\.0\.0\.1:(\d+)"', (ROOT / path).read_text()).group(1)


def first_ports(option):
    """[(where, port)] of the first address after each `option` in a command."""
    found = []
    for path in DOCUMENTS:
        for match in re.finditer(rf"{option} {HOST}:(\d+)", path.read_text()):
            found.append((path.name, match.group(1)))
    return found


class Ports(unittest.TestCase):
    def all_have(self, option, port, least):
        found = first_ports(option)
        self.assertGreaterEqual(len(found), least)
        self.assertEqual([where for where in found if where[1] != port], [])

    def test_compute_nodes(self):
        port = default_port("compute_node/daemon/daemon_options.h")
        self.all_have("--connect", port, 5)
        # One that follows runs beside the one that writes, and so has a port of its own.
        self.all_have(r"farvec-compute-node (?![^\n]*--follow)[^\n]*--listen", port, 3)

    def test_memory_nodes(self):
        port = default_port("memory_node/main.cc")
        self.all_have("--memory-node", port, 5)

    def test_the_launcher_has_the_same(self):
        launcher = (ROOT / "scripts/launch/launcher/config.py").read_text()
        self.assertIn(f'"compute", {default_port("compute_node/daemon/daemon_options.h")},',
                      launcher)
        self.assertIn(f'"memory", {default_port("memory_node/main.cc")},', launcher)


if __name__ == "__main__":
    unittest.main()
