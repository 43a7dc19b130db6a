"""What `farvec` says to files that are not what they claim to be."""
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, read_neighbours, write_vectors


class BadData(ToolTest):
    def test_truncated(self):
        path = write_vectors(self.folder / "a", self.rows(50))
        path.write_bytes(path.read_bytes()[:-3])
        self.must_refuse_build(path, str(path), "truncated", "808", "805")

    def test_truncated_in_the_header(self):
        path = write_vectors(self.folder / "a", self.rows(50))
        path.write_bytes(path.read_bytes()[:6])
        self.must_refuse_build(path, str(path), "6 bytes")

    def test_header_with_too_many_rows(self):
        path = write_vectors(self.folder / "a", self.rows(50), count=4_000_000_000)
        self.must_refuse_build(path, str(path), "4000000000")

    def test_header_with_too_few_rows(self):
        path = write_vectors(self.folder / "a", self.rows(50), count=49)
        self.must_refuse_build(path, str(path), "header is wrong")

    def test_zero_rows(self):
        self.must_refuse_build(write_vectors(self.folder / "a", self.rows(0)), "a.u8bin", "rows")

    def test_dimension_zero(self):
        path = write_vectors(self.folder / "a", self.rows(5, 1)[:0], count=5, dimension=0)
        self.must_refuse_build(path, str(path), "dimension 0")

    def test_dimension_too_large(self):
        path = write_vectors(self.folder / "a", self.rows(3, 20000))
        self.must_refuse_build(path, str(path), "20000", "16384")

    def test_largest_dimension_is_taken(self):
        self.must_pass(self.build(write_vectors(self.folder / "a", self.rows(20, 4096))))

    def test_one_vector_is_an_index(self):
        self.must_pass(self.build(write_vectors(self.folder / "a", self.rows(1, 3))))

    def test_missing_file_folder_and_unknown_suffix(self):
        self.must_refuse_build(self.folder / "none.fbin", "none.fbin", "No such file")
        (self.folder / "folder.fbin").mkdir()
        self.must_refuse_build(self.folder / "folder.fbin", "folder.fbin")
        (self.folder / "a.csv").write_text("1,2\n")
        self.must_refuse_build(self.folder / "a.csv", "a.csv", ".fbin")

    def test_info_refuses_the_same(self):
        path = write_vectors(self.folder / "a", self.rows(50), count=51)
        self.must_refuse(farvec("dataset", "info", path), str(path), "truncated")


    def test_vectors_too_long_for_codes(self):
        rows = self.rows(60, 5, np.float32)
        rows[3, 1] = 1e20
        self.must_refuse_build(write_vectors(self.folder / "a", rows), "scale the data")


class TooLong(ToolTest):
    """A finite row whose distances are beyond a float."""

    def setUp(self):
        super().setUp()
        rows = self.rows(60, 5, np.float32)
        self.good = write_vectors(self.folder / "good", rows)
        rows[7] = 1.4e19  # two of them, of opposite signs, are farther apart than a float can say
        self.bad = write_vectors(self.folder / "bad", rows)

    def test_builds_refuse_it_by_row(self):
        for kind in (["graph"], ["graph", "--layout", "inline"], ["graph", "--layout", "slotted"],
                     ["cluster"], ["cluster", "--layout", "coded"], ["cluster", "--map"], ["hnsw"]):
            for metric in ("l2", "ip"):
                self.must_refuse(farvec("build", *kind, "--data", self.bad, "--metric", metric,
                                        "--out", self.folder / "index"),
                                 str(self.bad), "row 7", "too long")
                self.assertFalse((self.folder / "index").exists())
        self.must_pass(farvec("build", "graph", "--data", self.bad, "--metric", "cosine", "--out",
                              self.folder / "index"))

    def test_it_is_dropped_when_asked(self):
        result = self.must_pass(self.build(self.bad, "--allow-nonfinite"))
        self.assertIn("dropped 1 rows", result.stderr)

    def test_queries_and_ground_truth_refuse_it(self):
        self.must_pass(self.build(self.good))
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries", self.bad),
                         str(self.bad), "row 7")
        for data, queries in ((self.good, self.bad), (self.bad, self.good)):
            self.must_refuse(farvec("dataset", "groundtruth", "--data", data, "--queries", queries,
                                    "--metric", "l2", "--k", 3, "--quiet", "--out",
                                    self.folder / "gt.ibin"), str(self.bad), "row 7")

    def test_changes_refuse_it(self):
        things, pages = self.folder / "things", self.folder / "pages"
        self.must_pass(farvec("collection", "create", "--collection", things, "--metric", "l2",
                              "--dimension", 5, "--type", "f32"))
        for how in ([], ["--import"]):
            self.must_refuse(farvec("collection", "insert", "--collection", things, "--data",
                                    self.bad, "--first-id", 100, *how), "row 7 (id 107)")
        self.must_pass(farvec("collection", "insert", "--collection", things, "--data", self.good))
        self.must_refuse(farvec("collection", "search", "--collection", things, "--queries",
                                self.bad), str(self.bad), "row 7")
        self.must_pass(farvec("build", "hnsw", "--data", self.good, "--metric", "l2", "--out", pages))
        self.must_refuse(farvec("insert", "--index", pages, "--data", self.bad,
                                "--first-id", 100), str(self.bad), "row 7")


class Duplicates(ToolTest):
    def test_most_copies_are_found_whatever_alpha_is(self):
        rows = np.repeat(self.rows(40), 5, axis=0)
        data = write_vectors(self.folder / "a", rows)
        for alpha in (1.0, 1.2):
            self.must_pass(self.build(data, "--alpha", alpha, "--overwrite"))
            out = self.folder / "found.ibin"
            self.must_pass(farvec("search", "--index", self.folder / "index", "--queries", data,
                                  "--k", 5, "--list", 20, "--out", out))
            # Pruning by alpha 1 alone would let a copy stand for every direction: 0.36.
            self.assertGreater((read_neighbours(out)[1] == 0).mean(), 0.8)


class NonFinite(ToolTest):
    def setUp(self):
        super().setUp()
        self.data = self.rows(60, 5, np.float32)
        self.data[7, 2] = np.nan
        self.data[9, 4] = np.inf

    def test_is_refused_by_row(self):
        path = write_vectors(self.folder / "a", self.data)
        self.must_refuse_build(path, str(path), "row 7", "--allow-nonfinite")

    def test_is_dropped_with_a_count(self):
        path = write_vectors(self.folder / "a", self.data)
        result = self.must_pass(self.build(path, "--allow-nonfinite"))
        self.assertIn("dropped 2 rows", result.stderr)
        self.assertIn("58 vectors of 5", result.stdout)

    def test_nothing_left_is_refused(self):
        path = write_vectors(self.folder / "a", np.full((4, 3), np.nan, np.float32))
        self.must_refuse_build(path, str(path), options=["--allow-nonfinite"])

    def test_queries_are_refused(self):
        base = write_vectors(self.folder / "base", self.rows(60, 5, np.float32))
        self.must_pass(self.build(base))
        queries = write_vectors(self.folder / "queries", self.data)
        self.must_refuse(farvec("search", "--index", self.folder / "index", "--queries", queries),
                         str(queries), "row 7")
        self.must_refuse(farvec("dataset", "groundtruth", "--data", base, "--queries", queries,
                                "--metric", "l2", "--k", 3, "--quiet", "--out",
                                self.folder / "gt.ibin"), "row 7")


if __name__ == "__main__":
    unittest.main()
