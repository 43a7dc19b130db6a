"""Values, folders and sizes at the edge of what an index with a second copy can have."""
import json
import shutil
import unittest

import numpy as np

from farvec_tool import DaemonTest, farvec, read_neighbours, write_vectors
from hnsw_tool import nearest

ROWS, DIMENSION, K = 300, 16, 5


class SecondCopyEdgesTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(ROWS, DIMENSION, np.float32) - np.float32(0.5)
        self.asked = self.rows(7, DIMENSION, np.float32) - np.float32(0.5)
        self.index = self.folder / "index"

    def build(self, *options, kind="graph", data=None, out=None):
        base = write_vectors(self.folder / "base", self.data if data is None else data)
        size = ["--degree", 12, "--list", 24] if kind == "graph" else ["--clusters", 2]
        return farvec("build", kind, "--data", base, "--metric", "l2", *size, "--quiet", "--out",
                      out or self.index, *options)

    def search(self, *options, asked=None, index=None):
        queries = write_vectors(self.folder / "asked", self.asked if asked is None else asked)
        return farvec("search", "--index", index or self.index, "--queries", queries, "--k", K,
                      "--quiet", "--out", self.folder / "found.ibin", *options)

    def finds(self, *options, data=None, asked=None, index=None):
        """Compares distances with those to all rows, so that equal ones may be in any order."""
        self.must_pass(self.search(*options, asked=asked, index=index))
        _, distances = read_neighbours(self.folder / "found.ibin")
        data = self.data if data is None else data
        asked = self.asked if asked is None else asked
        _, expected = nearest(data, asked, k=K)
        np.testing.assert_allclose(distances, expected, rtol=1e-4, atol=1e-6 * expected.max())

    def test_a_list_may_be_longer_than_a_round_of_reads(self):
        many = self.rows(66000, 1, np.uint8).astype(np.float32)
        self.must_pass(self.build("--store", "b1", "--by", "mean", kind="cluster", data=many))
        asked = many[:2] + np.float32(0.25)
        self.finds("--list", 66000, "--probe", 2, data=many, asked=asked)

    def test_rows_beyond_halves_are_scaled(self):
        for factor in (1e5, 1e-9):
            data, asked = self.data * np.float32(factor), self.asked * np.float32(factor)
            self.must_pass(self.build("--store", "f16", "--overwrite", data=data))
            self.finds("--list", 64, data=data, asked=asked)
        self.finds("--list", ROWS, data=data, asked=self.asked)  # longer than each row

    def test_elements_for_which_a_float_has_no_factor_are_refused(self):
        for store in ("i8", "f16"):
            tiny = self.data * np.float32(1e-41)
            self.must_refuse(self.build("--store", store, data=tiny), store, "multiply the data")
            self.assertFalse(self.index.exists())

    def test_what_a_second_copy_of_halves_cannot_have_is_refused(self):
        far = self.data * np.float32(1e6)
        self.must_refuse(self.build("--store", "b1", "--second-copy", "f16", data=far), "row 0",
                         "65504")
        self.must_pass(self.build("--store", "b1", "--second-copy", "f16"))
        asked = self.asked.copy()
        asked[3] *= np.float32(1e6)
        self.must_refuse(self.search(asked=asked), "query 3", "65504")
        address = f"unix:{self.folder}/node"
        self.start("farvec-compute-node", "--index", self.index, "--listen", address)
        self.await_status(address)
        queries = write_vectors(self.folder / "asked", asked)
        self.must_refuse(farvec("search", "--connect", address, "--queries", queries, "--k", K),
                         "queries[", "65504")

    def test_the_second_copy_ranks_what_codes_have_found(self):
        self.must_pass(self.build("--store", "i8", "--layout", "slotted", "--payload", "code",
                                  "--rerank", "on"))
        self.finds("--list", ROWS, "--tier", "ssd")
        self.must_pass(self.search("--list", 64, "--tier", "ssd", "--refine", 2))

    def test_an_index_does_not_replace_itself(self):
        self.must_pass(self.build("--store", "b1"))
        before = {path.name: path.read_bytes() for path in self.index.iterdir()}
        self.must_refuse(farvec("convert", "--index", self.index, "--layout", "packed", "--out",
                                self.index, "--overwrite", "--quiet"), "second copy", "another")
        self.assertEqual({path.name: path.read_bytes() for path in self.index.iterdir()}, before)
        plain = self.folder / "plain"
        self.must_pass(self.build(out=plain))
        rows = self.folder / "rows.jsonl"
        rows.write_text("".join(json.dumps({"n": i}) + "\n" for i in range(ROWS)))
        self.must_pass(farvec("attributes", "--index", plain, "--schema", "n: i64", "--attributes",
                              rows))
        self.must_refuse(farvec("convert", "--index", plain, "--layout", "packed", "--out", plain,
                                "--overwrite", "--quiet"), "attributes", "another")

    def test_nothing_is_made_of_an_index_without_its_second_copy(self):
        self.must_pass(self.build("--store", "b1"))
        second, out = self.index / "second.bin", self.folder / "out"
        convert = ["convert", "--index", self.index, "--layout", "packed", "--out", out, "--quiet"]
        whole = second.read_bytes()
        second.write_bytes(whole[:-9] + b"x" + whole[-8:])
        self.must_refuse(farvec(*convert), "second.bin", "damaged")
        self.assertFalse(out.exists())
        second.unlink()
        self.must_refuse(farvec(*convert), "second.bin", "missing")
        self.assertFalse(out.exists())

    def test_places_that_do_not_have_the_second_copy_are_named(self):
        self.must_pass(self.build("--store", "b1"))
        self.must_refuse(self.search("--second-tier", f"ssd:{self.folder}/nowhere"), "nowhere",
                         "does not exist")
        records = self.folder / "records"
        shutil.copy(self.index / "records.csr", records)
        self.must_refuse(self.search("--tier", f"file:{records}"), "second copy", "--second-tier")
        self.finds("--tier", f"file:{records}", "--second-tier", "ssd", "--list", ROWS)


if __name__ == "__main__":
    unittest.main()
