"""What `farvec search` and `farvec sweep` say to questions that do not fit the index, and to an
index that is damaged."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, free_port, read_neighbours, write_vectors


class WithIndex(ToolTest):
    build_options = ()

    def setUp(self):
        super().setUp()
        self.data = self.rows(300)
        self.base = write_vectors(self.folder / "base", self.data)
        self.queries = write_vectors(self.folder / "queries", self.rows(9))
        self.index = self.folder / "index"
        self.must_pass(self.build(self.base, *self.build_options))

    def search(self, *options, queries=None):
        return farvec("search", "--index", self.index, "--queries", queries or self.queries,
                      "--threads", 1, *options)

    def flip(self, name, position):
        path = self.index / name
        raw = bytearray(path.read_bytes())
        raw[position] ^= 0x10
        path.write_bytes(bytes(raw))


class BadSearch(WithIndex):
    def test_dimension(self):
        queries = write_vectors(self.folder / "other", self.rows(9, 17))
        self.must_refuse(self.search(queries=queries), "dimension 17", "16")

    def test_type(self):
        queries = write_vectors(self.folder / "other", self.rows(9, 16, np.float32))
        self.must_refuse(self.search(queries=queries), "f32", "u8", "convert")

    def test_k_list_and_width(self):
        self.must_refuse(self.search("--k", 0), "--k: 0", "1 to 300")
        self.must_refuse(self.search("--k", 301, "--list", 400), "--k: 301", "1 to 300",
                         "vectors in the index")
        self.must_refuse(self.search("--k", 100_000), "--k: 100000")
        self.must_refuse(self.search("--k", 10, "--list", 9), "--list: 9", "at least k")
        self.must_refuse(self.search("--list", 0), "--list: 0")
        self.must_refuse(self.search("--width", 0), "--width: 0", "1 to 64")
        self.must_refuse(self.search("--width", 65), "--width: 65", "1 to 64")
        self.must_refuse(self.search("--slots", 0), "--slots")
        self.must_refuse(self.search("--k", "ten"), "--k")

    def test_refused_before_anything_is_loaded(self):
        self.flip("codes.bin", 4200)
        self.must_refuse(self.search(), "codes.bin", "checksum")
        for option in ("--k", "--list", "--width", "--slots"):
            with self.subTest(option):
                self.must_refuse(self.search(option, 0), f"{option}: 0")

    def test_clusters_to_probe(self):
        self.must_pass(farvec("build", "cluster", "--data", self.base, "--metric", "l2",
                              "--clusters", 9, "--quiet", "--out", self.folder / "clusters"))
        self.index = self.folder / "clusters"
        self.flip("centroids.bin", 4200)
        self.must_refuse(self.search(), "centroids.bin", "checksum")
        self.must_refuse(self.search("--probe", 0), "--probe: 0")
        self.must_refuse(self.search("--k", 0), "--k: 0")

    def test_a_closed_port_is_told_at_once(self):
        for address in (f"127.0.0.1:{free_port()}", f"unix:{self.folder}/nobody"):
            for command in (
                    ("search", "--connect", address, "--queries", self.queries),
                    ("search", "--index", self.index, "--queries", self.queries, "--tier",
                     f"fabric:tcp:{address}"),
                    ("publish", "--memory-node", address, "--index", self.index),
                    ("probe-counts", "--connect", address, "--out", self.folder / "probes.json")):
                result = self.must_refuse(farvec(*command), f"nothing listens at {address}")
                self.assertNotIn("waited", result.stderr)

    def test_a_folder_of_indexes(self):
        self.must_pass(self.build(self.base, out="other"))
        self.index = self.folder
        self.must_refuse(self.search(), "folder that holds index, other",
                         str(self.folder / "index"))

    def test_k_of_all_vectors(self):
        out = self.folder / "found.ibin"
        self.must_pass(self.search("--k", 300, "--list", 300, "--out", out))
        ids, distances = read_neighbours(out)
        self.assertTrue((np.sort(ids, axis=1) == np.arange(300)).all())
        self.assertTrue((np.diff(distances, axis=1) >= 0).all())

    def test_a_list_longer_than_the_index_is_all_of_it(self):
        self.must_pass(self.search("--list", 4_294_967_295))

    def test_records_of_another_index(self):
        other = write_vectors(self.folder / "other", self.rows(300))
        self.must_pass(self.build(other, "--layout", "padded", out="other-index"))
        self.must_pass(self.build(self.base, "--layout", "padded", out="padded"))
        self.index = self.folder / "padded"
        self.must_pass(self.search("--tier", f"file:{self.index}/records.padded"))
        self.must_refuse(self.search("--tier", f"file:{self.folder}/other-index/records.padded"),
                         "do not belong together")

    def test_one_of_index_and_connect(self):
        self.must_refuse(farvec("search", "--queries", self.queries), "--index", "--connect")

    def test_tiers(self):
        self.must_refuse(self.search("--tier", "tape"), "tape")
        self.must_refuse(self.search("--tier", "file:/nonexistent/records"), "/nonexistent")
        self.must_refuse(self.search("--tier", "emulated:latency=-1us"), "latency")

    def test_sweep(self):
        truth = self.folder / "gt.ibin"
        self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                              self.queries, "--metric", "l2", "--k", 10, "--quiet", "--out", truth))

        def sweep(*options):
            return farvec("sweep", "--index", self.index, "--queries", self.queries,
                          "--groundtruth", truth, "--passes", 1, "--pass-ms", 1, *options)
        self.must_refuse(sweep("--k", 0), "--k")
        self.must_refuse(sweep("--k", 11), "10 neighbours")
        self.must_refuse(sweep("--list", "20,x"), "'x'")
        self.must_refuse(sweep("--list", "5"), "list must be at least k")
        self.must_refuse(sweep("--queries-range", "5:40"), "beyond the 9 that there are")
        self.must_refuse(sweep("--json", "/nonexistent/a.json"), "/nonexistent/a.json")
        self.must_pass(sweep("--queries-range", "5:9"))


class BadIndex(WithIndex):
    def test_other_format_version(self):
        path = self.index / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["format_version"] = 99
        path.write_text(json.dumps(manifest))
        self.must_refuse(self.search(), "version 99")
        self.must_refuse(farvec("inspect", self.index), "version 99")

    def test_manifest_that_is_not_one(self):
        (self.index / "manifest.json").write_text("{")
        self.must_refuse(self.search(), "manifest.json")
        (self.index / "manifest.json").unlink()
        self.must_refuse(self.search(), "manifest.json")

    def test_damaged_regions_are_refused_at_load(self):
        for name in ("records.csr", "codes.bin", "offsets.bin"):
            with self.subTest(name):
                self.flip(name, 4200)
                self.must_refuse(self.search(), name, "checksum")
                self.must_refuse(farvec("inspect", self.index, "--verify"), name, "checksum")
                self.flip(name, 4200)
        self.must_pass(self.search())

    def test_truncated_region(self):
        path = self.index / "records.csr"
        path.write_bytes(path.read_bytes()[:-100])
        self.must_refuse(self.search(), "records.csr")

    def test_missing_region(self):
        (self.index / "codes.bin").unlink()
        self.must_refuse(self.search(), "codes.bin")


class RecordChecksum(WithIndex):
    build_options = ("--record-checksum",)

    def test_damage_behind_the_loader_is_an_error_not_an_answer(self):
        tier = f"file:{self.index / 'records.csr'}"
        everything = ("--k", 300, "--list", 300, "--tier", tier)
        self.must_pass(self.search(*everything))
        self.flip("records.csr", 6000)
        self.must_refuse(self.search(*everything), "checksum")


if __name__ == "__main__":
    unittest.main()
