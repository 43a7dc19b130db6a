"""An engine of another version than the extension: nobody asks it, and all are told why."""
import pathlib
import stat
import tempfile
import unittest

from engine_base import AWAY, EngineTest, wait_until

# What is installed in the engine's place. It makes a segment as an engine of another version does, and
# ends with the server.
OTHER = """#!/usr/bin/python3
import struct, sys
path = sys.argv[sys.argv.index("--segment") + 1]
with open(path, "wb") as file:
    file.write(struct.pack("<QIIII", {magic}, {version}, 8, 64, 1).ljust(1 << 20, b"\\0"))
sys.stdin.read()
"""
MAGIC = 0x6c656e6e61686346
VERSION = 7 << 16 | 5


class OtherVersion(EngineTest):
    @classmethod
    def start_server(cls, pg_config, folder):
        with tempfile.NamedTemporaryFile("w", prefix="farvec-other-engine-", delete=False) as file:
            file.write(OTHER.format(magic=MAGIC, version=VERSION))
        program = pathlib.Path(file.name)
        cls.addClassCleanup(program.unlink)
        program.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        cls.settings = {"farvec.engine": program}
        super().start_server(pg_config, folder)

    def test_both_versions_are_named_and_what_to_do(self):
        said = "speaks version 7.5 and the extension 1."
        wait_until("the log says it", lambda: said in self.server.log.read_text())
        self.sql("CREATE TABLE t (v vector(4)); INSERT INTO t VALUES ('[1,2,3,4]');")
        text = self.refused("CREATE INDEX ON t USING farvec (v vector_l2_ops);", AWAY)
        self.assertIn(said, text)
        self.assertIn("start the server again", text)
        self.assertIsNotNone(self.worker(), "the worker goes on")


if __name__ == "__main__":
    unittest.main()
