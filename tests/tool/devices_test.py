"""Memory devices: formatted, loaded, searched, served, damaged; files stand for them here."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

import numpy as np

from farvec_tool import BIN, DaemonTest, farvec, read_neighbours, write_vectors

QUERIES, K, LIST = 9, 5, 20
UNIT = 2 << 20


class Devices(DaemonTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(3000))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        self.must_pass(self.build(self.base))
        self.device = self.folder / "pmem"

    def devices(self, command, *options):
        return farvec("devices", command, *options)

    def format(self, units=16, *options):
        return self.must_pass(self.devices("format", self.device, "--bytes", units * UNIT, *options))

    def load(self, index="index", *options):
        return self.devices("load", "--index", self.folder / index, self.device, "--quiet", *options)

    def lies_there(self):
        """{name: entry} of the device, and its free bytes."""
        said = json.loads(self.must_pass(self.devices("list", self.device, "--json")).stdout)
        return {index["name"]: index for index in said[0]["indexes"]}, said[0]["free_bytes"]

    def search(self, *where):
        out = self.folder / "found.ibin"
        out.unlink(missing_ok=True)
        self.must_pass(farvec("search", *where, "--queries", self.queries, "--k", K, "--list", LIST,
                              "--out", out))
        return read_neighbours(out)

    def expected(self):
        return self.search("--index", self.folder / "index")

    def must_be_same(self, found, expected):
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])

    def test_from_format_to_remove(self):
        self.format()
        _, empty = self.lies_there()
        self.assertEqual(empty, 15 * UNIT)
        self.must_pass(self.load())
        self.assertIn("already", self.must_pass(self.load()).stdout)
        indexes, free = self.lies_there()
        self.assertEqual(list(indexes), ["index"])
        self.assertEqual(free, empty - indexes["index"]["bytes"])
        self.assertIn("1 whole, 0 damaged",
                      self.must_pass(self.devices("check", self.device, "--quiet")).stdout)
        found = self.search("--index", self.folder / "index", "--tier", f"pmem:{self.device}")
        self.must_be_same(found, self.expected())
        self.must_pass(self.devices("remove", self.device, "index"))
        self.assertEqual(self.lies_there(), ({}, empty))

    def test_this_machine_is_listed(self):
        said = json.loads(self.must_pass(self.devices("list", "--json")).stdout)
        nodes = [one for one in said if one["kind"] == "NUMA node"]
        self.assertTrue(nodes)
        self.assertGreater(sum(node["bytes"] for node in nodes), 1 << 28)
        self.assertIn("NUMA node", self.must_pass(self.devices("list")).stdout)

    def test_a_memory_node_attaches_after_it_was_killed(self):
        self.format()
        options = ("--backing", "pmem", "--backing-path", self.device, "--listen",
                   f"unix:{self.folder}/m")
        node = self.start("farvec-memory-node", "--index", self.folder / "index", *options)
        self.start("farvec-compute-node", "--memory-node", f"unix:{self.folder}/m", "--listen",
                   f"unix:{self.folder}/c")
        self.await_status(f"unix:{self.folder}/c")
        self.must_be_same(self.search("--connect", f"unix:{self.folder}/c"), self.expected())
        busy = "is written by another process"
        self.must_refuse(self.load(), busy)
        self.must_refuse(self.devices("remove", self.device, "index"), busy)
        self.must_refuse(self.devices("format", self.device, "--force"), busy)
        node.kill()
        node.wait()
        self.start("farvec-memory-node", *options)
        self.await_status(f"unix:{self.folder}/m")
        self.assertIn("attached where they lie",
                      (self.folder / "farvec-memory-node.log").read_text())
        # The compute node comes back to it by itself.
        end = time.monotonic() + 60
        while True:
            result = farvec("search", "--connect", f"unix:{self.folder}/c", "--queries",
                            self.queries, "--k", K, "--list", LIST, "--retries", 20)
            if result.returncode == 0 or time.monotonic() > end:
                break
            time.sleep(0.1)
        self.must_be_same(self.search("--connect", f"unix:{self.folder}/c"), self.expected())

    def test_a_published_index_takes_the_place_of_the_one_before(self):
        self.must_pass(self.build(write_vectors(self.folder / "more", self.rows(4000)), out="next"))
        self.format()
        address = f"unix:{self.folder}/m"
        self.start("farvec-memory-node", "--backing", "pmem", "--backing-path", self.device,
                   "--index", self.folder / "index", "--listen", address)
        self.await_status(address)
        self.must_pass(farvec("publish", "--memory-node", address, "--index",
                              self.folder / "next", "--quiet"))
        end = time.monotonic() + 20
        while list(self.lies_there()[0]) != ["next"]:
            self.assertLess(time.monotonic(), end, self.lies_there())
            time.sleep(0.05)

    def test_a_load_that_is_killed_leaves_what_was_there(self):
        self.format(64)
        self.must_pass(self.load("index", "--name", "before"))
        big = self.rows(20_000, 200)
        self.must_pass(self.build(write_vectors(self.folder / "big", big), out="big"))
        _, free = self.lies_there()
        chance = random.Random(5)
        command = [str(BIN / "farvec"), "devices", "load", "--index", str(self.folder / "big"),
                   str(self.device), "--quiet", "--threads", "1"]
        killed = 0
        for _ in range(20):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.06))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() != 0
            indexes, now_free = self.lies_there()
            self.assertIn("before", indexes)
            self.must_pass(self.devices("check", self.device, "--quiet"))
            if "big" in indexes:
                self.must_pass(self.devices("remove", self.device, "big"))
            else:
                self.assertEqual(now_free, free)
        self.assertGreater(killed, 0)
        self.must_pass(self.load("big"))

    def test_steps_that_are_killed_are_done_or_not(self):
        """As tests/pmem/power_test.sh, which takes a guest's power away; here its process is killed."""
        for rows, name in enumerate("abcp", 1):
            data = write_vectors(self.folder / f"rows-{name}", self.rows(200 * rows))
            self.must_pass(self.build(data, out=name))
        self.must_pass(farvec("place", "--index", self.folder / "p", "--nodes", 2,
                              "--extent-bytes", 4096))
        devices = [self.folder / name for name in ("one", "two")]
        for device in devices:
            device.write_bytes(b"")
            os.truncate(device, 32 * UNIT)
        journal, new = self.folder / "journal", self.folder / "new"
        journal.write_text("")
        chance = random.Random(7)
        for _ in range(12):
            new.write_text("")
            life = subprocess.Popen([BIN / "device_life", self.folder, journal, new, *devices],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            said = next((line for line in life.stdout if line == "checked\n"), None)
            time.sleep(chance.uniform(0, 0.2))
            life.kill()
            _, error = life.communicate()
            self.assertEqual(said, "checked\n", error)
            self.assertEqual(error, "", "a step failed")
            journal.write_text(journal.read_text() + new.read_text())
        self.assertIn("done", journal.read_text())

    def test_damage_is_named(self):
        self.format()
        self.must_pass(self.load())
        entry = self.lies_there()[0]["index"]
        for region in entry["regions"]:
            with self.device.open("r+b") as file:
                file.seek(region["offset"] + 4100)
                byte = file.read(1)[0]
                file.seek(-1, 1)
                file.write(bytes([byte ^ 4]))
            result = self.devices("check", self.device, "--quiet")
            self.must_refuse(result, f"region {region['region']}", "is damaged")
            self.assertIn("0 whole, 1 damaged", result.stdout)
            with self.device.open("r+b") as file:
                file.seek(region["offset"] + 4100)
                file.write(bytes([byte]))
        self.must_pass(self.devices("check", self.device, "--trust", "--quiet"))

    def test_a_flipped_byte_of_either_directory_loses_nothing_and_fails_the_check(self):
        self.format()
        self.must_pass(self.load())
        lies_there = self.lies_there()
        for place in (0, 5, 48, 4096 + 60, (1 << 20) + 3, (1 << 20) + 4096 + 60):
            with self.device.open("r+b") as file:
                file.seek(place)
                byte = file.read(1)[0]
                file.seek(place)
                file.write(bytes([byte ^ 4]))
            self.assertEqual(self.lies_there(), lies_there, place)
            self.must_refuse(self.devices("check", self.device, "--quiet"), "of the directory is",
                             "damaged")
            self.must_pass(self.devices("check", self.device, "--trust", "--quiet"))
            self.must_pass(self.devices("check", self.device, "--quiet"))

    def test_bad_input_is_refused(self):
        self.must_refuse(self.load(), "opening", "No such file")
        self.must_refuse(self.devices("format", self.device), "No such file")
        self.must_refuse(self.devices("format", self.device, "--bytes", 1000), "has 1000 bytes")
        self.assertFalse(self.device.exists(), "what could not be formatted is left")
        self.must_refuse(self.devices("format", self.folder), "is a directory")
        foreign = self.folder / "foreign"
        foreign.write_bytes(bytes([1]) * 4 * UNIT)
        self.must_refuse(self.devices("format", foreign), "holds something that is not farvec's")
        self.must_refuse(self.devices("format", self.base, "--bytes", "64MB"), "File exists")
        self.must_refuse(self.devices("list", foreign), "is not formatted for farvec")
        self.format(4)
        self.must_refuse(self.load(), "has no room")
        self.assertEqual(self.lies_there()[0], {})
        self.must_refuse(self.devices("format", self.device), "holds indexes of farvec", "--force")
        self.must_refuse(self.devices("remove", self.device, "index"), "holds no 'index'")
        self.must_refuse(self.load("index", "--node", 1), "--node 1")
        tier = ("search", "--index", self.folder / "index", "--queries", self.queries, "--tier")
        self.must_refuse(farvec(*tier, f"pmem:{self.device}"), "does not hold the index",
                         "devices load")
        self.must_refuse(farvec(*tier, f"devdax:{foreign}"), "is not formatted for farvec")
        node = subprocess.run([str(BIN / "farvec-memory-node"), "--backing", "pmem",
                               "--backing-path", str(self.device)], text=True, timeout=20,
                              capture_output=True, check=False)
        self.assertEqual(node.returncode, 1)
        self.assertIn("holds no index of node 0", node.stderr)

    def test_another_version_is_refused(self):
        self.format()
        with self.device.open("r+b") as file:
            for copy in (0, UNIT // 2):
                file.seek(copy + 8)
                file.write((99).to_bytes(4, "little"))
        self.must_refuse(self.devices("list", self.device), "has format version 99")


if __name__ == "__main__":
    unittest.main()
