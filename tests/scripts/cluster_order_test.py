"""scripts/order/cluster_order.py, all but what scikit-learn does."""
import pathlib
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "order"))
import cluster_order  # noqa: E402


def arguments(*words):
    return cluster_order.parse_arguments(["--data", "x.fbin", "--method", "gmm", "--out", "o.ibin",
                                          *words])


def by_hundreds(rows):
    """Clusters of rows by the hundred that their first element is nearest to, named 7 apart."""
    return 7 * np.round(rows[:, 0] / 100).astype(int)


def rows_on_a_line(count, groups=5):
    random = np.random.default_rng(1)
    rows = random.normal(size=(count, 2)).astype(np.float32)
    rows[:, 0] += 100 * (np.arange(count) % groups)
    return rows


class OrderTest(unittest.TestCase):
    def test_goes_through_whole_clusters_along_the_line(self):
        rows = rows_on_a_line(200)
        order = cluster_order.order_rows(rows, arguments("--chunk", "200"), by_hundreds)
        self.assertEqual(sorted(order), list(range(200)))
        self.assertEqual([int(i) for i in order[::40] % 5], [0, 1, 2, 3, 4])
        self.assertTrue((np.diff(rows[order[41:79], 0]) >= 0).all())

    def test_a_chunk_begins_where_the_one_before_ended(self):
        order = cluster_order.order_rows(rows_on_a_line(400), arguments("--chunk", "200"),
                                         by_hundreds)
        self.assertEqual(sorted(order[:200]), list(range(200)))
        self.assertEqual(order[199] % 5, order[200] % 5)

    def test_rows_beside_the_sample_go_to_the_nearest_cluster(self):
        rows = rows_on_a_line(300)
        random = np.random.default_rng(2)
        labels = cluster_order.cluster_chunk(rows, by_hundreds, 60, random)
        for group in range(5):
            self.assertEqual(len(set(labels[group::5])), 1)

    def test_few_and_equal_rows(self):
        for count in (1, 2, 30):
            rows = np.full((count, 3), 1.5, np.float32)
            order = cluster_order.order_rows(rows, arguments("--chunk", "20"), by_hundreds)
            self.assertEqual(sorted(order), list(range(count)))

    def test_refuses_what_is_not_finite(self):
        rows = rows_on_a_line(30)
        rows[17, 1] = np.nan
        with self.assertRaisesRegex(ValueError, "row 17 holds NaN"):
            cluster_order.order_rows(rows, arguments(), by_hundreds)


class FileTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_an_order_is_an_ibin_of_one_id_each(self):
        path = str(self.path / "order.ibin")
        cluster_order.write_order(path, np.array([2, 0, 1]))
        self.assertEqual(list(np.fromfile(path, "<u4")), [3, 1, 2, 0, 1])

    def test_maps_rows_and_refuses_damaged_files(self):
        path = self.path / "rows.u8bin"
        path.write_bytes(np.array([2, 3], "<u4").tobytes() + bytes(range(6)))
        self.assertEqual(cluster_order.map_rows(path).tolist(), [[0, 1, 2], [3, 4, 5]])
        for damaged in (b"", bytes(8), np.array([2, 3], "<u4").tobytes() + bytes(5)):
            path.write_bytes(damaged)
            with self.assertRaises(ValueError):
                cluster_order.map_rows(path)

    def test_refuses_options_out_of_range(self):
        for words in (["--clusters", "0"], ["--chunk", "5"], ["--out", "order.bin"]):
            with self.assertRaises(SystemExit):
                arguments(*words)


if __name__ == "__main__":
    unittest.main()
