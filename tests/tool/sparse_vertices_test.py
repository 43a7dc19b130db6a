"""`build` and `inspect` say how many vertices of a graph are far below its degree."""
import json
import unittest

import numpy as np

from farvec_tool import ToolTest, farvec, write_vectors

ROWS, DIMENSION, DEGREE = 400, 16, 32


class SparseVertices(ToolTest):
    def sparse(self, rows, *layout):
        """As the build has it, and as the index has it."""
        base = write_vectors(self.folder / "base", rows)
        out = self.folder / "index"
        build = self.must_pass(farvec("build", "graph", "--data", base, "--metric", "l2", "--out",
                                      out, "--degree", DEGREE, "--overwrite", "--quiet", "--json",
                                      *layout))
        facts = json.loads(self.must_pass(farvec("inspect", out, "--json")).stdout)
        return json.loads(build.stdout)["sparse_vertices"], facts["degree"]["sparse"]

    def usual(self):
        return np.random.default_rng(5).normal(size=(ROWS, DIMENSION)).astype(np.float32)

    def test_none_where_lists_are_filled(self):
        near_all = self.usual()
        near_all[ROWS // 2] = 0
        for rows in (self.usual(), near_all):
            self.assertEqual(self.sparse(rows), (0, 0))

    def test_equal_rows_have_few_edges(self):
        rows = self.usual()
        rows[: ROWS // 2] = rows[0]
        for layout in ((), ("--layout", "slotted")):
            built, inspected = self.sparse(rows, *layout)
            self.assertEqual(built, inspected)
            self.assertGreater(built, 0)


if __name__ == "__main__":
    unittest.main()
