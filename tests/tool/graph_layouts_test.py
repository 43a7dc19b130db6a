"""One graph in every layout that has records: built, converted, inspected, searched, placed, served."""
import json
import unittest

import numpy as np

from farvec_tool import DaemonTest, farvec, read_neighbours, write_vectors

COUNT, QUERIES, DIMENSION, K, LIST = 1500, 40, 24, 10, 60
LAYOUTS = ("csr", "packed", "inline", "padded")
COUNTS = ("recall", "reads_per_query", "bytes_per_query", "hops_per_query", "estimates_per_query",
          "distances_per_query")


class GraphLayouts(DaemonTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(COUNT, DIMENSION))
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES, DIMENSION))
        self.must_pass(self.build_layout("csr"))

    def build_layout(self, layout, *options):
        return self.build(self.base, "--layout", layout, *options, out=layout)

    def convert(self, source, layout, *options, out=None):
        return farvec("convert", "--index", self.folder / source, "--layout", layout, "--quiet",
                      "--out", self.folder / (out or layout), *options)

    def inspect(self, index):
        return json.loads(self.must_pass(
            farvec("inspect", self.folder / index, "--json", "--verify")).stdout)

    def search(self, *options):
        out = self.folder / "found.ibin"
        self.must_pass(farvec("search", "--queries", self.queries, "--k", K, "--list", LIST,
                              "--out", out, *options))
        return read_neighbours(out)[0]

    def expect_same_files(self, one, other):
        files = sorted(path.name for path in (self.folder / one).iterdir())
        self.assertEqual(files, sorted(path.name for path in (self.folder / other).iterdir()))
        for name in files:
            self.assertEqual((self.folder / one / name).read_bytes(),
                             (self.folder / other / name).read_bytes(), f"{one} {other} {name}")


