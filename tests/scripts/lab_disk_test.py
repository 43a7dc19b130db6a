"""The disk of the lab's guests keeps what was flushed, and of the rest some blocks, whole."""
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

DISK = pathlib.Path(__file__).parents[2] / "scripts" / "lab" / "disk.py"
BLOCK, BLOCKS = 4096, 64
READ, WRITE, _, FLUSH = range(4)
PATIENCE_S = 60


class DiskTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="farvec-disk-")
        self.addCleanup(folder.cleanup)
        self.image = pathlib.Path(folder.name) / "image"
        self.image.write_bytes(bytes(BLOCK * BLOCKS))
        path = pathlib.Path(folder.name) / "socket"
        self.disk = subprocess.Popen([sys.executable, "-B", DISK, self.image, path],
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.disk.kill)
        self.client = socket.socket(socket.AF_UNIX)
        self.addCleanup(self.client.close)
        self.client.settimeout(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while self.client.connect_ex(str(path)) != 0:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.agree()

    def receive(self, count):
        data = b""
        while len(data) < count:
            piece = self.client.recv(count - len(data))
            self.assertTrue(piece)
            data += piece
        return data

    def agree(self):
        self.assertEqual(self.receive(18)[:16], b"NBDMAGICIHAVEOPT")
        option = struct.pack(">II", 7, 6) + bytes(6)
        self.client.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + option)
        facts = self.receive(20 + 12 + 20)
        self.assertEqual(struct.unpack(">Q", facts[22:30])[0], BLOCK * BLOCKS)

    def ask(self, what, offset=0, count=0, data=b""):
        self.client.sendall(struct.pack(">IHHQQI", 0x25609513, 0, what, 7, offset, count) + data)
        magic, error, handle = struct.unpack(">IIQ", self.receive(16))
        self.assertEqual((magic, handle), (0x67446698, 7))
        return error or (self.receive(count) if what == READ else 0)

    def end(self):
        words = self.disk.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(self.disk.returncode, 0)
        return words, self.image.read_bytes()

    def test_power_takes_what_was_not_flushed(self):
        flushed = b"f" * BLOCK * BLOCKS
        self.assertEqual(self.ask(WRITE, 0, len(flushed), flushed), 0)
        self.assertEqual(self.ask(FLUSH), 0)
        self.assertEqual(self.image.read_bytes(), flushed)
        behind = b"b" * BLOCK * (BLOCKS - 1)
        self.assertEqual(self.ask(WRITE, BLOCK // 2, len(behind), behind), 0)
        self.assertEqual(self.image.read_bytes(), flushed)
        new = flushed[:BLOCK // 2] + behind + flushed[:BLOCK // 2]
        self.assertEqual(self.ask(READ, 0, len(new)), new)
        self.disk.terminate()
        words, left = self.end()
        kept = 0
        for at in range(0, len(left), BLOCK):
            self.assertIn(left[at:at + BLOCK], (flushed[at:at + BLOCK], new[at:at + BLOCK]))
            kept += left[at:at + BLOCK] == new[at:at + BLOCK]
        self.assertIn(f"power went: {kept} of {BLOCKS} blocks", words)

    def test_a_client_that_hangs_up_is_a_cut(self):
        self.assertEqual(self.ask(WRITE, 0, 3, b"abc"), 0)
        self.assertEqual(self.ask(FLUSH), 0)
        self.client.close()
        words, left = self.end()
        self.assertIn("0 of 0 blocks", words)
        self.assertEqual(left[:4], b"abc\0")

    def test_what_is_beyond_the_end_is_refused(self):
        self.assertEqual(self.ask(WRITE, BLOCK * BLOCKS - 1, 2, b"ab"), 22)
        self.assertEqual(self.ask(WRITE, BLOCK * BLOCKS - 1, 1, b"a"), 0)
        self.disk.terminate()
        self.end()


if __name__ == "__main__":
    unittest.main()
