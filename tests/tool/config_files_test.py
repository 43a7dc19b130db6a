"""Files of options: the daemons read them, and those of the Debian packages have every option."""
import pathlib
import re
import subprocess
import unittest

from farvec_tool import BIN, TIMEOUT_S, ToolTest, write_vectors

FILES = pathlib.Path(__file__).parents[2] / "scripts/packages"
DAEMONS = {"farvec-memory-node": FILES / "memory-node.conf",
           "farvec-compute-node": FILES / "compute-node.conf"}
LINE = re.compile(r'(?P<comment># )?(?P<name>[a-z-]+) = (?P<value>"[^"]*"|\S+)')


def run(name, *options):
    return subprocess.run([str(BIN / name), *map(str, options)], text=True, capture_output=True,
                          timeout=TIMEOUT_S, check=False)


def lines_of(text):
    """The matches of the lines that give an option, or would without their #."""
    return [found for found in map(LINE.fullmatch, text.splitlines()) if found]


class ConfigFiles(ToolTest):
    def test_what_is_wrong_is_told_with_its_line(self):
        config = self.folder / "node.conf"
        for name in DAEMONS:
            for text, words in (('# x\nlisen = "a"\n', (f"{config}:2", "lisen")),
                                ("listen\n", (f"{config}:1", "NAME = VALUE")),
                                ('tls-cert = "a"\ntls-cert = "b"\n', ("--tls-cert",))):
                config.write_text(text)
                self.assertEqual(self.must_refuse(run(name, "--config", config), *words).returncode, 2)
            self.must_refuse(run(name, "--config", self.folder / "none"), "none", "No such file")

    def test_the_command_line_goes_before_the_file(self):
        self.must_pass(self.build(write_vectors(self.folder / "base", self.rows(100))))
        config = self.folder / "node.conf"
        config.write_text(f'index = "{self.folder}/index"\nlisten = "unix:{self.folder}/m"\n'
                          "rdma-port = 9\n")
        self.must_refuse(run("farvec-memory-node", "--config", config), "--rdma-port")
        config.write_text(config.read_text().replace("rdma-port = 9", "quiet = true"))
        self.must_refuse(run("farvec-memory-node", "--index", "/nonexistent", "--config", config),
                         "/nonexistent")

    def test_every_option_is_explained(self):
        """Given or behind a #, once, below a comment."""
        for name, path in DAEMONS.items():
            options = set(re.findall(r"^  (?:-h,)?--([a-z-]+)", run(name, "--help").stdout,
                                     re.MULTILINE))
            text = path.read_text()
            names = [found["name"] for found in lines_of(text)]
            self.assertEqual(sorted(names), sorted(options - {"help", "version", "config"}))
            for block in text.split("\n\n"):
                if lines_of(block):
                    self.assertRegex(block.splitlines()[0], "^# ")
                    self.assertFalse(LINE.fullmatch(block.splitlines()[0]), block)

    def test_every_value_is_taken(self):
        """One that is not is told before the option that does not exist."""
        config = self.folder / "one.conf"
        for name, path in DAEMONS.items():
            for found in lines_of(path.read_text()):
                config.write_text(f"{found['name']} = {found['value']}\n")
                self.must_refuse(run(name, "--config", config, "--nonsense"), "--nonsense")


if __name__ == "__main__":
    unittest.main()