class Files(GraphLayouts):
    def test_converted_is_as_built(self):
        for layout in ("inline", "padded"):
            self.must_pass(self.build_layout(layout))
            self.must_pass(self.convert("csr", layout, out=f"{layout}-converted"))
            self.expect_same_files(layout, f"{layout}-converted")
            self.must_pass(self.convert(layout, "csr", out=f"csr-of-{layout}"))
            self.expect_same_files("csr", f"csr-of-{layout}")

    def test_of_slotted_pages(self):
        """Pages keep a list in an order of their own: all else is as built."""
        self.must_pass(self.build_layout("slotted"))
        self.must_pass(self.convert("slotted", "csr", out="csr-of-slotted"))
        facts, built = self.inspect("csr-of-slotted"), self.inspect("csr")
        for what in ("graph", "degree", "layouts"):
            self.assertEqual(facts[what], built[what])
        for name in ("codes.bin", "offsets.bin"):
            self.assertEqual((self.folder / "csr-of-slotted" / name).read_bytes(),
                             (self.folder / "csr" / name).read_bytes())
        np.testing.assert_array_equal(*(self.search("--index", self.folder / index)
                                        for index in ("csr", "csr-of-slotted")))

    def test_packed_numbers_its_vertices_in_its_own_order(self):
        self.must_pass(self.build_layout("packed"))
        self.must_pass(self.convert("csr", "packed", out="packed-converted"))
        self.expect_same_files("packed", "packed-converted")
        # Back in the order of the rows: only the order within a list is not kept.
        self.must_pass(self.convert("packed", "csr", out="csr-of-packed"))
        self.must_pass(self.convert("csr-of-packed", "packed", out="packed-again"))
        self.expect_same_files("packed", "packed-again")
        csr, again, packed = (self.inspect(name) for name in ("csr", "csr-of-packed", "packed"))
        for facts in (again, packed):
            self.assertEqual(facts["degree"], csr["degree"])
        self.assertEqual(again["graph"], csr["graph"])
        self.assertEqual(list(packed["layouts"]), ["csr", "padded", "packed"])
        cost = packed["layouts"]["packed"]
        self.assertEqual(cost["records_bytes"],
                         (self.folder / "packed" / "records.packed").stat().st_size)
        self.assertEqual(packed["layouts"]["csr"], csr["layouts"]["csr"])
        self.assertLess(cost["records_bytes"], csr["layouts"]["csr"]["records_bytes"])
        wide = ("build", "graph", "--data", self.base, "--metric", "l2", "--degree", 551)
        self.must_refuse(farvec(*wide, "--layout", "packed", "--out", self.folder / "wide"),
                         "degree 551", "packed", "550")

    def test_convert_reports_and_obeys(self):
        options = ("--code-bits", 2, "--record-checksum", "--json")
        facts = json.loads(self.must_pass(self.convert("csr", "inline", *options)).stdout)
        self.assertEqual((facts["layout"], facts["code_bits"]), ("inline", 2))
        self.assertEqual(facts["record_bytes"],
                         (self.folder / "inline" / "records.inline").stat().st_size)
        self.assertTrue(self.inspect("inline")["graph"]["record_checksum"])
        self.must_refuse(self.convert("csr", "inline"), "--overwrite")
        text = self.must_pass(self.convert("csr", "inline", "--overwrite")).stdout
        self.assertIn("inline layout, codes of 1 bits", text)
        self.assertFalse(self.inspect("inline")["graph"]["record_checksum"])

    def test_convert_refuses(self):
        self.must_refuse(self.convert("csr", "inline", "--code-bits", 5), "--code-bits 5", "1 to 4")
        self.must_refuse(self.convert("csr", "slotted"), "--layout slotted", "farvec build graph")
        self.must_refuse(self.convert("csr", "tape"), "tape", "inline")
        self.must_refuse(self.convert("absent", "inline"), "absent")
        self.must_pass(farvec("build", "cluster", "--data", self.base, "--metric", "l2",
                              "--clusters", 20, "--quiet", "--out", self.folder / "clusters"))
        self.must_refuse(self.convert("clusters", "csr", out="none"), "is no graph", "grouped")
        records = self.folder / "csr" / "records.csr"
        content = bytearray(records.read_bytes())
        content[5000] ^= 1
        records.write_bytes(content)
        self.must_refuse(self.convert("csr", "inline", out="none"), "records.csr")
        self.assertFalse((self.folder / "none").exists())

    def test_inspect(self):
        self.must_pass(self.build_layout("inline", "--record-checksum"))
        facts = self.inspect("inline")
        self.assertTrue(facts["verified"])
        # Codes of 32 neighbours at 1 bit, factors, vector, 8 ids, checksum; whole cache lines.
        needed = facts["graph"]["neighbor_code_bytes"] + DIMENSION + 4 * 8 + 4
        record_bytes = -(-needed // 64) * 64
        cost = facts["layouts"]["inline"]
        self.assertEqual(list(facts["layouts"]), ["inline"])
        self.assertEqual(cost["records_bytes"], 4096 + COUNT * record_bytes)
        self.assertEqual(cost["offsets_bytes"], 0)
        self.assertEqual(cost["codes_bytes"],
                         (self.folder / "inline" / "codes.bin").stat().st_size)
        self.assertEqual(facts["degree"], self.inspect("csr")["degree"])
        self.assertIn("inline (this)",
                      self.must_pass(farvec("inspect", self.folder / "inline")).stdout)
        records = self.folder / "inline" / "records.inline"
        content = bytearray(records.read_bytes())
        content[-1] ^= 1
        records.write_bytes(content)
        self.must_refuse(farvec("inspect", self.folder / "inline", "--verify"), "records.inline")


class Searches(GraphLayouts):
    def setUp(self):
        super().setUp()
        for layout in LAYOUTS[1:]:
            self.must_pass(self.convert("csr", layout))

    def test_counts_do_not_depend_on_the_tier(self):
        truth, out = self.folder / "truth.ibin", self.folder / "sweep.jsonl"
        self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                              self.queries, "--metric", "l2", "--k", K, "--out", truth))
        recalls = {}
        for layout in LAYOUTS:
            self.must_pass(farvec(
                "sweep", "--index", self.folder / layout, "--queries", self.queries,
                "--groundtruth", truth, "--k", K, "--list", LIST, "--width", "1,4", "--slots",
                "1,8", "--tier", "dram,shm,emulated:rdma,emulated:cxl,ssd", "--passes", 1,
                "--pass-ms", 1, "--json", out, "--overwrite"))
            rows = [json.loads(line) for line in out.read_text().splitlines()]
            for width in (1, 4):
                found = [[row[count] for count in COUNTS] for row in rows if row["width"] == width]
                self.assertEqual(len(found), 10)
                self.assertEqual(found, [found[0]] * 10, layout)
            recalls[layout] = rows[0]["recall"]
        self.assertEqual(recalls["csr"], recalls["padded"])
        self.assertGreater(recalls["inline"], 0.7)
        self.assertAlmostEqual(recalls["packed"], recalls["csr"], delta=0.02)

    def test_served_from_two_memory_nodes(self):
        for layout in ("csr", "packed", "inline"):
            index = self.folder / layout
            expected = self.search("--index", index, "--threads", 1)
            self.must_pass(farvec("place", "--index", index, "--nodes", 2, "--replicas", 2,
                                  "--extent-bytes", "32KiB"))
            for tier in ("shm", "fabric:tcp"):
                nodes = []
                for node in range(2):
                    serves = () if tier == "shm" else ("--fabric", "tcp:127.0.0.1")
                    nodes.append(f"unix:{self.folder}/m{node}")
                    self.start("farvec-memory-node", "--index", index, "--listen", nodes[-1],
                               "--node", node, *serves)
                address = f"unix:{self.folder}/c"
                self.start("farvec-compute-node", "--memory-node", ",".join(nodes), "--listen",
                           address, "--tier", tier)
                self.assertEqual(self.await_status(address)["index"]["layout"], layout)
                np.testing.assert_array_equal(self.search("--connect", address), expected)
                self.processes.close()

    def test_published_in_anothers_place(self):
        memory, compute = (f"unix:{self.folder}/{name}" for name in "mc")
        self.start("farvec-memory-node", "--index", self.folder / "csr", "--listen", memory)
        self.start("farvec-compute-node", "--memory-node", memory, "--listen", compute)
        self.await_status(compute)
        for switches, layout in enumerate(("inline", "packed", "padded", "csr"), 1):
            self.must_pass(farvec("publish", "--memory-node", memory, "--index",
                                  self.folder / layout, "--quiet"))
            while (facts := self.await_status(compute))["switches"] < switches:
                self.assertEqual(facts["switches_refused"], 0)
            self.assertEqual(facts["index"]["layout"], layout)
            np.testing.assert_array_equal(self.search("--connect", compute),
                                          self.search("--index", self.folder / layout))


if __name__ == "__main__":
    unittest.main()
