"""Vectors of bits: converted, built, searched and served, as numpy says what should be found."""
import json
import shutil
import time
import unittest

import numpy as np

from farvec_tool import DaemonTest, ToolTest, farvec, read_neighbours, write_vectors
from hnsw_tool import write_neighbours

METRICS = ("hamming", "jaccard")
K = 10


def write_bits(path, bits):
    """Writes a .b1bin file of an array of bool."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    path.write_bytes(np.asarray(bits.shape, "<u4").tobytes() + packed.tobytes())
    return path


def read_bits(path):
    """An array of bool."""
    raw = path.read_bytes()
    count, dimension = np.frombuffer(raw[:8], "<u4")
    packed = np.frombuffer(raw[8:], np.uint8).reshape(count, -1)
    return np.unpackbits(packed, axis=1, count=int(dimension), bitorder="little").astype(bool)


def distances_of(queries, rows, metric):
    """Of all pairs; two rows without any bit are at jaccard distance 1."""
    queries, rows = queries.astype(np.int64), rows.astype(np.int64)
    both = queries @ rows.T
    all_bits = queries.sum(axis=1)[:, None] + rows.sum(axis=1)[None, :]
    if metric == "hamming":
        return (all_bits - 2 * both).astype(np.float32)
    either = all_bits - both
    share = (either - both).astype(np.float32) / np.maximum(either, 1).astype(np.float32)
    return np.where(either == 0, np.float32(1), share)


def nearest(queries, rows, metric, k=K):
    """(ids, distances), equal distances by the smaller id."""
    distances = distances_of(queries, rows, metric)
    ids = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return ids, np.take_along_axis(distances, ids, axis=1)


class BitsTest(ToolTest):
    """Rows of which many are equal, some have no bit, and distances are few."""

    DIMENSION, ROWS, QUERIES = 16, 1000, 40

    def setUp(self):
        super().setUp()
        self.make(self.DIMENSION)

    def make(self, dimension, rows=None):
        self.data = self.bits(rows or self.ROWS, dimension)
        self.asked = self.bits(self.QUERIES, dimension)
        self.data[::7] = self.data[3]
        self.data[::50] = self.asked[0] = False
        self.base = write_bits(self.folder / "base.b1bin", self.data)
        self.queries = write_bits(self.folder / "query.b1bin", self.asked)

    def bits(self, rows, dimension):
        return self.random.random((rows, dimension)) < self.random.random(dimension)

    def found(self, *options, k=K):
        out = self.folder / "found.ibin"
        self.must_pass(farvec("search", "--queries", self.queries, "--k", k, "--out", out, *options))
        return read_neighbours(out)

    def assert_nearest(self, found, metric, ids_too=True):
        ids, distances = nearest(self.asked, self.data, metric)
        np.testing.assert_array_equal(found[1], distances)
        own = np.take_along_axis(distances_of(self.asked, self.data, metric),
                                 found[0].astype(np.int64), axis=1)
        np.testing.assert_array_equal(own, distances)
        if ids_too:
            np.testing.assert_array_equal(found[0], ids)


class Files(BitsTest):
    def convert(self, *options):
        return farvec("dataset", "convert", *options, "--quiet")

    def test_by_sign_mean_median_and_file(self):
        values = self.rows(301, 13, np.float32)
        values[:, 4] = np.round(values[:, 4])  # values that are equal to their median
        source = write_vectors(self.folder / "values", values)
        out, kept = self.folder / "out.b1bin", self.folder / "kept.fbin"
        thresholds = {"sign": np.zeros(13), "mean": values.mean(axis=0, dtype=np.float64),
                      "median": np.median(values, axis=0)}
        for by, threshold in thresholds.items():
            self.must_pass(self.convert(source, out, "--by", by, "--thresholds", kept))
            threshold = threshold.astype(np.float32)
            np.testing.assert_array_equal(read_bits(out), values > threshold)
            written = np.fromfile(kept, "<f4", offset=8)
            np.testing.assert_allclose(written, threshold, rtol=1e-6, atol=1e-7)
            again = self.folder / "again.b1bin"
            self.must_pass(self.convert(source, again, "--by", kept))
            self.assertEqual(again.read_bytes(), out.read_bytes())

    def test_bits_are_0_and_1_in_other_types(self):
        for suffix, dtype in (("u8bin", np.uint8), ("fbin", np.float32), ("i8bin", np.int8)):
            out = self.folder / f"out.{suffix}"
            self.must_pass(self.convert(self.base, out))
            values = np.fromfile(out, dtype, offset=8).reshape(self.data.shape)
            np.testing.assert_array_equal(values, self.data)
        back = self.folder / "back.b1bin"
        self.must_pass(self.convert(self.folder / "out.fbin", back, "--by", "sign"))
        self.assertEqual(back.read_bytes(), self.base.read_bytes())

    def test_packed_bytes_both_ways(self):
        for dimension in (1, 7, 9, 65, 1000):
            self.make(dimension, 50)
            for order in ("big", "little"):
                packed = np.packbits(self.data, axis=1, bitorder=order)
                path = self.folder / "packed.npy"
                np.save(path, packed)
                out = self.folder / "out.b1bin"
                self.must_pass(self.convert(path, out, "--packed", order, "--dimension", dimension))
                self.assertEqual(out.read_bytes(), self.base.read_bytes())
                back = self.folder / "back.npy"
                self.must_pass(self.convert(out, back, "--packed", order))
                np.testing.assert_array_equal(np.load(back), packed)

    def test_refuses_what_does_not_fit(self):
        values = write_vectors(self.folder / "values", self.rows(20, 9, np.float32))
        bytes_ = write_vectors(self.folder / "bytes", self.rows(20, 3, np.uint8))
        out = self.folder / "out.b1bin"
        for words, options in (
                (("--by sign",), (values, out)),
                (("--packed",), (bytes_, out)),
                (("one row of 9 numbers",), (values, out, "--by", values)),
                (("No such file",), (values, out, "--by", self.folder / "none.fbin")),
                (("holds bits (b1) already",), (self.base, out, "--by", "sign")),
                (("--by: makes bits",), (values, self.folder / "o.fbin", "--by", "sign")),
                (("--thresholds: is only for --by",),
                 (self.base, out, "--thresholds", self.folder / "t.fbin")),
                (("--dimension: is only for --packed",), (self.base, out, "--dimension", 9)),
                (("--by excludes --packed",), (bytes_, out, "--by", "sign", "--packed", "big")),
                (("packed bits are u8",), (values, out, "--packed", "big")),
                (("hold 17 to 24 bits",), (bytes_, out, "--packed", "big", "--dimension", 25)),
                (("has bits set after its last element", "is 17 the dimension"),
                 (bytes_, out, "--packed", "big", "--dimension", 17)),
                (("cannot hold bits (b1): choose .b1bin",),
                 (self.base, self.folder / "o.npy")),
                (("cannot hold bits (b1): choose .b1bin",),
                 (self.base, self.folder / "o.hdf5"))):
            self.must_refuse(self.convert(*options), *words)
            self.assertFalse(out.exists())

    def test_damaged_files_are_refused(self):
        whole = self.base.read_bytes()
        self.base.write_bytes(whole[:-1])
        self.must_refuse(farvec("dataset", "info", self.base), "truncated")
        self.make(9)
        damaged = bytearray(self.base.read_bytes())
        damaged[-1] |= 0x80
        self.base.write_bytes(damaged)
        for options in ((), ("--allow-nonfinite",)):
            self.must_refuse(self.build(self.base, *options, metric="hamming"),
                             f"row {self.ROWS - 1} has bits set after its last element")
            self.assertFalse((self.folder / "index").exists())

    def test_info_sample_and_truth(self):
        facts = json.loads(self.must_pass(farvec("dataset", "info", "--json", self.base)).stdout)
        self.assertEqual((facts["type"], facts["dimension"], facts["count"], facts["vector_bytes"]),
                         ("b1", self.DIMENSION, self.ROWS, 2 * self.ROWS))
        some = self.folder / "some.b1bin"
        self.must_pass(farvec("dataset", "sample", self.base, some, "--rows", "100:300", "--quiet"))
        np.testing.assert_array_equal(read_bits(some), self.data[100:300])
        for metric in METRICS:
            out = self.folder / "truth.ibin"
            self.must_pass(farvec("dataset", "groundtruth", "--data", self.base, "--queries",
                                  self.queries, "--metric", metric, "--k", K, "--out", out,
                                  "--quiet"))
            self.assert_nearest(read_neighbours(out), metric)

    def test_metrics_of_other_types_are_refused(self):
        values = write_vectors(self.folder / "values", self.rows(20, 16, np.float32))
        for data, metric, words in ((self.base, "l2", "use hamming or jaccard"),
                                    (self.base, "cosine", "use hamming or jaccard"),
                                    (values, "hamming", "use l2, ip or cosine"),
                                    (values, "jaccard", "dataset convert --by")):
            self.must_refuse(farvec("dataset", "groundtruth", "--data", data, "--queries", data,
                                    "--metric", metric, "--out", self.folder / "t.ibin"), words)
            for kind in ("graph", "cluster", "hnsw"):
                self.must_refuse(farvec("build", kind, "--data", data, "--metric", metric, "--out",
                                        self.folder / "index"), words)
                self.assertFalse((self.folder / "index").exists())


class Indexes(BitsTest):
    def build_of(self, kind, metric, *options):
        return farvec("build", kind, "--data", self.base, "--metric", metric, "--out",
                      self.folder / "index", "--overwrite", "--quiet", *options)

    def built(self, *options):
        self.must_pass(self.build_of(*options))
        return "--index", self.folder / "index"

    def recall_of_sweep(self, index, metric, *options):
        truth = write_neighbours(self.folder / "truth.ibin",
                                 *nearest(self.asked, self.data, metric))
        out = self.folder / "sweep.jsonl"
        out.unlink(missing_ok=True)
        self.must_pass(farvec("sweep", *index, "--queries", self.queries, "--groundtruth", truth,
                              "--list", self.ROWS, "--passes", 1, "--json", out, *options))
        return json.loads(out.read_text().splitlines()[0])["recall"]

    def test_graphs(self):
        for dimension in (1, 9, 16, 65):
            self.make(dimension)
            for metric in METRICS:
                for layout in ("csr", "packed", "padded", "slotted"):
                    index = self.built("graph", metric, "--layout", layout, "--degree", 16)
                    tier = ("--tier", "ssd") if layout == "slotted" else ()
                    with self.subTest(dimension=dimension, metric=metric, layout=layout):
                        self.assert_nearest(self.found(*index, *tier, "--exact"), metric)
                        self.assert_nearest(self.found(*index, *tier, "--list", self.ROWS), metric,
                                            ids_too=layout != "slotted")

    def test_tiers_and_devices_agree(self):
        index = self.built("graph", "hamming")
        ids, distances = self.found(*index, "--list", 30)
        for tier in ("dram", "shm", "emulated:rdma", "emulated:cxl", "ssd"):
            found = self.found(*index, "--list", 30, "--tier", tier)
            np.testing.assert_array_equal(found[1], distances)
            np.testing.assert_array_equal(found[0], ids)

    def test_clusters(self):
        for dimension in (1, 9, 65):
            self.make(dimension)
            for metric in METRICS:
                for layout in ("coupled", "decoupled", "grouped", "grouped-inline"):
                    index = self.built("cluster", metric, "--layout", layout, "--clusters", 20,
                                       "--replicas", 4)
                    with self.subTest(dimension=dimension, metric=metric, layout=layout):
                        self.assert_nearest(self.found(*index, "--exact"), metric)
                        self.assert_nearest(self.found(*index, "--probe", 20), metric)

    def test_clusters_that_stay_in_their_file(self):
        index = self.built("cluster", "hamming", "--map", "--clusters", 20)
        self.assert_nearest(self.found(*index, "--probe", 20), "hamming")

    def test_all_layouts_of_clusters_are_those_without_codes(self):
        _, clusters = self.built("cluster", "hamming", "--layout", "all", "--clusters", 20)
        self.assertEqual({path.name for path in clusters.iterdir()},
                         {"coupled", "decoupled", "grouped", "grouped-inline"})
        self.assert_nearest(self.found("--index", clusters / "grouped", "--probe", 20), "hamming")
        self.must_refuse(self.build_of("cluster", "hamming", "--layout", "all", "--code-bits", 2),
                         "layout coded", "bits")

    def test_hnsw_on_pages(self):
        for metric in METRICS:
            for order in ("none", "pca", "kmeans"):
                index = self.built("hnsw", metric, "--m", 12, "--order", order)
                self.assertEqual(self.recall_of_sweep(index, metric), 1)
        self.must_pass(farvec("delete", *index, "--range", "0:500", "--quiet"))
        self.must_pass(farvec("vacuum", *index, "--quiet"))
        self.must_pass(farvec("insert", *index, "--data", self.base, "--range", "0:500", "--quiet"))
        self.assertEqual(self.recall_of_sweep(index, metric), 1)

    def test_what_has_codes_is_refused(self):
        for words, options in (("layout inline", ("graph", "hamming", "--layout", "inline")),
                               ("layout coded", ("cluster", "jaccard", "--layout", "coded")),
                               ("--code-bits 2", ("graph", "hamming", "--code-bits", 2)),
                               ("codes of 4", ("graph", "hamming", "--layout", "slotted",
                                               "--payload", "vector", "--code-bits", 4)),
                               ("bits have no codes", ("graph", "hamming", "--layout", "slotted",
                                                       "--payload", "code"))):
            self.must_refuse(self.build_of(*options), words, "bits")
        self.must_refuse(farvec("convert", "--index", self.built("graph", "hamming")[1], "--out",
                                self.folder / "other", "--layout", "inline"), "layout inline")

    def test_queries_of_another_type_or_dimension_are_refused(self):
        index = self.built("graph", "hamming")
        floats = write_vectors(self.folder / "floats", self.rows(5, 16, np.float32))
        self.must_refuse(farvec("search", *index, "--queries", floats), "hamming compares bits")
        other = write_bits(self.folder / "other.b1bin", self.bits(5, 15))
        self.must_refuse(farvec("search", *index, "--queries", other), "15", "16")

    def test_inspect_and_sweep(self):
        index = self.built("graph", "jaccard")
        facts = json.loads(self.must_pass(farvec("inspect", index[1], "--json", "--verify")).stdout)
        self.assertEqual((facts["metric"], facts["stored_type"], facts["dimension"]),
                         ("jaccard", "b1", self.DIMENSION))
        self.assertEqual(self.recall_of_sweep(index, "jaccard", "--pass-ms", 20), 1)

    def test_advise(self):
        self.make(64, 8000)
        self.asked = self.data[:200] ^ (self.random.random((200, 64)) < 0.05)
        write_bits(self.queries, self.asked)
        out = self.folder / "advice.json"
        options = ("--data", self.base, "--queries", self.queries, "--device", "rdma", "--degree", 8,
                   "--cluster-rows", 40, "--replicas", 4, "--recall", 0.8, "--quiet")
        self.must_pass(farvec("advise", "--metric", "hamming", *options, "--json", out))
        advice = json.loads(out.read_text())
        self.assertEqual({setting["layout"] for setting in advice["settings"]},
                         {"csr", "packed", "padded", "coupled", "decoupled", "grouped",
                          "grouped-inline"})
        self.must_refuse(farvec("advise", *options), "use hamming or jaccard")
        self.must_refuse(farvec("advise", "--metric", "hamming", *options, "--code-bits", 2),
                         "--code-bits 2")


class Collections(DaemonTest, BitsTest):
    SMALL = ("--memtable-rows", 128, "--merge-fanout", 2)

    def setUp(self):
        super().setUp()
        self.set = self.folder / "set"

    def collection(self, command, *options):
        return self.must_pass(farvec("collection", command, "--collection", self.set, *options))

    def assert_all_found(self, metric, *options):
        truth = write_neighbours(self.folder / "truth.ibin",
                                 *nearest(self.asked, self.data, metric))
        out = self.folder / "search.jsonl"
        self.collection("search", "--queries", self.queries, "--groundtruth", truth, "--k", K,
                        "--json", out, *options)
        self.assertEqual(json.loads(out.read_text())["recall"], 1)

    def test_memtables_segments_and_merges(self):
        self.make(9)
        for metric in METRICS:
            for options, search in ((("--layout", "csr"), ("--list", self.ROWS)),
                                    (("--layout", "packed"), ("--list", self.ROWS)),
                                    (("--layout", "slotted"), ("--list", self.ROWS)),
                                    (("--kind", "cluster"), ("--probe", 1000))):
                with self.subTest(metric=metric, options=options):
                    self.collection("create", "--metric", metric, "--like", self.base, *self.SMALL,
                                    *options)
                    self.collection("insert", "--data", self.base, "--quiet")
                    self.assert_all_found(metric, *search)
                    self.collection("delete", "--range", "100:400", "--quiet")
                    self.collection("insert", "--data", self.base, "--range", "100:400", "--quiet",
                                    "--first-id", 0)
                    self.assert_all_found(metric, *search)
                    self.collection("compact", "--quiet")
                    self.assert_all_found(metric, *search)
                    verified = json.loads(self.collection("verify", "--json").stdout)
                    self.assertTrue(verified["sound"])
                shutil.rmtree(self.set)

    def test_refusals(self):
        create = ("collection", "create", "--collection", self.set, "--type", "b1")
        for words, options in (
                ("use hamming or jaccard", ("--metric", "l2", "--dimension", 16)),
                ("65536", ("--metric", "hamming", "--dimension", 65537)),
                ("layout inline", ("--metric", "hamming", "--dimension", 16, "--layout", "inline")),
                ("layout coded", ("--metric", "hamming", "--dimension", 16, "--kind", "cluster",
                                  "--layout", "coded")),
                ("--code-bits 2", ("--metric", "hamming", "--dimension", 16, "--code-bits", 2))):
            self.must_refuse(farvec(*create, *options), words)
            self.assertFalse(self.set.exists())
        self.must_refuse(farvec("collection", "create", "--collection", self.set, "--type", "f32",
                                "--dimension", 16, "--metric", "hamming"), "use l2, ip or cosine")

    def test_a_node_serves_and_changes_it(self):
        self.collection("create", "--metric", "hamming", "--like", self.base, *self.SMALL)
        self.folders_of_daemons.append(self.set)
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--collection", self.set, "--listen", address)
        facts = self.await_status(address)["index"]
        self.assertEqual((facts["type"], facts["metric"], facts["dimension"]),
                         ("b1", "hamming", self.DIMENSION))
        self.must_pass(farvec("collection", "insert", "--connect", address, "--data", self.base,
                              "--quiet"))
        # In which order a merge has the rows depends on when it begins.
        found = self.found("--connect", address, "--list", self.ROWS)
        self.assert_nearest(found, "hamming", ids_too=False)
        self.must_pass(farvec("collection", "compact", "--connect", address, "--quiet"))
        found = self.found("--connect", address, "--exact")
        self.assert_nearest(found, "hamming", ids_too=False)
        follower = f"unix:{self.folder}/f"
        self.start("farvec-compute-node", "--collection", self.set, "--follow", "--listen", follower)
        self.await_status(follower)
        while self.await_status(follower)["index"]["vectors"] < self.ROWS:
            time.sleep(0.05)
        found = self.found("--connect", follower, "--list", self.ROWS)
        self.assert_nearest(found, "hamming", ids_too=False)
        floats = write_vectors(self.folder / "floats", self.rows(5, 16, np.float32))
        self.must_refuse(farvec("search", "--connect", address, "--queries", floats), "b1")

    def test_a_node_serves_an_index(self):
        self.must_pass(farvec("build", "graph", "--data", self.base, "--metric", "jaccard", "--out",
                              self.folder / "index", "--quiet"))
        address = f"unix:{self.folder}/c"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--tier", "dram",
                   "--listen", address)
        self.assertEqual(self.await_status(address)["index"]["metric"], "jaccard")
        self.assert_nearest(self.found("--connect", address, "--list", self.ROWS), "jaccard")

    def test_runbook(self):
        book = self.folder / "book.yaml"
        book.write_text("tiny:\n  max_pts: 600\n"
                        "  1: {operation: insert, start: 0, end: 600}\n"
                        "  2: {operation: search}\n"
                        "  3: {operation: delete, start: 50, end: 250}\n"
                        "  4: {operation: search}\n")
        for kind in ("collection", "hnsw"):
            out = self.folder / f"{kind}.jsonl"
            self.must_pass(farvec("runbook", book, "--kind", kind, "--data", self.base, "--queries",
                                  self.queries, "--metric", "hamming", "--index",
                                  self.folder / kind, "--list", 600, "--json", out))
            searches = [json.loads(line) for line in out.read_text().splitlines()]
            recalls = [row["recall"] for row in searches if row.get("operation") == "search"]
            self.assertEqual(recalls, [1, 1])


if __name__ == "__main__":
    unittest.main()
